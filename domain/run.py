"""Runs of the pipeline: results of stages and sites, and the state of the index."""

from collections import Counter
from collections.abc import Mapping
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
        """True if the run was limited to a stage or to some sites of the schedule."""
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
