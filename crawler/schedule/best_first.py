"""The frontier of a focused crawl: of all hosts that may be asked now, the best URL of all.

Fairness comes from the hosts' manners alone: while one rests, the next best host has its turn. Priorities change with
every page, so what waits in memory is read anew wherever the table has changed.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable

from crawler.schedule.frontier import WIDEST, WINDOW, CrawlTable, Frontier
from crawler.schedule.throttle import NEVER, HostThrottle
from docstore.frontier.order import is_off_topic
from docstore.frontier.table import Visit
from docstore.model import FrontierEntry, Host

_MIN_WINDOW = 4


class BestFirst(Frontier):
    """See `Frontier`. Every host has one queue (`plan_of`); `queue_of` says which is a URL'."""

    def __init__(
        self,
        table: CrawlTable,
        throttle: HostThrottle,
        before: float,
        queue_of: Callable[[str], int],
        mine: Callable[[int], bool] = lambda queue: True,
    ) -> None:
        self._stale: set[int] = set()  # queues of which the table may have something better than the window
        self._hosts: dict[int, set[Host]] = {}  # queue -> hosts in the window; mostly one
        self._queue_of = queue_of
        super().__init__(table, throttle, before, mine)

    def recorded(self, visits: Iterable[Visit]) -> None:
        """Visits are in the table, with new URLs and new priorities of known ones."""
        visits = list(visits)
        super().recorded(visits)
        changed = {url for visit in visits if visit.guidance for url in visit.guidance.priorities}
        self.expect({queue for queue in map(self._queue_of, changed) if self._mine(queue)})

    def expect(self, queues: Iterable[int]) -> None:
        """The table has something new in these queues."""
        self._stale.update(queues)

    def _refill(self) -> bool:
        """`_next` has read all that there is to read."""
        return False

    def _next(self, now: float) -> FrontierEntry | None:
        for queue in sorted(self._stale):
            self._renew(queue)
        self._stale.clear()
        best: FrontierEntry | None = None
        soonest = NEVER
        for entry in self._first_of_each():
            start = self._gate.next_start(entry.host, now)
            if start <= now:
                best = entry if best is None or _rank(entry) < _rank(best) else best
            soonest = min(soonest, start)
        if best is not None:
            self._drop(best)
            return best
        self._ready = [(soonest, 0, Host(""))] if soonest < NEVER else []
        return None

    def _first_of_each(self) -> Iterable[FrontierEntry]:
        """The best URL of each queue that is free."""
        for queues in self._waiting.values():
            for queue, entries in queues.items():
                if queue not in self._busy:
                    yield entries[0]

    def _drop(self, entry: FrontierEntry) -> None:
        """Out of the window; an empty one is read anew."""
        queues = self._waiting[entry.host]
        entries = queues[entry.queue]
        entries.popleft()
        self._size -= 1
        if not entries:
            del queues[entry.queue]
            self._stale.add(entry.queue)
        if not queues:
            del self._waiting[entry.host]

    def _renew(self, queue: int) -> None:
        for host in self._hosts.pop(queue, ()):
            entries: Collection[FrontierEntry] = self._waiting.get(host, {}).pop(queue, ())
            self._held[queue].difference_update(entry.url_id for entry in entries)
            self._size -= len(entries)
            if host in self._waiting and not self._waiting[host]:
                del self._waiting[host]
        held = self._held.setdefault(queue, set())
        size = max(min(WINDOW, WIDEST // max(len(self._hosts), 1)), _MIN_WINDOW)
        for entry in self._table.due(queue, self._before, size, held, by_promise=True):
            held.add(entry.url_id)
            self._window(entry).append(entry)
            self._size += 1

    def _window(self, entry: FrontierEntry) -> deque[FrontierEntry]:
        self._hosts.setdefault(entry.queue, set()).add(entry.host)
        return super()._window(entry)

    def _queue_host(self, host: Host, at: float) -> None:
        """Hosts do not take turns."""


def _rank(entry: FrontierEntry) -> tuple[bool, float, int]:
    """What was off topic comes last, else the best first, of equals the one that was found first."""
    return is_off_topic(entry), -entry.priority, entry.url_id
