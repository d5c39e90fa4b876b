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
from docstore.frontier.order import HostBacklog

PACES = "paces"
_ANSWER = 0.5  # seconds that a page takes to come, where no run has found out
_LEAST = 0.02  # seconds: what a page costs us, where no host asks for more
_MAX_HOSTS = 20_000


@dataclass
class Paces:
    """Host -> seconds between two of its pages, as the last run that asked it found; kept between runs."""

    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "Paces":
        """What earlier runs have found."""
        try:
            return cls({host: float(seconds) for host, seconds in read_state(path).items()})
        except (ValueError, TypeError):
            return cls()

    @classmethod
    def of(cls, folder: Path) -> "Paces":
        """What all processes of a crawl have found."""
        found = cls()
        for path in sorted(folder.glob(f"{PACES}*.json")):
            found.seconds |= cls.load(path).seconds
        return found

    def save(self, path: Path) -> None:
        """Keep it."""
        write_state(path, dict(list(self.seconds.items())[-_MAX_HOSTS:]))

    def found(self, manners: Mapping[str, HostStatus]) -> None:
        """How hosts were treated at the end of a run."""
        for host, one in manners.items():
            self.seconds.pop(host, None)
            self.seconds[host] = round(one.gap + one.seconds, 3)


@dataclass(frozen=True)
class Foretold:
    """What a host has and takes: URLs known, new, lists and others that are due; pages a run; and runs until all that
    is new today is fetched, and until nothing is overdue. None: its lists alone take more than a run."""

    host: str
    known: int
    new: int
    lists: int
    due: int
    pages_a_run: int
    runs_for_new: int | None
    runs_for_all: int | None


def foretold(one: HostBacklog, paces: Paces, settings: CrawlSettings) -> Foretold:
    """The runs that a host takes."""
    seconds = paces.seconds.get(one.host, settings.delay + _ANSWER)
    pages = max(int(settings.minutes * 60 / max(seconds, _LEAST)), 1)
    runs = (_runs(one.new, pages - one.lists), _runs(one.new + one.due, pages - one.lists))
    return Foretold(one.host, one.known, one.new, one.lists, one.due, pages, *runs)


def longest(runs: Iterable[int | None]) -> int | None:
    """Of several hosts, which are asked beside each other."""
    found = list(runs)
    return None if None in found else max((one for one in found if one is not None), default=0)


def _runs(urls: int, pages: int) -> int | None:
    if not urls:
        return 0
    return math.ceil(urls / pages) if pages > 0 else None
