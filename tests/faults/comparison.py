"""Compares a vertical after a fault with an undisturbed one: all tables of the store, all records, all visited URLs."""

import re
import sqlite3
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Set
from contextlib import closing, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from docstore.warc_reader import read_warc
from domain.errors import StoreError
from tests.crash_harness import Vertical
from tests.faults.tally import Tally

Rows = Counter[tuple[Any, ...]]

# Columns that depend on the time, or on the order in which threads finish. Of times, only their presence is compared.
UNSTABLE_COLUMNS: Mapping[str, frozenset[str]] = {
    "meta": frozenset({"value"}),
    "urls": frozenset({"parent_id", "depth", "priority", "anchor", "context", "gap"}),
    "pages": frozenset({"warc_file", "warc_offset", "warc_length"}),
    "changes": frozenset({"seq"}),
    "row_sums": frozenset({"key", "sum"}),  # `plumb check` verifies them
    "terms": frozenset({"contexts", "concept_id"}),  # concept ids are random
}
UNSTABLE_TABLES = frozenset({"sqlite_sequence"})
TIME_COLUMNS = frozenset(
    {"at", "since", "until", "due_at", "visited_at", "found_at", "fetched_at", "extracted_at", "indexed_at"}
    | {"decided_at", "mined_at", "first_seen", "published_at", "applied_at", "started_at", "finished_at"}
)
UNSTABLE_JSON_RE = re.compile(r'("decided_at": |"concept_id": )(?:[0-9.e+]+|"\w+")')  # of a term before and after
STATED_TIMES = frozenset({("articles", "published_at")})  # the page states them
URL_ID_COLUMNS = frozenset({"url_id", "whole_id", "target"})
REVISITED = ("fetched", "unchanged")  # a seed is visited again after a kill


@dataclass(frozen=True)
class Content:
    """All rows of the store by table, with URLs instead of ids, and the number of WARC records by URL."""

    tables: Mapping[str, Rows]
    records: Counter[str]


def content_of(vertical: Vertical) -> Content:
    """Read the content of a vertical."""
    return Content(read_tables(vertical.data / "store.db"), Counter(record_urls(vertical.data / "warc")))


def read_tables(database: Path) -> dict[str, Rows]:
    """Return the rows of all tables of a SQLite store, without what differs between two undisturbed runs."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        url_by_id = dict(connection.execute("SELECT url_id, url FROM urls"))
        tables = {}
        for name in sorted({*names} - UNSTABLE_TABLES):
            rows = connection.execute(f'SELECT * FROM "{name}"')
            columns = [column[0] for column in rows.description]
            tables[name] = Counter(comparable_row(name, columns, row, url_by_id) for row in rows)
        return tables


def comparable_row(
    table: str, columns: Iterable[str], row: Iterable[Any], url_by_id: Mapping[int, str]
) -> tuple[Any, ...]:
    """Return the part of a row that must be equal after a fault."""
    value_by_column = dict(zip(columns, row, strict=True))
    for column in UNSTABLE_COLUMNS.get(table, ()):
        del value_by_column[column]
    if table == "outcomes" and value_by_column["stage"] == "crawl" and value_by_column["reason"] in REVISITED:
        value_by_column |= {"reason": REVISITED, "detail": ""}
    for column, value in value_by_column.items():
        if column in TIME_COLUMNS and (table, column) not in STATED_TIMES:
            value_by_column[column] = value is not None
        elif column == "vector":  # its last bits depend on the texts that were embedded together
            value_by_column[column] = len(value)
        elif column in URL_ID_COLUMNS:
            value_by_column[column] = url_by_id.get(value, value)
        elif table == "term_changes" and isinstance(value, str):
            value_by_column[column] = UNSTABLE_JSON_RE.sub(r"\1true", value)
    return tuple(value_by_column.values())


def record_urls(warc_folder: Path) -> list[str]:
    """Return the URL of each complete response in the WARC files."""
    urls: list[str] = []
    for path in sorted(warc_folder.glob("*")):
        with suppress(StoreError):  # a kill may leave half a record at the end of a file
            deque(read_warc(path, accept_url=lambda url: bool(urls.append(url))), maxlen=0)  # type: ignore[func-returns-value]
    return urls


def successful_requests(log: Iterable[tuple[str, int]]) -> Counter[str]:
    """Return the number of requests by URL that the server answered with status 200, from (URL, status) pairs."""
    return Counter(url for url, status in log if status == HTTPStatus.OK)


def compare_content(
    tally: Tally, expected: Content, found: Content, fault: str, ignored_tables: Set[str] = frozenset()
) -> None:
    """Count rows that are missing or too many, by table. Raises AssertionError if there are any."""
    differences = []
    for table in sorted({*expected.tables, *found.tables} - ignored_tables):
        missing = expected.tables.get(table, Rows()) - found.tables.get(table, Rows())
        surplus = found.tables.get(table, Rows()) - expected.tables.get(table, Rows())
        tally.lost += missing.total()
        tally.duplicates += max(surplus.total() - missing.total(), 0)
        if missing or surplus:
            differences.append(f"{table}: missing {[*missing][:2]}, surplus {[*surplus][:2]}")
    assert not differences, f"{fault}: {'; '.join(differences)}"


def compare_requests(tally: Tally, expected: Counter[str], found: Counter[str], content: Content, fault: str) -> None:
    """Assert that the same URLs were visited, and that no visit is stored more often than its URL was requested."""
    unvisited = expected.keys() - found.keys()
    surplus = Counter({url: count for url, count in content.records.items() if url in expected}) - found
    tally.lost += len(unvisited)
    tally.duplicates += surplus.total()
    assert found.keys() == expected.keys(), f"{fault}: other URLs visited: {sorted(found.keys() ^ expected.keys())[:3]}"
    assert not surplus, f"{fault}: stored more often than requested: {[*surplus][:3]}"
