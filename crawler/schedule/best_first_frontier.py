"""The frontier of a focused crawl: selects the best URL of all hosts that may be fetched now.

Fairness comes from the throttle only: while a host waits for its delay, the best URL of another host is fetched.
Priorities change with every page. A queue whose rows changed in the table is therefore reloaded.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable

from crawler.schedule.frontier import MAX_URLS_IN_MEMORY, WINDOW_SIZE, CrawlTable, Frontier
from crawler.schedule.throttle import NO_KNOWN_START, HostThrottle
from domain.frontier import FrontierEntry, Visit, is_off_topic
from domain.page import Host

_MIN_WINDOW_SIZE = 4


class BestFirstFrontier(Frontier):
    """A `Frontier` in best-first order.

    Each host has one queue (`build_crawl_plan`). `queue_of(url)` returns its number.
    """

    def __init__(
        self,
        table: CrawlTable,
        throttle: HostThrottle,
        due_before: float,
        queue_of: Callable[[str], int],
        owns_queue: Callable[[int], bool] = lambda queue: True,
    ) -> None:
        self._stale_queues: set[int] = set()  # queues that may have a better URL in the table than in the window
        self._hosts_by_queue: dict[int, set[Host]] = {}  # queue -> hosts in the window; usually one
        self._queue_of = queue_of
        super().__init__(table, throttle, due_before, owns_queue)

    def mark_recorded(self, visits: Iterable[Visit]) -> None:
        """Handle recorded visits: the table has new URLs, and new priorities of known URLs."""
        visits = list(visits)
        super().mark_recorded(visits)
        changed = {url for visit in visits if visit.focused_decision for url in visit.focused_decision.priorities}
        self.mark_changed({queue for queue in map(self._queue_of, changed) if self._owns_queue(queue)})

    def mark_changed(self, queues: Iterable[int]) -> None:
        """Mark queues that changed in the table."""
        self._stale_queues.update(queues)

    def _refill(self) -> bool:
        """Do nothing: `_next_ready` loads all changed queues."""
        return False

    def _next_ready(self, now: float) -> FrontierEntry | None:
        for queue in sorted(self._stale_queues):
            self._reload_queue(queue)
        self._stale_queues.clear()
        best: FrontierEntry | None = None
        soonest = NO_KNOWN_START
        queue_heads = (
            entries[0]
            for queues in self._windows_by_host.values()
            for queue, entries in queues.items()
            if queue not in self._busy_queues
        )
        for entry in queue_heads:
            start = self._throttle.earliest_start(entry.host, now)
            if start <= now:
                best = entry if best is None or _sort_key(entry) < _sort_key(best) else best
            soonest = min(soonest, start)
        if best is not None:
            self._remove_head(best)
            return best
        self._ready_heap = [(soonest, 0, Host(""))] if soonest < NO_KNOWN_START else []
        return None

    def _remove_head(self, entry: FrontierEntry) -> None:
        """Remove an entry from the window. An empty queue is reloaded."""
        queues = self._windows_by_host[entry.host]
        entries = queues[entry.queue]
        entries.popleft()
        self._window_size -= 1
        if not entries:
            del queues[entry.queue]
            self._stale_queues.add(entry.queue)
        if not queues:
            del self._windows_by_host[entry.host]

    def _reload_queue(self, queue: int) -> None:
        for host in self._hosts_by_queue.pop(queue, ()):
            entries: Collection[FrontierEntry] = self._windows_by_host.get(host, {}).pop(queue, ())
            self._claimed_ids_by_queue[queue].difference_update(entry.url_id for entry in entries)
            self._window_size -= len(entries)
            if host in self._windows_by_host and not self._windows_by_host[host]:
                del self._windows_by_host[host]
        claimed_ids = self._claimed_ids_by_queue.setdefault(queue, set())
        size = max(min(WINDOW_SIZE, MAX_URLS_IN_MEMORY // max(len(self._hosts_by_queue), 1)), _MIN_WINDOW_SIZE)
        for entry in self._table.due_entries(queue, self._due_before, size, claimed_ids, is_focused=True):
            claimed_ids.add(entry.url_id)
            self._window_for(entry).append(entry)
            self._window_size += 1

    def _window_for(self, entry: FrontierEntry) -> deque[FrontierEntry]:
        self._hosts_by_queue.setdefault(entry.queue, set()).add(entry.host)
        return super()._window_for(entry)

    def _push_host(self, host: Host, ready_at: float) -> None:
        """Do nothing: hosts do not alternate."""


def _sort_key(entry: FrontierEntry) -> tuple[bool, float, int]:
    """Sort order: on-topic entries first, then by priority, then by id."""
    return is_off_topic(entry), -entry.priority, entry.url_id
