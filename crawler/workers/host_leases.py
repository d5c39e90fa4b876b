"""Coordinate crawlers on several machines on one table with leases of hosts and IP addresses.

A crawler sends requests only to hosts that it has leased. Each IP address has a few leases, shared by all crawlers. A
lease outlives every request that starts under it. Two crawlers therefore never fetch from one host at a time, even if a
machine fails.

    check_finished, acquire_more_queues   lease hosts with due URLs, enough to keep the threads busy
    request_slot                          a request starts only if both leases outlast it
    record_visits                         (docstore/frontier/frontier_table.py) rejects visits of a lost lease

With one queue per host, the queue number identifies the host and is the key of its lease.
"""

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue

from crawler.http.ip_policy import IpPolicy
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.queues import fold_hash
from crawler.schedule.throttle import HostThrottle
from crawler.urls.canonical import split_host_port
from crawler.workers.coordinator import Coordinator
from domain.errors import LeaseLostError, PlumblineError
from domain.frontier import FrontierEntry
from domain.lease import Lease, LeaseClient
from locks.fences import hold_fence

HOST_LEASE_KIND, IP_LEASE_KIND = "host", "ip"  # kinds of leases
LEASED_HOSTS_PER_THREAD = 4  # leased at once; most hosts wait for their crawl delay
MAX_LEASE_CANDIDATES = 1_000  # hosts with due URLs, tried at once
HOST_POLL_SECONDS = 1.0  # between two polls for more hosts
LEASE_POLL_SECONDS = 0.05
IDLE_HOST_SECONDS = 30.0  # a host without due URLs is released after this time
UNUSED_IP_LEASE_SECONDS = 2.0  # an unused IP lease is released after this time


@dataclass
class LeaseCoordinator(Coordinator):
    """Coordinates crawlers on several machines.

    Attributes:
        max_request_seconds: maximum duration of a request and the following crawl delay.
        per_ip: maximum requests in flight per IP address, 0 for no limit.
        max_pages: page limit of this crawler, 0 for no limit.
        max_hosts: maximum number of leased hosts. The share of the due hosts is a second limit.
        crawler_count: number of crawlers that share the hosts.
    """

    heartbeat: LeaseClient
    table: CrawlTable
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
    _idle_since_by_queue: dict[int, float] = field(
        default_factory=dict
    )  # queue -> monotonic time since it has no due URL

    def __post_init__(self) -> None:
        self._ip_slots = IpSlots(self.heartbeat, self.per_ip, self.max_request_seconds)
        self._lost_queues: SimpleQueue[int] = SimpleQueue()

    def attach_throttle(self, throttle: HostThrottle) -> None:
        """Store the throttle, which knows the remaining delay of each host."""
        self.throttle = throttle

    def owns_queue(self, queue: int) -> bool:
        """True if the host of the queue is leased."""
        return queue in self.lease_by_queue

    def acquire_queue(self, queue: int) -> bool:
        """Lease the host of the queue if it is free. Returns True if it is leased to this crawler."""
        if queue not in self.lease_by_queue:
            leases = self.heartbeat.acquire(HOST_LEASE_KIND, [str(queue)])
            self.lease_by_queue.update((queue, lease) for lease in leases)
        return queue in self.lease_by_queue

    def lease_for_queue(self, queue: int) -> Lease | None:
        """Return the lease under which a visit is recorded, or None."""
        return self.lease_by_queue.get(queue)

    def acquire_more_queues(self, waiting_hosts: int) -> bool:
        """Release idle hosts and lease more hosts for idle threads. Returns True if any were leased."""
        if time.monotonic() - self._last_poll_at < HOST_POLL_SECONDS:
            return False
        self._ip_slots.release_unused(UNUSED_IP_LEASE_SECONDS)
        self._last_poll_at = time.monotonic()
        due = self.table.due_counts_by_queue(self.due_before)
        self._release_queues(self._idle_queues(due))
        return bool(self._acquire_leases(self.max_hosts - waiting_hosts, due))

    def take_lost_queues(self) -> Collection[int]:
        """Return the queues whose lease has expired since the last call."""
        return {self._lost_queues.get() for _ in range(self._lost_queues.qsize())}

    def check_finished(self) -> bool:
        """Release all hosts and lease others with due URLs. Call it with no job in flight and all visits recorded.

        Waits briefly if other crawlers have leased all due hosts. Returns True if no URL is due.
        """
        self._release_queues(set(self.lease_by_queue))
        due = self.table.due_counts_by_queue(self.due_before)
        if due and not self._acquire_leases(self.max_hosts, due):
            time.sleep(HOST_POLL_SECONDS)
        return not due

    def close(self) -> None:
        """Release all leases of this process."""
        self._release_queues(set(self.lease_by_queue))
        self._ip_slots.release_unused(0.0)

    @contextmanager
    def request_slot(self, entry: FrontierEntry) -> Iterator[bool]:
        """Yield True if a request to the entry's host may start.

        Waits for lease renewal and for a lease of the IP address. Ends the block early, without an error, if the lease
        is lost before a request in it is sent.
        """
        lease = self.lease_by_queue.get(entry.queue)
        if lease is None or not wait_until_held(self.heartbeat, lease, self.max_request_seconds):
            self._drop_lease(entry.queue, lease)
            yield False
            return
        with self._ip_slots.reserve(self._lowest_ip(entry), lease) as has_slot:
            if not (has_slot and wait_until_held(self.heartbeat, lease, self.max_request_seconds)):
                self._drop_lease(entry.queue, lease)
                yield False
                return
            try:
                with hold_fence(self.heartbeat.make_fence([lease])):
                    yield True
            except LeaseLostError:
                self._drop_lease(entry.queue, lease)

    def _drop_lease(self, queue_number: int, lost_lease: Lease | None) -> None:
        """Drop a lost lease, unless the queue has a new one. The store rejects its results; the URLs stay due."""
        if self.lease_by_queue.get(queue_number) is lost_lease:
            self.lease_by_queue.pop(queue_number, None)
        self._lost_queues.put(queue_number)

    def _lowest_ip(self, entry: FrontierEntry) -> str:
        if not self.per_ip:
            return ""
        try:
            name, port = split_host_port(entry.host)
            addresses = self.ip_policy.resolve_allowed(name, int(port or 0))
        except (OSError, PlumblineError):  # the request reports the error
            return ""
        return min(ip for ip, _ in addresses) if addresses else ""

    def _acquire_leases(self, max_leases: int, due: Collection[int]) -> Sequence[Lease]:
        for queue_number, lease in list(self.lease_by_queue.items()):
            if self.heartbeat.seconds_left(lease) <= 0:
                self._drop_lease(queue_number, lease)
        unleased_queues = [str(queue) for queue in due if queue not in self.lease_by_queue]
        fair_share = -(-len(due) // self.crawler_count)  # leaves hosts to crawlers that start later
        max_leases = min(max_leases, fair_share - sum(queue in self.lease_by_queue for queue in due))
        if max_leases <= 0 or not unleased_queues:
            return ()
        # Random, so that crawlers try different hosts.
        candidates = random.sample(unleased_queues, min(len(unleased_queues), MAX_LEASE_CANDIDATES))
        leases = self.heartbeat.acquire(HOST_LEASE_KIND, candidates, max_leases)
        self.lease_by_queue.update((int(lease.key), lease) for lease in leases)
        return leases

    def _idle_queues(self, due: Collection[int]) -> set[int]:
        """Return leased queues without requests or due URLs for longer than `IDLE_HOST_SECONDS`.

        Their visits are recorded by then.
        """
        now = time.monotonic()
        status_by_host = self.throttle.status_by_host() if self.throttle else {}
        busy_queues = {fold_hash(host) for host, status in status_by_host.items() if status.in_flight}
        self._idle_since_by_queue = {
            queue: self._idle_since_by_queue.get(queue, now)
            for queue in list(self.lease_by_queue)
            if queue not in due and queue not in busy_queues
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
    """The leases of IP addresses, at most `per_ip` for each. Every request uses one. Thread-safe."""

    def __init__(self, heartbeat: LeaseClient, per_ip: int, max_request_seconds: float) -> None:
        self._heartbeat, self._max_leases_per_ip, self._max_request_seconds = heartbeat, per_ip, max_request_seconds
        self._free_leases_by_ip: dict[str, list[tuple[Lease, float]]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def reserve(self, ip: str, host_lease: Lease) -> Iterator[bool]:
        """Reserve a lease of the IP address. Yields False if the lease of the host expires before one is free."""
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
        """Release the leases that no request has used for `unused_seconds`."""
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
    heartbeat: LeaseClient, lease: Lease, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> bool:
    """Return True if the lease is valid for at least `seconds`. Waits for its renewal while it is valid for less."""
    while 0 < (seconds_left := heartbeat.seconds_left(lease)) < seconds:
        sleep(LEASE_POLL_SECONDS)
    return seconds_left >= seconds
