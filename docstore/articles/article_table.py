"""Pages pending extraction, and the extracted articles.

docstore/articles/extraction_writer.py saves extraction results and resolves page roles and near-duplicates.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, or_, select, union, update

from docstore.articles.extraction_writer import ExtractionWriter, PageExtraction
from docstore.articles.recognized_pages import load_recognized_pages
from docstore.articles.row_mapping import blocks_from_json, stored_article_from_row
from docstore.articles.site_templates import (
    MIN_REPEATED_PAGES,
    MIN_TEMPLATE_PAGES,
    SAMPLE_PAGES,
    learn_pages,
    load_site_template,
)
from docstore.articles.source_pages import ARCHIVED_PAGES_QUERY, ArchivedPage, archived_page_from_row
from docstore.bookkeeping import (
    EXTRACTOR_VERSION_KEY,
    GROUPING_CURSOR_KEY,
    GROUPING_VERSION_KEY,
    TEXT_VERSION_KEY,
    log_index_changes,
    read_cursor,
    read_meta_int,
    write_cursor,
    write_meta,
)
from docstore.database import Database
from docstore.near_duplicates.clusters import CopyDetection, followers_without_leader, reassign_clusters
from docstore.schema.article_tables import (
    article_parts,
    articles,
    counted_site_pages,
    page_references,
    pattern_members,
    site_page_counts,
)
from docstore.schema.crawl_tables import outcomes, pages, urls
from docstore.takedowns import delete_pages, load_takedowns, scheme_variants, write_takedowns
from docstore.warc_archive import WarcArchive
from domain.article import Article, Block, SiteTemplate, StoredArticle
from domain.batches import batched
from domain.index_change import IndexOperation
from domain.message import Message
from domain.outcome import Outcome, Reason, Stage
from domain.pagination import can_reference
from domain.recognized_page import RecognizedPage

BATCH_SIZE = 500
REMOVAL_BATCH_SIZE = 100  # removed pages per transaction
SAVE_ADVISORY_LOCK_ID = 0x53617665
EXACT_COPIES_ONLY = CopyDetection()
DIGEST_BATCH_SIZE = 10_000
ISO_DAY_CHARS = 10


class ArticleLead(NamedTuple):
    """Site, day of publication, title and first characters of an article."""

    host: str
    published: date
    title: str
    text: str


class ArticleTable:
    """Load and save articles, and list pages pending extraction (`store.articles`)."""

    def __init__(self, database: Database, archive: WarcArchive, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._archive = archive
        self._clock = clock

    def pending_count(self) -> int:
        """Return the number of pages pending extraction."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(PENDING_PAGES_QUERY)) or 0

    def iter_pending(self, first_url_id: int = 1, before_url_id: int | None = None) -> Iterator[ArchivedPage]:
        """Iterate over the pages whose stored version was not extracted yet, ordered by id. Reads in batches.

        Callers may save while iterating. Each page is yielded once, saved or not.

        Args:
            first_url_id: Lowest id to yield.
            before_url_id: Yield only ids below this one; None for no limit.
        """
        query = select(PENDING_PAGES_QUERY)
        if before_url_id is not None:
            query = query.where(PENDING_PAGES_QUERY.c.url_id < before_url_id)
        batches = self._database.iter_batches(query, PENDING_PAGES_QUERY.c.url_id, BATCH_SIZE, first_url_id - 1)
        return (archived_page_from_row(row) for rows in batches for row in rows)

    def pending_block_numbers(self, block_size: int) -> list[int]:
        """Return the blocks of ids with pages pending extraction, in ascending order.

        Block n contains the ids from n * `block_size` to (n + 1) * `block_size` - 1.
        """
        block_number = PENDING_PAGES_QUERY.c.url_id // block_size
        with self._database.read() as connection:
            return sorted(connection.scalars(select(block_number.label("block")).distinct()))

    def read_page_body(self, page: ArchivedPage) -> bytes:
        """Return the bytes of a page.

        Raises:
            WarcRecordLostError: The archive can no longer read them.
        """
        return self._archive.read_body(page.pointer, page.digest)

    def site_template(self, host: str) -> SiteTemplate:
        """Return the template of a host, learned from its extracted pages."""
        with self._database.read() as connection:
            return load_site_template(connection, host)

    def load_recognized_pages(self, url_id: int, digest: str) -> tuple[RecognizedPage, ...]:
        """Return the pages of a version of a document that OCR has read, ordered by number."""
        with self._database.read() as connection:
            return load_recognized_pages(connection, url_id, digest)

    def template_sample_pages(self) -> list[ArchivedPage]:
        """Return pages from which to learn site templates before the first extraction of a site.

        These are the first pending pages of each host whose template is based on few pages, if the host has enough
        pages for repetition.
        """
        with self._database.read() as connection:
            return [archived_page_from_row(row) for row in connection.execute(TEMPLATE_SAMPLE_QUERY)]

    def learn_templates(self, extractions: Sequence[PageExtraction]) -> None:
        """Count the page traits of extractions for the site templates, and save nothing else of them."""
        with self._database.write() as connection:
            serialize_saves(connection)
            learn_pages(
                connection,
                [(extraction.page.url_id, extraction.page.host, extraction.page_traits) for extraction in extractions],
            )

    def save(
        self, extractions: Sequence[PageExtraction], copy_detection: CopyDetection = EXACT_COPIES_ONLY
    ) -> list[Reason]:
        """Save extraction results, outcomes and change-log entries in one transaction.

        An article with the same digest as its stored version gets the outcome ARTICLE_UNCHANGED and no change-log
        entry. A page that declares a page as canonical that is taken down is taken down too.

        Args:
            extractions: Results of a batch of pages.
            copy_detection: Rules that decide which articles are copies.

        Returns:
            One Reason per page of the batch, then one per page of earlier batches whose role changed.
        """
        with self._database.write() as connection:
            serialize_saves(connection)
            extractions = exclude_taken_down_pages(self._database, connection, extractions, self._clock())
            return ExtractionWriter(self._database, connection, self._clock(), copy_detection).save(extractions)

    def resolve_removed_pages(self, copy_detection: CopyDetection = EXACT_COPIES_ONLY) -> list[Reason]:
        """Resolve the roles of pages that depended on pages removed by the crawl.

        Returns one Reason per changed page.
        """
        with self._database.read() as connection:
            removed_page_ids = list(connection.scalars(REMOVED_PAGES_QUERY))
            follower_ids = followers_without_leader(connection)
        reasons = []
        for batch in batched(removed_page_ids, REMOVAL_BATCH_SIZE):
            with self._database.write() as connection:
                reasons += ExtractionWriter(
                    self._database, connection, self._clock(), copy_detection
                ).resolve_after_removal(batch)
        for batch in batched(follower_ids, REMOVAL_BATCH_SIZE):
            with self._database.write() as connection:
                stored_ids = connection.scalars(select(articles.c.url_id).where(articles.c.url_id.in_(batch))).all()
                regrouped_ids = reassign_clusters(connection, self._database, stored_ids, [], copy_detection)
                log_index_changes(connection, IndexOperation.UPSERT, regrouped_ids, self._clock())
        return reasons

    def require_extractor_version(self, version: int) -> int:
        """Mark every page for extraction if an older extractor processed it.

        Returns the number of pages; 0 if the stored extractor version is `version` or newer.
        """
        with self._database.write() as connection:
            if read_meta_int(connection, EXTRACTOR_VERSION_KEY) >= version:
                return 0
            write_meta(self._database, connection, EXTRACTOR_VERSION_KEY, version)
            return mark_all_for_extraction(connection)

    def is_grouping_current(self, version: int) -> bool:
        """True if rules of this version or a newer one assigned the near-duplicate clusters."""
        with self._database.read() as connection:
            return read_meta_int(connection, GROUPING_VERSION_KEY) >= version

    def regroup_all(self, version: int, copy_detection: CopyDetection) -> Iterator[int]:
        """Assign all articles to near-duplicate clusters again, in batches. Yields the number of articles per batch.

        Resumes from the stored cursor after an interruption, unless the cursor belongs to another version.
        """
        while ids := self._regroup_next_batch(str(version), copy_detection):
            yield len(ids)
        with self._database.write() as connection:
            write_cursor(self._database, connection, GROUPING_CURSOR_KEY, "", 0)
            write_meta(self._database, connection, GROUPING_VERSION_KEY, version)

    def _regroup_next_batch(self, version: str, copy_detection: CopyDetection) -> list[int]:
        with self._database.write() as connection:
            last_url_id = read_cursor(connection, GROUPING_CURSOR_KEY, version)
            query = (
                select(articles.c.url_id)
                .where(articles.c.url_id > last_url_id)
                .order_by(articles.c.url_id)
                .limit(REMOVAL_BATCH_SIZE)
            )
            ids = list(connection.scalars(query))
            regrouped_ids = reassign_clusters(connection, self._database, ids, [], copy_detection)
            log_index_changes(connection, IndexOperation.UPSERT, regrouped_ids, self._clock())
            write_cursor(self._database, connection, GROUPING_CURSOR_KEY, version, ids[-1] if ids else last_url_id)
        return ids

    def text_version(self) -> int:
        """Return the counter that increases whenever an article is added or changed."""
        with self._database.read() as connection:
            return read_meta_int(connection, TEXT_VERSION_KEY)

    def load_by_url_ids(self, url_ids: Sequence[int]) -> dict[int, StoredArticle]:
        """Return the stored articles with these ids, by url_id."""
        with self._database.read() as connection:
            rows = connection.execute(STORED_ARTICLES_QUERY.where(articles.c.url_id.in_(url_ids)))
            return {row.url_id: stored_article_from_row(row) for row in rows}

    def iter_all(self) -> Iterator[StoredArticle]:
        """Iterate over all articles, ordered by url_id. Reads in batches."""
        batches = self._database.iter_batches(STORED_ARTICLES_QUERY, articles.c.url_id, BATCH_SIZE)
        return (stored_article_from_row(row) for rows in batches for row in rows)

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """Iterate over (url_id, digest of the visible text) of all articles, ordered by url_id. Reads in batches."""
        query = select(articles.c.url_id, articles.c.digest)
        batches = self._database.iter_batches(query, articles.c.url_id, DIGEST_BATCH_SIZE)
        return ((row.url_id, row.digest) for rows in batches for row in rows)

    def iter_ids_extracted_since(self, since: float) -> Iterator[int]:
        """Iterate over the url_ids of the articles extracted at or after `since` (epoch seconds), ascending."""
        query = select(articles.c.url_id).where(articles.c.extracted_at >= since)
        batches = self._database.iter_batches(query, articles.c.url_id, DIGEST_BATCH_SIZE)
        return (row.url_id for rows in batches for row in rows)

    def iter_texts(self, url_ids: Sequence[int]) -> Iterator[tuple[int, str, str, tuple[Block, ...]]]:
        """Iterate over (url_id, title, body, blocks) of the articles with these ids, ordered by url_id.

        Reads in batches.
        """
        columns = (articles.c.url_id, articles.c.title, articles.c.body, articles.c.blocks)
        for batch in batched(sorted(url_ids), BATCH_SIZE):
            query = select(*columns).where(articles.c.url_id.in_(batch)).order_by(articles.c.url_id)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            yield from ((row.url_id, row.title, row.body, blocks_from_json(row.blocks, row.body)) for row in rows)

    def iter_plain_texts(self, url_ids: Sequence[int] | None = None) -> Iterator[tuple[int, str, str]]:
        """Iterate over (url_id, title, body) of the articles with these ids, of all if None, ordered by url_id.

        Reads in batches.
        """
        query = select(articles.c.url_id, articles.c.title, articles.c.body)
        if url_ids is None:
            batches = self._database.iter_batches(query, articles.c.url_id, BATCH_SIZE)
            yield from ((row.url_id, row.title, row.body) for rows in batches for row in rows)
            return
        for batch in batched(sorted(url_ids), BATCH_SIZE):
            with self._database.read() as connection:
                rows = connection.execute(query.where(articles.c.url_id.in_(batch)).order_by(articles.c.url_id)).all()
            yield from ((row.url_id, row.title, row.body) for row in rows)

    def list_leads(self, first_day: str, last_day: str, lead_chars: int, limit: int) -> list[ArticleLead]:
        """Return the newest articles that are no duplicates and whose day of publication is known.

        Args:
            first_day: Earliest day, ISO date.
            last_day: Latest day, ISO date.
            lead_chars: Characters of the body to return.
            limit: Maximum number of articles.
        """
        # No BETWEEN: PostgreSQL's grammar allows no COLLATE, which texts have, before its AND.
        is_dated = (articles.c.published >= first_day) & (articles.c.published <= last_day)
        has_day = func.length(articles.c.published) == ISO_DAY_CHARS
        query = (
            select(urls.c.host, articles.c.published, articles.c.title, articles.c.body)
            .join(urls, urls.c.url_id == articles.c.url_id)
            .where(is_dated, has_day, articles.c.duplicate_of == "")
            .order_by(articles.c.published.desc(), articles.c.url_id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [
                ArticleLead(row.host, date.fromisoformat(row.published), row.title, row.body[:lead_chars])
                for row in connection.execute(query)
            ]

    def count(self) -> int:
        """Return the number of articles."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(articles)) or 0

    def list_authors(self) -> list[str]:
        """Return the distinct values of the field for the names of authors."""
        with self._database.read() as connection:
            return list(connection.scalars(select(articles.c.author).distinct()))

    def count_by_language(self) -> dict[str, int]:
        """Return the number of articles by language tag, such as `zh`; reads all articles."""
        with self._database.read() as connection:
            query = select(articles.c.language, func.count().label("size")).group_by(articles.c.language)
            return {row.language: row.size for row in connection.execute(query)}

    def reextract_all(self) -> int:
        """Mark every page for extraction again. Returns the number of pages."""
        with self._database.write() as connection:
            return mark_all_for_extraction(connection)

    def unknown_doc_ids(self, doc_ids: Sequence[str]) -> list[str]:
        """Return the elements of `doc_ids` that do not belong to an article."""
        with self._database.read() as connection:
            known_doc_ids = set(connection.scalars(select(articles.c.doc_id).where(articles.c.doc_id.in_(doc_ids))))
        return [doc_id for doc_id in doc_ids if doc_id not in known_doc_ids]

    def find_url_ids(self, doc_ids: Sequence[str]) -> list[int]:
        """Return the url_ids of the articles with these document ids."""
        with self._database.read() as connection:
            return list(connection.scalars(select(articles.c.url_id).where(articles.c.doc_id.in_(doc_ids))))


PENDING_PAGES_QUERY = (
    ARCHIVED_PAGES_QUERY.outerjoin(
        outcomes, and_(outcomes.c.url_id == pages.c.url_id, outcomes.c.stage == Stage.EXTRACT)
    )
    .where(or_(outcomes.c.input.is_(None), outcomes.c.input != pages.c.digest))
    .subquery()
)
STORED_ARTICLES_QUERY = (
    select(articles, urls.c.url, urls.c.host, pages.c.fetched_at)
    .join(urls, urls.c.url_id == articles.c.url_id)
    .outerjoin(pages, pages.c.url_id == articles.c.url_id)
)
UNSAMPLED_PAGES_QUERY = (
    select(
        PENDING_PAGES_QUERY,
        func.row_number()
        .over(partition_by=PENDING_PAGES_QUERY.c.host, order_by=PENDING_PAGES_QUERY.c.url_id)
        .label("position"),
        func.count().over(partition_by=PENDING_PAGES_QUERY.c.host).label("pending_pages"),
    )
    .outerjoin(counted_site_pages, counted_site_pages.c.url_id == PENDING_PAGES_QUERY.c.url_id)
    .where(counted_site_pages.c.url_id.is_(None))
    .subquery()
)
COUNTED_PAGES_EXPRESSION = func.coalesce(site_page_counts.c.pages, 0)
TEMPLATE_SAMPLE_QUERY = (
    select(UNSAMPLED_PAGES_QUERY)
    .outerjoin(site_page_counts, site_page_counts.c.host == UNSAMPLED_PAGES_QUERY.c.host)
    .where(
        UNSAMPLED_PAGES_QUERY.c.position <= SAMPLE_PAGES,
        COUNTED_PAGES_EXPRESSION < MIN_TEMPLATE_PAGES,
        COUNTED_PAGES_EXPRESSION + UNSAMPLED_PAGES_QUERY.c.pending_pages > MIN_REPEATED_PAGES,
    )
    .order_by(UNSAMPLED_PAGES_QUERY.c.url_id)
)
# Removed pages that other tables still reference: as parts, as main pages, by page references, or as pattern members.
# A removal deletes the outcome of the extraction too. Without its page alone, an article stays until the next visit.
REFERENCED_PAGES_QUERY = union(
    select(article_parts.c.url_id),
    select(article_parts.c.whole_id),
    select(page_references.c.url_id),
    select(pattern_members.c.url_id),
).subquery()
REMOVED_PAGES_QUERY = (
    select(REFERENCED_PAGES_QUERY.c.url_id)
    .outerjoin(pages, pages.c.url_id == REFERENCED_PAGES_QUERY.c.url_id)
    .outerjoin(outcomes, and_(outcomes.c.url_id == REFERENCED_PAGES_QUERY.c.url_id, outcomes.c.stage == Stage.EXTRACT))
    .where(pages.c.url_id.is_(None), outcomes.c.url_id.is_(None))
    .order_by(REFERENCED_PAGES_QUERY.c.url_id)
)


def serialize_saves(connection: Connection) -> None:
    """Serialize concurrent saves until the transaction ends.

    Only PostgreSQL needs the lock; SQLite has a single writer.

    Site templates, page roles and near-duplicate clusters depend on all stored articles.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(SAVE_ADVISORY_LOCK_ID)))


def exclude_taken_down_pages(
    database: Database, connection: Connection, extractions: Sequence[PageExtraction], now: float
) -> Sequence[PageExtraction]:
    """Replace the articles of pages that are taken down by outcomes, and delete the pages.

    A page whose canonical URL is taken down joins that takedown. A page whose text is below the linked headline of
    a page that is taken down becomes a list. `now` is epoch seconds.
    """
    own_urls = {
        extraction.page.url_id: (extraction.page.url, extraction.page.final_url, *canonical_variants(extraction))
        for extraction in extractions
    }
    teased_urls = {extraction.page.url_id: teased_variants(extraction) for extraction in extractions}
    all_urls = list(chain.from_iterable((*own_urls.values(), *teased_urls.values())))
    takedown_by_url = {takedown.url: takedown for takedown in load_takedowns(connection, all_urls)}
    joining, results = [], []
    for extraction in extractions:
        matches = [takedown_by_url[url] for url in own_urls[extraction.page.url_id] if url in takedown_by_url]
        if matches:
            joining.append(replace(matches[0], url=extraction.page.url))
            delete_pages(database, connection, {extraction.page.url_id: extraction.page.url}, now)
            extraction = PageExtraction(extraction.page, Outcome(Reason.TAKEN_DOWN))
        elif url := next((url for url in teased_urls[extraction.page.url_id] if url in takedown_by_url), ""):
            message = Message("Its text is that of {url}, which is taken down", url=url)
            outcome = Outcome(Reason.LIST_PAGE, message)
            extraction = replace(extraction, result=outcome)
        results.append(extraction)
    write_takedowns(database, connection, joining)
    return results


def canonical_variants(extraction: PageExtraction) -> tuple[str, ...]:
    """Return the canonical URL that an article declares for another page of its site, with both schemes, or ()."""
    url = extraction.result.canonical_url if isinstance(extraction.result, Article) else ""
    return scheme_variants(url) if url and can_reference(extraction.page.url, url) else ()


def teased_variants(extraction: PageExtraction) -> tuple[str, ...]:
    """Return the URL to which the headline above an article links, with both schemes, or ().

    A page with its own headline above that one may be an article.
    """
    teaser = extraction.teaser
    is_possible_list = isinstance(extraction.result, Article) and teaser and not teaser.is_below_own_headline
    return scheme_variants(teaser.url) if teaser and is_possible_list else ()


def mark_all_for_extraction(connection: Connection) -> int:
    """Mark every extracted page for extraction again. Returns the number of pages."""
    is_extraction = outcomes.c.stage == Stage.EXTRACT
    return connection.execute(update(outcomes).where(is_extraction).values(input="")).rowcount
