"""What `fused` knows after a refit, until the next one."""

from dataclasses import dataclass

from focused.fused.crawl_graph import Float64Array
from focused.fused.link_features import FeatureScaler
from focused.fused.page_features import PageClassifier
from focused.fused.retention import PlattCorrection


@dataclass(frozen=True)
class PageAssessment:
    """Assessment of all pages at one point of the crawl.

    page_count          number of pages
    classifier          classifier of the pages
    mean_logit          mean logit of the relevance of all pages
    retention_features  (pages, RETENTION_FEATURES) float64
    correction          correction of the probabilities by the labels
    probabilities       (pages,) float64  probability of being on topic: 1 for examples, the label for labelled pages
    threshold           pages with at least this probability are retained
    """

    page_count: int
    classifier: PageClassifier
    mean_logit: float
    retention_features: Float64Array
    correction: PlattCorrection
    probabilities: Float64Array
    threshold: float


@dataclass
class RefitResult:
    """Result of a refit, in use until the next refit.

    assessment       assessment of all pages
    word_scores      (words, 8) float64               result of `score_words`
    yield_features   (pages, YIELD_FEATURES) float64
    yield_scaler     scaler of `yield_features`
    frontier_scaler  scaler of the link features of the frontier
    """

    assessment: PageAssessment
    word_scores: Float64Array
    yield_features: Float64Array
    yield_scaler: FeatureScaler
    frontier_scaler: FeatureScaler | None = None  # None while the frontier is empty
