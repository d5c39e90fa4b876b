"""Spurious changes: new bytes (a date, a counter, an advertisement) around an unchanged article.

The crawl compares bytes, the extractor compares articles. This module corrects the crawl by the extraction result: the
visit is recorded as unchanged, and the page is fetched less often, unless it became due early since.
"""

from collections.abc import Callable

from sqlalchemy import and_, bindparam, select, text, update

from docstore.database import Database
from docstore.frontier.due_order import IS_DUE_EARLY
from docstore.schema.crawl_tables import outcomes, urls
from domain.frontier import UrlKind
from domain.outcome import Reason, Stage

_CRAWL_OUTCOME = outcomes.alias("crawled")
_EXTRACT_OUTCOME = outcomes.alias("extracted")
_SPURIOUS_CHANGES_QUERY = (
    select(urls.c.url_id, urls.c.gap, urls.c.visited_at)
    .join(_CRAWL_OUTCOME, and_(_CRAWL_OUTCOME.c.url_id == urls.c.url_id, _CRAWL_OUTCOME.c.stage == Stage.CRAWL))
    .join(_EXTRACT_OUTCOME, and_(_EXTRACT_OUTCOME.c.url_id == urls.c.url_id, _EXTRACT_OUTCOME.c.stage == Stage.EXTRACT))
    .where(_CRAWL_OUTCOME.c.reason == Reason.FETCHED, _EXTRACT_OUTCOME.c.reason == Reason.ARTICLE_UNCHANGED)
    .where(_EXTRACT_OUTCOME.c.at >= _CRAWL_OUTCOME.c.at, urls.c.kind == UrlKind.ARTICLE)
    .where(urls.c.due_at.is_not(None), text(f"NOT {IS_DUE_EARLY}"))
)
_RESCHEDULE_STATEMENT = (
    update(urls).where(urls.c.url_id == bindparam("key")).values(gap=bindparam("longer"), due_at=bindparam("due"))
)
_MARK_UNCHANGED_STATEMENT = (
    update(outcomes)
    .where(outcomes.c.url_id == bindparam("key"), outcomes.c.stage == Stage.CRAWL)
    .values(reason=Reason.UNCHANGED, detail="the same article")
)


def discount_spurious_changes(database: Database, next_interval: Callable[[float], float]) -> int:
    """Record visits as unchanged whose bytes changed but whose article did not. Returns the number of visits.

    Each visit is discounted once, because its outcome changes to UNCHANGED.

    Args:
        next_interval: Maps the current revisit interval to the interval after an unchanged visit, both in seconds.
    """
    with database.write() as connection:
        visits = connection.execute(_SPURIOUS_CHANGES_QUERY).all()
        if visits:
            new_intervals = [(row, next_interval(row.gap)) for row in visits]
            updates = [
                {"key": row.url_id, "longer": interval, "due": row.visited_at + interval}
                for row, interval in new_intervals
            ]
            connection.execute(_RESCHEDULE_STATEMENT, updates)
            connection.execute(_MARK_UNCHANGED_STATEMENT, [{"key": row.url_id} for row in visits])
    return len(visits)
