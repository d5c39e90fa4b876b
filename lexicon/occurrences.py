"""Every span of words that may be a term, with what its neighbourhood says of it: one entry an occurrence, as columns.

Log-odds are kept in steps of 1/STEP, as whole numbers: so sums do not depend on the order in which texts are counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexicon.boundaries import Boundaries
from lexicon.tokens import Hashes, Tokens, Vocabulary

Ints = NDArray[np.int32]

LONGEST = {"zh": 8, "en": 6}  # words of a term
MOST_WORDS = 8
STEP = 64
CERTAIN = 8 * STEP  # log-odds beyond this say no more
PROBABILITY_STEP = 2**30
BUCKETS = 8  # kinds of neighbours told apart, by hash
BREAK_SIDE = BUCKETS  # the kind of a neighbour that no term contains
JUDGED = ("begins", "ends", "weakest", "flow", "left", "right", "likely")

_random = np.random.default_rng(20190501)
_MULTIPLIERS = _random.integers(1, 2**63, MOST_WORDS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@dataclass(frozen=True)
class Occurrences:
    """Spans of some tokens: `keys` the hash of their folded words, `starts`, `sizes` (words), and what is judged.

    `judged` has the rows of JUDGED: log-odds that a term begins and ends here, of the weakest gap inside, the sum of
    log-probabilities of the gaps inside, log-odds that the term goes on to the left and to the right, and the
    log-probability of the whole. `sides` is the kind of the neighbours: 0 to BUCKETS.
    """

    keys: Hashes
    starts: Ints
    sizes: Ints
    judged: Ints
    sides: Ints


def occurrences(tokens: Tokens, vocabulary: Vocabulary, boundaries: Boundaries, floor: float) -> Occurrences:
    """All spans whose own words score at least `floor` (see `Boundaries.alone`); -inf for all there are."""
    boundaries.learn_words(vocabulary)
    spans = list(_spans(tokens, vocabulary, boundaries, floor))
    keys = np.concatenate([found for found, _, _ in spans])
    starts = np.concatenate([found for _, found, _ in spans])
    sizes = np.concatenate([np.full(len(found), size, dtype=np.int32) for _, found, size in spans])
    return Occurrences(
        keys,
        starts,
        sizes,
        _judged(boundaries.log_odds(tokens.ids), starts, sizes),
        _sides(tokens, vocabulary, boundaries, starts, sizes),
    )


def _spans(
    tokens: Tokens, vocabulary: Vocabulary, boundaries: Boundaries, floor: float
) -> Iterator[tuple[Hashes, Ints, int]]:
    """For each number of words: the keys and the starts of the spans."""
    ids, count = tokens.ids, len(tokens.ids)
    breaks = boundaries.is_break[ids]
    edge = ~breaks & ~boundaries.is_joiner[ids]
    positions = np.arange(count, dtype=np.int32)
    room = np.append(np.flatnonzero(breaks), count)[np.cumsum(breaks) - breaks] - positions
    begins, ends, inside = boundaries.alone(ids)
    flow = np.concatenate([[0], np.cumsum(_fixed(_log_probability(inside)), dtype=np.int64)])
    first, later = vocabulary.hashes[ids, 0], vocabulary.hashes[ids, 1]
    keys = first * _MULTIPLIERS[0]
    starts = positions[edge]
    least = -np.inf if floor == -np.inf else floor * STEP
    own_begin, own_end = _fixed(begins), _fixed(ends)
    for size in range(1, LONGEST[tokens.language] + 1):
        starts = starts[room[starts] >= size]
        last = starts + size - 1
        if size > 1:
            keys[starts] += later[last] * _MULTIPLIERS[size - 1]
        own = own_begin[starts] + own_end[last] + flow[last + 1] - flow[starts + 1]
        good = starts[edge[last] & (own >= least)]
        yield keys[good] ^ np.uint64(size), good, size


def _judged(log_odds: NDArray[np.float32], starts: Ints, sizes: Ints) -> Ints:
    begins, ends, on = _fixed(log_odds)
    chance = _fixed(_log_probability(log_odds))
    flow = np.concatenate([[0], np.cumsum(chance[2], dtype=np.int64)])
    after = starts + sizes
    inside = (flow[after] - flow[starts + 1]).astype(np.int32)
    weakest = np.full(len(starts), CERTAIN, dtype=np.int32)
    for further in range(1, MOST_WORDS):
        here = np.flatnonzero(sizes > further)
        weakest[here] = np.minimum(weakest[here], on[starts[here] + further])
    likely = chance[0][starts] + chance[1][after] + inside
    return np.stack([begins[starts], ends[after], weakest, inside, on[starts], on[after], likely])


def expected(likely: Ints) -> NDArray[np.int64]:
    """The probabilities of log-probabilities in steps of 1/STEP, themselves in steps of 1/PROBABILITY_STEP."""
    table = np.rint(np.exp(-np.arange(32 * STEP) / STEP) * PROBABILITY_STEP).astype(np.int64)
    found: NDArray[np.int64] = table[np.minimum(-likely, len(table) - 1)]
    return found


def _sides(tokens: Tokens, vocabulary: Vocabulary, boundaries: Boundaries, starts: Ints, sizes: Ints) -> Ints:
    kinds = (vocabulary.hashes[:, 0] % np.uint64(BUCKETS)).astype(np.int32)
    kinds[boundaries.is_break] = BREAK_SIDE
    around = np.concatenate([[BREAK_SIDE], kinds[tokens.ids], [BREAK_SIDE]]).astype(np.int32)
    return np.stack([around[starts], around[starts + sizes + 1]])


def _log_probability(log_odds: NDArray[np.float32]) -> NDArray[np.float64]:
    return -np.logaddexp(0.0, -log_odds.astype(np.float64))


def _fixed(log_odds: NDArray[np.float32] | NDArray[np.float64]) -> Ints:
    return np.clip(np.rint(log_odds * STEP), -CERTAIN, CERTAIN).astype(np.int32)
