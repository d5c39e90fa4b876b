"""The search log: queries, numbers of results, and opened results, without personal data.

A search has a random id, which is in no cookie, and a time in minutes. A click refers to its search. Queries arrive as
typed, with personal data masked (search_ui/search_log.py). Queries that differ only in upper and lower case are counted
together.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, delete, func, select

from docstore.bookkeeping import read_meta_int, write_meta
from docstore.database import StorePart
from docstore.schema.operation_tables import clicks, searches
from domain.search_log import (
    MAX_QUERY_CHARS,
    SIGNED_IN_MARK,
    Click,
    DayCount,
    LoggedSearch,
    QueryCount,
    SearchReport,
    SlowSearch,
)
from domain.storable_text import sanitize_text

DROPPED_SEARCHES_KEY = "searches_dropped"  # key of the number of searches that could not be logged
MIN_POPULAR_DAYS = 3  # number of days with a query before it is suggested to others
MAX_REPORTED_QUERIES = 20  # per list of a report
MINUTES_PER_DAY = 24 * 60
EPOCH = date(1970, 1, 1)
TYPED_QUERY: ColumnElement[Any] = func.min(searches.c.query).label("query")
# Words in the column `filters`, which are no names of filters: what the page showed instead of full matches.
CORRECTED_MARK, PARTIAL_MARK = "corrected", "partial"


class SearchLog(StorePart):
    """Write, purge and evaluate the search log (`store.search_log`)."""

    def save(
        self, searches_to_log: Sequence[LoggedSearch], clicks_to_log: Sequence[Click], dropped_count: int = 0
    ) -> None:
        """Save searches and clicks in one transaction. Rows that already exist are skipped.

        `dropped_count` is the number of searches that could not be logged; it is added to the stored total.
        """
        rows = [
            {
                "search_id": search.search_id,
                "minute": epoch_minute(search.searched_at),
                "query": sanitize_text(search.query)[:MAX_QUERY_CHARS],
                "masked": int(search.is_masked),
                "hits": search.hit_count,
                "page": search.page,
                "filters": " ".join(
                    (search.filters, CORRECTED_MARK * search.is_corrected, PARTIAL_MARK * search.is_partial)
                ).strip(),
                "latency_ms": search.latency_ms,
            }
            for search in searches_to_log
        ]
        with self._database.write() as connection:
            self._database.insert_missing(connection, searches, rows)
            minute = epoch_minute(self._clock())
            self._database.insert_missing(connection, clicks, [vars(c) | {"minute": minute} for c in clicks_to_log])
            if dropped_count:
                write_meta(
                    self._database,
                    connection,
                    DROPPED_SEARCHES_KEY,
                    read_meta_int(connection, DROPPED_SEARCHES_KEY) + dropped_count,
                )

    def purge(self, days: int) -> int:
        """Delete searches and clicks older than `days` days. Returns the number of searches."""
        oldest_minute = epoch_minute(self._clock()) - days * MINUTES_PER_DAY
        with self._database.write() as connection:
            connection.execute(delete(clicks).where(clicks.c.minute < oldest_minute))
            return connection.execute(delete(searches).where(searches.c.minute < oldest_minute)).rowcount

    def popular_queries(self, limit: int) -> list[str]:
        """Return queries with results that were used on at least MIN_POPULAR_DAYS days, most frequent first.

        A query of a single day, which may be from one person, is therefore not shown to others. Masked queries are
        excluded, and searches whose results only signed-in readers find.
        """
        is_public = ~searches.c.filters.like(f"%{SIGNED_IN_MARK}%")
        is_popular = func.count(day_expression(0).distinct()) >= MIN_POPULAR_DAYS
        with self._database.read() as connection:
            query = frequent_queries(limit).where(is_public)
            return list(connection.scalars(query.having(is_popular, func.max(searches.c.hits) > 0)))

    def count_queries(self, limit: int) -> list[tuple[str, int]]:
        """Return the `limit` most frequent queries with their number of searches. Masked queries are excluded."""
        with self._database.read() as connection:
            return [(query, count) for query, count in connection.execute(frequent_queries(limit))]

    def last_searches(self, since: float) -> dict[str, float]:
        """Return the queries that were searched for since a time, each with the time of its last search.

        Times are in epoch seconds, to the minute. Masked queries are excluded.
        """
        is_recent = (searches.c.minute >= epoch_minute(since)) & (searches.c.masked == 0)
        query = select(searches.c.query, func.max(searches.c.minute)).where(is_recent).group_by(searches.c.query)
        with self._database.read() as connection:
            return {text: 60.0 * minute for text, minute in connection.execute(query)}

    def report(self, days: int, utc_offset: int = 0) -> SearchReport:
        """Return the statistics of the last `days` days, including today.

        `utc_offset` in minutes defines when days begin.
        """
        today = (epoch_minute(self._clock()) + utc_offset) // MINUTES_PER_DAY
        is_recent = searches.c.minute >= (today - days + 1) * MINUTES_PER_DAY - utc_offset
        with self._database.read() as connection:
            counts = day_counts(connection, is_recent, utc_offset)
            every_day = range(today - days + 1, today + 1)
            day_list = tuple(
                DayCount((EPOCH + timedelta(days=day)).isoformat(), *counts.get(day, (0, 0))) for day in every_day
            )
            is_first_page = is_recent & (searches.c.page == 1)
            return SearchReport(
                by_day=day_list,
                search_count=sum(day.search_count for day in day_list),
                searches_without_hits=sum(day.without_hits for day in day_list),
                partial_searches=connection.scalar(select(func.sum(is_partial())).where(is_first_page)) or 0,
                searches_with_click=connection.scalar(select(func.count()).where(is_first_page, has_click())) or 0,
                median_ms=latency_percentile(connection, is_recent, 0.5),
                p95_ms=latency_percentile(connection, is_recent, 0.95),
                top_queries=query_counts(connection, query_counts_statement(is_first_page)),
                top_queries_without_hits=query_counts(
                    connection, query_counts_statement(is_first_page).having(func.min(is_without_hits()) == 1)
                ),
                top_partial_queries=query_counts(
                    connection,
                    query_counts_statement(is_first_page).having(
                        func.max(searches.c.hits) == 0, func.max(is_partial()) == 1
                    ),
                ),
                slowest_searches=slowest_searches(connection, is_recent),
                dropped_count=read_meta_int(connection, DROPPED_SEARCHES_KEY),
            )


def epoch_minute(seconds: float) -> int:
    """Convert epoch seconds to epoch minutes."""
    return int(seconds // 60)


def day_expression(utc_offset: int) -> ColumnElement[int]:
    """SQL expression: day number of a search. `utc_offset` is in minutes."""
    return (searches.c.minute + utc_offset) // MINUTES_PER_DAY


def has_click() -> ColumnElement[bool]:
    """SQL condition: the search has a click."""
    return searches.c.search_id.in_(select(clicks.c.search_id))


def is_without_hits() -> ColumnElement[int]:
    """SQL expression: 1 for a search without results, 0 for one with full, corrected or partial results."""
    is_marked = searches.c.filters.like(f"%{CORRECTED_MARK}%") | searches.c.filters.like(f"%{PARTIAL_MARK}%")
    return case(((searches.c.hits == 0) & ~is_marked, 1), else_=0)


def is_partial() -> ColumnElement[int]:
    """SQL expression: 1 for a search with only partial matches, 0 for others."""
    return case((searches.c.filters.like(f"%{PARTIAL_MARK}%"), 1), else_=0)


def day_counts(connection: Connection, is_recent: ColumnElement[bool], utc_offset: int) -> dict[int, tuple[int, int]]:
    """Return (number of searches, number of searches without results) by day number."""
    day = day_expression(utc_offset).label("day")
    without_hits = func.sum(is_without_hits())
    query = select(day, func.count(), without_hits).where(is_recent, searches.c.page == 1).group_by(day)
    return {int(row[0]): (int(row[1]), int(row[2])) for row in connection.execute(query)}


def latency_percentile(connection: Connection, is_recent: ColumnElement[bool], fraction: float) -> int:
    """Return the latency in milliseconds below which `fraction` of the searches are; 0 without searches."""
    total = connection.scalar(select(func.count()).where(is_recent)) or 0
    latencies = select(searches.c.latency_ms).where(is_recent).order_by(searches.c.latency_ms)
    return connection.scalar(latencies.offset(max(0, int(fraction * total + 0.5) - 1)).limit(1)) or 0


def frequent_queries(limit: int) -> Select[Any]:
    """Return the SQL query for the most frequent queries with their number of searches, without masked ones."""
    query = select(TYPED_QUERY, func.count()).where(searches.c.page == 1, searches.c.masked == 0)
    return query.group_by(func.lower(searches.c.query)).order_by(func.count().desc(), TYPED_QUERY).limit(limit)


def query_counts_statement(is_first_page: ColumnElement[bool]) -> Select[Any]:
    """Return the SQL query for queries with their counts, most frequent first."""
    clicked_count = func.sum(case((has_click(), 1), else_=0)).label("clicked")
    return (
        select(
            TYPED_QUERY,
            func.count().label("searches"),
            func.max(searches.c.hits).label("hits"),
            clicked_count,
            func.max(searches.c.masked).label("masked"),
        )
        .where(is_first_page)
        .group_by(func.lower(searches.c.query))
        .order_by(func.count().desc(), TYPED_QUERY)
        .limit(MAX_REPORTED_QUERIES)
    )


def query_counts(connection: Connection, query: Select[Any]) -> tuple[QueryCount, ...]:
    """Execute a query built with `query_counts_statement`."""
    return tuple(
        QueryCount(row.query, int(row.searches), int(row.hits), int(row.clicked), bool(row.masked))
        for row in connection.execute(query)
    )


def slowest_searches(connection: Connection, is_recent: ColumnElement[bool]) -> tuple[SlowSearch, ...]:
    """Return the slowest searches, slowest first."""
    query = (
        select(searches)
        .where(is_recent)
        .order_by(searches.c.latency_ms.desc(), searches.c.minute)
        .limit(MAX_REPORTED_QUERIES // 2)
    )
    return tuple(SlowSearch(row.query, row.latency_ms, row.minute * 60.0) for row in connection.execute(query))
