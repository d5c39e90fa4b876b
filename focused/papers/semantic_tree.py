"""Semantic tree beside the vector space model (Zhang Jin 2017, METHODS 4), and the plain model it is measured against.

keep       Sim(T, W) = (cos(T, W) + SemanticSim(T, W)) / 2 (ZJ-F9) against the threshold
priority   the page's score by how its children look (ZJ-F10): of a valid child as it is, of another halved with its Sim
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.guide import LinkWords, PageWords, Relevance, TopicWords
from focused.papers.knowledge import NOTHING, Given, Knowledge, first_terms
from focused.papers.positions import weighted_frequency
from focused.papers.threshold import Threshold
from focused.papers.topic_tree import Likeness
from text.sparse import cosine, cosine_to, unit

FEATURES = 120  # of the topic and of a page, those that weigh most
NEARNESS = 0.55  # of the mark to what the examples score
OF_VECTORS = 0.05  # threshold of the plain model
SMALL = 1e-9  # a mean that nothing is divided by


@dataclass(frozen=True)
class TreeSettings:
    """`threshold` serves where there are no examples to tell it; `own` is delta (0.8 [P]), `meaning` the share of
    semantic similarity in ZJ-F9; `most` and `few` say what counts as most children [D]."""

    threshold: float = 0.2
    own: float = 0.8
    meaning: float = 0.5
    most: float = 2 / 3
    few: float = 1 / 3


@dataclass
class Mean:
    """Of what was added so far; 0 for none."""

    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        """Take a value."""
        self.total += value
        self.count += 1

    @property
    def value(self) -> float:
        """Their mean."""
        return self.total / max(self.count, 1)


class SemanticTree:
    """The strategy `semantic_tree`."""

    def __init__(self, topic: TopicWords, given: Given = NOTHING, settings: TreeSettings | None = None) -> None:
        self._settings = settings or TreeSettings()
        self._knowledge = Knowledge(topic, given)
        self._examples = {page.url for page in topic.examples}
        self._mark = Threshold(self._settings.threshold, NEARNESS)
        self._of_pages, self._of_children = Mean(), Mean()
        self._version = -1
        self._terms: Mapping[str, float] = {}  # of length 1
        self._likeness = Likeness(self._knowledge.tree, ())

    def keep(self, page: PageWords) -> Relevance:
        """ZJ-F9 against the threshold."""
        self._knowledge.add(page)
        self._refresh()
        score = self.similarity(weighted_frequency(page))
        self._mark.add(score)
        return Relevance(keep=score >= self._mark.value or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """ZJ-F10 for the page: Score for each valid child, at least the mark, and (Score + Sim) / 2 for the others.

        The few words of a child are never as like the topic as a page's many: they are brought to the pages' scale.
        Where valid children came by their Sim as well (reading d), lists of the topic's words would come first.
        """
        children = self._children(judgement.score, links)
        valid = self._mark.value
        score = page_score(judgement.score, children, self._settings, valid)
        return [max(score, valid) if child >= valid else (score + child) / 2 for child in children]

    def _children(self, score: float, links: Sequence[LinkWords]) -> list[float]:
        """Sim of each child of a page with this score, so that children have the pages' mean; at most 1."""
        found = [self.similarity(dict.fromkeys((*link.anchor, *link.context), 1.0)) for link in links]
        self._of_pages.add(score)
        for child in found:
            self._of_children.add(child)
        scale = max(self._of_pages.value / max(self._of_children.value, SMALL), 1.0)
        return [min(scale * child, 1.0) for child in found]

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """Nothing: the topic stays what it was."""

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def similarity(self, frequencies: Mapping[str, float]) -> float:
        """ZJ-F9 of a page's or a child's words with the topic: 0 to 1."""
        return self._similarity(frequencies, self._terms, self._likeness)

    def _similarity(
        self,
        frequencies: Mapping[str, float],
        terms: Mapping[str, float],
        likeness: Likeness,
    ) -> float:
        meaning = self._settings.meaning
        weighted = self._knowledge.statistics.by_idf(frequencies)
        if len(weighted) > FEATURES:
            weighted = {word: weighted[word] for word in first_terms(weighted, FEATURES)}
        return (1 - meaning) * cosine_to(terms, weighted) + meaning * likeness.mean(weighted)

    def _refresh(self) -> None:
        """Features and threshold anew where the terms have changed."""
        knowledge = self._knowledge
        if self._version != knowledge.version:
            self._version = knowledge.version
            self._terms, self._likeness = unit(knowledge.terms), self._likeness_to(knowledge.terms)
            self._mark.take_level(
                [
                    self._similarity(weighted_frequency(page), unit(terms), self._likeness_to(terms))
                    for page, terms in knowledge.held_out()
                ]
            )

    def _likeness_to(self, terms: Mapping[str, float]) -> Likeness:
        features = first_terms(terms, FEATURES)
        return Likeness(self._knowledge.tree, features, [terms[feature] for feature in features])


def page_score(own: float, children: Sequence[float], settings: TreeSettings, valid: float) -> float:
    """ZJ-F10: children that are relevant lift a page, those that are not are left out where they are most or few.

    `valid` is the least similarity of a relevant child.
    """
    relevant = [child for child in children if child >= valid]
    share = len(relevant) / len(children) if children else 0.0
    if share <= settings.few:
        return own
    counted = relevant if share >= settings.most else children
    return settings.own * own + (1 - settings.own) * sum(counted) / len(counted)


class Vsm:
    """The baseline `vsm`: cosine of words that are counted wherever they stand, links in the order of their pages.

    All words of a page make its length, not only the topic's (ZJ-F2): with those alone it is much weaker. Its threshold
    is the one that was best for it on wikispeedia and zh_docs (docs/background/focused-crawling.md).
    """

    def __init__(self, topic: TopicWords, given: Given = NOTHING, threshold: float = OF_VECTORS) -> None:
        self._knowledge = Knowledge(topic, given)
        self._threshold = threshold
        self._examples = {page.url for page in topic.examples}

    def keep(self, page: PageWords) -> Relevance:
        """Cosine (ZJ-F4) against the threshold."""
        self._knowledge.add(page)
        score = cosine(self._knowledge.terms, self._knowledge.statistics.by_idf(page.counts))
        return Relevance(keep=score >= self._threshold or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score."""
        return [judgement.score] * len(links)

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """Nothing."""

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}
