"""Changes that were none: new bytes (a date, a counter, an advertisement) around the same article.

The crawl compares bytes, the extractor articles. What the extractor found goes back to the crawl here: such a visit is
taken for one without a change, so that the page is asked less often.
"""

from collections.abc import Callable

from sqlalchemy import and_, bindparam, select, update

from docstore.database import Database
from docstore.model import Kind, Reason, Stage
from docstore.schema.crawl_tables import outcomes, urls

_CRAWLED = outcomes.alias("crawled")
_EXTRACTED = outcomes.alias("extracted")
_SPURIOUS = (
    select(urls.c.url_id, urls.c.gap, urls.c.visited_at)
    .join(_CRAWLED, and_(_CRAWLED.c.url_id == urls.c.url_id, _CRAWLED.c.stage == Stage.CRAWL))
    .join(_EXTRACTED, and_(_EXTRACTED.c.url_id == urls.c.url_id, _EXTRACTED.c.stage == Stage.EXTRACT))
    .where(_CRAWLED.c.reason == Reason.FETCHED, _EXTRACTED.c.reason == Reason.SAME_ARTICLE)
    .where(_EXTRACTED.c.at >= _CRAWLED.c.at, urls.c.kind == Kind.ARTICLE, urls.c.due_at.is_not(None))
)
_LATER = update(urls).where(urls.c.url_id == bindparam("key")).values(gap=bindparam("longer"), due_at=bindparam("due"))
_UNCHANGED = (
    update(outcomes)
    .where(outcomes.c.url_id == bindparam("key"), outcomes.c.stage == Stage.CRAWL)
    .values(reason=Reason.UNCHANGED, detail="the same article")
)


def discount_spurious_changes(database: Database, longer: Callable[[float], float]) -> int:
    """See `FrontierTable.discount_spurious_changes`. Each visit is discounted once: its outcome says so then."""
    with database.write() as connection:
        found = connection.execute(_SPURIOUS).all()
        if found:
            gaps = [(row, longer(row.gap)) for row in found]
            later = [{"key": row.url_id, "longer": gap, "due": row.visited_at + gap} for row, gap in gaps]
            connection.execute(_LATER, later)
            connection.execute(_UNCHANGED, [{"key": row.url_id} for row in found])
    return len(found)
