"""Extended topic feature library (Wu Yueting 2015).

score_page       the page as tag blocks without noise, words mapped to concepts (WY-A3), compared with the topic:
                 by kind of block and summed (WY-F9), or all blocks together, weighted by position (WY-F13, WY-F15)
link_priorities  the page's similarity plus the similarity of anchor and context
observe_page     words that retained pages share enter the dynamic library
"""

from collections.abc import Mapping, Sequence

from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, TopicWords, Words
from domain.paper_settings import DEFAULT_PAPERS, WuYuetingSettings
from focused.paper_strategies.adaptive_threshold import AdaptiveThreshold
from focused.paper_strategies.paper_strategy import PaperStrategy
from focused.paper_strategies.position_weighting import position_weighted_tfidf
from focused.paper_strategies.term_expansion import (
    SharedTerms,
    build_concept_map,
    expand_terms,
    map_words_to_concepts,
)
from focused.paper_strategies.topic_knowledge import NO_RESOURCES, OperatorResources, heaviest_terms
from focused.sparse_vectors import cosine_with_unit, normalize

MAX_EXPANDED_TERMS = 40  # heaviest terms that are expanded
MAX_DOCUMENT_SHARE = 0.2  # words in a larger share of the pages are noise, except topic words (WY-A1, step 3)
MIN_DOCUMENTS = 8  # pages needed to detect noise
LINK_TEXT_WEIGHT = 0.2  # weight of anchor and context similarity; the page's score weighs 1 [D]


class TopicLibraryStrategy(PaperStrategy):
    """The strategy `topic_library`: compares concepts of pages with an extended topic feature library.

    With `extend_automatically` the dynamic library grows without confirmation.
    """

    def __init__(
        self,
        topic: TopicWords,
        resources: OperatorResources = NO_RESOURCES,
        settings: WuYuetingSettings = DEFAULT_PAPERS.wu_yueting,
        extend_automatically: bool = True,
    ) -> None:
        super().__init__(topic, resources)
        self._settings = settings
        self._extend_automatically = extend_automatically
        self._shared_terms = SharedTerms()
        self._threshold = AdaptiveThreshold(settings.eta)
        self._terms_version = -1
        self._topic_vector: Mapping[str, float] = {}
        self._concept_by_word: Mapping[str, str] = {}

    def score_page(self, page: PageWords) -> RelevanceScore:
        """WY-A3: compare the similarity by concepts with theta."""
        self._knowledge.add_page(page)
        self._refresh_terms()
        score = self.page_similarity(page, self._topic_vector)
        self._threshold.add_score(score)
        return RelevanceScore(is_relevant=score >= self._threshold.value or page.url in self._example_urls, score=score)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return the page's score plus the weighted similarity of each link's anchor and context."""
        page_score = relevance.score
        return [
            page_score
            + LINK_TEXT_WEIGHT * (self.text_similarity(link.anchor_words) + self.text_similarity(link.context_words))
            for link in links
        ]

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Add the words of a retained page. They take effect when the terms are next refreshed."""
        if self._extend_automatically and relevance.is_relevant and page.url not in self._example_urls:
            self._shared_terms.add_page(page.word_counts)

    def page_similarity(self, page: PageWords, topic_vector: Mapping[str, float]) -> float:
        """Return WY-F9 or WY-F15 of a page with a topic vector of concepts of unit length, 0 to 1."""
        by_kind = {
            kind: map_words_to_concepts(self._without_noise(counts, topic_vector), self._concept_by_word)
            for kind, counts in page.counts_by_kind.items()
            if self._settings.block_weights[kind] or not self._settings.block_sum
        }
        statistics = self._knowledge.statistics
        if not self._settings.block_sum:
            return cosine_with_unit(
                topic_vector, position_weighted_tfidf(by_kind, statistics, self._settings.position_values)
            )
        return sum(
            self._settings.block_weights[kind] * cosine_with_unit(topic_vector, statistics.scale_by_idf(counts))
            for kind, counts in by_kind.items()
        )

    def text_similarity(self, words: Words) -> float:
        """Return WY-F15 of the words with the topic, 0 to 1."""
        concepts = dict.fromkeys((self._concept_by_word.get(word, word) for word in words), 1.0)
        return cosine_with_unit(self._topic_vector, self._knowledge.statistics.scale_by_idf(concepts))

    def _without_noise(self, counts: Mapping[str, int], topic_vector: Mapping[str, float]) -> Mapping[str, int]:
        """Return the counts without words that occur in too many pages."""
        statistics = self._knowledge.statistics
        if statistics.document_count < MIN_DOCUMENTS:
            return counts
        max_documents = MAX_DOCUMENT_SHARE * statistics.document_count
        return {
            word: count
            for word, count in counts.items()
            if statistics.document_frequency.get(word, 0) <= max_documents
            or word in topic_vector
            or word in self._concept_by_word
        }

    def _refresh_terms(self) -> None:
        """Recompute topic vector, concepts and threshold if the terms changed."""
        knowledge = self._knowledge
        if self._terms_version == knowledge.terms_version:
            return
        self._terms_version = knowledge.terms_version
        heaviest = heaviest_terms(knowledge.terms, MAX_EXPANDED_TERMS)
        expansions = expand_terms(heaviest, knowledge.resources.concepts, knowledge.vectors)
        self._concept_by_word = build_concept_map(knowledge.terms, expansions)
        shared_weights = self._shared_terms.term_weights(knowledge.terms, knowledge.statistics)
        self._topic_vector = self._concept_vector(
            knowledge.terms_from_examples(knowledge.topic.examples, shared_weights)
        )
        self._threshold.fallback = self._settings.theta if expansions else self._settings.eta
        held_out = knowledge.leave_one_out_terms(shared_weights) if self._settings.by_examples else []
        self._threshold.set_example_scores(
            [self.page_similarity(page, self._concept_vector(terms)) for page, terms in held_out]
        )

    def _concept_vector(self, terms: Mapping[str, float]) -> dict[str, float]:
        """Return the ETFL as a vector of concepts (WY-F10) of unit length.

        A concept has the weight of its heaviest term.
        """
        concept_weights: dict[str, float] = {}
        for term, weight in terms.items():
            concept = self._concept_by_word.get(term, term)
            concept_weights[concept] = max(concept_weights.get(concept, 0.0), weight)
        return normalize(concept_weights)
