"""Starts and stops runs for the administration pages."""

import subprocess
import threading
import time
from functools import partial
from pathlib import Path

from domain.account import Role
from domain.errors import BusyError, PlumblineError
from domain.message import Message
from domain.operation import Call, Change, Operation, Recording
from domain.run import RunCounts, RunStatus
from locks.private_files import open_private
from pipeline.engine import Engine
from pipeline.logs import ensure_folder
from pipeline.runs.plumb_process import start_plumb
from pipeline.runs.run_history import next_run_time, summarize_run
from pipeline.runs.run_output import ERROR_PREFIX, MAX_MESSAGE_CHARS, read_error, read_last_line, run_output_path
from pipeline.runs.run_stop import can_stop_run, stop_run
from pipeline.runs.timetable import FIRST_PAGES_PER_SEED, SCHEDULE_COMMAND
from pipeline.settings_source import SettingsSource

START_ACTION = "run_start"  # name of the operation
START_TIMEOUT_SECONDS = 15.0
FIRST_START_SECONDS = 60.0  # after the setup, in which the first run is not called inactive
POLL_SECONDS = 0.1


class EngineRunControl:
    """The state of the runs of a vertical, and operations on them: runs are `plumb run` processes of their own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def status(self) -> RunStatus:
        """Return the state of the runs, by their locks."""
        engine, is_running = self._engine, self._engine.lock_holder_pid("run") is not None
        newest = engine.store.runs.list_newest(1)
        is_starting, failure = False, ""
        if not is_running:  # the output can be of a later run, without a record
            failure = read_error(run_output_path(engine.settings.data_dir), newest[0].started_at if newest else 0.0)
        if not is_running and newest:
            failure = failure or summarize_run(newest[0], newest[0].current_state(is_lock_held=False)).error
        elif not is_running:
            starts = engine.store.operations.find(name=START_ACTION, limit=1)
            is_starting = not failure and bool(starts) and time.time() - starts[0].at < FIRST_START_SECONDS
        return RunStatus(
            is_running=is_running,
            can_stop=can_stop_run(engine),
            is_scheduler_running=engine.lock_holder_pid(SCHEDULE_COMMAND) is not None,
            daily_at=engine.settings.current().schedule.at,
            next_run_at=next_run_time(engine),
            is_starting=is_starting,
            failure=failure,
        )

    def counts(self) -> RunCounts:
        """Return the counts of the store."""
        status = self._engine.store.status
        freshness = status.freshness()
        return RunCounts(status.url_count(), status.page_count(), freshness.article_count, freshness.indexed_count)

    @property
    def operations(self) -> tuple[Operation, Operation]:
        """`run_start`, which returns when the run is active, and `run_stop`, which requests its end."""
        operation = partial(Operation, role=Role.OPERATOR, recording=Recording.AFTERWARDS)
        return (
            operation(START_ACTION, apply=self._start, message=Message("The run has started.")),
            operation(
                "run_stop",
                apply=lambda _: Change("") if stop_run(self._engine) else None,
                message=Message("The run ends after the requests in flight. Everything fetched is kept."),
                unchanged_message=Message("No active run could be stopped."),
            ),
        )

    def _start(self, _: Call) -> Change:
        """Start `plumb run`. Raises PlumblineError if a run is active, or if the new one ends at once."""
        engine = self._engine
        with engine.lock("run_start", START_TIMEOUT_SECONDS):  # of two clicks at once, the second finds the run
            if engine.lock_holder_pid("run") is not None:
                raise BusyError("A run of this vertical is active already")
            process = start_run(engine.settings.require_source(), engine.settings.data_dir)
            deadline = time.monotonic() + START_TIMEOUT_SECONDS
            while process.poll() is None and time.monotonic() < deadline and not can_stop_run(engine):
                time.sleep(POLL_SECONDS)
        if process.poll():
            message = read_last_line(run_output_path(engine.settings.data_dir)).removeprefix(ERROR_PREFIX)
            message = message[:MAX_MESSAGE_CHARS]
            raise PlumblineError("The run ended at once: {message}", message=message)
        return Change("")


def start_run(source: SettingsSource, data_dir: Path) -> "subprocess.Popen[bytes]":
    """Start `plumb run` with these settings in a session of its own, so that it outlives this process.

    Its output replaces that of the run before, see `run_output_path`. Raises PlumblineError.
    """
    ensure_folder(data_dir / "logs")
    arguments = ("run", "--first-pages", str(FIRST_PAGES_PER_SEED))
    with open(run_output_path(data_dir), "wb", opener=open_private) as output:
        process = start_plumb(source, *arguments, output=output, has_session=True)
    threading.Thread(target=process.wait, name="run", daemon=True).start()  # otherwise it becomes a zombie
    return process
