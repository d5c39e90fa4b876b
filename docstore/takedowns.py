"""Addresses that are permanently excluded from crawl, extraction and index."""

import time
from collections.abc import Callable, Iterable

from sqlalchemy import Row, select

from docstore.database import Database
from docstore.schema.administration_tables import takedowns
from domain.administration import Takedown
from domain.article import document_id


class TakedownTable:
    """Find takedowns (`store.takedowns`)."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def find(self, url: str) -> Takedown | None:
        """Return the takedown of a canonical URL, or None."""
        return self.find_document(document_id(url))

    def find_document(self, doc_id: str) -> Takedown | None:
        """Return the takedown of the article with this document id, or None."""
        with self._database.read() as connection:
            row = connection.execute(select(takedowns).where(takedowns.c.doc_id == doc_id)).first()
            return takedown_from_row(row) if row else None

    def list_all(self) -> list[Takedown]:
        """Return all takedowns, the newest first."""
        query = select(takedowns).order_by(takedowns.c.at.desc(), takedowns.c.action_id.desc(), takedowns.c.url)
        with self._database.read() as connection:
            return [takedown_from_row(row) for row in connection.execute(query)]


def takedown_rows(urls: Iterable[str], action_id: int, account: str, reason: str, at: float) -> list[dict[str, object]]:
    """Return the rows of `takedowns` for canonical URLs."""
    values = {"action_id": action_id, "account": account, "reason": reason, "at": at}
    return [{"doc_id": document_id(url), "url": url} | values for url in dict.fromkeys(urls)]


def takedown_from_row(row: Row[tuple[object, ...]]) -> Takedown:
    """Convert a row of `takedowns` to a Takedown."""
    return Takedown(row.url, row.action_id, row.account, row.reason, row.at)
