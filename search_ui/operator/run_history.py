"""What the charts of runs show. Pure: runs in, oldest or newest first, points of a chart out, oldest first."""

import time
from collections.abc import Iterable, Mapping, Sequence

from docstore.model import Reason
from docstore.reports.runs import RunState
from docstore.reports.site_runs import SiteRun
from search_ui.actions import RunSummary
from search_ui.charts import Point

BAD = (RunState.FAILED, RunState.KILLED)
FINE = frozenset({Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC, Reason.DUPLICATE})
"""Ends of a visit that are no trouble."""
FINE_READ = frozenset(
    {Reason.EXTRACTED, Reason.SAME_ARTICLE, Reason.LIST_PAGE, Reason.CONTINUATION, Reason.DOUBLE, Reason.INDEXED}
)
"""Ends of an extraction that are no trouble."""


def minutes(runs: Iterable[RunSummary]) -> list[Point]:
    """How long each run took in minutes, at least 1; the part of one that failed or was killed is all of it."""
    return [
        Point(day(run.started_at), took, took if run.state in BAD else 0)
        for run in in_order(runs)
        for took in [max(1, round((ended_at(run) - run.started_at) / 60))]
    ]


def ended_at(run: RunSummary) -> float:
    """When it ended; of one that has no end, when its last stage was known to be at work."""
    known = run.started_at + sum(stage.seconds for stage in run.stages)
    return run.finished_at if run.finished_at is not None else known


def visits(runs: Iterable[RunSummary]) -> list[Point]:
    """How many pages each run asked; the part is those that came new or changed."""
    return [
        Point(day(run.started_at), sum(counts.values()), counts.get(Reason.FETCHED, 0))
        for run in in_order(runs)
        for counts in [dict(next((stage.counts for stage in run.stages if stage.stage == "crawl"), ()))]
    ]


def visits_of_site(runs: Sequence[SiteRun]) -> list[Point]:
    """How many pages of a site each run asked; the part is those that could not be had."""
    return [
        Point(day(run.started_at), sum(run.crawl.values()), sum(troubles(run.crawl).values())) for run in reversed(runs)
    ]


def troubles(counts: Mapping[str, int]) -> dict[str, int]:
    """The outcomes of visits that are not fine."""
    return {code: count for code, count in counts.items() if code not in FINE}


def in_order(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Oldest first."""
    return sorted(runs, key=lambda run: run.started_at)


def day(seconds: float) -> str:
    """The day of a run as the server's clock has it."""
    return time.strftime("%m-%d", time.localtime(seconds))
