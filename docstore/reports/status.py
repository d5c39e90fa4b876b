"""Questions about the whole store: counts for `plumb status`, one document's path for `plumb explain`."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, true

from docstore.database import Database
from docstore.frontier.order import HostBacklog, backlog
from docstore.model import Reason, Stage
from docstore.reports.url_report import UrlReport, url_report
from docstore.schema.article_tables import articles, changes, indexed
from docstore.schema.crawl_tables import outcomes, pages, urls

MAX_SITES = 200
SAMPLES = 3  # URLs of each reason that are shown


@dataclass(frozen=True)
class Freshness:
    """How far the index is behind the store. Times are epoch seconds, None where nothing has happened yet."""

    articles: int
    indexed: int
    waiting: int
    waiting_since: float | None
    last_fetched: float | None
    last_indexed: float | None


@dataclass(frozen=True)
class SiteTotals:
    """One host: its URLs, those that are due, articles, how the last visit to each of its pages ended, and how many
    pages were read in part (`suspect_body`) or need their scripts (`needs_scripts`).

    `example` is one of its URLs, `last_visit` epoch seconds or None.
    """

    host: str
    example: str
    addresses: int
    due: int
    articles: int
    last_visit: float | None
    outcomes: Mapping[Reason, int]


@dataclass(frozen=True)
class Sample:
    """A URL that ended with `reason` in `stage` at `at` (epoch seconds); `detail` says more, or is ""."""

    stage: Stage
    reason: Reason
    url: str
    detail: str
    at: float


class StatusTable:
    """`store.status`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def outcome_counts(self) -> dict[Stage, dict[Reason, int]]:
        """How many URLs ended how in each stage, by their last outcome."""
        query = select(outcomes.c.stage, outcomes.c.reason, func.count()).group_by(outcomes.c.stage, outcomes.c.reason)
        counts: dict[Stage, dict[Reason, int]] = {}
        with self._database.snapshot() as connection:
            for stage, reason, count in connection.execute(query):
                counts.setdefault(Stage(stage), {})[Reason(reason)] = count
        return counts

    def pages_count(self) -> int:
        """How many pages are kept."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).select_from(pages)) or 0

    def format_counts(self) -> dict[str, int]:
        """How many articles were read from each file format, the most frequent first."""
        query = select(articles.c.format, func.count()).group_by(articles.c.format)
        with self._database.snapshot() as connection:
            return {row.format: row[1] for row in connection.execute(query.order_by(func.count().desc()))}

    def due_count(self, before: float) -> int:
        """How many URLs are due."""
        with self._database.snapshot() as connection:
            return connection.scalar(select(func.count()).where(urls.c.due_at <= before)) or 0

    def due_since(self, before: float) -> tuple[int, float | None]:
        """How many URLs are due, and since when (epoch seconds) the first of them: one never asked, since it was
        found."""
        since = case((urls.c.due_at > 0, urls.c.due_at), else_=urls.c.found_at)
        with self._database.snapshot() as connection:
            row = connection.execute(select(func.count(), func.min(since)).where(urls.c.due_at <= before)).one()
            return int(row[0]), row[1]

    def backlog(self, before: float) -> list[HostBacklog]:
        """What each host has for the next crawl, those with most URLs first."""
        with self._database.snapshot() as connection:
            return backlog(connection, before)

    def freshness(self) -> Freshness:
        """How far the index is behind."""
        with self._database.snapshot() as connection:
            waiting, since = connection.execute(select(func.count(), func.min(changes.c.at))).one()
            return Freshness(
                articles=connection.scalar(select(func.count()).select_from(articles)) or 0,
                indexed=connection.scalar(select(func.count()).select_from(indexed)) or 0,
                waiting=waiting,
                waiting_since=since,
                last_fetched=connection.scalar(select(func.max(pages.c.fetched_at))),
                last_indexed=connection.scalar(select(func.max(indexed.c.indexed_at))),
            )

    def sites(self, limit: int = MAX_SITES) -> list[SiteTotals]:
        """The `limit` hosts with the most URLs."""
        return self._sites(limit)

    def _sites(self, limit: int, host: str | None = None) -> list[SiteTotals]:
        is_wanted = urls.c.host == host if host is not None else true()
        due = func.sum(case((urls.c.due_at <= self._clock(), 1), else_=0))
        hosts = (
            select(urls.c.host, func.min(urls.c.url), func.count(), due, func.max(urls.c.visited_at))
            .where(is_wanted)
            .group_by(urls.c.host)
            .order_by(func.count().desc(), urls.c.host)
            .limit(limit)
        )
        counted = select(urls.c.host, func.count()).join(articles, articles.c.url_id == urls.c.url_id).where(is_wanted)
        with self._database.snapshot() as connection:
            with_articles = {row.host: int(row[1]) for row in connection.execute(counted.group_by(urls.c.host))}
            ends = outcomes_by_host(connection, is_wanted)
            return [
                SiteTotals(host, example, count, due, with_articles.get(host, 0), visit, ends.get(host, {}))
                for host, example, count, due, visit in connection.execute(hosts)
            ]

    def site(self, host: str) -> SiteTotals | None:
        """One host; None if none of its URLs was ever seen."""
        return next(iter(self._sites(1, host)), None)

    def samples(self, host: str, each: int = SAMPLES) -> list[Sample]:
        """How the last visits to the pages of a host and their extraction ended: of each reason the newest `each`."""
        newest = func.row_number().over(
            partition_by=(outcomes.c.stage, outcomes.c.reason), order_by=outcomes.c.at.desc()
        )
        of_host = (
            select(outcomes.c.stage, outcomes.c.reason, outcomes.c.detail, outcomes.c.at, urls.c.url, newest.label("n"))
            .join(urls, urls.c.url_id == outcomes.c.url_id)
            .where(urls.c.host == host)
            .subquery()
        )
        query = select(of_host).where(of_host.c.n <= each).order_by(of_host.c.stage, of_host.c.reason, of_host.c.n)
        with self._database.snapshot() as connection:
            return [
                Sample(Stage(row.stage), Reason(row.reason), row.url, row.detail, row.at)
                for row in connection.execute(query)
            ]

    def urls_with(self, stage: Stage, reason: Reason, limit: int = 20) -> list[tuple[str, str]]:
        """Some (URL, detail) that ended with `reason` in `stage`, newest first."""
        query = (
            select(urls.c.url, outcomes.c.detail)
            .join(urls, urls.c.url_id == outcomes.c.url_id)
            .where(outcomes.c.stage == stage, outcomes.c.reason == reason)
            .order_by(outcomes.c.at.desc())
            .limit(limit)
        )
        with self._database.snapshot() as connection:
            return [(row.url, row.detail) for row in connection.execute(query)]

    def explain(self, url: str) -> UrlReport | None:
        """Everything the store knows of a canonical URL; None if it was never seen."""
        with self._database.snapshot() as connection:
            return url_report(connection, url)


# Of extraction: what an operator can do something about, site by site.
TELLING = (Reason.SUSPECT_BODY, Reason.NEEDS_SCRIPTS)


def outcomes_by_host(connection: Connection, is_wanted: ColumnElement[bool]) -> dict[str, dict[Reason, int]]:
    """Host -> how the last visits to its pages ended, and how many of them were read in part or need scripts; of the
    hosts that are wanted."""
    query = (
        select(urls.c.host, outcomes.c.reason, func.count())
        .join(outcomes, outcomes.c.url_id == urls.c.url_id)
        .where(is_wanted, or_(outcomes.c.stage == Stage.CRAWL, outcomes.c.reason.in_(TELLING)))
        .group_by(urls.c.host, outcomes.c.reason)
    )
    found: dict[str, dict[Reason, int]] = {}
    for host, reason, count in connection.execute(query):
        found.setdefault(host, {})[Reason(reason)] = count
    return found
