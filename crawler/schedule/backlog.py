"""How much of each host a run has still to ask: counted in the table when it begins, kept up while it goes on."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from docstore.frontier.table import NewUrl, Visit


@runtime_checkable
class CountedTable(Protocol):
    """A table that can count by host."""

    def due_at_hosts(self, before: float, /) -> dict[tuple[str, int], int]:
        """(host, queue) -> how many of its URLs are due."""

    def change_rates(self) -> dict[str, tuple[float, int]]:
        """Host -> the sum of its articles' rates of change (changes a second), and how many articles have one."""


@dataclass
class Backlog:
    """URLs that are due and not visited yet, by host. A redirect to what is known counts for one more than there is."""

    left: Counter[str]

    @classmethod
    def of(cls, table: object, before: float, is_mine: Callable[[int], bool]) -> "Backlog":
        """What the table has; nothing, where it cannot count."""
        counted: Counter[str] = Counter()
        if isinstance(table, CountedTable):
            for (host, queue), count in table.due_at_hosts(before).items():
                counted[host] += count if is_mine(queue) else 0
        return cls(counted)

    @property
    def total(self) -> int:
        """Of all hosts."""
        return self.left.total()

    def found(self, new: Iterable[NewUrl]) -> None:
        """URLs that are added to the table."""
        for one in new:
            self.left[one.host] += 1

    def visited(self, visit: Visit) -> None:
        """A visit is over; its links are new URLs."""
        host = visit.entry.host
        self.left[host] = max(self.left[host] - 1, 0)
        self.found(visit.links)
