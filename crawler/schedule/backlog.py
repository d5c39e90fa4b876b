"""The backlog of a run by host: counted in the table at the start and updated during the run."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from domain.frontier import NewUrl, Visit


@runtime_checkable
class HostCountTable(Protocol):
    """A table that can count URLs by host."""

    def due_counts_by_host_and_queue(self, due_before: float, /) -> dict[tuple[str, int], int]:
        """Return (host, queue) -> number of due URLs."""

    def change_rates_by_host(self) -> dict[str, tuple[float, int]]:
        """Return the change rates by host.

        Each value is the sum of the rates in changes per second, and the number of articles that have one.
        """


@dataclass
class Backlog:
    """URLs that are due and not visited, by host. A redirect to a known URL is counted once too often.

    URLs in queues outside `owns_queue` are not counted: another process visits them.
    """

    due_by_host: Counter[str]
    owns_queue: Callable[[int], bool]

    @classmethod
    def from_table(cls, table: object, due_before: float, owns_queue: Callable[[int], bool]) -> "Backlog":
        """Count the due URLs of the table, or start at zero if the table cannot count."""
        due_by_host: Counter[str] = Counter()
        if isinstance(table, HostCountTable):
            for (host, queue), count in table.due_counts_by_host_and_queue(due_before).items():
                due_by_host[host] += count if owns_queue(queue) else 0
        return cls(due_by_host, owns_queue)

    def add_new_urls(self, new_urls: Iterable[NewUrl]) -> None:
        """Add new URLs of the table."""
        for new_url in new_urls:
            self.due_by_host[new_url.host] += self.owns_queue(new_url.queue)

    def mark_visited(self, visit: Visit) -> None:
        """Subtract a visited URL and add its new links."""
        host = visit.entry.host
        self.due_by_host[host] = max(self.due_by_host[host] - 1, 0)
        self.add_new_urls(visit.discovered_urls)
