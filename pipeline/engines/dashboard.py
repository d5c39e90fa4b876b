"""Where Dask's own pages are: as the settings say, or as the scheduler says."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from docstore.errors import PlumblineError
from pipeline.engines.settings import DASK, ClusterSettings, is_web_url

ASK_SECONDS = 1.0  # for an answer of the scheduler: a person waits for the page
KEPT_SECONDS = 60.0  # what it has said, also that it does not answer


class Dashboard:
    """The link of one vertical, for a page that is asked for again and again: the scheduler is asked once a minute.

    `ask` gets the address of a scheduler and returns what that says, or raises PlumblineError; `clock` tells seconds
    that never go back.
    """

    def __init__(
        self,
        settings: ClusterSettings,
        ask: Callable[[str], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._ask, self._clock = settings, ask or ask_scheduler, clock
        self._guard = threading.Lock()
        self._said, self._until = "", float("-inf")

    def url(self) -> str:
        """An http or https URL; "" where Dask does not compute, or its scheduler does not answer."""
        if self._settings.engine != DASK:
            return ""
        if self._settings.dashboard:
            return self._settings.dashboard
        with self._guard:
            if self._clock() >= self._until:
                self._said = self._asked()
                self._until = self._clock() + KEPT_SECONDS
            return self._said

    def _asked(self) -> str:
        try:
            said = self._ask(self._settings.scheduler)
        except PlumblineError:
            return ""
        return said if is_web_url(said) else ""


def ask_scheduler(scheduler: str) -> str:
    """What a scheduler says of its pages, "" where that makes no URL; one that was told to have none names its port all
    the same. PlumblineError where it does not answer."""
    from pipeline.engines.dask_engine import connect  # Dask: who computes alone does without

    client: Any = connect(scheduler, ASK_SECONDS)
    with closing(client):
        try:
            return str(client.dashboard_link or "")
        except (KeyError, IndexError, ValueError):  # a template of links that is wrong
            return ""
