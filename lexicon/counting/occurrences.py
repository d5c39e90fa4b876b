"""Every span of words that may be a term, with what its neighbourhood says of it: one entry an occurrence, as columns.

Log-odds are kept in steps of 1/STEP, as whole numbers: so sums do not depend on the order in which texts are counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.hashing import Hashes
from lexicon.counting.tokens import NAME_NUMBER, Tokens, Vocabulary
from lexicon.model.boundaries import Boundaries

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Odds = NDArray[np.float32]

LONGEST = {"zh": 8, "en": 6}  # words of a term
MAX_WORDS = 8
STEP = 64
CERTAIN = 8 * STEP  # log-odds beyond this say no more
PROBABILITY_STEP = 2**30
BUCKETS = 8  # kinds of neighbours told apart, by hash
BREAK_SIDE = BUCKETS  # the kind of a neighbour that no term contains
JUDGED = ("begins", "ends", "weakest", "flow", "left", "right", "likely")
LEAST = -(10**6)  # own log-odds, in steps, that any span reaches
NO_END = -(10**15)

_random = np.random.default_rng(20190501)
_MULTIPLIERS = _random.integers(1, 2**63, MAX_WORDS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


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


@dataclass(frozen=True)
class _Spans:
    """Spans of one size as columns. `begin`: own log-odds of the first word, less `flow` where the gaps begin."""

    keys: Hashes
    starts: Ints
    begin: Longs
    weakest: Ints

    def take(self, which: NDArray[np.int64]) -> "_Spans":
        return _Spans(*(np.take(column, which) for column in vars(self).values()))


@dataclass(frozen=True)
class _Own:
    """What words say for themselves, by `Boundaries.alone`. `flow` is the running sum of the log-probabilities that a
    term goes on, `reach` the same after each word; `tail` for a span that ends with a word: its log-odds with `flow`.
    Both are NO_END for a word that none goes on with, or that ends none: a break, a name that only programs write.
    """

    begin: Ints
    flow: Longs
    reach: Longs
    tail: Longs
    best_end: int

    @classmethod
    def of(cls, boundaries: Boundaries, ids: Ints) -> "_Own":
        begins, ends, inside = boundaries.alone(ids)
        flow = _running(log_probability(inside))
        end = _fixed(ends)
        is_break = boundaries.is_break[ids] | (ids == NAME_NUMBER)
        reach = np.where(is_break, NO_END, flow[1:])
        tail = np.where(is_break | boundaries.is_joiner[ids], NO_END, end + flow[1:])
        return cls(_fixed(begins), flow, np.append(reach, NO_END), tail, int(end.max(initial=0)))


def occurrences(tokens: Tokens, vocabulary: Vocabulary, boundaries: Boundaries, floor: float) -> Occurrences:
    """All spans whose own words score at least `floor` (see `Boundaries.alone`); -inf for all there are."""
    boundaries.learn_words(vocabulary, tokens.ids)
    log_odds = boundaries.log_odds(tokens.ids)
    fixed = _fixed(log_odds)
    least = max(LEAST, floor * STEP)
    by_size = list(_spans(tokens, vocabulary, boundaries, least, fixed[2]))
    keys, starts, weakest = map(np.concatenate, zip(*by_size, strict=True))
    sizes = np.repeat(np.arange(1, len(by_size) + 1, dtype=np.int32), [len(keys) for keys, _, _ in by_size])
    judged = _judged(fixed, log_probability(log_odds), starts, starts + sizes, weakest)
    return Occurrences(keys, starts, sizes, judged, _sides(tokens, vocabulary, boundaries, starts, sizes))


def _spans(
    tokens: Tokens, vocabulary: Vocabulary, boundaries: Boundaries, least: float, on: Ints
) -> Iterator[tuple[Hashes, Ints, Ints]]:
    """For each number of words the spans that are good enough by themselves: keys, starts, and the weakest of the gaps
    inside, of which `on` is the judgement.
    """
    ids = tokens.ids
    own = _Own.of(boundaries, ids)
    first, later = vocabulary.hashes.T
    starts = np.flatnonzero(own.tail != NO_END).astype(np.int32)
    weakest = np.full(len(starts), CERTAIN, dtype=np.int32)
    spans = _Spans(first[ids[starts]] * _MULTIPLIERS[0], starts, own.begin[starts] - own.flow[starts + 1], weakest)
    for size in range(1, LONGEST[tokens.language] + 1):
        good = np.flatnonzero(spans.begin + own.tail[spans.starts + (size - 1)] >= least)
        yield spans.keys[good] ^ np.uint64(size), spans.starts[good], spans.weakest[good]
        # No longer span that begins so can be good when the best last word there is would not make it good now.
        spans = spans.take(np.flatnonzero(spans.begin + own.reach[spans.starts + size] >= least - own.best_end))
        last = spans.starts + size
        keys = spans.keys + later[ids[last]] * _MULTIPLIERS[size % MAX_WORDS]
        spans = replace(spans, keys=keys, weakest=np.minimum(spans.weakest, on[last]))


def _judged(fixed: Ints, chance: Ints, starts: Ints, after: Ints, weakest: Ints) -> Ints:
    begins, ends, on = fixed
    flow = _running(chance[2])
    inside = (flow[after] - flow[starts + 1]).astype(np.int32)
    likely = chance[0][starts] + chance[1][after] + inside
    return np.stack([begins[starts], ends[after], weakest, inside, on[starts], on[after], likely])


def _running(chance: Ints) -> Longs:
    """The sum of all before each place."""
    return np.concatenate([[0], np.cumsum(chance, dtype=np.int64)])


def expected(likely: Ints) -> Longs:
    """The probabilities of log-probabilities in steps of 1/STEP, themselves in steps of 1/PROBABILITY_STEP."""
    table = _probabilities()
    found: Longs = table[np.minimum(-likely, len(table) - 1)]
    return found


@cache
def _probabilities() -> Longs:
    table: Longs = np.rint(np.exp(-np.arange(32 * STEP) / STEP) * PROBABILITY_STEP).astype(np.int64)
    return table


def _sides(tokens: Tokens, vocabulary: Vocabulary, boundaries: Boundaries, starts: Ints, sizes: Ints) -> Ints:
    kinds = (vocabulary.hashes[:, 0] % np.uint64(BUCKETS)).astype(np.int32)
    kinds[boundaries.is_break] = BREAK_SIDE
    around = np.concatenate([[BREAK_SIDE], kinds[tokens.ids], [BREAK_SIDE]]).astype(np.int32)
    return np.stack([around[starts], around[starts + sizes + 1]])


def log_probability(log_odds: Odds) -> Ints:
    """The logarithms of probabilities given as log-odds, in steps of 1/STEP."""
    return _fixed(-np.log(1 + np.exp(-np.clip(log_odds, -CERTAIN // STEP, CERTAIN // STEP))))


def _fixed(log_odds: NDArray[np.floating]) -> Ints:
    steps: Ints = np.clip(np.rint(log_odds * STEP), -CERTAIN, CERTAIN).astype(np.int32)
    return steps
