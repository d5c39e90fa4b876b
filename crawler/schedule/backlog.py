"""The backlog of a run by host: counted in the table at the start and updated during the run."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from crawler.schedule.frontier import CrawlTable
from domain.frontier import NewUrl, Visit


@dataclass
class Backlog:
    """URLs that are due and not visited, by host. A redirect to a known URL is counted once too often.

    URLs in queues outside `owns_queue` are not counted: another process visits them.
    """

    due_by_host: Counter[str]
    owns_queue: Callable[[int], bool]

    @classmethod
    def from_table(cls, table: CrawlTable, due_before: float, owns_queue: Callable[[int], bool]) -> "Backlog":
        """Count the due URLs of the table."""
        due_by_host: Counter[str] = Counter()
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
