"""Notifications to systemd (`Type=notify`): sd_notify(3), over the socket in NOTIFY_SOCKET.

Without the variable nothing is sent. A thread feeds the watchdog (`WatchdogSec`) while the work shows progress. systemd
restarts a program that hangs, and the program then resumes its run.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING

from pipeline.progress import Advance, Progress, ShowCrawlProgress

if TYPE_CHECKING:
    from crawler.progress import CrawlProgress

MAX_SILENT_SECONDS = 7200.0  # without progress; some steps wait one hour for another process


def notify_systemd(*lines: str) -> None:
    """Send assignments such as `READY=1`. Does nothing without a socket, or if nobody listens on it."""
    socket_path = os.environ.get("NOTIFY_SOCKET", "")
    if not socket_path.startswith(("/", "@")):
        return
    text = "\n".join(" ".join(line.split()) for line in lines)
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as notify_socket:
        notify_socket.sendto(text.encode(), "\0" + socket_path[1:] if socket_path.startswith("@") else socket_path)


def watchdog_interval() -> float:
    """Return the maximum seconds between two watchdog messages of this process; 0 if there is no watchdog."""
    watchdog_usec, watchdog_pid = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not watchdog_usec.isdecimal() or (watchdog_pid and watchdog_pid != str(os.getpid())):
        return 0.0
    return int(watchdog_usec) / 1e6


class WatchdogFeeder:
    """Feeds the watchdog at half its interval while `is_healthy` returns True; a context manager."""

    def __init__(self, is_healthy: Callable[[], bool]) -> None:
        self._is_healthy = is_healthy
        self._interval = watchdog_interval() / 2
        self._stop = threading.Event()

    def __enter__(self) -> "WatchdogFeeder":
        if self._interval:
            threading.Thread(target=self._feed, name="watchdog", daemon=True).start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()

    def _feed(self) -> None:
        while True:
            if self._is_healthy():
                notify_systemd("WATCHDOG=1")
            if self._stop.wait(self._interval):
                return


class Liveness:
    """Remembers the time of the last progress; alive for `max_silent` seconds after it."""

    def __init__(self, max_silent: float = MAX_SILENT_SECONDS) -> None:
        self._max_silent = max_silent
        self._last_seen = time.monotonic()

    def touch(self) -> None:
        """Record that the work made progress now."""
        self._last_seen = time.monotonic()

    def is_alive(self) -> bool:
        """True if the last progress is recent enough."""
        return time.monotonic() - self._last_seen < self._max_silent

    def wrap(self, progress: Progress) -> Progress:
        """Return a progress display that records each step and delegates to `progress`."""
        return _LivenessProgress(progress, self.touch)


class _LivenessProgress:
    """Progress that calls `touch` at each step and delegates to another one."""

    def __init__(self, progress: Progress, touch: Callable[[], None]) -> None:
        self._progress = progress
        self._touch = touch

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Delegate to `Progress.task`; advancing records progress."""
        self._touch()
        notify_systemd(f"STATUS={label}")
        with self._progress.task(label, total) as advance:

            def touch_and_advance(steps: int) -> None:
                self._touch()
                advance(steps)

            yield touch_and_advance

    @contextmanager
    def crawl_task(self) -> Iterator[ShowCrawlProgress | None]:
        """Delegate to `Progress.crawl_task`; without a display, the crawl reports by `note`."""
        self._touch()
        notify_systemd("STATUS=crawl")
        with self._progress.crawl_task() as show:
            yield show and self._wrap_show(show)

    def _wrap_show(self, show: ShowCrawlProgress) -> ShowCrawlProgress:
        def touch_and_advance(line: str, done: int, total: int) -> None:
            self._touch()
            show(line, done, total)

        return touch_and_advance

    def report_crawl(self, current: "CrawlProgress") -> None:
        """Delegate to `Progress.report_crawl` without recording progress."""
        self._progress.report_crawl(current)

    def note(self, text: str) -> None:
        """Delegate to `Progress.note` and record progress."""
        self._touch()
        self._progress.note(text)
