"""The semantic tree and its distances (Zhang 2017: ZJ-F5 to ZJ-F8). A word can have several nodes.

地质            node 0, depth 0
  岩石          depth 1
    玄武岩      depth 2
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.paper_settings import DEFAULT_PAPERS

MAX_CACHED_WORDS = 100_000  # words in the cache of a TreeSimilarity


@dataclass(frozen=True)
class TopicTree:
    """Tree of words. `parents` has the parent of each node (-1 for a root), `nodes_by_word` the nodes of each word."""

    parents: tuple[int, ...]
    nodes_by_word: Mapping[str, tuple[int, ...]]

    def ancestors(self, node: int) -> list[int]:
        """Return the node itself and its ancestors up to the root."""
        ancestors = [node]
        while self.parents[ancestors[-1]] >= 0:
            ancestors.append(self.parents[ancestors[-1]])
        return ancestors

    def roots_of_word(self, word: str) -> set[int]:
        """Return the roots above the nodes of a word; empty for a word that is not in the tree."""
        return {self.ancestors(node)[-1] for node in self.nodes_by_word.get(word, ())}

    def distance(self, first: str, second: str) -> float:
        """Return the smallest path length between the nodes of two words (ZJ-F6 with ZJ-F7).

        Equal words have distance 0. The distance is infinite if a word is not in the tree or no common root exists.
        """
        if first == second:
            return 0.0
        shortest = math.inf  # dep(X, P) + dep(Y, P) for the nearest common ancestor P
        for first_node in self.nodes_by_word.get(first, ()):
            steps_to_ancestor = {node: steps for steps, node in enumerate(self.ancestors(first_node))}
            for second_node in self.nodes_by_word.get(second, ()):
                for steps, node in enumerate(self.ancestors(second_node)):
                    if node in steps_to_ancestor:
                        shortest = min(shortest, steps_to_ancestor[node] + steps)
                        break
        return shortest

    def similarity(self, first: str, second: str, alpha: float = DEFAULT_PAPERS.zhang_jin.alpha) -> float:
        """Return ZJ-F5: alpha / (distance + alpha), 0 to 1."""
        return alpha / (self.distance(first, second) + alpha)


class TreeSimilarity:
    """ZJ-F8 for a fixed set of features, with a cache of similarities by word.

    `weights` are the weights of the features, None for equal weights. With equal weights, many weak features would
    dominate: long texts contain some of them regardless of their topic.

    _similarity_cache  word -> (features,) float64 similarities, 0 to 1; None for a word without a similar feature
    """

    def __init__(
        self,
        tree: TopicTree,
        features: Collection[str],
        weights: Sequence[float] | None = None,
        alpha: float = DEFAULT_PAPERS.zhang_jin.alpha,
    ) -> None:
        self._tree, self._alpha = tree, alpha
        self._features = tuple(features)
        self._weights = None if weights is None else np.array(weights)
        self._features_by_root: dict[int, list[int]] = {}  # root -> features with a node below it
        self._feature_index = {feature: index for index, feature in enumerate(self._features)}
        for feature, feature_index in self._feature_index.items():
            for root in tree.roots_of_word(feature):
                self._features_by_root.setdefault(root, []).append(feature_index)
        self._similarity_cache: dict[str, NDArray[np.float64] | None] = {}

    def mean_best_similarity(self, words: Collection[str]) -> float:
        """Return the weighted mean over the features of the highest similarity to any of `words`, 0 to 1."""
        similarity_rows = []
        for word in words:
            if word not in self._similarity_cache:
                if len(self._similarity_cache) >= MAX_CACHED_WORDS:
                    self._similarity_cache.clear()
                self._similarity_cache[word] = self._compute_similarities(word)
            if (row := self._similarity_cache[word]) is not None:
                similarity_rows.append(row)
        return float(np.average(np.max(similarity_rows, axis=0), weights=self._weights)) if similarity_rows else 0.0

    def _compute_similarities(self, word: str) -> NDArray[np.float64] | None:
        """Return the similarity to each feature. Features without a common root have 0, except the word itself."""
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
            row[feature_index] = self._tree.similarity(self._features[feature_index], word, self._alpha)
        return row


def parse_tree(lines: Iterable[str]) -> TopicTree:
    """Parse an indented text into a tree.

    Each line is a node with its words separated by commas. Its parent is the last line with less indentation. Empty
    lines are skipped.
    """
    parents: list[int] = []
    nodes_by_word: dict[str, tuple[int, ...]] = {}
    ancestor_stack: list[tuple[int, int]] = []  # indentation, node
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
    """Build a tree from terms: each term is a root with its most similar words below it.

    The terms have no common root. Otherwise a single term on a page would be similar to all terms.
    """
    lines: list[str] = []
    for term, child_words in branches.items():
        lines += [term, *(f" {word}" for word in child_words)]
    return parse_tree(lines)
