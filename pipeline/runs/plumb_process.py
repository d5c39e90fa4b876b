"""`plumb` commands as processes beside the search site."""

import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from signal import SIGTERM
from typing import IO

from domain.errors import PlumblineError
from pipeline.runs.timetable import SCHEDULE_COMMAND
from pipeline.settings_source import SettingsSource

log = logging.getLogger(__name__)

# Messages to the service manager are those of the site, not of its child processes.
SERVICE_MANAGER_VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
STOP_TIMEOUT_SECONDS = 60.0  # for the requests and the transaction in flight
PARENT_POLL_SECONDS = 1.0


def start_plumb(
    source: SettingsSource, *arguments: str, output: IO[bytes] | None = None, has_session: bool = False
) -> "subprocess.Popen[bytes]":
    """Start `plumb ARGUMENTS` in a process.

    Args:
        source: The settings of the process.
        *arguments: The rest of the command line. Paths are absolute.
        output: The file for standard output and standard error; None: those of this process.
        has_session: The process has a session of its own, so that it outlives this process.
    """
    assignments = (part for name, value in source.flags.items() for part in ("-s", f"{name}={value}"))
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli.main", "-c", str(source.file), *assignments, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=has_session,
        cwd=Path(__file__).parents[2],  # makes `pipeline` importable from any working directory
        env={name: value for name, value in os.environ.items() if name not in SERVICE_MANAGER_VARIABLES},
    )


class SchedulerProcess:
    """`plumb schedule` as a child process. Use it in a `with` block; its end stops the scheduler and its run.

    Args:
        source: The settings of the runs.
    """

    def __init__(self, source: SettingsSource) -> None:
        self._source = source

    def __enter__(self) -> "SchedulerProcess":
        self._process = start_plumb(self._source, SCHEDULE_COMMAND, "--first-run", "--parent", str(os.getpid()))
        return self

    def require_running(self) -> None:
        """Raise PlumblineError if the scheduler ended by itself."""
        status = self._process.poll()
        if status is not None:
            raise PlumblineError(f"the scheduler ended by itself (status {status}): see the lines above")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            log.warning("the scheduler did not stop in %g s and was killed", STOP_TIMEOUT_SECONDS)
        finally:
            self._process.kill()  # without effect on a process that has ended
            self._process.wait()


def stop_with_parent(parent_pid: int) -> None:
    """Send SIGTERM to this process when its parent process ends; watches in a thread."""

    def watch() -> None:
        while os.getppid() == parent_pid:
            time.sleep(PARENT_POLL_SECONDS)
        os.kill(os.getpid(), SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
