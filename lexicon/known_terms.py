"""The terms that a domain has already, as a guide to those it has not: what they have in common speaks for a candidate.

Accepted: 水平井, 直井, 定向井 -> that a candidate ends with 井 is worth more from now on, and 油气井 rises.

The seeds found among the candidates are examples; that all others are none is untrue but does not change the order
(Elkan and Noto 2008, Learning classifiers from only positive and unlabeled data). A logistic regression begins where
the shipped models end and departs from them as far as the seeds give reason to: without seeds nothing changes.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.ngram_table import NgramRows
from lexicon.counting.occurrences import MAX_SPAN_WORDS
from lexicon.model.row_features import WordFeatureArrays, row_word_counts
from lexicon.model.word_features import TAGS_BY_LANGUAGE
from text.folding import word_key

Float64Array = NDArray[np.float64]
Int64Array = NDArray[np.int64]

MIN_KNOWN_TERMS = 10  # seeds among the candidates, below which they say nothing
GROUP_PRIOR_COUNT = 1.0  # seeds that each group is given beforehand, as usual as they are: what few seeds say is little
RIDGE_PENALTY = 30.0  # how hard it is to depart from the shipped models
MAX_NEWTON_STEPS = 20
MAX_GROUPED_CHARS = 15  # characters; all longer terms are one group


def adjust_log_odds(
    log_odds: NDArray[np.float32],
    rows: NgramRows,
    texts: Sequence[str],
    word_features: WordFeatureArrays,
    known_terms: Collection[str],
) -> NDArray[np.float32]:
    """The log-odds of `rows`, which are spelt `texts`, anew in the light of `known_terms` (word keys of terms)."""
    is_known_term = np.fromiter((word_key(text) in known_terms for text in texts), dtype=np.float64, count=len(texts))
    if is_known_term.sum() < MIN_KNOWN_TERMS:
        return log_odds
    probability = 1 / (1 + np.exp(-log_odds.astype(np.float64)))
    evidence = np.stack(list(_iter_group_lifts(rows, texts, word_features, is_known_term, probability)))
    # Centred, so that as many candidates are likely afterwards as before.
    evidence -= (evidence @ probability / probability.sum())[:, None]
    return _fit_adjustment(log_odds.astype(np.float64), evidence, is_known_term).astype(np.float32)


def _iter_group_lifts(
    rows: NgramRows,
    texts: Sequence[str],
    word_features: WordFeatureArrays,
    is_known_term: Float64Array,
    probability: Float64Array,
) -> Iterator[Float64Array]:
    """What the groups that a row belongs to say: those of its first and last word and character, of its tags, of its
    length; and of all its words, on average.
    """
    seed_rate = is_known_term.sum() / probability.sum()
    size = row_word_counts(rows)
    folded_word_ids = np.unique(word_features.hashes[:, 0], return_inverse=True)[1][rows.word_ids]
    first_last_length = np.array([(ord(text[0].lower()[0]), ord(text[-1].lower()[0]), len(text)) for text in texts]).T
    length = np.minimum(first_last_length[2], MAX_GROUPED_CHARS) * (MAX_SPAN_WORDS + 1) + size
    last = folded_word_ids[size - 1, np.arange(len(rows))]
    for group in (
        folded_word_ids[0],
        last,
        _tag_pattern_ids(rows, word_features),
        length,
        first_last_length[0],
        first_last_length[1],
    ):
        yield log_lift(group, is_known_term, probability, seed_rate)
    is_word = rows.word_ids >= 0
    word_lifts = log_lift(
        folded_word_ids.ravel(), (is_known_term * is_word).ravel(), (probability * is_word).ravel(), seed_rate
    )
    yield (word_lifts.reshape(is_word.shape) * is_word).sum(axis=0) / size


def _tag_pattern_ids(rows: NgramRows, word_features: WordFeatureArrays) -> Int64Array:
    """One number for each sequence of tags."""
    tags = np.where(rows.word_ids < 0, 0, word_features.tag_ids[rows.word_ids] + 1)
    pattern = np.zeros(len(rows), np.int64)
    for tag_ids in tags:
        pattern = pattern * (len(TAGS_BY_LANGUAGE[word_features.language]) + 1) + tag_ids
    return pattern


def log_lift(
    group: Int64Array, is_known_term: Float64Array, probability: Float64Array, seed_rate: float
) -> Float64Array:
    """How many of the other rows of each row's group are seeds, against what is usual: `seed_rate` times the sum of their
    `probability`. A logarithm, drawn to 0 where the group is small.
    """
    _, group_index = np.unique(group, return_inverse=True)
    other_known = np.bincount(group_index, is_known_term)[group_index] - is_known_term
    other_expected = np.bincount(group_index, probability)[group_index] - probability
    log_ratio: Float64Array = np.log(
        (other_known + GROUP_PRIOR_COUNT) / (np.maximum(other_expected, 0) * seed_rate + GROUP_PRIOR_COUNT)
    )
    return log_ratio


def _fit_adjustment(log_odds: Float64Array, evidence: Float64Array, is_known_term: Float64Array) -> Float64Array:
    """`log_odds` times a factor, plus `evidence` by its weights: those that make the seeds likeliest (Newton's method)."""
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
    # The first weight only says that most terms are no seeds.
    adjusted_log_odds: Float64Array = log_odds + weights[1:] @ columns[1:]
    return adjusted_log_odds
