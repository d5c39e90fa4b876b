"""The known words of the site, with lookup by spelling, sound and typing errors.

Vocabulary(queries=["页岩气 产量"], terms={"页岩气": 120, "水力压裂": 40}, title_words={"开发": 300})
    .complete("yey", 8)                 -> 页岩气 产量 (QUERY), 页岩气 (TERM)
    .complete("slyl", 8)                -> 水力压裂
    .similar_words("叶岩气")             -> 页岩气
    .similar_words("水力压列")           -> 水力压裂
"""

import heapq
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from math import inf, log10
from operator import itemgetter
from typing import Generic, TypeVar

from rapidfuzz import process
from rapidfuzz.distance import OSA, Postfix, Prefix

from search_ui.spelling.typing_errors import LIKELY, MAX_EDITS, MIN_LETTERS, POSSIBLE, edit_penalty
from text.background_frequencies import is_english_word, page_share
from text.folding import word_key
from text.pinyin import fuzzy_pinyin, has_han, initials, join_syllables, pinyin_syllables, split_pinyin, to_pinyin
from text.scripts import HAN
from text.segment import is_in_dictionary

MAX_SCANNED = 2000  # maximum number of words that are examined
WORD_COST = 3.0  # a page has about a thousand words
MIN_PAGES = 100  # a smaller site says little about the words that it does not contain
LETTER_COST = 0.4  # of an unknown word, for each letter after `MIN_LETTERS`
MAX_ENDING_LETTERS = 4
MIN_WORDS_WITH_ENDING = 10
MIN_ALTERNATING_SHARE = 0.05  # of the words with an ending, those that also have the other ending
_KEY_SEPARATOR = "\n"
_HAN_RE = re.compile(f"[{HAN}]")


class WordKind(StrEnum):
    """The source of a suggestion."""

    QUERY = "query"
    TERM = "term"
    WORD = "word"  # of the lexicon, but no published term: readers see no kind
    TITLE = "title"


@dataclass(frozen=True)
class KnownWord:
    """A word that can be suggested. `rank` counts from 0, best first."""

    text: str
    kind: WordKind
    rank: int


class Vocabulary:
    """An immutable set of known words. Thread-safe.

    Building it takes about two seconds and 40 MB for 170,000 words.

    Args:
        queries: Queries to suggest, best first.
        terms: Document count by term. Suggested, and used for corrections.
        title_words: Document count by word. Used for corrections.
        body_words: Document count by word. Used for corrections by sound only.
        spellings: The most frequent spelling of terms that differs from their text in upper and lower case.
        names: Names of people. Never corrected.
        document_count: Number of documents of the site.
    """

    def __init__(
        self,
        queries: Sequence[str] = (),
        terms: Mapping[str, int] | None = None,
        title_words: Mapping[str, int] | None = None,
        body_words: Mapping[str, int] | None = None,
        spellings: Mapping[str, str] | None = None,
        names: Iterable[str] = (),
        document_count: int = 0,
    ) -> None:
        self._spelling_by_term = dict(spellings or {})
        self._unused_terms = frozenset(term for term, count in (terms or {}).items() if not count)
        self._suggestions = _rank_suggestions(queries, terms or {})
        correction_frequencies = _merge_frequencies(title_words or {}, terms or {})
        self._frequency_by_word = _merge_frequencies(body_words or {}, correction_frequencies)
        keys = [word_key(word.text) for word in self._suggestions]
        sounds = [pinyin_syllables(key) for key in keys]
        self._index_by_text = _index_positions(keys)
        self._index_by_sound = _index_positions(map(join_syllables, sounds))
        self._index_by_initials = _index_positions(map(initials, sounds))
        self._joined_keys = _KEY_SEPARATOR + _KEY_SEPARATOR.join(keys) + _KEY_SEPARATOR
        self._key_starts = _start_offsets(keys)
        self._words_by_blurred_sound = _PrefixIndex(
            (fuzzy_pinyin(pinyin_syllables(word)), word) for word in self._frequency_by_word if has_han(word)
        )
        spelled_words = {word_key(word): word for word in (*(terms or ()), *(title_words or ()))}
        self._spelling_by_key = {key: word for key, word in spelled_words.items() if key != word}
        self._words_by_end: dict[tuple[bool, str], list[str]] = defaultdict(list)
        for word in correction_frequencies:
            for end in _ends(word):
                self._words_by_end[end].append(word)
        self._document_count = max(document_count, 1, *self._frequency_by_word.values())
        certain_keys = [word_key(text) for text in (*(terms or ()), *names)]
        self._certain_words = {word for key in certain_keys for word in (key, *key.split())}

    # -- suggestions

    def complete(self, raw_query: str, limit: int) -> list[KnownWord]:
        """Return completions of a query, at most `limit`.

        Matches by prefix of characters or sound come first, then by initials, then words that contain the query.
        """
        key = word_key(raw_query)
        if not key:
            return []
        positions: dict[int, None] = {}
        for candidates in self._iter_matches(key):
            remaining = limit - len(positions)
            if remaining <= 0:
                break
            positions.update(
                dict.fromkeys(
                    heapq.nsmallest(remaining, (position for position in candidates if position not in positions))
                )
            )
        return [self._suggestions[position] for position in positions]

    def _iter_matches(self, key: str) -> Iterator[Iterable[int]]:
        """Yield positions in `_suggestions`, best kind of match first."""
        yield self._index_by_text.get_prefixed(key)
        letters = to_pinyin(key)
        if any("a" <= char <= "z" for char in key):
            for positions in (self._index_by_sound.get_exact(letters), self._index_by_sound.get_prefixed(letters)):
                yield (
                    [  # `页yan` must not match `夜宴`
                        position
                        for position in positions
                        if all(char in self._suggestions[position].text for char in _HAN_RE.findall(key))
                    ]
                    if has_han(key)
                    else positions
                )
        if len(key) > 1 and key.isascii():
            yield self._index_by_initials.get_prefixed(letters)
        if len(key) > 1:
            yield self._iter_containing(key)

    def _iter_containing(self, key: str) -> Iterator[int]:
        offset = self._joined_keys.find(key)
        for _ in range(MAX_SCANNED):
            if offset < 0:
                return
            yield bisect_left(self._key_starts, offset + 1) - 1
            offset = self._joined_keys.find(key, self._joined_keys.index(_KEY_SEPARATOR, offset))

    def display_form(self, term: str) -> str:
        """Return the most frequent spelling of a term; the term itself if none is known."""
        return self._spelling_by_term.get(term, term)

    def is_used(self, term: str) -> bool:
        """Return True if documents are known to contain a term."""
        return term not in self._unused_terms and self.frequency(term) > 0

    # -- corrections

    def frequency(self, word: str) -> int:
        """Return the number of documents with the word; 0 if it is unknown."""
        return self._frequency_by_word.get(word_key(word), 0)

    def cost(self, word: str) -> float:
        """Return how rare a word is on the site: the negative decimal logarithm of its share of all words.

        An unknown word is the rarer the longer it is.
        """
        documents = self.frequency(word)
        if documents:
            return WORD_COST + log10(self._document_count / documents)
        pages = 2 * max(self._document_count, MIN_PAGES)
        return WORD_COST + log10(pages) + LETTER_COST * max(0, len(word) - MIN_LETTERS)

    def typed_cost(self, word: str) -> float:
        """Return how rare a typed word is on the site or in general language, whichever is less."""
        share = page_share(word_key(word))
        return min(self.cost(word), WORD_COST - log10(share)) if share else self.cost(word)

    def is_known(self, word: str) -> bool:
        """Return True for terms, names, and words of general language: they are never corrected."""
        key = word_key(word)
        return key in self._certain_words or (is_in_dictionary(key) if has_han(key) else is_english_word(key))

    def similar_words(self, text: str) -> dict[str, float]:
        """Return the known words that a misspelt `text` can mean, with the penalty of the error (`typing_errors`)."""
        key = word_key(text)
        nearby = [word for end in _ends(key) for word in self._words_by_end.get(end, ())]
        matches = process.extract(key, nearby, scorer=OSA.distance, score_cutoff=MAX_EDITS, limit=None)
        penalties = {word: edit_penalty(key, word) for word, *_ in matches}
        if has_han(key):
            syllables = pinyin_syllables(key)
            same_sound = self._words_by_blurred_sound.get_exact(fuzzy_pinyin(syllables))
            penalties |= {word: LIKELY if pinyin_syllables(word) == syllables else POSSIBLE for word in same_sound}
        return {
            self._spelling_by_key.get(word, word): penalty
            for word, penalty in penalties.items()
            if penalty < inf and word != key
        }

    def are_forms(self, text: str, word: str) -> bool:
        """Return True if both are forms of one word: their endings alternate in other words as well.

        If they differ in nothing but the end, this is assumed until enough words show the contrary.
        """
        typed_key, key = word_key(text), word_key(word)
        stem_letters = Prefix.similarity(typed_key, key)
        typed_ending, ending = typed_key[stem_letters:], key[stem_letters:]
        is_swapped = sorted(typed_ending) == sorted(ending)
        if has_han(key) or is_swapped or max(len(typed_ending), len(ending)) > MAX_ENDING_LETTERS:
            return False
        similar = (
            other for other in self._words_by_end.get((True, key[-1]), ()) if other.endswith(ending) and other != key
        )
        stems = [other.removesuffix(ending) for other in similar]
        alternating = sum(stem + typed_ending in self._frequency_by_word for stem in stems)
        doubt = 0 if Postfix.similarity(typed_ending, ending) else 1
        return alternating + doubt > MIN_ALTERNATING_SHARE * (len(stems) + doubt * MIN_WORDS_WITH_ENDING)

    def words_for_pinyin(self, letters: str) -> list[str]:
        """Return the words with this pinyin (`yeyanqi`), most frequent first."""
        sound_keys = dict.fromkeys(map(fuzzy_pinyin, split_pinyin(letters)))
        words = {word for sound_key in sound_keys for word in self._words_by_blurred_sound.get_exact(sound_key)}
        same_sound = (word for word in words if join_syllables(pinyin_syllables(word)) == letters)
        return sorted(same_sound, key=lambda word: (-self._frequency_by_word[word], word))

    def words_for_initials(self, letters: str) -> list[str]:
        """Return the suggestions with exactly these initials (`slyl`), best first."""
        positions = sorted(self._index_by_initials.get_exact(letters))
        return [self._suggestions[position].text for position in positions if has_han(self._suggestions[position].text)]


def _rank_suggestions(queries: Sequence[str], terms: Mapping[str, int]) -> list[KnownWord]:
    """Rank suggestions without repetitions: successful queries first, then terms by document count."""
    by_frequency = sorted(terms, key=lambda term: (-terms[term], len(term), term))
    kinds = [*((text, WordKind.QUERY) for text in queries), *((text, WordKind.TERM) for text in by_frequency)]
    by_key: dict[str, tuple[str, WordKind]] = {}
    for text, kind in kinds:
        by_key.setdefault(word_key(text), (text, kind))
    by_key.pop("", None)
    return [KnownWord(text, kind, rank) for rank, (text, kind) in enumerate(by_key.values())]


def _merge_frequencies(*sources: Mapping[str, int]) -> dict[str, int]:
    frequency_by_key: dict[str, int] = defaultdict(int)
    for word, count in chain(*(source.items() for source in sources)):
        frequency_by_key[word_key(word)] = max(frequency_by_key[word_key(word)], count, 1)
    return dict(frequency_by_key)


def _ends(word: str) -> tuple[tuple[bool, str], ...]:
    """Return the first and the last character of a word. Nearly every error leaves one of them."""
    return (False, word[:1]), (True, word[-1:])


T = TypeVar("T")


class _PrefixIndex(Generic[T]):
    """A sorted key-value index with exact and prefix lookup."""

    def __init__(self, items: Iterable[tuple[str, T]]) -> None:
        pairs = sorted(items, key=itemgetter(0))
        self._keys = [key for key, _ in pairs]
        self._values = [value for _, value in pairs]

    def get_exact(self, key: str) -> list[T]:
        """Return the values of this key."""
        return self._values[bisect_left(self._keys, key) : bisect_left(self._keys, key + "\0")]

    def get_prefixed(self, prefix: str) -> list[T]:
        """Return the values of all keys with this prefix."""
        first = bisect_left(self._keys, prefix)
        last = bisect_left(self._keys, prefix + "\U0010ffff", lo=first, hi=len(self._keys))
        return self._values[first:last]


def _index_positions(keys: Iterable[str]) -> _PrefixIndex[int]:
    return _PrefixIndex((key, position) for position, key in enumerate(keys))


def _start_offsets(keys: Sequence[str]) -> list[int]:
    """Return the offset of each key in the joined text."""
    starts, offset = [], 1
    for key in keys:
        starts.append(offset)
        offset += len(key) + 1
    return starts
