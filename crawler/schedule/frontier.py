"""The frontier in memory: a bounded window over the table's queues that selects the next URL.

As in Heritrix, each queue has one fetch at a time. Queues and hosts alternate. The throttle of a host (`throttle.py`)
applies across its queues. Within a queue the best URLs come first, but a URL of a busy host does not block other
hosts. Used by one thread. Reads the table, never writes it.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from crawler.schedule.throttle import NO_KNOWN_START, HostThrottle
from domain.frontier import FrontierEntry, NewUrl, StoredRobots, UrlKind, Visit
from domain.page import Host, Origin

WINDOW_SIZE = 64  # URLs loaded from a queue at once
MAX_URLS_IN_MEMORY = 20_000  # total URLs in memory
_LIST_PAGE, _NEW_URL, _FETCHED_BEFORE = range(3)
_LIST_KINDS = (UrlKind.SEED, UrlKind.HUB)


@runtime_checkable
class CrawlTable(Protocol):
    """The store methods that the crawl needs: see `docstore.frontier.frontier_table.FrontierTable`."""

    def add_urls(self, new_urls: Sequence[NewUrl], /) -> int:
        """Add URLs. Returns the number of new ones."""

    def taken_down_urls(self, since: float, /) -> set[str]:
        """Return the URLs that were taken down at or after `since` (epoch seconds)."""

    def due_counts_by_queue(self, due_before: float, /) -> dict[int, int]:
        """Return queue -> number of due URLs."""

    def due_counts_by_host_and_queue(self, due_before: float, /) -> dict[tuple[Host, int], int]:
        """Return (host, queue) -> number of due URLs."""

    def change_rates_by_host(self) -> dict[Host, tuple[float, int]]:
        """Return the change rates by host.

        Each value is the sum of the rates in changes per second, and the number of articles that have one.
        """

    def due_entries(
        self, queue: int, due_before: float, limit: int, excluded_ids: Collection[int] = (), /, is_focused: bool = False
    ) -> list[FrontierEntry]:
        """Return the best URLs of a queue that are due before a time (epoch seconds), without those in flight.

        `is_focused` selects the order of a focused crawl.
        """

    def postpone_lists(self, host: Host, seconds: float, due_before: float, /) -> int:
        """Give the due list pages of a host that have no interval yet one of `seconds`. Returns their number.

        Front pages and pages whose interval has passed stay due.
        """

    def record_visits(self, visits: Sequence[Visit], /) -> None:
        """Record visits and their results in one transaction."""

    def known_urls(self, urls_to_find: Sequence[str], /) -> set[str]:
        """Return which of these URLs are in the table."""

    def iter_urls(self) -> Iterator[str]:
        """Iterate over all URLs of the table."""

    def url_count(self) -> int:
        """Return the number of URLs."""

    def find_robots(self, origin: Origin, /) -> StoredRobots | None:
        """Return the stored robots.txt of an origin, or None."""

    def save_robots(self, robots: StoredRobots, /) -> None:
        """Store the robots.txt of an origin."""

    def reassign_queues(self, policy_name: str, queue_for_url: Callable[[str], int], /) -> int:
        """Recompute the queue numbers if the policy changed. Returns the number of changed URLs."""

    def discount_spurious_changes(self, next_interval: Callable[[float], float], /) -> int:
        """Record visits that found new bytes but the same article as unchanged. Returns their number."""


@dataclass(frozen=True)
class Wait:
    """The seconds until a fetch may start. NO_KNOWN_START means that a running fetch must finish first."""

    seconds: float


class Frontier:
    """Returns due URLs, one at a time.

    URLs that are due after `due_before` are left to another run. Queues outside `owns_queue` belong to another process.
    """

    def __init__(
        self,
        table: CrawlTable,
        throttle: HostThrottle,
        due_before: float,
        owns_queue: Callable[[int], bool] = lambda queue: True,
    ) -> None:
        self._table = table
        self._throttle = throttle
        self._due_before = due_before
        self._owns_queue = owns_queue
        self._queues_with_more: set[int] = set()  # queues that may have more URLs in the table
        self._refill_order: deque[int] = deque()
        self.rescan()
        self._windows_by_host: dict[Host, dict[int, deque[FrontierEntry]]] = {}  # host -> queue -> entries, best first
        # Queue -> url_ids that are in the window, in flight or not yet recorded.
        self._claimed_ids_by_queue: dict[int, set[int]] = {}
        self._window_size = 0
        self._busy_queues: set[int] = set()
        self._ready_heap: list[
            tuple[float, int, Host]
        ] = []  # heap of (time when the host may be ready, tie breaker, host)
        self._hosts_in_heap: set[str] = set()
        self._tie_breaker = itertools.count()
        # Queue -> ready hosts that wait only for this queue.
        self._hosts_blocked_by_queue: dict[int, set[str]] = {}

    def take_next(self, now: float) -> FrontierEntry | Wait | None:
        """Return the next URL to fetch, a Wait if none may start yet, or None if no URL is due or in flight."""
        entry = self._next_ready(now)
        while entry is None and self._refill():
            entry = self._next_ready(now)
        if entry is not None:
            self._busy_queues.add(entry.queue)
            self._throttle.start_request(entry.host, now)
            return entry
        if self._windows_by_host or self._busy_queues:
            return Wait(max(self._ready_heap[0][0] - now, 0.0) if self._ready_heap else NO_KNOWN_START)
        return None

    @property
    def waiting_hosts(self) -> int:
        """Number of hosts with URLs in memory."""
        return len(self._windows_by_host)

    def finish(self, entry: FrontierEntry) -> None:
        """Release queue and host of `entry` after its fetch. Call it after the throttle is updated."""
        self._busy_queues.discard(entry.queue)
        for host in (entry.host, *self._hosts_blocked_by_queue.pop(entry.queue, ())):
            self.wake_host(host)

    def wake_host(self, host: Host) -> None:
        """Make a host available after a request that is not a page fetch. Call it after the throttle is updated."""
        if host in self._windows_by_host and host not in self._hosts_in_heap:
            self._push_host(host, 0.0)

    def put_back(self, entry: FrontierEntry) -> None:
        """Return an unfetched entry to the front of its queue and release its queue and host."""
        self.retry(entry)
        self.finish(entry)

    def abandon(self, entry: FrontierEntry) -> None:
        """Release an entry that is not fetched, because another crawler has its queue. It stays due in the table."""
        self._claimed_ids_by_queue.get(entry.queue, set()).discard(entry.url_id)
        self.finish(entry)

    def release_queue(self, queue: int) -> None:
        """Forget the waiting entries of a queue that this crawler no longer owns. They stay due in the table."""
        for host in [host for host, queues in self._windows_by_host.items() if queue in queues]:
            self._drop_window(host, queue)
        if queue in self._queues_with_more:
            self._queues_with_more.remove(queue)
            self._refill_order.remove(queue)

    def retry(self, entry: FrontierEntry) -> None:
        """Add an entry to the front of its queue for another fetch."""
        self._window_for(entry).appendleft(entry)
        self._window_size += 1

    def mark_recorded(self, visits: Iterable[Visit]) -> None:
        """Handle recorded visits: their URLs may be loaded again later, and the table contains their new links."""
        for visit in visits:
            self._claimed_ids_by_queue.get(visit.entry.queue, set()).discard(visit.entry.url_id)
            links = [link for link in visit.discovered_urls if self._owns_queue(link.queue)]
            self.mark_changed(link.queue for link in links)
            self._prefer_new_urls(links)

    def _prefer_new_urls(self, links: Iterable[NewUrl]) -> None:
        """Load new URLs at once if a host has only revisits in memory, so that new URLs come first."""
        queues: dict[Host, set[int]] = {}
        for link in links:
            queues.setdefault(link.host, set()).add(link.queue)
        for host, host_queues in queues.items():
            waiting = self._windows_by_host.get(host, {})
            if waiting and all(_priority_class(entries[0]) == _FETCHED_BEFORE for entries in waiting.values()):
                for queue in host_queues & self._queues_with_more:
                    if queue in self._windows_by_host.get(host, {}):
                        self._drop_window(host, queue)
                    self._load_window(queue)

    def _drop_window(self, host: Host, queue: int) -> None:
        entries = self._windows_by_host[host].pop(queue)
        self._claimed_ids_by_queue[queue].difference_update(entry.url_id for entry in entries)
        self._window_size -= len(entries)
        if not self._windows_by_host[host]:
            del self._windows_by_host[host]

    def mark_changed(self, queues: Iterable[int]) -> None:
        """Mark queues that may have more URLs in the table."""
        for queue in queues:
            if queue not in self._queues_with_more:
                self._queues_with_more.add(queue)
                self._refill_order.append(queue)

    def rescan(self) -> None:
        """Check all owned queues for due URLs, because other processes may have added some."""
        self.mark_changed(
            sorted(queue for queue in self._table.due_counts_by_queue(self._due_before) if self._owns_queue(queue))
        )

    def reload_host(self, host: Host) -> None:
        """Reload the entries of a host whose due times changed in the table."""
        for queue in tuple(self._windows_by_host.get(host, ())):
            self._drop_window(host, queue)
            self.mark_changed((queue,))

    def _next_ready(self, now: float) -> FrontierEntry | None:
        """Return the first URL with a ready host and a free queue, or None.

        A host whose delay has not passed returns to the heap. A host that waits for a running fetch leaves it until
        `finish`.
        """
        while self._ready_heap and self._ready_heap[0][0] <= now:
            host = heapq.heappop(self._ready_heap)[2]
            self._hosts_in_heap.discard(host)
            if host not in self._windows_by_host:
                continue
            start = self._throttle.earliest_start(host, now)
            if start > now:
                if start < NO_KNOWN_START:
                    self._push_host(host, start)
                continue
            entry = self._pop_from_free_queue(host)
            if entry is not None:
                if host in self._windows_by_host:
                    self._push_host(host, now)
                return entry
            for queue in self._windows_by_host.get(host, ()):
                self._hosts_blocked_by_queue.setdefault(queue, set()).add(host)
        return None

    def _pop_from_free_queue(self, host: Host) -> FrontierEntry | None:
        queues = self._windows_by_host.get(host, {})
        free_queue = min(
            (queue for queue in queues if queue not in self._busy_queues),
            key=lambda queue_number: _priority_class(queues[queue_number][0]),
            default=None,
        )
        if free_queue is None:
            return None
        entries = queues.pop(free_queue)
        entry = entries.popleft()
        self._window_size -= 1
        if entries:
            queues[free_queue] = entries  # moved to the end, so that queues of equal priority alternate
        if not queues:
            del self._windows_by_host[host]
        return entry

    def _refill(self) -> bool:
        """Load more URLs into every free queue that has some. Returns False if there were none."""
        size_before = self._window_size
        for _ in range(len(self._refill_order)):
            if self._window_size >= MAX_URLS_IN_MEMORY:
                break
            queue = self._refill_order.popleft()
            if queue in self._busy_queues or self._load_window(queue):
                self._refill_order.append(queue)
            else:
                self._queues_with_more.discard(queue)
        return self._window_size > size_before

    def _load_window(self, queue: int) -> bool:
        claimed_ids = self._claimed_ids_by_queue.setdefault(queue, set())
        entries = self._table.due_entries(queue, self._due_before, WINDOW_SIZE, claimed_ids)
        for entry in entries:
            claimed_ids.add(entry.url_id)
            self._window_for(entry).append(entry)
        self._window_size += len(entries)
        return len(entries) == WINDOW_SIZE

    def _window_for(self, entry: FrontierEntry) -> deque[FrontierEntry]:
        if entry.host not in self._hosts_in_heap:
            self._push_host(entry.host, 0.0)
        return self._windows_by_host.setdefault(entry.host, {}).setdefault(entry.queue, deque())

    def _push_host(self, host: Host, ready_at: float) -> None:
        heapq.heappush(self._ready_heap, (ready_at, next(self._tie_breaker), host))
        self._hosts_in_heap.add(host)


def _priority_class(entry: FrontierEntry) -> int:
    """Return the class of an entry: list page, new URL or revisit, as in docstore/frontier/due_order.py."""
    if entry.kind in _LIST_KINDS:
        return _LIST_PAGE
    return _FETCHED_BEFORE if entry.gap or entry.attempts else _NEW_URL
