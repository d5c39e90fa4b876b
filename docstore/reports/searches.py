"""The search log: what was searched for, how much was found, what was opened. Nothing in it says by whom.

A search has a random id that no cookie holds, and the minute in which it was made; a click names the search it came
from. Queries come here folded, and with personal data masked (search_ui/search_log.py).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, case, delete, func, select

from docstore.articles.records import number, storable, write_number
from docstore.database import Database
from docstore.schema.operation_tables import clicks, searches

DROPPED = "searches_dropped"  # key of a number: what could not be logged, ever
POPULAR_DAYS = 3  # on so many different days a query was asked before others are shown it
LONGEST_QUERY = 160  # characters
SHOWN = 20  # queries in a list of the report
MINUTES_OF_DAY = 24 * 60


@dataclass(frozen=True)
class LoggedSearch:
    """One result page that was shown. `query` is folded; `masked`: personal data was taken out of it.

    `filters` are the names of those used (`site from`), `latency_ms` how long the site took to answer.
    """

    search_id: str
    query: str
    hits: int
    latency_ms: int
    page: int = 1
    filters: str = ""
    masked: bool = False
    at: float = 0.0


@dataclass(frozen=True)
class Click:
    """A result that was opened: `rank` counts from 1 over all pages."""

    search_id: str
    doc_id: str
    rank: int


@dataclass(frozen=True)
class DayCount:
    """One day (`2016-05-09`): searches, and those of them that found nothing."""

    day: str
    searches: int
    nothing: int


@dataclass(frozen=True)
class QueryCount:
    """A query with how often it was asked, what it found at best, and how many of its searches led to a click."""

    query: str
    searches: int
    hits: int
    clicked: int
    masked: bool


@dataclass(frozen=True)
class SlowSearch:
    """One of the slowest answers."""

    query: str
    latency_ms: int
    at: float


@dataclass(frozen=True)
class SearchReport:
    """The search log of some days. Later pages of a search count in nothing but `slow` and the latencies."""

    days: tuple[DayCount, ...]
    searches: int
    nothing: int
    clicked: int
    median_ms: int
    p95_ms: int
    top: tuple[QueryCount, ...]
    without_hits: tuple[QueryCount, ...]
    slow: tuple[SlowSearch, ...]
    dropped: int


class SearchTable:
    """`store.searches`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def keep(self, logged: Sequence[LoggedSearch], clicked: Sequence[Click], dropped: int = 0) -> None:
        """Write to the log, one transaction. `dropped`: so many more could not be kept. Repeating it does nothing."""
        with self._database.write() as connection:
            self._database.upsert(connection, searches, [search_row(one) for one in logged])
            self._database.upsert(connection, clicks, [vars(click) for click in clicked])
            if dropped:
                write_number(self._database, connection, DROPPED, number(connection, DROPPED) + dropped)

    def purge(self, days: int) -> int:
        """Forget what is older than `days`, and clicks on it. Returns how many searches."""
        oldest = minute_of(self._clock()) - days * MINUTES_OF_DAY
        with self._database.write() as connection:
            gone = connection.execute(delete(searches).where(searches.c.minute < oldest)).rowcount
            connection.execute(delete(clicks).where(clicks.c.search_id.not_in(select(searches.c.search_id))))
        return gone

    def popular(self, limit: int) -> list[str]:
        """Queries that found something and were asked on at least POPULAR_DAYS days, the most frequent first.

        So nobody is shown what one other person looked for today; what was masked is never among them.
        """
        query = (
            select(searches.c.query)
            .where(searches.c.page == 1, searches.c.masked == 0)
            .group_by(searches.c.query)
            .having(func.count(day_of(0).distinct()) >= POPULAR_DAYS, func.max(searches.c.hits) > 0)
            .order_by(func.count().desc(), searches.c.query)
            .limit(limit)
        )
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def report(self, days: int, utc_offset: int = 0) -> SearchReport:
        """The last `days` days, today included; `utc_offset` in minutes says where days begin."""
        today = (minute_of(self._clock()) + utc_offset) // MINUTES_OF_DAY
        recent = searches.c.minute >= (today - days + 1) * MINUTES_OF_DAY - utc_offset
        with self._database.read() as connection:
            counts = day_counts(connection, recent, utc_offset)
            every_day = range(today - days + 1, today + 1)
            found = tuple(DayCount(day_text(day), *counts.get(day, (0, 0))) for day in every_day)
            first = recent & (searches.c.page == 1)
            return SearchReport(
                days=found,
                searches=sum(day.searches for day in found),
                nothing=sum(day.nothing for day in found),
                clicked=connection.scalar(select(func.count()).where(first, was_clicked())) or 0,
                median_ms=latency(connection, recent, 0.5),
                p95_ms=latency(connection, recent, 0.95),
                top=query_counts(connection, queries_of(first)),
                without_hits=query_counts(connection, queries_of(first).having(func.max(searches.c.hits) == 0)),
                slow=slowest(connection, recent),
                dropped=number(connection, DROPPED),
            )


def minute_of(seconds: float) -> int:
    """Epoch seconds as epoch minutes."""
    return int(seconds // 60)


def day_text(day: int) -> str:
    """A day's number since 1970-01-01 as `2016-05-09`."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).date().isoformat()


def day_of(utc_offset: int) -> ColumnElement[int]:
    """The number of a search's day."""
    return (searches.c.minute + utc_offset) // MINUTES_OF_DAY


def was_clicked() -> ColumnElement[bool]:
    """Did the search lead to a click?"""
    return searches.c.search_id.in_(select(clicks.c.search_id))


def search_row(logged: LoggedSearch) -> dict[str, Any]:
    """The `searches` row of a search."""
    return {
        "search_id": logged.search_id,
        "minute": minute_of(logged.at),
        "query": storable(logged.query)[:LONGEST_QUERY],
        "masked": int(logged.masked),
        "hits": logged.hits,
        "page": logged.page,
        "filters": logged.filters,
        "latency_ms": logged.latency_ms,
    }


def day_counts(connection: Connection, recent: ColumnElement[bool], utc_offset: int) -> dict[int, tuple[int, int]]:
    """A day's number -> searches, and those that found nothing."""
    day = day_of(utc_offset).label("day")
    nothing = func.sum(case((searches.c.hits == 0, 1), else_=0))
    query = select(day, func.count(), nothing).where(recent, searches.c.page == 1).group_by(day)
    return {int(row[0]): (int(row[1]), int(row[2])) for row in connection.execute(query)}


def latency(connection: Connection, recent: ColumnElement[bool], share: float) -> int:
    """The latency in ms that `share` of the answers stayed within; 0 without any."""
    total = connection.scalar(select(func.count()).where(recent)) or 0
    ranked = select(searches.c.latency_ms).where(recent).order_by(searches.c.latency_ms)
    return connection.scalar(ranked.offset(max(0, int(share * total + 0.5) - 1)).limit(1)) or 0


def queries_of(first: ColumnElement[bool]) -> Select[Any]:
    """Queries with their counts, the most frequent first."""
    clicked = func.sum(case((was_clicked(), 1), else_=0)).label("clicked")
    return (
        select(
            searches.c.query,
            func.count().label("searches"),
            func.max(searches.c.hits).label("hits"),
            clicked,
            func.max(searches.c.masked).label("masked"),
        )
        .where(first)
        .group_by(searches.c.query)
        .order_by(func.count().desc(), searches.c.query)
        .limit(SHOWN)
    )


def query_counts(connection: Connection, query: Select[Any]) -> tuple[QueryCount, ...]:
    """The rows of `queries_of`."""
    return tuple(query_count(row) for row in connection.execute(query))


def query_count(row: Row[Any]) -> QueryCount:
    """One row of `queries_of`."""
    return QueryCount(row.query, int(row.searches), int(row.hits), int(row.clicked), bool(row.masked))


def slowest(connection: Connection, recent: ColumnElement[bool]) -> tuple[SlowSearch, ...]:
    """The slowest answers, worst first."""
    query = select(searches).where(recent).order_by(searches.c.latency_ms.desc(), searches.c.minute).limit(SHOWN // 2)
    return tuple(SlowSearch(row.query, row.latency_ms, row.minute * 60.0) for row in connection.execute(query))
