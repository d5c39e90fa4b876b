"""Retry transient failures in the same run."""

import heapq
import itertools

from crawler.workers.fetch_pool import PageResult

_MAX_RETRIES = 2
_FIRST_WAIT_SECONDS = 1.0  # doubles with each further attempt
_MAX_WAIT_SECONDS = 60.0


class RetryQueue:
    """Failed pages with the time of their next attempt (monotonic seconds)."""

    def __init__(self) -> None:
        self._attempts_by_url_id: dict[int, int] = {}
        self._heap: list[tuple[float, int, PageResult]] = []
        self._tie_breaker = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def schedule(self, job_result: PageResult, now: float) -> bool:
        """Schedule a retry.

        Returns False for a permanent failure, after too many attempts, or if the wait is too long.
        """
        result, url_id = job_result.fetch_result, job_result.job.entry.url_id
        attempts = self._attempts_by_url_id.get(url_id, 0)
        wait = max(_FIRST_WAIT_SECONDS * 2.0**attempts, result.retry_after or 0.0)
        if not result.is_transient_failure or attempts >= _MAX_RETRIES or wait > _MAX_WAIT_SECONDS:
            self.forget(url_id)
            return False
        self._attempts_by_url_id[url_id] = attempts + 1
        heapq.heappush(self._heap, (now + wait, next(self._tie_breaker), job_result))
        return True

    def forget(self, url_id: int) -> None:
        """Forget the attempts of a page."""
        self._attempts_by_url_id.pop(url_id, None)

    def pop_due(self, now: float) -> PageResult | None:
        """Return the last result of a page that may be fetched again now, or None."""
        return heapq.heappop(self._heap)[2] if self._heap and self._heap[0][0] <= now else None

    def seconds_until_due(self, now: float) -> float:
        """Return the seconds until the next retry, infinite without any."""
        return max(self._heap[0][0] - now, 0.0) if self._heap else float("inf")

    def drain(self) -> list[PageResult]:
        """Remove and return all pending results, because no time remains."""
        remaining_results = [job_result for _, _, job_result in self._heap]
        self._heap.clear()
        return remaining_results
