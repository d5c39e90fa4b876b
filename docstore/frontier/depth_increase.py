"""Requeue pages after the depth limit of a crawl was raised.

Links of the deepest pages were not stored, so these pages must be fetched again.
"""

from sqlalchemy import func, select, update

from docstore.database import Database
from docstore.schema.base import store_meta
from docstore.schema.crawl_tables import urls

CRAWL_DEPTH_KEY = "crawl_depth"  # key of the depth limit of the last crawl


def requeue_deepest_pages(database: Database, depth: int) -> int:
    """Make the deepest pages due if `depth` exceeds the stored depth limit, and store `depth` as the new limit.

    If no limit is stored, the maximum depth of all URLs is used. Returns the number of requeued URLs.
    """
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
