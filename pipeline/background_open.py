"""Something that is opened beside other work, and how long that took."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class BackgroundOpener(Generic[T]):
    """`open_it` under way in a thread of its own, which ends with the process at the latest.

    `seconds` is how long it took, 0 while it is under way.
    """

    def __init__(self, open_function: Callable[[], T]) -> None:
        self.seconds = 0.0
        self._open_function = open_function
        self._future: Future[T] = Future()
        threading.Thread(target=self._open, name="opening", daemon=True).start()

    def result(self) -> T:
        """What was opened, as soon as it is; raises what `open_it` raised."""
        return self._future.result()

    def _open(self) -> None:
        started = time.monotonic()
        try:
            resource = self._open_function()
        except Exception as error:  # noqa: BLE001  # handed to whoever asks for the result
            self.seconds = time.monotonic() - started
            self._future.set_exception(error)
        else:
            self.seconds = time.monotonic() - started
            self._future.set_result(resource)
