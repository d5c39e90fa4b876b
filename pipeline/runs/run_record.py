"""What a run leaves about itself while it goes on: each stage as it begins and ends, and the error that ended it."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType

from structlog.contextvars import bind_contextvars, unbind_contextvars

from docstore.errors import PlumblineError
from docstore.model import Stage, StageReport
from docstore.reports.runs import MAX_ERROR, RunState, StageRun, stage_run
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
        self._current = StageRun("", state=RunState.RUNNING)  # before the first stage
        self._began = time.monotonic()

    def __enter__(self) -> "RunRecord":
        self._run_id = self._runs.start(self._command)
        bind_contextvars(run=self._run_id)
        return self

    def do(self, stage: Stage, work: Callable[[], StageReport]) -> None:
        """One stage; its report is added to `reports`."""
        bind_contextvars(stage=stage.value)
        self._current, self._began = StageRun(stage, state=RunState.RUNNING), time.monotonic()
        self._runs.save(self._run_id, [*self._done(), self._current])
        self.reports.append(work())

    def _done(self) -> list[StageRun]:
        return [stage_run(report) for report in self.reports]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            unbind_contextvars("run", "stage")  # of one that fails, what is logged of it says which it was
            self._runs.finish(self._run_id, self._done())
            self._site_runs.count(self._run_id)
            return
        state, text = how_it_ended(error)
        seconds = round(time.monotonic() - self._began, 3)
        ended = replace(self._current, seconds=seconds, state=state, error=text[:MAX_ERROR])
        with suppress(PlumblineError):  # of a store that fails, the first error is the one to tell
            self._runs.finish(self._run_id, [*self._done(), ended])
            self._site_runs.count(self._run_id)


def how_it_ended(error: BaseException) -> tuple[RunState, str]:
    """State and error of a stage that an exception ended."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return RunState.STOPPED, ""
    if isinstance(error, PlumblineError):
        return RunState.FAILED, str(error)
    return RunState.FAILED, f"unexpected {type(error).__name__}: {error}"
