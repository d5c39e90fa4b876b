"""Is what the store holds what was written? Asked of the database itself; the WARC files have digests of their own."""

import sqlite3
import time
from collections.abc import Iterator, Mapping

from sqlalchemy import delete, select, tuple_, update
from sqlalchemy.exc import DatabaseError

from docstore.articles.extraction_writer import ask_again
from docstore.articles.records import Op, number, write_changes, write_number
from docstore.batches import batched
from docstore.database import Database
from docstore.integrity.row_sums import SEALED, damaged_keys, form, seal, seal_all
from docstore.model import Stage, WarcPointer, document_id
from docstore.schema.article_tables import articles, changes, indexed
from docstore.schema.crawl_tables import outcomes, pages, urls

FORM = "row_sums_form"  # key of what the sums of the store cover
BATCH = 500
RECORDS = 10_000  # listed at a time
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

    def ask_again(self, url_ids: list[int]) -> None:
        """Let the next crawl fetch these pages whole: their records are lost."""
        with self._database.write() as connection:
            for url_id in url_ids:
                ask_again(connection, url_id)

    def write_again(self, doc_ids: list[str]) -> None:
        """Put these articles into the change log."""
        with self._database.write() as connection:
            for batch in batched(doc_ids, BATCH):
                found = connection.scalars(select(articles.c.url_id).where(articles.c.doc_id.in_(batch))).all()
                write_changes(connection, Op.UPSERT, found, time.time())

    def records(self) -> Iterator[tuple[int, WarcPointer, str]]:
        """url_id, place and digest of every page's record, file by file in the order of their places."""
        columns = (pages.c.url_id, pages.c.warc_file, pages.c.warc_offset, pages.c.warc_length, pages.c.digest)
        last = ("", -1)
        while True:
            after = tuple_(pages.c.warc_file, pages.c.warc_offset) > last
            query = select(*columns).where(after).order_by(pages.c.warc_file, pages.c.warc_offset).limit(RECORDS)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from ((row[0], WarcPointer(row[1], row[2], row[3]), row[4]) for row in rows)
            last = (rows[-1][1], rows[-1][2])

    def ledger(self) -> tuple[set[str], set[str]]:
        """The ids of documents that the index holds by our own account, and of those that wait to be written or
        deleted."""
        with self._database.read() as connection:
            held = select(urls.c.url).join(indexed, indexed.c.url_id == urls.c.url_id)
            waiting = select(urls.c.url).join(changes, changes.c.url_id == urls.c.url_id)
            return (
                {document_id(url) for url in connection.scalars(held)},
                {document_id(url) for url in connection.scalars(waiting)},
            )
