"""Everything the store knows of one URL, as typed rows: what `plumb explain` tells, and what a refresh looks at.

A row has the columns of its table, in their order and by their names (docstore/schema says what each one means);
times are epoch seconds.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, func, select

from docstore.model import Reason, Stage
from docstore.schema.article_tables import article_parts, articles, index_changes, indexed_documents, page_references
from docstore.schema.crawl_tables import outcomes, pages, urls

MAX_RELATED = 20  # parts and copies of one article
MAX_SIMILAR = 5


@dataclass(frozen=True)
class UrlRow:
    """The URL in the frontier. `due_at` is 0 before the first visit, None when it is never asked again."""

    url_id: int
    url: str
    host: str
    queue: int
    depth: int
    kind: str
    priority: float
    due_at: float | None
    gap: float
    attempts: int
    etag: str
    last_modified: str
    digest: str
    visited_at: float | None
    parent_id: int | None
    anchor: str
    context: str
    found_at: float


@dataclass(frozen=True)
class PageRow:
    """The answer that is kept of a URL, and where in the archive."""

    url_id: int
    final_url: str
    status: int
    content_type: str
    digest: str
    fetched_at: float
    warc_file: str
    warc_offset: int
    warc_length: int


@dataclass(frozen=True)
class StageOutcome:
    """What a stage last did with the URL, and why. `input` is the digest of what the stage was given."""

    url_id: int
    stage: str
    reason: str
    detail: str
    input: str
    at: float


@dataclass(frozen=True)
class ArticleRow:
    """The article under this URL. `keywords` and `blocks` are JSON, `signature` is packed (docstore/articles/row_mapping)."""

    url_id: int
    doc_id: str
    title: str
    body: str
    published: str
    date_source: str
    language: str
    method: str
    digest: str
    extracted_at: float
    published_at: str
    modified: str
    author: str
    source: str
    section: str
    keywords: str
    picture: str
    canonical_url: str
    next_url: str
    blocks: str
    signature: bytes | None
    text_key: int | None
    duplicate_of: str
    series: str
    page_type: str
    format: str
    citations: int
    story: str


@dataclass(frozen=True)
class PageReferenceRow:
    """A page that this one names: as its next page or as its original (`kind`). `target` is a URL without scheme."""

    url_id: int
    kind: str
    target: str


@dataclass(frozen=True)
class ChangeRow:
    """A change that the indexer has still to make."""

    seq: int
    url_id: int
    op: str
    at: float


@dataclass(frozen=True)
class IndexedRow:
    """What the index holds of the URL, and by which lexicon it was segmented (0: by none)."""

    url_id: int
    digest: str
    lexicon_version: int
    indexed_at: float


@dataclass(frozen=True)
class ArticlePart:
    """Another page that the article here stands for, and the outcome of that page's extraction."""

    url: str
    reason: str | None


@dataclass(frozen=True)
class SimilarArticle:
    """An article of the same series that stands for itself."""

    url_id: int
    url: str


@dataclass(frozen=True)
class NearDuplicate(SimilarArticle):
    """An article of the same cluster of near-duplicates."""

    stands_for_the_group: bool


@dataclass(frozen=True)
class UrlReport:
    """What the store knows of a URL; what it has nothing of is None or empty.

    `found_on` is the page whose link was the first that led to this URL. `near_duplicates` are the article that this
    one stands behind, or those that stand behind this one.
    """

    url_row: UrlRow
    page: PageRow | None
    outcomes: tuple[StageOutcome, ...]
    article: ArticleRow | None
    ties: tuple[PageReferenceRow, ...]
    changes: tuple[ChangeRow, ...]
    indexed: IndexedRow | None
    found_on: str | None
    parts: tuple[ArticlePart, ...]
    near_duplicates: tuple[NearDuplicate, ...]
    similar_articles: tuple[SimilarArticle, ...]

    def outcome(self, stage: Stage) -> StageOutcome | None:
        """The last outcome of a stage."""
        return next((outcome for outcome in self.outcomes if outcome.stage == stage), None)


def url_report(connection: Connection, url: str) -> UrlReport | None:
    """The report of a canonical URL; None if it was never seen."""
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
    """The rows of a query whose columns are the fields of `row_type`."""
    return tuple(row_type(**row._mapping) for row in connection.execute(query))


def fetch_first_as(connection: Connection, row_type: type[T], query: Select[Any]) -> T | None:
    """The first row of such a query."""
    return next(iter(fetch_all_as(connection, row_type, query)), None)


PARTS_QUERY = (
    select(urls.c.url, outcomes.c.reason)
    .join(article_parts, article_parts.c.url_id == urls.c.url_id)
    .outerjoin(outcomes, (outcomes.c.url_id == urls.c.url_id) & (outcomes.c.stage == Stage.EXTRACT))
    .where(func.coalesce(outcomes.c.reason, "") != Reason.LIST_PAGE)  # a list shows the article, and is no part of it
    .order_by(urls.c.url_id)
    .limit(MAX_RELATED)
)


def near_duplicates_query(url_id: int) -> Select[Any]:
    """The article that this one stands behind, and those behind this one."""
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
    """Articles of the same series that stand for themselves, those that were found next to it first."""
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
