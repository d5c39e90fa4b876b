"""Crawlers on several machines over one table: each asks only hosts whose lease it holds, and an IP address only by one
of the address's few leases. So no two ask one host at a time, whatever dies: a lease outlasts every request that was
begun under it.

    all_done, takes_more   lease hosts that have something due, as many as keep the threads busy
    turn                   a request begins only while host and address are ours for longer than it may take
    record                 (docstore/frontier/frontier_table.py) what was fetched under a lost lease is not kept

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
from crawler.schedule.queues import fold_hash
from crawler.schedule.throttle import HostThrottle
from crawler.urls.canonical import split_host_port
from docstore.errors import PlumblineError
from docstore.locking.leases import Lease, LeaseHeartbeat
from docstore.model import FrontierEntry

HOST_LEASE_KIND, IP_LEASE_KIND = "host", "ip"  # kinds of leases
LEASED_HOSTS_PER_THREAD = 4  # leased at once: most of them wait between two requests
MAX_LEASE_CANDIDATES = 1_000  # of the hosts that have something due, tried at once
HOST_POLL_SECONDS = 1.0  # seconds between two looks for more hosts
LEASE_POLL_SECONDS = 0.05  # seconds
IDLE_HOST_SECONDS = 30.0  # seconds without anything due after which a host is left to others
UNUSED_IP_LEASE_SECONDS = 2.0  # seconds after which an address's lease that no request used is given back


class DueTable(Protocol):
    """Says which queues have something due."""

    def due_counts_by_queue(self, due_before: float, /) -> dict[int, int]:
        """Queue -> how many of its URLs are due."""


@dataclass
class LeaseCoordinator:
    """The place of a crawler among those of all machines; see `coordinator.Coordinator`.

    `max_request_seconds` seconds is what one request may take, with the pause after it. `max_pages` pages are this crawler's share (0:
    no limit), `max_hosts` hosts what it leases at once, and no more than its part among so many `crawler_count`.
    """

    heartbeat: LeaseHeartbeat
    table: DueTable
    due_before: float
    max_request_seconds: float
    ip_policy: IpPolicy
    per_ip: int = 0
    max_pages: int = 0
    max_hosts: int = 64
    crawler_count: int = 1
    reserved_pages: int = 0
    lease_by_queue: dict[int, Lease] = field(default_factory=dict)
    throttle: HostThrottle | None = None
    _last_poll_at: float = 0.0
    _idle_since_by_queue: dict[int, float] = field(default_factory=dict)  # queue -> since when nothing of it is due

    def __post_init__(self) -> None:
        self._ip_slots = IpSlots(self.heartbeat, self.per_ip, self.max_request_seconds)

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Know how long hosts want to be left alone."""
        self.throttle = throttle

    def owns_queue(self, queue: int) -> bool:
        """The queue of a host that is leased."""
        return queue in self.lease_by_queue

    def lease_for_queue(self, queue: int) -> Lease | None:
        """What a visit is recorded by."""
        return self.lease_by_queue.get(queue)

    def has_page_budget(self) -> bool:
        """As long as the limit is not reached."""
        return not self.max_pages or self.reserved_pages < self.max_pages

    def try_reserve_page(self) -> bool:
        """Count it."""
        self.reserved_pages += 1
        return True

    def finish_page(self, is_success: bool) -> None:
        """Only pages count."""
        self.reserved_pages -= not is_success

    def mark_busy(self) -> None:
        """Nobody else wants to know."""

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Threads are idle while so many hosts have something waiting: lease some more; was there anything?"""
        if time.monotonic() - self._last_poll_at < HOST_POLL_SECONDS:
            return False
        self._ip_slots.release_unused(UNUSED_IP_LEASE_SECONDS)
        self._last_poll_at = time.monotonic()
        due = self.table.due_counts_by_queue(self.due_before)
        self._release_queues(self._idle_queues(due))
        return bool(self._acquire_leases(self.max_hosts - waiting_hosts, due))

    def check_finished(self) -> bool:
        """Nothing is under way and all is recorded: give the hosts back, and lease others that have something due.
        Waits a little where other crawlers have them all."""
        self._release_queues(set(self.lease_by_queue))
        due = self.table.due_counts_by_queue(self.due_before)
        if due and not self._acquire_leases(self.max_hosts, due):
            time.sleep(HOST_POLL_SECONDS)
        return not due

    def close(self) -> None:
        """Give everything back."""
        self._release_queues(set(self.lease_by_queue))
        self._ip_slots.release_unused(0.0)

    @contextmanager
    def request_slot(self, entry: FrontierEntry) -> Iterator[bool]:
        """May a request to the entry's host begin? Waits while the leases cannot be renewed, and for the address."""
        lease = self.lease_by_queue.get(entry.queue)
        if lease is None or not wait_until_held(self.heartbeat, lease, self.max_request_seconds):
            self._drop_lease(entry)
            yield False
            return
        with self._ip_slots.hold(self._lowest_ip(entry), lease) as has_slot:
            is_ours = has_slot and wait_until_held(self.heartbeat, lease, self.max_request_seconds)
            if not is_ours:
                self._drop_lease(entry)
            yield is_ours

    def _drop_lease(self, entry: FrontierEntry) -> None:
        """The host is not ours any more, and what comes of this turn is not recorded: its URL stays due."""
        self.lease_by_queue.pop(entry.queue, None)

    def _lowest_ip(self, entry: FrontierEntry) -> str:
        if not self.per_ip:
            return ""
        try:
            name, port = split_host_port(entry.host)
            addresses = self.ip_policy.resolve_allowed(name, int(port or 0))
        except (OSError, PlumblineError):  # the request will say so
            return ""
        return min(address for address, _ in addresses) if addresses else ""

    def _acquire_leases(self, max_leases: int, due: Collection[int]) -> Sequence[Lease]:
        expired_queues = [
            queue for queue, lease in list(self.lease_by_queue.items()) if self.heartbeat.seconds_left(lease) <= 0
        ]
        for queue in expired_queues:
            self.lease_by_queue.pop(queue, None)
        unleased_queues = [str(queue) for queue in due if queue not in self.lease_by_queue]
        fair_share = -(-len(due) // self.crawler_count)  # the first to come leaves something to the others
        max_leases = min(max_leases, fair_share - sum(queue in self.lease_by_queue for queue in due))
        if max_leases <= 0 or not unleased_queues:
            return ()
        candidates = random.sample(
            unleased_queues, min(len(unleased_queues), MAX_LEASE_CANDIDATES)
        )  # each crawler others, so that they do not meet
        leases = self.heartbeat.acquire(HOST_LEASE_KIND, candidates, max_leases)
        self.lease_by_queue.update((int(lease.key), lease) for lease in leases)
        return leases

    def _idle_queues(self, due: Collection[int]) -> set[int]:
        """The hosts that have had nothing due for a while: what was under way there is recorded, sitemaps were read."""
        now = time.monotonic()
        self._idle_since_by_queue = {
            queue: self._idle_since_by_queue.get(queue, now) for queue in list(self.lease_by_queue) if queue not in due
        }
        return {queue for queue, since in self._idle_since_by_queue.items() if now - since > IDLE_HOST_SECONDS}

    def _release_queues(self, queues: set[int]) -> None:
        delay_by_host = self.throttle.remaining_delays(time.monotonic()) if self.throttle else {}
        delay_by_queue = {fold_hash(host): seconds for host, seconds in delay_by_host.items()}
        leases_by_queue = {queue: lease for queue, lease in list(self.lease_by_queue.items()) if queue in queues}
        for queue in leases_by_queue.keys() & delay_by_queue.keys():
            self.heartbeat.release([leases_by_queue[queue]], delay_by_queue[queue])
        self.heartbeat.release([lease for queue, lease in leases_by_queue.items() if queue not in delay_by_queue])
        for queue in queues:
            self.lease_by_queue.pop(queue, None)


class IpSlots:
    """The leases of IP addresses: `per_ip` of each, one for every request under way there. Used by all threads."""

    def __init__(self, heartbeat: LeaseHeartbeat, per_ip: int, max_request_seconds: float) -> None:
        self._heartbeat, self._max_leases_per_ip, self._max_request_seconds = heartbeat, per_ip, max_request_seconds
        self._free_leases_by_ip: dict[str, list[tuple[Lease, float]]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, ip: str, host_lease: Lease) -> Iterator[bool]:
        """Hold one of the address's leases; waits for it as long as the lease of the host is ours, else False."""
        if not ip:
            yield True
            return
        lease = self._acquire(ip, host_lease)
        try:
            yield lease is not None
        finally:
            if lease is not None:
                with self._lock:
                    self._free_leases_by_ip.setdefault(ip, []).append((lease, time.monotonic()))

    def release_unused(self, unused_seconds: float) -> None:
        """Let others have what no request used for so many seconds."""
        until = time.monotonic() - unused_seconds
        with self._lock:
            idle = [pair for pairs in self._free_leases_by_ip.values() for pair in pairs if pair[1] <= until]
            self._free_leases_by_ip = {
                ip: remainder
                for ip, pairs in self._free_leases_by_ip.items()
                if (remainder := [p for p in pairs if p[1] > until])
            }
        self._heartbeat.release([lease for lease, _ in idle])

    def _acquire(self, ip: str, host_lease: Lease) -> Lease | None:
        keys = [f"{ip}#{slot_index}" for slot_index in range(self._max_leases_per_ip)]
        while self._heartbeat.seconds_left(host_lease) > 0:
            with self._lock:
                free = self._free_leases_by_ip.get(ip, [])
                reused_lease = free.pop()[0] if free else None
            leases = [reused_lease] if reused_lease else self._heartbeat.acquire(IP_LEASE_KIND, keys)
            if leases and wait_until_held(self._heartbeat, leases[0], self._max_request_seconds):
                return leases[0]
            time.sleep(LEASE_POLL_SECONDS)
        return None


def wait_until_held(
    heartbeat: LeaseHeartbeat, lease: Lease, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> bool:
    """Is a lease ours for so many seconds more? Waits while it is ours for less: it may be renewed yet."""
    while 0 < (seconds_left := heartbeat.seconds_left(lease)) < seconds:
        sleep(LEASE_POLL_SECONDS)
    return seconds_left >= seconds
