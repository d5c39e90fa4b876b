"""URL of the Dask dashboard, from the settings or from the scheduler."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from domain.errors import PlumblineError
from pipeline.compute.settings import DASK, ClusterSettings, is_http_url

SCHEDULER_TIMEOUT_SECONDS = 1.0  # short: a person waits for the page
CACHE_SECONDS = 60.0  # also for the result that the scheduler does not respond


class DashboardLink:
    """Link to the Dask dashboard of one vertical. The scheduler is queried at most once a minute.

    Args:
        query_scheduler: returns the dashboard URL for a scheduler address, or raises PlumblineError
        clock: monotonic clock, in seconds
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
        """Return an http or https URL; "" if the engine is not dask, or its scheduler does not respond."""
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
    """Return the dashboard URL that the scheduler reports; "" if its link template is invalid.

    A scheduler that was started without a dashboard reports a URL as well. Raises PlumblineError if it does not
    respond.
    """
    from pipeline.compute.dask_backend import connect_client  # imports Dask, which the local backend does not need

    client: Any = connect_client(scheduler, SCHEDULER_TIMEOUT_SECONDS)
    with closing(client):
        try:
            return str(client.dashboard_link or "")
        except (KeyError, IndexError, ValueError):  # invalid link template in the Dask configuration
            return ""
