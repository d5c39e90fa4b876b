"""Semantic relevance of description, anchor and URL (Zhou Kun 2019, METHODS 2).

keep       description of the page against the topic's words (ZK-F3), else a plain match: kept, not followed
priority   p = alpha * Rel(description) + beta * Rel(anchor) + lambda * struct (ZK-F5); below the threshold: discard
learn      the history of kept URLs (ZK-A3)

What ZK-F3 comes to depends on how many pages there are to weigh words by, and on the vectors: a page can have ten times
as much an hour later. By default relevance is therefore brought to the scale on which the paper's constants hold.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.guide import CONTENT, LinkWords, PageWords, Relevance, TopicWords, Words
from focused.papers.ahp import weights_of
from focused.papers.knowledge import NOTHING, Given, Knowledge
from focused.papers.threshold import Threshold
from focused.papers.url_structure import History
from focused.papers.word_similarity import TopicIndex, WordSimilarity
from text.word_weights import WordWeights

# description : anchor 1:1, description : struct 8:1, anchor : struct 8:1: structure decides between equals [D]
IMPORTANCE = ((1.0, 1.0, 8.0), (1.0, 1.0, 8.0), (1 / 8, 1 / 8, 1.0))
OF_NAME = 2.0  # weight of the name and of confirmed professional terms: what the thresholds go with [D]
LEAD = 60  # words of the text that describe a page that does not describe itself [D]
DEFERRED = -1000.0  # added to the priority of what would be discarded, where nothing is
STEPS, HIGHEST = 2, 4  # of a threshold: what is deferred is ordered by halves, up to four; of equals the first found


@dataclass(frozen=True)
class SemanticSettings:
    """`threshold` is the paper's; `discard` False puts what is below it behind all else instead of leaving it out.
    `by_examples`: relevance is on the scale on which pages at the edge of the topic have `description`; False: as ZK-F3
    gives it."""

    threshold: float = 0.2
    description: float = 0.05
    discard: bool = True
    by_examples: bool = True
    seed: int = 0


class Semantic:
    """The strategy `semantic`."""

    def __init__(
        self,
        topic: TopicWords,
        given: Given = NOTHING,
        settings: SemanticSettings | None = None,
    ) -> None:
        self._settings = settings or SemanticSettings()
        self._words = WordWeights(by_hand=given.weights)
        self._knowledge = Knowledge(topic, given, self._words)
        self._examples = {page.url for page in topic.examples}
        self._history = History(self._settings.seed)
        self._weights = weights_of(IMPORTANCE).values
        self._version = -1
        self._index = TopicIndex(WordSimilarity(self._knowledge.vectors), ())
        self._topic_weights: Mapping[str, float] = {}
        self._edge = Threshold(self._settings.description)

    def keep(self, page: PageWords) -> Relevance:
        """ZK-S1, steps 2 and 3."""
        self._knowledge.add(page)
        unscaled = self._relevance(described(page))
        self._edge.add(unscaled)
        value = unscaled * self._scale
        terms = self._knowledge.topic.terms
        matches = page.url in self._examples or any(word in terms for word in (*page.title, *page.description))
        followed = value >= self._settings.description
        return Relevance(keep=followed or matches, score=value / (1 + value))

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
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

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """The history is of kept pages (reading of 2.4)."""
        if judgement.keep:
            self._history.add(page.url)

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def relevance(self, words: Words) -> float:
        """ZK-F3 to scale: 0 for none."""
        return self._relevance(words) * self._scale

    def _relevance(self, words: Words) -> float:
        index = self._current_index()  # which may renew the weights
        return self._weighed(words, index, self._topic_weights)

    @property
    def _scale(self) -> float:
        return self._settings.description / self._edge.value if self._settings.by_examples else 1.0

    def _weighed(self, words: Words, index: TopicIndex, of_topic: Mapping[str, float]) -> float:
        """ZK-F3: sum over words and topic words of w_d * w_t * Sim^2, by the number of distinct words; 0 for none.

        w_d is ZK-F2; w_t is the topic's: OF_NAME for its name, a quarter of it for the first word of the examples [D].
        """
        weight, distinct = self._words.weight, dict.fromkeys(words)
        total = sum(weight(word) * of_topic[topic] * value**2 for word in distinct for topic, value in index[word])
        return total / len(distinct) if distinct else 0.0

    def _admitted(self, value: float, passes: bool) -> float | None:
        if passes:
            return value
        if self._settings.discard:
            return None
        return DEFERRED + math.floor(STEPS * min(value / self._settings.threshold, HIGHEST))

    def _current_index(self) -> TopicIndex:
        knowledge = self._knowledge
        if self._version != knowledge.version:
            self._version = knowledge.version
            similarity = WordSimilarity(knowledge.vectors, knowledge.given.concepts)
            self._index = TopicIndex(similarity, knowledge.terms)
            self._topic_weights = self._weighted(knowledge.terms)
            self._edge = Threshold(self._settings.description)  # anew: earlier scores were on another scale
            self._edge.take_level(
                [
                    self._weighed(described(page), TopicIndex(similarity, terms), self._weighted(terms))
                    for page, terms in knowledge.held_out()
                ]
            )
        return self._index

    def _weighted(self, terms: Mapping[str, float]) -> dict[str, float]:
        by_hand = self._knowledge.given.weights
        return {word: by_hand.get(word, OF_NAME * weight) for word, weight in terms.items()}


def described(page: PageWords) -> Words:
    """Title and description; where there is none, title and the first words of the text."""
    if page.description:
        return (*page.title, *page.description)
    found = list(page.title)
    for block in page.blocks:
        if len(found) >= len(page.title) + LEAD:
            break
        if block.kind == CONTENT:
            found += block.words
    return tuple(found[: len(page.title) + LEAD])
