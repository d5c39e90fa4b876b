"""One limit for the memory of all bodies in a crawl, from the first bytes of a body until its page is recorded.

A thread that needs more than the limit waits in a queue. The first of the queue may exceed the limit if no other
reservation does, and then it never waits. So threads cannot wait for each other in a circle, and a body larger than the
limit is processed. The total is at most the limit plus one reservation.
"""

import ctypes
import threading
import time
from collections import deque
from contextlib import suppress

MEMORY_BUDGET_BYTES = 64_000_000  # of one crawl
UNCOUNTED_BYTES = 1 << 16  # smaller bodies are not counted, so ordinary pages neither wait nor lock
LARGE_BODY_BYTES = 1 << 20  # parsing a body of this size is followed by `release_free_memory`
_M_MMAP_THRESHOLD = -3  # of malloc.h


class MemoryBudget:
    """Counts the reserved bytes of all threads. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.reserved_bytes = 0
        self._changed = threading.Condition()
        self._queue: deque[Reservation] = deque()
        self._over_limit: Reservation | None = None  # the reservation that may exceed the limit
        self._is_closed = False

    def close(self) -> None:
        """End all waits, now and later, so that no thread outlives the crawl."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def resize(self, reservation: "Reservation", size: int) -> None:
        """Set the size of a reservation in bytes. Waits while it grows and the budget is exhausted."""
        with self._changed:
            if size > reservation.size and (self._queue or not self._can_grow(reservation, size)):
                self._queue.append(reservation)
                self._changed.wait_for(lambda: self._can_grow(reservation, size))
                self._queue.remove(reservation)
            self.reserved_bytes += size - reservation.size
            reservation.size = size
            if self.reserved_bytes <= self.limit_bytes:
                self._over_limit = None
            elif self._over_limit is None:
                self._over_limit = reservation
            self._changed.notify_all()

    def _can_grow(self, reservation: "Reservation", size: int) -> bool:
        if self._is_closed or reservation is self._over_limit:
            return True
        if self._queue and self._queue[0] is not reservation:
            return False
        return self._over_limit is None or self.reserved_bytes + size - reservation.size <= self.limit_bytes


class Reservation:
    """The part of the budget that one body occupies, in bytes. Used by one thread at a time."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.size = 0

    def resize(self, size: int) -> float:
        """Reserve `size` bytes instead of the current size. Returns the seconds that it waited for other bodies."""
        if size <= UNCOUNTED_BYTES:
            size = 0
        if size == self.size:
            return 0.0
        started = time.monotonic()
        self._budget.resize(self, size)
        return time.monotonic() - started

    def release(self) -> None:
        """End the reservation. The body must not be used any more."""
        self.resize(0)

    def __enter__(self) -> "Reservation":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def return_large_blocks() -> None:
    """Make glibc return every block of LARGE_BODY_BYTES to the system as soon as it is freed, in this process.

    By default glibc keeps such blocks after it has freed the first one.
    """
    with suppress(OSError, AttributeError):  # only glibc has mallopt
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BODY_BYTES)


def release_free_memory() -> None:
    """Return free heap memory to the system. Without it, each thread keeps the memory of its largest page."""
    with suppress(OSError, AttributeError):  # only glibc has malloc_trim
        ctypes.CDLL(None).malloc_trim(0)
