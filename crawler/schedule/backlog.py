"""How much of each host a run has still to ask: counted in the table when it begins, kept up while it goes on."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from docstore.frontier.frontier_table import NewUrl, Visit


@runtime_checkable
class HostCountTable(Protocol):
    """A table that can count by host."""

    def due_counts_by_host_and_queue(self, due_before: float, /) -> dict[tuple[str, int], int]:
        """(host, queue) -> how many of its URLs are due."""

    def change_rates_by_host(self) -> dict[str, tuple[float, int]]:
        """Host -> the sum of its articles' rates of change (changes a second), and how many articles have one."""


@dataclass
class Backlog:
    """URLs that are due and not visited yet, by host. A redirect to what is known counts for one more than there is."""

    due_by_host: Counter[str]

    @classmethod
    def from_table(cls, table: object, due_before: float, owns_queue: Callable[[int], bool]) -> "Backlog":
        """What the table has; nothing, where it cannot count."""
        due_by_host: Counter[str] = Counter()
        if isinstance(table, HostCountTable):
            for (host, queue), count in table.due_counts_by_host_and_queue(due_before).items():
                due_by_host[host] += count if owns_queue(queue) else 0
        return cls(due_by_host)

    @property
    def total(self) -> int:
        """Of all hosts."""
        return self.due_by_host.total()

    def add_new_urls(self, new_urls: Iterable[NewUrl]) -> None:
        """URLs that are added to the table."""
        for new_url in new_urls:
            self.due_by_host[new_url.host] += 1

    def mark_visited(self, visit: Visit) -> None:
        """A visit is over; its links are new URLs."""
        host = visit.entry.host
        self.due_by_host[host] = max(self.due_by_host[host] - 1, 0)
        self.add_new_urls(visit.discovered_urls)
