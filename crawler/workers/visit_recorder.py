"""Records visits in a separate thread, so that compression and commits do not delay fetches.

Batches are recorded in order. The number of batches in flight is bounded: `submit` blocks when the queue is full.
After KeyboardInterrupt the counters may be wrong. Submit the last batch again (a repeated batch is recorded once), then
call `close`.
"""

import queue
import time
from collections.abc import Callable, Sequence

from domain.frontier import Visit
from locks.fences import start_thread

BATCH_SIZE = 64  # visits recorded at once
BATCH_BYTES = 8_000_000  # bodies and links of a batch; a larger visit is recorded by itself
MAX_BATCH_AGE_SECONDS = 0.25  # maximum wait of a visit
MAX_QUEUED_BATCHES = 2  # one more may be in recording, and one more blocked in `submit`

Batch = Sequence[Visit]


class VisitRecorder:
    """Records visits in batches with `record`. Used by one thread. The next call raises the error of a failed `record`.

    `batches_in_flight` counts the submitted batches that `take_recorded` has not returned yet.
    """

    def __init__(self, record: Callable[[Batch], None]) -> None:
        self._record = record
        self._batch_queue: queue.Queue[Batch | None] = queue.Queue(MAX_QUEUED_BATCHES)
        self._recorded_queue: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._errors: list[BaseException] = []
        self.batches_in_flight = 0
        self._pending: list[Visit] = []
        self._pending_bytes = 0
        self._pending_since = 0.0
        self._thread = start_thread(self._worker_loop, "crawl-recorder")

    @property
    def has_unrecorded(self) -> bool:
        """True if a visit is not recorded, or a recorded batch was not yet returned by `take_recorded`."""
        return bool(self._pending or self.batches_in_flight)

    def add(self, visit: Visit, size: int = 0) -> None:
        """Add a visit of `size` bytes of memory to the next batch."""
        if self._pending_bytes + size > BATCH_BYTES:
            self.flush()
        if not self._pending:
            self._pending_since = time.monotonic()
        self._pending.append(visit)
        self._pending_bytes += size
        if len(self._pending) >= BATCH_SIZE:
            self.flush()

    def flush(self, min_age_seconds: float = 0.0) -> None:
        """Submit the pending visits if the first has waited at least `min_age_seconds`."""
        if self._pending and time.monotonic() - self._pending_since >= min_age_seconds:
            self.submit(self._pending)
            self._pending, self._pending_bytes = [], 0

    def submit(self, batch: Batch) -> None:
        """Queue a batch for recording. Blocks while the queue is full."""
        self.raise_if_failed()
        self._batch_queue.put(batch)
        self.batches_in_flight += 1

    def take_recorded(self, wait: bool = False) -> list[Batch]:
        """Return the batches recorded since the last call. With `wait`, wait for all submitted batches."""
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
        """True if a batch could not be recorded."""
        return bool(self._errors)

    def close(self) -> None:
        """Stop the thread after it has recorded all submitted batches."""
        if self._thread.is_alive():
            self._batch_queue.put(None)
        self._thread.join()

    def raise_if_failed(self) -> None:
        """Raise the error of a batch that could not be recorded."""
        if self._errors:
            raise self._errors[0]

    def _worker_loop(self) -> None:
        last_batch: Batch | None = None
        while (batch := self._batch_queue.get()) is not None:
            if self._errors or batch is last_batch:
                continue  # a later batch must not overtake a lost one
            last_batch = batch
            try:
                self._record(batch)
            except BaseException as error:  # noqa: BLE001 (raised again in the calling thread)
                self._errors.append(error)
            else:
                self._recorded_queue.put(batch)
