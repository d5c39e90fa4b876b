"""HowNet's form of meaning: words are told by sememes, sememes stand in a tree. Files are the operator's.

PooledSememes   word -> all its sememes; cosine, rare sememes count more (0.48 / 0.50 on wordsim-240 / -297)
LiuLi           Liu and Li 2002 on `word/POS/definition` and the sememe tree (0.14 / 0.32), the one Zhou cites
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from text.sparse import cosine

HALF = 1.6  # of Liu and Li: the distance in the sememe tree at which similarity is one half
BETA = (0.5, 0.2, 0.17, 0.13)  # first sememe, other sememes, relations, symbols
EMPTY = 0.2  # what a sememe is to nothing, and a word to a sememe
_SYMBOLS = "*#%@&$?!^+~"
_CACHE = 65_536


class PooledSememes:
    """Cosine of the sememes of all senses of two words, weighted by inverse sememe frequency."""

    def __init__(self, sememes: Mapping[str, Sequence[str]]) -> None:
        frequency = Counter(sememe for some in sememes.values() for sememe in set(some))
        weight = {sememe: math.log(len(sememes) / count) for sememe, count in frequency.items()}
        self._vectors = {word: {sememe: weight[sememe] for sememe in some} for word, some in sememes.items()}
        self._words: dict[frozenset[str], list[str]] = defaultdict(list)
        for word, some in sememes.items():
            self._words[frozenset(some)].append(word)

    def similarity(self, one: str, other: str) -> float | None:
        """See `Concepts`."""
        if one not in self._vectors or other not in self._vectors:
            return None
        return 1.0 if one == other else min(cosine(self._vectors[one], self._vectors[other]), 1.0)

    def related(self, word: str) -> Sequence[str]:
        """The words with exactly its sememes."""
        if word not in self._vectors:
            return ()
        return tuple(other for other in self._words[frozenset(self._vectors[word])] if other != word)


def read_sememes(lines: Iterable[str]) -> PooledSememes:
    """From lines `word, tab, sememes with blanks between`."""
    rows = (line.rstrip("\n").partition("\t") for line in lines)
    return PooledSememes({word: tuple(sememes.split()) for word, _, sememes in rows if sememes})


@dataclass(frozen=True)
class Sense:
    """One definition: its first sememe, the others, relations by name, sememes by symbol."""

    first: str
    others: tuple[str, ...]
    relations: Mapping[str, str]
    symbols: Mapping[str, tuple[str, ...]]


class LiuLi:
    """Liu Qun and Li Sujian 2002 (METHODS 2.2). `parents` has the sememe above each, None for a root."""

    def __init__(self, senses: Mapping[str, Sequence[Sense]], parents: Mapping[str, str | None]) -> None:
        self._senses = senses
        self._parents = parents
        self.sememes = lru_cache(_CACHE)(self._sememes)

    def similarity(self, one: str, other: str) -> float | None:
        """The best over the senses of both."""
        if one not in self._senses or other not in self._senses:
            return None
        return 1.0 if one == other else max(self.senses(a, b) for a in self._senses[one] for b in self._senses[other])

    def related(self, word: str) -> Sequence[str]:
        """None: sememe trees relate meanings, not words."""
        return ()

    def senses(self, one: Sense, other: Sense) -> float:
        """SimC = sum over i of beta_i * product of Sim_1 ... Sim_i."""
        parts = (
            self.sememes(one.first, other.first),
            self.sets(one.others, other.others),
            self.by_key({k: (v,) for k, v in one.relations.items()}, {k: (v,) for k, v in other.relations.items()}),
            self.by_key(one.symbols, other.symbols),
        )
        product, total = 1.0, 0.0
        for beta, part in zip(BETA, parts, strict=True):
            product *= part
            total += beta * product
        return total

    def _sememes(self, one: str, other: str) -> float:
        """SimS = 1.6 / (1.6 + distance in the tree); words that are no sememes are alike or are not."""
        if one == other:
            return 1.0
        if one not in self._parents or other not in self._parents:
            return EMPTY if (one in self._parents) != (other in self._parents) else 0.0
        up = {sememe: steps for steps, sememe in enumerate(self._above(one))}
        for steps, sememe in enumerate(self._above(other)):
            if sememe in up:
                return HALF / (HALF + steps + up[sememe])
        return 0.0

    def sets(self, one: Sequence[str], other: Sequence[str]) -> float:
        """Pairs taken best first, what is left over paired with nothing; the mean. Two empty sets are the same."""
        left, right, found = list(one), list(other), []
        while left and right:
            value, a, b = max((self.sememes(a, b), a, b) for a in left for b in right)
            left.remove(a)
            right.remove(b)
            found.append(value)
        found += [EMPTY] * (len(left) + len(right))
        return sum(found) / len(found) if found else 1.0

    def by_key(self, one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> float:
        """The mean over the keys of both; a key that only one has counts EMPTY. Nothing on either side is the same."""
        keys = one.keys() | other.keys()
        values = [self.sets(one[key], other[key]) if key in one and key in other else EMPTY for key in sorted(keys)]
        return sum(values) / len(values) if values else 1.0

    def _above(self, sememe: str) -> list[str]:
        found = [sememe]
        while (above := self._parents[found[-1]]) is not None:
            found.append(above)
        return found


def read_liu_li(glossary: Iterable[str], tree: Iterable[str]) -> LiuLi:
    """From lines `word/POS/definition` and lines `number, tab, sememe, tab, number of the one above`."""
    rows = [line.rstrip("\n").split("\t") for line in tree]
    names = {number: sememe for number, sememe, _ in rows}
    parents = {sememe: None if above == number else names[above] for number, sememe, above in rows}
    senses: dict[str, list[Sense]] = defaultdict(list)
    for line in glossary:
        word, _, definition = line.strip().rsplit("/", 2) if line.count("/") >= 2 else ("", "", "")
        if definition:
            senses[word.strip()].append(sense_of(definition))
    return LiuLi(senses, parents)


def sense_of(definition: str) -> Sense:
    """A definition cut into its four parts."""
    first, *rest = definition.split(",")
    others: list[str] = []
    relations: dict[str, str] = {}
    symbols: dict[str, list[str]] = defaultdict(list)
    for part in rest:
        name, equals, value = part.partition("=")
        if equals:
            relations[name] = value
        elif part[:1] and part[0] in _SYMBOLS:
            symbols[part[0]].append(part[1:])
        else:
            others.append(part)
    return Sense(first, tuple(others), relations, {symbol: tuple(some) for symbol, some in symbols.items()})
