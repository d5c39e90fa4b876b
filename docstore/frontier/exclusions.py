"""When a URL may become due, and when it becomes never due: `due_at` is NULL exactly if `exclusion` is set."""

from sqlalchemy import ColumnElement, Connection, update

from docstore.schema.crawl_tables import urls
from domain.frontier import UrlExclusion, UrlKind

DUE_NOW = {"due_at": 0.0, "exclusion": UrlExclusion.NONE}
"""Values of a URL that is due immediately."""


def is_scheduled_by_crawl() -> ColumnElement[bool]:
    """SQL condition on `urls`: visits and extraction decide when the URL is due."""
    return (urls.c.exclusion == UrlExclusion.NONE) | (urls.c.exclusion == UrlExclusion.FINISHED)


def exclude_urls(connection: Connection, condition: ColumnElement[bool], exclusion: UrlExclusion) -> int:
    """Make the URLs that meet a condition never due. Returns their number.

    A decision of a person outlasts that of a rule, and a takedown outlasts all. Seed and list pages do not expire.
    """
    replaceable = [UrlExclusion.NONE, UrlExclusion.FINISHED, UrlExclusion.IMPORTED]
    if exclusion is UrlExclusion.EXPIRED:
        condition &= urls.c.kind.not_in((UrlKind.SEED, UrlKind.HUB))
    elif exclusion in (UrlExclusion.BLOCKED, UrlExclusion.TAKEN_DOWN):
        replaceable = [other for other in UrlExclusion if other is not UrlExclusion.TAKEN_DOWN]
    statement = update(urls).where(condition, urls.c.exclusion.in_(replaceable))
    return connection.execute(statement.values(due_at=None, exclusion=exclusion)).rowcount
