"""What a replay is worth. Labels are looked at here, and nowhere else.

harvest_r    share of relevant pages among the first R fetches, R the relevant pages that the seeds can reach
recall_5r    share of those R that the first 5R fetches hold
precision, recall, f1    of the pages that the strategy kept, within 5R fetches, and within parts of them
judged       how relevant each page was judged to be, and whether it is: `calibration_error`
ndcg         of a search over the pages of the topic that were crawled by then (`focus_worth.py`)
again        share of the fetches that pages would cost which were not held when they came and are kept at the end
fetch_share_at_90        fetches until 90 % of the R pages are there, as a share of breadth first's
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.focus_replay import Replay

BUDGET = 5  # times R
PARTS = (0.1, 0.25, 0.5, 1.0)  # of the budget
STEPS = 20  # of a curve
BINS = 10  # of probabilities


@dataclass(frozen=True)
class Kept:
    """What the pages that were kept are worth."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """2PR / (P + R) (WY-F16); 0 where nothing relevant was kept."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Score:
    """One replay of one strategy from one draw of seeds. Shares, but for `fetches_at_90` and milliseconds."""

    harvest_r: float
    recall_5r: float
    harvest: tuple[float, ...]  # at PARTS of the budget
    kept: tuple["Kept", ...]  # at PARTS of the budget
    precision: float
    recall: float
    f1: float
    curve: tuple[tuple[float, float], ...]  # harvest and share of R, at STEPS of the budget
    fetches_at_90: float  # infinite where it is not reached
    page_ms: float  # 95th percentiles, as `focus_replay.Seconds`
    link_ms: float
    visit_ms: float
    judged: tuple[tuple[float, bool], ...] = ()
    kept_pages: int = 0  # at the full budget, and how many of them are right
    kept_right: int = 0
    again: float = 0.0
    share: float = 1.0  # of the web's pages that are of the topic
    ndcg: tuple[float, ...] = ()  # at PARTS of the budget (`focus_worth.py`); none where the topic has no questions


def score(
    replay: Replay,
    relevant: frozenset[str],
    reachable: int,
    pages: int = 0,
    ndcg: Callable[[Collection[str]], float] | None = None,
) -> Score:
    """`relevant` are all URLs of the topic, `reachable` how many of them the seeds lead to, themselves not counted,
    `pages` how many the web has, `ndcg` what a search over some pages of the topic is worth."""
    hits = list(accumulate(int(url in relevant) for url in replay.fetched)) or [0]
    budget = BUDGET * reachable
    kept = tuple(kept_within(replay, relevant, reachable, round(budget * part)) for part in PARTS)
    wanted = math.ceil(0.9 * reachable)
    steps = [max(round(budget * step / STEPS), 1) for step in range(1, STEPS + 1)]
    return Score(
        harvest_r=at(hits, reachable) / reachable,
        recall_5r=at(hits, budget) / reachable,
        harvest=tuple(at(hits, round(budget * part)) / max(round(budget * part), 1) for part in PARTS),
        kept=kept,
        precision=kept[-1].precision,
        recall=kept[-1].recall,
        f1=kept[-1].f1,
        curve=tuple((at(hits, fetches) / fetches, at(hits, fetches) / reachable) for fetches in steps),
        fetches_at_90=next((count for count, found in enumerate(hits, 1) if found >= wanted), math.inf),
        page_ms=1000 * percentile([spent.page for spent in replay.seconds], 0.95),
        link_ms=1000 * percentile([spent.link for spent in replay.seconds], 0.95),
        visit_ms=1000 * percentile([spent.visit for spent in replay.seconds], 0.95),
        judged=tuple((value, url in relevant) for url, value in zip(replay.fetched, replay.judged, strict=True)),
        kept_pages=len(replay.kept),
        kept_right=len(replay.kept & relevant),
        again=replay.again / max(len(replay.fetched), 1),
        share=len(relevant) / max(pages, 1),
        ndcg=tuple(ndcg(relevant.intersection(replay.fetched[: round(budget * part)])) for part in PARTS)
        if ndcg
        else (),
    )


def calibration_error(judged: Sequence[tuple[float, bool]]) -> float:
    """How far probabilities are from what came of them, on average over the pages: the expected calibration error over
    BINS parts of 0 to 1 of equal width (Naeini, Cooper and Hauskrecht 2015); 0 for none."""
    gaps = [abs(said - came) * count for said, came, count in by_probability(judged)]
    return sum(gaps) / max(len(judged), 1)


def by_probability(judged: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """A reliability diagram: for each part of 0 to 1 that has pages, their mean probability, the share of them that is
    relevant, and how many they are."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for probability, came in judged:
        bins[min(int(probability * BINS), BINS - 1)].append((probability, came))
    return [
        (mean([probability for probability, _ in some]), mean([float(came) for _, came in some]), len(some))
        for _, some in sorted(bins.items())
    ]


def kept_within(replay: Replay, relevant: frozenset[str], reachable: int, fetches: int) -> Kept:
    """What was kept of the first fetches."""
    kept = [url for url in replay.fetched[:fetches] if url in replay.kept]
    right = sum(url in relevant for url in kept)
    return Kept(right / len(kept) if kept else 0.0, right / reachable)


def at(hits: Sequence[int], fetches: int) -> int:
    """Relevant pages after so many fetches, or after all that there were."""
    return hits[min(max(fetches, 1), len(hits)) - 1]


def percentile(values: Sequence[float], part: float) -> float:
    """The value that this part of them does not exceed; 0 for none."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)] if values else 0.0


def mean(values: Sequence[float]) -> float:
    """0 for none."""
    return sum(values) / len(values) if values else 0.0
