"""A new SQLite store of what can be read of a damaged one, and of its backup where that cannot be.

Rows are taken as far as SQLite reads them and their sums (row_sums.py) prove them; a row that is not what
was written comes from the backup, if its sum proves it there. What neither has is said. The damaged file is only read.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from docstore.database import Database
from docstore.integrity.row_sums import SEALED, Sealed, sum_of
from docstore.schema import metadata

NOT_MERGED = ("changes", "indexed", "outcomes")  # what the stages say of the present state is not the backup's to say
LONGEST_GAP = 1 << 40  # of row numbers that are passed by where a page cannot be read
BATCH = 500

Rows = list[tuple[Any, ...]]


@dataclass
class Salvaged:
    """What became of it: tables that could not be read whole, rows from the backup, and sealed rows nobody has."""

    partial: list[str] = field(default_factory=list)
    from_backup: dict[str, int] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=dict)


def salvage(damaged: Path, backup: Path | None, target: Path) -> Salvaged:
    """Make the store `target` (a new file) of `damaged` and `backup`. sqlite3.DatabaseError where `damaged` cannot be
    opened."""
    Database(f"sqlite:///{target}").close()  # its tables
    said = Salvaged()
    with closing(reader(damaged)) as old, closing(sqlite3.connect(target)) as new:
        if not old.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError("it is empty")
        spare = reader(backup) if backup else None
        new.execute("PRAGMA foreign_keys=OFF")
        new.execute("DELETE FROM meta")
        for table in metadata.sorted_tables:
            if not copy_table(old, new, table):
                said.partial.append(table.name)
                if spare is not None and table.name not in NOT_MERGED:
                    copy_table(spare, new, table)
        for one in SEALED.values():
            put_right(new, spare, one, said)
        drop_strays(new)
        new.commit()
        if spare is not None:
            spare.close()
    return said


def reader(path: Path) -> sqlite3.Connection:
    """A store to read, whatever its bytes are."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def copy_table(old: sqlite3.Connection, new: sqlite3.Connection, table: Table) -> bool:
    """Copy the rows that can be read and are not there yet; were it all?"""
    try:
        there = {row[1] for row in old.execute(f"PRAGMA table_info({table.name})")}
    except sqlite3.DatabaseError:
        return False
    names = [column.name for column in table.columns if column.name in there]
    if not names:
        return not there
    into = f"INSERT OR IGNORE INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    reading = Reading(old, table.name, names)
    for row in reading.rows():
        try:
            new.execute(into, row)
        except sqlite3.Error:  # a value that no longer is of its kind
            reading.is_whole = False
    return reading.is_whole


class Reading:
    """The rows of a table in the order of their numbers, those that cannot be read passed by."""

    def __init__(self, old: sqlite3.Connection, table: str, names: Sequence[str]) -> None:
        self.is_whole = True
        self._old = old
        self._query = f"SELECT rowid, {', '.join(names)} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid"

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """See the class."""
        last, gap = -1, 1
        while gap < LONGEST_GAP:
            try:
                for number, *row in self._old.execute(self._query, (last,)):
                    last, gap = number, 1
                    yield tuple(row)
                return
            except (sqlite3.DatabaseError, OverflowError):
                self.is_whole = False
                last, gap = last + gap, gap * 2


def put_right(new: sqlite3.Connection, spare: sqlite3.Connection | None, one: Sealed, said: Salvaged) -> None:
    """Take the rows of a table that are not what was written from the backup; what it lacks too is lost and said."""
    name, key = one.table.name, one.key.name
    kept = sums_in(new, name)
    now = {str(value): found for value, found in sums_of(new, one)}
    for wrong in [value for value in {*kept, *now} if kept.get(value) != now.get(value)]:
        rows = proven(spare, one, wrong) if spare is not None else None
        if rows is None and wrong in now and wrong not in kept:  # its sum is lost: nothing speaks against it
            rows = all_rows(new, one, wrong)
        elif rows is not None:
            said.from_backup[name] = said.from_backup.get(name, 0) + 1
        new.execute(f"DELETE FROM {name} WHERE CAST({key} AS TEXT) = ?", (wrong,))
        new.execute("DELETE FROM row_sums WHERE name = ? AND key = ?", (name, wrong))
        if rows is None:
            said.lost.setdefault(name, []).append(wrong)
            continue
        columns = [column.name for column in one.table.columns]
        new.executemany(
            f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows
        )
        for value, found in sums_of(new, one, wrong):
            new.execute("INSERT OR REPLACE INTO row_sums (name, key, sum) VALUES (?, ?, ?)", (name, str(value), found))


def sums_in(connection: sqlite3.Connection, name: str) -> dict[str, int]:
    """The sums that were kept of a table's rows."""
    try:
        return dict(connection.execute("SELECT key, sum FROM row_sums WHERE name = ?", (name,)).fetchall())
    except sqlite3.DatabaseError:
        return {}


def sums_of(connection: sqlite3.Connection, one: Sealed, key: str | None = None) -> Iterator[tuple[Any, int]]:
    """The sums of a table's rows as they are, or of those with one key."""
    order = ", ".join(column.name for column in one.table.primary_key.columns)
    conditions = [] if one.only is None else [str(one.only.compile(compile_kwargs={"literal_binds": True}))]
    if key is not None:
        conditions.append(f"CAST({one.key.name} AS TEXT) = :key")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"SELECT {one.key.name}, {', '.join(one.columns)} FROM {one.table.name} {where} ORDER BY {order}"
    rows = connection.execute(query, {"key": key} if key is not None else {})
    for value, same in groupby(rows, key=lambda row: row[0]):
        yield value, sum_of(row[1:] for row in same)


def all_rows(connection: sqlite3.Connection, one: Sealed, key: str) -> Rows:
    """The rows with a key, with all columns."""
    columns = ", ".join(column.name for column in one.table.columns)
    return connection.execute(
        f"SELECT {columns} FROM {one.table.name} WHERE CAST({one.key.name} AS TEXT) = ?", (key,)
    ).fetchall()


def proven(spare: sqlite3.Connection, one: Sealed, key: str) -> Rows | None:
    """The rows with a key, where their sum proves them."""
    try:
        kept = sums_in(spare, one.table.name).get(key)
        found = [value for _, value in sums_of(spare, one, key)]
        return all_rows(spare, one, key) if kept is not None and found == [kept] else None
    except sqlite3.DatabaseError:
        return None


def drop_strays(new: sqlite3.Connection) -> None:
    """Remove rows whose owner is not there."""
    for _ in range(3):  # what belongs to a stray is one
        strays = new.execute("PRAGMA foreign_key_check").fetchall()
        if not strays:
            return
        for table, rowid, *_ in strays:
            new.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
