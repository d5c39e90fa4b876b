"""All pages of one host: their number and size, and operations on all of them, recorded."""

from dataclasses import replace

from sqlalchemy import Connection, func, select, update

from docstore.articles.page_removal import remove_pages
from docstore.database import StorePart
from docstore.frontier.exclusions import DUE_NOW, is_scheduled_by_crawl
from docstore.frontier.frontier_admin import REFETCHED_COLUMNS
from docstore.operations import write_operation, write_operation_once
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import pages, urls
from domain.administration import PendingAction, SiteContents
from domain.frontier import UrlExclusion

RECRAWL_ACTION, REMOVE_ACTION = "site_recrawl", "site_remove"  # codes of actions


class SitePages(StorePart):
    """Operations on all pages of a host (`store.site_pages`)."""

    def count(self, host: str) -> SiteContents:
        """Return the counts of a host."""
        with self._database.read() as connection:
            return count_contents(connection, host)

    def recrawl(self, host: str, account: str) -> int:
        """Make the fetched URLs of a host due, unconditionally, and record it. Returns the number of URLs."""
        is_revisited = (urls.c.host == host) & urls.c.visited_at.is_not(None) & is_scheduled_by_crawl()
        statement = update(urls).where(is_revisited).values(attempts=0, **REFETCHED_COLUMNS)
        with self._database.write() as connection:
            count = connection.execute(statement).rowcount
            write_operation(self._database, connection, self._clock(), account, RECRAWL_ACTION, host, {"pages": count})
        return count

    def reopen(self, host: str) -> int:
        """Make the URLs of a host due that `remove` excluded. Returns the number of URLs."""
        is_removed = (urls.c.host == host) & (urls.c.exclusion == UrlExclusion.REMOVED)
        with self._database.write() as connection:
            return connection.execute(update(urls).where(is_removed).values(attempts=0, **DUE_NOW)).rowcount

    def remove(self, host: str, pending: PendingAction) -> SiteContents:
        """Delete the pages and articles of a host, never fetch its known URLs, and record it.

        The bytes stay in the WARC files.

        Args:
            host: The host.
            pending: The action, which may be recorded already, with the changed settings. Its details get the counts.

        Returns:
            What was removed.
        """
        with self._database.write() as connection:
            contents = count_contents(connection, host)
            remove_pages(self._database, connection, urls.c.host == host, self._clock(), UrlExclusion.REMOVED)
            removed = {"urls": contents.url_count, "pages": contents.page_count, "articles": contents.article_count}
            write_operation_once(self._database, connection, replace(pending, details={**removed, **pending.details}))
        return contents


def count_contents(connection: Connection, host: str) -> SiteContents:
    """Return the counts of a host in a transaction."""
    is_host = urls.c.host == host
    url_count = connection.scalar(select(func.count()).where(is_host)) or 0
    page_query = select(func.count(), func.coalesce(func.sum(pages.c.warc_length), 0))
    page_count, archived_bytes = connection.execute(
        page_query.select_from(pages.join(urls, urls.c.url_id == pages.c.url_id)).where(is_host)
    ).one()
    article_query = select(func.count()).select_from(articles.join(urls, urls.c.url_id == articles.c.url_id))
    article_count = connection.scalar(article_query.where(is_host)) or 0
    return SiteContents(url_count, page_count, article_count, int(archived_bytes))
