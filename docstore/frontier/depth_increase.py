"""A crawl that may go deeper than the last one: links of the deepest pages were not kept, so they are read anew."""

from sqlalchemy import func, select, update

from docstore.database import Database
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import urls

CRAWL_DEPTH_KEY = "crawl_depth"  # key of the depth that the table was filled with


def requeue_deepest_pages(database: Database, depth: int) -> int:
    """See `FrontierDesk.requeue_deepest_pages`. A table that does not say how deep it is, is as deep as its deepest URL."""
    with database.write() as connection:
        stored_depth = connection.scalar(select(store_meta.c.value).where(store_meta.c.key == CRAWL_DEPTH_KEY))
        previous_depth = int(stored_depth) if stored_depth else connection.scalar(select(func.max(urls.c.depth)))
        requeued_count = 0
        if previous_depth is not None and previous_depth < depth:
            is_deepest = (urls.c.depth >= previous_depth) & urls.c.visited_at.is_not(None) & urls.c.due_at.is_not(None)
            cleared_columns = {"due_at": 0.0, "etag": "", "last_modified": "", "digest": ""}
            requeued_count = connection.execute(update(urls).where(is_deepest).values(**cleared_columns)).rowcount
        database.upsert(
            connection, store_meta, [{"key": CRAWL_DEPTH_KEY, "value": str(depth)}], update_columns=("value",)
        )
    return requeued_count
