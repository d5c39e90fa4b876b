"""The limit of requests in flight per IP address (`crawl.per_ip`), for requests whose IP address the throttle ignores.

The throttle knows the IP address of a host only after its first request. Many hosts of one server could therefore
exceed the limit together at the start of a crawl. Here each request of a thread waits until its IP address is free.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class IpLimiter:
    """Counts the requests in flight by IP address. Thread-safe.

    Args:
        per_ip: maximum requests in flight per IP address; 0: no limit.
        find_ip: returns the IP address of host[:port], "" if it is unknown. May block.
    """

    def __init__(self, per_ip: int, find_ip: Callable[[str], str]) -> None:
        self._per_ip, self._find_ip = per_ip, find_ip
        self._in_flight_by_ip: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._is_closed = False

    @contextmanager
    def reserve(self, host: str) -> Iterator[bool]:
        """Wait until a request to the host may start. Yields False if the limiter was closed."""
        ip = self._find_ip(host) if self._per_ip else ""
        if not ip:
            yield True
            return
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._in_flight_by_ip[ip] < self._per_ip)
            self._in_flight_by_ip[ip] += 1
        try:
            yield not self._is_closed
        finally:
            with self._changed:
                self._in_flight_by_ip[ip] -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """End all waits, so that no thread sends a request after the crawl."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
