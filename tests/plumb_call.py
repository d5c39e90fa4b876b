"""Runs the `plumb` command in this process: entry point, streams and exit status as in a new process.

For tests of the output and effects of a command. Tests of the process itself (kill, signals, locks between processes,
start-up) start a real one: `tests.crash_harness.Vertical.start`.
"""

import io
import logging
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from pipeline.cli.main import main

PROGRESS_NOTES = frozenset({"starting Solr ...", "connecting to Solr ..."})


@dataclass(frozen=True)
class Said:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The single error line; fails if there are more or fewer lines."""
        lines = [line for line in self.err.splitlines() if line not in PROGRESS_NOTES]
        assert len(lines) == 1, self
        assert "Traceback" not in self.err, self
        assert not lines[0].startswith("plumb: unexpected"), self
        return lines[0]


def call_plumb(*arguments: str, environment: Mapping[str, str] | None = None, typed: str = "") -> Said:
    """Run `plumb ARGUMENTS` in this process with `typed` on standard input; return its exit status and output."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status = 0
    with (
        patch("sys.argv", ["plumb", *arguments]),
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode()), "utf-8")),
        patch.dict(os.environ, environment or {}),
        redirect_stdout(out),
        redirect_stderr(err),
        _process_state_restored(),
    ):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    return Said(status, *(stream.buffer.getvalue().decode("utf-8") for stream in (out, err)))


@contextmanager
def _process_state_restored() -> Iterator[None]:
    """Restore the process state that a command changes: signal handlers, log, working folder."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    root, raises = logging.getLogger(), logging.raiseExceptions
    level, log_handlers, folder = root.level, list(root.handlers), os.getcwd()
    try:
        yield
    finally:
        for log_handler in root.handlers:
            if log_handler not in log_handlers:
                log_handler.close()
        root.handlers[:], logging.raiseExceptions = log_handlers, raises
        root.setLevel(level)
        os.chdir(folder)
        for number, handler in handlers.items():
            signal.signal(number, handler)
