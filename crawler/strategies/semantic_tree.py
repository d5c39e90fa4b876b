"""Semantic tree beside the vector space model (Zhang Jin 2017, METHODS 4), and the plain model it is measured against.

keep       Sim(T, W) = (cos(T, W) + SemanticSim(T, W)) / 2 (ZJ-F9) against the threshold
priority   (Score of the page + Sim of the child) / 2, the page's score by how its children look (ZJ-F10)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from crawler.strategies.contract import Judgement
from crawler.strategies.focus import LinkWords, PageWords, Topic
from crawler.strategies.knowledge import NOTHING, Given, Knowledge
from crawler.strategies.positions import weighted_frequency
from semantics.sparse import cosine
from semantics.topic_tree import Likeness

FEATURES = 40  # of a page


@dataclass(frozen=True)
class TreeSettings:
    """`own` is delta (0.8 [P]), `meaning` the share of semantic similarity in ZJ-F9; `most` and `few` say what
    counts as most children [D]."""

    threshold: float = 0.2
    own: float = 0.8
    meaning: float = 0.5
    most: float = 2 / 3
    few: float = 1 / 3


class SemanticTree:
    """The strategy `semantic_tree`."""

    def __init__(self, topic: Topic, given: Given = NOTHING, settings: TreeSettings | None = None) -> None:
        self._settings = settings or TreeSettings()
        self._knowledge = Knowledge(topic, given)
        self._examples = {page.url for page in topic.examples}
        self._version = -1
        self._likeness = Likeness(self._knowledge.tree, ())

    def keep(self, page: PageWords) -> Judgement:
        """ZJ-F9 against the threshold."""
        self._knowledge.add(page)
        score = self.similarity(weighted_frequency(page))
        return Judgement(keep=score >= self._settings.threshold or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """ZJ-F10 for the page, then (Score + Sim) / 2 for each child (reading d)."""
        children = [self.similarity(dict.fromkeys((*link.anchor, *link.context), 1.0)) for link in links]
        score = page_score(judgement.score, children, self._settings)
        return [(score + child) / 2 for child in children]

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """Nothing but which words are not the topic's own."""
        self._knowledge.judged(page, judgement.keep)

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def similarity(self, frequencies: Mapping[str, float]) -> float:
        """ZJ-F9 of a page's or a child's words with the topic: 0 to 1."""
        knowledge, meaning = self._knowledge, self._settings.meaning
        terms = knowledge.terms
        weighted = {word: value * knowledge.statistics.idf(word) for word, value in frequencies.items()}
        features = nlargest(FEATURES, weighted, key=lambda word: (weighted[word], word))
        by_angle = cosine(terms, {word: weighted[word] for word in features})
        return (1 - meaning) * by_angle + meaning * self._current_likeness().mean(features)

    def _current_likeness(self) -> Likeness:
        if self._version != self._knowledge.version:
            self._version = self._knowledge.version
            self._likeness = Likeness(self._knowledge.tree, self._knowledge.terms)
        return self._likeness


def page_score(own: float, children: Sequence[float], settings: TreeSettings) -> float:
    """ZJ-F10: children that are relevant lift a page, those that are not are left out where they are most or few."""
    relevant = [child for child in children if child >= settings.threshold]
    share = len(relevant) / len(children) if children else 0.0
    if share <= settings.few:
        return own
    counted = relevant if share >= settings.most else children
    return settings.own * own + (1 - settings.own) * sum(counted) / len(counted)


class Vsm:
    """The baseline `vsm`: cosine of words that are counted wherever they stand, links in the order of their pages."""

    def __init__(self, topic: Topic, given: Given = NOTHING, threshold: float = 0.1) -> None:
        self._knowledge = Knowledge(topic, given)
        self._threshold = threshold
        self._examples = {page.url for page in topic.examples}

    def keep(self, page: PageWords) -> Judgement:
        """Cosine (ZJ-F4) against the threshold."""
        self._knowledge.add(page)
        idf = self._knowledge.statistics.idf
        score = cosine(self._knowledge.terms, {word: count * idf(word) for word, count in page.counts.items()})
        return Judgement(keep=score >= self._threshold or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score."""
        return [judgement.score] * len(links)

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """As `SemanticTree.learn`: both have the same topic vector."""
        self._knowledge.judged(page, judgement.keep)

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}
