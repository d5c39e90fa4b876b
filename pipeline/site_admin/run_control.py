"""Starts and stops runs for the administration pages."""

import subprocess
import threading
import time
from pathlib import Path

from domain.errors import BusyError, PlumblineError
from locks.private_files import open_private
from pipeline.engine import Engine, ensure_folder
from pipeline.runs.plumb_process import start_plumb
from pipeline.runs.run_history import next_run_time, summarize_run
from pipeline.runs.run_output import ERROR_PREFIX, MAX_MESSAGE_CHARS, read_error, read_last_line, run_output_path
from pipeline.runs.run_stop import can_stop_run, stop_run
from pipeline.runs.timetable import FIRST_PAGES_PER_SEED, SCHEDULE_COMMAND
from pipeline.settings_source import SettingsSource
from search_ui.admin.interfaces.run_control import RunCounts, RunStatus

START_ACTION, STOP_ACTION = "run_start", "run_stop"  # codes of recorded actions
START_TIMEOUT_SECONDS = 15.0
FIRST_START_SECONDS = 60.0  # after the setup, in which the first run is not called inactive
POLL_SECONDS = 0.1


class EngineRunControl:
    """Implements `search_ui.admin.interfaces.run_control.RunControl`: runs are `plumb run` processes of their own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def status(self) -> RunStatus:
        """Return the state of the runs, by their locks."""
        engine, is_running = self._engine, self._engine.lock_holder_pid("run") is not None
        newest = engine.store.runs.list_newest(1)
        is_starting, failure = False, ""
        if not is_running and newest:
            failure = summarize_run(newest[0], newest[0].current_state(is_lock_held=False)).error
        elif not is_running:
            failure = read_error(run_output_path(engine.settings.data_dir))
            starts = engine.store.actions.find(action=START_ACTION, limit=1)
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

    def start(self, account: str) -> None:
        """Start `plumb run` and record it. Returns when the run is active.

        Raises PlumblineError if a run is active, or if the new one ends at once.
        """
        engine = self._engine
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
        engine.store.actions.record(account, START_ACTION, "")

    def stop(self, account: str) -> bool:
        """Request the end of the active run and record it. Returns False if no process of this machine has one."""
        is_requested = stop_run(self._engine)
        if is_requested:
            self._engine.store.actions.record(account, STOP_ACTION, "")
        return is_requested


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
