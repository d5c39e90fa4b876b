"""Is what the store holds what was written? Asked of the database itself; the WARC files have digests of their own."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.exc import DatabaseError

from docstore.articles.records import number, write_number
from docstore.database import Database
from docstore.model import Stage
from docstore.row_sums import SEALED, damaged_keys, form, seal, seal_all
from docstore.tables import articles, indexed, outcomes, pages, row_sums

FORM = "row_sums_form"  # key of what the sums of the store cover
MAX_FAULTS = 20  # that SQLite's own check names


class Soundness:
    """`store.soundness`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        if database.is_new:
            with database.write() as connection:
                write_number(database, connection, FORM, form())

    def database_faults(self, quick: bool = False) -> list[str]:
        """What SQLite finds wrong with its pages and indexes; `quick` leaves the indexes out. PostgreSQL checks its
        pages by itself (`initdb --data-checksums`): nothing."""
        pragma = "quick_check" if quick else "integrity_check"
        with self._database.read() as connection:
            if connection.dialect.name != "sqlite":
                return []
            try:
                said = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA {pragma}({MAX_FAULTS})")]
                strange = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(1)
            except (DatabaseError, sqlite3.DatabaseError) as error:
                return [" ".join(str(error).split())]
        return [line for line in said if line != "ok"] + ["rows without what they belong to"] * bool(strange)

    def reindex(self) -> None:
        """Make SQLite's indexes anew from their tables."""
        with self._database.write() as connection:
            connection.exec_driver_sql("REINDEX")

    def make_sums(self) -> bool:
        """Give every row its sum where the store has none of this form yet; did it have none?"""
        with self._database.write() as connection:
            if number(connection, FORM) == form():
                return False
            seal_all(self._database, connection)
            write_number(self._database, connection, FORM, form())
            return True

    def damaged_rows(self) -> Mapping[str, list[str]]:
        """Table -> keys of rows that are not what was written, as text; tables without such rows are left out."""
        with self._database.read() as connection:
            found = {name: damaged_keys(connection, one) for name, one in SEALED.items()}
        return {name: keys for name, keys in found.items() if keys}

    def extract_again(self, url_ids: list[int]) -> None:
        """Let these pages wait for extraction; what is kept of their articles goes if its page is there."""
        with self._database.write() as connection:
            held = list(connection.scalars(select(pages.c.url_id).where(pages.c.url_id.in_(url_ids))))
            connection.execute(delete(articles).where(articles.c.url_id.in_(held)))
            mine = (outcomes.c.url_id.in_(held), outcomes.c.stage == Stage.EXTRACT)
            connection.execute(update(outcomes).where(*mine).values(input=""))
            seal(self._database, connection, articles, url_ids)

    def accept(self, name: str, keys: list[str]) -> None:
        """Take rows as they are now for what was written: the sums of rows that were put right, or are lost."""
        one = SEALED[name]
        typed: list[Any] = [int(key) for key in keys] if one.key.type.python_type is int else list(keys)
        with self._database.write() as connection:
            seal(self._database, connection, one.table, typed)

    def forget_sums_of(self, name: str) -> None:
        """Strike the sums of rows that are not there."""
        with self._database.write() as connection:
            connection.execute(delete(row_sums).where(row_sums.c.name == name))

    def ledger(self) -> tuple[set[str], set[str]]:
        """The ids of documents: of all articles, and of those that the index holds by our own account."""
        with self._database.read() as connection:
            every = dict(connection.execute(select(articles.c.url_id, articles.c.doc_id)).tuples())
            held = held_by_index(connection)
        return set(every.values()), {every[url_id] for url_id in held if url_id in every}


def held_by_index(connection: Connection) -> list[int]:
    """The articles (`url_id`) that the index holds by our own account."""
    return list(connection.scalars(select(indexed.c.url_id)))
