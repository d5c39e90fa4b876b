"""What the papers' strategies have in common, and the two baselines that compare whole pages with the topic's terms."""

from collections.abc import Mapping, Sequence

from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, TopicWords
from focused.paper_strategies.topic_knowledge import NO_RESOURCES, OperatorResources, TopicKnowledge
from focused.sparse_vectors import cosine


class PaperStrategy:
    """Base class of the papers' strategies: their knowledge of the topic, and no changes of earlier priorities."""

    def __init__(self, topic: TopicWords, resources: OperatorResources = NO_RESOURCES) -> None:
        self._knowledge = TopicKnowledge(topic, resources)
        self._example_urls = {page.url for page in topic.examples}

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Do nothing: the topic does not change."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """Return no changes: priorities are never recomputed."""
        return {}


class CosineBaseline(PaperStrategy):
    """Base class of the baselines: a fixed threshold for the cosine, and links in the order of their pages.

    Each threshold is the best one on wikispeedia and zh_docs (docs/background/focused-crawling.md).
    """

    threshold: float

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Compare the cosine of the topic's terms and the page vector with the threshold."""
        self._knowledge.add_page(page)
        score = cosine(self._knowledge.terms, self._page_vector(page))
        return RelevanceScore(is_relevant=score >= self.threshold or page.url in self._example_urls, score=score)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return the page's score for each link."""
        return [relevance.score] * len(links)

    def _page_vector(self, page: PageWords) -> Mapping[str, float]:
        """Return the weights of the page's words."""
        raise NotImplementedError


class StaticKeywordsStrategy(CosineBaseline):
    """The baseline `static_keywords` (Wu 2015): the initial terms, matched literally anywhere on the page."""

    threshold = 0.03

    def _page_vector(self, page: PageWords) -> Mapping[str, float]:
        return page.word_counts


class VectorSpaceStrategy(CosineBaseline):
    """The baseline `vsm` (Zhang 2017, ZJ-F4): cosine of tf.idf regardless of position.

    The length of a page vector includes all words, not only topic words (ZJ-F2), which would be much weaker.
    """

    threshold = 0.05

    def _page_vector(self, page: PageWords) -> Mapping[str, float]:
        return self._knowledge.statistics.scale_by_idf(page.word_counts)
