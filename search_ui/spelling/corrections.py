"""Corrects the spelling of a query with the known words of the site.

Chinese is corrected by sound (`叶岩气` -> `页岩气`), by one edit (`水力压列` -> `水力压裂`) and from pinyin (`yeyanqi`,
`slyl`). Latin words are corrected by Solr's spellchecker. The caller checks whether a correction has
hits.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from search_ui.query.query_parser import ParsedQuery, PartKind, QueryPart, parse_query
from search_ui.query.solr_client import SolrResponse
from search_ui.spelling.title_phonetics import pinyin_letters
from search_ui.spelling.vocabulary import Vocabulary, is_one_edit
from text.scripts import HAN

MAX_WINDOWS = 60  # character windows of one query that are looked up
MAX_WINDOW_CHARS = 8
MAX_CORRECTIONS_PER_RUN = 2
MIN_PINYIN_LETTERS = 4  # shorter texts are rarely pinyin
MIN_CORRECTION_DOCUMENTS = 3  # of a Latin word that is short or several edits away; a rarer word can be a typo
LONG_WORD_LETTERS = 6  # a word of this length, one edit away, is rarely a different word

_HAN_RUN_RE = re.compile(f"[{HAN}]{{2,}}")
_LETTERS_RE = re.compile(r"[a-z]+(?:[ '’][a-z]+)*", re.IGNORECASE)
_CORRECTABLE_KINDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE})


@dataclass(frozen=True)
class Correction:
    """A replacement of `old`, a part of the query, by `new`."""

    old: str
    new: str


QueryTiers = list[list[ParsedQuery]]


@dataclass(frozen=True)
class ExternalCorrections:
    """Corrections obtained from Solr.

    `latin_words` are spellchecked Latin words. `homophones` are title substrings with the same pinyin as a part of the
    query (`search_ui.spelling.title_phonetics`).
    """

    latin_words: Mapping[str, str] = field(default_factory=dict)
    homophones: Mapping[str, Sequence[str]] = field(default_factory=dict)


def find_corrections(
    query: ParsedQuery, vocabulary: Vocabulary, external: ExternalCorrections
) -> list[list[Correction]]:
    """Return the corrections of each part of the query that looks wrong, most likely first."""
    phonetic = list(_iter_corrections(query, vocabulary, external.homophones))
    pinyin_words = " ".join(changes[0].old for changes in phonetic).split(" ")  # they need no spelling correction
    latin_words = dict(_iter_latin_corrections(query, vocabulary)) | dict(external.latin_words)
    return [*([Correction(old, new)] for old, new in latin_words.items() if old not in pinyin_words), *phonetic]


def correct_query(query: ParsedQuery, pieces: Sequence[Sequence[Correction]]) -> QueryTiers:
    """Return corrected queries in two tiers. The second tier is used only if the first has no useful query.

    The first tier changes all parts that look wrong at once, with alternatives for one part. The second changes one
    part. `pieces` are those of `find_corrections`.
    """
    if not pieces:
        return [[], []]
    best_corrections = [changes[0] for changes in pieces]
    combined_options = [
        best_corrections,
        *(
            [*best_corrections[:n], other, *best_corrections[n + 1 :]]
            for n, piece in enumerate(pieces)
            for other in piece[1:]
        ),
    ]
    single_corrections = [[change] for change in best_corrections] if len(best_corrections) > 1 else []
    return [_changed_queries(query, options) for options in (combined_options, single_corrections)]


def phonetic_candidates(query: ParsedQuery, words: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Return the parts of a query to look up in titles by sound: possible pinyin and unknown words.

    `words` are the words of the query.
    """
    letters = [match[0] for match in _LETTERS_RE.finditer(query.unquoted_text)]
    separate_words = [word for run in letters if " " in run for word in run.split(" ")]
    unknown = [word for word in words if _HAN_RUN_RE.fullmatch(word) and not vocabulary.frequency(word)]
    return [
        *(piece for piece in (*letters, *separate_words) if len(pinyin_letters(piece)) >= MIN_PINYIN_LETTERS),
        *unknown,
    ]


def _changed_queries(query: ParsedQuery, options: list[list[Correction]]) -> list[ParsedQuery]:
    return [
        corrected_query
        for corrected_query in dict.fromkeys(_apply_corrections(query, option) for option in options)
        if corrected_query != query
    ]


def _iter_corrections(
    query: ParsedQuery, vocabulary: Vocabulary, homophones: Mapping[str, Sequence[str]]
) -> Iterator[list[Correction]]:
    """Yield the corrections of each part that looks wrong, most likely first."""
    for part in query.parts:
        if part.kind in _CORRECTABLE_KINDS and not part.is_excluded:
            for run in _HAN_RUN_RE.findall(part.text):
                yield from _iter_chinese_corrections(run, vocabulary, homophones)
    for match in _LETTERS_RE.finditer(query.unquoted_text):
        yield from _iter_pinyin_corrections(match[0], vocabulary, homophones)


def _iter_latin_corrections(query: ParsedQuery, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yield each unknown Latin word with the most frequent known word that is one edit away."""
    for word in dict.fromkeys(_LATIN_WORD_RE.findall(query.unquoted_text)):
        similar_words = [] if vocabulary.frequency(word) else vocabulary.words_one_edit_away(word)
        yield from ((word, similar) for similar in similar_words[:1])


def _iter_chinese_corrections(
    run: str, vocabulary: Vocabulary, homophones: Mapping[str, Sequence[str]]
) -> Iterator[list[Correction]]:
    """Yield corrections for windows of `run` that are not made of known words, longest first, without overlaps."""
    covered_positions: set[int] = set()
    for start, end in _window_spans(run):
        window, positions = run[start:end], set(range(start, end))
        if covered_positions & positions:
            continue
        if _is_known(window, vocabulary):
            covered_positions |= positions
        elif replacements := [*_similar_words(window, vocabulary, is_whole=window == run), *homophones.get(window, ())]:
            covered_positions |= positions
            yield [Correction(window, word) for word in list(dict.fromkeys(replacements))[:MAX_CORRECTIONS_PER_RUN]]


def _similar_words(window: str, vocabulary: Vocabulary, is_whole: bool) -> list[str]:
    """Return homophones of a window, else words one edit away.

    Within a longer run, edits must not change the length, because that would be a word of another window.
    """
    edited_words = [word for word in vocabulary.words_one_edit_away(window) if is_whole or len(word) == len(window)]
    return vocabulary.homophones(window) or edited_words


def _is_known(text: str, vocabulary: Vocabulary) -> bool:
    """Return True if `text` is a known word or a sequence of known words."""
    if vocabulary.frequency(text):
        return True
    cuts = range(2, len(text) - 1)
    return any(vocabulary.frequency(text[:cut]) and _is_known(text[cut:], vocabulary) for cut in cuts)


def _window_spans(run: str) -> list[tuple[int, int]]:
    lengths = range(min(len(run), MAX_WINDOW_CHARS), 1, -1)
    return [(start, start + length) for length in lengths for start in range(len(run) - length + 1)][:MAX_WINDOWS]


def _iter_pinyin_corrections(
    letters: str, vocabulary: Vocabulary, homophones: Mapping[str, Sequence[str]]
) -> Iterator[list[Correction]]:
    """Yield corrections for the letters as one text in pinyin (`ye yan qi`), else for each word between spaces."""
    whole_text_corrections = _words_for_letters(letters, vocabulary, homophones)
    separate_words = letters.split(" ")
    yield from (
        [whole_text_corrections]
        if whole_text_corrections
        else filter(None, (_words_for_letters(word, vocabulary, homophones) for word in separate_words))
    )


def _words_for_letters(
    letters: str, vocabulary: Vocabulary, homophones: Mapping[str, Sequence[str]]
) -> list[Correction]:
    """Return corrections for pinyin letters.

    These are known words and title substrings, else several known words, else words with these initials.
    """
    sound = re.sub("[ '’]", "", letters).lower()
    if len(sound) < MIN_PINYIN_LETTERS:
        return []
    known_words = list(dict.fromkeys([*vocabulary.words_for_pinyin(sound), *homophones.get(letters, ())]))
    words = known_words[:MAX_CORRECTIONS_PER_RUN] or ["".join(_split_into_known_words(sound, vocabulary))]
    if not words[0]:
        words = vocabulary.words_for_initials(sound)[:MAX_CORRECTIONS_PER_RUN]
    return [Correction(letters, word) for word in words]


def _split_into_known_words(sound: str, vocabulary: Vocabulary, max_words: int = 3) -> list[str]:
    """Return at most `max_words` known words with this sound in sequence, longest first; [] if there are none."""
    for end in range(len(sound), MIN_PINYIN_LETTERS - 1, -1):
        first = vocabulary.words_for_pinyin(sound[:end])[:1]
        if first and end == len(sound):
            return first
        if first and max_words > 1 and (rest := _split_into_known_words(sound[end:], vocabulary, max_words - 1)):
            return first + rest
    return []


def _apply_corrections(query: ParsedQuery, changes: list[Correction]) -> ParsedQuery:
    """Apply all corrections and parse the result. Adjacent words are joined first: a correction can span them."""
    parts: list[QueryPart] = []
    for part in query.parts:
        if parts and not (part.is_condition or parts[-1].is_condition):
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text} {part.text}")
        else:
            parts.append(part)
    return parse_query(str(ParsedQuery(tuple(_correct_part(part, changes) for part in parts))))


def _correct_part(part: QueryPart, changes: list[Correction]) -> QueryPart:
    if part.kind not in _CORRECTABLE_KINDS or part.is_excluded:
        return part
    text = part.text
    for change in changes:
        if change.old.isascii():
            text = change.new.join(re.split(rf"(?<![A-Za-z]){re.escape(change.old)}(?![A-Za-z])", text))
        else:
            text = text.replace(change.old, change.new)
    return replace(part, text=text)


_LATIN_WORD_RE = re.compile("[A-Za-zÀ-ɏ]{4,}")  # Solr's dictionary has no shorter words


def spellcheck_params(query: ParsedQuery) -> list[tuple[str, str]]:
    """Build the parameters for Solr's spellchecker, to add to any request. Returns [] without a Latin word."""
    if not _LATIN_WORD_RE.search(query.ranking_text):
        return []
    options = {"q": query.ranking_text, "count": str(_SPELLCHECK_COUNT), "extendedResults": "true"}
    return [("spellcheck", "true"), *((f"spellcheck.{name}", value) for name, value in options.items())]


_SPELLCHECK_COUNT = 5


def parse_spellcheck(response: SolrResponse) -> dict[str, str]:
    """Return the most likely credible spelling of each Latin word that is not in the index."""
    suggestions = response.get("spellcheck", {}).get("suggestions", [])
    spelling_by_word = {}
    for raw_query, suggestion in zip(suggestions[::2], suggestions[1::2], strict=True):
        candidates = [] if suggestion.get("origFreq") else suggestion.get("suggestion", [])
        credible = (
            str(candidate["word"])
            for candidate in candidates
            if _is_credible(str(raw_query), str(candidate["word"]), int(candidate["freq"]))
        )
        if word := next(credible, ""):
            spelling_by_word[str(raw_query)] = word
    return spelling_by_word


def _is_credible(raw_query: str, word: str, documents: int) -> bool:
    """Return True if `word` is a credible correction.

    Short words, and words more than one edit away, need several documents.
    """
    if " " in word:  # two words of the index, typed without a space
        return True
    is_near = is_one_edit(raw_query, word)
    if is_near and len(raw_query) >= LONG_WORD_LETTERS:
        return True
    return documents >= MIN_CORRECTION_DOCUMENTS and (is_near or len(raw_query) >= LONG_WORD_LETTERS)
