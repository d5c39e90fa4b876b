"""What the charts of runs show. Pure: runs in, oldest or newest first, points of a chart out, oldest first."""

import time
from collections.abc import Iterable, Mapping, Sequence

from docstore.model import Reason
from docstore.reports.runs import RunState
from docstore.reports.site_runs import SiteRun
from search_ui.charts import ChartPoint
from search_ui.interfaces import RunSummary

FAILED_STATES = (RunState.FAILED, RunState.KILLED)
OK_CRAWL_REASONS = frozenset({Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC, Reason.REDIRECTED_TO_KNOWN_URL})
"""Ends of a visit that are no trouble."""
OK_EXTRACT_REASONS = frozenset(
    {
        Reason.EXTRACTED,
        Reason.ARTICLE_UNCHANGED,
        Reason.LIST_PAGE,
        Reason.CONTINUATION,
        Reason.ALTERNATE_VERSION,
        Reason.INDEXED,
    }
)
"""Ends of an extraction that are no trouble."""


def run_duration_points(runs: Iterable[RunSummary]) -> list[ChartPoint]:
    """How long each run took in minutes, at least 1; the part of one that failed or was killed is all of it."""
    return [
        ChartPoint(
            format_month_day(run.started_at), duration_minutes, duration_minutes if run.state in FAILED_STATES else 0
        )
        for run in sort_by_start(runs)
        for duration_minutes in [max(1, round((effective_end(run) - run.started_at) / 60))]
    ]


def effective_end(run: RunSummary) -> float:
    """When it ended; of one that has no end, when its last stage was known to be at work."""
    last_known_activity = run.started_at + sum(stage.seconds for stage in run.stages)
    return run.finished_at if run.finished_at is not None else last_known_activity


def run_visit_points(runs: Iterable[RunSummary]) -> list[ChartPoint]:
    """How many pages each run asked; the part is those that came new or changed."""
    return [
        ChartPoint(format_month_day(run.started_at), sum(counts.values()), counts.get(Reason.FETCHED, 0))
        for run in sort_by_start(runs)
        for counts in [dict(next((stage.reason_counts for stage in run.stages if stage.stage == "crawl"), ()))]
    ]


def site_visit_points(runs: Sequence[SiteRun]) -> list[ChartPoint]:
    """How many pages of a site each run asked; the part is those that could not be had."""
    return [
        ChartPoint(
            format_month_day(run.started_at),
            sum(run.crawl_counts.values()),
            sum(failure_counts(run.crawl_counts).values()),
        )
        for run in reversed(runs)
    ]


def failure_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The outcomes of visits that are not fine."""
    return {code: count for code, count in counts.items() if code not in OK_CRAWL_REASONS}


def sort_by_start(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Oldest first."""
    return sorted(runs, key=lambda run: run.started_at)


def format_month_day(seconds: float) -> str:
    """The day of a run as the server's clock has it."""
    return time.strftime("%m-%d", time.localtime(seconds))
