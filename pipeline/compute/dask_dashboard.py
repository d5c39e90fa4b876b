"""Where Dask's own pages are: as the settings say, or as the scheduler says."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from docstore.errors import PlumblineError
from pipeline.compute.settings import DASK, ClusterSettings, is_http_url

SCHEDULER_TIMEOUT_SECONDS = 1.0  # for an answer of the scheduler: a person waits for the page
CACHE_SECONDS = 60.0  # what it has said, also that it does not answer


class DashboardLink:
    """The link of one vertical, for a page that is asked for again and again: the scheduler is asked once a minute.

    `ask` gets the address of a scheduler and returns what that says, or raises PlumblineError; `clock` tells seconds
    that never go back.
    """

    def __init__(
        self,
        settings: ClusterSettings,
        query_scheduler: Callable[[str], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._query_scheduler, self._clock = settings, query_scheduler or query_dashboard_url, clock
        self._lock = threading.Lock()
        self._cached_url, self._cached_until = "", float("-inf")

    def url(self) -> str:
        """An http or https URL; "" where Dask does not compute, or its scheduler does not answer."""
        if self._settings.engine != DASK:
            return ""
        if self._settings.dashboard:
            return self._settings.dashboard
        with self._lock:
            if self._clock() >= self._cached_until:
                self._cached_url = self._query()
                self._cached_until = self._clock() + CACHE_SECONDS
            return self._cached_url

    def _query(self) -> str:
        try:
            url = self._query_scheduler(self._settings.scheduler)
        except PlumblineError:
            return ""
        return url if is_http_url(url) else ""


def query_dashboard_url(scheduler: str) -> str:
    """What a scheduler says of its pages, "" where that makes no URL; one that was told to have none names its port all
    the same. PlumblineError where it does not answer."""
    from pipeline.compute.dask_backend import connect_client  # Dask: who computes alone does without

    client: Any = connect_client(scheduler, SCHEDULER_TIMEOUT_SECONDS)
    with closing(client):
        try:
            return str(client.dashboard_link or "")
        except (KeyError, IndexError, ValueError):  # a template of links that is wrong
            return ""
