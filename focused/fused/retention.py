"""What is kept: the probability that a page's maker would file it under the topic, and how sure one must be.

    relevance, features -> probability (other webs taught it) -> level of the wanted precision -> kept or not
                                    ^ answers of a person correct it for this topic

Relevance (`page_features.py`) steers the crawl: a list of pages on the topic is worth following. It is not worth
keeping, and relevance is taught to err on the side of the topic. So what is kept goes by a second regression, whose
outcome is a probability: among pages of .8, four in five are of the topic. That includes how much the whole crawl is
worth (`level`), since a topic that is rare on a web, or badly described by its examples, has fewer of each.
Estimating the topic's share by expectation maximisation (Saerens, Latinne and Decaestecker 2002) instead was worse on
every web: the features of pages off the topic differ from web to web as much as their share does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from focused.fused.crawl_graph import Float64Array, Int64Array
from focused.fused.pretrained import PretrainedModel

# Columns of `retention_features`; those of LIKELY never speak against a page.
STANDARDIZED_PAGE_FEATURES = (
    "walk",
    "near",
    "core",
    "terms",
    "name_title",
    "length",
    "degree",
)  # in standard deviations, as they are named
RETENTION_FEATURES = ("verdict", "level", "anchored", *STANDARDIZED_PAGE_FEATURES)
INITIAL_RETENTION_FEATURES = tuple(
    name for name in RETENTION_FEATURES if name not in ("anchored", "degree")
)  # its links are not known yet
NON_NEGATIVE_FEATURES = frozenset(RETENTION_FEATURES) - {"anchored", "level", "length", "degree"}
PROBABILITY_EPSILON = 1e-4  # how near to 0 and 1 a relevance may come
BIAS_VARIANCE, SLOPE_VARIANCE = 1.0, 0.1  # of what a topic's own regression differs by from that of the others
DEFAULT_QUESTION_COUNT = 10  # that a person is asked
MAX_QUESTION_SIMILARITY = 0.8  # cosine of pages so alike that one answer does for both


def logits(probabilities: Float64Array) -> Float64Array:
    """ln of the odds."""
    clipped_probabilities = np.clip(probabilities, PROBABILITY_EPSILON, 1 - PROBABILITY_EPSILON)
    log_odds: Float64Array = np.log(clipped_probabilities / (1 - clipped_probabilities))
    return log_odds


def retention_features(
    feature_names: Sequence[str],
    relevance: Float64Array,
    crawl_mean_logit: float,
    standardized_features: Float64Array,
    anchor_word_share: Float64Array,
) -> Float64Array:
    """The features of some pages, (pages, KEEPING) float64.

    names      the columns of `standardized_features`
    relevance  (pages,) float64         what was thought of each
    level      mean logit of the relevance of all pages of the refit
    relative   (pages, names) float64   features in standard deviations
    anchored   (pages,) float64         share of a page's words in its links, beyond that of the middle page
    """
    columns = [standardized_features[:, list(feature_names).index(name)] for name in STANDARDIZED_PAGE_FEATURES]
    return np.column_stack((logits(relevance), np.full(len(relevance), crawl_mean_logit), anchor_word_share, *columns))


def mean_logit(relevance: Float64Array) -> float:
    """The mean logit of the relevance of all pages."""
    return float(logits(relevance).mean())


def threshold_for_precision(probabilities: Float64Array, target_precision: float) -> float:
    """The level from which on pages are kept so that on average `target_precision` of them are of the topic; 1.0 where the
    best alone would be fewer. Above 0: what a person has refused is not kept, however good the others are."""
    descending = -np.sort(-probabilities)
    precise_counts = np.flatnonzero(np.cumsum(descending) / np.arange(1, len(descending) + 1) >= target_precision)
    return max(float(descending[precise_counts[-1]]), PROBABILITY_EPSILON) if len(precise_counts) else 1.0


@dataclass(frozen=True)
class QualityEstimate:
    """What is kept, in expectation: the share of it that is of the topic, and of what is there the share kept."""

    precision: float
    recall: float


def estimate_quality(probabilities: Float64Array, threshold: float) -> QualityEstimate:
    """Of pages kept from `threshold` on; precision is 1 where nothing is kept."""
    is_retained = probabilities >= threshold
    retained_relevant, total_relevant = float(probabilities[is_retained].sum()), float(probabilities.sum())
    return QualityEstimate(
        retained_relevant / int(is_retained.sum()) if is_retained.any() else 1.0,
        retained_relevant / total_relevant if total_relevant else 0.0,
    )


@dataclass(frozen=True)
class PlattCorrection:
    """What a person's answers change of the regression for one topic: logit -> bias + slope * logit."""

    bias: float = 0.0
    slope: float = 1.0

    def __call__(self, probabilities: Float64Array) -> Float64Array:
        """Corrected probabilities."""
        corrected_probabilities: Float64Array = 1 / (1 + np.exp(-(self.bias + self.slope * logits(probabilities))))
        return corrected_probabilities


def fit_platt_correction(probabilities: Float64Array, labels: Float64Array) -> PlattCorrection:
    """The most likely correction after these answers, (answers,) float64 of 0 and 1: a topic differs from others by
    BIAS_VARIANCE and SLOPE_VARIANCE, so that few answers change little (Platt's scaling with a prior)."""
    logit_values = logits(probabilities)

    def loss(parameters: Float64Array) -> float:
        corrected_logits = parameters[0] + parameters[1] * logit_values
        penalty = parameters[0] ** 2 / BIAS_VARIANCE + (parameters[1] - 1) ** 2 / SLOPE_VARIANCE
        return float((np.logaddexp(0.0, corrected_logits) - labels * corrected_logits).sum() + penalty / 2)

    bias, slope = minimize(loss, np.array([0.0, 1.0]), bounds=[(None, None), (0.1, None)], method="L-BFGS-B").x
    return PlattCorrection(float(bias), float(slope))


def select_pages_to_label(
    probabilities: Float64Array, page_vectors: Float64Array, candidates: Int64Array, threshold: float, count: int
) -> list[int]:
    """The pages where an answer helps most: the most doubtful near the level from which on pages are kept, weighed by
    how many others are like them (Settles and Craven 2008), no two alike.

    probabilities  (pages,) float64
    latent         (pages, dimensions) float64  rows of unit length
    candidates     pages that may be asked about
    """
    if not len(candidates):
        return []
    clipped_threshold = min(max(threshold, 0.1), 0.9)
    uncertainty = np.exp(-np.abs(logits(probabilities) - logits(np.array([clipped_threshold]))[0]) / 2)
    centre = (page_vectors * uncertainty[:, None]).sum(axis=0)
    value = (uncertainty * (1 + np.maximum(page_vectors @ centre, 0.0) / max(float(uncertainty.sum()), 1e-9)))[
        candidates
    ]
    selected: list[int] = []
    for position in np.argsort(-value, kind="stable").tolist():
        page = int(candidates[position])
        if not selected or float((page_vectors[selected] @ page_vectors[page]).max()) < MAX_QUESTION_SIMILARITY:
            selected.append(page)
        if len(selected) == count:
            break
    return selected


def predict_probability(model: PretrainedModel, rows: Float64Array) -> Float64Array:
    """By the regression; the columns are scaled already."""
    return model(rows, np.zeros_like(rows))
