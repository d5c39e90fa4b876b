"""Delays logins after wrong passwords, in the memory of the process.

The delay grows with each wrong password. It is never a lock: after it, the right password works. An attempt during the
delay is neither checked nor counted.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

FIRST_DELAY_SECONDS = 1.0
FORGET_SECONDS = 3600.0  # after the last wrong password
MAX_KEYS = 10_000  # the oldest is forgotten first


@dataclass(frozen=True)
class ThrottleRule:
    """Number of wrong passwords without a delay, and the maximum delay, after doubling with each further one."""

    free_failures: int
    max_delay_seconds: float

    def delay_after(self, failures: int) -> float:
        """Return the seconds to wait after this number of wrong passwords."""
        if failures < self.free_failures:
            return 0.0
        return min(self.max_delay_seconds, FIRST_DELAY_SECONDS * 2.0 ** min(failures - self.free_failures, 30))


ACCOUNT_RULE = ThrottleRule(5, 300.0)  # one account on one device or from one IP address
ADDRESS_RULE = ThrottleRule(20, 30.0)  # all accounts from one IP address, on unknown devices


@dataclass(frozen=True)
class ThrottleKey:
    """What failures are counted by: a rule, and the account or address that it applies to."""

    rule: ThrottleRule
    subject: str


@dataclass(frozen=True)
class _Failures:
    count: int
    last_at: float
    blocked_until: float


class LoginThrottle:
    """Counts wrong passwords. Thread-safe. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: OrderedDict[ThrottleKey, _Failures] = OrderedDict()

    def begin_attempt(self, keys: Sequence[ThrottleKey]) -> float:
        """Count an attempt as a wrong password, before it is checked, so that parallel attempts are delayed too.

        Returns:
            0.0 if the password may be checked; otherwise the seconds to wait, and the attempt is not counted.
        """
        with self._lock:
            now = self._clock()
            wait_seconds = max(self._wait_seconds(key, now) for key in keys)
            if wait_seconds <= 0:
                for key in keys:
                    count = self._count(key, now) + 1
                    self._save(key, _Failures(count, now, now + key.rule.delay_after(count)))
            return max(0.0, wait_seconds)

    def accept_attempt(self, keys: Sequence[ThrottleKey]) -> None:
        """Record that the password of the attempt was right: it does not count, and no delay follows."""
        with self._lock:
            now = self._clock()
            for key in keys:
                count = self._count(key, now) - 1
                if count > 0:
                    self._save(key, _Failures(count, now, now))
                else:
                    self._failures.pop(key, None)

    def _count(self, key: ThrottleKey, now: float) -> int:
        failures = self._failures.get(key)
        return failures.count if failures is not None and now - failures.last_at < FORGET_SECONDS else 0

    def _wait_seconds(self, key: ThrottleKey, now: float) -> float:
        failures = self._failures.get(key)
        # The clock may have been set back, so the wait is bounded.
        return min(failures.blocked_until - now, key.rule.max_delay_seconds) if failures is not None else 0.0

    def _save(self, key: ThrottleKey, failures: _Failures) -> None:
        self._failures[key] = failures
        self._failures.move_to_end(key)
        if len(self._failures) > MAX_KEYS:
            self._failures.popitem(last=False)
