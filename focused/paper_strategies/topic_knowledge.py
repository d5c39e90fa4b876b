"""What the papers' strategies know beside the page: weights of words, vectors, concepts, a tree, the topic's terms.

Vectors, concepts and tree are handed in where the operator has them. Where not, vectors are trained on the pages of the
crawl so far and the tree is grown from them; `sources` says which it is.
"""

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from types import MappingProxyType

from crawler.focused_policy import PageWords, TopicWords, Words
from focused.paper_strategies.concept_source import ConceptSource
from focused.paper_strategies.topic_tree import TopicTree, build_term_tree
from focused.paper_strategies.word_vectors import EMPTY_VECTORS, WordVectors, train_word_vectors
from text.sparse_vectors import normalize
from text.word_weights import WordStatistics

MAX_EXAMPLE_TERMS = 300  # of the topic's examples, at most
TOP_EXAMPLE_TERM_WEIGHT = 0.25  # weight of their first term, beside 1 for a confirmed term
MAX_TREE_TERMS = 40  # terms, the heaviest, that a grown tree has words below
MAX_CHILDREN_PER_TERM = 6  # words that a grown tree hangs below a term
MIN_CHILD_SIMILARITY = 0.5  # least similarity of such a word
_FIRST_TRAINING_PAGES = 1024  # pages, vectors of fewer do harm; then whenever there are four times as many
_MAX_TEXTS = 4096  # pages that are remembered for it
_TRAINED_DIMENSIONS = 50


@dataclass(frozen=True)
class OperatorResources:
    """What the operator gives: all of it may be missing. `word_weights` are set by hand (ZK-F2)."""

    vectors: WordVectors | None = None
    concepts: ConceptSource | None = None
    tree: TopicTree | None = None
    word_weights: Mapping[str, float] = field(default_factory=dict)


NO_RESOURCES = OperatorResources()
NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})


class TopicKnowledge:
    """Grows with the pages of a crawl. `terms_version` rises whenever the terms have changed; what else rests on pages is
    made anew when it is asked for, so that who does without vectors does not wait for them."""

    def __init__(
        self, topic: TopicWords, resources: OperatorResources = NO_RESOURCES, statistics: WordStatistics | None = None
    ) -> None:
        self.topic = topic
        self.resources = resources
        self.statistics = statistics or WordStatistics()
        self.terms: Mapping[str, float] = topic.term_weights
        self.terms_version = 0
        self._texts: deque[Words] = deque(maxlen=_MAX_TEXTS)
        self._next_terms_update_at = 1
        self._next_training_at = _FIRST_TRAINING_PAGES
        self._vectors = resources.vectors or EMPTY_VECTORS
        self._tree = resources.tree or build_term_tree({})
        self._tree_version = 0

    def add_page(self, page: PageWords) -> None:
        """Take a fetched page."""
        self.statistics.add(page.word_counts)
        if self.resources.vectors is None:
            self._texts.append(tuple(chain.from_iterable(block.words for block in page.blocks)))
        if self.statistics.document_count >= self._next_terms_update_at:
            self._next_terms_update_at *= 2
            self.terms = compute_topic_terms(self.topic, self.topic.examples, self.statistics)
            self.terms_version += 1

    @property
    def vectors(self) -> WordVectors:
        """Those given, else of the pages so far."""
        if self.resources.vectors is None and len(self._texts) >= self._next_training_at:
            self._next_training_at = 4 * len(self._texts)
            self._vectors = train_word_vectors(self._texts, _TRAINED_DIMENSIONS)
        return self._vectors

    @property
    def tree(self) -> TopicTree:
        """The one given, else the heaviest terms with the words most like them."""
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
        """Each example with the terms that the topic has without it; [] where there are fewer than two."""
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
        """`compute_topic_terms` with the weights of words as they are now."""
        return compute_topic_terms(self.topic, examples, self.statistics, extra_weights)

    def describe_sources(self) -> tuple[str, ...]:
        """What similarity rests on, for the report."""
        vectors = "vectors trained beforehand" if self.resources.vectors else "vectors of the pages crawled"
        tree = "the tree given" if self.resources.tree else "a tree grown from the topic's terms"
        concepts = "concepts of the files given" if self.resources.concepts else "no concepts: no files are given"
        return (vectors, tree, concepts)


def compute_topic_terms(
    topic: TopicWords,
    examples: Sequence[PageWords],
    statistics: WordStatistics,
    extra_weights: Mapping[str, float] = NO_WEIGHTS,
) -> dict[str, float]:
    """The confirmed terms, and below them the words that weigh most in `examples`, the first of them OF_EXAMPLES.

    A word counts (1 + ln tf) * idf in a page, each page as a unit vector: a long one says no more than a short one.
    `extra_weights` is added to their mean.
    """
    scores: Counter[str] = Counter()
    for page in examples:
        for word, value in unit_tfidf_vector(page.word_counts, statistics).items():
            scores[word] += value / len(examples)  # type: ignore[assignment]
    for word, value in extra_weights.items():
        scores[word] += value  # type: ignore[assignment]
    return top_weighted_words(scores, topic.stop_words) | dict(topic.term_weights)


def unit_tfidf_vector(counts: Mapping[str, int], statistics: WordStatistics) -> dict[str, float]:
    """(1 + ln tf) * idf of the words, of length 1; {} for none."""
    return normalize(statistics.scale_by_idf({word: 1 + math.log(count) for word, count in counts.items()}))


def top_weighted_words(scores: Mapping[str, float], excluded_words: frozenset[str]) -> dict[str, float]:
    """The TERMS words with the highest scores, as weights of which the first is OF_EXAMPLES."""
    top_scores = nlargest(
        MAX_EXAMPLE_TERMS, ((score, word) for word, score in scores.items() if word not in excluded_words)
    )
    return {word: TOP_EXAMPLE_TERM_WEIGHT * score / top_scores[0][0] for score, word in top_scores if score > 0}


def heaviest_terms(terms: Mapping[str, float], limit: int) -> list[str]:
    """The terms that weigh most, the heaviest first; of equals those that come first."""
    return sorted(terms, key=terms.__getitem__, reverse=True)[:limit]
