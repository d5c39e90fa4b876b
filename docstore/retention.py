"""Removal of articles that are older than the administrator keeps them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, func, literal, or_, select

from docstore.articles.page_removal import remove_pages, with_article_pages
from docstore.database import StorePart
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import urls
from domain.batches import batched
from domain.frontier import UrlExclusion, UrlKind

BATCH_SIZE = 200  # articles per transaction


class Retention(StorePart):
    """Remove articles by age (`store.retention`)."""

    def remove_expired(self, keep_days: int, keep_days_by_host: Mapping[str, int]) -> int:
        """Remove the articles that are older than their site keeps them, with all pages of each article.

        The age counts from the date of publication, or from the discovery of the URL if that is unknown. An incomplete
        date such as 2019 counts if the whole period is too old. The URLs are never fetched again, except seed and list
        pages. Each batch is one transaction, so an interrupted call continues with the next one.

        Args:
            keep_days: Days for all other hosts; 0: forever.
            keep_days_by_host: Days for some hosts; 0: forever.

        Returns:
            The number of removed articles.
        """
        now, removed_count = self._clock(), 0
        with self._database.read() as connection:
            expired_ids = find_expired(connection, now, keep_days, keep_days_by_host)
        for batch in batched(expired_ids, BATCH_SIZE):
            with self._database.write() as connection:
                page_ids = with_article_pages(connection, batch)
                is_expired = urls.c.url_id.in_(page_ids)
                removed_count += remove_pages(
                    self._database, connection, is_expired, now, UrlExclusion.EXPIRED, keep_quotations=True
                )
        return removed_count


def find_expired(connection: Connection, now: float, keep_days: int, keep_days_by_host: Mapping[str, int]) -> list[int]:
    """Return the url_ids of expired articles; see `Retention.remove_expired`. `now` is epoch seconds."""
    rules = [
        and_(urls.c.host == host, is_older_than(now, days)) for host, days in keep_days_by_host.items() if days > 0
    ]
    if keep_days > 0:
        rules.append(and_(urls.c.host.not_in(list(keep_days_by_host)), is_older_than(now, keep_days)))
    if not rules:
        return []
    is_list = urls.c.kind.in_((UrlKind.SEED, UrlKind.HUB))
    query = select(articles.c.url_id).join(urls, urls.c.url_id == articles.c.url_id).where(~is_list, or_(*rules))
    return list(connection.scalars(query.order_by(articles.c.url_id)))


def is_older_than(now: float, days: int) -> ColumnElement[bool]:
    """SQL condition on `articles` and `urls`: the article is older than `days` days. `now` is epoch seconds."""
    oldest = datetime.fromtimestamp(now, UTC) - timedelta(days=days)
    length = func.length(articles.c.published)
    is_published_before = articles.c.published < func.substr(literal(oldest.date().isoformat()), 1, length)
    is_found_before = urls.c.found_at < oldest.timestamp()
    return or_(and_(length > 0, is_published_before), and_(length == 0, is_found_before))
