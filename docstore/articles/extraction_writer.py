"""Keeping what extraction made of pages, in one transaction: own articles, page roles, near-duplicates, outcomes.

Extraction -> ties, what the site can learn              docstore/page_roles/page_graph.py, site_templates.py
           -> PageRole of each page, and of those around it  docstore/page_roles/resolve_roles.py
           -> articles, parts, bands, outcomes, changes   here and docstore/near_duplicates/clusters.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, and_, case, delete, func, select, update

from docstore.articles.row_mapping import article_row, article_to_json
from docstore.articles.site_templates import learn_pages
from docstore.bookkeeping import (
    TEXT_VERSION_KEY,
    IndexOperation,
    OutcomeRow,
    log_index_changes,
    read_meta_int,
    write_meta_int,
    write_outcomes,
)
from docstore.database import Database
from docstore.file_formats import HTML_FORMAT, format_for_content_type
from docstore.integrity.row_checksums import update_row_checksums
from docstore.model import Article, Outcome, PageTraits, PageType, Reason, Stage, Teaser, UrlKind, WarcPointer
from docstore.near_duplicates.clusters import CopyDetection, reassign_clusters
from docstore.page_roles.page_graph import PageArticle, replace_references
from docstore.page_roles.resolve_roles import PageRole, resolve_roles
from docstore.page_roles.url_patterns import ListEvidence, PatternMember, new_member
from docstore.schema.article_tables import article_parts, articles
from docstore.schema.crawl_tables import outcomes, urls

# Pages whose worth lies in their links: the crawl asks them again in every run.
HUB_REASONS = frozenset({Reason.LIST_PAGE, Reason.NO_BODY, Reason.NEEDS_JAVASCRIPT})
ARTICLE_REASONS = frozenset(
    {Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED, Reason.CONTINUATION, Reason.ALTERNATE_VERSION, Reason.INCOMPLETE_BODY}
)
SUCCESS_REASONS = frozenset({Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED})  # a warning takes their place
NO_OVERRIDES: Mapping[int, Reason] = {}
COLUMNS_SET_BY_OTHER_ARTICLES = ("duplicate_of", "series", "citations", "story")  # columns that other articles decide
REPLACED_COLUMNS = tuple(
    c.name for c in articles.columns if not c.primary_key and c.name not in COLUMNS_SET_BY_OTHER_ARTICLES
)


@dataclass(frozen=True)
class PendingPage:
    """A page that waits for extraction: where its bytes are and what is known of them (times in epoch seconds)."""

    url_id: int
    url: str
    content_type: str
    digest: str
    pointer: WarcPointer
    fetched_at: float = 0.0
    host: str = ""

    @property
    def is_document(self) -> bool:
        """Is it kept as a document, and not as a page?"""
        return format_for_content_type(self.content_type) != HTML_FORMAT


@dataclass(frozen=True)
class PageExtraction:
    """What extraction made of one page: an article, or an outcome that says why there is none; and what it teaches.

    `teaser`, `is_declared_article` and `warning`: see `docstore.model.ExtractionResult`.
    """

    page: PendingPage
    result: Article | Outcome
    page_traits: PageTraits = field(default_factory=PageTraits)
    teaser: Teaser | None = None
    is_declared_article: bool = True
    warning: Outcome | None = None


@dataclass(frozen=True)
class ExtractionWriter:
    """Writes what extraction made of a batch of pages, in the transaction of `connection`.

    `now` is the time of writing in epoch seconds, `copy_detection` says how copies are told.
    """

    database: Database
    connection: Connection
    now: float
    copy_detection: CopyDetection = field(default_factory=CopyDetection)

    def save(self, extractions: Sequence[PageExtraction]) -> list[Reason]:
        """Keep a batch. Returns what became of each page, then of pages of other batches whose role it has changed."""
        lost_ids = {extraction.page.url_id for extraction in extractions if is_record_lost(extraction)}
        readable = [extraction for extraction in extractions if extraction.page.url_id not in lost_ids]
        learn_pages(
            self.connection,
            [(extraction.page.url_id, extraction.page.host, extraction.page_traits) for extraction in readable],
        )
        batch_members = {
            extraction.page.url_id: new_member(extraction.page.url_id, extraction.page.url, evidence)
            for extraction in readable
            if (evidence := list_evidence(extraction)) is not None
        }
        outcome_by_id = self.apply_roles(
            {extraction.page.url_id: to_page_article(extraction) for extraction in readable}, batch_members
        )
        outcome_by_id |= {
            extraction.page.url_id: extraction.result
            for extraction in extractions
            if isinstance(extraction.result, Outcome)
        }
        outcome_by_id |= warnings_by_url_id(readable, outcome_by_id)
        input_digests = extraction_input_digests(self.connection, list(outcome_by_id)) | {
            extraction.page.url_id: extraction.page.digest for extraction in readable
        }
        for url_id in lost_ids:  # the old article is better than none; the page waits on
            force_refetch(self.connection, url_id)
            input_digests[url_id] = ""
        kind_overrides = dict.fromkeys(
            collection_page_ids(readable), Reason.LIST_PAGE
        )  # their links are worth as much as a list's
        kind_overrides |= {
            extraction.page.url_id: Reason.EXTRACTED for extraction in extractions if extraction.page.is_document
        }  # they have no links
        self.save_outcomes(outcome_by_id, input_digests, kind_overrides)
        order = dict.fromkeys([*(extraction.page.url_id for extraction in extractions), *sorted(outcome_by_id)])
        return [outcome_by_id[url_id].reason for url_id in order]

    def resolve_after_removal(self, url_ids: Sequence[int]) -> list[Reason]:
        """These pages are gone: resolve anew the pages that depended on them. Returns what became of those."""
        outcome_by_id = self.apply_roles(dict.fromkeys(url_ids), {})
        self.save_outcomes(outcome_by_id, extraction_input_digests(self.connection, list(outcome_by_id)))
        return [outcome.reason for outcome in outcome_by_id.values()]

    def save_outcomes(
        self,
        outcome_by_id: Mapping[int, Outcome],
        input_digests: Mapping[int, str],
        kind_overrides: Mapping[int, Reason] = NO_OVERRIDES,
    ) -> None:
        """Keep outcomes, and tell the crawl what the pages are: by their outcome, or by `kind_overrides`, where that differs."""
        for url_id, outcome in outcome_by_id.items():
            update_url_kind(self.connection, url_id, kind_overrides.get(url_id, outcome.reason))
        rows = [
            OutcomeRow(url_id, Stage.EXTRACT, outcome, self.now, input_digests.get(url_id, ""))
            for url_id, outcome in outcome_by_id.items()
        ]
        write_outcomes(self.database, self.connection, rows)

    def apply_roles(
        self, batch_articles: Mapping[int, PageArticle | None], batch_members: Mapping[int, PatternMember]
    ) -> dict[int, Outcome]:
        """Keep the articles of these pages (None: it has none) and of those they change; returns the outcomes of the
        pages that have an article or are parts of one, of the others only where it is a new one.

        `batch_members` are those of the pages that are articles or lists.
        """
        previous_next_urls = replace_references(self.database, self.connection, batch_articles)
        roles = resolve_roles(self.database, self.connection, batch_articles, previous_next_urls, batch_members)
        stored_rows = stored_article_rows(self.connection, [*roles, *batch_articles])
        removed_ids = [url_id for url_id in stored_rows if url_id not in roles or roles[url_id].article is None]
        self.save_parts(roles, batch_articles)
        connection = self.connection
        connection.execute(delete(articles).where(articles.c.url_id.in_(removed_ids)))
        update_row_checksums(self.database, connection, articles, removed_ids)
        log_index_changes(connection, IndexOperation.DELETE, removed_ids, self.now)
        self.save_articles(roles, stored_rows, [stored_rows[url_id].doc_id for url_id in removed_ids])
        stored_outcomes = extraction_outcomes(connection, [url_id for url_id in roles if url_id not in batch_articles])
        outcome_by_id = {url_id: outcome_for_role(role, stored_rows.get(url_id)) for url_id, role in roles.items()}
        return {
            url_id: outcome
            for url_id, outcome in outcome_by_id.items()
            if url_id in batch_articles or is_outcome_changed(outcome, stored_outcomes.get(url_id))
        }

    def save_parts(self, roles: Mapping[int, PageRole], batch_articles: Mapping[int, PageArticle | None]) -> None:
        """Keep a page's own article beside the store's, where that is another."""
        rows = [
            {"url_id": url_id, "whole_id": role.main_url_id, "article": article_to_json(role.page_article.article)}
            for url_id, role in roles.items()
            if role.article is None or role.page_count > 1
        ]
        without_part = {*roles, *batch_articles} - {row["url_id"] for row in rows}
        self.connection.execute(delete(article_parts).where(article_parts.c.url_id.in_(without_part)))
        self.database.upsert(self.connection, article_parts, rows, update_columns=("whole_id", "article"))

    def save_articles(
        self, roles: Mapping[int, PageRole], stored_rows: Mapping[int, Row[Any]], removed_doc_ids: Sequence[str]
    ) -> None:
        """Write the articles, log those that a reader sees changed, and find whose copies they are."""
        article_roles = {url_id: role for url_id, role in roles.items() if role.article is not None}
        rows = [article_row_for_role(role, stored_rows.get(url_id), self.now) for url_id, role in article_roles.items()]
        self.database.upsert(self.connection, articles, rows, update_columns=REPLACED_COLUMNS)
        update_row_checksums(self.database, self.connection, articles, article_roles)
        changed_text_ids = [row["url_id"] for row in rows if has_changed(row, stored_rows.get(row["url_id"]), "digest")]
        if changed_text_ids:
            version = read_meta_int(self.connection, TEXT_VERSION_KEY) + 1
            write_meta_int(self.database, self.connection, TEXT_VERSION_KEY, version)
        changed_digest_ids = [
            row["url_id"] for row in rows if has_changed(row, stored_rows.get(row["url_id"]), "digest", "signature")
        ]
        changed_type_ids = [
            row["url_id"] for row in rows if has_changed(row, stored_rows.get(row["url_id"]), "page_type")
        ]
        regrouped_ids = reassign_clusters(
            self.connection, self.database, changed_digest_ids, removed_doc_ids, self.copy_detection
        )
        log_index_changes(
            self.connection,
            IndexOperation.UPSERT,
            dict.fromkeys([*changed_text_ids, *changed_type_ids, *regrouped_ids]),
            self.now,
        )


def is_record_lost(extraction: PageExtraction) -> bool:
    """Could the page not be read? It says nothing of what the page is."""
    return isinstance(extraction.result, Outcome) and extraction.result.reason is Reason.WARC_RECORD_LOST


def to_page_article(extraction: PageExtraction) -> PageArticle | None:
    """The page's own article."""
    page, result = extraction.page, extraction.result
    if not isinstance(result, Article):
        return None
    return PageArticle(page.url_id, page.url, page.host, result, extraction.teaser)


def warnings_by_url_id(
    extractions: Iterable[PageExtraction], outcome_by_id: Mapping[int, Outcome]
) -> dict[int, Outcome]:
    """What is recorded in place of the good end of a page whose article is kept with a warning: url_id -> outcome."""
    warning_by_id = {}
    for extraction in extractions:
        outcome = outcome_by_id.get(extraction.page.url_id)
        if extraction.warning is not None and outcome is not None and outcome.reason in SUCCESS_REASONS:
            warning_by_id[extraction.page.url_id] = extraction.warning
    return warning_by_id


def collection_page_ids(extractions: Iterable[PageExtraction]) -> frozenset[int]:
    """The pages whose article is a collection: they lead to others as a list does."""
    return frozenset(
        extraction.page.url_id
        for extraction in extractions
        if isinstance(extraction.result, Article) and extraction.result.page_type == PageType.COLLECTION
    )


def list_evidence(extraction: PageExtraction) -> ListEvidence | None:
    """What a page is by itself; None for one that says nothing of its siblings."""
    if isinstance(extraction.result, Outcome):
        return ListEvidence.LIST if extraction.result.reason is Reason.LIST_PAGE else None
    return ListEvidence.DECLARED_ARTICLE if extraction.is_declared_article else ListEvidence.UNDECLARED_ARTICLE


def article_row_for_role(role: PageRole, stored_row: Row[Any] | None, now: float) -> dict[str, Any]:
    """The `articles` row of a page; one that a reader sees unchanged keeps its time."""
    assert role.article is not None
    row = article_row(role.page_article.url_id, role.page_article.url, role.article, now)
    if stored_row is not None and stored_row.digest == row["digest"]:
        row["extracted_at"] = stored_row.extracted_at
    return row


def has_changed(row: Mapping[str, Any], stored_row: Row[Any] | None, *names: str) -> bool:
    """Is the row new, or another than before in one of these columns?"""
    return stored_row is None or any(getattr(stored_row, name) != row[name] for name in names)


def outcome_for_role(role: PageRole, stored_row: Row[Any] | None) -> Outcome:
    """The outcome of a page by its role; `stored_row` is the article that was kept of it, None for a new one."""
    if role.article is None:
        return role.outcome or Outcome(Reason.UNEXPECTED_ERROR)
    if stored_row is not None and stored_row.digest == role.article.digest:
        return Outcome(Reason.ARTICLE_UNCHANGED)
    suffix = f", joined of {role.page_count} pages" if role.page_count > 1 else ""
    return Outcome(Reason.EXTRACTED, role.article.method + suffix)


def is_outcome_changed(outcome: Outcome, stored_outcome: Row[Any] | None) -> bool:
    """Does a page that was not extracted now need another outcome?"""
    if outcome.reason in (Reason.ARTICLE_UNCHANGED, Reason.EXTRACTED):
        return outcome.reason is Reason.EXTRACTED
    return stored_outcome is None or (stored_outcome.reason, stored_outcome.detail) != (
        outcome.reason,
        outcome.detail[:500],
    )


def stored_article_rows(connection: Connection, url_ids: Iterable[int]) -> dict[int, Row[Any]]:
    """What of the articles that were kept before is compared with the new ones: url_id -> row."""
    columns = [articles.c[name] for name in ("url_id", "doc_id", "digest", "signature", "page_type", "extracted_at")]
    query = select(*columns).where(articles.c.url_id.in_(set(url_ids)))
    return {row.url_id: row for row in connection.execute(query)}


def extraction_outcomes(connection: Connection, url_ids: Sequence[int]) -> dict[int, Row[Any]]:
    """The last outcomes of extraction: url_id -> row."""
    query = select(outcomes).where(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(url_ids))
    return {row.url_id: row for row in connection.execute(query)}


def extraction_input_digests(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """The digests of the versions that pages were last extracted from: url_id -> digest."""
    stored_outcomes = extraction_outcomes(connection, url_ids)
    return {url_id: stored_outcomes[url_id].input for url_id in stored_outcomes}


def force_refetch(connection: Connection, url_id: int) -> None:
    """Let the next crawl fetch a page whole, without a condition, unless it is never to be asked again: its record is
    lost, and its file may not be put back.
    """
    due = case((urls.c.due_at.is_(None), None), else_=0.0)
    values = {"etag": "", "last_modified": "", "digest": "", "due_at": due}
    connection.execute(update(urls).where(urls.c.url_id == url_id).values(values))


def update_url_kind(connection: Connection, url_id: int, reason: Reason) -> None:
    """Tell the crawl what the page is. A hub is due again in the next run, whatever was set for it before."""
    is_target = and_(urls.c.url_id == url_id, urls.c.kind != UrlKind.SEED)
    if reason in HUB_REASONS:
        due = func.coalesce(urls.c.visited_at, 0.0)
        connection.execute(
            update(urls).where(is_target, urls.c.kind != UrlKind.HUB).values(kind=UrlKind.HUB, due_at=due)
        )
    elif reason in ARTICLE_REASONS:
        connection.execute(update(urls).where(is_target).values(kind=UrlKind.ARTICLE))
