"""Occurrences of word spans that can be terms, with boundary scores, as columns with one entry per occurrence.

Log-odds are integers in steps of 1 / STEPS_PER_LOG_ODDS, so sums do not depend on the order of counting.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lexicon.arrays import Float32Array, Int32Array, Int64Array, UInt64Array
from lexicon.counting.tokens import IDENTIFIER_WORD_ID, Tokens, Vocabulary
from lexicon.model.boundaries import BoundaryScorer

MAX_TERM_WORDS = {"zh": 8, "en": 6}  # maximum words of a term by language
MAX_SPAN_WORDS = 8
STEPS_PER_LOG_ODDS = 64
MAX_LOG_ODDS_STEPS = 8 * STEPS_PER_LOG_ODDS  # log-odds are clipped to this range
PROBABILITY_STEPS = 2**30
NEIGHBOUR_BUCKETS = 8  # hash buckets of neighbouring words
BREAK_BUCKET = NEIGHBOUR_BUCKETS  # bucket of neighbours that no term contains
SCORE_COLUMNS = ("begins", "ends", "weakest", "flow", "left", "right", "likely")
MIN_LOG_ODDS_STEPS = -(10**6)  # below the own log-odds of every possible span
IMPOSSIBLE = -(10**15)  # score of a span that cannot end or continue at a word

_random = np.random.default_rng(20190501)
_MULTIPLIERS = _random.integers(1, 2**63, MAX_SPAN_WORDS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@dataclass(frozen=True)
class Occurrences:
    """Occurrences of spans.

    keys               (n,) uint64                   hash of the folded words
    starts             (n,) int32                    index of the first token
    sizes              (n,) int32                    number of words
    scores             (SCORE_COLUMNS, n) int32      in steps: log-odds that a term begins and ends here, of the
                                                     weakest inner gap, summed log-probability of the inner gaps,
                                                     log-odds that the term continues to the left and to the right,
                                                     log-probability of the whole span
    neighbour_buckets  (2, n) int32                  bucket of the left and the right neighbour, 0 to BREAK_BUCKET
    """

    keys: UInt64Array
    starts: Int32Array
    sizes: Int32Array
    scores: Int32Array
    neighbour_buckets: Int32Array


@dataclass(frozen=True)
class _Spans:
    """Spans of one size as columns.

    `start_score` is the own log-odds of the first word, minus the cumulative continuation score at the first inner gap.
    """

    keys: UInt64Array
    starts: Int32Array
    start_score: Int64Array
    weakest_gap: Int32Array

    def take(self, indices: Int64Array) -> "_Spans":
        return _Spans(*(np.take(column, indices) for column in vars(self).values()))


@dataclass(frozen=True)
class _WordScores:
    """Per-token scores independent of context, from `BoundaryScorer.standalone_scores`.

    start_score              log-odds that a term begins at the token
    cumulative_continuation  prefix sum of the log-probabilities that a term continues
    continuation_after       the prefix sum after each token, IMPOSSIBLE after breaks and identifiers
    end_score                log-odds that a term ends at the token plus `continuation_after`; IMPOSSIBLE for breaks,
                             identifiers and joiners
    max_end_score            highest log-odds that a term ends
    """

    start_score: Int32Array
    cumulative_continuation: Int64Array
    continuation_after: Int64Array
    end_score: Int64Array
    max_end_score: int

    @classmethod
    def from_boundaries(cls, boundaries: BoundaryScorer, ids: Int32Array) -> "_WordScores":
        """Compute the scores of tokens with these word ids."""
        begins, ends, inside = boundaries.standalone_scores(ids)
        flow = _prefix_sums(log_sigmoid_steps(inside))
        end = _to_steps(ends)
        is_break = boundaries.is_break[ids] | (ids == IDENTIFIER_WORD_ID)
        reach = np.where(is_break, IMPOSSIBLE, flow[1:])
        tail = np.where(is_break | boundaries.is_joiner[ids], IMPOSSIBLE, end + flow[1:])
        return cls(_to_steps(begins), flow, np.append(reach, IMPOSSIBLE), tail, int(end.max(initial=0)))


def find_occurrences(
    tokens: Tokens, vocabulary: Vocabulary, boundaries: BoundaryScorer, min_log_odds: float
) -> Occurrences:
    """Return all spans whose own words score at least `min_log_odds`, in log-odds; -inf returns all spans.

    See `BoundaryScorer.standalone_scores` for own scores.
    """
    boundaries.add_words(vocabulary, tokens.word_ids)
    log_odds = boundaries.log_odds(tokens.word_ids)
    log_odds_steps = _to_steps(log_odds)
    min_steps = max(MIN_LOG_ODDS_STEPS, min_log_odds * STEPS_PER_LOG_ODDS)
    by_size = list(_iter_spans_by_size(tokens, vocabulary, boundaries, min_steps, log_odds_steps[2]))
    keys, starts, weakest = map(np.concatenate, zip(*by_size, strict=True))
    sizes = np.repeat(np.arange(1, len(by_size) + 1, dtype=np.int32), [len(keys) for keys, _, _ in by_size])
    scores = _score_spans(log_odds_steps, log_sigmoid_steps(log_odds), starts, starts + sizes, weakest)
    return Occurrences(keys, starts, sizes, scores, _neighbour_buckets(tokens, vocabulary, boundaries, starts, sizes))


def _iter_spans_by_size(
    tokens: Tokens, vocabulary: Vocabulary, boundaries: BoundaryScorer, min_steps: float, continue_steps: Int32Array
) -> Iterator[tuple[UInt64Array, Int32Array, Int32Array]]:
    """Yield for each number of words the spans with sufficient own scores: keys, starts, weakest inner gaps.

    `continue_steps` are the log-odds of the gaps that a term continues.
    """
    ids = tokens.word_ids
    word_scores = _WordScores.from_boundaries(boundaries, ids)
    first_hashes, later_hashes = vocabulary.hashes.T
    starts = np.flatnonzero(word_scores.end_score != IMPOSSIBLE).astype(np.int32)
    weakest = np.full(len(starts), MAX_LOG_ODDS_STEPS, dtype=np.int32)
    spans = _Spans(
        first_hashes[ids[starts]] * _MULTIPLIERS[0],
        starts,
        word_scores.start_score[starts] - word_scores.cumulative_continuation[starts + 1],
        weakest,
    )
    for size in range(1, MAX_TERM_WORDS[tokens.language] + 1):
        passing = np.flatnonzero(spans.start_score + word_scores.end_score[spans.starts + (size - 1)] >= min_steps)
        yield spans.keys[passing] ^ np.uint64(size), spans.starts[passing], spans.weakest_gap[passing]
        # Drop spans that even the best last word would not raise above the minimum: no longer span can pass either.
        reachable = spans.start_score + word_scores.continuation_after[spans.starts + size]
        spans = spans.take(np.flatnonzero(reachable >= min_steps - word_scores.max_end_score))
        next_word = spans.starts + size
        keys = spans.keys + later_hashes[ids[next_word]] * _MULTIPLIERS[size % MAX_SPAN_WORDS]
        spans = replace(spans, keys=keys, weakest_gap=np.minimum(spans.weakest_gap, continue_steps[next_word]))


def _score_spans(
    log_odds_steps: Int32Array,
    log_probabilities: Int32Array,
    starts: Int32Array,
    end_gaps: Int32Array,
    weakest: Int32Array,
) -> Int32Array:
    begins, ends, continues = log_odds_steps
    cumulative = _prefix_sums(log_probabilities[2])
    inner_log_probability = (cumulative[end_gaps] - cumulative[starts + 1]).astype(np.int32)
    total_log_probability = log_probabilities[0][starts] + log_probabilities[1][end_gaps] + inner_log_probability
    at_start, at_end = continues[starts], continues[end_gaps]
    return np.stack(
        [begins[starts], ends[end_gaps], weakest, inner_log_probability, at_start, at_end, total_log_probability]
    )


def _prefix_sums(log_probabilities: Int32Array) -> Int64Array:
    """Return the sum of all values before each index."""
    return np.concatenate([[0], np.cumsum(log_probabilities, dtype=np.int64)])


def to_fixed_probability(log_probability: Int32Array) -> Int64Array:
    """Convert log-probabilities (in steps) to probabilities in units of 1 / PROBABILITY_STEPS."""
    table = _probability_table()
    probabilities: Int64Array = table[np.minimum(-log_probability, len(table) - 1)]
    return probabilities


@cache
def _probability_table() -> Int64Array:
    table: Int64Array = np.rint(
        np.exp(-np.arange(32 * STEPS_PER_LOG_ODDS) / STEPS_PER_LOG_ODDS) * PROBABILITY_STEPS
    ).astype(np.int64)
    return table


def _neighbour_buckets(
    tokens: Tokens, vocabulary: Vocabulary, boundaries: BoundaryScorer, starts: Int32Array, sizes: Int32Array
) -> Int32Array:
    buckets = (vocabulary.hashes[:, 0] % np.uint64(NEIGHBOUR_BUCKETS)).astype(np.int32)
    buckets[boundaries.is_break] = BREAK_BUCKET
    padded_buckets = np.concatenate([[BREAK_BUCKET], buckets[tokens.word_ids], [BREAK_BUCKET]]).astype(np.int32)
    return np.stack([padded_buckets[starts], padded_buckets[starts + sizes + 1]])


def log_sigmoid_steps(log_odds: Float32Array) -> Int32Array:
    """Return the log-probabilities of log-odds, in steps."""
    max_log_odds = MAX_LOG_ODDS_STEPS // STEPS_PER_LOG_ODDS
    return _to_steps(-np.log(1 + np.exp(-np.clip(log_odds, -max_log_odds, max_log_odds))))


def _to_steps(log_odds: NDArray[np.floating]) -> Int32Array:
    steps: Int32Array = np.clip(np.rint(log_odds * STEPS_PER_LOG_ODDS), -MAX_LOG_ODDS_STEPS, MAX_LOG_ODDS_STEPS).astype(
        np.int32
    )
    return steps
