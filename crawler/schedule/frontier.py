"""The frontier in memory: a bounded window over the table's queues, and whose turn it is.

One fetch at a time per queue, as in Heritrix; queues and hosts take turns; a host's manners (`throttle.py`) stand
above the queues. Within a queue the best URLs come first, but none waits behind a URL whose host is not
ready. Used by one thread; reads the table, never writes it.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from crawler.schedule.throttle import NEVER, HostThrottle
from docstore.frontier.table import NewUrl, StoredRobots, Visit
from docstore.model import FrontierEntry, Host, Kind, Origin

WINDOW = 64  # URLs taken from a queue at once
WIDEST = 20_000  # URLs in memory in all
_TELLS, _NEW, _FETCHED = range(3)


@runtime_checkable
class CrawlTable(Protocol):
    """What the crawl needs of the store: `docstore.frontier.table.FrontierTable`."""

    def add(self, new: Sequence[NewUrl], /) -> int:
        """Add URLs; how many were new."""

    def due_queues(self, before: float, /) -> dict[int, int]:
        """Queue -> how many of its URLs are due."""

    def due(
        self, queue: int, before: float, limit: int, exclude: Collection[int] = (), /, by_promise: bool = False
    ) -> list[FrontierEntry]:
        """The best due URLs of a queue; `by_promise` where a topic is looked for."""

    def record(self, visits: Sequence[Visit], /) -> None:
        """Keep what visits led to, in one transaction."""

    def known(self, wanted: Sequence[str], /) -> set[str]:
        """Which URLs were ever added."""

    def urls(self) -> Iterator[str]:
        """Every URL."""

    def count(self) -> int:
        """How many URLs there are."""

    def robots(self, origin: Origin, /) -> StoredRobots | None:
        """robots.txt as last fetched."""

    def save_robots(self, fetched: StoredRobots, /) -> None:
        """Keep a robots.txt."""

    def requeue(self, policy_name: str, queue_of: Callable[[str], int], /) -> int:
        """Recompute queues if the policy changed."""


@dataclass(frozen=True)
class Wait:
    """Nothing may start for so many seconds; NEVER: not before something under way has ended."""

    seconds: float


class Frontier:
    """Hands out what is due, one URL at a time. URLs due after `before` are left for another run, queues that
    are not `mine` to another process."""

    def __init__(
        self, table: CrawlTable, throttle: HostThrottle, before: float, mine: Callable[[int], bool] = lambda queue: True
    ) -> None:
        self._table = table
        self._gate = throttle
        self._before = before
        self._mine = mine
        self._more: set[int] = set()  # queues that may have more in the table
        self._turns: deque[int] = deque()
        self.look_again()
        self._waiting: dict[Host, dict[int, deque[FrontierEntry]]] = {}  # host -> queue -> entries, best first
        self._held: dict[int, set[int]] = {}  # queue -> url_ids in the window, under way or not yet recorded
        self._size = 0
        self._busy: set[int] = set()
        self._ready: list[tuple[float, int, Host]] = []  # heap: when a host may be ready, turn, host
        self._queued: set[str] = set()  # hosts in the heap
        self._order = itertools.count()
        self._blocked: dict[int, set[str]] = {}  # queue -> hosts that are ready and wait for it alone

    def take(self, now: float) -> FrontierEntry | Wait | None:
        """The next URL to fetch; how long to wait for one; or None if nothing is due or under way."""
        entry = self._next(now)
        while entry is None and self._refill():
            entry = self._next(now)
        if entry is not None:
            self._busy.add(entry.queue)
            self._gate.started(entry.host, now)
            return entry
        if self._waiting or self._busy:
            return Wait(max(self._ready[0][0] - now, 0.0) if self._ready else NEVER)
        return None

    @property
    def waiting(self) -> int:
        """How many hosts have something in memory."""
        return len(self._waiting)

    def done(self, entry: FrontierEntry) -> None:
        """The fetch of `entry` has ended (the gate has been told): its queue and host may be used again."""
        self._busy.discard(entry.queue)
        for host in (entry.host, *self._blocked.pop(entry.queue, ())):
            self.freed(host)

    def freed(self, host: Host) -> None:
        """A request to the host that was no entry's has ended (the gate has been told): it may be its turn again."""
        if host in self._waiting and host not in self._queued:
            self._queue_host(host, 0.0)

    def put_back(self, entry: FrontierEntry) -> None:
        """`entry` was not fetched after all; it is next in its queue."""
        self.again(entry)
        self.done(entry)

    def again(self, entry: FrontierEntry) -> None:
        """`entry`, whose fetch has ended, is to be fetched once more."""
        self._window(entry).appendleft(entry)
        self._size += 1

    def recorded(self, visits: Iterable[Visit]) -> None:
        """Visits are in the table: it will not hand their URLs out again, and has new ones in their links."""
        for visit in visits:
            self._held.get(visit.entry.queue, set()).discard(visit.entry.url_id)
            links = [link for link in visit.links if self._mine(link.queue)]
            self.expect(link.queue for link in links)
            self._let_pass(links)

    def _let_pass(self, links: Iterable[NewUrl]) -> None:
        """New URLs do not wait for what was fetched before: where nothing else of their host waits in memory, they are
        read at once."""
        queues: dict[Host, set[int]] = {}
        for link in links:
            queues.setdefault(link.host, set()).add(link.queue)
        for host, found in queues.items():
            waiting = self._waiting.get(host, {})
            if waiting and all(_place(entries[0]) == _FETCHED for entries in waiting.values()):
                for queue in found & self._more:
                    if queue in self._waiting.get(host, {}):
                        self._forget(host, queue)
                    self._read(queue)

    def _forget(self, host: Host, queue: int) -> None:
        entries = self._waiting[host].pop(queue)
        self._held[queue].difference_update(entry.url_id for entry in entries)
        self._size -= len(entries)
        if not self._waiting[host]:
            del self._waiting[host]

    def expect(self, queues: Iterable[int]) -> None:
        """The table has something more in these queues."""
        for queue in queues:
            if queue not in self._more:
                self._more.add(queue)
                self._turns.append(queue)

    def look_again(self) -> None:
        """Others may have added to the table."""
        self.expect(sorted(queue for queue in self._table.due_queues(self._before) if self._mine(queue)))

    def reread(self, host: Host) -> None:
        """What is due at a host has changed in the table: what waits in memory is read anew."""
        for queue in tuple(self._waiting.get(host, ())):
            self._forget(host, queue)
            self.expect((queue,))

    def _next(self, now: float) -> FrontierEntry | None:
        """The first URL whose host is ready and whose queue is free. Hosts that are not go to the heap's end,
        or, where only the end of a fetch can help, out of it until `done`."""
        while self._ready and self._ready[0][0] <= now:
            host = heapq.heappop(self._ready)[2]
            self._queued.discard(host)
            if host not in self._waiting:
                continue
            start = self._gate.next_start(host, now)
            if start > now:
                if start < NEVER:
                    self._queue_host(host, start)
                continue
            entry = self._from_free_queue(host)
            if entry is not None:
                if host in self._waiting:
                    self._queue_host(host, now)
                return entry
            for queue in self._waiting.get(host, ()):
                self._blocked.setdefault(queue, set()).add(host)
        return None

    def _from_free_queue(self, host: Host) -> FrontierEntry | None:
        queues = self._waiting.get(host, {})
        free = min(
            (queue for queue in queues if queue not in self._busy), key=lambda one: _place(queues[one][0]), default=None
        )
        if free is None:
            return None
        entries = queues.pop(free)
        entry = entries.popleft()
        self._size -= 1
        if entries:
            queues[free] = entries  # to the end: queues take turns, of those whose first are equal
        if not queues:
            del self._waiting[host]
        return entry

    def _refill(self) -> bool:
        """Read on in every free queue that has more in the table; False if that brought nothing."""
        before = self._size
        for _ in range(len(self._turns)):
            if self._size >= WIDEST:
                break
            queue = self._turns.popleft()
            if queue in self._busy or self._read(queue):
                self._turns.append(queue)
            else:
                self._more.discard(queue)
        return self._size > before

    def _read(self, queue: int) -> bool:
        held = self._held.setdefault(queue, set())
        entries = self._table.due(queue, self._before, WINDOW, held)
        for entry in entries:
            held.add(entry.url_id)
            self._window(entry).append(entry)
        self._size += len(entries)
        return len(entries) == WINDOW

    def _window(self, entry: FrontierEntry) -> deque[FrontierEntry]:
        if entry.host not in self._queued:
            self._queue_host(entry.host, 0.0)
        return self._waiting.setdefault(entry.host, {}).setdefault(entry.queue, deque())

    def _queue_host(self, host: Host, at: float) -> None:
        heapq.heappush(self._ready, (at, next(self._order), host))
        self._queued.add(host)


def _place(entry: FrontierEntry) -> int:
    """Whether it tells of new pages, is new, or was fetched before: as docstore/frontier/order.py has it."""
    if entry.kind in (Kind.SEED, Kind.HUB):
        return _TELLS
    return _FETCHED if entry.gap or entry.attempts else _NEW
