"""Rate limits per host and per IP address, across queues.

No method waits. The caller passes the time in monotonic seconds; only quiet hours depend on the time of day. The rules
are the same for pages, robots.txt, sitemaps, feeds, probes and the resources of rendered pages. One thread starts jobs;
worker threads may send more requests within a job (`start_inner_request`).

    delay               maximum of crawl.delay, delay of the site, Crawl-delay, and delay_factor x response time
    large site          the backlog exceeds the time left. While the site responds fast, without errors and without
                        other delay, crawl.delay shrinks by a fifth every ten responses, to delay / crawl.speed_up
    slower responses    large site returns to crawl.delay and starts again from there
    one failure         large site returns to crawl.delay for the rest of the run
    429, 503            the delay doubles for the rest of the run, and Retry-After is respected
    aborted fetch       the host may still be working, so it gets a pause as long as the fetch took
    quiet hours         no request begins in quiet_hours of the site
    failures in a row   a pause that doubles each time; after five failures the host is suspended
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.schedule.quiet_hours import QuietHours, quiet_seconds_left
from crawler.settings import CrawlSettings
from domain.page import Host

if TYPE_CHECKING:
    from crawler.http.fetch import FetchResult  # urllib3; most commands do without

NO_KNOWN_START = float("inf")
MAX_RETRY_AFTER_SECONDS = 3600.0
MAX_BACKOFF_SECONDS = 300.0
MAX_ADAPTIVE_DELAY_SECONDS = 30.0
FAILURES_BEFORE_SUSPEND = 5
_LATEST_RESPONSE_WEIGHT = 0.3  # weight of the latest response time in the moving average
_RESPONSES_PER_STEP = 10  # clean responses between two speed-up steps
_SPEED_UP_STEP = 0.8
_SLOWDOWN_RATIO, _SLOWDOWN_SECONDS = 2.0, 0.05  # a response is slow above baseline x ratio + seconds
_BUSY_IP_RETRY_SECONDS = 0.05  # poll interval while another host uses the IP address


@dataclass
class _HostState:
    next_start: float = 0.0
    previous_next_start: float = 0.0  # next_start before the last request, restored if the request is cancelled
    started_at: float = 0.0
    in_flight: int = 0
    failures: int = 0
    requested_delay: float = 0.0
    response_seconds: float = 0.0  # moving average
    has_responded: bool = False
    ip: str = ""
    has_large_backlog: bool = False
    has_failed: bool = False
    delay_multiplier: float = 1.0  # factor of crawl.delay
    clean_responses: int = 0  # since the last step
    baseline_response_seconds: float = 0.0  # response time at the full crawl.delay
    quiet_hours: tuple[QuietHours, ...] = ()


@dataclass(frozen=True)
class HostStatus:
    """The state of one host.

    Attributes:
        crawl_delay: seconds between requests.
        response_seconds: moving average of the response time.
        failures: failures in a row.
    """

    crawl_delay: float
    response_seconds: float
    failures: int
    in_flight: int

    @property
    def is_suspended(self) -> bool:
        """True if the host is skipped for the rest of the run after too many failures in a row."""
        return self.failures >= FAILURES_BEFORE_SUSPEND


class HostThrottle:
    """Limits the request rate per host and the number of requests in flight per host and IP address.

    The limits are those of the settings. `time_of_day` returns epoch seconds, for the quiet hours.
    """

    def __init__(self, settings: CrawlSettings, time_of_day: Callable[[], float] = time.time) -> None:
        self._settings, self._time_of_day = settings, time_of_day
        self._hosts: dict[str, _HostState] = {}
        self._in_flight_by_ip: Counter[str] = Counter()
        self._lock = threading.RLock()

    def earliest_start(self, host: Host, now: float) -> float:
        """Return the earliest start of the next request (at least `now`), or NO_KNOWN_START at the host's limit."""
        host_state = self._state(host)
        if host_state.in_flight >= self._settings.per_host:
            return NO_KNOWN_START
        now += self._quiet_seconds(host_state)
        if self._settings.per_ip and host_state.ip and self._in_flight_by_ip[host_state.ip] >= self._settings.per_ip:
            return max(now + _BUSY_IP_RETRY_SECONDS, host_state.next_start)
        return max(now, host_state.next_start)

    def start_request(self, host: Host, now: float) -> None:
        """Record the start of a request."""
        with self._lock:
            host_state = self._state(host)
            host_state.in_flight += 1
            self._in_flight_by_ip[host_state.ip] += 1
            host_state.previous_next_start = host_state.next_start
            host_state.started_at = now
            host_state.next_start = max(host_state.next_start, now + self._current_delay(host_state))

    def start_inner_request(self, host: Host, now: float, max_wait: float) -> float:
        """Record a request that a running job sends as soon as the host allows it. Returns the seconds until then.

        Returns NO_KNOWN_START and records nothing if that is later than `max_wait` seconds. Called by worker threads.
        """
        with self._lock:
            state = self._state(host)
            # While the request of the job itself counts as in flight, the delay counts from now.
            start = max(now + self._current_delay(state) if state.in_flight else now, state.next_start)
            if self._quiet_seconds(state) or self.is_suspended(host) or start - now > max_wait:
                return NO_KNOWN_START
            self.start_request(host, start)
            return start - now

    def cancel_request(self, host: Host) -> None:
        """Cancel the request that was just started, because it was not sent."""
        self.release_slot(host)
        host_state = self._state(host)
        host_state.next_start = host_state.previous_next_start

    def release_slot(self, host: Host) -> None:
        """End a request that was not sent. Unlike `cancel_request`, the delay since its start still applies."""
        with self._lock:
            host_state = self._state(host)
            host_state.in_flight -= 1
            self._in_flight_by_ip[host_state.ip] -= 1

    def finish_request(self, host: Host, now: float, result: "FetchResult") -> None:
        """Record the end of a request of any kind. `now` is monotonic seconds.

        The delay counts from the start of the response. The host saw the request earlier, so it never sees two requests
        closer together than the delay, even on a slow network. After a failure of the host, the delay doubles with
        every failure in a row.
        """
        with self._lock:
            self.release_slot(host)
            state, responded_at = self._state(host), result.responded_at
            delay_before = self._current_delay(state)
            self._update_response_stats(state, responded_at, result.host_failed)
            is_clean = not result.is_transient_failure and not result.host_failed
            self._adapt_delay_multiplier(state, responded_at is not None, is_clean)
            start_times = [
                (now if responded_at is None else responded_at) + self._current_delay(state),
                now + min(result.retry_after or 0.0, MAX_RETRY_AFTER_SECONDS),
            ]
            if responded_at is None:  # the host may still be working
                start_times.append(now + min(now - state.started_at, MAX_ADAPTIVE_DELAY_SECONDS))
            if result.host_failed:
                start_times.append(now + min(max(delay_before, 1.0) * 2.0**state.failures, MAX_BACKOFF_SECONDS))
            state.next_start = max(state.next_start, *start_times)

    def raise_crawl_delay(self, host: Host, delay: float) -> None:
        """Raise the host's delay to at least `delay` seconds (Crawl-delay), for the next request too."""
        with self._lock:
            host_state = self._state(host)
            delay_before = self._current_delay(host_state)
            host_state.requested_delay = max(host_state.requested_delay, delay)
            host_state.next_start += self._current_delay(host_state) - delay_before if host_state.next_start else 0.0

    def update_backlog(self, host: Host, due_urls: int, seconds_left: float) -> None:
        """Update whether the host's backlog exceeds the time left. Resets the speed-up if it does not."""
        host_state = self._state(host)
        host_state.has_large_backlog = due_urls * (self._settings.delay + host_state.response_seconds) > seconds_left
        if not host_state.has_large_backlog:
            host_state.delay_multiplier = 1.0

    def set_ip(self, host: Host, ip: str) -> None:
        """Set the host's IP address, "" if unknown."""
        with self._lock:
            host_state = self._state(host)
            if ip != host_state.ip:
                self._in_flight_by_ip[host_state.ip] -= host_state.in_flight
                self._in_flight_by_ip[ip] += host_state.in_flight
                host_state.ip = ip

    def is_suspended(self, host: Host) -> bool:
        """True if the host is skipped for the rest of the run after too many failures in a row."""
        return self._state(host).failures >= FAILURES_BEFORE_SUSPEND

    def has_quiet_host(self) -> bool:
        """True if it is quiet hours at one of the hosts."""
        return any(self._quiet_seconds(host_state) for host_state in tuple(self._hosts.values()))

    def has_responded(self, host: Host) -> bool:
        """True if the host responded at least once in this run."""
        return self._state(host).has_responded

    def remaining_delays(self, now: float) -> dict[Host, float]:
        """Return the remaining delay in seconds of each host that has one."""
        return {
            Host(host): state.next_start - now for host, state in tuple(self._hosts.items()) if state.next_start > now
        }

    def status_by_host(self) -> dict[str, HostStatus]:
        """Return the current state of each host."""
        return {
            host: HostStatus(
                self._current_delay(host_state), host_state.response_seconds, host_state.failures, host_state.in_flight
            )
            for host, host_state in tuple(self._hosts.items())
        }

    def _update_response_stats(self, state: _HostState, responded_at: float | None, is_host_failure: bool) -> None:
        state.failures = state.failures + 1 if is_host_failure else 0
        if responded_at is None:
            return
        state.has_responded = True
        seconds = max(responded_at - state.started_at, 0.0)  # 0: an inner request of the job began later
        state.response_seconds += (seconds - state.response_seconds) * (
            _LATEST_RESPONSE_WEIGHT if state.response_seconds else 1.0
        )
        if is_host_failure:  # an overloaded host
            delay = self._current_delay(state)
            state.requested_delay = max(delay, min(2 * delay, MAX_ADAPTIVE_DELAY_SECONDS))

    def _adapt_delay_multiplier(self, state: _HostState, has_response: bool, is_clean: bool) -> None:
        """Adapt crawl.delay (see the module docstring). Small hosts and hosts with a Crawl-delay do not change."""
        state.has_failed |= not is_clean
        if state.has_failed or not state.has_large_backlog or state.requested_delay or not has_response:
            state.delay_multiplier = 1.0 if state.has_failed or state.requested_delay else state.delay_multiplier
            return
        state.clean_responses += 1
        if not state.baseline_response_seconds or (
            state.delay_multiplier == 1.0 and state.clean_responses < _RESPONSES_PER_STEP
        ):
            state.baseline_response_seconds = state.response_seconds
        if state.response_seconds > _SLOWDOWN_RATIO * state.baseline_response_seconds + _SLOWDOWN_SECONDS:
            state.delay_multiplier, state.clean_responses, state.baseline_response_seconds = 1.0, 0, 0.0
        elif state.clean_responses >= _RESPONSES_PER_STEP:
            state.delay_multiplier, state.clean_responses = (
                max(state.delay_multiplier * _SPEED_UP_STEP, 1.0 / self._settings.speed_up),
                0,
            )

    def _current_delay(self, state: _HostState) -> float:
        return max(
            self._settings.delay * state.delay_multiplier,
            state.requested_delay,
            min(self._settings.delay_factor * state.response_seconds, MAX_ADAPTIVE_DELAY_SECONDS),
        )

    def _quiet_seconds(self, state: _HostState) -> float:
        """Return the seconds until the quiet hours of a host end, or 0 outside them."""
        return max((quiet_seconds_left(hours, self._time_of_day()) for hours in state.quiet_hours), default=0.0)

    def _state(self, host: Host) -> _HostState:
        if host not in self._hosts:
            site = self._settings.sites.for_host(host)
            self._hosts.setdefault(host, _HostState(requested_delay=site.delay, quiet_hours=site.quiet_periods))
        return self._hosts[host]
