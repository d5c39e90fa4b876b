"""Normalizes query text, cleans text for display and marks matches in it."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote, urlsplit

from search_ui.settings import SearchSettings
from text.folding import fold_term, normalize_text
from text.scripts import UNSPACED_SCRIPTS
from text.solr_words import WORD_SEPARATOR

# Characters that reorder or hide the text around them: embeddings, overrides, isolates, marks, BOM.
_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_HIDDEN_CHARS_RE = re.compile(f"[{_BIDI_CONTROLS}{WORD_SEPARATOR}]+")
_VISIBLE_CHAR_RE = re.compile(f"[^{_BIDI_CONTROLS}{WORD_SEPARATOR}]")
_LINK_SCHEMES = frozenset({"http", "https"})
_MAX_WORD_CHARS = 24  # longer words are cut
_FIRST_CJK_CHAR = "\u2e80"  # scripts from here on have no spaces between words


@dataclass(frozen=True)
class Segment:
    """A piece of displayed text. `marked`: it matches the query."""

    text: str
    marked: bool = False


Segments = tuple[Segment, ...]


def has_word(text: str) -> bool:
    """Return True if the text contains a letter or a digit, which every analyzer keeps."""
    return any(unicodedata.category(char) in _WORD_CATEGORIES and not _UNPRINTABLE_RE.match(char) for char in text)


# Cn: unassigned in Python's Unicode tables, which can be older than the text.
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Cn"})


# Controls, lone surrogates and noncharacters, which no valid text contains.
_NONCHARACTERS = "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
_UNPRINTABLE_RE = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{_NONCHARACTERS}]")
# Texts with these characters need cleaning: the above, removed characters, and whitespace other than single spaces.
_NEEDS_CLEANING_RE = re.compile(
    f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{_NONCHARACTERS}{_BIDI_CONTROLS}{WORD_SEPARATOR}]|[^\\S ]|  "
)


_QUERY_UNIT_RE = re.compile(r"[^\W\d_\u2e80-\U0010ffff]{1,24}|\d{1,24}|\S")


def truncate_query(text: str, max_units: int) -> str:
    """Return the beginning of `text` with at most `max_units` units.

    A Chinese character, a Latin word and a number are one unit.

    The limit bounds the cost of a query: each unit becomes a few tokens, however long a Latin word is.
    """
    if len(text) <= max_units:
        return text
    first_unit_past_limit = next(islice(_QUERY_UNIT_RE.finditer(text), max_units, None), None)
    return text if first_unit_past_limit is None else text[: first_unit_past_limit.start()].rstrip()


def normalize_query(text: str, max_units: int) -> str:
    """Return the text to search for: normalized, without control and hidden characters, at most `max_units` units.

    The units are those of `truncate_query`. Returns "" if the text contains nothing searchable.
    """
    normal = normalize_text(truncate_query(text, max_units))
    searchable_text = "".join(_searchable_char(char) for char in normal)
    normalized_query = truncate_query(
        " ".join(searchable_text.split()), max_units
    )  # NFKC can expand one character to eighteen
    return normalized_query if has_word(normalized_query) or "So" in map(unicodedata.category, normalized_query) else ""


def _searchable_char(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cf":
        return ""  # zero-width joiners and direction marks occur inside words
    return " " if _UNPRINTABLE_RE.match(char) or category[0] == "Z" else char


def clean_text(text: str) -> str:
    """Return `text` without word joiners, direction marks and controls, safe to display in one line with other text."""
    if not _NEEDS_CLEANING_RE.search(text):  # most texts: ten times faster
        return text.strip(" ")
    return " ".join(_UNPRINTABLE_RE.sub(" ", _HIDDEN_CHARS_RE.sub("", text)).split())


def safe_url(url: str) -> str:
    """Return `url` if it is a link to follow (http or https, with a host, no blanks or controls), else ""."""
    if any(unicodedata.category(char)[0] in "CZ" for char in url):
        return ""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname)
    except ValueError:
        return ""
    return url if has_host and parts.scheme in _LINK_SCHEMES else ""


def url_file_name(url: str) -> str:
    """Return the decoded last part of a URL's path: the title of a document that has none."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return clean_text(unquote(path.rstrip("/").rpartition("/")[2]))


def split_highlights(text: str, on: str, off: str) -> Segments:
    """Split `text` at the highlight marks of Solr. Unbalanced marks only change which parts are marked."""
    pieces: list[Segment] = []
    is_match = False
    for piece in re.split(f"([{re.escape(on + off)}])", text):
        if piece in (on, off):
            is_match = piece == on
        else:
            pieces.append(Segment(piece, is_match))
    return merge_segments(pieces)


def merge_segments(pieces: Iterable[Segment]) -> Segments:
    """Join adjacent segments with the same mark, so that the bigrams of one word show as one match."""
    runs: list[list[str]] = []
    match_flags: list[bool] = []
    for piece in pieces:
        if not _VISIBLE_CHAR_RE.search(piece.text):
            continue
        if match_flags and match_flags[-1] == piece.marked:
            runs[-1].append(piece.text)
        else:
            runs.append([piece.text])
            match_flags.append(piece.marked)
    return tuple(
        Segment(_clean_inline("".join(run)), highlights) for run, highlights in zip(runs, match_flags, strict=True)
    )


def _clean_inline(text: str) -> str:
    """Return `clean_text` of `text`, with one space kept at each end that had whitespace."""
    if not _NEEDS_CLEANING_RE.search(text):
        return text
    visible = _HIDDEN_CHARS_RE.sub("", text)
    inner = clean_text(visible)
    if not inner:
        return " " if visible else ""
    before = " " if visible[0].isspace() else ""
    return before + inner + (" " if visible[-1].isspace() else "")


_DENSE_CHAR = f"[{UNSPACED_SCRIPTS}]"  # scripts without spaces between words
_ISOLATED_CHAR_RE = re.compile(f"(?<!{_DENSE_CHAR}){_DENSE_CHAR}(?!{_DENSE_CHAR})")
NON_WORD_RE = re.compile(r"[\W_]+")  # separators between words
_DENSE_RUN_RE = re.compile(f"{_DENSE_CHAR}{{2,}}")


def isolated_chars(text: str) -> frozenset[str]:
    """Return the characters without a neighbour to form a pair, in scripts without spaces: of `税 改革` the first."""
    return frozenset(_ISOLATED_CHAR_RE.findall(NON_WORD_RE.sub(" ", text)))


@dataclass(frozen=True)
class MarkRefiner:
    """Refines the marks of one query: `words` are marked as a whole, `isolated_chars` on their own."""

    words: tuple[str, ...]
    isolated_chars: frozenset[str]

    def refine(self, segments: Segments) -> Segments:
        """Return the segments of one text with refined marks.

        If a whole word of the query occurs in the text, marks on parts of words elsewhere are removed.
        """
        if not any(segment.marked for segment in segments) and not self.isolated_chars:
            return segments
        has_whole = any(segment.marked and self._contains_word(segment) for segment in segments)
        refined_segments = (
            Segment(segment.text, segment.marked and not (has_whole and self._is_partial_word(segment)))
            for segment in segments
        )
        return merge_segments(
            text_segment for segment in refined_segments for text_segment in self._mark_isolated_chars(segment)
        )

    def _contains_word(self, part: Segment) -> bool:
        folded_text = fold_term(part.text)
        return any(word in folded_text for word in self.words)

    def _is_partial_word(self, part: Segment) -> bool:
        return bool(_DENSE_RUN_RE.fullmatch(part.text)) and not self._contains_word(part)

    def _mark_isolated_chars(self, part: Segment) -> Iterable[Segment]:
        if part.marked or self.isolated_chars.isdisjoint(part.text):
            return (part,)
        return (Segment(char, char in self.isolated_chars) for char in part.text)


def build_mark_refiner(text: str, words: Iterable[str]) -> MarkRefiner:
    """Build the refiner for a query's text and its words."""
    return MarkRefiner(tuple(fold_term(word) for word in words if _DENSE_RUN_RE.fullmatch(word)), isolated_chars(text))


def mark_occurrences(text: str, term: str) -> Segments:
    """Return `text` with every occurrence of `term` marked, ignoring case."""
    if not term:
        return merge_segments([Segment(text)])
    pieces = re.split(f"({re.escape(term)})", text, flags=re.IGNORECASE)
    return merge_segments(Segment(piece, n % 2 == 1) for n, piece in enumerate(pieces))


def truncate_segments(segments: Segments, max_chars: int) -> Segments:
    """Return at most `max_chars` characters that begin shortly before the first match. Cuts show as "…"."""
    text = "".join(segment.text for segment in segments)
    if len(text) <= max_chars:
        return segments
    start = max(0, min(_first_match_offset(segments) - max_chars // 4, len(text) - max_chars))
    end = _word_boundary(text, start + max_chars, -1)
    start = _word_boundary(text, start, 1)
    head = (Segment("…"),) if start else ()
    tail = (Segment("…"),) if end < len(text) else ()
    return merge_segments((*head, *slice_segments(segments, start, end), *tail))


_SENTENCE_END_RE = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+")


def first_sentences(text: str, max_chars: int) -> str:
    """Return as many whole sentences from the start of `text` as fit into `max_chars`, but at least one."""
    ends = [match.start() for match in _SENTENCE_END_RE.finditer(text)] + [len(text)]
    return text[: max((end for end in ends if end <= max_chars), default=ends[0])]


def from_sentence_with(text: str, part: str) -> str:
    """Return `text` from the start of the first sentence that contains `part`; all of it if none does."""
    starts = [0, *(match.end() for match in _SENTENCE_END_RE.finditer(text))]
    return text[max(start for start in starts if start <= max(0, text.find(part))) :]


def is_spaced_script(text: str) -> bool:
    """Return True if most letters of `text` belong to a script with spaces between words."""
    letters = sorted(filter(str.isalpha, text))
    return bool(letters) and letters[len(letters) // 2] < _FIRST_CJK_CHAR


def _word_boundary(text: str, offset: int, step: int) -> int:
    """Return the nearest offset in direction `step` (1 or -1) that splits no word of a script with spaces."""
    for position in range(offset, offset + step * _MAX_WORD_CHARS, step):
        neighbours = text[max(0, position - 1) : position + 1]
        if len(neighbours) < 2 or not all(map(_is_spaced_script_char, neighbours)):
            return position
    return offset


def _is_spaced_script_char(char: str) -> bool:
    return char.isalnum() and char < _FIRST_CJK_CHAR


def _first_match_offset(segments: Segments) -> int:
    offset = 0
    for segment in segments:
        if segment.marked:
            return offset
        offset += len(segment.text)
    return 0


def slice_segments(segments: Segments, start: int, end: int) -> list[Segment]:
    """Return the segments of the characters from `start` to `end`."""
    sliced_segments, offset = [], 0
    for segment in segments:
        text = segment.text[max(0, start - offset) : max(0, end - offset)]
        offset += len(segment.text)
        if text:
            sliced_segments.append(Segment(text, segment.marked))
    return sliced_segments


def site_display_name(site: str, settings: SearchSettings) -> str:
    """Return the configured name of a site, else its host name."""
    return settings.site_names.get(site, clean_text(site))


def paragraph_number(body: str, offset: int) -> int:
    """Return the number, from 1, of the paragraph that contains the offset. Blank paragraphs are not counted."""
    return sum(bool(line.strip()) for line in body[:offset].split("\n")[:-1]) + 1
