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

from crawler.sitemaps.sitemaps import SitemapEntry, Trust, lastmod_trust
from crawler.state_files import read_state, write_state
from docstore.frontier.table import LastVisit
from docstore.model import Host, Origin

BELIEVED_FOR = 7 * 86400.0  # seconds for which a page that stands still is left alone
_DAY = 86400.0
_MAX_DROPPED = 0.1  # of those declared
_FEW_DROPPED = 10
_SAMPLE = 40  # one in so many is asked all the same
_MAX_VISITS = 200  # remembered of a site
_MAX_CLAIMS = 100_000


@runtime_checkable
class DeclaredTable(Protocol):
    """What sitemaps need of the store, beside what every crawl needs."""

    def last_visits(self, wanted: Sequence[str], /) -> dict[str, LastVisit]:
        """When each of the known ones was visited and is due."""

    def kept_at(self, origin: Origin, now: float, /) -> list[str]:
        """URLs of an origin whose page is kept, that are not due, and were last seen a while ago."""

    def reschedule(self, due: Mapping[str, float], /) -> None:
        """Set when URLs are due."""


@dataclass
class LastmodTrust:
    """How right each host's lastmod has been: pairs (it had moved, the page had changed), the newest last."""

    visits: dict[str, list[tuple[bool, bool]]] = field(default_factory=dict)
    claims: dict[str, bool] = field(default_factory=dict)  # URL -> had it moved, for those asked in this run

    @classmethod
    def load(cls, path: Path) -> "LastmodTrust":
        """What earlier runs have learned; nothing if the file cannot be read."""
        try:
            return cls({host: [(bool(a), bool(b)) for a, b in pairs] for host, pairs in read_state(path).items()})
        except (ValueError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        write_state(path, {host: [[int(a), int(b)] for a, b in pairs] for host, pairs in self.visits.items()})

    def trust(self, host: Host) -> Trust:
        """What the host's word is worth."""
        return lastmod_trust(self.visits.get(host, ()))

    def visited(self, host: Host, url: str, changed: bool) -> None:
        """A page was asked for: was the claim about it right?"""
        claim = self.claims.pop(url, None)
        if claim is not None:
            visits = self.visits.setdefault(host, [])
            visits.append((claim, changed))
            del visits[:-_MAX_VISITS]

    def plan(
        self, host: Host, entries: Iterable[SitemapEntry], known: Mapping[str, LastVisit], before: float
    ) -> dict[str, float]:
        """Known URLs that are due at another time than the table has it; `before` is what this run asks."""
        believed = self.trust(host) is not Trust.WRONG
        due: dict[str, float] = {}
        for entry in entries:
            visit = known.get(entry.url)
            if entry.lastmod is None or visit is None or visit.visited_at is None or visit.due_at is None:
                continue
            moved = _end(entry.lastmod) > visit.visited_at
            is_due = visit.due_at <= before
            if moved and not is_due and visit.attempts == 0:
                due[entry.url] = before
            elif not moved and is_due and believed and visit.is_quiet and not _sampled(entry.url, before):
                due[entry.url] = visit.visited_at + BELIEVED_FOR if visit.visited_at + BELIEVED_FOR > before else before
            if len(self.claims) < _MAX_CLAIMS:
                self.claims[entry.url] = moved
        return due


def dropped(declared: Collection[str], kept: Sequence[str]) -> list[str]:
    """Kept pages that a site's sitemaps do not name (any more): they may be gone. None, where so many are missing that
    the sitemaps were never meant to name all."""
    missing = [url for url in kept if url not in declared]
    return missing if len(missing) <= max(_MAX_DROPPED * len(declared), _FEW_DROPPED) else []


def _end(lastmod: float) -> float:
    """A day without a time may mean its last moment."""
    return lastmod + _DAY if lastmod % _DAY == 0 else lastmod


def _sampled(url: str, now: float) -> bool:
    return (crc32(url.encode()) + int(now // _DAY)) % _SAMPLE == 0
