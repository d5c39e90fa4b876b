"""Removal of a page that is gone or no longer wanted, with everything derived from it."""

from sqlalchemy import Connection, delete, update

from docstore.bookkeeping import log_index_changes
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.article_tables import articles, recognized_pages
from docstore.schema.crawl_tables import outcomes, pages, urls
from domain.index_change import IndexOperation
from domain.outcome import Stage


def remove_page(database: Database, connection: Connection, url_id: int, removed_at: float) -> None:
    """Delete a page and its article from the store, and log the deletion for the index.

    If the page returns, it is extracted as a new page. `removed_at` is epoch seconds.
    """
    connection.execute(delete(pages).where(pages.c.url_id == url_id))
    derived_stages = (Stage.EXTRACT, Stage.OCR)
    connection.execute(delete(outcomes).where(outcomes.c.url_id == url_id, outcomes.c.stage.in_(derived_stages)))
    connection.execute(delete(recognized_pages).where(recognized_pages.c.url_id == url_id))
    connection.execute(update(urls).where(urls.c.url_id == url_id).values(etag="", last_modified="", digest=""))
    if connection.execute(delete(articles).where(articles.c.url_id == url_id)).rowcount:
        log_index_changes(connection, IndexOperation.DELETE, [url_id], removed_at)
        update_row_checksums(database, connection, articles, [url_id])
