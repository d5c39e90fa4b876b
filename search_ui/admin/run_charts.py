"""Converts runs to chart points, oldest first. No I/O."""

import time
from collections.abc import Iterable, Sequence

from domain.outcome import Reason
from domain.run import RunState, SiteRun
from search_ui.charts import ChartPoint
from search_ui.interfaces import RunSummary

FAILED_STATES = (RunState.FAILED, RunState.KILLED)
SUCCESS_REASONS = frozenset(
    {
        *(Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC, Reason.REDIRECTED_TO_KNOWN_URL),
        *(Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED, Reason.LIST_PAGE, Reason.CONTINUATION, Reason.ALTERNATE_VERSION),
        *(Reason.EMBEDDED, Reason.NOTHING_TO_EMBED, Reason.INDEXED, Reason.DELETED),
    }
)
"""Outcomes of all stages that are no failures."""


def run_duration_points(runs: Iterable[RunSummary]) -> list[ChartPoint]:
    """Return the duration of each run in minutes, at least 1. The part of a failed or killed run is all of it."""
    return [
        ChartPoint(
            format_month_day(run.started_at), duration_minutes, duration_minutes if run.state in FAILED_STATES else 0
        )
        for run in sort_by_start(runs)
        for duration_minutes in [max(1, round((effective_end(run) - run.started_at) / 60))]
    ]


def effective_end(run: RunSummary) -> float:
    """Return the end of a run; the end of its last recorded stage if it has no end."""
    last_known_activity = run.started_at + sum(stage.seconds for stage in run.stages)
    return run.finished_at if run.finished_at is not None else last_known_activity


def run_visit_points(runs: Iterable[RunSummary]) -> list[ChartPoint]:
    """Return the number of pages requested per run. The part is the number of new or changed pages."""
    return [
        ChartPoint(format_month_day(run.started_at), sum(counts.values()), counts.get(Reason.FETCHED, 0))
        for run in sort_by_start(runs)
        for counts in [dict(next((stage.reason_counts for stage in run.stages if stage.stage == "crawl"), ()))]
    ]


def site_visit_points(runs: Sequence[SiteRun]) -> list[ChartPoint]:
    """Return the number of pages of a site requested per run. The part is the number of failures."""
    return [
        ChartPoint(
            format_month_day(run.started_at),
            sum(run.crawl_counts.values()),
            sum(count for code, count in run.crawl_counts.items() if code not in SUCCESS_REASONS),
        )
        for run in reversed(runs)
    ]


def sort_by_start(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Return the runs, oldest first."""
    return sorted(runs, key=lambda run: run.started_at)


def format_month_day(seconds: float) -> str:
    """Return month and day in the server's time zone."""
    return time.strftime("%m-%d", time.localtime(seconds))
