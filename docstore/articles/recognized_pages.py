"""Pages that OCR has read, and the documents with pages for it (`store.recognized_pages`).

A recognized page belongs to one version (digest) of a document. Each page is saved in a transaction of its own, so
that an interrupted run continues with the next page. The outcome of the stage `ocr` completes a version. The document
is then extracted again, with the recognized pages.
"""

import json
from dataclasses import astuple

from sqlalchemy import Connection, and_, delete, func, or_, select, update
from sqlalchemy.orm import aliased

from docstore.articles.source_pages import ARCHIVED_PAGES_QUERY, ArchivedPage, archived_page_from_row
from docstore.bookkeeping import OutcomeRow, write_outcomes
from docstore.database import StorePart
from docstore.schema.article_tables import recognized_pages
from docstore.schema.crawl_tables import outcomes, pages
from domain.outcome import Outcome, Reason, Stage
from domain.recognized_page import RecognizedLine, RecognizedPage

UNREADABLE_REASONS = (Reason.NO_TEXT_LAYER, Reason.GARBLED_TEXT)


class RecognizedPageTable(StorePart):
    """Load and save recognized pages, and list the documents whose pages OCR has not read yet."""

    def pending_documents(self) -> list[ArchivedPage]:
        """Return the documents with scanned or garbled pages whose version OCR has not completed, oldest first."""
        with self._database.read() as connection:
            query = select(PENDING_DOCUMENTS).order_by(PENDING_DOCUMENTS.c.fetched_at, PENDING_DOCUMENTS.c.url_id)
            return [archived_page_from_row(row) for row in connection.execute(query)]

    def pending_count(self) -> int:
        """Return the number of `pending_documents`."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(PENDING_DOCUMENTS)) or 0

    def saved_numbers(self, url_id: int, digest: str) -> set[int]:
        """Return the numbers of the saved pages of one version of a document."""
        is_version = and_(recognized_pages.c.url_id == url_id, recognized_pages.c.digest == digest)
        with self._database.read() as connection:
            return set(connection.scalars(select(recognized_pages.c.number).where(is_version)))

    def save_page(self, url_id: int, digest: str, page: RecognizedPage) -> None:
        """Save a page. Deletes the pages of other versions of the document."""
        row = {"url_id": url_id, "number": page.number, "digest": digest, "width": page.width, "height": page.height}
        row |= {"lines": json.dumps([astuple(line) for line in page.lines], ensure_ascii=False), "at": self._clock()}
        with self._database.write() as connection:
            is_other_version = and_(recognized_pages.c.url_id == url_id, recognized_pages.c.digest != digest)
            connection.execute(delete(recognized_pages).where(is_other_version))
            self._database.upsert(connection, recognized_pages, [row])

    def complete_document(self, url_id: int, digest: str, outcome: Outcome) -> None:
        """Record the outcome of a version of a document, and mark it for extraction if a page has text."""
        with self._database.write() as connection:
            write_outcomes(self._database, connection, [OutcomeRow(url_id, Stage.OCR, outcome, self._clock(), digest)])
            if any(page.lines for page in load_recognized_pages(connection, url_id, digest)):
                is_extraction = and_(outcomes.c.url_id == url_id, outcomes.c.stage == Stage.EXTRACT)
                connection.execute(update(outcomes).where(is_extraction).values(input=""))


def load_recognized_pages(connection: Connection, url_id: int, digest: str) -> tuple[RecognizedPage, ...]:
    """Return the recognized pages of one version of a document, ordered by number."""
    query = select(recognized_pages).where(recognized_pages.c.url_id == url_id, recognized_pages.c.digest == digest)
    return tuple(
        RecognizedPage(
            row.number, row.width, row.height, tuple(RecognizedLine(*values) for values in json.loads(row.lines))
        )
        for row in connection.execute(query.order_by(recognized_pages.c.number))
    )


_ocr_outcomes = aliased(outcomes)
PENDING_DOCUMENTS = (
    ARCHIVED_PAGES_QUERY.join(
        outcomes,
        and_(
            outcomes.c.url_id == pages.c.url_id,
            outcomes.c.stage == Stage.EXTRACT,
            outcomes.c.reason.in_(UNREADABLE_REASONS),
            outcomes.c.input == pages.c.digest,
        ),
    )
    .outerjoin(_ocr_outcomes, and_(_ocr_outcomes.c.url_id == pages.c.url_id, _ocr_outcomes.c.stage == Stage.OCR))
    .where(or_(_ocr_outcomes.c.input.is_(None), _ocr_outcomes.c.input != pages.c.digest))
    .subquery()
)
