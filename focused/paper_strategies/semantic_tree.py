"""Semantic tree beside the vector space model (Zhang Jin 2017, METHODS 4), and the plain model it is measured against.

keep       Sim(T, W) = (cos(T, W) + SemanticSim(T, W)) / 2 (ZJ-F9) against the threshold
priority   the page's score by how its children look (ZJ-F10): of a valid child as it is, of another halved with its Sim
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, TopicWords
from focused.paper_strategies.adaptive_threshold import AdaptiveThreshold
from focused.paper_strategies.position_weighting import position_weighted_frequency
from focused.paper_strategies.topic_knowledge import NO_RESOURCES, OperatorResources, TopicKnowledge, heaviest_terms
from focused.paper_strategies.topic_tree import TreeSimilarity
from text.sparse_vectors import cosine, cosine_with_unit, normalize

MAX_FEATURES = 120  # of the topic and of a page, those that weigh most
THRESHOLD_EXAMPLE_EXPONENT = 0.55  # of the mark to what the examples score
VSM_THRESHOLD = 0.05  # threshold of the plain model
MIN_MEAN = 1e-9  # a mean that nothing is divided by


@dataclass(frozen=True)
class SemanticTreeSettings:
    """`threshold` serves where there are no examples to tell it; `own_score_weight` is delta (0.8 [P]), `semantic_weight` the share of
    semantic similarity in ZJ-F9; `majority_share` and `minority_share` say what counts as most children [D]."""

    threshold: float = 0.2
    own_score_weight: float = 0.8
    semantic_weight: float = 0.5
    majority_share: float = 2 / 3
    minority_share: float = 1 / 3


@dataclass
class RunningMean:
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


class SemanticTreeStrategy:
    """The strategy `semantic_tree`."""

    def __init__(
        self,
        topic: TopicWords,
        resources: OperatorResources = NO_RESOURCES,
        settings: SemanticTreeSettings | None = None,
    ) -> None:
        self._settings = settings or SemanticTreeSettings()
        self._knowledge = TopicKnowledge(topic, resources)
        self._example_urls = {page.url for page in topic.examples}
        self._threshold = AdaptiveThreshold(self._settings.threshold, THRESHOLD_EXAMPLE_EXPONENT)
        self._page_mean, self._child_mean = RunningMean(), RunningMean()
        self._terms_version = -1
        self._unit_terms: Mapping[str, float] = {}  # of length 1
        self._tree_similarity = TreeSimilarity(self._knowledge.tree, ())

    def score_page(self, page: PageWords) -> RelevanceScore:
        """ZJ-F9 against the threshold."""
        self._knowledge.add_page(page)
        self._refresh_terms()
        score = self.similarity(position_weighted_frequency(page))
        self._threshold.add_score(score)
        return RelevanceScore(is_relevant=score >= self._threshold.value or page.url in self._example_urls, score=score)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """ZJ-F10 for the page: Score for each valid child, at least the mark, and (Score + Sim) / 2 for the others.

        The few words of a child are never as like the topic as a page's many: they are brought to the pages' scale.
        Where valid children came by their Sim as well (reading d), lists of the topic's words would come first.
        """
        child_scores = self._child_scores(relevance.score, links)
        threshold = self._threshold.value
        score = page_score(relevance.score, child_scores, self._settings, threshold)
        return [max(score, threshold) if child >= threshold else (score + child) / 2 for child in child_scores]

    def _child_scores(self, score: float, links: Sequence[LinkWords]) -> list[float]:
        """Sim of each child of a page with this score, so that children have the pages' mean; at most 1."""
        raw_scores = [self.similarity(dict.fromkeys((*link.anchor_words, *link.context_words), 1.0)) for link in links]
        self._page_mean.add(score)
        for child in raw_scores:
            self._child_mean.add(child)
        scale = max(self._page_mean.value / max(self._child_mean.value, MIN_MEAN), 1.0)
        return [min(scale * child, 1.0) for child in raw_scores]

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Nothing: the topic stays what it was."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def similarity(self, frequencies: Mapping[str, float]) -> float:
        """ZJ-F9 of a page's or a child's words with the topic: 0 to 1."""
        return self._similarity(frequencies, self._unit_terms, self._tree_similarity)

    def _similarity(
        self,
        frequencies: Mapping[str, float],
        terms: Mapping[str, float],
        tree_similarity: TreeSimilarity,
    ) -> float:
        semantic_weight = self._settings.semantic_weight
        tfidf_by_word = self._knowledge.statistics.scale_by_idf(frequencies)
        if len(tfidf_by_word) > MAX_FEATURES:
            tfidf_by_word = {word: tfidf_by_word[word] for word in heaviest_terms(tfidf_by_word, MAX_FEATURES)}
        return (1 - semantic_weight) * cosine_with_unit(
            terms, tfidf_by_word
        ) + semantic_weight * tree_similarity.mean_best_similarity(tfidf_by_word)

    def _refresh_terms(self) -> None:
        """Features and threshold anew where the terms have changed."""
        knowledge = self._knowledge
        if self._terms_version != knowledge.terms_version:
            self._terms_version = knowledge.terms_version
            self._unit_terms, self._tree_similarity = (
                normalize(knowledge.terms),
                self._build_tree_similarity(knowledge.terms),
            )
            self._threshold.set_example_scores(
                [
                    self._similarity(
                        position_weighted_frequency(page), normalize(terms), self._build_tree_similarity(terms)
                    )
                    for page, terms in knowledge.leave_one_out_terms()
                ]
            )

    def _build_tree_similarity(self, terms: Mapping[str, float]) -> TreeSimilarity:
        features = heaviest_terms(terms, MAX_FEATURES)
        return TreeSimilarity(self._knowledge.tree, features, [terms[feature] for feature in features])


def page_score(
    own_score: float, child_scores: Sequence[float], settings: SemanticTreeSettings, threshold: float
) -> float:
    """ZJ-F10: children that are relevant lift a page, those that are not are left out where they are most or few.

    `threshold` is the least similarity of a relevant child.
    """
    relevant = [child for child in child_scores if child >= threshold]
    share = len(relevant) / len(child_scores) if child_scores else 0.0
    if share <= settings.minority_share:
        return own_score
    averaged_scores = relevant if share >= settings.majority_share else child_scores
    return settings.own_score_weight * own_score + (1 - settings.own_score_weight) * sum(averaged_scores) / len(
        averaged_scores
    )


class VectorSpaceStrategy:
    """The baseline `vsm`: cosine of words that are counted wherever they stand, links in the order of their pages.

    All words of a page make its length, not only the topic's (ZJ-F2): with those alone it is much weaker. Its threshold
    is the one that was best for it on wikispeedia and zh_docs (docs/background/focused-crawling.md).
    """

    def __init__(
        self, topic: TopicWords, resources: OperatorResources = NO_RESOURCES, threshold: float = VSM_THRESHOLD
    ) -> None:
        self._knowledge = TopicKnowledge(topic, resources)
        self._threshold = threshold
        self._example_urls = {page.url for page in topic.examples}

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Cosine (ZJ-F4) against the threshold."""
        self._knowledge.add_page(page)
        score = cosine(self._knowledge.terms, self._knowledge.statistics.scale_by_idf(page.word_counts))
        return RelevanceScore(is_relevant=score >= self._threshold or page.url in self._example_urls, score=score)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score."""
        return [relevance.score] * len(links)

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Nothing."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}
