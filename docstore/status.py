"""Questions about the whole store: counts for `plumb status`, one document's path for `plumb explain`, and runs."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, Table, case, func, select

from docstore.database import Database
from docstore.frontier_order import HostBacklog, backlog
from docstore.model import Reason, Stage, StageReport
from docstore.tables import articles, changes, indexed, outcomes, pages, parts, runs, ties, urls

MOST_SITES = 200


@dataclass(frozen=True)
class Run:
    """One run of the pipeline. `finished_at` is None while it goes on, or where it was killed."""

    run_id: int
    command: str
    started_at: float
    finished_at: float | None
    report: str


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
class SiteHealth:
    """One host: its addresses, those that are due, articles, and how the last visit to each of its pages ended.

    `example` is one of its addresses, `last_visit` epoch seconds or None.
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
        """How many addresses are due."""
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

    def sites(self, limit: int = MOST_SITES) -> list[SiteHealth]:
        """The `limit` hosts with the most addresses."""
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
                SiteHealth(host, example, count, due, with_articles.get(host, 0), visit, ends.get(host, {}))
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
                "parts": rows_of(connection, PARTS.where(parts.c.whole_id == url_id, parts.c.url_id != url_id)),
                "near_duplicates": rows_of(connection, near_duplicates_of(url_id)),
            }

    def start_run(self, command: str) -> int:
        """Note that a run has begun; returns its id."""
        with self._database.write() as connection:
            result = connection.execute(runs.insert().values(command=command, started_at=self._clock(), report=""))
            key = result.inserted_primary_key
            return int(key[0]) if key is not None else 0

    def finish_run(self, run_id: int, reports: Sequence[StageReport]) -> None:
        """Note that a run has ended, and how."""
        text = json.dumps([report_row(report) for report in reports], ensure_ascii=False)
        with self._database.write() as connection:
            connection.execute(
                runs.update().where(runs.c.run_id == run_id).values(finished_at=self._clock(), report=text)
            )

    def runs(self, limit: int = 5) -> list[Run]:
        """The last runs, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(runs).order_by(runs.c.run_id.desc()).limit(limit))
            return [Run(row.run_id, row.command, row.started_at, row.finished_at, row.report) for row in rows]


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


SHOWN = 20  # parts and near-duplicates of one article
PARTS = (
    select(urls.c.url, outcomes.c.reason)
    .join(parts, parts.c.url_id == urls.c.url_id)
    .outerjoin(outcomes, (outcomes.c.url_id == urls.c.url_id) & (outcomes.c.stage == Stage.EXTRACT))
    .order_by(urls.c.url_id)
    .limit(SHOWN)
)


def near_duplicates_of(url_id: int) -> Select[Any]:
    """The article that this one stands behind, and those behind this one."""
    mine = articles.alias("mine")
    near = (articles.c.doc_id == mine.c.duplicate_of) | (articles.c.duplicate_of == mine.c.doc_id)
    return (
        select(urls.c.url, (articles.c.duplicate_of == "").label("stands_for_the_group"))
        .join(articles, articles.c.url_id == urls.c.url_id)
        .join(mine, near)
        .where(mine.c.url_id == url_id)
        .order_by(urls.c.url_id)
        .limit(SHOWN)
    )


def rows_of(connection: Connection, query: Select[Any]) -> list[dict[str, Any]]:
    """Rows with their columns' names."""
    return [dict(row._mapping) for row in connection.execute(query)]


def report_row(report: StageReport) -> Mapping[str, Any]:
    """A stage's report as JSON can hold it."""
    return {
        "stage": report.stage.value,
        "counts": {reason.value: count for reason, count in report.counts.items()},
        "seconds": round(report.seconds, 3),
        "notes": list(report.notes),
    }
