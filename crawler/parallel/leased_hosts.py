"""Crawlers on several machines over one table: each asks only hosts whose lease it holds, and an IP address only by one
of the address's few leases. So no two ask one host at a time, whatever dies: a lease outlasts every request that was
begun under it.

    all_done, takes_more   lease hosts that have something due, as many as keep the threads busy
    turn                   a request begins only while host and address are ours for longer than it may take
    record                 (docstore/frontier/table.py) what was fetched under a lost lease is not kept

With queues by host the number of a queue names its host, and is the key of its lease.
"""

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from crawler.http.ip_policy import IpPolicy
from crawler.schedule.queues import hflp
from crawler.schedule.throttle import HostThrottle
from crawler.urls.canonical import host_and_port
from docstore.errors import PlumblineError
from docstore.locking.leases import Heartbeat, Lease
from docstore.model import FrontierEntry

HOST, IP = "host", "ip"  # kinds of leases
HOSTS_A_THREAD = 4  # leased at once: most of them wait between two requests
MAX_OFFERED = 1_000  # of the hosts that have something due, tried at once
LOOK_EVERY = 1.0  # seconds between two looks for more hosts
POLL = 0.05  # seconds
DRAINED = 30.0  # seconds without anything due after which a host is left to others
UNUSED = 2.0  # seconds after which an address's lease that no request used is given back


class DueTable(Protocol):
    """Says which queues have something due."""

    def due_queues(self, before: float, /) -> dict[int, int]:
        """Queue -> how many of its URLs are due."""


@dataclass
class LeasedHosts:
    """The place of a crawler among those of all machines; see `coordination.Coordinator`.

    `longest` seconds is what one request may take, with the pause after it. `limit` pages are this crawler's share (0:
    no limit), `most` hosts what it leases at once, and no more than its part among so many `crawlers`.
    """

    heartbeat: Heartbeat
    table: DueTable
    before: float
    longest: float
    addresses: IpPolicy
    per_ip: int = 0
    limit: int = 0
    most: int = 64
    crawlers: int = 1
    taken: int = 0
    hosts: dict[int, Lease] = field(default_factory=dict)
    throttle: HostThrottle | None = None
    _looked_at: float = 0.0
    _empty: dict[int, float] = field(default_factory=dict)  # queue -> since when nothing of it is due

    def __post_init__(self) -> None:
        self._slots = AddressSlots(self.heartbeat, self.per_ip, self.longest)

    def meet(self, throttle: HostThrottle) -> None:
        """Know how long hosts want to be left alone."""
        self.throttle = throttle

    def mine(self, queue: int) -> bool:
        """The queue of a host that is leased."""
        return queue in self.hosts

    def lease_of(self, queue: int) -> Lease | None:
        """What a visit is recorded by."""
        return self.hosts.get(queue)

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

    def takes_more(self, waiting: int) -> bool:
        """Threads are idle while so many hosts have something waiting: lease some more; was there anything?"""
        if time.monotonic() - self._looked_at < LOOK_EVERY:
            return False
        self._slots.give_back(UNUSED)
        self._looked_at = time.monotonic()
        due = self.table.due_queues(self.before)
        self._give_back(self._drained(due))
        return bool(self._lease(self.most - waiting, due))

    def all_done(self) -> bool:
        """Nothing is under way and all is recorded: give the hosts back, and lease others that have something due.
        Waits a little where other crawlers have them all."""
        self._give_back(set(self.hosts))
        due = self.table.due_queues(self.before)
        if due and not self._lease(self.most, due):
            time.sleep(LOOK_EVERY)
        return not due

    def close(self) -> None:
        """Give everything back."""
        self._give_back(set(self.hosts))
        self._slots.give_back(0.0)

    @contextmanager
    def turn(self, entry: FrontierEntry) -> Iterator[bool]:
        """May a request to the entry's host begin? Waits while the leases cannot be renewed, and for the address."""
        lease = self.hosts.get(entry.queue)
        if lease is None or not is_held(self.heartbeat, lease, self.longest):
            self._lost(entry)
            yield False
            return
        with self._slots.one_of(self._address(entry), lease) as held:
            is_ours = held and is_held(self.heartbeat, lease, self.longest)
            if not is_ours:
                self._lost(entry)
            yield is_ours

    def _lost(self, entry: FrontierEntry) -> None:
        """The host is not ours any more, and what comes of this turn is not recorded: its URL stays due."""
        self.hosts.pop(entry.queue, None)

    def _address(self, entry: FrontierEntry) -> str:
        if not self.per_ip:
            return ""
        try:
            name, port = host_and_port(entry.host)
            found = self.addresses.connect_to(name, int(port or 0))
        except (OSError, PlumblineError):  # the request will say so
            return ""
        return min(address for address, _ in found) if found else ""

    def _lease(self, room: int, due: Collection[int]) -> Sequence[Lease]:
        lost = [queue for queue, lease in list(self.hosts.items()) if self.heartbeat.left(lease) <= 0]
        for queue in lost:
            self.hosts.pop(queue, None)
        free = [str(queue) for queue in due if queue not in self.hosts]
        fair = -(-len(due) // self.crawlers)  # the first to come leaves something to the others
        room = min(room, fair - sum(queue in self.hosts for queue in due))
        if room <= 0 or not free:
            return ()
        offered = random.sample(free, min(len(free), MAX_OFFERED))  # each crawler others, so that they do not meet
        found = self.heartbeat.take(HOST, offered, room)
        self.hosts.update((int(lease.key), lease) for lease in found)
        return found

    def _drained(self, due: Collection[int]) -> set[int]:
        """The hosts that have had nothing due for a while: what was under way there is recorded, sitemaps were read."""
        now = time.monotonic()
        self._empty = {queue: self._empty.get(queue, now) for queue in list(self.hosts) if queue not in due}
        return {queue for queue, since in self._empty.items() if now - since > DRAINED}

    def _give_back(self, queues: set[int]) -> None:
        rests = self.throttle.rests(time.monotonic()) if self.throttle else {}
        waits = {hflp(host): seconds for host, seconds in rests.items()}
        held = {queue: lease for queue, lease in list(self.hosts.items()) if queue in queues}
        for queue in held.keys() & waits.keys():
            self.heartbeat.release([held[queue]], waits[queue])
        self.heartbeat.release([lease for queue, lease in held.items() if queue not in waits])
        for queue in queues:
            self.hosts.pop(queue, None)


class AddressSlots:
    """The leases of IP addresses: `per_ip` of each, one for every request under way there. Used by all threads."""

    def __init__(self, heartbeat: Heartbeat, per_ip: int, longest: float) -> None:
        self._heartbeat, self._per_ip, self._longest = heartbeat, per_ip, longest
        self._free: dict[str, list[tuple[Lease, float]]] = {}
        self._guard = threading.Lock()

    @contextmanager
    def one_of(self, address: str, host: Lease) -> Iterator[bool]:
        """Hold one of the address's leases; waits for it as long as the lease of the host is ours, else False."""
        if not address:
            yield True
            return
        lease = self._wait_for(address, host)
        try:
            yield lease is not None
        finally:
            if lease is not None:
                with self._guard:
                    self._free.setdefault(address, []).append((lease, time.monotonic()))

    def give_back(self, unused: float) -> None:
        """Let others have what no request used for so many seconds."""
        until = time.monotonic() - unused
        with self._guard:
            idle = [pair for pairs in self._free.values() for pair in pairs if pair[1] <= until]
            self._free = {ip: rest for ip, pairs in self._free.items() if (rest := [p for p in pairs if p[1] > until])}
        self._heartbeat.release([lease for lease, _ in idle])

    def _wait_for(self, address: str, host: Lease) -> Lease | None:
        keys = [f"{address}#{number}" for number in range(self._per_ip)]
        while self._heartbeat.left(host) > 0:
            with self._guard:
                free = self._free.get(address, [])
                known = free.pop()[0] if free else None
            found = [known] if known else self._heartbeat.take(IP, keys)
            if found and is_held(self._heartbeat, found[0], self._longest):
                return found[0]
            time.sleep(POLL)
        return None


def is_held(heartbeat: Heartbeat, lease: Lease, seconds: float, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Is a lease ours for so many seconds more? Waits while it is ours for less: it may be renewed yet."""
    while 0 < (left := heartbeat.left(lease)) < seconds:
        sleep(POLL)
    return left >= seconds
