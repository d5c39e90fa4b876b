"""What a run leaves about itself while it goes on: each stage as it begins and ends, and the error that ended it."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType

from structlog.contextvars import bind_contextvars, unbind_contextvars

from docstore.errors import PlumblineError
from docstore.model import Stage, StageReport
from docstore.reports.runs import MAX_ERROR_CHARS, RunState, StageRun, stage_run_from_report
from docstore.store import Store


class RunRecord:
    """The record of one run, in the store. Use with `with`; an error that passes through is kept with its stage.

    When it ends, however it does, what it did at each site is counted.
    """

    def __init__(self, store: Store, command: str) -> None:
        self.reports: list[StageReport] = []
        self._runs = store.runs
        self._site_runs = store.site_runs
        self._command = command
        self._run_id = 0
        self._current_stage = StageRun("", state=RunState.RUNNING)  # before the first stage
        self._stage_started = time.monotonic()

    def __enter__(self) -> "RunRecord":
        self._run_id = self._runs.start(self._command)
        bind_contextvars(run=self._run_id)
        return self

    def run_stage(self, stage: Stage, stage_function: Callable[[], StageReport]) -> None:
        """One stage; its report is added to `reports`."""
        bind_contextvars(stage=stage.value)
        self._current_stage, self._stage_started = StageRun(stage, state=RunState.RUNNING), time.monotonic()
        self._runs.save_progress(self._run_id, [*self._finished_stages(), self._current_stage])
        self.reports.append(stage_function())

    def _finished_stages(self) -> list[StageRun]:
        return [stage_run_from_report(report) for report in self.reports]

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if exc is None:
            unbind_contextvars("run", "stage")  # of one that fails, what is logged of it says which it was
            self._runs.finish(self._run_id, self._finished_stages())
            self._site_runs.record_run(self._run_id)
            return
        state, text = classify_error(exc)
        seconds = round(time.monotonic() - self._stage_started, 3)
        failed_stage = replace(self._current_stage, seconds=seconds, state=state, error=text[:MAX_ERROR_CHARS])
        with suppress(PlumblineError):  # of a store that fails, the first error is the one to tell
            self._runs.finish(self._run_id, [*self._finished_stages(), failed_stage])
            self._site_runs.record_run(self._run_id)


def classify_error(exc: BaseException) -> tuple[RunState, str]:
    """State and error of a stage that an exception ended."""
    if isinstance(exc, KeyboardInterrupt | SystemExit):
        return RunState.STOPPED, ""
    if isinstance(exc, PlumblineError):
        return RunState.FAILED, str(exc)
    return RunState.FAILED, f"unexpected {type(exc).__name__}: {exc}"
