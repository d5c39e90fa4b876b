"""Retention: the calibrated probability that a page is on topic, and the threshold for the target precision.

    relevance, features -> probability (pretrained on other webs) -> threshold for the target precision -> retained?
                                    ^ labels of a person correct it for this topic

Relevance (`page_features.py`) steers the crawl and errs on the side of the topic: a list of on-topic pages is worth
following, but not worth retaining. A second regression therefore predicts a probability: of pages with 0.8, four in
five are on topic. It includes the mean logit of the whole crawl, since a topic that is rare on a web, or badly
described by its examples, has fewer pages at each relevance. Labels of a person adjust the probabilities by Platt
scaling.

Estimating the topic's share by expectation maximisation (Saerens, Latinne and Decaestecker 2002) instead was worse on
every web: the features of off-topic pages differ between webs as much as their share does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from focused.fused.crawl_graph import Float64Array, Int64Array
from focused.fused.pretrained import PretrainedModel

# Columns of `retention_features`: page features in standard deviations, then all columns.
STANDARDIZED_PAGE_FEATURES = (
    "walk",
    "near",
    "core",
    "terms",
    "name_title",
    "length",
    "degree",
)
RETENTION_FEATURES = ("verdict", "level", "anchored", *STANDARDIZED_PAGE_FEATURES)
PROBABILITY_EPSILON = 1e-4  # probabilities are clipped to [epsilon, 1 - epsilon] before the logit
BIAS_VARIANCE, SLOPE_VARIANCE = 4.0, 0.3  # prior variance of a topic's deviation from the pretrained regression
MAX_QUESTION_SIMILARITY = 0.8  # of two pages with a higher cosine, only one is selected for labelling


def logits(probabilities: Float64Array) -> Float64Array:
    """Return ln(p / (1 - p)) of the clipped probabilities."""
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
    """Return the retention features of pages, (pages, RETENTION_FEATURES) float64.

    Args:
        feature_names: columns of `standardized_features`.
        relevance: (pages,) float64.
        crawl_mean_logit: mean logit of the relevance of all pages of the refit.
        standardized_features: (pages, feature_names) float64, in standard deviations.
        anchor_word_share: (pages,) float64, share of a page's words in its anchors, minus the median.
    """
    columns = [standardized_features[:, list(feature_names).index(name)] for name in STANDARDIZED_PAGE_FEATURES]
    return np.column_stack((logits(relevance), np.full(len(relevance), crawl_mean_logit), anchor_word_share, *columns))


def mean_logit(relevance: Float64Array) -> float:
    """Return the mean logit of the pages' relevance."""
    return float(logits(relevance).mean())


def threshold_for_precision(probabilities: Float64Array, target_precision: float) -> float:
    """Return the lowest threshold at which the mean probability of the pages above it is at least `target_precision`.

    Returns 1.0 if no threshold reaches it. The threshold is always above 0, so that pages that a person rejected are
    not retained.
    """
    descending = -np.sort(-probabilities)
    precise_counts = np.flatnonzero(np.cumsum(descending) / np.arange(1, len(descending) + 1) >= target_precision)
    return max(float(descending[precise_counts[-1]]), PROBABILITY_EPSILON) if len(precise_counts) else 1.0


@dataclass(frozen=True)
class PlattCorrection:
    """Correction of the probabilities for one topic from a person's labels: logit -> bias + slope * logit."""

    bias: float = 0.0
    slope: float = 1.0

    def __call__(self, probabilities: Float64Array) -> Float64Array:
        """Return the corrected probabilities."""
        corrected_probabilities: Float64Array = 1 / (1 + np.exp(-(self.bias + self.slope * logits(probabilities))))
        return corrected_probabilities


def fit_platt_correction(probabilities: Float64Array, labels: Float64Array) -> PlattCorrection:
    """Return the maximum a posteriori correction for the labels, (labels,) float64 of 0 and 1.

    This is Platt scaling with a Gaussian prior: topics deviate from the pretrained regression by BIAS_VARIANCE and
    SLOPE_VARIANCE, so few labels change little.
    """
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
    """Select up to `count` pages for labelling, most useful first.

    Half of them are retained pages at even distances in the order of their probability: they tell how many of the
    retained pages are on topic. The others have a high uncertainty near the threshold, weighted by density (Settles and
    Craven 2008), and a pairwise cosine below MAX_QUESTION_SIMILARITY.

    Args:
        probabilities: (pages,) float64.
        page_vectors: (pages, dimensions) float64, rows of unit length.
        candidates: ids of the pages to select from.
        threshold: retention threshold.
        count: maximum number of pages.
    """
    if not len(candidates):
        return []
    clipped_threshold = min(max(threshold, 0.1), 0.9)
    uncertainty = np.exp(-np.abs(logits(probabilities) - logits(np.array([clipped_threshold]))[0]) / 2)
    centre = (page_vectors * uncertainty[:, None]).sum(axis=0)
    value = (uncertainty * (1 + np.maximum(page_vectors @ centre, 0.0) / max(float(uncertainty.sum()), 1e-9)))[
        candidates
    ]
    retained_pages = candidates[probabilities[candidates] >= threshold]
    retained_pages = retained_pages[np.argsort(-probabilities[retained_pages], kind="stable")]
    sample_size = min(count // 2, len(retained_pages))
    sample = [int(part[len(part) // 2]) for part in np.array_split(retained_pages, sample_size)] if sample_size else []
    selected: list[int] = []
    for page in candidates[np.argsort(-value, kind="stable")].tolist():
        if len(selected) == count - sample_size:
            break
        is_new = not selected or (page_vectors[selected] @ page_vectors[page]).max() < MAX_QUESTION_SIMILARITY
        if is_new and page not in sample:
            selected.append(page)
    return [*selected, *sample]


def predict_probability(model: PretrainedModel, rows: Float64Array) -> Float64Array:
    """Apply a retention model to rows whose columns are standardized already."""
    return model(rows, np.zeros_like(rows))
