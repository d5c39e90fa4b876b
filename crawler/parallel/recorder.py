"""Visits are recorded in a thread of their own: compressing and committing must not hold up the next fetches.

Batches are recorded in the order in which they came. What is under way is bounded: who hands in more has to wait.
Ctrl-C may fall between any two steps of who hands in, so that afterwards the counts here may be wrong: then hand in
again what may not have been (a batch handed in twice in a row is recorded once), and `close`, which waits for the
thread and for no count.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence

from docstore.frontier.table import Visit

BATCH = 64  # visits recorded at once
BATCH_AGE = 0.25  # seconds a visit waits to be recorded at most
MAX_WAITING = 2  # batches; beside them one may be being recorded and one more be waiting to be handed in

Batch = Sequence[Visit]


class Recorder:
    """Records visits in batches with `record`. Used by one thread; an error of `record` is raised by the next call.
    `under_way` batches are handed in and not yet taken from `recorded`."""

    def __init__(self, record: Callable[[Batch], None]) -> None:
        self._record = record
        self._waiting: queue.Queue[Batch | None] = queue.Queue(MAX_WAITING)
        self._recorded: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._failed: list[BaseException] = []
        self.under_way = 0
        self._pending: list[Visit] = []
        self._pending_since = 0.0
        self._thread = threading.Thread(target=self._run, name="crawl-recorder", daemon=True)
        self._thread.start()

    @property
    def has_work(self) -> bool:
        """Is there a visit that is not recorded yet, or a batch that was not taken from `recorded`?"""
        return bool(self._pending or self.under_way)

    def add(self, visit: Visit) -> None:
        """Have a visit recorded, with the next batch."""
        if not self._pending:
            self._pending_since = time.monotonic()
        self._pending.append(visit)
        if len(self._pending) >= BATCH:
            self.flush()

    def flush(self, age: float = 0.0) -> None:
        """Hand in the visits that wait, if the first of them has waited for `age` seconds."""
        if self._pending and time.monotonic() - self._pending_since >= age:
            self.submit(self._pending)
            self._pending = []

    def submit(self, batch: Batch) -> None:
        """Have a batch recorded; waits while there are too many."""
        self.check()
        self._waiting.put(batch)
        self.under_way += 1

    def recorded(self, wait: bool = False) -> list[Batch]:
        """The batches recorded since the last call; with `wait` all that were handed in."""
        found: list[Batch] = []
        while self.under_way and not self._failed:
            try:
                found.append(self._recorded.get(timeout=0.05) if wait else self._recorded.get_nowait())
            except queue.Empty:
                if not wait:
                    break
                continue
            self.under_way -= 1
        if not found:
            self.check()
        return found

    @property
    def has_failed(self) -> bool:
        """Could a batch not be recorded?"""
        return bool(self._failed)

    def close(self) -> None:
        """End the thread once it has recorded what it was given."""
        if self._thread.is_alive():
            self._waiting.put(None)
        self._thread.join()

    def check(self) -> None:
        """Raise the error of a batch that could not be recorded."""
        if self._failed:
            raise self._failed[0]

    def _run(self) -> None:
        last: Batch | None = None
        while (batch := self._waiting.get()) is not None:
            if self._failed or batch is last:
                continue  # a later batch must not overtake one that is lost
            last = batch
            try:
                self._record(batch)
            except BaseException as error:  # noqa: BLE001 (raised again in the thread that asks)
                self._failed.append(error)
            else:
                self._recorded.put(batch)
