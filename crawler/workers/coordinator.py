"""What a run has to agree on with the others that crawl the same table: who has which queues, how many pages are left,
and when all is done. `SingleProcessCoordinator` is the usual case, `shards` has several processes, `host_leases` machines."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from crawler.schedule.throttle import HostThrottle
from docstore.model import FrontierEntry


class Coordinator(Protocol):
    """The place of one run among all of a crawl."""

    def owns_queue(self, queue: int) -> bool:
        """Is this queue's work this run's?"""

    def has_page_budget(self) -> bool:
        """May one more page be fetched?"""

    def try_reserve_page(self) -> bool:
        """Take one of the pages that may still be fetched; False if another run was quicker."""

    def finish_page(self, is_success: bool) -> None:
        """A page that `try_reserve_page` granted is done; one that was not fetched well does not count."""

    def mark_busy(self) -> None:
        """There is something to do here."""

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Before the run begins: who knows how hosts are treated."""

    def request_slot(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Around a request in the turn of an entry: may it be sent? Called by many threads; may wait."""

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Threads are idle, and so many hosts have something waiting: is there something in other queues now?"""

    def check_finished(self) -> bool:
        """Called when there is nothing to do here: is there nothing anywhere? May wait a little."""


@dataclass
class SingleProcessCoordinator:
    """One process does it all."""

    max_pages: int = 0
    reserved_pages: int = 0

    def owns_queue(self, queue: int) -> bool:
        """Every queue."""
        return True

    def has_page_budget(self) -> bool:
        """As long as the limit is not reached."""
        return not self.max_pages or self.reserved_pages < self.max_pages

    def try_reserve_page(self) -> bool:
        """Count it."""
        self.reserved_pages += 1
        return True

    def finish_page(self, is_success: bool) -> None:
        """Only pages count."""
        self.reserved_pages -= not is_success

    def mark_busy(self) -> None:
        """Nobody else wants to know."""

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Nobody else asks these hosts."""

    def request_slot(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Always."""
        return nullcontext(True)

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Every queue is this run's already."""
        return False

    def check_finished(self) -> bool:
        """Yes."""
        return True
