"""What a run has to agree on with the others that crawl the same table: who has which queues, how many pages are left,
and when all is done. `SingleProcess` is the usual case, `shards` has several processes, `leased_hosts` machines."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from crawler.schedule.throttle import HostThrottle
from docstore.model import FrontierEntry


class Coordinator(Protocol):
    """The place of one run among all of a crawl."""

    def mine(self, queue: int) -> bool:
        """Is this queue's work this run's?"""

    def has_room(self) -> bool:
        """May one more page be fetched?"""

    def may_start(self) -> bool:
        """Take one of the pages that may still be fetched; False if another run was quicker."""

    def ended(self, good: bool) -> None:
        """A page that `may_start` granted is done; one that was not fetched well does not count."""

    def is_busy(self) -> None:
        """There is something to do here."""

    def meet(self, throttle: HostThrottle) -> None:
        """Before the run begins: who knows how hosts are treated."""

    def turn(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Around a request in the turn of an entry: may it be sent? Called by many threads; may wait."""

    def takes_more(self, waiting: int) -> bool:
        """Threads are idle, and so many hosts have something waiting: is there something in other queues now?"""

    def all_done(self) -> bool:
        """Called when there is nothing to do here: is there nothing anywhere? May wait a little."""


@dataclass
class SingleProcess:
    """One process does it all."""

    limit: int = 0
    taken: int = 0

    def mine(self, queue: int) -> bool:
        """Every queue."""
        return True

    def has_room(self) -> bool:
        """As long as the limit is not reached."""
        return not self.limit or self.taken < self.limit

    def may_start(self) -> bool:
        """Count it."""
        self.taken += 1
        return True

    def ended(self, good: bool) -> None:
        """Only pages count."""
        self.taken -= not good

    def is_busy(self) -> None:
        """Nobody else wants to know."""

    def meet(self, throttle: HostThrottle) -> None:
        """Nobody else asks these hosts."""

    def turn(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Always."""
        return nullcontext(True)

    def takes_more(self, waiting: int) -> bool:
        """Every queue is this run's already."""
        return False

    def all_done(self) -> bool:
        """Yes."""
        return True
