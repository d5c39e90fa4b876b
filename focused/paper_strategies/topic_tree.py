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

MAX_CACHED_WORDS = 100_000  # words that a Likeness keeps in mind
HALF_SIMILARITY_DISTANCE = 1.6  # alpha: the distance at which similarity is one half [L]


@dataclass(frozen=True)
class TopicTree:
    """`parents` has the place above each place (-1 for a root), `nodes_by_word` the places of each word."""

    parents: tuple[int, ...]
    nodes_by_word: Mapping[str, tuple[int, ...]]

    def __contains__(self, word: str) -> bool:
        return word in self.nodes_by_word

    def depth(self, node: int) -> int:
        """Steps to the root."""
        return len(self.ancestors(node)) - 1

    def ancestors(self, node: int) -> list[int]:
        """The place itself, then those above it up to the root."""
        ancestors = [node]
        while self.parents[ancestors[-1]] >= 0:
            ancestors.append(self.parents[ancestors[-1]])
        return ancestors

    def roots_of_word(self, word: str) -> set[int]:
        """The roots above the places of a word; none for a word not in the tree."""
        return {self.ancestors(node)[-1] for node in self.nodes_by_word.get(word, ())}

    def distance(self, first: str, second: str) -> float:
        """ZJ-F6 with ZJ-F7: steps by way of the nearest common ancestor; the smallest where a word has several places.

        Infinite where there is none, and for a word not in the tree (0 from itself).
        """
        if first == second:
            return 0.0
        path_lengths = (
            self.path_length(a, b)
            for a in self.nodes_by_word.get(first, ())
            for b in self.nodes_by_word.get(second, ())
        )
        return min(path_lengths, default=math.inf)

    def path_length(self, first: int, second: int) -> float:
        """dep(X, P) + dep(Y, P), P the nearest common ancestor; of depths where one is above the other."""
        distance_by_ancestor = {node: steps for steps, node in enumerate(self.ancestors(first))}
        return next(
            (
                distance_by_ancestor[node] + steps
                for steps, node in enumerate(self.ancestors(second))
                if node in distance_by_ancestor
            ),
            math.inf,
        )

    def similarity(self, first: str, second: str) -> float:
        """ZJ-F5: alpha / (distance + alpha), 0 to 1."""
        return HALF_SIMILARITY_DISTANCE / (self.distance(first, second) + HALF_SIMILARITY_DISTANCE)

    def mean_best_similarity(self, features: Collection[str], words: Collection[str]) -> float:
        """ZJ-F8: the mean over `features` of the best similarity that one of `words` has; 0 where there is none."""
        return TreeSimilarity(self, features).mean_best_similarity(words)


class TreeSimilarity:
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
        self._features_by_root: dict[int, list[int]] = {}  # root -> which features have a place below it
        self._feature_index = {feature: index for index, feature in enumerate(self._features)}
        for feature, feature_index in self._feature_index.items():
            for root in tree.roots_of_word(feature):
                self._features_by_root.setdefault(root, []).append(feature_index)
        self._similarity_cache: dict[str, NDArray[np.float64] | None] = {}

    def mean_best_similarity(self, words: Collection[str]) -> float:
        """The mean over the features of the best similarity that one of `words` has, 0 to 1."""
        similarity_rows = [row for word in words if (row := self._cached_similarities(word)) is not None]
        return float(np.average(np.max(similarity_rows, axis=0), weights=self._weights)) if similarity_rows else 0.0

    def _cached_similarities(self, word: str) -> NDArray[np.float64] | None:
        if word not in self._similarity_cache:
            if len(self._similarity_cache) >= MAX_CACHED_WORDS:
                self._similarity_cache.clear()
            self._similarity_cache[word] = self._compute_similarities(word)
        return self._similarity_cache[word]

    def _compute_similarities(self, word: str) -> NDArray[np.float64] | None:
        """To each feature; what has no root in common with it is like none, but for the word itself."""
        candidate_features = {
            feature_index
            for root in self._tree.roots_of_word(word)
            for feature_index in self._features_by_root.get(root, ())
        }
        if word in self._feature_index:
            candidate_features.add(self._feature_index[word])
        if not candidate_features:
            return None
        row = np.zeros(len(self._features))
        for feature_index in candidate_features:
            row[feature_index] = self._tree.similarity(self._features[feature_index], word)
        return row


def parse_tree(lines: Iterable[str]) -> TopicTree:
    """The tree of an indented text: a line a place, its words separated by commas, below the last line less indented.

    Empty lines do not count.
    """
    parents: list[int] = []
    nodes_by_word: dict[str, tuple[int, ...]] = {}
    ancestor_stack: list[tuple[int, int]] = []  # indentation, place
    for line in lines:
        words = [word.strip().lower() for word in line.replace("，", ",").split(",") if word.strip()]
        if not words:
            continue
        indent = len(line) - len(line.lstrip())
        while ancestor_stack and ancestor_stack[-1][0] >= indent:
            ancestor_stack.pop()
        parents.append(ancestor_stack[-1][1] if ancestor_stack else -1)
        ancestor_stack.append((indent, len(parents) - 1))
        for word in words:
            nodes_by_word[word] = (*nodes_by_word.get(word, ()), len(parents) - 1)
    return TopicTree(tuple(parents), nodes_by_word)


def build_term_tree(branches: Mapping[str, Sequence[str]]) -> TopicTree:
    """A tree where nobody has given one: each term a root, below it the words most like it.

    The terms have no root in common: below one, each would be as like as any other, and one term on a page all of them.
    """
    lines: list[str] = []
    for term, child_words in branches.items():
        lines += [term, *(f" {word}" for word in child_words)]
    return parse_tree(lines)
