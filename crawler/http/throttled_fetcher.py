"""Requests outside the queue of jobs: each waits until the throttle of its host allows it."""

import time
from collections.abc import Callable, Mapping

from crawler.http.fetch import Fetcher, FetchError, FetchResult, HttpResponse
from crawler.schedule.throttle import HostThrottle
from crawler.urls.canonical import host_of
from domain.coded_message import CodedMessage
from domain.frontier import FrontierEntry
from domain.outcome import Reason
from domain.page import Host

MAX_WAIT_SECONDS = 120.0  # twice the longest Crawl-delay that is observed


class ThrottledFetcher:
    """A fetcher that waits for the turn of the host and reports each response to the throttle. Thread-safe."""

    def __init__(self, fetcher: Fetcher, throttle: HostThrottle, now: Callable[[], float] = time.time) -> None:
        self.fetcher, self.throttle, self.now = fetcher, throttle, now

    def get(
        self,
        url: str,
        headers: Mapping[str, str],
        should_read_body: Callable[[int, str], bool],
        cap: int | None = None,
        truncate: bool = False,
    ) -> HttpResponse:
        """Send one GET, like `Fetcher.get`. Raises FetchError also if the host allows no request soon."""
        self._wait(host_of(url))
        try:
            response = self.fetcher.get(url, headers, should_read_body, cap, truncate)
        except FetchError as error:
            self.throttle.finish_fetch(host_of(url), time.monotonic(), error.fetch_result)
            raise
        self.throttle.finish_fetch(host_of(url), time.monotonic(), response.file_result(self.now()))
        return response

    def fetch(self, entry: FrontierEntry) -> FetchResult:
        """Fetch one page, like `Fetcher.fetch`."""
        try:
            self._wait(entry.host)
        except FetchError as error:
            return error.fetch_result
        result = self.fetcher.fetch(entry)
        self.throttle.finish_fetch(entry.host, time.monotonic(), result)
        return result

    def _wait(self, host: Host) -> None:
        seconds = self.throttle.start_inner_request(host, time.monotonic(), MAX_WAIT_SECONDS)
        if seconds > MAX_WAIT_SECONDS:
            raise FetchError(Reason.TIMED_OUT, CodedMessage("the host asks to wait longer", "host_asks_to_wait"))
        time.sleep(seconds)
