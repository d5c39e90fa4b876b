"""What a replay is worth. Labels are looked at here, and nowhere else.

harvest_r    share of relevant pages among the first R fetches, R the relevant pages that the seeds can reach
recall_5r    share of those R that the first 5R fetches hold
precision, recall, f1    of the pages that the strategy kept, within 5R fetches
fetch_share_at_90        fetches until 90 % of the R pages are there, as a share of breadth first's
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.focus_replay import Replay

BUDGET = 5  # times R
PARTS = (0.1, 0.25, 0.5, 1.0)  # of the budget


@dataclass(frozen=True)
class Score:
    """One replay of one strategy from one draw of seeds. Shares, but for `fetches_at_90` and milliseconds."""

    harvest_r: float
    recall_5r: float
    harvest: tuple[float, ...]  # at PARTS of the budget
    precision: float
    recall: float
    f1: float
    fetches_at_90: float  # infinite where it is not reached
    page_ms: float  # 95th percentile
    link_ms: float


def score(replay: Replay, relevant: frozenset[str], reachable: int) -> Score:
    """`relevant` are all addresses of the topic, `reachable` how many of them the seeds lead to, themselves not
    counted."""
    hits = list(accumulate(int(url in relevant) for url in replay.fetched)) or [0]
    budget = BUDGET * reachable
    kept = sum(url in relevant for url in replay.kept)
    precision = kept / len(replay.kept) if replay.kept else 0.0
    recall = kept / reachable
    wanted = math.ceil(0.9 * reachable)
    return Score(
        harvest_r=at(hits, reachable) / reachable,
        recall_5r=at(hits, budget) / reachable,
        harvest=tuple(at(hits, round(budget * part)) / max(round(budget * part), 1) for part in PARTS),
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if kept else 0.0,
        fetches_at_90=next((count for count, found in enumerate(hits, 1) if found >= wanted), math.inf),
        page_ms=1000 * percentile(replay.page_seconds, 0.95),
        link_ms=1000 * percentile(replay.link_seconds, 0.95),
    )


def at(hits: Sequence[int], fetches: int) -> int:
    """Relevant pages after so many fetches, or after all that there were."""
    return hits[min(max(fetches, 1), len(hits)) - 1]


def percentile(values: Sequence[float], part: float) -> float:
    """The value that this part of them does not exceed; 0 for none."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)] if values else 0.0


def mean(values: Sequence[float]) -> float:
    """0 for none."""
    return sum(values) / len(values) if values else 0.0
