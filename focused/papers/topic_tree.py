"""The semantic tree and its distances (Zhang 2017: ZJ-F5 to ZJ-F8). A word may stand at several places.

地质            page 0, depth 0
  岩石          depth 1
    玄武岩      depth 2
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_KEPT = 100_000  # words that a Likeness keeps in mind
HALF = 1.6  # alpha: the distance at which similarity is one half [L]


@dataclass(frozen=True)
class TopicTree:
    """`parents` has the place above each place (-1 for a root), `places` the places of each word."""

    parents: tuple[int, ...]
    places: Mapping[str, tuple[int, ...]]

    def __contains__(self, word: str) -> bool:
        return word in self.places

    def depth(self, place: int) -> int:
        """Steps to the root."""
        return len(self.above(place)) - 1

    def above(self, place: int) -> list[int]:
        """The place itself, then those above it up to the root."""
        found = [place]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return found

    def roots(self, word: str) -> set[int]:
        """The roots above the places of a word; none for a word not in the tree."""
        return {self.above(place)[-1] for place in self.places.get(word, ())}

    def distance(self, one: str, other: str) -> float:
        """ZJ-F6 with ZJ-F7: steps by way of the nearest common ancestor; the smallest where a word has several places.

        Infinite where there is none, and for a word not in the tree (0 from itself).
        """
        if one == other:
            return 0.0
        ways = (self.steps(a, b) for a in self.places.get(one, ()) for b in self.places.get(other, ()))
        return min(ways, default=math.inf)

    def steps(self, one: int, other: int) -> float:
        """dep(X, P) + dep(Y, P), P the nearest common ancestor; of depths where one is above the other."""
        up = {place: steps for steps, place in enumerate(self.above(one))}
        return next(
            (up[place] + steps for steps, place in enumerate(self.above(other)) if place in up),
            math.inf,
        )

    def similarity(self, one: str, other: str) -> float:
        """ZJ-F5: alpha / (distance + alpha), 0 to 1."""
        return HALF / (self.distance(one, other) + HALF)

    def semantic_similarity(self, features: Collection[str], words: Collection[str]) -> float:
        """ZJ-F8: the mean over `features` of the best similarity that one of `words` has; 0 where there is none."""
        return Likeness(self, features).mean(words)


class Likeness:
    """ZJ-F8 for one set of features: what is found for a word is kept, so that a word costs its way through the tree
    once, and a page or link one look for each of its words.

    `weights` says how much each feature counts, all alike where it is None: of many features most weigh next to
    nothing, and who has many words has some of those, whatever the words are about.

    _rows  of each word: (features,) float64, its similarity to each feature, 0 to 1; None for a word that is like none
    """

    def __init__(self, tree: TopicTree, features: Collection[str], weights: Sequence[float] | None = None) -> None:
        self._tree = tree
        self._features = tuple(features)
        self._weights = None if weights is None else np.array(weights)
        self._below: dict[int, list[int]] = {}  # root -> which features have a place below it
        self._own = {feature: place for place, feature in enumerate(self._features)}
        for feature, number in self._own.items():
            for root in tree.roots(feature):
                self._below.setdefault(root, []).append(number)
        self._rows: dict[str, NDArray[np.float64] | None] = {}

    def mean(self, words: Collection[str]) -> float:
        """The mean over the features of the best similarity that one of `words` has, 0 to 1."""
        found = [row for word in words if (row := self._row(word)) is not None]
        return float(np.average(np.max(found, axis=0), weights=self._weights)) if found else 0.0

    def _row(self, word: str) -> NDArray[np.float64] | None:
        if word not in self._rows:
            if len(self._rows) >= MAX_KEPT:
                self._rows.clear()
            self._rows[word] = self._similarities(word)
        return self._rows[word]

    def _similarities(self, word: str) -> NDArray[np.float64] | None:
        """To each feature; what has no root in common with it is like none, but for the word itself."""
        akin = {number for root in self._tree.roots(word) for number in self._below.get(root, ())}
        if word in self._own:
            akin.add(self._own[word])
        if not akin:
            return None
        row = np.zeros(len(self._features))
        for number in akin:
            row[number] = self._tree.similarity(self._features[number], word)
        return row


def tree_of(lines: Iterable[str]) -> TopicTree:
    """The tree of an indented text: a line a place, its words separated by commas, below the last line less indented.

    Empty lines do not count.
    """
    parents: list[int] = []
    places: dict[str, tuple[int, ...]] = {}
    open_lines: list[tuple[int, int]] = []  # indentation, place
    for line in lines:
        words = [word.strip().lower() for word in line.replace("，", ",").split(",") if word.strip()]
        if not words:
            continue
        indent = len(line) - len(line.lstrip())
        while open_lines and open_lines[-1][0] >= indent:
            open_lines.pop()
        parents.append(open_lines[-1][1] if open_lines else -1)
        open_lines.append((indent, len(parents) - 1))
        for word in words:
            places[word] = (*places.get(word, ()), len(parents) - 1)
    return TopicTree(tuple(parents), places)


def grown_tree(branches: Mapping[str, Sequence[str]]) -> TopicTree:
    """A tree where nobody has given one: each term a root, below it the words most like it.

    The terms have no root in common: below one, each would be as like as any other, and one term on a page all of them.
    """
    lines: list[str] = []
    for term, near in branches.items():
        lines += [term, *(f" {word}" for word in near)]
    return tree_of(lines)
