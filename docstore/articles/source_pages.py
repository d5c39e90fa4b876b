"""The stored responses from which articles were extracted."""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from docstore.bookkeeping import read_meta, write_meta
from docstore.database import Database
from docstore.schema.administration_tables import takedowns
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import pages, urls
from docstore.warc_archive import WarcArchive
from domain.article import document_id
from domain.batches import batched
from domain.file_formats import HTML_FORMAT, format_for_content_type
from domain.page import Page, WarcPointer

BATCH_SIZE = 500
KEPT_COPIES_KEY = "definition_copies"  # JSON: the fields of ArchivedPage by document id


@dataclass(frozen=True)
class ArchivedPage:
    """A stored page or document.

    Attributes:
        url: URL in the frontier.
        digest: SHA-256 (hex) of the body.
        pointer: Location of its WARC record.
        fetched_at: Epoch seconds.
        final_url: URL after redirects.
        depth: Link distance from a seed.
    """

    url_id: int
    url: str
    content_type: str
    digest: str
    pointer: WarcPointer
    fetched_at: float = 0.0
    host: str = ""
    final_url: str = ""
    depth: int = 0

    @property
    def is_document(self) -> bool:
        """True if the page is a document (PDF, Office ...) and not HTML."""
        return format_for_content_type(self.content_type) != HTML_FORMAT


ARCHIVED_PAGES_QUERY: Select[Any] = select(*pages.columns, urls.c.url, urls.c.host, urls.c.depth).join(
    urls, urls.c.url_id == pages.c.url_id
)


def archived_page_from_row(row: Row[Any]) -> ArchivedPage:
    """Convert a row of ARCHIVED_PAGES_QUERY to an ArchivedPage."""
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    content = (row.content_type, row.digest, pointer, row.fetched_at)
    return ArchivedPage(row.url_id, row.url, *content, row.host, row.final_url, row.depth)


def _read_kept_copies(connection: Connection) -> dict[str, ArchivedPage]:
    rows = json.loads(read_meta(connection, KEPT_COPIES_KEY) or "{}")
    return {doc_id: ArchivedPage(**{**row, "pointer": WarcPointer(**row["pointer"])}) for doc_id, row in rows.items()}


class SourcePageTable:
    """Find and read the stored response of an article (`store.source_pages`)."""

    def __init__(self, database: Database, archive: WarcArchive) -> None:
        self._database = database
        self._archive = archive

    def find_by_doc_id(self, doc_id: str) -> ArchivedPage | None:
        """Return the stored page of an article, or its kept copy if the article is gone; None if there is neither."""
        return self.find_by_doc_ids([doc_id]).get(doc_id)

    def find_by_doc_ids(self, doc_ids: Collection[str]) -> dict[str, ArchivedPage]:
        """Return what `find_by_doc_id` returns for each of at most 500 articles that have a page or a copy."""
        query = ARCHIVED_PAGES_QUERY.join(articles, articles.c.url_id == pages.c.url_id).add_columns(articles.c.doc_id)
        with self._database.read() as connection:
            rows = connection.execute(query.where(articles.c.doc_id.in_(doc_ids))).all()
            page_by_id = {row.doc_id: archived_page_from_row(row) for row in rows}
            if missing_ids := set(doc_ids) - page_by_id.keys():
                is_missing = takedowns.c.doc_id.in_(missing_ids)
                missing_ids -= set(connection.scalars(select(takedowns.c.doc_id).where(is_missing)))
                copies = _read_kept_copies(connection)
                page_by_id |= {doc_id: copies[doc_id] for doc_id in missing_ids & copies.keys()}
        return page_by_id

    def keep_copies(self, url_ids: Collection[int]) -> None:
        """Keep the locations of the stored pages of these articles for the time when the articles are gone.

        The kept copies of all other articles are forgotten.
        """
        with self._database.write() as connection:
            copies = {doc_id: page for doc_id, page in _read_kept_copies(connection).items() if page.url_id in url_ids}
            for batch in batched(sorted(url_ids), BATCH_SIZE):
                rows = connection.execute(ARCHIVED_PAGES_QUERY.where(pages.c.url_id.in_(batch)))
                copies |= {document_id(row.url): archived_page_from_row(row) for row in rows}
            value = json.dumps({doc_id: asdict(page) for doc_id, page in copies.items()})
            write_meta(self._database, connection, KEPT_COPIES_KEY, value)

    def find_by_host(self, host: str, limit: int) -> list[ArchivedPage]:
        """Return stored pages of a host, those with the fewest links from a start URL first."""
        query = ARCHIVED_PAGES_QUERY.where(urls.c.host == host).order_by(urls.c.depth, urls.c.url_id).limit(limit)
        with self._database.read() as connection:
            return [archived_page_from_row(row) for row in connection.execute(query)]

    def read(self, archived_page: ArchivedPage) -> Page:
        """Read a stored page with headers and body.

        Raises:
            WarcRecordLostError: The archive can no longer read it.
        """
        return self._archive.read_page(archived_page.pointer, archived_page.digest)
