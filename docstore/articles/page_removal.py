"""Removal of a page that is gone or no longer wanted, with everything derived from it."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, Select, String, cast, delete, func, insert, literal, select, update

from docstore.bookkeeping import log_index_changes
from docstore.database import Database
from docstore.frontier.exclusions import exclude_urls
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.article_tables import (
    article_parts,
    articles,
    index_changes,
    page_references,
    recognized_pages,
    teasers,
)
from docstore.schema.crawl_tables import outcomes, pages, urls
from docstore.schema.lexicon_tables import definitions, relation_proposals, terms
from docstore.schema.operation_tables import row_checksums
from docstore.terms.row_mapping import definition_choice_from_json
from domain.frontier import UrlExclusion
from domain.index_change import IndexOperation
from domain.outcome import Reason, Stage
from domain.term_relation import ProposalState


def remove_page(database: Database, connection: Connection, url_id: int, removed_at: float) -> None:
    """Delete a page and its article from the store, and log the deletion for the index.

    If the page returns, it is extracted as a new page. `removed_at` is epoch seconds.
    """
    connection.execute(delete(pages).where(pages.c.url_id == url_id))
    derived_stages = (Stage.EXTRACT, Stage.OCR)
    connection.execute(delete(outcomes).where(outcomes.c.url_id == url_id, outcomes.c.stage.in_(derived_stages)))
    connection.execute(delete(recognized_pages).where(recognized_pages.c.url_id == url_id))
    connection.execute(update(urls).where(urls.c.url_id == url_id).values(etag="", last_modified="", digest=""))
    if connection.execute(delete(articles).where(articles.c.url_id == url_id)).rowcount:
        log_index_changes(connection, IndexOperation.DELETE, [url_id], removed_at)
        update_row_checksums(database, connection, articles, [url_id])


def remove_pages(
    database: Database,
    connection: Connection,
    condition: ColumnElement[bool],
    removed_at: float,
    exclusion: UrlExclusion,
    keep_quotations: bool = False,
) -> int:
    """Delete the pages that meet a condition on `urls`, and their articles, and log the deletions for the index.

    The URLs stay in the frontier and are never due (`exclude_urls`).

    Args:
        database: The store.
        connection: The transaction.
        condition: SQL condition on `urls`.
        removed_at: Epoch seconds.
        exclusion: Why the URLs are never due.
        keep_quotations: Keep the sentences of the articles that define terms or show relations.

    Returns:
        The number of articles.
    """
    connection.execute(update(urls).where(condition).values(attempts=0, etag="", last_modified="", digest=""))
    exclude_urls(connection, condition, exclusion)
    url_ids = select(urls.c.url_id).where(condition)
    if not keep_quotations:
        remove_quotations(database, connection, url_ids)
    removed_articles = select(articles.c.url_id, literal(str(IndexOperation.DELETE)), literal(removed_at))
    changes = insert(index_changes).from_select(
        ["url_id", "op", "at"], removed_articles.where(articles.c.url_id.in_(url_ids))
    )
    connection.execute(changes)
    is_checksum = row_checksums.c.name == articles.name
    keys = select(cast(articles.c.url_id, String)).where(articles.c.url_id.in_(url_ids))
    connection.execute(delete(row_checksums).where(is_checksum, row_checksums.c.key.in_(keys)))
    article_count = connection.scalar(select(func.count()).where(articles.c.url_id.in_(url_ids))) or 0
    derived_stages = (Stage.EXTRACT, Stage.OCR)
    connection.execute(delete(outcomes).where(outcomes.c.url_id.in_(url_ids), outcomes.c.stage.in_(derived_stages)))
    # Otherwise, the next extraction finds the articles that lose some of their pages by the parts and references.
    link_tables = (article_parts, page_references) if exclusion is UrlExclusion.TAKEN_DOWN else ()
    for table in (articles, *link_tables, teasers, recognized_pages, pages):
        connection.execute(delete(table).where(table.c.url_id.in_(url_ids)))
    return article_count


def with_article_pages(connection: Connection, page_ids: Collection[int]) -> set[int]:
    """Return the url_ids of pages and of all other pages of their articles.

    List pages that show the text of an article are not its pages.
    """
    parts = (
        select(article_parts.c.url_id, article_parts.c.whole_id)
        .outerjoin(outcomes, (outcomes.c.url_id == article_parts.c.url_id) & (outcomes.c.stage == Stage.EXTRACT))
        .where(func.coalesce(outcomes.c.reason, "") != Reason.LIST_PAGE)
        .subquery()
    )
    all_ids = set(page_ids)
    all_ids |= set(connection.scalars(select(parts.c.whole_id).where(parts.c.url_id.in_(all_ids))))
    return all_ids | set(connection.scalars(select(parts.c.url_id).where(parts.c.whole_id.in_(all_ids))))


def remove_quotations(
    database: Database, connection: Connection, url_ids: "Collection[int] | Select[tuple[int]]"
) -> None:
    """Delete the sentences of pages that define terms or show relations. A rejected relation stays rejected."""
    connection.execute(delete(definitions).where(definitions.c.url_id.in_(url_ids)))
    is_source = relation_proposals.c.url_id.in_(url_ids)
    is_open = relation_proposals.c.state == ProposalState.PROPOSED
    connection.execute(delete(relation_proposals).where(is_source, is_open))
    connection.execute(update(relation_proposals).where(is_source).values(evidence="", title="", url=""))
    choice_rows = connection.execute(select(terms.c.text, terms.c.definition).where(terms.c.definition != "")).all()
    choice_by_term = {row.text: definition_choice_from_json(row.definition) for row in choice_rows}
    quoted_ids = {choice.url_id for choice in choice_by_term.values() if choice and choice.url_id}
    removed_ids = set(
        connection.scalars(select(urls.c.url_id).where(urls.c.url_id.in_(quoted_ids), urls.c.url_id.in_(url_ids)))
    )
    for term, choice in choice_by_term.items():
        if choice and choice.url_id in removed_ids:
            connection.execute(update(terms).where(terms.c.text == term).values(definition="", definition_source=""))
            update_row_checksums(database, connection, terms, [term])
