"""HowNet concepts: words are described by sememes, and sememes form a tree. The administrator supplies the files.

PooledSememeConcepts   word -> all its sememes; cosine weighted by rarity (0.48 / 0.50 on wordsim-240 / -297)
LiuLiConcepts          Liu and Li 2002 on `word/POS/definition` and the sememe tree (0.14 / 0.32), cited by Zhou
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.errors import SettingsError
from focused.sparse_vectors import cosine

HALF_SIMILARITY_DISTANCE = 1.6  # Liu and Li: distance in the sememe tree at which similarity is 0.5
SENSE_PART_WEIGHTS = (0.5, 0.2, 0.17, 0.13)  # first sememe, other sememes, relations, symbols
UNMATCHED_SIMILARITY = 0.2  # similarity of a sememe without a partner, and of a sememe to a plain word
_SYMBOL_PREFIXES = "*#%@&$?!^+~"
_SIMILARITY_CACHE_SIZE = 65_536
_MAX_TREE_DEPTH = 100  # the tree of HowNet has about ten levels


class PooledSememeConcepts:
    """Similarity is the cosine of the sememes of all senses of two words, weighted by inverse sememe frequency."""

    def __init__(self, sememes: Mapping[str, Sequence[str]]) -> None:
        frequency = Counter(sememe for word_sememes in sememes.values() for sememe in set(word_sememes))
        weight = {sememe: math.log(len(sememes) / count) for sememe, count in frequency.items()}
        self._vectors = {
            word: {sememe: weight[sememe] for sememe in word_sememes} for word, word_sememes in sememes.items()
        }
        self._words_by_sememes: dict[frozenset[str], list[str]] = defaultdict(list)
        for word, word_sememes in sememes.items():
            self._words_by_sememes[frozenset(word_sememes)].append(word)

    def similarity(self, first: str, second: str) -> float | None:
        if first not in self._vectors or second not in self._vectors:
            return None
        return 1.0 if first == second else min(cosine(self._vectors[first], self._vectors[second]), 1.0)

    def related(self, word: str) -> Sequence[str]:
        """Return the other words with exactly the word's sememes."""
        if word not in self._vectors:
            return ()
        return tuple(other for other in self._words_by_sememes[frozenset(self._vectors[word])] if other != word)


def read_pooled_sememes(lines: Iterable[str]) -> PooledSememeConcepts:
    """Read lines of `word, tab, sememes separated by spaces`."""
    rows = (line.rstrip("\n").partition("\t") for line in lines)
    return PooledSememeConcepts({word: tuple(sememes.split()) for word, _, sememes in rows if sememes})


@dataclass(frozen=True)
class Sense:
    """One definition of a word: first sememe, other sememes, relations by name, sememes by symbol."""

    primary_sememe: str
    other_sememes: tuple[str, ...]
    sememe_by_relation: Mapping[str, str]
    sememes_by_symbol: Mapping[str, tuple[str, ...]]


class LiuLiConcepts:
    """Similarity of Liu Qun and Li Sujian 2002.

    `paths_by_sememe` maps each sememe to the paths of its nodes: the numbers of a node and of its ancestors.
    """

    def __init__(
        self, senses: Mapping[str, Sequence[Sense]], paths_by_sememe: Mapping[str, Sequence[Sequence[str]]]
    ) -> None:
        self._senses_by_word = senses
        self._paths_by_sememe = paths_by_sememe
        self.sememe_similarity = lru_cache(_SIMILARITY_CACHE_SIZE)(self._sememe_similarity)

    def similarity(self, first: str, second: str) -> float | None:
        """Return the highest similarity over the senses of both words, or None if a word is unknown."""
        if first not in self._senses_by_word or second not in self._senses_by_word:
            return None
        if first == second:
            return 1.0
        return max(
            self.sense_similarity(a, b) for a in self._senses_by_word[first] for b in self._senses_by_word[second]
        )

    def related(self, word: str) -> Sequence[str]:
        """Return no words: the sememe tree relates meanings, not words."""
        return ()

    def sense_similarity(self, first: Sense, second: Sense) -> float:
        """Return SimC = sum over i of beta_i * product of Sim_1 ... Sim_i."""
        parts = (
            self.sememe_similarity(first.primary_sememe, second.primary_sememe),
            self.set_similarity(first.other_sememes, second.other_sememes),
            self.mapping_similarity(
                {k: (v,) for k, v in first.sememe_by_relation.items()},
                {k: (v,) for k, v in second.sememe_by_relation.items()},
            ),
            self.mapping_similarity(first.sememes_by_symbol, second.sememes_by_symbol),
        )
        product, total = 1.0, 0.0
        for beta, part in zip(SENSE_PART_WEIGHTS, parts, strict=True):
            product *= part
            total += beta * product
        return total

    def _sememe_similarity(self, first: str, second: str) -> float:
        """Return SimS = 1.6 / (1.6 + distance in the tree). Plain words have similarity 1 if equal, otherwise 0."""
        if first == second:
            return 1.0
        first_paths, second_paths = (self._paths_by_sememe.get(sememe, ()) for sememe in (first, second))
        if not (first_paths and second_paths):
            return UNMATCHED_SIMILARITY if first_paths or second_paths else 0.0
        distances = [
            steps + second_path.index(ancestor)
            for first_path in first_paths
            for second_path in second_paths
            for steps, ancestor in enumerate(first_path)
            if ancestor in second_path
        ]
        return HALF_SIMILARITY_DISTANCE / (HALF_SIMILARITY_DISTANCE + min(distances)) if distances else 0.0

    def set_similarity(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Return the mean similarity of pairs, paired greedily by highest similarity. Two empty sets have similarity 1.

        Unpaired sememes count UNMATCHED_SIMILARITY.
        """
        unpaired_first, unpaired_second, similarities = list(first), list(second), []
        while unpaired_first and unpaired_second:
            value, a, b = max((self.sememe_similarity(a, b), a, b) for a in unpaired_first for b in unpaired_second)
            unpaired_first.remove(a)
            unpaired_second.remove(b)
            similarities.append(value)
        similarities += [UNMATCHED_SIMILARITY] * (len(unpaired_first) + len(unpaired_second))
        return sum(similarities) / len(similarities) if similarities else 1.0

    def mapping_similarity(self, first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]) -> float:
        """Return the mean similarity over the keys of both mappings. Two empty mappings have similarity 1.

        A key in only one of them counts UNMATCHED_SIMILARITY.
        """
        keys = first.keys() | second.keys()
        values = [
            self.set_similarity(first[key], second[key]) if key in first and key in second else UNMATCHED_SIMILARITY
            for key in sorted(keys)
        ]
        return sum(values) / len(values) if values else 1.0


def read_hownet(glossary: Iterable[str], tree: Iterable[str]) -> LiuLiConcepts:
    """Read HowNet concepts from a glossary and a sememe tree.

    Args:
        glossary: lines `word/POS/definition`.
        tree: lines `number, tab, sememe, tab, parent number`; a root is its own parent.

    Raises:
        SettingsError: the sememe tree is invalid.
    """
    paths_by_sememe = read_sememe_tree(tree)
    senses: dict[str, list[Sense]] = defaultdict(list)
    for line in glossary:
        word, _, definition = line.strip().rsplit("/", 2) if line.count("/") >= 2 else ("", "", "")
        if definition:
            senses[word.strip()].append(parse_sense(definition))
    return LiuLiConcepts(senses, paths_by_sememe)


def read_sememe_tree(lines: Iterable[str]) -> dict[str, list[list[str]]]:
    """Return the paths of each sememe, see `LiuLiConcepts`. Several nodes may have the same sememe.

    Raises:
        SettingsError: a line has other columns, or names an unknown parent, or a node is its own ancestor.
    """
    rows = [(line, *line.rstrip("\n").split("\t")) for line in lines]
    for line, *columns in rows:
        if len(columns) != 3:
            raise SettingsError(f"crawl.concepts: not a line of a sememe tree (number, sememe, parent): {line[:60]!r}")
    parent_by_number = {number: parent_number for _, number, _, parent_number in rows}
    paths_by_sememe: dict[str, list[list[str]]] = defaultdict(list)
    for line, number, sememe, parent_number in rows:
        if parent_number not in parent_by_number:
            raise SettingsError(f"crawl.concepts: the sememe tree has no parent {parent_number[:20]}: {line[:60]!r}")
        path = [number]
        while (parent := parent_by_number.get(path[-1], path[-1])) != path[-1]:
            if parent in path or len(path) == _MAX_TREE_DEPTH:
                raise SettingsError(f"crawl.concepts: {sememe} is its own ancestor in the sememe tree, or too deep")
            path.append(parent)
        paths_by_sememe[sememe].append(path)
    return paths_by_sememe


def parse_sense(definition: str) -> Sense:
    """Parse a definition into its four parts."""
    primary_sememe, *parts = definition.split(",")
    other_sememes: list[str] = []
    relations: dict[str, str] = {}
    symbols: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            relations[name] = value
        elif part[:1] and part[0] in _SYMBOL_PREFIXES:
            symbols[part[0]].append(part[1:])
        else:
            other_sememes.append(part)
    return Sense(
        primary_sememe, tuple(other_sememes), relations, {symbol: tuple(sememes) for symbol, sememes in symbols.items()}
    )
