"""Semantic relevance of description, anchor and URL (Zhou Kun 2019).

score_page       description of the page against the topic's words (ZK-F3). A page that only contains a topic term
                 is retained, but its links are not followed
link_priorities  p = alpha * Rel(description) + beta * Rel(anchor) + lambda * struct (ZK-F5); discard below threshold
observe_page     history of retained URLs (ZK-A3)

The raw ZK-F3 score depends on the size of the collection and on the vectors (up to tenfold within an hour). By default
it is rescaled so that a borderline page scores `page_threshold`, as the paper's constants assume.
"""

import math
from collections.abc import Mapping, Sequence

from crawler.focused_policy import BLOCK_CONTENT, LinkWords, PageWords, RelevanceScore, TopicWords, Words
from domain.paper_settings import DEFAULT_PAPERS, ZhouKunSettings
from focused.paper_strategies.adaptive_threshold import AdaptiveThreshold
from focused.paper_strategies.paper_strategy import PaperStrategy
from focused.paper_strategies.topic_knowledge import NO_RESOURCES, OperatorResources
from focused.paper_strategies.url_similarity import RelevantUrls
from focused.paper_strategies.word_similarity import TopicWordIndex, WordSimilarity
from focused.word_weights import WordWeights

TOPIC_NAME_WEIGHT = 2.0  # weight of the name and of confirmed technical terms; the thresholds assume it [D]
LEAD_WORDS = 60  # words of the text used as the description of a page without one [D]
MAX_RELEVANCE = 1e6  # above it the score would be rounded to 1
DEFERRED_PRIORITY_OFFSET = -1000.0  # added to the priority of deferred links, which would otherwise be discarded
# Deferred links are ordered in steps of half a threshold, up to four thresholds. Ties stay in order of discovery.
DEFERRED_STEPS_PER_THRESHOLD, MAX_DEFERRED_MULTIPLE = 2, 4


class SemanticStrategy(PaperStrategy):
    """The strategy `semantic`: compares descriptions and anchors with the topic by word similarity."""

    def __init__(
        self,
        topic: TopicWords,
        resources: OperatorResources = NO_RESOURCES,
        settings: ZhouKunSettings = DEFAULT_PAPERS.zhou_kun,
    ) -> None:
        super().__init__(topic, resources)
        self.settings = settings
        self._word_weights = self._knowledge.statistics = WordWeights(manual_weights=resources.word_weights)
        self._relevant_urls = RelevantUrls(settings)
        self._terms_version = -1
        self._index = TopicWordIndex(WordSimilarity(self._knowledge.vectors, settings=settings), ())
        self._topic_weights: Mapping[str, float] = {}
        self._relevance_threshold = AdaptiveThreshold(self.settings.page_threshold)

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Assess a page by ZK-S1, steps 2 and 3."""
        self._knowledge.add_page(page)
        raw_score = self._raw_relevance(description_words(page))
        self._relevance_threshold.add_score(raw_score)
        value = min(raw_score * self._scale, MAX_RELEVANCE)
        terms = self._knowledge.topic.term_weights
        is_term_match = page.url in self._example_urls or any(
            word in terms for word in (*page.title, *page.description)
        )
        is_on_topic = value >= self.settings.page_threshold
        return RelevanceScore(is_relevant=is_on_topic or is_term_match, score=value / (1 + value))

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return ZK-F5 of each link. Links of a page with an off-topic description are discarded or deferred."""
        description = relevance.score / (1 - relevance.score)
        settings = self.settings
        is_on_topic = description >= settings.page_threshold or page.url in self._example_urls
        url_sample = self._relevant_urls.sample()
        priorities: list[float | None] = []
        for link in links:
            value = settings.description_weight * description
            value += settings.anchor_weight * self.scaled_relevance(link.anchor_words)
            value += settings.structure_weight * self._relevant_urls.structure_score(link.url, url_sample)
            if is_on_topic and value > settings.link_threshold:
                priorities.append(value)
            elif settings.discard_below_threshold:
                priorities.append(None)
            else:
                multiple = min(value / settings.link_threshold, MAX_DEFERRED_MULTIPLE)
                priorities.append(DEFERRED_PRIORITY_OFFSET + math.floor(DEFERRED_STEPS_PER_THRESHOLD * multiple))
        return priorities

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Add the URL of a retained page to the history (reading of 2.4)."""
        if relevance.is_relevant:
            self._relevant_urls.add(page.url)

    def scaled_relevance(self, words: Words) -> float:
        """Return the rescaled ZK-F3 of the words, 0 for no words."""
        return self._raw_relevance(words) * self._scale

    def _raw_relevance(self, words: Words) -> float:
        index = self._refreshed_index()  # can change `_topic_weights`
        return self._weighted_relevance(words, index, self._topic_weights)

    @property
    def _scale(self) -> float:
        return self.settings.page_threshold / self._relevance_threshold.value if self.settings.by_examples else 1.0

    def _weighted_relevance(self, words: Words, index: TopicWordIndex, topic_weights: Mapping[str, float]) -> float:
        """Return ZK-F3: sum over words and topic words of w_d * w_t * Sim^2, divided by the number of distinct words.

        w_d is ZK-F2. w_t is the topic's weight: TOPIC_NAME_WEIGHT for its name, a quarter of it for the first example
        word [D].
        """
        weight, distinct = self._word_weights.weight, dict.fromkeys(words)
        total = sum(weight(word) * topic_weights[topic] * value**2 for word in distinct for topic, value in index[word])
        return total / len(distinct) if distinct else 0.0

    def _refreshed_index(self) -> TopicWordIndex:
        knowledge = self._knowledge
        if self._terms_version != knowledge.terms_version:
            self._terms_version = knowledge.terms_version
            similarity = WordSimilarity(knowledge.vectors, knowledge.resources.concepts, self.settings)
            self._index = TopicWordIndex(similarity, knowledge.terms)
            self._topic_weights = self._weigh_topic_words(knowledge.terms)
            # A new threshold, because earlier scores have another scale.
            self._relevance_threshold = AdaptiveThreshold(self.settings.page_threshold)
            self._relevance_threshold.set_example_scores(
                [
                    self._weighted_relevance(
                        description_words(page), TopicWordIndex(similarity, terms), self._weigh_topic_words(terms)
                    )
                    for page, terms in knowledge.leave_one_out_terms()
                ]
            )
        return self._index

    def _weigh_topic_words(self, terms: Mapping[str, float]) -> dict[str, float]:
        manual_weights = self._knowledge.resources.word_weights
        return {word: manual_weights.get(word, TOPIC_NAME_WEIGHT * weight) for word, weight in terms.items()}


def description_words(page: PageWords) -> Words:
    """Return title and description; for a page without description, title and the first LEAD_WORDS of the text."""
    if page.description:
        return (*page.title, *page.description)
    words = list(page.title)
    for block in page.blocks:
        if len(words) >= len(page.title) + LEAD_WORDS:
            break
        if block.kind == BLOCK_CONTENT:
            words += block.words
    return tuple(words[: len(page.title) + LEAD_WORDS])
