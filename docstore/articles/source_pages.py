"""The answers that articles were read from, as they were fetched."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, select

from docstore.database import Database
from docstore.model import Page, WarcPointer
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import pages, urls
from docstore.warc_archive import WarcArchive


@dataclass(frozen=True)
class ArchivedPage:
    """A page or document of the archive: where it was found (`url`, known by; `final_url`, asked for) and how deep,
    when it was fetched (epoch seconds), and where its record stands."""

    url_id: int
    url: str
    final_url: str
    depth: int
    content_type: str
    digest: str
    pointer: WarcPointer
    fetched_at: float


ARCHIVED_PAGES_QUERY: Select[Any] = select(*pages.columns, urls.c.url, urls.c.depth).join(
    urls, urls.c.url_id == pages.c.url_id
)


def archived_page_from_row(row: Row[Any]) -> ArchivedPage:
    """The kept page in a row of KEPT."""
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    location = (row.url_id, row.url, row.final_url, row.depth)
    return ArchivedPage(*location, row.content_type, row.digest, pointer, row.fetched_at)


class SourcePageTable:
    """`store.originals`."""

    def __init__(self, database: Database, archive: WarcArchive) -> None:
        self._database = database
        self._archive = archive

    def find_by_doc_id(self, doc_id: str) -> ArchivedPage | None:
        """The answer that an article was read from; None where there is no such article, or nothing is kept of it."""
        query = ARCHIVED_PAGES_QUERY.join(articles, articles.c.url_id == pages.c.url_id).where(
            articles.c.doc_id == doc_id
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return archived_page_from_row(row) if row else None

    def read(self, archived_page: ArchivedPage) -> Page:
        """It with its headers and bytes. LostPageError where the archive does not hold it any more."""
        return self._archive.read_page(archived_page.pointer, archived_page.digest)
