"""Schedule known pages by their lastmod in sitemaps, if the lastmod of their site is reliable.

    lastmod after our last visit               due now, unless the site is unreliable
    lastmod before it, site reliable           postponed, except for one page in forty as a sample
    saved page that left all sitemaps          due now: it may be deleted
    no lastmod, or site unreliable             by the revisit policy

The observations of each site are saved between runs in a small file next to the URL-seen filter.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable
from zlib import crc32

from crawler.sitemaps.sitemap import SitemapEntry
from crawler.sitemaps.sitemap_parser import LastmodTrustLevel, rate_lastmod
from crawler.state_files import load_state, write_state
from domain.frontier import LastVisit
from domain.page import Host, Origin

UNCHANGED_TRUST_SECONDS = 7 * 86400.0  # postponement of an unchanged page
_SECONDS_PER_DAY = 86400.0
_MAX_DROPPED_SHARE = 0.1  # of the declared URLs
_ALWAYS_ALLOWED_DROPPED = 10
_SAMPLE_ONE_IN = 40  # one page in 40 is fetched anyway
_MAX_OBSERVATIONS = 200  # per site
_MAX_PREDICTIONS = 100_000


@runtime_checkable
class SitemapTable(Protocol):
    """The additional store methods that sitemaps need."""

    def last_visits(self, urls_to_find: Sequence[str], /) -> dict[str, LastVisit]:
        """Return the last visit and due time of each known URL."""

    def archived_urls_not_due(self, origin: Origin, now: float, /) -> list[str]:
        """Return the saved pages of an origin that are not due and were not seen recently."""

    def reschedule(self, due_at_by_url: Mapping[str, float], /) -> None:
        """Set the due times of URLs (epoch seconds)."""


@dataclass
class LastmodTrust:
    """Reliability of each host's lastmod: pairs (lastmod moved, page changed), newest last."""

    observations_by_host: dict[str, list[tuple[bool, bool]]] = field(default_factory=dict)
    predictions_by_url: dict[str, bool] = field(default_factory=dict)  # URL -> whether lastmod moved, in this run

    @classmethod
    def load(cls, path: Path) -> "LastmodTrust":
        """Load the observations of earlier runs. Starts empty if the file is not readable."""
        return load_state(
            path,
            lambda state: cls({host: [(bool(a), bool(b)) for a, b in pairs] for host, pairs in state.items()}),
        )

    def save(self, path: Path) -> None:
        """Save the observations to the file `path`."""
        write_state(
            path, {host: [[int(a), int(b)] for a, b in pairs] for host, pairs in self.observations_by_host.items()}
        )

    def record_visit(self, host: Host, url: str, changed: bool) -> None:
        """Compare a fetched page with the prediction of its lastmod."""
        predicted_change = self.predictions_by_url.pop(url, None)
        if predicted_change is not None:
            visits = self.observations_by_host.setdefault(host, [])
            visits.append((predicted_change, changed))
            del visits[:-_MAX_OBSERVATIONS]

    def due_times(
        self, host: Host, entries: Iterable[SitemapEntry], last_visit_by_url: Mapping[str, LastVisit], due_before: float
    ) -> dict[str, float]:
        """Return the known URLs with a new due time (epoch seconds). `due_before` is the due limit of this run."""
        trust_level = rate_lastmod(self.observations_by_host.get(host, ()))
        is_trusted = trust_level is not LastmodTrustLevel.UNRELIABLE
        due: dict[str, float] = {}
        for entry in entries:
            visit = last_visit_by_url.get(entry.url)
            if entry.lastmod is None or visit is None or visit.visited_at is None or visit.due_at is None:
                continue
            has_moved = _end_of_day(entry.lastmod) > visit.visited_at
            is_due = visit.due_at <= due_before
            if is_trusted and has_moved and not is_due and visit.failed_attempts == 0:
                due[entry.url] = due_before
            is_late = not has_moved and is_due and visit.can_postpone
            if is_trusted and is_late and not _is_sampled(entry.url, due_before):
                due[entry.url] = max(visit.visited_at + UNCHANGED_TRUST_SECONDS, due_before)
            if len(self.predictions_by_url) < _MAX_PREDICTIONS:
                self.predictions_by_url[entry.url] = has_moved
        return due


def find_dropped_urls(declared_urls: Collection[str], saved_urls: Sequence[str]) -> list[str]:
    """Return the saved pages that the site's sitemaps no longer list, because they may be deleted.

    Returns none if so many are missing that the sitemaps evidently do not list all pages.
    """
    missing = [url for url in saved_urls if url not in declared_urls]
    return missing if len(missing) <= max(_MAX_DROPPED_SHARE * len(declared_urls), _ALWAYS_ALLOWED_DROPPED) else []


def _end_of_day(lastmod: float) -> float:
    """Return the end of the day for a date without a time, because the change may be as late as that."""
    return lastmod + _SECONDS_PER_DAY if lastmod % _SECONDS_PER_DAY == 0 else lastmod


def _is_sampled(url: str, now: float) -> bool:
    return (crc32(url.encode()) + int(now // _SECONDS_PER_DAY)) % _SAMPLE_ONE_IN == 0
