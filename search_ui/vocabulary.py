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

from search_ui.pinyin import blurred_sound, has_han, initials, sound, syllables, typed_sound
from semantics.folding import word_key
from semantics.scripts import HAN

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
    """Immutable; threads may share it. Making one costs some 0.2 ms and 2.5 kB a word.

    `queries` stand best first; `terms` and `title_words` have the number of documents that hold them. Queries and terms
    are suggested, terms and title words correct what is mistyped.
    """

    def __init__(
        self,
        queries: Sequence[str] = (),
        terms: Mapping[str, int] | None = None,
        title_words: Mapping[str, int] | None = None,
    ) -> None:
        self._suggested = _ranked(queries, terms or {})
        self._frequency = _frequencies({**(title_words or {}), **(terms or {})})
        keys = [word_key(word.text) for word in self._suggested]
        heard = {word: syllables(word) for word in {*keys, *self._frequency}}
        sounds = [heard[key] for key in keys]
        self._by_text = _Beginnings(keys)
        self._by_sound = _Beginnings([sound(one) for one in sounds])
        self._by_initials = _Beginnings([initials(one) for one in sounds])
        self._all_keys = _BETWEEN + _BETWEEN.join(keys) + _BETWEEN
        self._starts = _starts(keys)
        self._alike, self._blurred, self._shorter = _for_corrections(
            {word: heard[word] for word in self._frequency if has_han(word)}
        )

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
        return self._best((self._alike.get(sound(one), ()), self._blurred.get(blurred_sound(one), ())), text)

    def spelt_by_sound(self, letters: str) -> list[str]:
        """Words that sound just as the letters are read (`yeyanqi`), the most frequent first."""
        return self._best((self._alike.get(letters, ()),), letters)

    def one_edit_from(self, text: str) -> list[str]:
        """Known words of three characters or more with one character more, less or other; the most frequent first."""
        key = word_key(text)
        if len(key) < SHORTEST_EDITED:
            return []
        near = [word for less in (key, *_less_one(key)) for word in self._shorter.get(less, ())]
        return self._best(([word for word in near if _is_one_edit(word, key)],), text)

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


def _for_corrections(heard: Mapping[str, Sequence[str]]) -> tuple[Mapping[str, list[str]], ...]:
    """Chinese words by sound, by blurred sound, and by what is left of them without any one character.

    Others are left to Solr.
    """
    alike, blurred, shorter = defaultdict(list), defaultdict(list), defaultdict(list)
    for word, one in heard.items():
        alike[sound(one)].append(word)
        blurred[blurred_sound(one)].append(word)
        if len(word) >= SHORTEST_EDITED:
            for less in (word, *_less_one(word)):
                shorter[less].append(word)
    return alike, blurred, shorter


class _Beginnings:
    """Places of keys, by what the keys begin with."""

    def __init__(self, keys: Sequence[str]) -> None:
        pairs = sorted(zip(keys, range(len(keys)), strict=True))
        self._keys = [key for key, _ in pairs]
        self._places = [place for _, place in pairs]

    def just(self, key: str) -> list[int]:
        """Places of this very key."""
        return self._places[bisect_left(self._keys, key) : bisect_left(self._keys, key + "\0")]

    def of(self, beginning: str) -> list[int]:
        """Places of keys that begin so."""
        first = bisect_left(self._keys, beginning)
        last = bisect_left(self._keys, beginning + "\U0010ffff", lo=first, hi=len(self._keys))
        return self._places[first:last]


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


def _is_one_edit(one: str, other: str) -> bool:
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
