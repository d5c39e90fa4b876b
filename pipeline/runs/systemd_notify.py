"""Notifications to systemd (`Type=notify`): sd_notify(3), over the socket in NOTIFY_SOCKET.

Without the variable nothing is sent. A thread feeds the watchdog (`WatchdogSec`) while the work shows progress. systemd
restarts a program that hangs, and the program then resumes its run.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

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

    def __exit__(self, *_: object) -> None:
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
