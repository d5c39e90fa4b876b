"""Backfill of document links (PDF, Office ...) in stores that were crawled before these formats were supported.

Earlier crawls ignored links to documents. The stored pages are read again from the WARC archive, because they may not
change for years. URLs whose response was not HTML are made due. Both happen once per new format. The cursor is stored,
so an interrupted run resumes.
"""

import json
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select, update

from docstore.articles.source_pages import ARCHIVED_PAGES_QUERY, ArchivedPage, archived_page_from_row
from docstore.bookkeeping import read_cursor, read_meta, write_cursor, write_meta
from docstore.database import StorePart
from docstore.frontier.exclusions import DUE_NOW, is_scheduled_by_crawl
from docstore.schema.crawl_tables import outcomes, pages, urls
from domain.outcome import Reason, Stage

KNOWN_FORMATS_KEY = "document_formats"  # key of the formats whose URLs are in the frontier, as a JSON list
BACKFILL_CURSOR_KEY = "document_links_read_to"  # key of the resume cursor for a list of formats
REJECTED_REASONS = (Reason.NOT_HTML, Reason.UNSUPPORTED_EXTENSION)
BATCH_SIZE = 500


class DocumentBackfill(StorePart):
    """Find and requeue documents that earlier crawls ignored (`store.document_backfill`)."""

    def missing_formats(self, requested_formats: Collection[str]) -> set[str]:
        """Return the formats in `requested_formats` that earlier crawls ignored; empty for an empty store."""
        with self._database.read() as connection:
            is_empty = connection.scalar(select(urls.c.url_id).limit(1)) is None
            return set() if is_empty else set(requested_formats) - known_formats(connection)

    def requeue_rejected(self) -> int:
        """Make URLs due whose response or extension was not HTML. Returns the number of URLs."""
        rejected_ids = select(outcomes.c.url_id).where(
            outcomes.c.stage == Stage.CRAWL, outcomes.c.reason.in_(REJECTED_REASONS)
        )
        statement = update(urls).where(urls.c.url_id.in_(rejected_ids), is_scheduled_by_crawl())
        with self._database.write() as connection:
            return connection.execute(statement.values(attempts=0, **DUE_NOW)).rowcount

    def next_batch(self, formats: Collection[str]) -> list[ArchivedPage]:
        """Return the next stored pages to read for links to `formats`, ordered by url_id; empty after the last page."""
        with self._database.read() as connection:
            query = (
                ARCHIVED_PAGES_QUERY.where(
                    pages.c.url_id > read_cursor(connection, BACKFILL_CURSOR_KEY, " ".join(sorted(formats)))
                )
                .order_by(pages.c.url_id)
                .limit(BATCH_SIZE)
            )
            return [archived_page_from_row(row) for row in connection.execute(query)]

    def advance_to(self, url_id: int, formats: Collection[str]) -> None:
        """Store the cursor: all pages up to `url_id` were read for links to `formats`."""
        with self._database.write() as connection:
            write_cursor(self._database, connection, BACKFILL_CURSOR_KEY, " ".join(sorted(formats)), url_id)

    def finish(self, formats: Sequence[str]) -> None:
        """Record that the frontier now contains the URLs of `formats`, and reset the cursor."""
        with self._database.write() as connection:
            write_cursor(self._database, connection, BACKFILL_CURSOR_KEY, "", 0)
            value = json.dumps(sorted({*formats, *known_formats(connection)}))
            write_meta(self._database, connection, KNOWN_FORMATS_KEY, value)


def known_formats(connection: Connection) -> set[str]:
    """Return the formats whose URLs are in the frontier."""
    return set(json.loads(read_meta(connection, KNOWN_FORMATS_KEY) or "[]"))
