"""Learn the weights of lexicon/definitions.py: `python -m benchmarks.training.definitions`.

The weights start from PRIOR_WEIGHTS. The only input is the training halves of the sets `zh_docs` (CC-BY-4.0) and
`en_wiki` (GFDL). Prints the best mean of precision and silence on the same half, cross-validated by term, with its
threshold, and writes the weights.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from benchmarks.definition_sets import GOOD_LABEL, TRAINING_SETS, LabelledTerm, read_terms
from benchmarks.results import SHARED
from lexicon import definition_weights
from lexicon.definitions import definition_features

PRIOR_PRECISION = 2.0  # inverse variance of each weight around its prior
FOLDS = 5
THRESHOLDS = np.arange(0.1, 0.7, 0.02)  # that are compared
REPETITIONS = 20  # of the cross-validation, with other folds
# The training halves have few definitions, so that rare cues would get no weight without a prior.
PRIOR_WEIGHTS = {
    "bias": -2.5,
    "states_meaning": 3.0,
    "is_kind": 2.5,
    "is_the": 1.0,
    "is_other": 0.5,
    "so_called": 1.5,
    "entry": 1.0,
    "has_purpose": 0.7,
    "named_at_end": 1.5,
    "gloss_after": 1.5,
    "gloss_before": 1.5,
    "heads_section": 3.7,  # the sets have no headings, so that this stays
    "starts_with_term": 0.5,
    "relative_clause": 0.5,
    "longer_start": -2.0,
    "longer_end": -2.0,
    "question": -1.5,
    "ends_with_colon": -3.0,
    "refers_elsewhere": -0.5,
    "addresses_reader": -0.5,
    "points_back": -0.7,
    "evaluates": -1.0,
    "is_label": -1.0,
    "past_tense": -1.0,
    "year": -1.0,
}


def main() -> None:
    """Write lexicon/definition_weights.py."""
    weights, thresholds = {}, {}
    for name in TRAINING_SETS:
        terms = [term for term in read_terms(SHARED, name) if term.is_training_half]
        language = name[:2]
        weights[language], thresholds[language] = learn_weights(terms)
        print(name, len(terms), "terms, threshold", thresholds[language])
    text = (
        '"""Weights of lexicon/definitions.py, written by benchmarks/training/definitions.py."""\n\n'
        f"WEIGHTS_BY_LANGUAGE: dict[str, dict[str, float]] = {weights!r}\nTHRESHOLD_BY_LANGUAGE = {thresholds!r}\n"
    )
    with open(definition_weights.__file__, "w", encoding="utf-8") as file:
        file.write(text)


def learn_weights(terms: Sequence[LabelledTerm]) -> tuple[dict[str, float], float]:
    """Return the weights by feature, and the threshold of the probability."""
    samples = [
        (number, features, label)
        for number, term in enumerate(terms)
        for sentence, label in zip(term.sentences, term.labels, strict=True)
        if (features := definition_features(term.text, sentence))
    ]
    names = sorted(samples[0][1])
    groups = np.array([number for number, _, _ in samples])
    matrix = np.array([[features[name] for name in names] for _, features, _ in samples])
    labels = np.array([label for _, _, label in samples])
    # Half a definition is no example of either kind.
    is_clear, targets = labels != 1, labels == GOOD_LABEL
    means = np.zeros((REPETITIONS, len(THRESHOLDS)))
    logits = np.zeros((REPETITIONS, len(samples)))
    for repetition in range(REPETITIONS):
        shuffled_groups = np.random.default_rng(repetition).permutation(len(terms))[groups]
        for train, test in GroupKFold(FOLDS).split(matrix, targets, shuffled_groups):
            train = train[is_clear[train]]
            logits[repetition, test] = matrix[test] @ fit_weights(names, matrix[train], targets[train])
        probabilities = expit(logits[repetition])
        means[repetition] = [mean_of_precision_and_silence(groups, labels, probabilities, t) for t in THRESHOLDS]
    mean_by_threshold = means.mean(axis=0)
    best = mean_by_threshold.max()
    threshold = float(np.median(THRESHOLDS[mean_by_threshold >= best - 1e-9]))
    print(f"cross-validated mean {best:.3f}")
    weights = fit_weights(names, matrix[is_clear], targets[is_clear])
    # Of the best sentence of a term in the folds that the weights have not seen, the score is the share of definitions.
    best_rows = [max(np.flatnonzero(groups == n), key=logits.mean(axis=0).__getitem__) for n in np.unique(groups)]
    calibration = LogisticRegression(C=100).fit(logits.mean(axis=0)[best_rows, None], targets[best_rows])
    scale, shift = calibration.coef_[0, 0], calibration.intercept_[0]
    weights = weights * scale + shift * (np.array(names) == "bias")
    threshold = float(expit(logit(threshold) * scale + shift))
    return dict(zip(names, np.round(weights, 3).tolist(), strict=True)), round(threshold, 3)


def fit_weights(names: Sequence[str], matrix: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the most probable weights under a Gaussian prior around PRIOR_WEIGHTS."""
    prior = np.array([PRIOR_WEIGHTS.get(name, 0.0) for name in names])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores, shift = matrix @ weights, weights - prior
        value = np.logaddexp(0, scores).sum() - scores[targets].sum() + PRIOR_PRECISION / 2 * shift @ shift
        return float(value), matrix.T @ (expit(scores) - targets) + PRIOR_PRECISION * shift

    return np.asarray(minimize(loss, prior, jac=True).x)


def mean_of_precision_and_silence(
    groups: np.ndarray, labels: np.ndarray, probabilities: np.ndarray, threshold: float
) -> float:
    """Return the mean of the precision of the first definition and the share of terms without one that show none.

    Few terms have no definition. Therefore, the sentences that define nothing of every term count as one more term.
    """
    hits, silences = [], []
    for number in np.unique(groups):
        rows = np.flatnonzero(groups == number)
        best = rows[np.argmax(probabilities[rows])]
        if labels[rows].max() == GOOD_LABEL:
            hits.append(labels[best] == GOOD_LABEL and probabilities[best] >= threshold)
        if len(other_rows := rows[labels[rows] == 0]):
            silences.append(probabilities[other_rows].max() < threshold)
    return float(np.mean(hits) + np.mean(silences)) / 2


if __name__ == "__main__":
    main()
