"""Open a resource in a background thread and measure the time."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class BackgroundOpener(Generic[T]):
    """Calls `open_function` in a daemon thread, started at once.

    Attributes:
        seconds: Duration of the call, 0 while it runs.
    """

    def __init__(self, open_function: Callable[[], T]) -> None:
        self.seconds = 0.0
        self._open_function = open_function
        self._future: Future[T] = Future()
        threading.Thread(target=self._open, name="opening", daemon=True).start()

    def result(self) -> T:
        """Wait for the call; returns its result or raises its exception."""
        return self._future.result()

    def _open(self) -> None:
        started = time.monotonic()
        try:
            resource = self._open_function()
        except Exception as error:  # noqa: BLE001  # raised by result()
            self.seconds = time.monotonic() - started
            self._future.set_exception(error)
        else:
            self.seconds = time.monotonic() - started
            self._future.set_result(resource)
