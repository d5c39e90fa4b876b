"""Addresses that are permanently excluded from crawl, extraction and index.

A takedown covers the page and every stored page whose text is part of the same article: continuation pages, and print,
mobile and AMP versions. Later, a page that declares an address of a takedown as its canonical address joins it
(`docstore/articles/article_table.py`).

The rows of a page are deleted. Its bytes stay in the WARC file, to which nothing points any more.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, case, delete, exists, or_, select, update

from docstore.articles.page_removal import remove_pages, with_article_pages
from docstore.database import Database, StorePart
from docstore.frontier.exclusions import DUE_NOW, exclude_urls
from docstore.integrity.row_checksums import update_row_checksums
from docstore.operations import mark_undone
from docstore.page_roles.page_graph import CANONICAL_PAGE
from docstore.schema.administration_tables import operations, takedowns
from docstore.schema.article_tables import article_parts, index_changes, indexed_documents, page_references
from docstore.schema.crawl_tables import topic_questions, urls
from docstore.terms.example_sentences import remove_example_sentences
from domain.administration import Takedown
from domain.article import document_id
from domain.batches import batched
from domain.frontier import UrlExclusion
from domain.storable_text import sanitize_text

TAKEDOWN_OPERATION = "page_takedown"
MAX_REASON_CHARS = 500
BATCH_SIZE = 500


class TakedownTable(StorePart):
    """Take pages down, undo it, and find takedowns (`store.takedowns`)."""

    def take_down(
        self, url: str, account: str, reason: str, operation_id: int, other_addresses: Sequence[str] = ()
    ) -> list[Takedown]:
        """Exclude a page permanently, with the pages of the same article, and delete what the store has of them.

        The deletion of their documents is logged for the index.

        Args:
            url: Canonical URL. It may be unknown to the store.
            account: Name of the account.
            reason: Text of the operator.
            operation_id: The operation `page_takedown`.
            other_addresses: Canonical URLs that are known to show the same article.

        Returns:
            The new takedowns, that of `url` first; empty if `url` was taken down before.
        """
        at, reason = self._clock(), sanitize_text(reason)
        with self._database.write() as connection:
            if load_takedowns(connection, [url]):
                return []
            given_addresses = (*scheme_variants(url), *other_addresses)
            known_ids = connection.scalars(select(urls.c.url_id).where(urls.c.url.in_(given_addresses)))
            page_ids = with_article_pages(connection, known_ids.all())
            query = select(urls.c.url_id, urls.c.url).where(urls.c.url_id.in_(page_ids)).order_by(urls.c.url_id)
            url_by_id = {row.url_id: row.url for row in connection.execute(query)}
            canonical_urls = unknown_canonical_urls(connection, url_by_id)
            addresses = list(dict.fromkeys([*given_addresses, *url_by_id.values(), *canonical_urls]))
            new_takedowns = [Takedown(address, operation_id, account, reason, at) for address in addresses]
            write_takedowns(self._database, connection, new_takedowns)
            delete_pages(self._database, connection, url_by_id, at)
        return new_takedowns

    def restore(self, url: str, operation_id: int) -> list[Takedown]:
        """Undo the takedown of a canonical URL. Its pages are due for the next crawl.

        A URL that another takedown names too stays taken down.

        Args:
            url: Canonical URL.
            operation_id: The operation `page_restore`, which undoes that of the takedown.

        Returns:
            The takedowns that were deleted; empty if the URL is not taken down.
        """
        with self._database.write() as connection:
            matches = load_takedowns(connection, [url])
            if not matches:
                return []
            is_in_group = takedowns.c.action_id == matches[0].operation_id
            group = [takedown_from_row(row) for row in connection.execute(select(takedowns).where(is_in_group))]
            connection.execute(delete(takedowns).where(is_in_group))
            update_row_checksums(self._database, connection, takedowns, [document_id(item.url) for item in group])
            is_standing = (operations.c.name == TAKEDOWN_OPERATION) & operations.c.undone_by.is_(None)
            is_other = is_standing & (operations.c.operation_id != matches[0].operation_id)
            standing = {
                url: Takedown(url, row.operation_id, row.account, values["reason"], row.at)
                for row in connection.execute(
                    select(operations).where(is_other).order_by(operations.c.operation_id.desc())
                )
                for values in [json.loads(row.after)]
                for url in {item.url for item in group}.intersection(values["urls"])
            }
            write_takedowns(self._database, connection, list(standing.values()))
            group = [item for item in group if item.url not in standing]
            for batch in batched([takedown.url for takedown in group], BATCH_SIZE):
                connection.execute(update(urls).where(urls.c.url.in_(batch)).values(attempts=0, **DUE_NOW))
            mark_undone(self._database, connection, [matches[0].operation_id], operation_id)
        return group

    def find(self, url: str) -> Takedown | None:
        """Return the takedown of a canonical URL, or None."""
        return self.find_document(document_id(url))

    def find_document(self, doc_id: str) -> Takedown | None:
        """Return the takedown of the article with this document id, or None."""
        with self._database.read() as connection:
            row = connection.execute(select(takedowns).where(takedowns.c.doc_id == doc_id)).first()
            return takedown_from_row(row) if row else None

    def document_ids_in_index(self) -> list[str]:
        """Return the ids of the documents that were taken down and are not deleted from the index yet."""
        is_page, tables = urls.c.url == takedowns.c.url, (indexed_documents, index_changes)
        has_document = or_(*(exists().where(is_page, table.c.url_id == urls.c.url_id) for table in tables))
        with self._database.read() as connection:
            return list(connection.scalars(select(takedowns.c.doc_id).where(has_document)))

    def list_all(self) -> list[Takedown]:
        """Return all takedowns: the newest first, and of each action that of the submitted URL first."""
        is_other = case((takedowns.c.url == operations.c.subject, 0), else_=1)
        query = select(takedowns).outerjoin(operations, operations.c.operation_id == takedowns.c.action_id)
        query = query.order_by(takedowns.c.at.desc(), takedowns.c.action_id.desc(), is_other, takedowns.c.url)
        with self._database.read() as connection:
            return [takedown_from_row(row) for row in connection.execute(query)]


def load_takedowns(connection: Connection, addresses: Collection[str]) -> list[Takedown]:
    """Return the takedowns of those canonical URLs that have one."""
    if connection.execute(select(takedowns.c.doc_id).limit(1)).first() is None:  # usually there is none
        return []
    matches = []
    for batch in batched(list(dict.fromkeys(addresses)), BATCH_SIZE):
        rows = connection.execute(select(takedowns).where(takedowns.c.url.in_(batch)))
        matches += [takedown_from_row(row) for row in rows]
    return matches


def write_takedowns(database: Database, connection: Connection, new_takedowns: Sequence[Takedown]) -> None:
    """Save takedowns, and mark their URLs as never due."""
    rows = [
        {
            "doc_id": document_id(takedown.url),
            "url": takedown.url,
            "action_id": takedown.operation_id,
            "account": takedown.account,
            "reason": takedown.reason,
            "at": takedown.at,
        }
        for takedown in new_takedowns
    ]
    database.insert_missing(connection, takedowns, rows)
    update_row_checksums(database, connection, takedowns, [str(row["doc_id"]) for row in rows])
    for batch in batched([takedown.url for takedown in new_takedowns], BATCH_SIZE):
        exclude_urls(connection, urls.c.url.in_(batch), UrlExclusion.TAKEN_DOWN)


def scheme_variants(url: str) -> tuple[str, str]:
    """Return a URL, and the same with the other scheme: https for http."""
    scheme, _, remainder = url.partition("://")
    return url, f"{'http' if scheme == 'https' else 'https'}://{remainder}"


def unknown_canonical_urls(connection: Connection, url_ids: Collection[int]) -> list[str]:
    """Return the URLs that these pages declare as canonical and that the crawl does not know yet.

    A known page with the same text is a page of the article. A known page with another text is declared by mistake.
    """
    is_canonical = (page_references.c.kind == CANONICAL_PAGE) & page_references.c.url_id.in_(url_ids)
    targets = set(connection.scalars(select(page_references.c.target).where(is_canonical)))
    canonical_urls = [url for target in sorted(targets) for url in scheme_variants(f"https://{target}")]
    known_urls = connection.scalars(select(urls.c.url).where(urls.c.url.in_(canonical_urls)))
    known_addresses = {url.partition("://")[2] for url in known_urls}
    return [url for url in canonical_urls if url.partition("://")[2] not in known_addresses]


def delete_pages(database: Database, connection: Connection, url_by_id: Mapping[int, str], at: float) -> None:
    """Delete pages, their articles and all quotations from them. `at` is epoch seconds.

    Lists that show the text of an article lose it. They stay lists until their content changes.
    """
    connection.execute(delete(article_parts).where(article_parts.c.whole_id.in_(list(url_by_id))))
    remove_example_sentences(database, connection, list(url_by_id))
    remove_pages(database, connection, urls.c.url_id.in_(list(url_by_id)), at, UrlExclusion.TAKEN_DOWN)
    connection.execute(delete(topic_questions).where(topic_questions.c.url.in_(list(url_by_id.values()))))


def takedown_from_row(row: Row[Any]) -> Takedown:
    """Convert a row of `takedowns` to a Takedown."""
    return Takedown(row.url, row.action_id, row.account, row.reason, row.at)
