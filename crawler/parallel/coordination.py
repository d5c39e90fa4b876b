"""What a run has to agree on with the others that crawl the same table: who has which queues, how many pages are left,
and when all is done. `SingleProcess` is the usual case; `crawler.parallel.shards` has the other."""

from dataclasses import dataclass
from typing import Protocol


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

    def all_done(self) -> bool:
        """Yes."""
        return True
