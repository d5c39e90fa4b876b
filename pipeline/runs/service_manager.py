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

from pipeline.progress import Advance, Progress, Show

SILENT_SECONDS = 7200.0  # of work without a sign; some steps wait an hour for another process


def tell_service_manager(*lines: str) -> None:
    """Send lines as `READY=1`; where nobody asked for them, or nobody listens any more, do nothing."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if not place.startswith(("/", "@")):
        return
    text = "\n".join(" ".join(line.split()) for line in lines)
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as telling:
        telling.sendto(text.encode(), "\0" + place[1:] if place.startswith("@") else place)


def watchdog_seconds() -> float:
    """How often the watchdog of this process wants to be fed at least; 0: it has none."""
    wanted, meant_for = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not wanted.isdecimal() or (meant_for and meant_for != str(os.getpid())):
        return 0.0
    return int(wanted) / 1e6


class Heartbeat:
    """Feeds the watchdog twice as often as it wants, while `is_well`. Use with `with`."""

    def __init__(self, is_well: Callable[[], bool]) -> None:
        self._is_well = is_well
        self._every = watchdog_seconds() / 2
        self._stop = threading.Event()

    def __enter__(self) -> "Heartbeat":
        if self._every:
            threading.Thread(target=self._beat, name="watchdog", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()

    def _beat(self) -> None:
        while True:
            if self._is_well():
                tell_service_manager("WATCHDOG=1")
            if self._stop.wait(self._every):
                return


class Signs:
    """Signs of life: when the work was last seen to go on (monotonic seconds)."""

    def __init__(self, silent: float = SILENT_SECONDS) -> None:
        self._silent = silent
        self._seen_at = time.monotonic()

    def seen(self) -> None:
        """It goes on."""
        self._seen_at = time.monotonic()

    def is_well(self) -> bool:
        """Was it seen lately?"""
        return time.monotonic() - self._seen_at < self._silent

    def of(self, progress: Progress) -> Progress:
        """The same progress, each step of which is a sign."""
        return _Watched(progress, self.seen)


class _Watched:
    """Progress that is passed on."""

    def __init__(self, progress: Progress, seen: Callable[[], None]) -> None:
        self._progress = progress
        self._seen = seen

    @contextmanager
    def task(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """See `Progress.task`."""
        self._seen()
        tell_service_manager(f"STATUS={label}")
        with self._progress.task(label, total) as advance:

            def passed_on(steps: int) -> None:
                self._seen()
                advance(steps)

            yield passed_on

    @contextmanager
    def crawl(self) -> Iterator[Show | None]:
        """See `Progress.crawl`; where nobody watches, the crawl says lines by `note`."""
        self._seen()
        tell_service_manager("STATUS=crawl")
        with self._progress.crawl() as show:
            yield show and self._passed_on(show)

    def _passed_on(self, show: Show) -> Show:
        def passed_on(line: str, done: int, total: int) -> None:
            self._seen()
            show(line, done, total)

        return passed_on

    def note(self, text: str) -> None:
        """See `Progress.note`."""
        self._seen()
        self._progress.note(text)
