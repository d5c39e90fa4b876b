"""Coordination of crawlers on the same table: ownership of queues, remaining pages, and the end of the crawl.

`SingleProcessCoordinator` is the usual case. `process_shards` coordinates processes, `host_leases` machines.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from crawler.schedule.throttle import HostThrottle
from domain.frontier import FrontierEntry


class Coordinator(Protocol):
    """Coordinates this crawler with others on the same table."""

    def owns_queue(self, queue: int) -> bool:
        """True if this crawler processes the queue."""

    def acquire_queue(self, queue: int) -> bool:
        """Acquire a queue that no other crawler has. Returns True if this crawler owns it now."""

    def has_page_budget(self) -> bool:
        """True if one more page may be fetched."""

    def try_reserve_page(self) -> bool:
        """Reserve one of the remaining pages. Returns False if none is left."""

    def finish_page(self, is_success: bool) -> None:
        """Finish a reserved page. A page that was not fetched successfully returns its reservation."""

    def mark_busy(self) -> None:
        """Report that this crawler has work."""

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Pass the throttle, before the crawl starts."""

    def request_slot(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Return a context manager around a request for `entry`. It yields False if the request must not be sent.

        Called by many threads. May block.
        """

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Acquire more queues for idle threads.

        `waiting_hosts` hosts have pending URLs. Returns True if there were any.
        """

    def take_lost_queues(self) -> Collection[int]:
        """Return the queues that this crawler has lost to others since the last call."""

    def check_finished(self) -> bool:
        """Return True if no crawler has work. Call it only without work of its own. May wait briefly."""


@dataclass
class SingleProcessCoordinator:
    """Coordinator of a crawl with a single process."""

    max_pages: int = 0
    reserved_pages: int = 0

    def owns_queue(self, queue: int) -> bool:
        """Return True: this process owns every queue."""
        return True

    def acquire_queue(self, queue: int) -> bool:
        """Return True: this process owns every queue."""
        return True

    def has_page_budget(self) -> bool:
        """True until the page limit is reached."""
        return not self.max_pages or self.reserved_pages < self.max_pages

    def try_reserve_page(self) -> bool:
        """Count the page. Returns True."""
        self.reserved_pages += 1
        return True

    def finish_page(self, is_success: bool) -> None:
        """Uncount a page that was not fetched successfully."""
        self.reserved_pages -= not is_success

    def mark_busy(self) -> None:
        """Do nothing: there are no other crawlers."""

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Do nothing: there are no other crawlers."""

    def request_slot(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Yield True: every request may be sent."""
        return nullcontext(True)

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Return False: this process already owns every queue."""
        return False

    def take_lost_queues(self) -> Collection[int]:
        """Return nothing: queues stay with this process."""
        return ()

    def check_finished(self) -> bool:
        """Return True: no other crawler has work."""
        return True
