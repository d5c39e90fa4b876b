"""Failures that pass: pages asked again in the same run, after a while."""

import heapq
import itertools

from crawler.parallel.fetch_pool import PageDone
from docstore.model import Outcome, Reason

_MOST = 2
_WAIT = 1.0  # seconds before the first; each further one waits twice as long
_LONGEST_WAIT = 60.0
_PASSING = frozenset((Reason.UNREACHABLE, Reason.TIMED_OUT, Reason.BAD_RESPONSE))
_PASSING_STATUS = frozenset(("429", "500", "502", "503", "504"))


def is_trouble(outcome: Outcome) -> bool:
    """Does a fetch that ended so show trouble of the host, which may pass?"""
    return outcome.reason in _PASSING or outcome.detail in _PASSING_STATUS


class Retries:
    """What is to be asked again, and when (monotonic seconds)."""

    def __init__(self) -> None:
        self._tries: dict[int, int] = {}
        self._later: list[tuple[float, int, PageDone]] = []
        self._order = itertools.count()

    def __len__(self) -> int:
        return len(self._later)

    def take(self, done: PageDone, now: float) -> bool:
        """Keep a failure for later, if it is one that passes and was not asked for too often."""
        result, number = done.result, done.job.entry.url_id
        tried = self._tries.get(number, 0)
        wait = max(_WAIT * 2.0**tried, result.retry_after or 0.0)
        if not is_trouble(result.outcome) or tried >= _MOST or wait > _LONGEST_WAIT:
            self.over(number)
            return False
        self._tries[number] = tried + 1
        heapq.heappush(self._later, (now + wait, next(self._order), done))
        return True

    def over(self, url_id: int) -> None:
        """The page needs no further try."""
        self._tries.pop(url_id, None)

    def due(self, now: float) -> PageDone | None:
        """What came the last time of a page that may be asked again now."""
        return heapq.heappop(self._later)[2] if self._later and self._later[0][0] <= now else None

    def seconds(self, now: float) -> float:
        """Until one is due; endless without any."""
        return max(self._later[0][0] - now, 0.0) if self._later else float("inf")

    def give_up(self) -> list[PageDone]:
        """All that is left: there is no time for it any more."""
        left = [done for _, _, done in self._later]
        self._later.clear()
        return left
