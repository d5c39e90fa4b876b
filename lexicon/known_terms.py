"""Adjustment of candidate scores by the terms that are known already (positive-unlabelled learning).

Accepted: 水平井, 直井, 定向井 -> a candidate that ends with 井 scores higher, so 油气井 rises.

Known terms among the candidates are positive examples. All other candidates count as negative, which is wrong for some
but does not change the ranking (Elkan and Noto 2008, Learning classifiers from only positive and unlabeled data). Rows
are grouped by first and last word and character, tag pattern and length; each group gets a smoothed log lift. A
ridge-regularised logistic regression that starts at the shipped model combines the lifts. Without known terms the
scores do not change.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from lexicon.arrays import Float32Array, Float64Array, Int64Array
from lexicon.counting.ngram_table import NgramRows
from lexicon.counting.occurrences import MAX_SPAN_WORDS
from lexicon.model.row_features import WordFeatureArrays, row_word_counts
from lexicon.model.word_features import TAGS_BY_LANGUAGE
from text.folding import word_key

MIN_KNOWN_TERMS = 10  # known terms among the candidates; with fewer the log-odds do not change
GROUP_PRIOR_COUNT = 1.0  # pseudo-count of known and of expected terms per group, which damps small groups
RIDGE_PENALTY = 30.0  # penalty for deviations from the shipped models
MAX_NEWTON_STEPS = 20
MAX_GROUPED_CHARS = 15  # all longer terms form one length group


def adjust_log_odds(
    log_odds: Float32Array,
    rows: NgramRows,
    texts: Sequence[str],
    word_features: WordFeatureArrays,
    known_terms: Collection[str],
) -> Float32Array:
    """Return the log-odds of the rows, adjusted by the known terms.

    Args:
        log_odds: (rows,) log-odds of the shipped model.
        rows: rows of one language.
        texts: spelling of each row.
        word_features: features of the words.
        known_terms: `word_key`s of the known terms.
    """
    is_known_term = np.fromiter((word_key(text) in known_terms for text in texts), dtype=np.float64, count=len(texts))
    if is_known_term.sum() < MIN_KNOWN_TERMS:
        return log_odds
    probability = 1 / (1 + np.exp(-log_odds.astype(np.float64)))
    evidence = np.stack(list(_iter_group_lifts(rows, texts, word_features, is_known_term, probability)))
    # Centred, so that the expected number of terms does not change.
    evidence -= (evidence @ probability / probability.sum())[:, None]
    return _fit_adjustment(log_odds.astype(np.float64), evidence, is_known_term).astype(np.float32)


def _iter_group_lifts(
    rows: NgramRows,
    texts: Sequence[str],
    word_features: WordFeatureArrays,
    is_known_term: Float64Array,
    probability: Float64Array,
) -> Iterator[Float64Array]:
    """Yield the log lift of each row's groups: first and last word and character, tag pattern, length.

    The last array is the mean lift over all words of the row.
    """
    seed_rate = is_known_term.sum() / probability.sum()
    size = row_word_counts(rows)
    folded_word_ids = np.unique(word_features.hashes[:, 0], return_inverse=True)[1][rows.word_ids]
    first_last_length = np.array([(ord(text[0].lower()[0]), ord(text[-1].lower()[0]), len(text)) for text in texts]).T
    length = np.minimum(first_last_length[2], MAX_GROUPED_CHARS) * (MAX_SPAN_WORDS + 1) + size
    last = folded_word_ids[size - 1, np.arange(len(rows))]
    tag_pattern = np.zeros(len(rows), np.int64)
    for tag_ids in np.where(rows.word_ids < 0, 0, word_features.tag_ids[rows.word_ids] + 1):
        tag_pattern = tag_pattern * (len(TAGS_BY_LANGUAGE[word_features.language]) + 1) + tag_ids
    for group in (folded_word_ids[0], last, tag_pattern, length, first_last_length[0], first_last_length[1]):
        yield log_lift(group, is_known_term, probability, seed_rate)
    is_word = rows.word_ids >= 0
    word_lifts = log_lift(
        folded_word_ids.ravel(), (is_known_term * is_word).ravel(), (probability * is_word).ravel(), seed_rate
    )
    yield (word_lifts.reshape(is_word.shape) * is_word).sum(axis=0) / size


def log_lift(
    group: Int64Array, is_known_term: Float64Array, probability: Float64Array, seed_rate: float
) -> Float64Array:
    """Return the log ratio of known terms to expected known terms among the other rows of each row's group.

    The expected number is `seed_rate` times the sum of `probability`. The ratio is smoothed towards 0 for small groups.
    """
    _, group_index = np.unique(group, return_inverse=True)
    other_known = np.bincount(group_index, is_known_term)[group_index] - is_known_term
    other_expected = np.bincount(group_index, probability)[group_index] - probability
    log_ratio: Float64Array = np.log(
        (other_known + GROUP_PRIOR_COUNT) / (np.maximum(other_expected, 0) * seed_rate + GROUP_PRIOR_COUNT)
    )
    return log_ratio


def _fit_adjustment(log_odds: Float64Array, evidence: Float64Array, is_known_term: Float64Array) -> Float64Array:
    """Return `log_odds` scaled and with weighted `evidence` added, by maximum likelihood (Newton's method)."""
    columns = np.vstack([np.ones(len(log_odds)), log_odds, evidence])
    ridge = np.full(len(columns), RIDGE_PENALTY)
    ridge[0] = 1e-6
    weights = np.zeros(len(columns))
    for _ in range(MAX_NEWTON_STEPS):
        probability = 1 / (1 + np.exp(-(log_odds + weights @ columns)))
        curvature = (columns * (probability * (1 - probability))) @ columns.T + np.diag(ridge)
        newton_step = np.linalg.solve(curvature, columns @ (is_known_term - probability) - ridge * weights)
        weights += newton_step
        if np.abs(newton_step).max() < 1e-4:
            break
    # Without the first weight, which only expresses that most terms are not known yet.
    adjusted_log_odds: Float64Array = log_odds + weights[1:] @ columns[1:]
    return adjusted_log_odds
