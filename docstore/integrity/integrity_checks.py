"""Integrity checks inside the database. WARC files have digests of their own."""

import sqlite3
import time
from collections.abc import Iterator, Mapping

from sqlalchemy import select

from docstore.articles.extraction_writer import force_refetch
from docstore.bookkeeping import log_index_changes, read_meta_int, write_meta
from docstore.database import Database, to_store_error
from docstore.integrity.row_checksums import checksum_format_id, compare_row_checksums, rebuild_row_checksums
from docstore.schema.article_tables import articles, index_changes, indexed_documents
from docstore.schema.crawl_tables import outcomes, pages, urls
from domain.article import document_id
from domain.batches import batched
from domain.errors import StoreUnavailableError
from domain.index_change import IndexOperation
from domain.outcome import Reason, Stage
from domain.page import WarcPointer

CHECKSUM_FORMAT_KEY = "row_sums_form"  # key of the id of the columns that the checksums cover
BATCH_SIZE = 500
RECORD_BATCH_SIZE = 10_000
MAX_REPORTED_FAULTS = 20  # messages of SQLite's integrity check


def find_sqlite_faults(database: sqlite3.Connection, quick: bool = False) -> list[str]:
    """Return the messages of SQLite's integrity check; empty if the database is intact.

    Args:
        database: The database.
        quick: Skip the check of indexes.

    Raises sqlite3.Error if the file is locked or does not open, which is no damage.
    """
    pragma = "quick_check" if quick else "integrity_check"
    try:
        lines = [str(row[0]) for row in database.execute(f"PRAGMA {pragma}({MAX_REPORTED_FAULTS})")]
    except sqlite3.DatabaseError as error:
        if isinstance(to_store_error(error), StoreUnavailableError):
            raise
        return [str(error)]
    return [line for line in lines if line != "ok"]


class IntegrityChecks:
    """Check and repair the content of the database (`store.integrity`)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        if database.is_new:
            with database.write() as connection:
                write_meta(database, connection, CHECKSUM_FORMAT_KEY, checksum_format_id())

    def sqlite_faults(self, quick: bool = False) -> list[str]:
        """Return what `find_sqlite_faults` finds, and whether rows lack those that they refer to.

        Returns an empty list for PostgreSQL, which has its own checksums (`initdb --data-checksums`). Raises
        StoreUnavailableError.
        """
        with self._database.read() as connection:
            file = connection.connection.driver_connection
            if not isinstance(file, sqlite3.Connection):
                return []
            try:
                if faults := find_sqlite_faults(file, quick):
                    return faults
                orphan_rows = file.execute("PRAGMA foreign_key_check").fetchmany(1)
            except sqlite3.Error as error:
                raise to_store_error(error) from error
        return ["rows with a missing foreign key"] * bool(orphan_rows)

    def ensure_row_checksums(self) -> bool:
        """Compute the checksums of all rows if the stored ones cover other columns or do not exist.

        Returns True if they were computed.
        """
        with self._database.write() as connection:
            if read_meta_int(connection, CHECKSUM_FORMAT_KEY) == checksum_format_id():
                return False
            rebuild_row_checksums(self._database, connection)
            write_meta(self._database, connection, CHECKSUM_FORMAT_KEY, checksum_format_id())
            return True

    def damaged_rows(self) -> Mapping[str, list[str]]:
        """Return the keys of rows whose checksum does not match, by table. Tables without damage are omitted."""
        with self._database.read() as connection:
            return {name: [*keys] for name, keys in compare_row_checksums(connection).items()}

    def force_refetch(self, url_ids: list[int]) -> None:
        """Make the next crawl fetch these pages unconditionally, because their stored responses are lost.

        Their articles get an outcome if they have none: without page and outcome they would count as removed.
        """
        with self._database.write() as connection:
            for batch in batched(url_ids, BATCH_SIZE):
                for url_id in batch:
                    force_refetch(connection, url_id)
                row = {"stage": Stage.EXTRACT, "reason": Reason.EXTRACTED, "at": time.time()}
                article_ids = connection.scalars(select(articles.c.url_id).where(articles.c.url_id.in_(batch))).all()
                self._database.insert_missing(connection, outcomes, [row | {"url_id": key} for key in article_ids])

    def articles_without_page(self) -> list[int]:
        """Return the url_ids of articles that have no row in `pages`, in order."""
        query = select(articles.c.url_id).where(articles.c.url_id.not_in(select(pages.c.url_id)))
        with self._database.read() as connection:
            return list(connection.scalars(query.order_by(articles.c.url_id)))

    def urls_without_page(self) -> list[int]:
        """Return the url_ids of URLs whose row names a stored response but that have no row in `pages`, in order."""
        query = (
            select(urls.c.url_id)
            .outerjoin(pages, pages.c.url_id == urls.c.url_id)
            .where(urls.c.digest != "", pages.c.url_id.is_(None))
            .order_by(urls.c.url_id)
        )
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def enqueue_documents(self, doc_ids: list[str]) -> None:
        """Add these articles to the change log."""
        with self._database.write() as connection:
            for batch in batched(doc_ids, BATCH_SIZE):
                batch_ids = connection.scalars(select(articles.c.url_id).where(articles.c.doc_id.in_(batch))).all()
                log_index_changes(connection, IndexOperation.UPSERT, batch_ids, time.time())

    def iter_warc_records(self) -> Iterator[tuple[int, WarcPointer, str]]:
        """Iterate over (url_id, WARC location, digest) of all stored pages, ordered by file and offset.

        Reads in batches.
        """
        location = (pages.c.warc_file, pages.c.warc_offset)
        query = select(pages.c.url_id, *location, pages.c.warc_length, pages.c.digest)
        batches = self._database.iter_batches_by_keys(query, location, RECORD_BATCH_SIZE, ("", -1))
        return (
            (row.url_id, WarcPointer(row.warc_file, row.warc_offset, row.warc_length), row.digest)
            for rows in batches
            for row in rows
        )

    def indexed_and_pending_doc_ids(self) -> tuple[set[str], set[str]]:
        """Return two sets of document ids: in the index according to the store, and with pending changes."""
        with self._database.read() as connection:
            indexed_urls = select(urls.c.url).join(indexed_documents, indexed_documents.c.url_id == urls.c.url_id)
            pending_urls = select(urls.c.url).join(index_changes, index_changes.c.url_id == urls.c.url_id)
            return (
                {document_id(url) for url in connection.scalars(indexed_urls)},
                {document_id(url) for url in connection.scalars(pending_urls)},
            )
