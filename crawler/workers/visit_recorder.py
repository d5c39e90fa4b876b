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

from docstore.frontier.frontier_table import Visit

BATCH_SIZE = 64  # visits recorded at once
MAX_BATCH_AGE_SECONDS = 0.25  # seconds a visit waits to be recorded at most
MAX_QUEUED_BATCHES = 2  # batches; beside them one may be being recorded and one more be waiting to be handed in

Batch = Sequence[Visit]


class VisitRecorder:
    """Records visits in batches with `record`. Used by one thread; an error of `record` is raised by the next call.
    `batches_in_flight` batches are handed in and not yet taken from `take_recorded`."""

    def __init__(self, record: Callable[[Batch], None]) -> None:
        self._record = record
        self._batch_queue: queue.Queue[Batch | None] = queue.Queue(MAX_QUEUED_BATCHES)
        self._recorded_queue: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._errors: list[BaseException] = []
        self.batches_in_flight = 0
        self._pending: list[Visit] = []
        self._pending_since = 0.0
        self._thread = threading.Thread(target=self._worker_loop, name="crawl-recorder", daemon=True)
        self._thread.start()

    @property
    def has_unrecorded(self) -> bool:
        """Is there a visit that is not recorded yet, or a batch that was not taken from `take_recorded`?"""
        return bool(self._pending or self.batches_in_flight)

    def add(self, visit: Visit) -> None:
        """Have a visit recorded, with the next batch."""
        if not self._pending:
            self._pending_since = time.monotonic()
        self._pending.append(visit)
        if len(self._pending) >= BATCH_SIZE:
            self.flush()

    def flush(self, min_age_seconds: float = 0.0) -> None:
        """Hand in the visits that wait, if the first of them has waited for `min_age_seconds` seconds."""
        if self._pending and time.monotonic() - self._pending_since >= min_age_seconds:
            self.submit(self._pending)
            self._pending = []

    def submit(self, batch: Batch) -> None:
        """Have a batch recorded; waits while there are too many."""
        self.raise_if_failed()
        self._batch_queue.put(batch)
        self.batches_in_flight += 1

    def take_recorded(self, wait: bool = False) -> list[Batch]:
        """The batches recorded since the last call; with `wait` all that were handed in."""
        batches: list[Batch] = []
        while self.batches_in_flight and not self._errors:
            try:
                batches.append(self._recorded_queue.get(timeout=0.05) if wait else self._recorded_queue.get_nowait())
            except queue.Empty:
                if not wait:
                    break
                continue
            self.batches_in_flight -= 1
        if not batches:
            self.raise_if_failed()
        return batches

    @property
    def has_failed(self) -> bool:
        """Could a batch not be recorded?"""
        return bool(self._errors)

    def close(self) -> None:
        """End the thread once it has recorded what it was given."""
        if self._thread.is_alive():
            self._batch_queue.put(None)
        self._thread.join()

    def raise_if_failed(self) -> None:
        """Raise the error of a batch that could not be recorded."""
        if self._errors:
            raise self._errors[0]

    def _worker_loop(self) -> None:
        last: Batch | None = None
        while (batch := self._batch_queue.get()) is not None:
            if self._errors or batch is last:
                continue  # a later batch must not overtake one that is lost
            last = batch
            try:
                self._record(batch)
            except BaseException as error:  # noqa: BLE001 (raised again in the thread that asks)
                self._errors.append(error)
            else:
                self._recorded_queue.put(batch)
