"""Record of a run in the store: start and end of each stage, and the error that ended the run."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from structlog.contextvars import bind_contextvars, unbind_contextvars

from docstore.reports.runs import MAX_ERROR_CHARS, stage_run_from_report
from docstore.store import Store
from domain.errors import PlumblineError
from domain.message import Message, error_message, truncate_message
from domain.outcome import Stage, StageReport
from domain.run import RunState, StageRun


class RunRecord:
    """Records one run; a context manager. An exception that leaves the context is recorded with its stage.

    At the end, also after an error, the outcomes of the run are counted by site; after a kill, the next run does so.
    `on_stage` is called with the id of the run and each stage that starts.

    Attributes:
        run_id: Id of the run, 0 before it starts.
        reports: Reports of the finished stages.
    """

    def __init__(
        self,
        store: Store,
        command: str,
        on_report: Callable[[StageReport], None] = lambda report: None,
        on_stage: Callable[[int, Stage], None] = lambda run_id, stage: None,
    ) -> None:
        self.run_id = 0
        self.reports: list[StageReport] = []
        self._finished_stages: list[StageRun] = []
        self._on_stage = on_stage
        self._runs = store.runs
        self._site_runs = store.site_runs
        self._command = command
        self._on_report = on_report
        self._current_stage = StageRun("", state=RunState.RUNNING)  # before the first stage
        self._stage_started = time.monotonic()

    def __enter__(self) -> "RunRecord":
        for killed_run in self._runs.list_newest(1):
            if killed_run.finished_at is None:
                self._site_runs.record_run(killed_run.run_id)
        self.run_id = self._runs.start(self._command)
        bind_contextvars(run=self.run_id)
        return self

    def run_stage(self, stage: Stage, stage_function: Callable[[], StageReport]) -> None:
        """Run one stage, append its report to `reports` and pass it on."""
        started_at = time.time()
        self.resume_stage(stage, started_at)
        self._runs.save_progress(self.run_id, [*self._finished_stages, self._current_stage])
        self._on_stage(self.run_id, stage)
        self.reports.append(stage_function())
        self._finished_stages.append(replace(stage_run_from_report(self.reports[-1]), started_at=started_at))
        self._on_report(self.reports[-1])

    def resume_stage(self, stage: Stage, started_at: float = 0.0) -> None:
        """Attribute an error from here on to a stage."""
        bind_contextvars(stage=stage.value)
        self._current_stage = StageRun(stage, state=RunState.RUNNING, started_at=started_at)
        self._stage_started = time.monotonic()

    def add_note(self, note: Message) -> None:
        """Add a note to the last finished stage."""
        if self._finished_stages:
            last_stage = self._finished_stages[-1]
            self._finished_stages[-1] = replace(last_stage, notes=(*last_stage.notes, note))

    def __exit__(self, _: object, exc: BaseException | None, __: object) -> None:
        unbind_contextvars("run", "stage")
        if exc is None:
            self._site_runs.record_run(self.run_id)
            self._runs.finish(self.run_id, self._finished_stages)
            return
        state, text = classify_error(exc)
        seconds = round(time.monotonic() - self._stage_started, 3)
        failed_stage = replace(
            self._current_stage, seconds=seconds, state=state, error=truncate_message(text, MAX_ERROR_CHARS)
        )
        with suppress(PlumblineError):  # if the store fails too, the first error is the one to report
            self._site_runs.record_run(self.run_id)
            self._runs.finish(self.run_id, [*self._finished_stages, failed_stage])


def classify_error(exc: BaseException) -> tuple[RunState, str]:
    """Return the state and error message of a stage that ended with this exception."""
    if isinstance(exc, KeyboardInterrupt | SystemExit):
        return RunState.STOPPED, ""
    if isinstance(exc, PlumblineError):
        return RunState.FAILED, error_message(exc)
    kind, detail = type(exc).__name__, truncate_message(str(exc), MAX_ERROR_CHARS // 2)
    return RunState.FAILED, Message(
        "An unexpected error occurred ({kind}: {detail}). The log has the details.", kind=kind, detail=detail
    )
