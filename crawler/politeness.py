"""When a host may be asked again: the limit per host above the queues (METHODS 1.2, Notes).

Pure bookkeeping: every method is told the time (monotonic seconds), none waits.
"""

from dataclasses import dataclass

NEVER = float("inf")
LONGEST_RETRY_AFTER = 3600.0
LONGEST_BACK_OFF = 300.0
FAILURES_TO_REST = 5


@dataclass
class _Host:
    next_start: float = 0.0
    start_before: float = 0.0  # next_start before the last request, should that be withdrawn
    under_way: int = 0
    failures: int = 0
    delay: float = 0.0


class HostGate:
    """Spaces request starts per host by `delay` seconds, with at most `per_host` under way."""

    def __init__(self, delay: float, per_host: int) -> None:
        self._delay = delay
        self._per_host = per_host
        self._hosts: dict[str, _Host] = {}

    def next_start(self, host: str, now: float) -> float:
        """The earliest time the next request may start (`now` or later); NEVER while the host is at its limit."""
        state = self._state(host)
        return NEVER if state.under_way >= self._per_host else max(now, state.next_start)

    def started(self, host: str, now: float) -> None:
        """A request to the host starts now."""
        state = self._state(host)
        state.under_way += 1
        state.start_before = state.next_start
        state.next_start = max(state.next_start, now + self._gap(state))

    def withdrawn(self, host: str) -> None:
        """The request just started was not sent after all."""
        state = self._state(host)
        state.under_way -= 1
        state.next_start = state.start_before

    def finished(
        self,
        host: str,
        now: float,
        answered_at: float | None = None,
        failed: bool = False,
        retry_after: float | None = None,
    ) -> None:
        """A request has ended.

        The gap counts from `answered_at`, when its answer began (without one, from now): the host saw the request
        before that, so it never sees two closer together, whatever the way between. `failed` says that the host is
        to blame: then the gap doubles with every failure in a row. `retry_after` seconds are granted, an hour at most.
        """
        state = self._state(host)
        state.under_way -= 1
        state.failures = state.failures + 1 if failed else 0
        waits = [(now if answered_at is None else answered_at) + self._gap(state), now + self._granted(retry_after)]
        if failed:
            waits.append(now + min(max(self._gap(state), 1.0) * 2.0**state.failures, LONGEST_BACK_OFF))
        state.next_start = max(state.next_start, *waits)

    def slow_down(self, host: str, delay: float) -> None:
        """The host asks for at least `delay` seconds between requests (Crawl-delay)."""
        state = self._state(host)
        state.delay = max(state.delay, delay)

    def is_resting(self, host: str) -> bool:
        """Has the host failed so often in a row that it is left alone for the rest of the run?"""
        return self._state(host).failures >= FAILURES_TO_REST

    def _gap(self, state: _Host) -> float:
        return max(self._delay, state.delay)

    def _granted(self, retry_after: float | None) -> float:
        return min(retry_after or 0.0, LONGEST_RETRY_AFTER)

    def _state(self, host: str) -> _Host:
        return self._hosts.setdefault(host, _Host())
