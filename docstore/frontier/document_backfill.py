"""A store that was filled before documents were fetched: what it knows of them without asking any site.

Links to documents were left out when their pages were read, and these pages may not change for years: they are read
anew from the archive. URLs whose answer was no HTML are asked again. Both once, for the formats that are new; how far
that came is kept, so a run that is killed goes on where it was.
"""

import json
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select, update

from docstore.articles.source_pages import ARCHIVED_PAGES_QUERY, ArchivedPage, archived_page_from_row
from docstore.bookkeeping import read_meta_int, write_meta_int
from docstore.database import Database
from docstore.model import Reason, Stage
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import outcomes, pages, urls

KNOWN_FORMATS_KEY = "document_formats"  # key of the formats whose URLs the table has, as JSON
BACKFILL_CURSOR_KEY = "document_links_read_to"  # key of the last url_id whose page was read for links to documents
REJECTED_REASONS = (Reason.NOT_HTML, Reason.UNSUPPORTED_EXTENSION)
BATCH_SIZE = 500


class DocumentBackfill:
    """Questions to one store; see above."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def missing_formats(self, requested_formats: Collection[str]) -> set[str]:
        """Those of the `requested_formats` formats that earlier crawls passed by; none for a store that is empty."""
        with self._database.read() as connection:
            is_empty = connection.scalar(select(urls.c.url_id).limit(1)) is None
            return set() if is_empty else set(requested_formats) - known_formats(connection)

    def requeue_rejected(self, include_finished: bool) -> int:
        """Have URLs asked anew whose answer, or whose ending, was none of a page; how many. `include_finished`: also those
        that were never to be asked again."""
        rejected_ids = select(outcomes.c.url_id).where(
            outcomes.c.stage == Stage.CRAWL, outcomes.c.reason.in_(REJECTED_REASONS)
        )
        statement = update(urls).where(urls.c.url_id.in_(rejected_ids))
        statement = statement if include_finished else statement.where(urls.c.due_at.is_not(None))
        with self._database.write() as connection:
            return connection.execute(statement.values(due_at=0.0, attempts=0)).rowcount

    def next_batch(self) -> list[ArchivedPage]:
        """The next pages whose links were not read for documents, by rising url_id; none when all were."""
        with self._database.read() as connection:
            query = (
                ARCHIVED_PAGES_QUERY.where(pages.c.url_id > read_meta_int(connection, BACKFILL_CURSOR_KEY))
                .order_by(pages.c.url_id)
                .limit(BATCH_SIZE)
            )
            return [archived_page_from_row(row) for row in connection.execute(query)]

    def advance_to(self, url_id: int) -> None:
        """The pages up to this one were read."""
        with self._database.write() as connection:
            write_meta_int(self._database, connection, BACKFILL_CURSOR_KEY, url_id)

    def finish(self, formats: Sequence[str]) -> None:
        """From now on the table has the URLs of these formats."""
        with self._database.write() as connection:
            write_meta_int(self._database, connection, BACKFILL_CURSOR_KEY, 0)
            value = json.dumps(sorted({*formats, *known_formats(connection)}))
            self._database.upsert(
                connection, store_meta, [{"key": KNOWN_FORMATS_KEY, "value": value}], update_columns=("value",)
            )


def known_formats(connection: Connection) -> set[str]:
    """The formats whose URLs the table has."""
    stored_json = connection.scalar(select(store_meta.c.value).where(store_meta.c.key == KNOWN_FORMATS_KEY))
    return set(json.loads(stored_json)) if stored_json else set()
