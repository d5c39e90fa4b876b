"""Text on its way in and out: what can be searched for, what may be shown, and what is marked in it. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote, urlsplit

from text.joined import WORD_JOINT

# Characters that reorder or hide what stands around them: embeddings, overrides, isolates, marks, BOM.
_REORDERING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_DROPPED = re.compile(f"[{_REORDERING}{WORD_JOINT}]+")
_KEPT = re.compile(f"[^{_REORDERING}{WORD_JOINT}]")
_LINK_SCHEMES = frozenset({"http", "https"})
_LONGEST_WORD = 24  # characters; what is longer is cut
_FIRST_CJK = "\u2e80"  # scripts from here on write no blanks between words


@dataclass(frozen=True)
class Segment:
    """A piece of shown text, and whether it matched."""

    text: str
    marked: bool = False


Segments = tuple[Segment, ...]


def has_word(text: str) -> bool:
    """True if there is a letter or a digit: something every analyzer keeps."""
    return any(unicodedata.category(char) in _WORD_CATEGORIES and not _VOID.match(char) for char in text)


# Cn: not assigned in Python's tables, which may be older than the reader's characters.
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Cn"})


# Controls, halves of pairs and noncharacters: nothing that a text can hold.
_NONCHARACTERS = "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
_VOID = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{_NONCHARACTERS}]")
# What no line shows as it stands: those, what is dropped, and blanks other than single spaces.
_ODD = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{_NONCHARACTERS}{_REORDERING}{WORD_JOINT}]|[^\\S ]|  ")


_SIGN = re.compile(r"[^\W\d_\u2e80-\U0010ffff]{1,24}|\d{1,24}|\S")


def first_signs(text: str, most: int) -> str:
    """The beginning of `text` with at most so many signs: a Chinese character is one, a Latin word or number is one.

    So a query is bounded by what it costs: each sign becomes some tokens, however long a Latin word is.
    """
    if len(text) <= most:
        return text
    past = next(islice(_SIGN.finditer(text), most, None), None)
    return text if past is None else text[: past.start()].rstrip()


def searchable(text: str, longest: int) -> str:
    """`text` as it is searched for: NFKC, no controls nor hidden characters, at most `longest` signs (`first_signs`).

    Empty if nothing in it can be found.
    """
    normal = unicodedata.normalize("NFKC", first_signs(text, longest))
    kept = "".join(_searched(char) for char in normal)
    cleaned = first_signs(" ".join(kept.split()), longest)  # NFKC can make one character eighteen
    return cleaned if has_word(cleaned) or any(map(_is_picture, cleaned)) else ""


def _is_picture(char: str) -> bool:
    """Emoji and other signs, which Solr's tokenizer can find."""
    return unicodedata.category(char) == "So"


def _searched(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cf":
        return ""  # zero-width joints and direction marks stand inside words
    return " " if _VOID.match(char) or category[0] == "Z" else char


def shown(text: str) -> str:
    """`text` without word joints, reordering marks and controls: safe to stand beside other text in one line."""
    if not _ODD.search(text):  # as most texts: this takes a tenth of the time
        return text.strip(" ")
    return " ".join(_VOID.sub(" ", _DROPPED.sub("", text)).split())


def link_to(url: str) -> str:
    """`url` if a reader may be sent there (http or https, with a host, no blanks or controls), else ""."""
    if any(unicodedata.category(char)[0] in "CZ" for char in url):
        return ""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname)
    except ValueError:
        return ""
    return url if named and parts.scheme in _LINK_SCHEMES else ""


def file_name(url: str) -> str:
    """The last part of a URL's path as a reader would write it: what a document without a title is called."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return shown(unquote(path.rstrip("/").rpartition("/")[2]))


def marked_segments(text: str, on: str, off: str) -> Segments:
    """Cut `text` at the marks Solr has put in. Stray marks make no difference but to what is marked."""
    pieces: list[Segment] = []
    marked = False
    for piece in re.split(f"([{re.escape(on + off)}])", text):
        if piece in (on, off):
            marked = piece == on
        else:
            pieces.append(Segment(piece, marked))
    return joined(pieces)


def joined(pieces: Iterable[Segment]) -> Segments:
    """Neighbours with the same mark become one: bigrams of one word show as one match."""
    runs: list[list[str]] = []
    marks: list[bool] = []
    for piece in pieces:
        if not _KEPT.search(piece.text):
            continue
        if marks and marks[-1] == piece.marked:
            runs[-1].append(piece.text)
        else:
            runs.append([piece.text])
            marks.append(piece.marked)
    return tuple(Segment(_inline("".join(run)), marked) for run, marked in zip(runs, marks, strict=True))


def _inline(text: str) -> str:
    """`shown`, but blanks at the ends stay, as one: a neighbour follows."""
    if not _ODD.search(text):
        return text
    seen = _DROPPED.sub("", text)
    inner = shown(seen)
    if not inner:
        return " " if seen else ""
    before = " " if seen[0].isspace() else ""
    return before + inner + (" " if seen[-1].isspace() else "")


def mark_all(text: str, term: str) -> Segments:
    """`text` with every occurrence of `term` marked; letter case does not count."""
    if not term:
        return joined([Segment(text)])
    pieces = re.split(f"({re.escape(term)})", text, flags=re.IGNORECASE)
    return joined(Segment(piece, n % 2 == 1) for n, piece in enumerate(pieces))


def shortened(segments: Segments, longest: int) -> Segments:
    """At most `longest` characters, from a little before the first match on; cuts show as "…"."""
    text = "".join(segment.text for segment in segments)
    if len(text) <= longest:
        return segments
    start = max(0, min(_first_match(segments) - longest // 4, len(text) - longest))
    end = _between_words(text, start + longest, -1)
    start = _between_words(text, start, 1)
    head = (Segment("…"),) if start else ()
    tail = (Segment("…"),) if end < len(text) else ()
    return joined((*head, *_window(segments, start, end), *tail))


def _between_words(text: str, at: int, step: int) -> int:
    """`at`, or the nearest place in the direction `step` (1 or -1) that cuts no word of a script with blanks."""
    for place in range(at, at + step * _LONGEST_WORD, step):
        around = text[max(0, place - 1) : place + 1]
        if len(around) < 2 or not all(map(_is_in_word, around)):
            return place
    return at


def _is_in_word(char: str) -> bool:
    return char.isalnum() and char < _FIRST_CJK


def _first_match(segments: Segments) -> int:
    at = 0
    for segment in segments:
        if segment.marked:
            return at
        at += len(segment.text)
    return 0


def _window(segments: Segments, start: int, end: int) -> list[Segment]:
    kept, at = [], 0
    for segment in segments:
        text = segment.text[max(0, start - at) : max(0, end - at)]
        at += len(segment.text)
        kept.append(Segment(text, segment.marked))
    return kept
