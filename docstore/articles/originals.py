"""The answers that articles were read from, as they were fetched."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, select

from docstore.archive import Archive
from docstore.database import Database
from docstore.model import Page, WarcPointer
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import pages, urls


@dataclass(frozen=True)
class KeptPage:
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


KEPT: Select[Any] = select(*pages.columns, urls.c.url, urls.c.depth).join(urls, urls.c.url_id == pages.c.url_id)


def kept_of(row: Row[Any]) -> KeptPage:
    """The kept page in a row of KEPT."""
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    place = (row.url_id, row.url, row.final_url, row.depth)
    return KeptPage(*place, row.content_type, row.digest, pointer, row.fetched_at)


class OriginalTable:
    """`store.originals`."""

    def __init__(self, database: Database, archive: Archive) -> None:
        self._database = database
        self._archive = archive

    def of(self, doc_id: str) -> KeptPage | None:
        """The answer that an article was read from; None where there is no such article, or nothing is kept of it."""
        query = KEPT.join(articles, articles.c.url_id == pages.c.url_id).where(articles.c.doc_id == doc_id)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return kept_of(row) if row else None

    def read(self, kept: KeptPage) -> Page:
        """It with its headers and bytes. LostPageError where the archive does not hold it any more."""
        return self._archive.read_answer(kept.pointer, kept.digest)
