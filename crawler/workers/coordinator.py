"""Coordination of crawlers on the same table: ownership of queues, remaining pages, and the end of the crawl.

`Coordinator` serves a crawl of one machine. `host_leases` coordinates machines.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext

from crawler.schedule.throttle import HostThrottle
from domain.frontier import FrontierEntry


class Coordinator:
    """Coordinates this crawler with others on the same table. Without others, it owns every queue.

    Args:
        max_pages: maximum number of fetched pages; 0: no limit.
    """

    def __init__(self, max_pages: int = 0) -> None:
        self.max_pages = max_pages
        self.reserved_pages = 0

    def owns_queue(self, queue: int) -> bool:
        """True if this crawler processes the queue."""
        return True

    def acquire_queue(self, queue: int) -> bool:
        """Acquire a queue that no other crawler has. Returns True if this crawler owns it now."""
        return self.owns_queue(queue)

    def has_page_budget(self) -> bool:
        """True if one more page may be fetched."""
        return not self.max_pages or self.reserved_pages < self.max_pages

    def try_reserve_page(self) -> bool:
        """Reserve one of the remaining pages. Returns False if none is left."""
        self.reserved_pages += 1
        return True

    def finish_page(self, is_success: bool) -> None:
        """Finish a reserved page. A page that was not fetched successfully returns its reservation."""
        self.reserved_pages -= not is_success

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Pass the throttle, before the crawl starts."""

    def request_slot(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Return a context manager around a request for `entry`. It yields False if the request must not be sent.

        Called by many threads. May block.
        """
        return nullcontext(True)

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Acquire more queues for idle threads.

        `waiting_hosts` hosts have pending URLs. Returns True if there were any.
        """
        return False

    def take_lost_queues(self) -> Collection[int]:
        """Return the queues that this crawler has lost to others since the last call."""
        return ()

    def check_finished(self) -> bool:
        """Return True if no crawler has work. Call it only without work of its own. May wait briefly."""
        return True
