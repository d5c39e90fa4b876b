"""Saving extraction results in one transaction: articles, page roles, near-duplicate clusters, outcomes.

1. references between pages, site templates      docstore/page_roles/page_graph.py, site_templates.py
2. PageRole of each page and its related pages   docstore/page_roles/resolve_roles.py
3. articles, parts, clusters, outcomes, changes  this module and docstore/near_duplicates/clusters.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, select, update

from docstore.articles.row_mapping import article_row, article_to_json
from docstore.articles.site_templates import learn_pages
from docstore.articles.source_pages import ArchivedPage
from docstore.bookkeeping import (
    MAX_DETAIL_CHARS,
    TEXT_VERSION_KEY,
    OutcomeRow,
    log_index_changes,
    read_meta_int,
    write_meta,
    write_outcomes,
)
from docstore.database import Database
from docstore.frontier.exclusions import DUE_NOW, is_scheduled_by_crawl
from docstore.integrity.row_checksums import update_row_checksums
from docstore.near_duplicates.clusters import CopyDetection, reassign_clusters
from docstore.page_roles.page_graph import PageArticle, replace_references
from docstore.page_roles.resolve_roles import PageRole, resolve_roles
from docstore.page_roles.url_patterns import ListEvidence, PatternMember, new_member
from docstore.schema.article_tables import article_parts, articles
from docstore.schema.crawl_tables import outcomes, urls
from domain.article import Article, PageTraits, PageType, Teaser
from domain.frontier import UrlKind
from domain.index_change import IndexOperation
from domain.outcome import Outcome, Reason, Stage

# Pages that are useful for their links: the crawl fetches them in every run while they change.
HUB_REASONS = frozenset({Reason.LIST_PAGE, Reason.NO_BODY, Reason.NEEDS_JAVASCRIPT})
ARTICLE_REASONS = frozenset(
    {Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED, Reason.CONTINUATION, Reason.ALTERNATE_VERSION, Reason.INCOMPLETE_BODY}
)
OWN_ARTICLE_REASONS = frozenset({Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED})  # a warning replaces them
NO_OVERRIDES: Mapping[int, Reason] = {}


@dataclass(frozen=True)
class PageExtraction:
    """Extraction result of one page: an article, or the outcome that says why there is none.

    `page_traits`, `teaser`, `is_declared_article` and `warning`: see `domain.article.ExtractionResult`.
    """

    page: ArchivedPage
    result: Article | Outcome
    page_traits: PageTraits = field(default_factory=PageTraits)
    teaser: Teaser | None = None
    is_declared_article: bool = True
    warning: Outcome | None = None


@dataclass(frozen=True)
class ExtractionWriter:
    """Saves the extraction results of a batch in the transaction of `connection`.

    `now` is the time of the save in epoch seconds. `copy_detection` contains the rules for near-duplicates.
    """

    database: Database
    connection: Connection
    now: float
    copy_detection: CopyDetection = field(default_factory=CopyDetection)

    def save(self, extractions: Sequence[PageExtraction]) -> list[Reason]:
        """Save a batch.

        Returns one Reason per page of the batch, then one per page of earlier batches whose role changed.
        """
        lost_ids = {  # of stored responses that could not be read: these pages remain unknown
            extraction.page.url_id
            for extraction in extractions
            if isinstance(extraction.result, Outcome) and extraction.result.reason is Reason.WARC_RECORD_LOST
        }
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
        for url_id in lost_ids:  # the old article stays; the page stays pending
            force_refetch(self.connection, url_id)
            input_digests[url_id] = ""
        kind_overrides = dict.fromkeys(
            collection_page_ids(readable), Reason.LIST_PAGE
        )  # their links are as useful as those of a list
        kind_overrides |= {
            extraction.page.url_id: Reason.EXTRACTED for extraction in extractions if extraction.page.is_document
        }  # they have no links
        self.save_outcomes(outcome_by_id, input_digests, kind_overrides)
        order = dict.fromkeys([*(extraction.page.url_id for extraction in extractions), *sorted(outcome_by_id)])
        return [outcome_by_id[url_id].reason for url_id in order]

    def resolve_after_removal(self, url_ids: Sequence[int]) -> list[Reason]:
        """Resolve the roles of pages that depended on the removed pages `url_ids`.

        Returns one Reason per changed page.
        """
        outcome_by_id = self.apply_roles(dict.fromkeys(url_ids), {})
        self.save_outcomes(outcome_by_id, extraction_input_digests(self.connection, list(outcome_by_id)))
        return [outcome.reason for outcome in outcome_by_id.values()]

    def save_outcomes(
        self,
        outcome_by_id: Mapping[int, Outcome],
        input_digests: Mapping[int, str],
        kind_overrides: Mapping[int, Reason] = NO_OVERRIDES,
    ) -> None:
        """Save outcomes, and update the URL kind of each page in the frontier.

        Args:
            outcome_by_id: Outcomes by url_id.
            input_digests: Digests of the extracted versions by url_id.
            kind_overrides: Reasons that determine the URL kind instead of the outcome, by url_id.
        """
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
        """Save the articles of the batch and of every page whose role the batch changes.

        Args:
            batch_articles: Article by url_id; None for a page without an article.
            batch_members: The pages of the batch that are articles or lists, by url_id.

        Returns:
            Outcomes by url_id, for pages of the batch that have an article or are part of one, and for other pages
                whose outcome changed.
        """
        previous_next_urls = replace_references(self.database, self.connection, batch_articles)
        roles = resolve_roles(self.database, self.connection, batch_articles, previous_next_urls, batch_members)
        columns = [
            articles.c[name] for name in ("url_id", "doc_id", "digest", "signature", "page_type", "extracted_at")
        ]
        query = select(*columns).where(articles.c.url_id.in_({*roles, *batch_articles}))
        stored_rows = {row.url_id: row for row in self.connection.execute(query)}
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
        """Save the page's own article if it differs from the stored article.

        This applies to parts of other pages, and to the main pages of articles joined of several pages.
        """
        rows = [
            {"url_id": url_id, "whole_id": role.main_url_id, "article": article_to_json(role.page_article.article)}
            for url_id, role in roles.items()
            if role.article is None or role.page_count > 1
        ]
        without_part = {*roles, *batch_articles} - {row["url_id"] for row in rows}
        self.connection.execute(delete(article_parts).where(article_parts.c.url_id.in_(without_part)))
        self.database.upsert(self.connection, article_parts, rows)

    def save_articles(
        self, roles: Mapping[int, PageRole], stored_rows: Mapping[int, Row[Any]], removed_doc_ids: Sequence[str]
    ) -> None:
        """Save articles, log visible changes for the index, and update near-duplicate clusters."""
        article_roles = {url_id: role for url_id, role in roles.items() if role.article is not None}
        rows = []
        for url_id, role in article_roles.items():  # one at a time: bodies may be long
            row = article_row_for_role(role, stored_rows.get(url_id), self.now)
            self.database.upsert(self.connection, articles, [row])
            rows.append({name: row[name] for name in ("url_id", "digest", "signature", "page_type")})
        update_row_checksums(self.database, self.connection, articles, article_roles)
        changed_text_ids = [row["url_id"] for row in rows if has_changed(row, stored_rows.get(row["url_id"]), "digest")]
        if changed_text_ids:
            version = read_meta_int(self.connection, TEXT_VERSION_KEY) + 1
            write_meta(self.database, self.connection, TEXT_VERSION_KEY, version)
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


def to_page_article(extraction: PageExtraction) -> PageArticle | None:
    """Return the page's own article before pages are joined; None if it has none."""
    page, result = extraction.page, extraction.result
    if not isinstance(result, Article):
        return None
    return PageArticle(page.url_id, page.url, page.host, result, extraction.teaser)


def warnings_by_url_id(
    extractions: Iterable[PageExtraction], outcome_by_id: Mapping[int, Outcome]
) -> dict[int, Outcome]:
    """Return the warnings that replace a success outcome, by url_id."""
    warning_by_id = {}
    for extraction in extractions:
        outcome = outcome_by_id.get(extraction.page.url_id)
        if extraction.warning is not None and outcome is not None and outcome.reason in OWN_ARTICLE_REASONS:
            warning_by_id[extraction.page.url_id] = extraction.warning
    return warning_by_id


def collection_page_ids(extractions: Iterable[PageExtraction]) -> frozenset[int]:
    """Return the url_ids of pages whose article is a collection. They lead to other pages as lists do."""
    return frozenset(
        extraction.page.url_id
        for extraction in extractions
        if isinstance(extraction.result, Article) and extraction.result.page_type == PageType.COLLECTION
    )


def list_evidence(extraction: PageExtraction) -> ListEvidence | None:
    """Return the evidence of a page for its URL pattern; None if the page is neither an article nor a list."""
    if isinstance(extraction.result, Outcome):
        return ListEvidence.LIST if extraction.result.reason is Reason.LIST_PAGE else None
    return ListEvidence.DECLARED_ARTICLE if extraction.is_declared_article else ListEvidence.UNDECLARED_ARTICLE


def article_row_for_role(role: PageRole, stored_row: Row[Any] | None, now: float) -> dict[str, Any]:
    """Return the `articles` row of a page. A visibly unchanged article retains its extraction time."""
    assert role.article is not None  # noqa: S101 (for the type checker)
    row = article_row(role.page_article.url_id, role.page_article.url, role.article, now)
    if stored_row is not None and stored_row.digest == row["digest"]:
        row["extracted_at"] = stored_row.extracted_at
    return row


def has_changed(row: Mapping[str, Any], stored_row: Row[Any] | None, *names: str) -> bool:
    """True if the row is new or differs from `stored_row` in one of the columns `names`."""
    return stored_row is None or any(getattr(stored_row, name) != row[name] for name in names)


def outcome_for_role(role: PageRole, stored_row: Row[Any] | None) -> Outcome:
    """Return the outcome of a page by its role. `stored_row` is its stored article, None for a new one."""
    if role.article is None:
        return role.outcome or Outcome(Reason.UNEXPECTED_ERROR)
    if stored_row is not None and stored_row.digest == role.article.digest:
        return Outcome(Reason.ARTICLE_UNCHANGED)
    suffix = f", joined of {role.page_count} pages" if role.page_count > 1 else ""
    return Outcome(Reason.EXTRACTED, role.article.method + suffix)


def is_outcome_changed(outcome: Outcome, stored_outcome: Row[Any] | None) -> bool:
    """True if the outcome of a page outside the batch differs from the stored outcome."""
    if outcome.reason in (Reason.ARTICLE_UNCHANGED, Reason.EXTRACTED):
        return outcome.reason is Reason.EXTRACTED
    return stored_outcome is None or (stored_outcome.reason, stored_outcome.detail) != (
        outcome.reason,
        outcome.detail[:MAX_DETAIL_CHARS],
    )


def extraction_outcomes(connection: Connection, url_ids: Sequence[int]) -> dict[int, Row[Any]]:
    """Return the stored outcomes of extraction, by url_id."""
    query = select(outcomes).where(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(url_ids))
    return {row.url_id: row for row in connection.execute(query)}


def extraction_input_digests(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Return the digests of the versions that were last extracted, by url_id."""
    stored_outcomes = extraction_outcomes(connection, url_ids)
    return {url_id: stored_outcomes[url_id].input for url_id in stored_outcomes}


def force_refetch(connection: Connection, url_id: int) -> None:
    """Make the next crawl fetch a page unconditionally, if the crawl decides when it is due.

    Used if the WARC record is lost, because its file may never be restored.
    """
    statement = update(urls).where(urls.c.url_id == url_id)
    connection.execute(statement.values(etag="", last_modified="", digest=""))
    connection.execute(statement.where(is_scheduled_by_crawl()).values(DUE_NOW))


def update_url_kind(connection: Connection, url_id: int, reason: Reason) -> None:
    """Set the kind of a URL in the frontier by the extraction outcome. A new hub is due in the next run."""
    is_target = and_(urls.c.url_id == url_id, urls.c.kind != UrlKind.SEED)
    if reason in HUB_REASONS:
        # An article that has no text today does not become a list.
        other_kinds = (UrlKind.HUB,) if reason is Reason.LIST_PAGE else (UrlKind.HUB, UrlKind.ARTICLE)
        is_new_hub = is_target & urls.c.kind.not_in(other_kinds)
        values = {**DUE_NOW, "due_at": func.coalesce(urls.c.visited_at, 0.0)}
        connection.execute(update(urls).where(is_new_hub, is_scheduled_by_crawl()).values(values))
        connection.execute(update(urls).where(is_new_hub).values(kind=UrlKind.HUB, gap=0.0))  # a new interval
    elif reason in ARTICLE_REASONS:
        connection.execute(update(urls).where(is_target).values(kind=UrlKind.ARTICLE))
