"""A store that was filled before documents were fetched: what it knows of them without asking any site.

Links to documents were left out when their pages were read, and these pages may not change for years: they are read
anew from the archive. URLs whose answer was no HTML are asked again. Both once, for the formats that are new; how far
that came is kept, so a run that is killed goes on where it was.
"""

import json
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select, update

from docstore.articles.originals import KEPT, KeptPage, kept_of
from docstore.articles.records import number, write_number
from docstore.database import Database
from docstore.model import Reason, Stage
from docstore.schema.base import meta
from docstore.schema.crawl_tables import outcomes, pages, urls

FORMATS = "document_formats"  # key of the formats whose URLs the table has, as JSON
READ_TO = "document_links_read_to"  # key of the last url_id whose page was read for links to documents
REFUSED = (Reason.NOT_HTML, Reason.NOT_TEXT)
BATCH = 500


class MissedDocuments:
    """Questions to one store; see above."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def new_formats(self, wanted: Collection[str]) -> set[str]:
        """Those of the `wanted` formats that earlier crawls passed by; none for a store that is empty."""
        with self._database.read() as connection:
            is_empty = connection.scalar(select(urls.c.url_id).limit(1)) is None
            return set() if is_empty else set(wanted) - known(connection)

    def ask_refused(self, with_done: bool) -> int:
        """Have URLs asked anew whose answer, or whose ending, was none of a page; how many. `with_done`: also those
        that were never to be asked again."""
        refused = select(outcomes.c.url_id).where(outcomes.c.stage == Stage.CRAWL, outcomes.c.reason.in_(REFUSED))
        change = update(urls).where(urls.c.url_id.in_(refused))
        change = change if with_done else change.where(urls.c.due_at.is_not(None))
        with self._database.write() as connection:
            return connection.execute(change.values(due_at=0.0, attempts=0)).rowcount

    def next_pages(self) -> list[KeptPage]:
        """The next pages whose links were not read for documents, by rising url_id; none when all were."""
        with self._database.read() as connection:
            query = KEPT.where(pages.c.url_id > number(connection, READ_TO)).order_by(pages.c.url_id).limit(BATCH)
            return [kept_of(row) for row in connection.execute(query)]

    def read_to(self, url_id: int) -> None:
        """The pages up to this one were read."""
        with self._database.write() as connection:
            write_number(self._database, connection, READ_TO, url_id)

    def done(self, wanted: Sequence[str]) -> None:
        """From now on the table has the URLs of these formats."""
        with self._database.write() as connection:
            write_number(self._database, connection, READ_TO, 0)
            value = json.dumps(sorted({*wanted, *known(connection)}))
            self._database.upsert(connection, meta, [{"key": FORMATS, "value": value}], update=("value",))


def known(connection: Connection) -> set[str]:
    """The formats whose URLs the table has."""
    kept = connection.scalar(select(meta.c.value).where(meta.c.key == FORMATS))
    return set(json.loads(kept)) if kept else set()
