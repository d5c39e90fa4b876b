"""Queries on a store that only tests need."""

from sqlalchemy import func, select

from docstore.schema.article_tables import vectors
from docstore.schema.crawl_tables import outcomes, urls
from docstore.store import Store
from domain.outcome import Reason, Stage


def urls_with_outcome(store: Store, stage: Stage, reason: Reason) -> list[tuple[str, str]]:
    """(URL, detail) of the URLs with an outcome, newest first."""
    query = (
        select(urls.c.url, outcomes.c.detail)
        .join(urls, urls.c.url_id == outcomes.c.url_id)
        .where(outcomes.c.stage == stage, outcomes.c.reason == reason)
        .order_by(outcomes.c.at.desc())
    )
    with store._database.read() as connection:
        return [(row.url, row.detail) for row in connection.execute(query)]


def embedded_text_counts(store: Store) -> dict[str, int]:
    """The number of embedded texts by model id."""
    query = select(vectors.c.model, func.count()).where(vectors.c.passage == 0).group_by(vectors.c.model)
    with store._database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}
