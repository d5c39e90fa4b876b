"""Semantic relevance of description, anchor and address (Zhou Kun 2019, METHODS 2).

keep       description of the page against the topic's words (ZK-F3), else a plain match: kept, not followed
priority   p = alpha * Rel(description) + beta * Rel(anchor) + lambda * struct (ZK-F5); below the threshold: discard
learn      the history of kept addresses (ZK-A3)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.strategies.contract import Judgement
from crawler.strategies.focus import LinkWords, PageWords, Topic, Words
from crawler.strategies.knowledge import NOTHING, Given, Knowledge
from crawler.strategies.url_structure import History
from semantics.ahp import weights_of
from semantics.word_similarity import TopicIndex, WordSimilarity

# description : anchor 1:2, description : struct 2:1, anchor : struct 3:1 (METHODS 2.5)
IMPORTANCE = ((1.0, 1 / 2, 2.0), (2.0, 1.0, 3.0), (1 / 2, 1 / 3, 1.0))
DEFERRED = -10.0  # what a discarded link's priority falls by where nothing is discarded


@dataclass(frozen=True)
class SemanticSettings:
    """`threshold` is the paper's; `discard` False puts what is below it behind all else instead of leaving it out."""

    threshold: float = 0.2
    description: float = 0.05
    discard: bool = True
    seed: int = 0


class Semantic:
    """The strategy `semantic`."""

    def __init__(self, topic: Topic, given: Given = NOTHING, settings: SemanticSettings | None = None) -> None:
        self._settings = settings or SemanticSettings()
        self._knowledge = Knowledge(topic, given)
        self._examples = {page.url for page in topic.examples}
        self._history = History(self._settings.seed)
        self._weights = weights_of(IMPORTANCE).values
        self._version = -1
        self._index = TopicIndex(WordSimilarity(self._knowledge.vectors), ())

    def keep(self, page: PageWords) -> Judgement:
        """ZK-S1, steps 2 and 3."""
        self._knowledge.add(page)
        value = self.relevance((*page.title, *page.description))
        matches = page.url in self._examples or any(word in self._knowledge.terms for word in page.title)
        followed = value >= self._settings.description
        return Judgement(keep=followed or matches, score=value / (1 + value))

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """ZK-F5 for each link; none is followed from a page whose description is off topic."""
        description = judgement.score / (1 - judgement.score)
        followed = description >= self._settings.description or page.url in self._examples
        drawn = self._history.drawn()
        alpha, beta, of_structure = self._weights
        found: list[float | None] = []
        for link in links:
            value = alpha * description + beta * self.relevance(link.anchor)
            value += of_structure * self._history.struct(link.url, drawn)
            found.append(self._admitted(value, followed and value > self._settings.threshold))
        return found

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """The history is of kept pages (reading of 2.4)."""
        self._knowledge.judged(page, judgement.keep)
        if judgement.keep:
            self._history.add(page.url)

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def relevance(self, words: Words) -> float:
        """ZK-F3: sum over words and topic words of w_d * w_t * Sim^2, by the number of distinct words; 0 for none."""
        index, weight = self._current_index(), self._knowledge.statistics.weight
        distinct = dict.fromkeys(words)
        total = sum(weight(word) * weight(topic) * value**2 for word in distinct for topic, value in index[word])
        return total / len(distinct) if distinct else 0.0

    def _admitted(self, value: float, passes: bool) -> float | None:
        if passes:
            return value
        return None if self._settings.discard else value + DEFERRED

    def _current_index(self) -> TopicIndex:
        knowledge = self._knowledge
        if self._version != knowledge.version:
            self._version = knowledge.version
            similarity = WordSimilarity(knowledge.vectors, knowledge.given.concepts)
            self._index = TopicIndex(similarity, knowledge.terms)
        return self._index
