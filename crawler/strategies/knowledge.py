"""What the papers' strategies know beside the page: weights of words, vectors, concepts, a tree, the topic's terms.

Vectors, concepts and tree are handed in where the operator has them. Where not, vectors are trained on the pages of the
crawl so far and the tree is grown from them; `sources` says which it is.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from crawler.strategies.focus import PageWords, Topic, Words
from semantics.concepts import Concepts
from semantics.topic_tree import TopicTree, grown_tree
from semantics.vectors import EMPTY, WordVectors, train
from semantics.word_weights import WordStatistics

TERMS = 40  # of the topic, at most
COMMON = 0.4  # a word that a larger share of the pages off topic holds is no term
ENOUGH = 8  # pages off topic, to tell which words are the topic's own
BRANCH = 6  # words that a grown tree hangs below a term
ALIKE = 0.5  # least similarity of such a word
_FIRST_TRAINING = 16  # pages; then whenever there are four times as many
_OWN_DIMENSIONS = 50


@dataclass(frozen=True)
class Given:
    """What the operator gives: all of it may be missing. `weights` are set by hand (ZK-F2)."""

    vectors: WordVectors | None = None
    concepts: Concepts | None = None
    tree: TopicTree | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


NOTHING = Given()


class Knowledge:
    """Grows with the pages of a crawl. `version` rises whenever terms, vectors or tree have changed."""

    def __init__(self, topic: Topic, given: Given = NOTHING) -> None:
        self.topic = topic
        self.given = given
        self.statistics = WordStatistics(given.weights)
        self.others = WordStatistics()  # of the pages that were not kept
        self.vectors = given.vectors or EMPTY
        self.terms: Mapping[str, float] = topic.terms
        self.tree = given.tree or grown_tree(" ".join(topic.name), {})
        self.version = 0
        self._texts: list[Words] = []
        self._terms_at = 1
        self._trained_at = _FIRST_TRAINING

    def add(self, page: PageWords) -> None:
        """Take a fetched page."""
        self.statistics.add(page.counts)
        self._texts.append(tuple(word for block in page.blocks for word in block.words))
        pages = self.statistics.documents
        if pages >= self._trained_at and self.given.vectors is None:
            self._trained_at *= 4
            self.vectors = train(self._texts, _OWN_DIMENSIONS)
            self._grow()
        if pages >= self._terms_at:
            self._terms_at *= 2
            self.terms = topic_terms(self.topic, self.others)
            self._grow()

    def judged(self, page: PageWords, keep: bool) -> None:
        """Was the page kept? What is not kept shows which words are not the topic's own."""
        if not keep:
            self.others.add(page.counts)

    def sources(self) -> tuple[str, ...]:
        """What similarity rests on, for the report."""
        vectors = "vectors trained beforehand" if self.given.vectors else "vectors of the pages crawled"
        tree = "the tree given" if self.given.tree else "a tree grown from the topic's terms"
        concepts = "concepts of the files given" if self.given.concepts else "no concepts: no files are given"
        return (vectors, tree, concepts)

    def _grow(self) -> None:
        self.version += 1
        if self.given.tree is None:
            near = {term: [word for word, _ in self.vectors.near(term, BRANCH, ALIKE)] for term in self.terms}
            self.tree = grown_tree(" ".join(self.topic.name), near)


def topic_terms(topic: Topic, others: WordStatistics) -> dict[str, float]:
    """The confirmed terms, and the words of the examples with the highest (1 + ln tf) * idf, a weight up to 1 each.

    idf is over `others`, pages off topic: a crawl that keeps to its topic makes the topic's words common.
    """
    scores: Counter[str] = Counter()
    for page in topic.examples:
        for word, count in page.counts.items():
            if word not in topic.stop_words and not is_common(word, others):
                idf = log((others.documents + 1) / (others.holding[word] + 0.5))
                scores[word] += (1 + log(count)) * idf  # type: ignore[assignment]
    best = scores.most_common(TERMS)
    top = best[0][1] if best else 0.0
    return {word: score / top for word, score in best if score > 0} | dict(topic.terms)


def is_common(word: str, others: WordStatistics) -> bool:
    """Do many pages off topic hold the word? No, while there are too few to tell."""
    return others.documents >= ENOUGH and others.holding[word] > COMMON * others.documents
