"""Scores of a replay. Only this module uses the labels.

harvest_r    share of relevant pages among the first R fetches; R is the number of relevant pages that the seeds reach
recall_5r    share of those R pages among the first 5R fetches precision, recall, f1    of the retained pages, within 5R
fetches and within parts of them judged       predicted relevance of each page, and its label: `calibration_error` ndcg
of a search over the pages of the topic that were crawled by then (`focus_worth.py`) again        additional fetches, as
a share, for pages that were rejected first and retained at the end fetch_share_at_90        fetches until 90 % of the R
pages are found, as a share of those of breadth first
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.focus_replay import Replay

BUDGET = 5  # times R
PARTS = (0.1, 0.25, 0.5, 1.0)  # of the budget
FOUND_PARTS = (0.1, 0.25, 0.5)  # of the relevant pages (ZJ-E2)
FETCH_SECONDS = 1.0  # of a polite crawl; the decisions of the strategy come on top
STEPS = 20  # of a curve
BINS = 10  # of probabilities


@dataclass(frozen=True)
class Kept:
    """Scores of the retained pages."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """2PR / (P + R) (WY-F16); 0 if no relevant page was retained."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Score:
    """One replay of one strategy from one draw of seeds. All values are shares, except `fetches_at_90` and
    milliseconds.
    """

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
    seconds_to: tuple[float, ...] = ()  # until FOUND_PARTS of R are fetched; infinite where they are not


def score(
    replay: Replay,
    relevant: frozenset[str],
    reachable: int,
    pages: int = 0,
    ndcg: Callable[[Collection[str]], float] | None = None,
) -> Score:
    """Score a replay.

    Args:
        relevant: all URLs of the topic
        reachable: number of them that the seeds reach, without the seeds
        pages: number of pages of the web
        ndcg: scores a search over some pages of the topic
    """
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
        seconds_to=tuple(seconds_until(replay, hits, math.ceil(part * reachable)) for part in FOUND_PARTS),
    )


def seconds_until(replay: Replay, hits: Sequence[int], wanted: int) -> float:
    """Return the seconds of a replay until `wanted` relevant pages are fetched; infinite if they never are."""
    times = accumulate(FETCH_SECONDS + spent.visit for spent in replay.seconds)
    return next((seconds for seconds, found in zip(times, hits, strict=False) if found >= wanted), math.inf)


def calibration_error(judged: Sequence[tuple[float, bool]]) -> float:
    """Return the expected calibration error over BINS bins of equal width (Naeini, Cooper and Hauskrecht 2015); 0 for
    none.
    """
    gaps = [abs(said - came) * count for said, came, count in by_probability(judged)]
    return sum(gaps) / max(len(judged), 1)


def by_probability(judged: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """Return the reliability diagram: mean probability, share of relevant pages and count of each non-empty bin."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for probability, came in judged:
        bins[min(int(probability * BINS), BINS - 1)].append((probability, came))
    return [
        (mean([probability for probability, _ in some]), mean([float(came) for _, came in some]), len(some))
        for _, some in sorted(bins.items())
    ]


def kept_within(replay: Replay, relevant: frozenset[str], reachable: int, fetches: int) -> Kept:
    """Score the retained pages among the first fetches."""
    kept = [url for url in replay.fetched[:fetches] if url in replay.kept]
    right = sum(url in relevant for url in kept)
    return Kept(right / len(kept) if kept else 0.0, right / reachable)


def at(hits: Sequence[int], fetches: int) -> int:
    """Return the number of relevant pages after `fetches` fetches, or after all."""
    return hits[min(max(fetches, 1), len(hits)) - 1]


def percentile(values: Sequence[float], part: float) -> float:
    """Return the percentile of the values; 0 for none."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)] if values else 0.0


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 for none."""
    return sum(values) / len(values) if values else 0.0
