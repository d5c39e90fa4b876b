"""What sitemaps say of pages that are known: which have changed, which stand still, and whether that can be believed.

    lastmod after our last visit                   due now
    lastmod before it, and the site's word counts  not due before a while, but for one in forty, which tests the word
    kept, but no longer in any sitemap             due now: it may be gone
    no lastmod, or the site's word is worthless    as the revisit rule has it

How right each site was is kept between runs in a small file beside the seen filter; lost, it is learned anew.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable
from zlib import crc32

from crawler.sitemaps.sitemap_parser import LastmodTrustLevel, SitemapEntry, rate_lastmod
from crawler.state_files import read_state, write_state
from docstore.frontier.frontier_table import LastVisit
from docstore.model import Host, Origin

UNCHANGED_TRUST_SECONDS = 7 * 86400.0  # seconds for which a page that stands still is left alone
_SECONDS_PER_DAY = 86400.0
_MAX_DROPPED_SHARE = 0.1  # of those declared
_ALWAYS_ALLOWED_DROPPED = 10
_SAMPLE_ONE_IN = 40  # one in so many is asked all the same
_MAX_OBSERVATIONS = 200  # remembered of a site
_MAX_PREDICTIONS = 100_000


@runtime_checkable
class SitemapTable(Protocol):
    """What sitemaps need of the store, beside what every crawl needs."""

    def last_visits(self, urls_to_find: Sequence[str], /) -> dict[str, LastVisit]:
        """When each of the known ones was visited and is due."""

    def archived_urls_not_due(self, origin: Origin, now: float, /) -> list[str]:
        """URLs of an origin whose page is kept, that are not due, and were last seen a while ago."""

    def reschedule(self, due_at_by_url: Mapping[str, float], /) -> None:
        """Set when URLs are due."""


@dataclass
class LastmodTrust:
    """How right each host's lastmod has been: pairs (it had moved, the page had changed), the newest last."""

    observations_by_host: dict[str, list[tuple[bool, bool]]] = field(default_factory=dict)
    predictions_by_url: dict[str, bool] = field(
        default_factory=dict
    )  # URL -> had it moved, for those asked in this run

    @classmethod
    def load(cls, path: Path) -> "LastmodTrust":
        """What earlier runs have learned; nothing if the file cannot be read."""
        try:
            return cls({host: [(bool(a), bool(b)) for a, b in pairs] for host, pairs in read_state(path).items()})
        except (ValueError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        write_state(
            path, {host: [[int(a), int(b)] for a, b in pairs] for host, pairs in self.observations_by_host.items()}
        )

    def trust_level(self, host: Host) -> LastmodTrustLevel:
        """What the host's word is worth."""
        return rate_lastmod(self.observations_by_host.get(host, ()))

    def record_visit(self, host: Host, url: str, changed: bool) -> None:
        """A page was asked for: was the claim about it right?"""
        predicted_change = self.predictions_by_url.pop(url, None)
        if predicted_change is not None:
            visits = self.observations_by_host.setdefault(host, [])
            visits.append((predicted_change, changed))
            del visits[:-_MAX_OBSERVATIONS]

    def due_times(
        self, host: Host, entries: Iterable[SitemapEntry], last_visit_by_url: Mapping[str, LastVisit], due_before: float
    ) -> dict[str, float]:
        """Known URLs that are due at another time than the table has it; `due_before` is what this run asks."""
        is_trusted = self.trust_level(host) is not LastmodTrustLevel.UNRELIABLE
        due: dict[str, float] = {}
        for entry in entries:
            visit = last_visit_by_url.get(entry.url)
            if entry.lastmod is None or visit is None or visit.visited_at is None or visit.due_at is None:
                continue
            has_moved = _end_of_day(entry.lastmod) > visit.visited_at
            is_due = visit.due_at <= due_before
            if has_moved and not is_due and visit.failed_attempts == 0:
                due[entry.url] = due_before
            elif (
                not has_moved
                and is_due
                and is_trusted
                and visit.can_postpone
                and not _is_sampled(entry.url, due_before)
            ):
                due[entry.url] = (
                    visit.visited_at + UNCHANGED_TRUST_SECONDS
                    if visit.visited_at + UNCHANGED_TRUST_SECONDS > due_before
                    else due_before
                )
            if len(self.predictions_by_url) < _MAX_PREDICTIONS:
                self.predictions_by_url[entry.url] = has_moved
        return due


def find_dropped_urls(declared_urls: Collection[str], saved_urls: Sequence[str]) -> list[str]:
    """Kept pages that a site's sitemaps do not name (any more): they may be gone. None, where so many are missing that
    the sitemaps were never meant to name all."""
    missing = [url for url in saved_urls if url not in declared_urls]
    return missing if len(missing) <= max(_MAX_DROPPED_SHARE * len(declared_urls), _ALWAYS_ALLOWED_DROPPED) else []


def _end_of_day(lastmod: float) -> float:
    """A day without a time may mean its last moment."""
    return lastmod + _SECONDS_PER_DAY if lastmod % _SECONDS_PER_DAY == 0 else lastmod


def _is_sampled(url: str, now: float) -> bool:
    return (crc32(url.encode()) + int(now // _SECONDS_PER_DAY)) % _SAMPLE_ONE_IN == 0
