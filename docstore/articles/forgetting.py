"""A page that is no longer there, or no longer wanted: what is made of it goes too."""

from sqlalchemy import Connection, delete, update

from docstore.articles.records import Op, write_changes
from docstore.database import Database
from docstore.integrity.row_sums import seal
from docstore.model import Stage
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import outcomes, pages, urls


def forget_page(database: Database, connection: Connection, url_id: int, at: float) -> None:
    """The page is gone: its article leaves the store and the index, and a page that comes back is extracted anew."""
    connection.execute(delete(pages).where(pages.c.url_id == url_id))
    connection.execute(delete(outcomes).where(outcomes.c.url_id == url_id, outcomes.c.stage == Stage.EXTRACT))
    connection.execute(update(urls).where(urls.c.url_id == url_id).values(etag="", last_modified="", digest=""))
    if connection.execute(delete(articles).where(articles.c.url_id == url_id)).rowcount:
        write_changes(connection, Op.DELETE, [url_id], at)
        seal(database, connection, articles, [url_id])
