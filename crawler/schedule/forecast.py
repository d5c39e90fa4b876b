"""How many runs a site still takes, as far as is known: foretold for `plumb status`. Pure.

A run gives a host `crawl.minutes`, one page every `gap` seconds and what it takes to answer: as the last run found it,
else `crawl.delay`. Its seeds and lists come first, then new pages, then those that are due again.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crawler.schedule.throttle import HostStatus
from crawler.settings import CrawlSettings
from crawler.state_files import read_state, write_state
from docstore.frontier.due_order import HostBacklog

PACES_STATE = "paces"
_DEFAULT_RESPONSE_SECONDS = 0.5  # seconds that a page takes to come, where no run has found out
_MIN_PAGE_SECONDS = 0.02  # seconds: what a page costs us, where no host asks for more
_MAX_HOSTS = 20_000


@dataclass
class HostPaces:
    """Host -> seconds between two of its pages, as the last run that asked it found; kept between runs."""

    seconds_by_host: dict[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "HostPaces":
        """What earlier runs have found."""
        try:
            return cls({host: float(seconds) for host, seconds in read_state(path).items()})
        except (ValueError, TypeError):
            return cls()

    @classmethod
    def load_all(cls, folder: Path) -> "HostPaces":
        """What all processes of a crawl have found."""
        paces = cls()
        for path in sorted(folder.glob(f"{PACES_STATE}*.json")):
            paces.seconds_by_host |= cls.load(path).seconds_by_host
        return paces

    def save(self, path: Path) -> None:
        """Keep it."""
        write_state(path, dict(list(self.seconds_by_host.items())[-_MAX_HOSTS:]))

    def update(self, status_by_host: Mapping[str, HostStatus]) -> None:
        """How hosts were treated at the end of a run."""
        for host, status in status_by_host.items():
            self.seconds_by_host.pop(host, None)
            self.seconds_by_host[host] = round(status.crawl_delay + status.response_seconds, 3)


@dataclass(frozen=True)
class HostForecast:
    """What a host has and takes: URLs known, new, lists and others that are due; pages a run; and runs until all that
    is new today is fetched, and until nothing is overdue. None: its lists alone take more than a run."""

    host: str
    known_urls: int
    new_urls: int
    list_pages: int
    due_urls: int
    pages_per_run: int
    runs_for_new: int | None
    runs_for_all: int | None


def forecast_host(backlog: HostBacklog, paces: HostPaces, settings: CrawlSettings) -> HostForecast:
    """The runs that a host takes."""
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
    """Of several hosts, which are asked beside each other."""
    counts = list(runs)
    return None if None in counts else max((count for count in counts if count is not None), default=0)


def _runs_needed(urls: int, pages: int) -> int | None:
    if not urls:
        return 0
    return math.ceil(urls / pages) if pages > 0 else None
