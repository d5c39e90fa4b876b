"""Interface of the pages about runs. `pipeline.runs.run_reports` implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.run import OutcomeSample, RunSummary


@dataclass(frozen=True)
class LiveRun:
    """The progress of the active run. Times are epoch seconds.

    Attributes:
        run_id: The run.
        stage: The current stage; "" before the first.
        stage_started_at: Start of the stage.
        updated_at: Time of these figures.
        finished_count: Finished items of the stage: pages, articles or documents.
        total_count: Known items of the stage; None if unknown.
        per_minute: Finished items per minute, over the last minute; None if unknown.
        active_hosts: Hosts with due URLs, in a crawl; otherwise None.
        error_count: Failed visits, in a crawl; otherwise None.
    """

    run_id: int
    stage: str = ""
    stage_started_at: float = 0.0
    updated_at: float = 0.0
    finished_count: int = 0
    total_count: int | None = None
    per_minute: float | None = None
    active_hosts: int | None = None
    error_count: int | None = None


@dataclass(frozen=True)
class RunFigures:
    """Figures at the end of a run. Sizes are in bytes, `recorded_at` in epoch seconds.

    Attributes:
        disk_used_bytes: Used space of the file system with the data folder.
        disk_total_bytes: Size of this file system without its reserved space.
        due_count: URLs that are due.
        memory_peak_bytes: Peak memory of the main process of the run; None if unknown.
        index_bytes: Size of the embedded Solr; None with an external Solr.
    """

    run_id: int
    recorded_at: float
    disk_used_bytes: int
    disk_total_bytes: int
    due_count: int
    memory_peak_bytes: int | None = None
    index_bytes: int | None = None


@dataclass(frozen=True)
class RunDetail:
    """One run with what belongs to it.

    Attributes:
        run: The run.
        samples: URLs whose last outcome is of this run, by stage and reason.
        log_lines: Lines of the log of the time of the run, without secrets.
        is_log_cut: True if the log has more lines.
        previous_id: Id of the run before; None if there is none.
        next_id: Id of the run after; None if there is none.
    """

    run: RunSummary
    samples: Sequence[OutcomeSample]
    log_lines: Sequence[str]
    is_log_cut: bool
    previous_id: int | None
    next_id: int | None


class RunReports(Protocol):
    """The source of the pages about runs."""

    def list_runs(self, before_id: int | None, limit: int) -> Sequence[RunSummary]:
        """Return the newest `limit` runs, or those before the run `before_id`, newest first."""

    def detail(self, run_id: int) -> RunDetail | None:
        """Return one run; None if it is unknown."""

    def live_run(self) -> LiveRun | None:
        """Return the progress of the active run; None if no run is active."""

    def figures(self) -> Sequence[RunFigures]:
        """Return the figures of the recorded runs, oldest first."""
