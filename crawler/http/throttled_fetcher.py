"""Requests that are no jobs of their own: each waits until its host allows it."""

import time
from typing import Any

from crawler.http.fetch import Fetcher, FetchError, HttpResponse
from crawler.schedule.throttle import HostThrottle
from crawler.urls.canonical import host_of
from domain.message import Message
from domain.outcome import Reason

_MAX_WAIT_SECONDS = 120.0  # twice the longest Crawl-delay that is observed


class ThrottledFetcher(Fetcher):
    """Sends requests when the throttle of their host allows it, with the connections and cookies of `fetcher`."""

    def __init__(self, fetcher: Fetcher, throttle: HostThrottle) -> None:
        vars(self).update(vars(fetcher))
        self._throttle = throttle

    def _get(self, url: str, *args: Any, **keywords: Any) -> HttpResponse:
        host, clock = host_of(url), time.monotonic
        seconds = self._throttle.start_inner_request(host, clock(), _MAX_WAIT_SECONDS)
        if seconds > _MAX_WAIT_SECONDS:
            raise FetchError(Reason.TIMED_OUT, Message("the host asks to wait longer"))
        time.sleep(seconds)
        try:
            response = super()._get(url, *args, **keywords)
        except FetchError as error:
            self._throttle.finish_request(host, clock(), error.fetch_result)
            raise
        self._throttle.finish_request(host, clock(), response.file_result(self._now()))
        return response
