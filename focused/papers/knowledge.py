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

from crawler.guide import PageWords, TopicWords, Words
from focused.papers.concepts import Concepts
from focused.papers.topic_tree import TopicTree, grown_tree
from focused.papers.vectors import EMPTY, WordVectors, train
from text.sparse import unit
from text.word_weights import WordStatistics

TERMS = 300  # of the topic's examples, at most
OF_EXAMPLES = 0.25  # weight of their first term, beside 1 for a confirmed term
BRANCHED = 40  # terms, the heaviest, that a grown tree has words below
BRANCH = 6  # words that a grown tree hangs below a term
ALIKE = 0.5  # least similarity of such a word
_FIRST_TRAINING = 1024  # pages, vectors of fewer do harm; then whenever there are four times as many
_MAX_TEXTS = 4096  # pages that are remembered for it
_OWN_DIMENSIONS = 50


@dataclass(frozen=True)
class Given:
    """What the operator gives: all of it may be missing. `weights` are set by hand (ZK-F2)."""

    vectors: WordVectors | None = None
    concepts: Concepts | None = None
    tree: TopicTree | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


NOTHING = Given()
NO_WORDS: Mapping[str, float] = MappingProxyType({})


class Knowledge:
    """Grows with the pages of a crawl. `version` rises whenever the terms have changed; what else rests on pages is
    made anew when it is asked for, so that who does without vectors does not wait for them."""

    def __init__(self, topic: TopicWords, given: Given = NOTHING, statistics: WordStatistics | None = None) -> None:
        self.topic = topic
        self.given = given
        self.statistics = statistics or WordStatistics()
        self.terms: Mapping[str, float] = topic.terms
        self.version = 0
        self._texts: deque[Words] = deque(maxlen=_MAX_TEXTS)
        self._terms_at = 1
        self._trained_at = _FIRST_TRAINING
        self._vectors = given.vectors or EMPTY
        self._tree = given.tree or grown_tree({})
        self._tree_version = 0

    def add(self, page: PageWords) -> None:
        """Take a fetched page."""
        self.statistics.add(page.counts)
        if self.given.vectors is None:
            self._texts.append(tuple(chain.from_iterable(block.words for block in page.blocks)))
        if self.statistics.documents >= self._terms_at:
            self._terms_at *= 2
            self.terms = topic_terms(self.topic, self.topic.examples, self.statistics)
            self.version += 1

    @property
    def vectors(self) -> WordVectors:
        """Those given, else of the pages so far."""
        if self.given.vectors is None and len(self._texts) >= self._trained_at:
            self._trained_at = 4 * len(self._texts)
            self._vectors = train(self._texts, _OWN_DIMENSIONS)
        return self._vectors

    @property
    def tree(self) -> TopicTree:
        """The one given, else the heaviest terms with the words most like them."""
        if self.given.tree is None and self._tree_version != self.version:
            self._tree_version, vectors = self.version, self.vectors
            first = first_terms(self.terms, BRANCHED)
            self._tree = grown_tree({term: [word for word, _ in vectors.near(term, BRANCH, ALIKE)] for term in first})
        return self._tree

    def held_out(self, more: Mapping[str, float] = NO_WORDS) -> list[tuple[PageWords, dict[str, float]]]:
        """Each example with the terms that the topic has without it; [] where there are fewer than two."""
        examples = self.topic.examples
        if len(examples) < 2:
            return []
        rest = [examples[:place] + examples[place + 1 :] for place in range(len(examples))]
        return [(page, self.terms_by(own, more)) for page, own in zip(examples, rest, strict=True)]

    def terms_by(self, examples: Sequence[PageWords], more: Mapping[str, float] = NO_WORDS) -> dict[str, float]:
        """`topic_terms` with the weights of words as they are now."""
        return topic_terms(self.topic, examples, self.statistics, more)

    def sources(self) -> tuple[str, ...]:
        """What similarity rests on, for the report."""
        vectors = "vectors trained beforehand" if self.given.vectors else "vectors of the pages crawled"
        tree = "the tree given" if self.given.tree else "a tree grown from the topic's terms"
        concepts = "concepts of the files given" if self.given.concepts else "no concepts: no files are given"
        return (vectors, tree, concepts)


def topic_terms(
    topic: TopicWords,
    examples: Sequence[PageWords],
    statistics: WordStatistics,
    more: Mapping[str, float] = NO_WORDS,
) -> dict[str, float]:
    """The confirmed terms, and below them the words that weigh most in `examples`, the first of them OF_EXAMPLES.

    A word counts (1 + ln tf) * idf in a page, each page as a unit vector: a long one says no more than a short one.
    `more` is added to their mean.
    """
    scores: Counter[str] = Counter()
    for page in examples:
        for word, value in unit_vector(page.counts, statistics).items():
            scores[word] += value / len(examples)  # type: ignore[assignment]
    for word, value in more.items():
        scores[word] += value  # type: ignore[assignment]
    return heaviest(scores, topic.stop_words) | dict(topic.terms)


def unit_vector(counts: Mapping[str, int], statistics: WordStatistics) -> dict[str, float]:
    """(1 + ln tf) * idf of the words, of length 1; {} for none."""
    return unit(statistics.by_idf({word: 1 + math.log(count) for word, count in counts.items()}))


def heaviest(scores: Mapping[str, float], never: frozenset[str]) -> dict[str, float]:
    """The TERMS words with the highest scores, as weights of which the first is OF_EXAMPLES."""
    best = nlargest(TERMS, ((score, word) for word, score in scores.items() if word not in never))
    return {word: OF_EXAMPLES * score / best[0][0] for score, word in best if score > 0}


def first_terms(terms: Mapping[str, float], most: int) -> list[str]:
    """The terms that weigh most, the heaviest first; of equals those that come first."""
    return sorted(terms, key=terms.__getitem__, reverse=True)[:most]
