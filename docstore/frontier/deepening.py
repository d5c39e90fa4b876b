"""A crawl that may go deeper than the last one: links of the deepest pages were not kept, so they are read anew."""

from sqlalchemy import func, select, update

from docstore.database import Database
from docstore.schema.base import meta
from docstore.schema.crawl_tables import urls

DEPTH = "crawl_depth"  # key of the depth that the table was filled with


def deepen(database: Database, depth: int) -> int:
    """See `FrontierDesk.deepen`. A table that does not say how deep it is, is as deep as its deepest URL."""
    with database.write() as connection:
        known = connection.scalar(select(meta.c.value).where(meta.c.key == DEPTH))
        before = int(known) if known else connection.scalar(select(func.max(urls.c.depth)))
        found = 0
        if before is not None and before < depth:
            deepest = (urls.c.depth >= before) & urls.c.visited_at.is_not(None) & urls.c.due_at.is_not(None)
            forgotten = {"due_at": 0.0, "etag": "", "last_modified": "", "digest": ""}
            found = connection.execute(update(urls).where(deepest).values(**forgotten)).rowcount
        database.upsert(connection, meta, [{"key": DEPTH, "value": str(depth)}], update=("value",))
    return found
