"""Administration of the frontier: site counts, and commands to list, block and requeue URLs."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select, update

from docstore.bookkeeping import read_meta, write_meta
from docstore.database import StorePart
from docstore.frontier.due_order import count_if
from docstore.frontier.exclusions import DUE_NOW, exclude_urls, is_scheduled_by_crawl
from docstore.schema.crawl_tables import outcomes, pages, urls
from domain.frontier import UrlExclusion, UrlKind
from domain.outcome import SUCCESS_REASONS, Stage
from domain.page import WarcPointer

_BATCH_SIZE = 10_000
_CRAWL_DEPTH_KEY = "crawl_depth"  # key of the depth limit of the last crawl
REFETCHED_COLUMNS = {**DUE_NOW, "etag": "", "last_modified": "", "digest": ""}  # due, and not compared


@dataclass(frozen=True)
class SiteHealth:
    """Counts of one host.

    Attributes:
        url_count: All URLs.
        new_count: URLs never fetched.
        due_count: URLs due now.
        archived_count: URLs with a stored page.
        failed_count: URLs whose last visit failed.
        last_visit: Epoch seconds of the latest visit; None if there was none.
    """

    host: str
    url_count: int
    new_count: int
    due_count: int
    archived_count: int
    failed_count: int
    last_visit: float | None


@dataclass(frozen=True)
class UrlStatus:
    """State of one URL.

    `due_at` is None if the URL is never due; `exclusion` says why. `reason` and `detail` are the outcome of the last
    visit, "" if there was none. Times are epoch seconds.
    """

    url: str
    host: str
    depth: int
    kind: str
    priority: float
    due_at: float | None
    exclusion: str
    visited_at: float | None
    attempts: int
    reason: str
    detail: str


class FrontierAdmin(StorePart):
    """Administrator commands on the frontier (`store.frontier.admin`).

    A URL pattern is a URL, or a prefix followed by `*`.
    """

    def site_health(self, now: float) -> list[SiteHealth]:
        """Return the counts of all hosts, the host with the most URLs first. `now` is epoch seconds."""
        is_failed = and_(outcomes.c.reason.is_not(None), outcomes.c.reason.not_in(SUCCESS_REASONS))
        columns = (
            urls.c.host,
            func.count(),
            count_if(urls.c.visited_at.is_(None)),
            count_if(urls.c.due_at <= now),
            func.count(pages.c.url_id),
            count_if(is_failed),
            func.max(urls.c.visited_at),
        )
        query = (
            select(*columns)
            .select_from(urls.outerjoin(pages, pages.c.url_id == urls.c.url_id).outerjoin(outcomes, _HAS_CRAWL_OUTCOME))
            .group_by(urls.c.host)
            .order_by(func.count().desc(), urls.c.host)
        )
        with self._database.read() as connection:
            return [SiteHealth(*row) for row in connection.execute(query)]

    def iter_urls(self, url_pattern: str = "*", limit: int | None = None) -> Iterator[UrlStatus]:
        """Iterate over the URLs that match a pattern in order of discovery, at most `limit`. Reads in batches."""
        query = (
            select(urls, outcomes.c.reason, outcomes.c.detail)
            .select_from(urls.outerjoin(outcomes, _HAS_CRAWL_OUTCOME))
            .where(matches_url_pattern(url_pattern))
        )
        size = _BATCH_SIZE if limit is None else min(limit, _BATCH_SIZE)
        batches = self._database.iter_batches(query, urls.c.url_id, size)
        return map(url_status_from_row, islice(chain.from_iterable(batches), limit))

    def iter_archived_pages(self, url_pattern: str = "*") -> Iterator[WarcPointer]:
        """Iterate over the WARC locations of the stored pages that match a pattern, in order of discovery."""
        query = (
            select(urls.c.url_id, pages.c.warc_file, pages.c.warc_offset, pages.c.warc_length)
            .join(pages, urls.c.url_id == pages.c.url_id)
            .where(matches_url_pattern(url_pattern))
        )
        batches = self._database.iter_batches(query, urls.c.url_id, _BATCH_SIZE)
        return (WarcPointer(row.warc_file, row.warc_offset, row.warc_length) for rows in batches for row in rows)

    def requeue_deepest_pages(self, depth: int) -> int:
        """Make the deepest pages due if `depth` exceeds the stored depth limit, and store `depth` as the new limit.

        The links of these pages were not stored, so they must be fetched again. Without a stored limit, the maximum
        depth of all URLs is used. Returns the number of URLs.
        """
        with self._database.write() as connection:
            stored_depth = read_meta(connection, _CRAWL_DEPTH_KEY)
            previous_depth = int(stored_depth) if stored_depth else connection.scalar(select(func.max(urls.c.depth)))
            write_meta(self._database, connection, _CRAWL_DEPTH_KEY, depth)
            if previous_depth is None or previous_depth >= depth:
                return 0
            is_deepest = (urls.c.depth >= previous_depth) & urls.c.visited_at.is_not(None) & is_scheduled_by_crawl()
            return connection.execute(update(urls).where(is_deepest).values(**REFETCHED_COLUMNS)).rowcount

    def set_new_only(self, is_new_only: bool) -> int:
        """Apply `crawl.incremental` to the articles that are fetched already. Returns the number of changed URLs.

        If each article is fetched once, they are never due, except those that a person or an action made due again, and
        failed visits, which are repeated. Otherwise they are due after their intervals.
        """
        is_article = urls.c.visited_at.is_not(None) & urls.c.kind.not_in((UrlKind.SEED, UrlKind.HUB))
        with self._database.write() as connection:
            if is_new_only:
                is_waiting = (urls.c.due_at > 0.0) & (urls.c.exclusion == UrlExclusion.NONE) & (urls.c.attempts == 0)
                return exclude_urls(connection, is_article & is_waiting, UrlExclusion.FINISHED)
            statement = update(urls).where(is_article, urls.c.exclusion == UrlExclusion.FINISHED)
            next_visit = {"due_at": urls.c.visited_at + urls.c.gap, "exclusion": UrlExclusion.NONE}
            return connection.execute(statement.values(**next_visit)).rowcount

    def make_due(self, url: str) -> bool:
        """Make a URL due, unless it is excluded for another reason than `FINISHED`. Returns False if it was not."""
        with self._database.write() as connection:
            statement = update(urls).where(urls.c.url == url, is_scheduled_by_crawl()).values(**DUE_NOW)
            return bool(connection.execute(statement).rowcount)

    def refetch_hosts(self, hosts: Collection[str]) -> int:
        """Make the fetched URLs of `hosts` due, and fetch them as if they were new. Returns the number of URLs."""
        condition = urls.c.host.in_(hosts) & urls.c.visited_at.is_not(None) & is_scheduled_by_crawl()
        with self._database.write() as connection:
            return connection.execute(update(urls).where(condition).values(**REFETCHED_COLUMNS)).rowcount

    def block_urls(self, url_pattern: str) -> int:
        """Never fetch the known URLs that match a pattern, until `requeue_urls`. Returns the number of URLs."""
        with self._database.write() as connection:
            return exclude_urls(connection, matches_url_pattern(url_pattern), UrlExclusion.BLOCKED)

    def requeue_urls(self, url_pattern: str) -> int:
        """Make the known URLs that match a pattern due and reset their failure counts. Returns the number of URLs."""
        condition = matches_url_pattern(url_pattern) & (urls.c.exclusion != UrlExclusion.TAKEN_DOWN)
        statement = update(urls).where(condition).values(attempts=0, **DUE_NOW)
        with self._database.write() as connection:
            return connection.execute(statement).rowcount


_HAS_CRAWL_OUTCOME = and_(outcomes.c.url_id == urls.c.url_id, outcomes.c.stage == Stage.CRAWL)


def matches_url_pattern(url_pattern: str) -> ColumnElement[bool]:
    """SQL condition: the URL matches a pattern (see `FrontierAdmin`)."""
    if url_pattern == "*":
        return urls.c.url_id > 0
    if not url_pattern.endswith("*"):
        return urls.c.url == url_pattern
    prefix = url_pattern[:-1]
    # LIKE ignores case in SQLite, and the order of texts depends on the collation in PostgreSQL.
    return func.substr(urls.c.url, 1, len(prefix)) == prefix


def url_status_from_row(row: Any) -> UrlStatus:
    """Convert a row of `urls`, joined with its crawl outcome, to a UrlStatus."""
    return UrlStatus(
        row.url,
        row.host,
        row.depth,
        str(UrlKind(row.kind)),
        row.priority,
        row.due_at,
        row.exclusion,
        row.visited_at,
        row.attempts,
        row.reason or "",
        row.detail or "",
    )
