"""Questions about the whole store: counts for `plumb status`, one document's path for `plumb explain`."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, Table, case, func, select

from docstore.database import Database
from docstore.frontier.order import HostBacklog, backlog
from docstore.model import Reason, Stage
from docstore.tables import articles, changes, indexed, outcomes, pages, parts, ties, urls

MAX_SITES = 200


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
    """One host: its URLs, those that are due, articles, and how the last visit to each of its pages ended.

    `example` is one of its URLs, `last_visit` epoch seconds or None.
    """

    host: str
    example: str
    addresses: int
    due: int
    articles: int
    last_visit: float | None
    outcomes: Mapping[Reason, int]


class StatusTable:
    """`store.status`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def outcome_counts(self) -> dict[Stage, dict[Reason, int]]:
        """How many URLs ended how in each stage, by their last outcome."""
        query = select(outcomes.c.stage, outcomes.c.reason, func.count()).group_by(outcomes.c.stage, outcomes.c.reason)
        counts: dict[Stage, dict[Reason, int]] = {}
        with self._database.read() as connection:
            for stage, reason, count in connection.execute(query):
                counts.setdefault(Stage(stage), {})[Reason(reason)] = count
        return counts

    def due_count(self, before: float) -> int:
        """How many URLs are due."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).where(urls.c.due_at <= before)) or 0

    def backlog(self, before: float) -> list[HostBacklog]:
        """What each host has for the next crawl, those with most URLs first."""
        with self._database.read() as connection:
            return backlog(connection, before)

    def freshness(self) -> Freshness:
        """How far the index is behind."""
        with self._database.read() as connection:
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
        due = func.sum(case((urls.c.due_at <= self._clock(), 1), else_=0))
        hosts = (
            select(urls.c.host, func.min(urls.c.url), func.count(), due, func.max(urls.c.visited_at))
            .group_by(urls.c.host)
            .order_by(func.count().desc(), urls.c.host)
            .limit(limit)
        )
        counted = select(urls.c.host, func.count()).join(articles, articles.c.url_id == urls.c.url_id)
        with self._database.read() as connection:
            with_articles = {row.host: int(row[1]) for row in connection.execute(counted.group_by(urls.c.host))}
            ends = crawl_outcomes(connection)
            return [
                SiteTotals(host, example, count, due, with_articles.get(host, 0), visit, ends.get(host, {}))
                for host, example, count, due, visit in connection.execute(hosts)
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
        with self._database.read() as connection:
            return [(row.url, row.detail) for row in connection.execute(query)]

    def explain(self, url: str) -> dict[str, list[dict[str, Any]]]:
        """Everything the store knows of a canonical URL: table name -> rows. Empty if it was never seen."""
        with self._database.read() as connection:
            url_id = connection.scalar(select(urls.c.url_id).where(urls.c.url == url))
            if url_id is None:
                return {}
            tables: Sequence[Table] = (urls, pages, outcomes, articles, ties, changes, indexed)
            found = {table.name: rows_of(connection, select(table).where(table.c.url_id == url_id)) for table in tables}
            return found | {
                "found_on": rows_of(connection, found_on(url_id)),
                "parts": rows_of(connection, PARTS.where(parts.c.whole_id == url_id, parts.c.url_id != url_id)),
                "near_duplicates": rows_of(connection, near_duplicates_of(url_id)),
                "similar": rows_of(connection, similar_to(url_id)),
            }


def crawl_outcomes(connection: Connection) -> dict[str, dict[Reason, int]]:
    """Host -> how the last visits to its pages ended."""
    query = (
        select(urls.c.host, outcomes.c.reason, func.count())
        .join(outcomes, outcomes.c.url_id == urls.c.url_id)
        .where(outcomes.c.stage == Stage.CRAWL)
        .group_by(urls.c.host, outcomes.c.reason)
    )
    found: dict[str, dict[Reason, int]] = {}
    for host, reason, count in connection.execute(query):
        found.setdefault(host, {})[Reason(reason)] = count
    return found


SHOWN = 20  # parts and copies of one article
SIMILAR = 5
PARTS = (
    select(urls.c.url, outcomes.c.reason)
    .join(parts, parts.c.url_id == urls.c.url_id)
    .outerjoin(outcomes, (outcomes.c.url_id == urls.c.url_id) & (outcomes.c.stage == Stage.EXTRACT))
    .where(func.coalesce(outcomes.c.reason, "") != Reason.LIST_PAGE)  # a list shows the article, and is no part of it
    .order_by(urls.c.url_id)
    .limit(SHOWN)
)


def found_on(url_id: int) -> Select[Any]:
    """The page whose link was the first that led to this URL."""
    child = urls.alias("child")
    return select(urls.c.url).join(child, child.c.parent_id == urls.c.url_id).where(child.c.url_id == url_id)


def near_duplicates_of(url_id: int) -> Select[Any]:
    """The article that this one stands behind, and those behind this one."""
    mine = articles.alias("mine")
    near = (articles.c.doc_id == mine.c.duplicate_of) | (articles.c.duplicate_of == mine.c.doc_id)
    return (
        select(urls.c.url_id, urls.c.url, (articles.c.duplicate_of == "").label("stands_for_the_group"))
        .join(articles, articles.c.url_id == urls.c.url_id)
        .join(mine, near)
        .where(mine.c.url_id == url_id)
        .order_by(urls.c.url_id)
        .limit(SHOWN)
    )


def similar_to(url_id: int) -> Select[Any]:
    """Articles of the same series that stand for themselves, those that were found next to it first."""
    mine = articles.alias("mine")
    return (
        select(urls.c.url_id, urls.c.url)
        .join(articles, articles.c.url_id == urls.c.url_id)
        .join(mine, (articles.c.series == mine.c.series) & (mine.c.series > ""))
        .where(mine.c.url_id == url_id, articles.c.url_id != url_id)
        .where(articles.c.duplicate_of == "", articles.c.doc_id != mine.c.duplicate_of)
        .order_by(func.abs(urls.c.url_id - url_id), urls.c.url_id)
        .limit(SIMILAR)
    )


def rows_of(connection: Connection, query: Select[Any]) -> list[dict[str, Any]]:
    """Rows with their columns' names."""
    return [dict(row._mapping) for row in connection.execute(query)]
