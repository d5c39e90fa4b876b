"""Copy what cannot be crawled again, and rebuild a damaged SQLite store from its readable rows and from copies.

Each row that SQLite can read is kept. An unreadable row comes from the newest copy, and so does a row whose checksum
(row_checksums.py) is that of the copy but not its own. The damaged file is only read.
"""

import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from docstore.bookkeeping import read_meta_int, write_meta
from docstore.database import Database, sqlite_url
from docstore.frontier.frontier_table import url_row
from docstore.integrity.integrity_checks import CHECKSUM_FORMAT_KEY
from docstore.integrity.row_checksums import (
    CHECKSUMMED_TABLES,
    checksum_format_id,
    iter_current_checksums,
    rebuild_row_checksums,
    stored_checksums,
)
from docstore.schema import metadata
from docstore.schema.crawl_tables import urls
from docstore.schema.operation_tables import row_checksums
from domain.frontier import NewUrl

# The state of the stages is stale in a copy, and so are checksums of rows that were changed since.
TABLES_NOT_RESTORED = frozenset({"changes", "indexed", "outcomes", "row_sums"})
# What cannot be crawled again: rows with checksums, except articles.
COPIED_TABLES = (*(name for name in CHECKSUMMED_TABLES if name != "articles"), "topic_questions", "meta")
SCAN_AHEAD_ROWIDS = 1 << 16  # tried behind the last readable row if nothing tells the largest row id


@dataclass
class RebuildReport:
    """Result of a rebuild. Keys are texts, by table.

    Attributes:
        partial_tables: Tables with unreadable rows.
        unnamed_tables: Partial tables of which nothing tells the keys of the unreadable rows.
        rows_from_copies: Number of restored rows, by table.
        lost_keys: Rows that are neither readable nor in a copy.
        unverified_keys: Readable rows that differ from their checksum, and rows from a copy that has an earlier value.
    """

    partial_tables: list[str] = field(default_factory=list)
    unnamed_tables: list[str] = field(default_factory=list)
    rows_from_copies: Counter[str] = field(default_factory=Counter)
    lost_keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    unverified_keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def rebuild_store(
    damaged_file: Path, copies: Sequence[Path], target: Path, new_url: Callable[[str], NewUrl]
) -> RebuildReport:
    """Create the database `target`. `damaged_file` may be unreadable or missing.

    Args:
        damaged_file: The damaged database.
        copies: Intact databases of the same store, the newest first; they need not contain all tables.
        target: The new file.
        new_url: Returns the values of a URL of which only the address is known.
    """
    Database(sqlite_url(target)).close()  # creates the tables
    report = RebuildReport()
    copy_names = [f"copy{number}" for number in range(len(copies))]
    with (
        closing(sqlite3.connect(":memory:", uri=True)) as source,
        closing(sqlite3.connect(target.absolute().as_uri(), uri=True, isolation_level=None)) as destination,
    ):
        source.text_factory = lambda data: data.decode("utf-8", "replace")
        destination.execute("PRAGMA synchronous=NORMAL")
        destination.execute("DELETE FROM meta")
        for reader in (source, destination):
            attach(reader, f"{damaged_file.absolute().as_uri()}?mode=ro", "damaged")
        for name, copy in zip(copy_names, copies, strict=True):
            attach(destination, f"{copy.absolute().as_uri()}?immutable=1", name)
        partial_tables = [t for t in metadata.sorted_tables if not copy_readable_rows(source, destination, t)]
        report.partial_tables = [table.name for table in partial_tables]
        for table_name, key in find_mismatches(target):
            report.rows_from_copies[table_name] += restore_exact_rows(destination, copy_names, table_name, key)
        for table in partial_tables:
            for name in copy_names if table.name not in TABLES_NOT_RESTORED else ():
                report.rows_from_copies[table.name] += add_missing_rows(destination, name, table)
            if table is urls:
                restore_urls(destination, target, new_url)
            missing_keys = find_missing_keys(destination, table)
            report.lost_keys[table.name] |= missing_keys or set()
            has_checksums = table.name in CHECKSUMMED_TABLES and row_checksums not in partial_tables
            if missing_keys is None and not has_checksums:
                report.unnamed_tables.append(table.name)
        for (table_name, key), is_present in find_mismatches(target).items():
            (report.unverified_keys if is_present else report.lost_keys)[table_name].add(key)
        delete_orphans(destination, report)
    with closing(Database(sqlite_url(target))) as database, database.write() as connection:
        rebuild_row_checksums(database, connection)
        write_meta(database, connection, CHECKSUM_FORMAT_KEY, checksum_format_id())
    return report


def copy_decisions(source: Path, target: Path) -> None:
    """Copy COPIED_TABLES and their checksums into the empty file `target`. Raises sqlite3.Error."""
    Database(sqlite_url(target)).close()  # creates the tables
    with closing(sqlite3.connect(target, uri=True)) as connection:
        connection.execute("DELETE FROM meta")
        connection.commit()
        connection.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        connection.execute("BEGIN")  # all tables as they are now
        for table in COPIED_TABLES:
            columns = ", ".join(column.name for column in metadata.tables[table].columns)
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}")
        connection.execute("INSERT INTO main.row_sums SELECT * FROM source.row_sums WHERE name != 'articles'")
        connection.commit()


def attach(connection: sqlite3.Connection, uri: str, name: str) -> None:
    """Attach a database as `name`; an empty one if it cannot be read at all."""
    try:
        connection.execute(f"ATTACH ? AS {name}", (uri,))
        connection.execute(f"SELECT count(*) FROM {name}.sqlite_master")
    except sqlite3.DatabaseError:
        with suppress(sqlite3.DatabaseError):
            connection.execute(f"DETACH {name}")
        connection.execute(f"ATTACH ':memory:' AS {name}")


# -- readable rows


def copy_readable_rows(source: sqlite3.Connection, destination: sqlite3.Connection, table: Table) -> bool:
    """Copy all readable rows of a table. Returns False if a row is unreadable or breaks a constraint."""
    columns = ", ".join(names := common_columns(source, "damaged", table))
    if not names:
        return False
    query = f"SELECT rowid, {columns} FROM damaged.{table.name} NOT INDEXED "
    query += "WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
    insert = f"INSERT OR IGNORE INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(names))})"
    (low, high), unreadable_rowids = rowid_bounds(source, table.name), list[int]()
    row_count, changes_before = 0, destination.total_changes
    destination.execute("BEGIN")
    while True:
        rows_before, last = row_count, low + SCAN_AHEAD_ROWIDS if high is None else high
        for row in iter_readable_rows(source, query, low, last, unreadable_rowids):
            row_count += 1
            with suppress(sqlite3.Error):  # a value of an invalid type
                destination.execute(insert, row)
        if high is not None or row_count == rows_before:
            break
        low = last + 1
    destination.execute("COMMIT")
    return not unreadable_rowids and destination.total_changes - changes_before == row_count


def rowid_bounds(source: sqlite3.Connection, table: str) -> tuple[int, int | None]:
    """Return the smallest and the largest row id by the ends of the table and its indexes; 0 and None if unknown."""
    ends = [f"(SELECT rowid FROM damaged.{table} NOT INDEXED ORDER BY rowid {way} LIMIT 1)" for way in ("ASC", "DESC")]
    queries = [f"SELECT {ends[0]}, NULL", f"SELECT NULL, ifnull({ends[1]}, 0)"]
    for index in index_names(source, table):
        queries.append(f"SELECT min(rowid), max(rowid) FROM damaged.{table} INDEXED BY {index}")
    bounds = []
    for query in queries:
        with suppress(sqlite3.DatabaseError):
            bounds.append(source.execute(query).fetchone())
    lows, highs = ([bound[n] for bound in bounds if bound[n] is not None] for n in (0, 1))
    return min(lows, default=0), max(highs, default=None)


def iter_readable_rows(
    source: sqlite3.Connection, query: str, low: int, high: int, unreadable_rowids: list[int]
) -> Iterator[tuple[Any, ...]]:
    """Yield the readable rows with ids from `low` to `high`. Behind a readable row, a damaged range is halved.

    The time grows with the number of rows and of unreadable ids. Python reads one row ahead, so the row before an
    unreadable one is yielded by a smaller range; the limit keeps SQLite from looking behind that range.
    """
    try:
        for rowid, *row in source.execute(query, (low, high, high - low + 1)):
            yield tuple(row)
            low = rowid + 1
    except (sqlite3.DatabaseError, OverflowError):
        if low >= high:
            unreadable_rowids.append(low)
            return
        middle = (low + high) // 2
        yield from iter_readable_rows(source, query, low, middle, unreadable_rowids)
        yield from iter_readable_rows(source, query, middle + 1, high, unreadable_rowids)


# -- rows from copies


def find_mismatches(target: Path) -> dict[tuple[str, str], bool]:
    """Return (table, key) of the rows that differ from their stored checksum; False if there is no such row.

    Rows without a stored checksum are not compared: only their checksum is lost.
    """
    mismatches: dict[tuple[str, str], bool] = {}
    with closing(Database(sqlite_url(target))) as database, database.read() as connection:
        if read_meta_int(connection, CHECKSUM_FORMAT_KEY) != checksum_format_id():
            return {}
        for name, table in CHECKSUMMED_TABLES.items():
            current = {str(key): checksum for key, checksum in iter_current_checksums(connection, table)}
            for key, checksum in stored_checksums(connection, table).items():
                if current.get(key) != checksum:
                    mismatches[name, key] = key in current
    return mismatches


def restore_exact_rows(destination: sqlite3.Connection, copy_names: Sequence[str], table_name: str, key: str) -> int:
    """Replace the rows with a key by those of a copy that has the expected checksum. Returns the number of rows."""
    table, key_column = metadata.tables[table_name], CHECKSUMMED_TABLES[table_name].key_column.name
    for name in copy_names:
        same_checksum = (
            f"SELECT 1 FROM main.row_sums JOIN {name}.row_sums USING (name, key, sum) JOIN {name}.meta AS form "
            "ON form.key = ? AND form.value = ? WHERE name = ? AND row_sums.key = ?"
        )
        columns = ", ".join(common_columns(destination, name, table))
        with suppress(sqlite3.DatabaseError):  # a table that the copy lacks
            values = (CHECKSUM_FORMAT_KEY, str(checksum_format_id()), table_name, key)
            if destination.execute(same_checksum, values).fetchone():
                destination.execute(f"DELETE FROM main.{table_name} WHERE {key_column} = ?", (key,))
                rows = f"SELECT {columns} FROM {name}.{table_name} WHERE {key_column} = ?"
                return destination.execute(f"INSERT INTO main.{table_name} ({columns}) {rows}", (key,)).rowcount
    return 0


def add_missing_rows(destination: sqlite3.Connection, copy_name: str, table: Table) -> int:
    """Add rows of a copy that the damaged file names in an index or by a checksum. Returns their number.

    If nothing tells which rows the table had, all rows of the copy are added.
    """
    keys = ", ".join(column.name for column in table.primary_key.columns)
    conditions = [
        f"({keys}) IN (SELECT {keys} FROM damaged.{table.name} INDEXED BY {index})"
        for index in index_names(destination, table.name)
    ]
    if table.name in CHECKSUMMED_TABLES:
        key_column = CHECKSUMMED_TABLES[table.name].key_column.name
        named_keys = f"SELECT key FROM damaged.row_sums WHERE name = '{table.name}'"
        conditions.append(f"CAST({key_column} AS TEXT) IN ({named_keys})")
    columns = ", ".join(common_columns(destination, copy_name, table))
    for condition in [*conditions, "TRUE"] if columns else ():
        with suppress(sqlite3.DatabaseError):  # this index or table is unreadable too
            rows = f"SELECT {columns} FROM {copy_name}.{table.name} WHERE {condition}"
            return destination.execute(f"INSERT OR IGNORE INTO main.{table.name} ({columns}) {rows}").rowcount
    return 0


def restore_urls(destination: sqlite3.Connection, target: Path, new_url: Callable[[str], NewUrl]) -> None:
    """Add the URLs that an index names, with their ids, so that rows of other tables keep their URL. They are due."""
    named_urls: dict[int, str] = {}
    for index in index_names(destination, "urls"):
        query = f"SELECT url_id, url FROM damaged.urls INDEXED BY {index} EXCEPT SELECT url_id, url FROM main.urls"
        with suppress(sqlite3.DatabaseError):  # also if the index does not contain the address
            named_urls |= dict(destination.execute(query))
    rows = [{**url_row(new_url(url), time.time()), "url_id": url_id} for url_id, url in named_urls.items()]
    with closing(Database(sqlite_url(target))) as database, database.write() as connection:
        database.insert_missing(connection, urls, rows)


def find_missing_keys(destination: sqlite3.Connection, table: Table) -> set[str] | None:
    """Return the keys that indexes of the damaged file name and the new database lacks; None if none is readable."""
    key_columns = [column.name for column in table.primary_key.columns]
    keys = ", ".join(key_columns[:1] if table.name in CHECKSUMMED_TABLES else key_columns)
    missing_keys: set[str] | None = None
    for index in index_names(destination, table.name):
        query = (
            f"SELECT {keys} FROM damaged.{table.name} INDEXED BY {index} EXCEPT SELECT {keys} FROM main.{table.name}"
        )
        with suppress(sqlite3.DatabaseError):
            missing_keys = (missing_keys or set()) | {" ".join(map(str, key)) for key in destination.execute(query)}
    return missing_keys


def delete_orphans(destination: sqlite3.Connection, report: RebuildReport) -> None:
    """Delete rows whose foreign key refers to a missing row, and report them as lost."""
    while orphans := destination.execute("PRAGMA foreign_key_check").fetchall():
        for table_name, rowid, *_ in orphans:
            key_column = next(iter(metadata.tables[table_name].primary_key.columns)).name
            for (key,) in destination.execute(f"SELECT {key_column} FROM {table_name} WHERE rowid = ?", (rowid,)):
                report.lost_keys[table_name].add(str(key))
            destination.execute(f"DELETE FROM {table_name} WHERE rowid = ?", (rowid,))


def common_columns(connection: sqlite3.Connection, schema: str, table: Table) -> list[str]:
    """Return the columns that a table has in an attached database too; empty if its schema is unreadable."""
    try:
        stored_columns = {row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({table.name})")}
    except sqlite3.DatabaseError:
        return []
    return [column.name for column in table.columns if column.name in stored_columns]


def index_names(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of the indexes of a table of the damaged file; empty if its schema is unreadable."""
    try:
        return [row[1] for row in connection.execute(f"PRAGMA damaged.index_list({table})")]
    except sqlite3.DatabaseError:
        return []
