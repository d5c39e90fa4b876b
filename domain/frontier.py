"""URLs of the frontier and the results of their visits.

NewUrl         a URL that passed the crawl's rules     crawler -> frontier
FrontierEntry  a due URL                               frontier -> crawler
Visit          all results of one fetch                crawler -> frontier, saved in one transaction
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.focused_decision import FocusedDecision
from domain.outcome import Outcome
from domain.page import Host, Origin, Page


class UrlKind(StrEnum):
    """Role of a URL in the crawl.

    Seeds and changing hubs are fetched in every run, other pages by the revisit policy.
    """

    SEED = "seed"
    HUB = "hub"
    ARTICLE = "article"
    UNKNOWN = "unknown"  # not extracted yet


class UrlExclusion(StrEnum):
    """Why a URL is never due.

    Later visits make only `FINISHED` URLs due. The other values stay until a person or an action ends them.
    """

    NONE = ""
    FINISHED = "finished"  # the crawl fetches each article once (`crawl.incremental = "new_only"`)
    IMPORTED = "imported"  # its page is from a WARC file, and the crawl did not find it
    EXPIRED = "expired"  # its article is older than `store.keep_days`
    REMOVED = "removed"  # with all pages of its site
    BLOCKED = "blocked"  # by a person
    TAKEN_DOWN = "taken_down"


@dataclass(frozen=True)
class FrontierEntry:
    """One URL of the frontier, as passed to a fetch worker.

    Attributes:
        etag: ETag of the last stored response, or "".
        last_modified: Last-Modified header of the last stored response, or "".
        digest: SHA-256 (hex) of the last stored response, or "".
        gap: Current revisit interval in seconds.
        attempts: Failed fetches since the last success.
    """

    url_id: int
    url: str
    host: Host
    queue: int
    depth: int
    kind: UrlKind
    priority: float
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    gap: float = 0.0
    attempts: int = 0


@dataclass(frozen=True)
class NewUrl:
    """A discovered URL that passed the crawl's rules. `url` is canonical, `host` is host[:port].

    It is due at once unless `exclusion` is set. A known URL retains its due time and its exclusion.
    """

    url: str
    host: Host
    queue: int
    depth: int
    kind: UrlKind
    priority: float
    parent_id: int | None = None
    anchor: str = ""
    context: str = ""
    exclusion: UrlExclusion = UrlExclusion.NONE


@dataclass(frozen=True)
class Visit:
    """All results of one fetch.

    Attributes:
        visited_at: Epoch seconds.
        next_visit_at: Epoch seconds at which the URL is due again; None if the crawl is finished with it. Ignored for
            URLs with another exclusion.
        revisit_seconds: Current revisit interval in seconds.
        page: A new or changed version to store; None after a 304, an unchanged body or a failure.
        is_gone: True if the article must leave the store and the index.
        discovered_urls: Links of the page that passed the rules.
        failed_attempts: Failures since the last success.
        focused_decision: Decision of a focused crawl on the page.
    """

    entry: FrontierEntry
    outcome: Outcome
    visited_at: float
    next_visit_at: float | None
    revisit_seconds: float
    page: Page | None = None
    etag: str = ""
    last_modified: str = ""
    is_gone: bool = False
    discovered_urls: tuple[NewUrl, ...] = ()
    failed_attempts: int = 0
    focused_decision: FocusedDecision | None = None


@dataclass(frozen=True)
class LastVisit:
    """Times of the last and the next visit of a URL, in epoch seconds.

    Attributes:
        visited_at: None if the URL was never visited.
        due_at: None if the URL is never due again.
        failed_attempts: Failures since the last success.
        can_postpone: True if the last fetch succeeded and the URL is neither a seed nor a hub.
    """

    visited_at: float | None
    due_at: float | None
    failed_attempts: int
    can_postpone: bool


@dataclass(frozen=True)
class StoredRobots:
    """robots.txt of one origin: HTTP status (0: no response), body, and time of the fetch in epoch seconds."""

    origin: Origin
    status: int
    body: bytes
    fetched_at: float


@dataclass(frozen=True)
class HostBacklog:
    """Pending URLs of a host for the next run.

    Attributes:
        known_urls: All URLs of the host.
        new_urls: Due URLs that were never fetched, without seeds and lists.
        list_pages: Due seeds and lists.
        due_urls: Other due URLs, fetched before.
    """

    host: Host
    known_urls: int
    new_urls: int
    list_pages: int
    due_urls: int


def is_off_topic(entry: FrontierEntry) -> bool:
    """True if the URL was fetched but not stored, and is neither a seed nor a hub."""
    return entry.kind not in (UrlKind.SEED, UrlKind.HUB) and not entry.digest and entry.gap > 0 and not entry.attempts
