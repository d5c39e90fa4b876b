"""Checksums of rows that cannot be derived again. They are written in the transaction that writes the rows.

A checksum covers all rows with the same first column of the primary key: one article, one account, one decided term,
one review decision with its changes, the decided relations of one term, one published version, one operation, one
takedown, one comment, one token, one curation rule. Columns that stages recompute in every run are excluded
(near-duplicate cluster, citation count, story, time of application), and the time at which a token was last used.
CRC-32 detects any change of up to three bits and misses other damage with probability 2^-32.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, delete, select

from docstore.database import Database
from docstore.schema.administration_tables import alert_mutes, api_tokens, curation_rules, operations, takedowns
from docstore.schema.article_tables import COLUMNS_SET_BY_OTHER_ARTICLES, articles
from docstore.schema.lexicon_tables import (
    lexicon_entries,
    lexicons,
    relation_proposals,
    review_changes,
    review_decisions,
    term_assignments,
    term_comments,
    terms,
)
from docstore.schema.operation_tables import accounts, row_checksums
from docstore.terms.row_mapping import DECISION_COLUMNS
from domain.batches import batched
from domain.term import TermStatus
from domain.term_relation import ProposalState

BATCH_SIZE = 500
RowKey = int | str


@dataclass(frozen=True)
class ChecksummedTable:
    """A table with row checksums: the covered columns, and an optional condition on the covered rows."""

    table: Table
    columns: tuple[str, ...]
    row_filter: ColumnElement[bool] | None = None

    @property
    def key_column(self) -> Column[Any]:
        """The column whose values group rows to one checksum."""
        return next(iter(self.table.primary_key.columns))


def columns_except(table: Table, *names: str) -> tuple[str, ...]:
    """Return the column names of a table except `names`."""
    return tuple(column.name for column in table.columns if column.name not in names)


CHECKSUMMED_TABLES: Mapping[str, ChecksummedTable] = {
    item.table.name: item
    for item in (
        ChecksummedTable(accounts, columns_except(accounts)),
        ChecksummedTable(articles, columns_except(articles, *COLUMNS_SET_BY_OTHER_ARTICLES)),
        ChecksummedTable(terms, ("text", *DECISION_COLUMNS, "version"), terms.c.status != TermStatus.CANDIDATE.value),
        ChecksummedTable(review_decisions, columns_except(review_decisions)),
        ChecksummedTable(review_changes, columns_except(review_changes)),
        ChecksummedTable(
            relation_proposals,
            ("term", "kind", "other", "state", "decided_by"),
            relation_proposals.c.state != ProposalState.PROPOSED.value,
        ),
        ChecksummedTable(lexicons, columns_except(lexicons, "applied_at")),
        ChecksummedTable(lexicon_entries, columns_except(lexicon_entries)),
        ChecksummedTable(operations, columns_except(operations)),
        ChecksummedTable(takedowns, columns_except(takedowns)),
        ChecksummedTable(alert_mutes, columns_except(alert_mutes)),
        ChecksummedTable(api_tokens, columns_except(api_tokens, "last_used_at")),
        ChecksummedTable(curation_rules, columns_except(curation_rules)),
        ChecksummedTable(term_comments, columns_except(term_comments)),
        ChecksummedTable(term_assignments, columns_except(term_assignments)),
    )
}


def update_row_checksums(database: Database, connection: Connection, table: Table, keys: Iterable[RowKey]) -> None:
    """Update the checksums of the rows with these keys, and delete the checksums of removed rows."""
    checksummed_table = CHECKSUMMED_TABLES[table.name]
    for batch in batched(list(dict.fromkeys(keys)), BATCH_SIZE):
        checksum_by_key = dict(
            iter_current_checksums(connection, checksummed_table, checksummed_table.key_column.in_(batch))
        )
        rows = [{"name": table.name, "key": str(key), "sum": value} for key, value in checksum_by_key.items()]
        database.upsert(connection, row_checksums, rows)
        if removed_keys := [str(key) for key in batch if key not in checksum_by_key]:
            is_removed = and_(row_checksums.c.name == table.name, row_checksums.c.key.in_(removed_keys))
            connection.execute(delete(row_checksums).where(is_removed))


def rebuild_row_checksums(database: Database, connection: Connection) -> None:
    """Compute the checksums of all rows again."""
    connection.execute(delete(row_checksums))
    for checksummed_table in CHECKSUMMED_TABLES.values():
        rows = (
            {"name": checksummed_table.table.name, "key": str(key), "sum": value}
            for key, value in iter_current_checksums(connection, checksummed_table)
        )
        for batch in batched(rows, BATCH_SIZE):
            database.insert_missing(connection, row_checksums, batch)


def iter_current_checksums(
    connection: Connection, checksummed_table: ChecksummedTable, where: ColumnElement[bool] | None = None
) -> Iterator[tuple[RowKey, int]]:
    """Iterate over (key, checksum of its rows) of a table as it is now."""
    columns = [checksummed_table.table.c[name] for name in checksummed_table.columns]
    query = select(checksummed_table.key_column, *columns).order_by(*checksummed_table.table.primary_key.columns)
    for condition in (where, checksummed_table.row_filter):
        if condition is not None:
            query = query.where(condition)
    rows = connection.execute(query.execution_options(yield_per=BATCH_SIZE))
    for key, rows_with_key in groupby(rows, key=lambda row: row[0]):
        yield key, rows_crc32(row[1:] for row in rows_with_key)


def rows_crc32(rows: Iterable[Iterable[Any]]) -> int:
    """Return the CRC-32 of rows, with separators between values and between rows."""
    checksum = 0
    for row in rows:
        for index, value in enumerate(row):  # one value at a time: a long article needs no second copy
            checksum = zlib.crc32(b"\x1f", checksum) if index else checksum
            checksum = zlib.crc32(canonical_value_text(value).encode("utf-8", "surrogatepass"), checksum)
        checksum = zlib.crc32(b"\x1e", checksum)
    return checksum


def canonical_value_text(value: Any) -> str:
    """Return the text of a value for its checksum. 1, 1.0 and "1" have different texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | memoryview):
        return f"\0{bytes(value).hex()}"
    return f"\0{value!r}"


def checksum_format_id() -> int:
    """Return an id of the covered tables and columns. If it changes, the checksums are computed again."""
    covered_columns = sorted(
        (name, checksummed_table.columns) for name, checksummed_table in CHECKSUMMED_TABLES.items()
    )
    return zlib.crc32(repr(covered_columns).encode())


def compare_row_checksums(connection: Connection) -> dict[str, dict[str, tuple[int | None, int | None]]]:
    """Return the keys whose stored and current checksum differ, with both, by table.

    The stored checksum is None if there is none, and the current one if there is no row.
    """
    differences: dict[str, dict[str, tuple[int | None, int | None]]] = {}
    for name, table in CHECKSUMMED_TABLES.items():
        query = select(row_checksums.c.key, row_checksums.c.sum).where(row_checksums.c.name == name)
        stored_sums = {row.key: row.sum for row in connection.execute(query)}
        current_sums = {str(key): checksum for key, checksum in iter_current_checksums(connection, table)}
        pairs = {key: (stored_sums.get(key), current_sums.get(key)) for key in (*current_sums, *stored_sums)}
        if differing := {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}:
            differences[name] = differing
    return differences
