"""Runs of the pipeline: results of stages and sites, and the state of the index."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.outcome import Reason, Stage, count_failures, count_requested


class RunState(StrEnum):
    """State of a run or of a stage."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # ended by an error
    STOPPED = "stopped"  # stopped by a person or the service manager
    KILLED = "killed"  # ended without recording a result: kill -9, crash, power failure


@dataclass(frozen=True)
class StageRun:
    """One stage of a run: outcome counts by reason, duration in seconds, notes, and the error that ended it or "".

    A stage that is RUNNING in a killed run is the stage in which the run was killed. `started_at` is epoch seconds, 0
    in records of older programs.
    """

    stage: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    state: RunState = RunState.DONE
    error: str = ""
    started_at: float = 0.0


@dataclass(frozen=True)
class PipelineRun:
    """One run. Times are epoch seconds; `finished_at` is None for an active or killed run."""

    run_id: int
    command: str
    started_at: float
    finished_at: float | None
    stages: tuple[StageRun, ...]

    @property
    def is_partial(self) -> bool:
        """True if the run was limited to some stages, or to some sites of the schedule."""
        return " " in self.command

    @property
    def last_stage(self) -> StageRun | None:
        """The current or last stage; None if no stage has started."""
        return self.stages[-1] if self.stages else None

    def current_state(self, is_lock_held: bool) -> RunState:
        """Return the state of the run. `is_lock_held`: a living process owns the lock of this run."""
        if self.finished_at is None:
            return RunState.RUNNING if is_lock_held else RunState.KILLED
        return self.last_stage.state if self.last_stage else RunState.DONE


ReasonCounts = Mapping[str, int]


@dataclass(frozen=True)
class SiteRun:
    """Outcome counts of one run at one site, for crawl and extraction. Keys are `Reason` values and CERTIFICATE_ERROR.

    `started_at` is the start of the run in epoch seconds.
    """

    run_id: int
    started_at: float
    crawl_counts: ReasonCounts = field(default_factory=dict)
    extract_counts: ReasonCounts = field(default_factory=dict)


@dataclass(frozen=True)
class SiteArticles:
    """Articles of a host.

    Attributes:
        article_count: Number of articles.
        newest_found_at: Discovery of the newest URL with an article, in epoch seconds.
        days_with_articles: Number of days on which such URLs were discovered.
    """

    article_count: int
    newest_found_at: float
    days_with_articles: int


@dataclass(frozen=True)
class Freshness:
    """How far the index is behind the store. Times are epoch seconds, None if there was no such event."""

    article_count: int
    indexed_count: int
    pending_count: int
    pending_since: float | None
    last_fetched_at: float | None
    last_indexed_at: float | None


@dataclass(frozen=True)
class SiteTotals:
    """Totals of one host.

    Attributes:
        example_url: Any URL of the host.
        last_visit_at: Epoch seconds, or None.
        outcome_counts: Number of pages by the outcome of their last visit, and of pages whose extraction is incomplete
            (`suspect_body`), needs JavaScript (`needs_scripts`) or lacks pages without readable text (`no_text_layer`,
            `garbled_text`).
    """

    host: str
    example_url: str
    url_count: int
    due_count: int
    article_count: int
    last_visit_at: float | None
    outcome_counts: Mapping[Reason, int]


@dataclass(frozen=True)
class OutcomeSample:
    """A URL with the outcome `reason` in `stage`. `recorded_at` is epoch seconds; `detail` may be ""."""

    stage: Stage
    reason: Reason
    url: str
    detail: str
    recorded_at: float


@dataclass(frozen=True)
class StageSummary:
    """One stage of a run: number of outcomes by reason, wall time in seconds, start in epoch seconds (0: unknown)."""

    stage: str
    reason_counts: tuple[tuple[str, int], ...]
    seconds: float = 0.0
    started_at: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunSummary:
    """One run of the pipeline. Times are in epoch seconds.

    `finished_at` is None for a run that is running or was killed; see `state`. `last_stage` is the current stage, or
    the one in which the run failed, was stopped or killed ("": done or not started). `error` is the cause.
    """

    started_at: float
    finished_at: float | None
    state: RunState
    stages: tuple[StageSummary, ...]
    last_stage: str = ""
    error: str = ""
    run_id: int = 0
    command: str = ""

    @property
    def requested_count(self) -> int:
        """Number of pages that the crawl requested."""
        return count_requested(self.stage_counts(Stage.CRAWL))

    @property
    def new_article_count(self) -> int:
        """Number of new or changed articles."""
        return self.stage_counts(Stage.EXTRACT).get(Reason.EXTRACTED, 0)

    @property
    def failure_count(self) -> int:
        """Number of failures of all stages."""
        return sum(count_failures(dict(stage.reason_counts)) for stage in self.stages)

    def stage_counts(self, name: Stage) -> Mapping[str, int]:
        """Return the outcome counts of all stages of this name, for example of the second extraction after OCR."""
        counts: Counter[str] = Counter()
        for stage in self.stages:
            if stage.stage == name:
                counts.update(dict(stage.reason_counts))
        return counts


@dataclass(frozen=True)
class RunHistory:
    """Pipeline runs, newest first. Times are in epoch seconds.

    Attributes:
        last_success_at: Start of the newest run that completed all requested stages.
        failing_since: Start of the first failed or killed run after that; None if there is none.
        next_run_at: Next scheduled run; None if no `plumb schedule` is running.
        expected_end_at: Estimated end of the active run by the duration of earlier runs; None if unknown.
    """

    runs: tuple[RunSummary, ...]
    last_success_at: float | None
    failing_since: float | None
    next_run_at: float | None
    expected_end_at: float | None = None

    @property
    def last_failed_run(self) -> RunSummary | None:
        """The newest failed or killed run after the last successful one."""
        failed_runs = (run for run in self.runs if run.state in (RunState.FAILED, RunState.KILLED))
        return next(failed_runs, None) if self.failing_since is not None else None


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
        slowest_host: The host that needs most time, in a crawl; otherwise "".
        seconds_left: Estimated seconds to the end of the stage; None if unknown.
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
    slowest_host: str = ""
    seconds_left: float | None = None


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


@dataclass(frozen=True)
class RunStatus:
    """The state of the runs of a vertical.

    Attributes:
        is_running: A run is active.
        can_stop: The run can be stopped from here: it is a process of this machine.
        is_scheduler_running: `plumb schedule` is running.
        daily_at: Local time of the daily run, as HH:MM.
        is_starting: The first run was started within the last minute, but is not active yet.
        failure: Why the last run failed, or why the first one ended before it was active; "" if it did not, or if a run
            is active.
        next_run_at: Next scheduled run in epoch seconds; None without a scheduler.
    """

    is_running: bool
    can_stop: bool
    is_scheduler_running: bool
    daily_at: str
    next_run_at: float | None = None
    is_starting: bool = False
    failure: str = ""


@dataclass(frozen=True)
class RunCounts:
    """Known URLs, saved pages, articles, and articles that a search finds."""

    known_urls: int = 0
    saved_pages: int = 0
    articles: int = 0
    searchable: int = 0
