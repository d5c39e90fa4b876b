"""Semantic tree combined with the vector space model (Zhang Jin 2017).

score_page       Sim(T, W) = (cos(T, W) + SemanticSim(T, W)) / 2 (ZJ-F9) against the threshold
link_priorities  the page's score adjusted by its children (ZJ-F10): unchanged for a valid child, else the mean of
                 score and Sim
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, TopicWords
from domain.paper_settings import DEFAULT_PAPERS, ZhangJinSettings
from focused.paper_strategies.adaptive_threshold import AdaptiveThreshold
from focused.paper_strategies.paper_strategy import PaperStrategy
from focused.paper_strategies.position_weighting import position_weighted_frequency
from focused.paper_strategies.topic_knowledge import NO_RESOURCES, OperatorResources, heaviest_terms
from focused.paper_strategies.topic_tree import TreeSimilarity
from focused.sparse_vectors import cosine_with_unit, normalize

MAX_FEATURES = 120  # heaviest words of the topic and of a page
THRESHOLD_EXAMPLE_EXPONENT = 0.55  # `example_exponent` of the adaptive threshold
MIN_MEAN = 1e-9  # avoids division by zero


@dataclass
class RunningMean:
    """Mean of the added values, 0 for none."""

    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        """Add a value to the mean."""
        self.total += value
        self.count += 1

    @property
    def mean(self) -> float:
        """Mean of the values so far."""
        return self.total / max(self.count, 1)


class SemanticTreeStrategy(PaperStrategy):
    """The strategy `semantic_tree`: combines tf.idf cosine with similarity in a semantic tree."""

    def __init__(
        self,
        topic: TopicWords,
        resources: OperatorResources = NO_RESOURCES,
        settings: ZhangJinSettings = DEFAULT_PAPERS.zhang_jin,
    ) -> None:
        super().__init__(topic, resources)
        self._settings = settings
        self._threshold = AdaptiveThreshold(self._settings.threshold, THRESHOLD_EXAMPLE_EXPONENT)
        self._page_scores, self._child_scores = RunningMean(), RunningMean()
        self._terms_version = -1
        self._unit_terms: Mapping[str, float] = {}  # topic terms, scaled to unit length
        self._tree_similarity = TreeSimilarity(self._knowledge.tree, (), alpha=settings.alpha)

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Compare ZJ-F9 with the threshold."""
        self._knowledge.add_page(page)
        self._refresh_terms()
        score = self.similarity(position_weighted_frequency(page, self._settings.position_weights))
        self._threshold.add_score(score)
        return RelevanceScore(is_relevant=score >= self._threshold.value or page.url in self._example_urls, score=score)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return ZJ-F10: Score, at least the threshold, for a valid child, and (Score + Sim) / 2 for other children.

        A child has few words and therefore a lower similarity than a page, so Sim is rescaled to the mean of the pages.
        If valid children were also ordered by Sim (reading d), lists of topic words would come first.
        """
        raw_scores = [self.similarity(dict.fromkeys((*link.anchor_words, *link.context_words), 1.0)) for link in links]
        self._page_scores.add(relevance.score)
        for child in raw_scores:
            self._child_scores.add(child)
        scale = max(self._page_scores.mean / max(self._child_scores.mean, MIN_MEAN), 1.0)
        child_scores = [min(scale * child, 1.0) for child in raw_scores]
        threshold = self._threshold.value
        score = page_score(relevance.score, child_scores, self._settings, threshold)
        return [max(score, threshold) if child >= threshold else (score + child) / 2 for child in child_scores]

    def similarity(self, frequencies: Mapping[str, float]) -> float:
        """Return ZJ-F9 of the words of a page or child with the topic, 0 to 1."""
        return self._similarity(frequencies, self._unit_terms, self._tree_similarity)

    def _similarity(
        self,
        frequencies: Mapping[str, float],
        terms: Mapping[str, float],
        tree_similarity: TreeSimilarity,
    ) -> float:
        tfidf_by_word = self._knowledge.statistics.scale_by_idf(frequencies)
        if len(tfidf_by_word) > MAX_FEATURES:
            tfidf_by_word = {word: tfidf_by_word[word] for word in heaviest_terms(tfidf_by_word, MAX_FEATURES)}
        weight, tree_score = self._settings.sem_weight, tree_similarity.mean_best_similarity(tfidf_by_word)
        return (1 - weight) * cosine_with_unit(terms, tfidf_by_word) + weight * tree_score

    def _refresh_terms(self) -> None:
        """Recompute features and threshold if the terms changed."""
        knowledge = self._knowledge
        if self._terms_version != knowledge.terms_version:
            self._terms_version = knowledge.terms_version
            self._unit_terms = normalize(knowledge.terms)
            self._tree_similarity = self._build_tree_similarity(knowledge.terms)
            held_out = knowledge.leave_one_out_terms() if self._settings.by_examples else []
            self._threshold.set_example_scores(
                [
                    self._similarity(
                        position_weighted_frequency(page, self._settings.position_weights),
                        normalize(terms),
                        self._build_tree_similarity(terms),
                    )
                    for page, terms in held_out
                ]
            )

    def _build_tree_similarity(self, terms: Mapping[str, float]) -> TreeSimilarity:
        features = heaviest_terms(terms, MAX_FEATURES)
        weights = [terms[feature] for feature in features]
        return TreeSimilarity(self._knowledge.tree, features, weights, self._settings.alpha)


def page_score(own_score: float, child_scores: Sequence[float], settings: ZhangJinSettings, threshold: float) -> float:
    """Return ZJ-F10: the page's score, raised or lowered by the scores of its children.

    If most children are relevant, only the relevant children count; if few are, the page's own score is returned.

    Args:
        own_score: score of the page.
        child_scores: Sim of the children.
        settings: weights and shares.
        threshold: minimum similarity of a relevant child.
    """
    relevant = [child for child in child_scores if child >= threshold]
    share = len(relevant) / len(child_scores) if child_scores else 0.0
    if share <= settings.minority_share:
        return own_score
    averaged_scores = relevant if share >= settings.majority_share else child_scores
    return settings.delta * own_score + (1 - settings.delta) * sum(averaged_scores) / len(averaged_scores)
