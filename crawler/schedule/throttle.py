"""When a host may be asked again: the limits per host and per IP address above the queues (METHODS 1.2, Notes).

Pure bookkeeping: every method is told the time (monotonic seconds), none waits.

    gap = the longest of crawl.delay, Crawl-delay, delay_factor x how long the host takes to answer
    large site: more of it waits than the run has time for; while it answers fast and without fault, and names no
                Crawl-delay, crawl.delay shrinks by a fifth every ten answers, down to delay / crawl.speed_up
                slower answers than at first: crawl.delay again, and once more from there
                one failure: crawl.delay for the rest of the run
    429, 503: the gap doubles for the rest of the run, and Retry-After is granted
    a fetch that was given up: the host may be at it still, and is left alone for as long as it had had
    failures in a row: a pause that doubles; after five the host is left alone
"""

from collections import Counter
from dataclasses import dataclass

from docstore.model import Host

NEVER = float("inf")
MAX_RETRY_AFTER_SECONDS = 3600.0
MAX_BACKOFF_SECONDS = 300.0
MAX_ADAPTIVE_DELAY_SECONDS = 30.0
FAILURES_BEFORE_SUSPEND = 5
_LATEST_RESPONSE_WEIGHT = 0.3  # weight of the last response time in the mean
_RESPONSES_PER_STEP = 10  # answers without fault between two steps
_SPEED_UP_STEP = 0.8
_SLOWDOWN_RATIO, _SLOWDOWN_SECONDS = 2.0, 0.05  # so many times as long as at first, and so many seconds more, is slow
_BUSY_IP_RETRY_SECONDS = 0.05  # seconds, where another host of the same address has to end first


@dataclass
class _HostState:
    next_start: float = 0.0
    previous_next_start: float = 0.0  # next_start before the last request, should that be withdrawn
    started_at: float = 0.0
    in_flight: int = 0
    failures: int = 0
    requested_delay: float = 0.0
    response_seconds: float = 0.0  # it takes to answer, of late
    has_responded: bool = False
    ip: str = ""
    has_large_backlog: bool = False
    has_failed: bool = False
    delay_multiplier: float = 1.0  # part of crawl.delay that is waited
    clean_responses: int = 0  # answers since the last step
    baseline_response_seconds: float = 0.0  # seconds it took to answer when it was asked at crawl.delay


@dataclass(frozen=True)
class HostStatus:
    """How one host is treated: `crawl_delay` seconds between requests, `response_seconds` it takes to answer, failures in a row."""

    crawl_delay: float
    response_seconds: float
    failures: int
    in_flight: int

    @property
    def is_suspended(self) -> bool:
        """Has it failed so often in a row that it is left alone?"""
        return self.failures >= FAILURES_BEFORE_SUSPEND


class HostThrottle:
    """Spaces request starts per host by `delay` seconds or more, with at most `per_host` under way at a host and
    `per_ip` at an address (0: no limit). Large sites may be asked up to `speed_up` times as often."""

    def __init__(
        self, delay: float, per_host: int, delay_factor: float = 0.0, per_ip: int = 0, speed_up: float = 1.0
    ) -> None:
        self._delay = delay
        self._min_delay_multiplier = 1.0 / speed_up
        self._max_in_flight_per_host = per_host
        self._delay_factor = delay_factor
        self._max_in_flight_per_ip = per_ip
        self._hosts: dict[str, _HostState] = {}
        self._in_flight_by_ip: Counter[str] = Counter()

    def earliest_start(self, host: Host, now: float) -> float:
        """The earliest time the next request may start (`now` or later); NEVER while the host is at its limit."""
        host_state = self._state(host)
        if host_state.in_flight >= self._max_in_flight_per_host:
            return NEVER
        if (
            self._max_in_flight_per_ip
            and host_state.ip
            and self._in_flight_by_ip[host_state.ip] >= self._max_in_flight_per_ip
        ):
            return max(now + _BUSY_IP_RETRY_SECONDS, host_state.next_start)
        return max(now, host_state.next_start)

    def start_request(self, host: Host, now: float) -> None:
        """A request to the host starts now."""
        host_state = self._state(host)
        host_state.in_flight += 1
        self._in_flight_by_ip[host_state.ip] += 1
        host_state.previous_next_start = host_state.next_start
        host_state.started_at = now
        host_state.next_start = max(host_state.next_start, now + self._current_delay(host_state))

    def cancel_request(self, host: Host) -> None:
        """The request just started was not sent after all."""
        host_state = self._state(host)
        self._release_slot(host_state)
        host_state.next_start = host_state.previous_next_start

    def finish_request(
        self,
        host: Host,
        now: float,
        responded_at: float | None = None,
        is_host_failure: bool = False,
        retry_after: float | None = None,
        is_clean: bool = True,
        is_aborted: bool = False,
    ) -> None:
        """A request has ended.

        The gap counts from `responded_at`, when its answer began (without one, from now): the host saw the request
        before that, so it never sees two closer together, whatever the way between. `is_host_failure` says that the host is
        to blame: then the gap doubles with every failure in a row. `retry_after` seconds are granted, an hour at most.
        `is_clean` says that the answer shows no trouble of the host (a 404 does not, a 500 or a timeout does), `is_aborted`
        that no whole answer was waited for.
        """
        host_state = self._state(host)
        self._release_slot(host_state)
        delay_before = self._current_delay(host_state)
        self._update_response_stats(host_state, responded_at, is_host_failure)
        self._adapt_delay_multiplier(host_state, responded_at is not None, is_clean and not is_host_failure)
        start_times = [
            (now if responded_at is None else responded_at) + self._current_delay(host_state),
            now + self._clamped_retry_after(retry_after),
        ]
        if is_aborted:
            start_times.append(now + min(now - host_state.started_at, MAX_ADAPTIVE_DELAY_SECONDS))
        if is_host_failure:
            start_times.append(now + min(max(delay_before, 1.0) * 2.0**host_state.failures, MAX_BACKOFF_SECONDS))
        host_state.next_start = max(host_state.next_start, *start_times)

    def raise_crawl_delay(self, host: Host, delay: float) -> None:
        """The host asks for at least `delay` seconds between requests (Crawl-delay)."""
        host_state = self._state(host)
        host_state.requested_delay = max(host_state.requested_delay, delay)

    def update_backlog(self, host: Host, due_urls: int, seconds_left: float) -> None:
        """So many URLs of the host wait, and the run goes on for so many seconds: is that too many for it?"""
        host_state = self._state(host)
        host_state.has_large_backlog = due_urls * (self._delay + host_state.response_seconds) > seconds_left
        if not host_state.has_large_backlog:
            host_state.delay_multiplier = 1.0

    def set_ip(self, host: Host, ip: str) -> None:
        """The host answers at this address; "" if that is not known."""
        host_state = self._state(host)
        if ip != host_state.ip:
            self._in_flight_by_ip[host_state.ip] -= host_state.in_flight
            self._in_flight_by_ip[ip] += host_state.in_flight
            host_state.ip = ip

    def is_suspended(self, host: Host) -> bool:
        """Has the host failed so often in a row that it is left alone for the rest of the run?"""
        return self._state(host).failures >= FAILURES_BEFORE_SUSPEND

    def has_responded(self, host: Host) -> bool:
        """Did it ever answer in this run?"""
        return self._state(host).has_responded

    def remaining_delays(self, now: float) -> dict[Host, float]:
        """For how many seconds hosts want to be left alone yet, of those that do."""
        return {Host(host): state.next_start - now for host, state in self._hosts.items() if state.next_start > now}

    def status_by_host(self) -> dict[str, HostStatus]:
        """How each host is treated now."""
        return {
            host: HostStatus(
                self._current_delay(host_state), host_state.response_seconds, host_state.failures, host_state.in_flight
            )
            for host, host_state in self._hosts.items()
        }

    def _update_response_stats(self, state: _HostState, responded_at: float | None, is_host_failure: bool) -> None:
        state.failures = state.failures + 1 if is_host_failure else 0
        if responded_at is None:
            return
        state.has_responded = True
        seconds = max(responded_at - state.started_at, 0.0)
        state.response_seconds += (seconds - state.response_seconds) * (
            _LATEST_RESPONSE_WEIGHT if state.response_seconds else 1.0
        )
        if is_host_failure:  # it answers, and says that it has too much to do
            state.requested_delay = min(2 * self._current_delay(state), MAX_ADAPTIVE_DELAY_SECONDS)

    def _adapt_delay_multiplier(self, state: _HostState, has_response: bool, is_clean: bool) -> None:
        """See the head of this module. The pace of a host that is not large, or asks for a delay, stays as it is."""
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
                max(state.delay_multiplier * _SPEED_UP_STEP, self._min_delay_multiplier),
                0,
            )

    def _release_slot(self, state: _HostState) -> None:
        state.in_flight -= 1
        self._in_flight_by_ip[state.ip] -= 1

    def _current_delay(self, state: _HostState) -> float:
        return max(
            self._delay * state.delay_multiplier,
            state.requested_delay,
            min(self._delay_factor * state.response_seconds, MAX_ADAPTIVE_DELAY_SECONDS),
        )

    def _clamped_retry_after(self, retry_after: float | None) -> float:
        return min(retry_after or 0.0, MAX_RETRY_AFTER_SECONDS)

    def _state(self, host: Host) -> _HostState:
        return self._hosts.setdefault(host, _HostState())
