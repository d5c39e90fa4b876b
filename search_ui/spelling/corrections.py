"""Corrects the spelling of a query with the known words of the site.

Known words are laid over the query first. What remains is compared, alone and with its neighbours, with the words that
are near by keys, sound or edit (`叶岩气` -> `页岩气`, `dcoker` -> `docker`) or typed in pinyin (`yeyanqi`, `slyl`). A
correction is likelier than the typed text even with the penalty of the error (`typing_errors`). The caller compares the
numbers of documents (`Correction.is_credible`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import NamedTuple

from search_ui.query.query_parser import ParsedQuery, PartKind, QueryPart, parse_query
from search_ui.spelling.typing_errors import LIKELY, MIN_LETTERS, SHORT_TEXT, SLIP, UNLIKELY
from search_ui.spelling.vocabulary import Vocabulary
from text.background_frequencies import page_share
from text.domain_terms import is_person_name
from text.pinyin import has_han
from text.scripts import ALPHABETIC, HAN
from text.segment import Segmenter

MAX_RUN_CHARS = 40  # consecutive Chinese characters that are corrected
MAX_WORD_CHARS = 8
MAX_CORRECTIONS_PER_PART = 2
MIN_FUNCTION_WORD_SHARE = 0.5  # of pages with a character that is a common word
NAME_TAG = "nr"  # prefix of jieba's tags of names of people

_WORD = rf"(?<!{ALPHABETIC})(?:(?!\d){ALPHABETIC})+(?!{ALPHABETIC})"
_RUN_RE = re.compile(rf"[{HAN}]{{2,}}|{_WORD}(?:[ '’]{_WORD})*")
_CORRECTABLE_KINDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE})


@dataclass(frozen=True)
class Correction:
    """A replacement of `old`, a part of the query, by `words`. `penalty` is that of the error (`typing_errors`)."""

    old: str
    words: tuple[str, ...]
    penalty: float

    @property
    def new(self) -> str:
        """The text that replaces `old`."""
        return ("" if has_han(self.words[0]) else " ").join(self.words)

    def is_credible(self, old_documents: int, new_documents: int) -> bool:
        """Return True if documents contain the correction, and many more than contain the typed text."""
        return new_documents >= max(1, old_documents * 10**self.penalty)


QueryTiers = list[list[ParsedQuery]]


def find_corrections(query: ParsedQuery, vocabulary: Vocabulary, segmenter: Segmenter) -> list[list[Correction]]:
    """Return the corrections of each part of the query that looks wrong, most likely first."""
    texts = [part.text for part in _join_words(query) if _is_correctable(part)]
    runs = dict.fromkeys(run for text in texts for run in _RUN_RE.findall(text))
    return [
        corrections
        for run in runs
        for corrections in (
            _correct_chinese(run[:MAX_RUN_CHARS], vocabulary, segmenter)
            if has_han(run)
            else _correct_letters(run, vocabulary)
        )
    ]


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
    return [
        [
            corrected_query
            for corrected_query in dict.fromkeys(_apply_corrections(query, option) for option in options)
            if corrected_query != query
        ]
        for options in (combined_options, single_corrections)
    ]


def _rank(
    corrections: Iterable[Correction], vocabulary: Vocabulary, typed_cost: float
) -> tuple[float, list[Correction]]:
    """Return by how much the best correction is likelier than the typed text, and the likelier ones, best first."""
    costs = [(sum(map(vocabulary.cost, each.words)) + each.penalty, each.new, each) for each in corrections]
    likelier = sorted(item for item in costs if item[0] < typed_cost)
    new_words = ((cost, each) for cost, _, each in likelier if not vocabulary.are_forms(each.old, each.new))
    best = list(islice(new_words, MAX_CORRECTIONS_PER_PART))
    return (typed_cost - best[0][0] if best else 0.0), [correction for _, correction in best]


def _correct_letters(run: str, vocabulary: Vocabulary) -> list[list[Correction]]:
    """Return corrections of words between blanks: of the whole run if it is pinyin (`ye yan qi`), else of each word."""
    words = run.split(" ")
    unknown_words = [word for word in words if not vocabulary.is_known(word)]
    if len(words) > 1 and unknown_words:
        typed_cost = sum(map(vocabulary.typed_cost, words))
        _, readings = _rank(_pinyin_corrections(run, vocabulary, UNLIKELY), vocabulary, typed_cost)
        if readings:
            return [readings]
    ranked_corrections = (
        _rank(_word_corrections(word, vocabulary), vocabulary, vocabulary.typed_cost(word)) for word in unknown_words
    )
    return [corrections for _, corrections in ranked_corrections if corrections]


def _word_corrections(word: str, vocabulary: Vocabulary) -> Iterator[Correction]:
    """Yield the readings of `word` as pinyin, the words near it, and the pairs of words of which it consists."""
    yield from _pinyin_corrections(word, vocabulary, LIKELY)
    for similar, penalty in vocabulary.similar_words(word).items():
        yield Correction(word, (similar,), penalty)
    for cut in range(MIN_LETTERS, len(word) - MIN_LETTERS + 1):
        pair = (word[:cut].lower(), word[cut:].lower())
        if all(map(vocabulary.frequency, pair)):
            yield Correction(word, pair, SLIP)


def _pinyin_corrections(letters: str, vocabulary: Vocabulary, penalty: float) -> list[Correction]:
    """Return corrections for pinyin letters: known words, else several known words, else words with these initials."""
    sound = re.sub("[ '’]", "", letters).lower()
    if len(sound) < MIN_LETTERS:
        return []
    readings: list[tuple[str, ...]] = [(word,) for word in vocabulary.words_for_pinyin(sound)]
    readings = readings or list(filter(None, [_split_into_known_words(sound, vocabulary)]))
    readings = readings or [(word,) for word in vocabulary.words_for_initials(sound)]
    return [Correction(letters, words, penalty) for words in readings]


def _split_into_known_words(sound: str, vocabulary: Vocabulary, max_words: int = 3) -> tuple[str, ...]:
    """Return at most `max_words` known words with this sound in sequence, longest first; () if there are none."""
    for end in range(len(sound), MIN_LETTERS - 1, -1):
        first = tuple(vocabulary.words_for_pinyin(sound[:end])[:1])
        if first and end == len(sound):
            return first
        if first and max_words > 1 and (rest := _split_into_known_words(sound[end:], vocabulary, max_words - 1)):
            return first + rest
    return ()


class _Token(NamedTuple):
    """A word of a Chinese text, or a character that belongs to no word."""

    text: str
    cost: float
    is_known: bool


def _tokenize(run: str, vocabulary: Vocabulary, segmenter: Segmenter) -> Iterator[_Token]:
    """Yield the known words, possible names and other characters of a Chinese text."""
    for word, tag in segmenter.tag(run):
        is_known = len(word) > 1 and vocabulary.is_known(word)
        is_word = is_known or (len(word) > 1 and (vocabulary.frequency(word) > 0 or tag.startswith(NAME_TAG)))
        for text in [word] if is_word else word:
            is_function_word = len(text) == 1 and page_share(text) >= MIN_FUNCTION_WORD_SHARE
            yield _Token(text, vocabulary.typed_cost(text), is_known or is_function_word)


def _correct_chinese(run: str, vocabulary: Vocabulary, segmenter: Segmenter) -> list[list[Correction]]:
    """Return corrections of parts of a Chinese text, without overlaps. No part begins or ends within a known word."""
    tokens = list(_tokenize(run, vocabulary, segmenter))
    options: list[tuple[float, range, list[Correction]]] = []  # no correction for known words
    for first, end in combinations(range(len(tokens) + 1), 2):
        part = tokens[first:end]
        text, typed_cost = "".join(token.text for token in part), sum(token.cost for token in part)
        if 2 <= len(text) <= MAX_WORD_CHARS and not all(token.is_known for token in part):
            if vocabulary.is_known(text):
                options.append((typed_cost, range(first, end), []))
            else:
                candidates = _chinese_corrections(text, vocabulary, segmenter, is_whole=text == run)
                gain, corrections = _rank(candidates, vocabulary, typed_cost)
                options += [(gain, range(first, end), corrections)] if corrections else []
    covered_positions: set[int] = set()
    corrections_by_start: dict[int, list[Correction]] = {}
    for _, positions, corrections in sorted(options, key=lambda option: -option[0]):
        if covered_positions.isdisjoint(positions):
            covered_positions.update(positions)
            corrections_by_start[positions.start] = corrections
    return [corrections for _, corrections in sorted(corrections_by_start.items()) if corrections]


def _chinese_corrections(
    text: str, vocabulary: Vocabulary, segmenter: Segmenter, is_whole: bool
) -> Iterator[Correction]:
    """Yield the words near `text`, but no other name for a name.

    One character at least is right: with none, input methods write a dictionary word. A part of a longer text must have
    the sound or all characters of the word. Else it belongs to another word.
    """
    is_name, penalty_of_part = is_person_name(text, segmenter), SHORT_TEXT if len(text) == 2 else 0.0
    for word, penalty in vocabulary.similar_words(text).items():
        kept_chars = sum(char in word for char in text)
        if not kept_chars or (
            is_name and (2 * kept_chars <= len(text) or segmenter.tag(word)[0][1].startswith(NAME_TAG))
        ):
            continue
        if is_whole:
            yield Correction(text, (word,), penalty)
        elif penalty < UNLIKELY and len(word) == len(text):
            yield Correction(text, (word,), penalty + penalty_of_part)


def _is_correctable(part: QueryPart) -> bool:
    return part.kind in _CORRECTABLE_KINDS and not part.is_excluded


def _join_words(query: ParsedQuery) -> list[QueryPart]:
    """Return the parts of the query with adjacent words joined: a correction can span them."""
    parts: list[QueryPart] = []
    for part in query.parts:
        if parts and not (part.is_condition or parts[-1].is_condition):
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text} {part.text}")
        else:
            parts.append(part)
    return parts


def _apply_corrections(query: ParsedQuery, changes: list[Correction]) -> ParsedQuery:
    return parse_query(str(ParsedQuery(tuple(_correct_part(part, changes) for part in _join_words(query)))))


def _correct_part(part: QueryPart, changes: list[Correction]) -> QueryPart:
    text = part.text
    for change in changes if _is_correctable(part) else ():
        old = re.escape(change.old)
        pattern = old if has_han(change.old) else rf"(?<!{ALPHABETIC}){old}(?!{ALPHABETIC})"
        text = change.new.join(re.split(pattern, text))
    return replace(part, text=text)
