"""Estimate for `plumb status` how many more runs a site needs. Pure.

A run gives a host `crawl.minutes`. One page takes the crawl delay plus the response time. Both come from the last run
of the host, or `crawl.delay` and a default. Seeds and list pages come first, then new pages, then revisits.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crawler.schedule.throttle import HostStatus
from crawler.settings import CrawlSettings
from crawler.state_files import load_state, write_state
from domain.frontier import HostBacklog

PACES_STATE = "paces"
_DEFAULT_RESPONSE_SECONDS = 0.5  # response time without a measurement
_MIN_PAGE_SECONDS = 0.02  # minimum cost of a page in the crawler itself
_MAX_HOSTS = 20_000


@dataclass
class HostPaces:
    """Seconds per page of each host in its last run. Saved between runs."""

    seconds_by_host: dict[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "HostPaces":
        """Load the values of earlier runs."""
        return load_state(path, lambda state: cls({host: float(seconds) for host, seconds in state.items()}))

    @classmethod
    def load_all(cls, folder: Path) -> "HostPaces":
        """Load the values of all files of a crawl: earlier programs had one for each process."""
        paces = cls()
        for path in sorted(folder.glob(f"{PACES_STATE}*.json")):
            paces.seconds_by_host |= cls.load(path).seconds_by_host
        return paces

    def save(self, path: Path) -> None:
        """Save the values, at most those of the 20,000 hosts that were updated last."""
        write_state(path, dict(list(self.seconds_by_host.items())[-_MAX_HOSTS:]))

    def update(self, status_by_host: Mapping[str, HostStatus]) -> None:
        """Store the current values of all hosts at the end of a run."""
        for host, status in status_by_host.items():
            self.seconds_by_host.pop(host, None)
            self.seconds_by_host[host] = round(status.crawl_delay + status.response_seconds, 3)


@dataclass(frozen=True)
class HostForecast:
    """Backlog and estimated runs of a host.

    Attributes:
        runs_for_new: runs until all URLs that are new today are fetched, or None if list pages fill every run.
        runs_for_all: runs until no URL is overdue, or None.
    """

    host: str
    known_urls: int
    new_urls: int
    list_pages: int
    due_urls: int
    pages_per_run: int
    runs_for_new: int | None
    runs_for_all: int | None


def forecast_host(backlog: HostBacklog, paces: HostPaces, settings: CrawlSettings) -> HostForecast:
    """Estimate the runs that a host needs."""
    seconds = paces.seconds_by_host.get(backlog.host, settings.delay + _DEFAULT_RESPONSE_SECONDS)
    pages = max(int(settings.minutes * 60 / max(seconds, _MIN_PAGE_SECONDS)), 1)
    runs = (
        _runs_needed(backlog.new_urls, pages - backlog.list_pages),
        _runs_needed(backlog.new_urls + backlog.due_urls, pages - backlog.list_pages),
    )
    return HostForecast(
        backlog.host, backlog.known_urls, backlog.new_urls, backlog.list_pages, backlog.due_urls, pages, *runs
    )


def max_runs(runs: Iterable[int | None]) -> int | None:
    """Return the runs that several hosts need together. Hosts are crawled in parallel, so this is the maximum."""
    counts = list(runs)
    return None if None in counts else max((count for count in counts if count is not None), default=0)


def _runs_needed(urls: int, pages: int) -> int | None:
    if not urls:
        return 0
    return math.ceil(urls / pages) if pages > 0 else None
