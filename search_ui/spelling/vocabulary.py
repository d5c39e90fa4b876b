"""The words that the site knows, looked up by how they are written, how they sound, and how they are mistyped. Pure.

Vocabulary(queries=["页岩气 产量"], terms={"页岩气": 120, "水力压裂": 40}, title_words={"开发": 300})
    .beginning_with("yey")  -> 页岩气 产量 (QUERY), 页岩气 (TERM)
    .beginning_with("slyl") -> 水力压裂
    .sounding_like("叶岩气") -> 页岩气
    .one_edit_from("水力压列") -> 水力压裂
"""

import heapq
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from typing import Generic, TypeVar

from text.folding import word_key
from text.pinyin import blurred_sound, has_han, initials, sound, spelt_out, syllables, typed_sound
from text.scripts import HAN

SCANNED = 2000  # words that hold what was typed, looked at at most
SHORTEST_EDITED = 3  # characters: of shorter words nearly all are one edit from each other
_BETWEEN = "\n"
_HAN = re.compile(f"[{HAN}]")


class WordKind(StrEnum):
    """Where a suggestion comes from."""

    QUERY = "query"
    TERM = "term"
    TITLE = "title"


@dataclass(frozen=True)
class KnownWord:
    """Something that can be suggested. `rank` counts from 0, the best first."""

    text: str
    kind: WordKind
    rank: int


class Vocabulary:
    """Immutable; threads may share it. Making one costs some 0.2 ms and 2.5 kB a word, of `body_words` 40 us and 250 B.

    `queries` stand best first; the words have the number of documents that hold them. Queries and terms are suggested;
    terms and title words correct what is mistyped, body words as well where they sound like it.
    """

    def __init__(
        self,
        queries: Sequence[str] = (),
        terms: Mapping[str, int] | None = None,
        title_words: Mapping[str, int] | None = None,
        body_words: Mapping[str, int] | None = None,
    ) -> None:
        self._suggested = _ranked(queries, terms or {})
        corrected = _frequencies({**(title_words or {}), **(terms or {})})
        self._frequency = {**_frequencies(body_words or {}), **corrected}
        keys = [word_key(word.text) for word in self._suggested]
        sounds = [syllables(key) for key in keys]
        self._by_text = _by_place(keys)
        self._by_sound = _by_place(map(sound, sounds))
        self._by_initials = _by_place(map(initials, sounds))
        self._all_keys = _BETWEEN + _BETWEEN.join(keys) + _BETWEEN
        self._starts = _starts(keys)
        self._heard = _Beginnings((blurred_sound(syllables(word)), word) for word in self._frequency if has_han(word))
        self._shorter = _without_one(word for word in corrected if has_han(word))

    # -- suggestions

    def beginning_with(self, typed: str, limit: int) -> list[KnownWord]:
        """Words that begin with what was typed in characters or by sound; then by first letters, then what holds it."""
        key = word_key(typed)
        if not key:
            return []
        found: dict[int, None] = {}
        for places in self._ways(key):
            rest = limit - len(found)
            if rest <= 0:
                break
            found.update(dict.fromkeys(heapq.nsmallest(rest, (place for place in places if place not in found))))
        return [self._suggested[place] for place in found]

    def _ways(self, key: str) -> Iterator[Iterable[int]]:
        """Places in `_suggested`, the best way to match first."""
        yield self._by_text.of(key)
        letters = typed_sound(key)
        if any("a" <= char <= "z" for char in key):
            for places in (self._by_sound.just(letters), self._by_sound.of(letters)):
                yield [place for place in places if self._holds_han_of(key, place)] if has_han(key) else places
        if len(key) > 1 and key.isascii():
            yield self._by_initials.of(letters)
        if len(key) > 1:
            yield self._holding(key)

    def _holds_han_of(self, key: str, place: int) -> bool:
        """`页yan` sounds like `夜宴`, but its first character says what is meant."""
        return all(char in self._suggested[place].text for char in _HAN.findall(key))

    def _holding(self, key: str) -> Iterator[int]:
        at = self._all_keys.find(key)
        for _ in range(SCANNED):
            if at < 0:
                return
            yield bisect_left(self._starts, at + 1) - 1
            at = self._all_keys.find(key, self._all_keys.index(_BETWEEN, at))

    # -- corrections

    def frequency(self, word: str) -> int:
        """In how many documents the word is known to be, 0 for an unknown one."""
        return self._frequency.get(word_key(word), 0)

    def sounding_like(self, text: str) -> list[str]:
        """Other words of the same sound, then of one that is often mixed up with it; the most frequent first."""
        one = syllables(text)
        alike = self._heard.just(blurred_sound(one))
        return self._best(([word for word in alike if syllables(word) == one], alike), text)

    def spelt_by_sound(self, letters: str) -> list[str]:
        """Words that sound just as the letters are read (`yeyanqi`), the most frequent first."""
        blurred = dict.fromkeys(map(blurred_sound, spelt_out(letters)))
        words = (word for one in blurred for word in self._heard.just(one))
        return self._best(([word for word in words if sound(syllables(word)) == letters],), letters)

    def abbreviated(self, letters: str) -> list[str]:
        """What is suggested for first letters that are all of them (`slyl`), the best first."""
        places = sorted(self._by_initials.just(letters))
        return [self._suggested[place].text for place in places if has_han(self._suggested[place].text)]

    def one_edit_from(self, text: str) -> list[str]:
        """Known words of three characters or more with one character more, less or other; the most frequent first."""
        key = word_key(text)
        if len(key) < SHORTEST_EDITED:
            return []
        near = [word for less in (key, *_less_one(key)) for word in self._shorter.get(less, ())]
        return self._best(([word for word in near if is_one_edit(word, key)],), text)

    def _best(self, tiers: Iterable[Iterable[str]], text: str) -> list[str]:
        key = word_key(text)
        ordered = [word for tier in tiers for word in sorted(tier, key=lambda w: (-self._frequency[w], w))]
        return [word for word in dict.fromkeys(ordered) if word != key]


def _ranked(queries: Sequence[str], terms: Mapping[str, int]) -> list[KnownWord]:
    """What readers searched for with success comes first, then terms by the documents that hold them; each once."""
    by_frequency = sorted(terms, key=lambda term: (-terms[term], len(term), term))
    kinds = [*((text, WordKind.QUERY) for text in queries), *((text, WordKind.TERM) for text in by_frequency)]
    once: dict[str, tuple[str, WordKind]] = {}
    for text, kind in kinds:
        once.setdefault(word_key(text), (text, kind))
    once.pop("", None)
    return [KnownWord(text, kind, rank) for rank, (text, kind) in enumerate(once.values())]


def _frequencies(documents: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for word, count in documents.items():
        found[word_key(word)] = max(found[word_key(word)], count, 1)
    return dict(found)


def _without_one(words: Iterable[str]) -> Mapping[str, list[str]]:
    """Words by themselves and by what is left of them without any one character."""
    shorter = defaultdict(list)
    for word in words:
        if len(word) >= SHORTEST_EDITED:
            for less in (word, *_less_one(word)):
                shorter[less].append(word)
    return shorter


Kept = TypeVar("Kept")


class _Beginnings(Generic[Kept]):
    """What is kept under keys, by what the keys begin with."""

    def __init__(self, kept: Iterable[tuple[str, Kept]]) -> None:
        pairs = sorted(kept, key=itemgetter(0))
        self._keys = [key for key, _ in pairs]
        self._kept = [one for _, one in pairs]

    def just(self, key: str) -> list[Kept]:
        """What is kept under this very key."""
        return self._kept[bisect_left(self._keys, key) : bisect_left(self._keys, key + "\0")]

    def of(self, beginning: str) -> list[Kept]:
        """What is kept under keys that begin so."""
        first = bisect_left(self._keys, beginning)
        last = bisect_left(self._keys, beginning + "\U0010ffff", lo=first, hi=len(self._keys))
        return self._kept[first:last]


def _by_place(keys: Iterable[str]) -> _Beginnings[int]:
    return _Beginnings((key, place) for place, key in enumerate(keys))


def _starts(keys: Sequence[str]) -> list[int]:
    """Where each key begins in all of them joined."""
    starts, at = [], 1
    for key in keys:
        starts.append(at)
        at += len(key) + 1
    return starts


def _less_one(word: str) -> set[str]:
    """`word` with any one character taken out."""
    return {word[:n] + word[n + 1 :] for n in range(len(word))}


def is_one_edit(one: str, other: str) -> bool:
    """Does one character put in, taken out, changed, or exchanged with its neighbour make one of the other?"""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    if len(one) != len(other):
        longer, shorter = sorted((one, other), key=len, reverse=True)
        return shorter in _less_one(longer)
    differing = [n for n in range(len(one)) if one[n] != other[n]]
    if len(differing) == 1:
        return True
    first, last = differing[0], differing[-1]
    return len(differing) == 2 and last == first + 1 and (one[first], one[last]) == (other[last], other[first])
