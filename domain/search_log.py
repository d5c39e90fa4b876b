"""Entries and statistics of the search log, without personal data."""

from dataclasses import dataclass

MAX_QUERY_CHARS = 160
SIGNED_IN_MARK = "signed_in"  # among the filters: the results can contain what only signed-in readers find


@dataclass(frozen=True)
class LoggedSearch:
    """One displayed results page.

    Attributes:
        query: Query as typed, without personal data.
        hit_count: Number of full matches.
        latency_ms: Response time of the search site in milliseconds.
        page: Number of the results page, from 1.
        filters: Names of the filters used, separated by spaces (`site from`).
        is_masked: True if personal data was masked in the query.
        is_corrected: True if the query had no results and the page shows those of its corrected spelling.
        searched_at: Epoch seconds.
        is_partial: True if there were no full matches and the page shows other results.
    """

    search_id: str
    query: str
    hit_count: int
    latency_ms: int
    page: int = 1
    filters: str = ""
    is_masked: bool = False
    searched_at: float = 0.0
    is_corrected: bool = False
    is_partial: bool = False


@dataclass(frozen=True)
class Click:
    """An opened result. `rank` counts from 1 over all results pages."""

    search_id: str
    doc_id: str
    rank: int


@dataclass(frozen=True)
class DayCount:
    """Number of searches, and of searches without results, on one day (`2016-05-09`).

    A search whose spelling was corrected had results, and so had one with partial matches.
    """

    day: str
    search_count: int
    without_hits: int


@dataclass(frozen=True)
class QueryCount:
    """Statistics of a query: number of searches, maximum number of results, and number of searches with a click.

    `query` is as it was typed in one of the searches; they can differ in upper and lower case.
    """

    query: str
    search_count: int
    max_hits: int
    click_count: int
    is_masked: bool


@dataclass(frozen=True)
class SlowSearch:
    """One of the slowest searches. `searched_at` is epoch seconds, accurate to the minute."""

    query: str
    latency_ms: int
    searched_at: float


@dataclass(frozen=True)
class SearchReport:
    """Statistics of the search log over some days.

    Only `slowest_searches` and the latencies include results pages after the first.
    """

    by_day: tuple[DayCount, ...]
    search_count: int
    searches_without_hits: int
    partial_searches: int
    searches_with_click: int
    median_ms: int
    p95_ms: int
    top_queries: tuple[QueryCount, ...]
    top_queries_without_hits: tuple[QueryCount, ...]
    top_partial_queries: tuple[QueryCount, ...]
    slowest_searches: tuple[SlowSearch, ...]
    dropped_count: int
