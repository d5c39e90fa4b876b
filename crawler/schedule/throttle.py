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
LONGEST_RETRY_AFTER = 3600.0
LONGEST_BACK_OFF = 300.0
LONGEST_ADAPTED = 30.0
FAILURES_TO_REST = 5
_NEWEST = 0.3  # weight of the last response time in the mean
_CALM = 10  # answers without fault between two steps
_STEP = 0.8
_SLOWER, _NOTICED = 2.0, 0.05  # so many times as long as at first, and so many seconds more, is slow
_LOOK_AGAIN = 0.05  # seconds, where another host of the same address has to end first


@dataclass
class _Host:
    next_start: float = 0.0
    start_before: float = 0.0  # next_start before the last request, should that be withdrawn
    started_at: float = 0.0
    under_way: int = 0
    failures: int = 0
    delay: float = 0.0
    seconds: float = 0.0  # it takes to answer, of late
    answered: bool = False
    ip: str = ""
    is_large: bool = False
    has_failed: bool = False
    pace: float = 1.0  # part of crawl.delay that is waited
    calm: int = 0  # answers since the last step
    at_first: float = 0.0  # seconds it took to answer when it was asked at crawl.delay


@dataclass(frozen=True)
class HostStatus:
    """How one host is treated: `gap` seconds between requests, `seconds` it takes to answer, failures in a row."""

    gap: float
    seconds: float
    failures: int
    under_way: int

    @property
    def is_resting(self) -> bool:
        """Has it failed so often in a row that it is left alone?"""
        return self.failures >= FAILURES_TO_REST


class HostThrottle:
    """Spaces request starts per host by `delay` seconds or more, with at most `per_host` under way at a host and
    `per_ip` at an address (0: no limit). Large sites may be asked up to `speed_up` times as often."""

    def __init__(
        self, delay: float, per_host: int, delay_factor: float = 0.0, per_ip: int = 0, speed_up: float = 1.0
    ) -> None:
        self._delay = delay
        self._fastest = 1.0 / speed_up
        self._per_host = per_host
        self._factor = delay_factor
        self._per_ip = per_ip
        self._hosts: dict[str, _Host] = {}
        self._at_ip: Counter[str] = Counter()

    def next_start(self, host: Host, now: float) -> float:
        """The earliest time the next request may start (`now` or later); NEVER while the host is at its limit."""
        state = self._state(host)
        if state.under_way >= self._per_host:
            return NEVER
        if self._per_ip and state.ip and self._at_ip[state.ip] >= self._per_ip:
            return max(now + _LOOK_AGAIN, state.next_start)
        return max(now, state.next_start)

    def started(self, host: Host, now: float) -> None:
        """A request to the host starts now."""
        state = self._state(host)
        state.under_way += 1
        self._at_ip[state.ip] += 1
        state.start_before = state.next_start
        state.started_at = now
        state.next_start = max(state.next_start, now + self._gap(state))

    def withdrawn(self, host: Host) -> None:
        """The request just started was not sent after all."""
        state = self._state(host)
        self._ended(state)
        state.next_start = state.start_before

    def finished(
        self,
        host: Host,
        now: float,
        answered_at: float | None = None,
        failed: bool = False,
        retry_after: float | None = None,
        good: bool = True,
        given_up: bool = False,
    ) -> None:
        """A request has ended.

        The gap counts from `answered_at`, when its answer began (without one, from now): the host saw the request
        before that, so it never sees two closer together, whatever the way between. `failed` says that the host is
        to blame: then the gap doubles with every failure in a row. `retry_after` seconds are granted, an hour at most.
        `good` says that the answer shows no trouble of the host (a 404 does not, a 500 or a timeout does), `given_up`
        that no whole answer was waited for.
        """
        state = self._state(host)
        self._ended(state)
        gap = self._gap(state)
        self._learn(state, answered_at, failed)
        self._adapt(state, answered_at is not None, good and not failed)
        waits = [(now if answered_at is None else answered_at) + self._gap(state), now + self._granted(retry_after)]
        if given_up:
            waits.append(now + min(now - state.started_at, LONGEST_ADAPTED))
        if failed:
            waits.append(now + min(max(gap, 1.0) * 2.0**state.failures, LONGEST_BACK_OFF))
        state.next_start = max(state.next_start, *waits)

    def slow_down(self, host: Host, delay: float) -> None:
        """The host asks for at least `delay` seconds between requests (Crawl-delay)."""
        state = self._state(host)
        state.delay = max(state.delay, delay)

    def is_large(self, host: Host, waiting: int, seconds: float) -> None:
        """So many URLs of the host wait, and the run goes on for so many seconds: is that too many for it?"""
        state = self._state(host)
        state.is_large = waiting * (self._delay + state.seconds) > seconds
        if not state.is_large:
            state.pace = 1.0

    def lives_at(self, host: Host, ip: str) -> None:
        """The host answers at this address; "" if that is not known."""
        state = self._state(host)
        if ip != state.ip:
            self._at_ip[state.ip] -= state.under_way
            self._at_ip[ip] += state.under_way
            state.ip = ip

    def is_resting(self, host: Host) -> bool:
        """Has the host failed so often in a row that it is left alone for the rest of the run?"""
        return self._state(host).failures >= FAILURES_TO_REST

    def has_answered(self, host: Host) -> bool:
        """Did it ever answer in this run?"""
        return self._state(host).answered

    def rests(self, now: float) -> dict[Host, float]:
        """For how many seconds hosts want to be left alone yet, of those that do."""
        return {Host(host): one.next_start - now for host, one in self._hosts.items() if one.next_start > now}

    def manners(self) -> dict[str, HostStatus]:
        """How each host is treated now."""
        return {
            host: HostStatus(self._gap(state), state.seconds, state.failures, state.under_way)
            for host, state in self._hosts.items()
        }

    def _learn(self, state: _Host, answered_at: float | None, failed: bool) -> None:
        state.failures = state.failures + 1 if failed else 0
        if answered_at is None:
            return
        state.answered = True
        seconds = max(answered_at - state.started_at, 0.0)
        state.seconds += (seconds - state.seconds) * (_NEWEST if state.seconds else 1.0)
        if failed:  # it answers, and says that it has too much to do
            state.delay = min(2 * self._gap(state), LONGEST_ADAPTED)

    def _adapt(self, state: _Host, answered: bool, good: bool) -> None:
        """See the head of this module. The pace of a host that is not large, or asks for a delay, stays as it is."""
        state.has_failed |= not good
        if state.has_failed or not state.is_large or state.delay or not answered:
            state.pace = 1.0 if state.has_failed or state.delay else state.pace
            return
        state.calm += 1
        if not state.at_first or (state.pace == 1.0 and state.calm < _CALM):
            state.at_first = state.seconds
        if state.seconds > _SLOWER * state.at_first + _NOTICED:
            state.pace, state.calm, state.at_first = 1.0, 0, 0.0
        elif state.calm >= _CALM:
            state.pace, state.calm = max(state.pace * _STEP, self._fastest), 0

    def _ended(self, state: _Host) -> None:
        state.under_way -= 1
        self._at_ip[state.ip] -= 1

    def _gap(self, state: _Host) -> float:
        return max(self._delay * state.pace, state.delay, min(self._factor * state.seconds, LONGEST_ADAPTED))

    def _granted(self, retry_after: float | None) -> float:
        return min(retry_after or 0.0, LONGEST_RETRY_AFTER)

    def _state(self, host: Host) -> _Host:
        return self._hosts.setdefault(host, _Host())
