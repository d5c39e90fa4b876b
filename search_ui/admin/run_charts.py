"""Converts runs to chart points, oldest first. No I/O."""

import time
from collections.abc import Iterable, Sequence

from domain.outcome import UNREQUESTED_REASONS, Reason, Stage, count_failures, count_requested
from domain.run import RunState, RunSummary, SiteRun
from search_ui.charts import ChartPoint

FAILED_STATES = (RunState.FAILED, RunState.KILLED)


def run_duration_points(runs: Sequence[RunSummary]) -> tuple[int, list[ChartPoint]]:
    """Return the unit (60 s, or 1 s if all runs are shorter than ten minutes) and the duration of each run in it.

    The part of a failed or killed run is all of it, at least 1, so that it is seen.
    """
    seconds_by_run = [(run, effective_end(run) - run.started_at) for run in sort_by_start(runs)]
    unit = 60 if any(seconds >= 600 for _, seconds in seconds_by_run) else 1
    return unit, [
        ChartPoint(format_month_day(run.started_at), duration, duration if run.state in FAILED_STATES else 0)
        for run, seconds in seconds_by_run
        for duration in [max(round(seconds / unit), int(run.state in FAILED_STATES))]
    ]


def effective_end(run: RunSummary) -> float:
    """Return the end of a run; the end of its last recorded stage if it has no end."""
    last_known_activity = run.started_at + sum(stage.seconds for stage in run.stages)
    return run.finished_at if run.finished_at is not None else last_known_activity


def run_visit_points(runs: Iterable[RunSummary]) -> list[ChartPoint]:
    """Return the number of pages requested per run. The part is the number of new or changed pages."""
    return [
        ChartPoint(
            format_month_day(run.started_at),
            run.requested_count,
            run.stage_counts(Stage.CRAWL).get(Reason.FETCHED, 0),
        )
        for run in sort_by_start(runs)
    ]


def site_visit_points(runs: Sequence[SiteRun]) -> list[ChartPoint]:
    """Return the number of pages of a site requested per run. The part is the number of failures among them."""
    return [
        ChartPoint(format_month_day(run.started_at), count_requested(requests), count_failures(requests))
        for run in reversed(runs)
        for requests in [{code: n for code, n in run.crawl_counts.items() if code not in UNREQUESTED_REASONS}]
    ]


def sort_by_start(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Return the runs, oldest first."""
    return sorted(runs, key=lambda run: run.started_at)


def format_month_day(seconds: float) -> str:
    """Return month and day in the server's time zone."""
    return time.strftime("%m-%d", time.localtime(seconds))
