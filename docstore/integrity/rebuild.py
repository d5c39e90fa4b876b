"""Copy what cannot be crawled again, and rebuild a damaged SQLite store from its readable rows and from copies.

Each row that SQLite can read is kept. An unreadable row comes from the newest copy, and so does a row whose checksum
(row_checksums.py) is that of the copy but not its own. All articles are extracted and indexed again, because of the
rows that are derived from them. The damaged file is only read.
"""

import json
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Table, true

from docstore.articles.article_table import mark_all_for_extraction
from docstore.bookkeeping import write_meta
from docstore.change_log import ChangeLog
from docstore.database import Database, sqlite_url
from docstore.frontier.frontier_table import url_row
from docstore.integrity.integrity_checks import CHECKSUM_FORMAT_KEY
from docstore.integrity.row_checksums import (
    CHECKSUMMED_TABLES,
    checksum_format_id,
    compare_row_checksums,
    rebuild_row_checksums,
)
from docstore.schema import metadata
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import urls
from docstore.schema.operation_tables import row_checksums
from domain.frontier import NewUrl

# The state of the stages is stale in a copy, and so are checksums of rows that were changed since.
TABLES_NOT_RESTORED = frozenset({"changes", "indexed", "outcomes", "row_sums"})
# What cannot be crawled again: rows with checksums, except articles.
COPIED_TABLES = (*(name for name in CHECKSUMMED_TABLES if name != "articles"), "topic_questions", "meta")
# A lost decision or version is replaced by an empty one, so that its readable changes or entries stay.
STANDIN_STATEMENTS = {
    "term_acts": "INSERT OR IGNORE INTO term_acts (act_id, at, by_whom, kind) "
    "SELECT act_id, 0, '', 'decide' FROM term_changes WHERE rowid = ?",
    "lexicons": "INSERT OR IGNORE INTO lexicons (version, published_at, note) "
    "SELECT version, 0, '' FROM lexicon_entries WHERE rowid = ?",
}
SCAN_AHEAD_ROWIDS = 1 << 16  # tried at once if the last row of a table is unreadable


@dataclass
class RebuildReport:
    """Result of a rebuild, by table.

    Attributes:
        partial_tables: Tables with unreadable rows.
        rows_from_copies: Number of restored rows.
        deleted_keys: Rows of copies that were not restored: the store had no checksum of them any more.
        lost_keys: Rows that are neither readable nor in a copy.
        unverified_keys: Readable rows that differ from their checksum, and rows from a copy that has an earlier value.
    """

    partial_tables: list[str] = field(default_factory=list)
    rows_from_copies: Counter[str] = field(default_factory=Counter)
    deleted_keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    lost_keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    unverified_keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def rebuild_store(
    damaged_file: Path, copies: Sequence[Path], target: Path, new_url: Callable[[str], NewUrl]
) -> RebuildReport:
    """Create the database `target` from `damaged_file`, which may be unreadable or missing, and from copies.

    Args:
        damaged_file: The damaged database.
        copies: Intact databases of the same store, the newest first; they need not contain all tables.
        target: The new file.
        new_url: Returns the values of a URL of which only the address is known.
    """
    report, copy_names = RebuildReport(), [f"copy{number}" for number in range(len(copies))]
    with closing(sqlite3.connect(":memory:", uri=True)) as source, closing(create_database(target)) as destination:
        source.text_factory = lambda data: data.decode("utf-8", "replace")
        for reader in (source, destination):
            reader.execute("PRAGMA writable_schema=ON")  # SQLite then reads a truncated file, and skips bad definitions
            attach(reader, damaged_file, "mode=ro", "damaged")
        for name, copy in zip(copy_names, copies, strict=True):
            attach(destination, copy, "immutable=1", name)
        partial_tables = [t for t in metadata.sorted_tables if not copy_readable_rows(source, destination, t)]
        report.partial_tables = [table.name for table in partial_tables]
        for name in copy_names if store_meta in partial_tables else ():  # else the next opening makes a new id
            insert_rows(destination, name, store_meta, f"key IN ('store_id', '{CHECKSUM_FORMAT_KEY}')")
        with closing(Database(sqlite_url(target))) as database:
            current = f"SELECT 1 FROM meta WHERE key = '{CHECKSUM_FORMAT_KEY}' AND value = '{checksum_format_id()}'"
            destination.execute(f"DELETE FROM row_sums WHERE NOT EXISTS ({current})")  # they covered other rows
            has_sums = destination.execute("SELECT 1 FROM row_sums").fetchone() and row_checksums not in partial_tables
            for name in copy_names:
                for table_name, is_present_by_key in find_mismatches(database).items():
                    keys = json.dumps([*is_present_by_key])
                    report.rows_from_copies[table_name] += restore_exact_rows(destination, name, table_name, keys)
            for table in partial_tables:
                is_checksummed = bool(has_sums) and table.name in CHECKSUMMED_TABLES
                has_names = restore_rows(destination, table, copy_names, is_checksummed, report)
                if table is urls:
                    restore_urls(destination, database, new_url)
                if has_names:
                    readable = f"SELECT {key_columns(table)} FROM main.{table.name}"
                    report.lost_keys[table.name] |= read_keys(destination, f"SELECT * FROM named EXCEPT {readable}")
                elif not is_checksummed:
                    report.lost_keys[table.name].add("unknown keys")
            for table_name, is_present_by_key in find_mismatches(database).items():
                for key, is_present in is_present_by_key.items():
                    (report.unverified_keys if is_present else report.lost_keys)[table_name].add(key)
            replace_lost_parents(destination, report)
            ChangeLog(database).enqueue_all()
            with database.write() as connection:
                mark_all_for_extraction(connection)
                rebuild_row_checksums(database, connection)
                write_meta(database, connection, CHECKSUM_FORMAT_KEY, checksum_format_id())
    return report


def copy_decisions(source: Path, target: Path) -> None:
    """Copy COPIED_TABLES and their checksums into the empty file `target`. Raises sqlite3.Error."""
    with closing(create_database(target)) as connection:
        connection.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        connection.execute("BEGIN")  # all tables as they are now
        for name in COPIED_TABLES:
            insert_rows(connection, "source", metadata.tables[name], "TRUE")
        insert_rows(connection, "source", row_checksums, "name != 'articles'")
        connection.execute("COMMIT")


def create_database(file: Path) -> sqlite3.Connection:
    """Create the tables of a store, without any row, and return a connection in autocommit mode."""
    Database(sqlite_url(file)).close()
    connection = sqlite3.connect(file.absolute().as_uri(), uri=True, isolation_level=None)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("DELETE FROM meta")
    return connection


def attach(connection: sqlite3.Connection, file: Path, option: str, name: str) -> None:
    """Attach a database as `name`; an empty one if it cannot be read at all."""
    try:
        connection.execute(f"ATTACH ? AS {name}", (f"{file.absolute().as_uri()}?{option}",))
        connection.execute(f"SELECT count(*) FROM {name}.sqlite_master")
    except sqlite3.DatabaseError:
        with suppress(sqlite3.DatabaseError):
            connection.execute(f"DETACH {name}")
        connection.execute(f"ATTACH ':memory:' AS {name}")


# -- readable rows


def copy_readable_rows(source: sqlite3.Connection, destination: sqlite3.Connection, table: Table) -> bool:
    """Copy all readable rows of a table. Returns False if a row or the end is unreadable or invalid."""
    columns = ", ".join(names := common_columns(source, "damaged", table))
    if not names:
        return False
    rows = f"FROM damaged.{table.name} NOT INDEXED"
    query = f"SELECT rowid, {columns} {rows} WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
    insert = f"INSERT OR IGNORE INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(names))})"
    low, high = 0, None
    with suppress(sqlite3.DatabaseError):
        [high] = source.execute(f"SELECT rowid {rows} ORDER BY rowid DESC LIMIT 1").fetchone() or (0,)
    unreadable_rowids, row_count, changes_before = list[int](), 0, destination.total_changes
    destination.execute("BEGIN")
    while True:
        rows_before, last = row_count, low + SCAN_AHEAD_ROWIDS if high is None else high
        for row in iter_readable_rows(source, query, low, last, unreadable_rowids):
            row_count += 1
            with suppress(sqlite3.Error):  # a value of an invalid type
                destination.execute(insert, row)
        next_rowid = last + 1 if row_count > rows_before else find_next_start(source, rows, last + 1)
        if high is not None or next_rowid is None:
            break
        low = next_rowid
    destination.execute("COMMIT")
    return high is not None and not unreadable_rowids and destination.total_changes - changes_before == row_count


def find_next_start(source: sqlite3.Connection, rows: str, low: int) -> int | None:
    """Return the next row id, or `low` if it is unreadable, but a row within 2^24 ids is not; None if there is none."""
    for distance in (0, *(SCAN_AHEAD_ROWIDS << shift for shift in range(9))):
        with suppress(sqlite3.DatabaseError, OverflowError):
            row = source.execute(f"SELECT rowid {rows} WHERE rowid >= ? ORDER BY rowid", (low + distance,)).fetchone()
            return row and (low if distance else int(row[0]))
    return None


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


def restore_rows(
    destination: sqlite3.Connection,
    table: Table,
    copy_names: Sequence[str],
    is_checksummed: bool,
    report: RebuildReport,
) -> bool:
    """Insert the rows of the copies that the damaged file had. Returns whether an index named its keys (temp.named).

    If none did, the rows with a checksum are inserted, and without readable checksums all rows.
    """
    has_names, keys = load_named_keys(destination, table), key_columns(table)
    condition = f"({keys}) IN temp.named" if has_names else "TRUE"
    if is_checksummed and not has_names:
        # The rows that have a checksum in `main`, or that need none.
        item = CHECKSUMMED_TABLES[table.name]
        names = f"SELECT key FROM main.row_sums WHERE name = '{table.name}'"
        row_filter = true() if item.row_filter is None else item.row_filter
        needs_checksum = row_filter.compile(compile_kwargs={"literal_binds": True})
        condition = f"CAST({item.key_column.name} AS TEXT) IN ({names}) OR NOT ({needs_checksum})"
        for name in (name for name in copy_names if common_columns(destination, name, table)):
            query = f"SELECT {keys} FROM {name}.{table.name} WHERE NOT ({condition})"
            report.deleted_keys[table.name] |= read_keys(destination, query)
    for name in copy_names if table.name not in TABLES_NOT_RESTORED else ():
        report.rows_from_copies[table.name] += insert_rows(destination, name, table, condition)
    return has_names


def replace_lost_parents(destination: sqlite3.Connection, report: RebuildReport) -> None:
    """Add stand-ins for lost decisions and versions, and delete the other rows whose parent is lost."""
    while orphans := destination.execute("PRAGMA foreign_key_check").fetchall():
        for table_name, rowid, parent, _ in orphans:
            if parent not in STANDIN_STATEMENTS:  # of a URL whose address is lost too
                report.lost_keys[table_name].add(f"row {rowid}")
            delete = f"DELETE FROM {table_name} WHERE rowid = ?"
            destination.execute(STANDIN_STATEMENTS.get(parent, delete), (rowid,))


def key_columns(table: Table) -> str:
    """Return the names of the primary key, separated by commas."""
    return ", ".join(column.name for column in table.primary_key.columns)


def read_keys(connection: sqlite3.Connection, query: str) -> set[str]:
    """Return the rows of a query on keys as texts."""
    return {" ".join(map(str, row)) for row in connection.execute(query)}


def find_mismatches(database: Database) -> dict[str, dict[str, bool]]:
    """Return the keys whose rows differ from their stored checksum, by table; False if there is no such row."""
    with database.read() as connection:
        return {
            name: {key: current is not None for key, (expected, current) in checksums.items() if expected is not None}
            for name, checksums in compare_row_checksums(connection).items()
        }


def restore_exact_rows(destination: sqlite3.Connection, copy_name: str, table_name: str, keys: str) -> int:
    """Replace rows by those of a copy that has the expected checksum. `keys` is a JSON list. Returns their number."""
    if not common_columns(destination, copy_name, row_checksums):
        return 0
    same_checksum = (
        f"CAST({CHECKSUMMED_TABLES[table_name].key_column.name} AS TEXT) IN ("
        f"SELECT expected.key FROM main.row_sums AS expected JOIN {copy_name}.row_sums USING (name, key, sum) "
        f"WHERE expected.name = '{table_name}' AND expected.key IN (SELECT value FROM json_each(?)))"
    )
    destination.execute(f"DELETE FROM main.{table_name} WHERE {same_checksum}", (keys,))
    return insert_rows(destination, copy_name, metadata.tables[table_name], same_checksum, keys)


def insert_rows(connection: sqlite3.Connection, schema: str, table: Table, condition: str, *values: str) -> int:
    """Insert the rows of an attached database that are not in `main` yet. Returns their number."""
    if not (columns := ", ".join(common_columns(connection, schema, table))):
        return 0
    rows = f"SELECT {columns} FROM {schema}.{table.name} WHERE {condition}"
    return connection.execute(f"INSERT OR IGNORE INTO main.{table.name} ({columns}) {rows}", values).rowcount


def load_named_keys(destination: sqlite3.Connection, table: Table) -> bool:
    """Load the keys of all rows that the damaged file had into temp.named. False if no index with them is readable."""
    destination.execute("DROP TABLE IF EXISTS temp.named")
    with suppress(sqlite3.DatabaseError):
        for _, index, *_ in destination.execute(f"PRAGMA damaged.index_list({table.name})").fetchall():
            query = f"SELECT {key_columns(table)} FROM damaged.{table.name} INDEXED BY {index}"
            with suppress(sqlite3.DatabaseError):  # it is damaged, or it does not contain the keys
                destination.execute(f"CREATE TEMP TABLE named AS {query}")
                return True
    return False


def restore_urls(destination: sqlite3.Connection, database: Database, new_url: Callable[[str], NewUrl]) -> None:
    """Add the URLs that an index names, with their ids, so that rows of other tables keep their URL. They are due."""
    named_urls = "SELECT url_id, url FROM damaged.urls INDEXED BY sqlite_autoindex_urls_1"
    with suppress(sqlite3.DatabaseError), database.write() as connection:
        lost_urls = destination.execute(f"{named_urls} EXCEPT SELECT url_id, url FROM main.urls").fetchall()
        rows = [{**url_row(new_url(url), time.time()), "url_id": url_id} for url_id, url in lost_urls]
        database.insert_missing(connection, urls, rows)


def common_columns(connection: sqlite3.Connection, schema: str, table: Table) -> list[str]:
    """Return the columns that a table has in an attached database too; empty if its schema is unreadable."""
    try:
        stored_columns = {row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({table.name})")}
    except sqlite3.DatabaseError:
        return []
    return [column.name for column in table.columns if column.name in stored_columns]
