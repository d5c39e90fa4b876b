"""Data of the papers' strategies in addition to pages: word weights, vectors, concepts, a tree and topic terms.

Vectors, concepts and tree come from the administrator if configured. Otherwise vectors are trained on the pages of the
crawl and the tree is generated from them.
"""

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from types import MappingProxyType

from crawler.focused_policy import PageWords, TopicWords, Words
from focused.concepts.source import ConceptSource
from focused.paper_strategies.topic_tree import TopicTree, build_term_tree
from focused.paper_strategies.word_vectors import EMPTY_VECTORS, WordVectors, train_word_vectors
from focused.sparse_vectors import normalize
from focused.word_weights import WordStatistics

MAX_EXAMPLE_TERMS = 300  # terms taken from the topic's examples
TOP_EXAMPLE_TERM_WEIGHT = 0.25  # weight of the first example term; confirmed technical terms weigh 1
MAX_TREE_TERMS = 40  # heaviest terms that are roots of a generated tree
MAX_CHILDREN_PER_TERM = 6  # words below each term of a generated tree
MIN_CHILD_SIMILARITY = 0.5  # minimum similarity of such a word to its term
_FIRST_TRAINING_PAGES = 1024  # vectors of fewer pages reduce quality; repeated when pages have quadrupled
_MAX_TEXTS = 4096  # most recent pages stored for training
_TRAINED_DIMENSIONS = 50


@dataclass(frozen=True)
class OperatorResources:
    """Optional resources configured by the administrator. `word_weights` are manual weights (ZK-F2)."""

    vectors: WordVectors | None = None
    concepts: ConceptSource | None = None
    tree: TopicTree | None = None
    word_weights: Mapping[str, float] = field(default_factory=dict)


NO_RESOURCES = OperatorResources()
NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})


class TopicKnowledge:
    """Topic data that is updated with the pages of a crawl. `terms_version` increases whenever the terms change.

    Vectors and tree are rebuilt lazily on access, so strategies that do not use them do not pay for training.
    """

    def __init__(self, topic: TopicWords, resources: OperatorResources = NO_RESOURCES) -> None:
        self.topic = topic
        self.resources = resources
        self.statistics = WordStatistics()
        self.terms: Mapping[str, float] = topic.term_weights
        self.terms_version = 0
        self._texts: deque[Words] = deque(maxlen=_MAX_TEXTS)
        self._next_terms_update_at = 1
        self._next_training_at = _FIRST_TRAINING_PAGES
        self._vectors = resources.vectors or EMPTY_VECTORS
        self._tree = resources.tree or build_term_tree({})
        self._tree_version = 0

    def add_page(self, page: PageWords) -> None:
        """Add a fetched page to the statistics. Terms are recomputed whenever the number of pages has doubled."""
        self.statistics.add(page.word_counts)
        if self.resources.vectors is None:
            self._texts.append(tuple(chain.from_iterable(block.words for block in page.blocks)))
        if self.statistics.document_count >= self._next_terms_update_at:
            self._next_terms_update_at *= 2
            self.terms = compute_topic_terms(self.topic, self.topic.examples, self.statistics)
            self.terms_version += 1

    @property
    def vectors(self) -> WordVectors:
        """Configured vectors, otherwise vectors trained on the pages so far."""
        if self.resources.vectors is None and len(self._texts) >= self._next_training_at:
            self._next_training_at = 4 * len(self._texts)
            self._vectors = train_word_vectors(self._texts, _TRAINED_DIMENSIONS)
        return self._vectors

    @property
    def tree(self) -> TopicTree:
        """Configured tree, otherwise a tree of the heaviest terms with their most similar words below them."""
        if self.resources.tree is None and self._tree_version != self.terms_version:
            self._tree_version, vectors = self.terms_version, self.vectors
            tree_terms = heaviest_terms(self.terms, MAX_TREE_TERMS)
            self._tree = build_term_tree(
                {
                    term: [word for word, _ in vectors.nearest(term, MAX_CHILDREN_PER_TERM, MIN_CHILD_SIMILARITY)]
                    for term in tree_terms
                }
            )
        return self._tree

    def leave_one_out_terms(
        self, extra_weights: Mapping[str, float] = NO_WEIGHTS
    ) -> list[tuple[PageWords, dict[str, float]]]:
        """Return each example with the topic terms computed without it, or [] for fewer than two examples."""
        examples = self.topic.examples
        if len(examples) < 2:
            return []
        examples_without = [examples[:index] + examples[index + 1 :] for index in range(len(examples))]
        return [
            (page, self.terms_from_examples(other_examples, extra_weights))
            for page, other_examples in zip(examples, examples_without, strict=True)
        ]

    def terms_from_examples(
        self, examples: Sequence[PageWords], extra_weights: Mapping[str, float] = NO_WEIGHTS
    ) -> dict[str, float]:
        """Return `compute_topic_terms` of the examples with the current word statistics."""
        return compute_topic_terms(self.topic, examples, self.statistics, extra_weights)


def compute_topic_terms(
    topic: TopicWords,
    examples: Sequence[PageWords],
    statistics: WordStatistics,
    extra_weights: Mapping[str, float] = NO_WEIGHTS,
) -> dict[str, float]:
    """Return the confirmed terms, and with lower weights the heaviest words of `examples`.

    A word counts (1 + ln tf) * idf in each page. Each page is a unit vector, so long pages do not weigh more.
    `extra_weights` are added to the mean over pages. The first example term weighs TOP_EXAMPLE_TERM_WEIGHT.
    """
    scores: Counter[str] = Counter()
    for page in examples:
        for word, value in unit_tfidf_vector(page.word_counts, statistics).items():
            scores[word] += value / len(examples)  # type: ignore[assignment]
    for word, value in extra_weights.items():
        scores[word] += value  # type: ignore[assignment]
    top_scores = nlargest(
        MAX_EXAMPLE_TERMS, ((score, word) for word, score in scores.items() if word not in topic.stop_words)
    )
    weights = {word: TOP_EXAMPLE_TERM_WEIGHT * score / top_scores[0][0] for score, word in top_scores if score > 0}
    return weights | dict(topic.term_weights)


def unit_tfidf_vector(counts: Mapping[str, int], statistics: WordStatistics) -> dict[str, float]:
    """Return (1 + ln tf) * idf of the words, scaled to unit length, or {} for no words."""
    return normalize(statistics.scale_by_idf({word: 1 + math.log(count) for word, count in counts.items()}))


def heaviest_terms(terms: Mapping[str, float], limit: int) -> list[str]:
    """Return up to `limit` terms with the highest weights, heaviest first. Equal weights stay in input order."""
    return sorted(terms, key=terms.__getitem__, reverse=True)[:limit]
