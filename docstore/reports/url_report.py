"""The report of one URL as typed rows, for `plumb explain`, imports and refreshes of single pages.

A row type has the columns of its table, in the same order and with the same names (see docstore/schema). Times are
epoch seconds.
"""

from dataclasses import dataclass, make_dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, Table, func, select

from docstore.schema.article_tables import article_parts, articles, index_changes, indexed_documents, page_references
from docstore.schema.crawl_tables import outcomes, pages, urls
from domain.outcome import Reason, Stage

MAX_RELATED = 20  # per list: parts, near-duplicates
MAX_SIMILAR = 5


def row_class(name: str, table: Table) -> Any:
    """Create a frozen dataclass with the columns of a table."""
    return make_dataclass(name, [(column.name, Any) for column in table.columns], frozen=True)


# UrlRow: `due_at` is 0 before the first visit, None if the URL is never due. StageOutcome: `input` is the digest of the
# data that the stage processed. PageReferenceRow: `target` is a URL without scheme.
UrlRow = row_class("UrlRow", urls)
PageRow = row_class("PageRow", pages)
StageOutcome = row_class("StageOutcome", outcomes)
ArticleRow = row_class("ArticleRow", articles)
PageReferenceRow = row_class("PageReferenceRow", page_references)
ChangeRow = row_class("ChangeRow", index_changes)
IndexedRow = row_class("IndexedRow", indexed_documents)


@dataclass(frozen=True)
class ArticlePart:
    """Another page that the article represents, with the extraction outcome of that page."""

    url: str
    reason: str | None


@dataclass(frozen=True)
class SimilarArticle:
    """An article of the same series that is not a copy."""

    url_id: int
    url: str


@dataclass(frozen=True)
class NearDuplicate(SimilarArticle):
    """An article of the same near-duplicate cluster. `stands_for_the_group`: it is the cluster leader."""

    stands_for_the_group: bool


@dataclass(frozen=True)
class UrlReport:
    """Everything the store contains about a URL. Missing items are None or empty.

    Attributes:
        url_row: A `UrlRow`. The other rows have the types `PageRow`, `StageOutcome`, `ArticleRow`, `PageReferenceRow`,
            `ChangeRow` and `IndexedRow`.
        found_on: URL of the page with the first link to this URL.
        near_duplicates: The cluster leader of this article, or its followers.
    """

    url_row: Any
    page: Any
    outcomes: tuple[Any, ...]
    article: Any
    ties: tuple[Any, ...]
    changes: tuple[Any, ...]
    indexed: Any
    found_on: str | None
    parts: tuple[ArticlePart, ...]
    near_duplicates: tuple[NearDuplicate, ...]
    similar_articles: tuple[SimilarArticle, ...]

    def outcome(self, stage: Stage) -> Any:
        """Return the last outcome of a stage (a `StageOutcome`), or None."""
        return next((outcome for outcome in self.outcomes if outcome.stage == stage), None)


def url_report(connection: Connection, url: str) -> UrlReport | None:
    """Return the report of a canonical URL; None if the URL is unknown."""
    row = fetch_first_as(connection, UrlRow, select(urls).where(urls.c.url == url))
    if row is None:
        return None
    url_id = row.url_id
    return UrlReport(
        url_row=row,
        page=fetch_first_as(connection, PageRow, select(pages).where(pages.c.url_id == url_id)),
        outcomes=fetch_all_as(connection, StageOutcome, select(outcomes).where(outcomes.c.url_id == url_id)),
        article=fetch_first_as(connection, ArticleRow, select(articles).where(articles.c.url_id == url_id)),
        ties=fetch_all_as(
            connection, PageReferenceRow, select(page_references).where(page_references.c.url_id == url_id)
        ),
        changes=fetch_all_as(connection, ChangeRow, select(index_changes).where(index_changes.c.url_id == url_id)),
        indexed=fetch_first_as(
            connection, IndexedRow, select(indexed_documents).where(indexed_documents.c.url_id == url_id)
        ),
        found_on=connection.scalar(select(urls.c.url).where(urls.c.url_id == row.parent_id)),
        parts=fetch_all_as(
            connection,
            ArticlePart,
            PARTS_QUERY.where(article_parts.c.whole_id == url_id, article_parts.c.url_id != url_id),
        ),
        near_duplicates=fetch_all_as(connection, NearDuplicate, near_duplicates_query(url_id)),
        similar_articles=fetch_all_as(connection, SimilarArticle, similar_articles_query(url_id)),
    )


T = TypeVar("T")


def fetch_all_as(connection: Connection, row_type: type[T], query: Select[Any]) -> tuple[T, ...]:
    """Convert all rows of a query to `row_type`. The column names must be the field names."""
    return tuple(row_type(**row._mapping) for row in connection.execute(query))


def fetch_first_as(connection: Connection, row_type: type[T], query: Select[Any]) -> T | None:
    """Convert the first row of a query to `row_type`; None without rows."""
    return next(iter(fetch_all_as(connection, row_type, query)), None)


PARTS_QUERY = (
    select(urls.c.url, outcomes.c.reason)
    .join(article_parts, article_parts.c.url_id == urls.c.url_id)
    .outerjoin(outcomes, (outcomes.c.url_id == urls.c.url_id) & (outcomes.c.stage == Stage.EXTRACT))
    .where(
        func.coalesce(outcomes.c.reason, "") != Reason.LIST_PAGE
    )  # a list shows the article, but is not a part of it
    .order_by(urls.c.url_id)
    .limit(MAX_RELATED)
)


def near_duplicates_query(url_id: int) -> Select[Any]:
    """Query for the cluster leader of an article, and for its followers."""
    own_row = articles.alias("mine")
    is_same_cluster = (articles.c.doc_id == own_row.c.duplicate_of) | (articles.c.duplicate_of == own_row.c.doc_id)
    return (
        select(urls.c.url_id, urls.c.url, (articles.c.duplicate_of == "").label("stands_for_the_group"))
        .join(articles, articles.c.url_id == urls.c.url_id)
        .join(own_row, is_same_cluster)
        .where(own_row.c.url_id == url_id)
        .order_by(urls.c.url_id)
        .limit(MAX_RELATED)
    )


def similar_articles_query(url_id: int) -> Select[Any]:
    """Query for articles of the same series that are not copies, those discovered next to the article first."""
    own_row = articles.alias("mine")
    return (
        select(urls.c.url_id, urls.c.url)
        .join(articles, articles.c.url_id == urls.c.url_id)
        .join(own_row, (articles.c.series == own_row.c.series) & (own_row.c.series > ""))
        .where(own_row.c.url_id == url_id, articles.c.url_id != url_id)
        .where(articles.c.duplicate_of == "", articles.c.doc_id != own_row.c.duplicate_of)
        .order_by(func.abs(urls.c.url_id - url_id), urls.c.url_id)
        .limit(MAX_SIMILAR)
    )
