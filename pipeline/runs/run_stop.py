"""Stop the active run from another process.

`plumb run` ends on SIGTERM. `plumb schedule` ends only its run, on STOP_RUN_SIGNAL, and waits for the next one.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from locks.file_locks import signal_stage_holder, stage_lock_holder
from pipeline.engine import Engine
from pipeline.runs.timetable import SCHEDULE_COMMAND

STOP_RUN_SIGNAL = signal.SIGUSR1


class RunStopRequest(KeyboardInterrupt):
    """Another process requested the end of the run. Ends all stages as Ctrl-C does."""


class StopRequests:
    """Handles STOP_RUN_SIGNAL in the main thread of the scheduler: it ends an active run, and nothing otherwise.

    Use it in a `with` block, and `during_run` around each run.
    """

    def __init__(self) -> None:
        self._is_run_active = False

    def __enter__(self) -> "StopRequests":
        self._previous = signal.signal(STOP_RUN_SIGNAL, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(STOP_RUN_SIGNAL, self._previous)

    @contextmanager
    def during_run(self) -> Iterator[None]:
        """Raise RunStopRequest in this block if a request arrives."""
        self._is_run_active = True
        try:
            yield
        finally:
            self._is_run_active = False

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_run_active:
            self._is_run_active = False  # a second request must not interrupt the end of the run
            raise RunStopRequest


def can_stop_run(engine: Engine) -> bool:
    """Return True if a process of this machine has an active run."""
    return stage_lock_holder(engine.settings.data_dir, "run") is not None


def stop_run(engine: Engine) -> bool:
    """Request the end of the active run. Returns False if no process of this machine has one.

    The run ends after the requests in flight; everything that is fetched is kept.
    """
    folder = engine.settings.data_dir
    holder = stage_lock_holder(folder, "run")
    is_scheduled = holder is not None and holder == stage_lock_holder(folder, SCHEDULE_COMMAND)
    return signal_stage_holder(folder, "run", STOP_RUN_SIGNAL if is_scheduled else signal.SIGTERM)
