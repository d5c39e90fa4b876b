"""What a service manager (systemd, `Type=notify`) is told: sd_notify(3), over the socket that it names.

Without one nothing happens. A watchdog (`WatchdogSec`) is fed by a thread as long as the work gives signs of life: a
program that hangs is ended and started anew, and takes up the run that it was in.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from pipeline.progress import Advance, Progress, ShowCrawlProgress

MAX_SILENT_SECONDS = 7200.0  # of work without a sign; some steps wait an hour for another process


def notify_systemd(*lines: str) -> None:
    """Send lines as `READY=1`; where nobody asked for them, or nobody listens any more, do nothing."""
    socket_path = os.environ.get("NOTIFY_SOCKET", "")
    if not socket_path.startswith(("/", "@")):
        return
    text = "\n".join(" ".join(line.split()) for line in lines)
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as notify_socket:
        notify_socket.sendto(text.encode(), "\0" + socket_path[1:] if socket_path.startswith("@") else socket_path)


def watchdog_interval() -> float:
    """How often the watchdog of this process wants to be fed at least; 0: it has none."""
    watchdog_usec, watchdog_pid = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not watchdog_usec.isdecimal() or (watchdog_pid and watchdog_pid != str(os.getpid())):
        return 0.0
    return int(watchdog_usec) / 1e6


class WatchdogFeeder:
    """Feeds the watchdog twice as often as it wants, while `is_well`. Use with `with`."""

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
    """Signs of life: when the work was last seen to go on (monotonic seconds)."""

    def __init__(self, max_silent: float = MAX_SILENT_SECONDS) -> None:
        self._max_silent = max_silent
        self._last_seen = time.monotonic()

    def touch(self) -> None:
        """It goes on."""
        self._last_seen = time.monotonic()

    def is_alive(self) -> bool:
        """Was it seen lately?"""
        return time.monotonic() - self._last_seen < self._max_silent

    def wrap(self, progress: Progress) -> Progress:
        """The same progress, each step of which is a sign."""
        return _LivenessProgress(progress, self.touch)


class _LivenessProgress:
    """Progress that is passed on."""

    def __init__(self, progress: Progress, touch: Callable[[], None]) -> None:
        self._progress = progress
        self._touch = touch

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """See `Progress.task`."""
        self._touch()
        notify_systemd(f"STATUS={label}")
        with self._progress.task(label, total) as advance:

            def touch_and_advance(steps: int) -> None:
                self._touch()
                advance(steps)

            yield touch_and_advance

    @contextmanager
    def crawl_task(self) -> Iterator[ShowCrawlProgress | None]:
        """See `Progress.crawl_task`; where nobody watches, the crawl says lines by `note`."""
        self._touch()
        notify_systemd("STATUS=crawl")
        with self._progress.crawl_task() as show:
            yield show and self._wrap_show(show)

    def _wrap_show(self, show: ShowCrawlProgress) -> ShowCrawlProgress:
        def touch_and_advance(line: str, done: int, total: int) -> None:
            self._touch()
            show(line, done, total)

        return touch_and_advance

    def note(self, text: str) -> None:
        """See `Progress.note`."""
        self._touch()
        self._progress.note(text)
