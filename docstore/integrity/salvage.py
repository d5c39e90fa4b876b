"""Salvage of a damaged SQLite store: build a new store from its readable rows and from a backup.

A row of the damaged file is used if SQLite can read it and its checksum matches (row_checksums.py). Otherwise the row
of the backup is used, if its checksum matches there. Rows that neither file has are listed in the report. The damaged
file is only read.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from docstore.database import Database, sqlite_url
from docstore.integrity.integrity_checks import CHECKSUM_FORMAT_KEY
from docstore.integrity.row_checksums import CHECKSUMMED_TABLES, ChecksummedTable, checksum_format_id, rows_crc32
from docstore.schema import metadata
from docstore.schema.base import PackedText, unpack_column

# Current stage state: never restored from a backup, where it is stale.
TABLES_NOT_RESTORED = ("changes", "indexed", "outcomes")
MAX_SKIPPED_ROWIDS = 1 << 40  # largest step when searching for the next readable row
ALL_ROWS = -1  # as a LIMIT
MAX_SINGLE_STEPS = 100_000  # unreadable rowids after which the step doubles; an inner page of a table has fewer rows
BATCH_SIZE = 500

Rows = list[tuple[Any, ...]]


@dataclass
class SalvageReport:
    """Result of a salvage.

    Attributes:
        partial_tables: Tables with unreadable rows.
        rows_from_backup: Number of keys restored from the backup, by table.
        lost_keys: Keys of rows with checksums that neither file has, by table.
    """

    partial_tables: list[str] = field(default_factory=list)
    rows_from_backup: dict[str, int] = field(default_factory=dict)
    lost_keys: dict[str, list[str]] = field(default_factory=dict)


def salvage_store(damaged_file: Path, backup: Path | None, target: Path) -> SalvageReport:
    """Build the new store `target` from `damaged_file` and, if not None, from `backup`.

    Raises:
        sqlite3.DatabaseError: `damaged_file` cannot be opened or contains no tables.
    """
    Database(sqlite_url(target)).close()  # creates the tables
    report = SalvageReport()
    with closing(open_read_only(damaged_file)) as source, closing(sqlite3.connect(target)) as destination:
        if not source.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError("it is empty")
        backup_connection = open_read_only(backup) if backup else None
        destination.execute("PRAGMA foreign_keys=OFF")
        destination.execute("DELETE FROM meta")
        for table in metadata.sorted_tables:
            if not copy_readable_rows(source, destination, table):
                report.partial_tables.append(table.name)
                if backup_connection is not None and table.name not in TABLES_NOT_RESTORED:
                    copy_readable_rows(backup_connection, destination, table)
        for checksummed_table in CHECKSUMMED_TABLES.values():
            restore_damaged_rows(destination, backup_connection, checksummed_table, report)
        delete_orphans(destination)
        destination.commit()
        if backup_connection is not None:
            backup_connection.close()
    return report


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a SQLite file for reading. Text with invalid bytes is decoded with replacement characters."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def copy_readable_rows(source: sqlite3.Connection, destination: sqlite3.Connection, table: Table) -> bool:
    """Copy all readable rows that `destination` lacks. Returns False if any row was unreadable."""
    try:
        source_columns = {row[1] for row in source.execute(f"PRAGMA table_info({table.name})")}
    except sqlite3.DatabaseError:
        return False
    names = [column.name for column in table.columns if column.name in source_columns]
    if not names:
        return not source_columns
    insert_sql = f"INSERT OR IGNORE INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    reader_state = ResilientTableReader(source, table.name, names)
    for row in reader_state.iter_rows():
        try:
            destination.execute(insert_sql, row)
        except sqlite3.Error:  # a value with an invalid type
            reader_state.is_complete = False
    return reader_state.is_complete


class ResilientTableReader:
    """Reads the rows of a table by rowid and skips unreadable ones. `is_complete` is False if any row was skipped."""

    def __init__(self, source: sqlite3.Connection, table: str, names: Sequence[str]) -> None:
        self.is_complete = True
        self._connection = source
        self._query = (
            f"SELECT rowid, {', '.join(names)} FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT ?"
        )

    def iter_rows(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over all readable rows.

        After an unreadable row, every following rowid is tried, and the step doubles after MAX_SINGLE_STEPS failures.
        Python reads one row ahead, so the row before an unreadable one is read again, alone.
        """
        next_rowid, gap, failure_count, limit = 0, 1, 0, ALL_ROWS
        while gap < MAX_SKIPPED_ROWIDS:
            try:
                for number, *row in self._connection.execute(self._query, (next_rowid, limit)):
                    next_rowid, gap, failure_count = number + 1, 1, 0
                    yield tuple(row)
                if limit == ALL_ROWS:
                    return
                limit = ALL_ROWS
            except (sqlite3.DatabaseError, OverflowError):
                self.is_complete = False
                if limit == 1:
                    next_rowid, failure_count = next_rowid + gap, failure_count + 1
                    gap *= 1 if failure_count < MAX_SINGLE_STEPS else 2
                limit = 1


def restore_damaged_rows(
    destination: sqlite3.Connection,
    backup: sqlite3.Connection | None,
    checksummed_table: ChecksummedTable,
    report: SalvageReport,
) -> None:
    """Replace rows whose checksum does not match by the backup's rows.

    Rows that the backup cannot verify are deleted and listed in `report.lost_keys`.
    """
    name, key = checksummed_table.table.name, checksummed_table.key_column.name
    expected_checksums = stored_checksums(destination, name)
    backup_checksums = stored_checksums(backup, name) if backup is not None else {}
    current_checksums = {
        str(value): checksum for value, checksum in iter_current_checksums(destination, checksummed_table)
    }
    for damaged_key in [
        value
        for value in {*expected_checksums, *current_checksums}
        if expected_checksums.get(value) != current_checksums.get(value)
    ]:
        expected = backup_checksums.get(damaged_key)
        rows = verified_rows(backup, checksummed_table, damaged_key, expected) if backup is not None else None
        if (
            rows is None and damaged_key in current_checksums and damaged_key not in expected_checksums
        ):  # only its checksum is lost: keep the row
            rows = rows_with_key(destination, checksummed_table, damaged_key)
        elif rows is not None:
            report.rows_from_backup[name] = report.rows_from_backup.get(name, 0) + 1
        destination.execute(f"DELETE FROM {name} WHERE {key} = ?", (damaged_key,))
        destination.execute("DELETE FROM row_sums WHERE name = ? AND key = ?", (name, damaged_key))
        if rows is None:
            report.lost_keys.setdefault(name, []).append(damaged_key)
            continue
        columns = [column.name for column in checksummed_table.table.columns]
        destination.executemany(
            f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows
        )
        for value, checksum in iter_current_checksums(destination, checksummed_table, damaged_key):
            destination.execute(
                "INSERT OR REPLACE INTO row_sums (name, key, sum) VALUES (?, ?, ?)", (name, str(value), checksum)
            )


def stored_checksums(connection: sqlite3.Connection, name: str) -> dict[str, int]:
    """Return the stored checksums of a table by key; empty if they cannot be read or cover other columns."""
    is_outdated = "EXISTS (SELECT 1 FROM meta WHERE key = :format_key AND value != :format_id)"
    query = f"SELECT key, sum FROM row_sums WHERE name = :name AND NOT {is_outdated}"
    values = {"name": name, "format_key": CHECKSUM_FORMAT_KEY, "format_id": str(checksum_format_id())}
    try:
        return dict(connection.execute(query, values).fetchall())
    except sqlite3.DatabaseError:
        return {}


def iter_current_checksums(
    connection: sqlite3.Connection, checksummed_table: ChecksummedTable, key: str | None = None
) -> Iterator[tuple[Any, int]]:
    """Iterate over (key, checksum of its rows) of a table as it is now, for all keys or for `key`."""
    order = ", ".join(column.name for column in checksummed_table.table.primary_key.columns)
    conditions = (
        []
        if checksummed_table.row_filter is None
        else [str(checksummed_table.row_filter.compile(compile_kwargs={"literal_binds": True}))]
    )
    if key is not None:
        conditions.append(f"{checksummed_table.key_column.name} = :key")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    columns = ", ".join((checksummed_table.key_column.name, *checksummed_table.columns))
    query = f"SELECT {columns} FROM {checksummed_table.table.name} {where} ORDER BY {order}"
    rows = connection.execute(query, {"key": key} if key is not None else {})
    for value, key_rows in groupby(rows, key=lambda row: row[0]):
        yield value, rows_crc32(unpack_row(row[1:], checksummed_table) for row in key_rows)


def unpack_row(row: Sequence[Any], checksummed_table: ChecksummedTable) -> list[Any]:
    """Return the values of the covered columns, with compressed texts as text: checksums are those of the texts."""
    columns = (checksummed_table.table.c[name] for name in checksummed_table.columns)
    return [
        unpack_column(value) if isinstance(column.type, PackedText) else value
        for value, column in zip(row, columns, strict=True)
    ]


def rows_with_key(connection: sqlite3.Connection, checksummed_table: ChecksummedTable, key: str) -> Rows:
    """Return the rows with a key, with all columns."""
    columns = ", ".join(column.name for column in checksummed_table.table.columns)
    table_name, key_column_name = checksummed_table.table.name, checksummed_table.key_column.name
    query = f"SELECT {columns} FROM {table_name} WHERE {key_column_name} = ?"
    return connection.execute(query, (key,)).fetchall()


def verified_rows(
    backup: sqlite3.Connection, checksummed_table: ChecksummedTable, key: str, expected_checksum: int | None
) -> Rows | None:
    """Return the rows of the backup with a key if their checksum matches, otherwise None."""
    try:
        current_checksums = [value for _, value in iter_current_checksums(backup, checksummed_table, key)]
        return (
            rows_with_key(backup, checksummed_table, key)
            if expected_checksum is not None and current_checksums == [expected_checksum]
            else None
        )
    except sqlite3.DatabaseError:
        return None


def delete_orphans(destination: sqlite3.Connection) -> None:
    """Delete rows whose foreign key refers to a missing row."""
    for _ in range(3):  # deleting orphans can orphan further rows
        orphans = destination.execute("PRAGMA foreign_key_check").fetchall()
        if not orphans:
            return
        for table, rowid, *_ in orphans:
            destination.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
