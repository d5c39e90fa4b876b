"""Sums of rows that nothing can make again, written in the transaction that writes the rows: `row_sums`.

A sum covers all rows that share the first column of the primary key: one article, one account, one decided term, one
act with its changes, one published version. What stages work out anew whenever they run is left out of it (whose copy
an article is, how many cite it, which story it tells, when a version was applied). CRC-32 finds every damage of up to
three bits, and misses one in four milliards of others.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, delete, select

from docstore.batches import batched
from docstore.database import Database
from docstore.model import TermStatus
from docstore.schema.article_tables import articles
from docstore.schema.lexicon_tables import lexicon_entries, lexicons, term_acts, term_changes, terms
from docstore.schema.operation_tables import accounts, row_sums

BATCH = 500
Key = int | str


@dataclass(frozen=True)
class Sealed:
    """A table whose rows have sums: which columns count, and of which rows."""

    table: Table
    columns: tuple[str, ...]
    only: ColumnElement[bool] | None = None

    @property
    def key(self) -> Column[Any]:
        """The column by which rows share a sum."""
        return next(iter(self.table.primary_key.columns))


def all_but(table: Table, *names: str) -> tuple[str, ...]:
    """The columns of a table without some."""
    return tuple(column.name for column in table.columns if column.name not in names)


DECIDED = ("text", "status", "category", "synonyms", "broader", "weight", "tag", "version")
SEALED: Mapping[str, Sealed] = {
    one.table.name: one
    for one in (
        Sealed(accounts, all_but(accounts)),
        Sealed(articles, all_but(articles, "duplicate_of", "series", "citations", "story")),
        Sealed(
            terms, (*DECIDED, "decided_at", "decided_by", "decided_on"), terms.c.status != TermStatus.CANDIDATE.value
        ),
        Sealed(term_acts, all_but(term_acts)),
        Sealed(term_changes, all_but(term_changes)),
        Sealed(lexicons, all_but(lexicons, "applied_at")),
        Sealed(lexicon_entries, all_but(lexicon_entries)),
    )
}


def seal(database: Database, connection: Connection, table: Table, keys: Iterable[Key]) -> None:
    """Bring the sums of the rows with these keys in line with the rows, also of those that are no more."""
    one = SEALED[table.name]
    for batch in batched(list(dict.fromkeys(keys)), BATCH):
        found = dict(sums_now(connection, one, one.key.in_(batch)))
        rows = [{"name": table.name, "key": str(key), "sum": value} for key, value in found.items()]
        database.upsert(connection, row_sums, rows, update=("sum",))
        if gone := [str(key) for key in batch if key not in found]:
            mine = and_(row_sums.c.name == table.name, row_sums.c.key.in_(gone))
            connection.execute(delete(row_sums).where(mine))


def seal_all(database: Database, connection: Connection) -> None:
    """Give every row its sum, in a store that was made before there were any."""
    connection.execute(delete(row_sums))
    for one in SEALED.values():
        rows = ({"name": one.table.name, "key": str(key), "sum": value} for key, value in sums_now(connection, one))
        for batch in batched(rows, BATCH):
            database.upsert(connection, row_sums, batch)


def sums_now(
    connection: Connection, one: Sealed, where: ColumnElement[bool] | None = None
) -> Iterator[tuple[Key, int]]:
    """Each key of a table with the sum of its rows as they are."""
    columns = [one.table.c[name] for name in one.columns]
    query = select(one.key, *columns).order_by(*one.table.primary_key.columns)
    for condition in (where, one.only):
        if condition is not None:
            query = query.where(condition)
    rows = connection.execute(query.execution_options(yield_per=BATCH))
    for key, same in groupby(rows, key=lambda row: row[0]):
        yield key, sum_of(row[1:] for row in same)


def sum_of(rows: Iterable[Iterable[Any]]) -> int:
    """The CRC-32 of rows, values apart and rows apart."""
    found = 0
    for row in rows:
        text = "\x1f".join(map(value_text, row))
        found = zlib.crc32(f"{text}\x1e".encode("utf-8", "surrogatepass"), found)
    return found


def value_text(value: Any) -> str:
    """A value of a row as its sum sees it: 1 and 1.0 and "1" are three."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | memoryview):
        return f"\0{bytes(value).hex()}"
    return f"\0{value!r}"


def form() -> int:
    """A number for what the sums cover: a program that covers other columns makes them anew."""
    covered = sorted((name, one.columns) for name, one in SEALED.items())
    return zlib.crc32(repr(covered).encode())


def damaged_keys(connection: Connection, one: Sealed) -> list[str]:
    """The keys whose rows are not what was written: changed, lost, or written by nobody."""
    query = select(row_sums.c.key, row_sums.c.sum).where(row_sums.c.name == one.table.name)
    kept = {row.key: row.sum for row in connection.execute(query)}
    wrong = [str(key) for key, value in sums_now(connection, one) if kept.pop(str(key), None) != value]
    return [*wrong, *kept]
