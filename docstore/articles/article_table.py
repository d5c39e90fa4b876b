"""From pages to articles: which pages wait for extraction, what extraction made of them, and the articles.

What is kept of an extraction, and how pages, their doubles and near-duplicates hang together, is decided in
docstore/articles/extraction_writer.py.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select, union, update

from docstore.articles.extraction_writer import ExtractionWriter, PageExtraction, PendingPage
from docstore.articles.row_mapping import blocks_from_lists, stored_article_from_row
from docstore.articles.site_templates import MIN_REPEATED_PAGES, SAMPLE_PAGES, learn_pages, load_site_template
from docstore.batches import batched
from docstore.bookkeeping import (
    EXTRACTOR_VERSION_KEY,
    GROUPING_CURSOR_KEY,
    GROUPING_VERSION_KEY,
    TEXT_VERSION_KEY,
    IndexOperation,
    log_index_changes,
    read_meta_int,
    write_meta_int,
)
from docstore.database import Database
from docstore.model import Block, Reason, SiteTemplate, Stage, StoredArticle, WarcPointer
from docstore.near_duplicates.clusters import CopyDetection, missing_leaders, reassign_clusters
from docstore.schema.article_tables import (
    article_parts,
    articles,
    counted_site_pages,
    page_references,
    pattern_members,
    site_page_counts,
)
from docstore.schema.crawl_tables import outcomes, pages, urls
from docstore.warc_archive import WarcArchive, WarcRecordLostError

BATCH_SIZE = 500
REMOVAL_BATCH_SIZE = 100  # pages that are gone, in one transaction
SAVE_ADVISORY_LOCK_ID = 0x53617665
EXACT_COPIES_ONLY = CopyDetection()
DIGEST_BATCH_SIZE = 10_000  # listed at a time


class ArticleTable:
    """`store.articles`."""

    def __init__(self, database: Database, archive: WarcArchive, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._archive = archive
        self._clock = clock

    def pending_count(self) -> int:
        """How many pages wait for extraction."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(PENDING_PAGES_QUERY)) or 0

    def iter_pending(self, first_url_id: int = 1, before_url_id: int | None = None) -> Iterator[PendingPage]:
        """Pages whose kept version was not extracted yet, in order of their ids, read a batch at a time; of those alone
        whose ids are `first_url_id` or more, and less than `before_url_id`.

        Saving while iterating is what is expected; a page is yielded once even if it was not saved.
        """
        last_url_id = first_url_id - 1
        pending_pages = (
            PENDING_PAGES_QUERY
            if before_url_id is None
            else PENDING_PAGES_QUERY.select().where(PENDING_PAGES_QUERY.c.url_id < before_url_id).subquery()
        )
        while True:
            query = (
                select(pending_pages)
                .where(pending_pages.c.url_id > last_url_id)
                .order_by(pending_pages.c.url_id)
                .limit(BATCH_SIZE)
            )
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (pending_page_from_row(row) for row in rows)
            last_url_id = rows[-1].url_id

    def pending_block_numbers(self, block_size: int) -> list[int]:
        """The blocks of so many ids in which pages wait for extraction, by rising numbers: number n has the ids from
        n times `block_size` on."""
        block_number = PENDING_PAGES_QUERY.c.url_id // block_size
        with self._database.read() as connection:
            return sorted(connection.scalars(select(block_number.label("block")).distinct()))

    def read_page_body(self, page: PendingPage) -> bytes:
        """The page's bytes. LostPageError when the archive does not hold them any more."""
        return self._archive.read_body(page.pointer, page.digest)

    def site_template(self, host: str) -> SiteTemplate:
        """What the pages of a host have in common, as far as they were extracted."""
        with self._database.read() as connection:
            return load_site_template(connection, host)

    def template_sample_pages(self) -> list[PendingPage]:
        """Pages to learn from before any of their site is extracted: the first few that wait, of each host that is
        little known and has enough pages for something to repeat.
        """
        with self._database.read() as connection:
            return [pending_page_from_row(row) for row in connection.execute(TEMPLATE_SAMPLE_QUERY)]

    def learn_templates(self, extractions: Sequence[PageExtraction]) -> None:
        """Count what pages teach of their sites, and keep nothing else of them."""
        with self._database.write() as connection:
            serialize_saves(connection)
            learn_pages(
                connection,
                [(extraction.page.url_id, extraction.page.host, extraction.page_traits) for extraction in extractions],
            )

    def save(
        self, extractions: Sequence[PageExtraction], copy_detection: CopyDetection = EXACT_COPIES_ONLY
    ) -> list[Reason]:
        """Keep results, outcomes and change-log entries in one transaction.

        Returns what became of each page, then of those of other batches that are something else because of them. An
        article equal to the one kept before is SAME_ARTICLE and makes no change-log entry. A copy stands behind the
        article that it is a copy of, as `copy_detection` tells.
        """
        with self._database.write() as connection:
            serialize_saves(connection)
            return ExtractionWriter(self._database, connection, self._clock(), copy_detection).save(extractions)

    def resolve_removed_pages(self, copy_detection: CopyDetection = EXACT_COPIES_ONLY) -> list[Reason]:
        """Resolve anew the pages that depended on pages that the crawl found gone; returns what became of them."""
        with self._database.read() as connection:
            removed_page_ids, missing_leader_ids = (
                list(connection.scalars(REMOVED_PAGES_QUERY)),
                missing_leaders(connection),
            )
        reasons = []
        for batch in batched(removed_page_ids, REMOVAL_BATCH_SIZE):
            with self._database.write() as connection:
                reasons += ExtractionWriter(
                    self._database, connection, self._clock(), copy_detection
                ).resolve_after_removal(batch)
        for doc_ids in batched(missing_leader_ids, REMOVAL_BATCH_SIZE):
            with self._database.write() as connection:
                regrouped_ids = reassign_clusters(connection, self._database, [], doc_ids, copy_detection)
                log_index_changes(connection, IndexOperation.UPSERT, regrouped_ids, self._clock())
        return reasons

    def require_extractor_version(self, version: int) -> int:
        """Let every page wait for extraction once more if it was made by an older extractor; returns how many do."""
        with self._database.write() as connection:
            if read_meta_int(connection, EXTRACTOR_VERSION_KEY) >= version:
                return 0
            write_meta_int(self._database, connection, EXTRACTOR_VERSION_KEY, version)
            return mark_all_for_extraction(connection)

    def is_grouping_current(self, version: int) -> bool:
        """Was it decided by these rules, or newer ones, whose copy each article is?"""
        with self._database.read() as connection:
            return read_meta_int(connection, GROUPING_VERSION_KEY) >= version

    def regroup_all(self, version: int, copy_detection: CopyDetection) -> Iterator[int]:
        """Decide anew whose copy each article is, a batch at a time; yields how many were looked at.

        What was begun and broken off goes on where it was.
        """
        while ids := self._regroup_next_batch(copy_detection):
            yield len(ids)
        with self._database.write() as connection:
            write_meta_int(self._database, connection, GROUPING_CURSOR_KEY, 0)
            write_meta_int(self._database, connection, GROUPING_VERSION_KEY, version)

    def _regroup_next_batch(self, copy_detection: CopyDetection) -> list[int]:
        with self._database.write() as connection:
            last_url_id = read_meta_int(connection, GROUPING_CURSOR_KEY)
            query = (
                select(articles.c.url_id)
                .where(articles.c.url_id > last_url_id)
                .order_by(articles.c.url_id)
                .limit(REMOVAL_BATCH_SIZE)
            )
            ids = list(connection.scalars(query))
            regrouped_ids = reassign_clusters(connection, self._database, ids, [], copy_detection)
            log_index_changes(connection, IndexOperation.UPSERT, regrouped_ids, self._clock())
            write_meta_int(self._database, connection, GROUPING_CURSOR_KEY, ids[-1] if ids else last_url_id)
        return ids

    def text_version(self) -> int:
        """A number that grows whenever an article is new or changed."""
        with self._database.read() as connection:
            return read_meta_int(connection, TEXT_VERSION_KEY)

    def load_by_url_ids(self, url_ids: Sequence[int]) -> dict[int, StoredArticle]:
        """The articles among `url_ids`."""
        with self._database.read() as connection:
            rows = connection.execute(STORED_ARTICLES_QUERY.where(articles.c.url_id.in_(url_ids)))
            return {row.url_id: stored_article_from_row(row) for row in rows}

    def iter_all(self) -> Iterator[StoredArticle]:
        """Every article, a batch at a time."""
        last_url_id = 0
        while True:
            query = (
                STORED_ARTICLES_QUERY.where(articles.c.url_id > last_url_id)
                .order_by(articles.c.url_id)
                .limit(BATCH_SIZE)
            )
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (stored_article_from_row(row) for row in rows)
            last_url_id = rows[-1].url_id

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """The url_id of every article, by rising ids, and a digest of what a reader sees of it; a batch at a time."""
        last_url_id = 0
        while True:
            query = select(articles.c.url_id, articles.c.digest).where(articles.c.url_id > last_url_id)
            with self._database.read() as connection:
                rows = connection.execute(query.order_by(articles.c.url_id).limit(DIGEST_BATCH_SIZE)).all()
            if not rows:
                return
            yield from ((row.url_id, row.digest) for row in rows)
            last_url_id = rows[-1].url_id

    def iter_texts(self, url_ids: Sequence[int]) -> Iterator[tuple[int, str, str, tuple[Block, ...]]]:
        """url_id, title, body and blocks of the articles among `url_ids`, by rising ids."""
        columns = (articles.c.url_id, articles.c.title, articles.c.body, articles.c.blocks)
        for batch in batched(sorted(url_ids), BATCH_SIZE):
            query = select(*columns).where(articles.c.url_id.in_(batch)).order_by(articles.c.url_id)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            yield from ((row.url_id, row.title, row.body, blocks_from_lists(json.loads(row.blocks))) for row in rows)

    def iter_plain_texts(self) -> Iterator[tuple[int, str, str]]:
        """url_id, title and body of every article, by rising ids; a batch at a time."""
        last_url_id = 0
        while True:
            query = select(articles.c.url_id, articles.c.title, articles.c.body).where(articles.c.url_id > last_url_id)
            with self._database.read() as connection:
                rows = connection.execute(query.order_by(articles.c.url_id).limit(BATCH_SIZE)).all()
            if not rows:
                return
            yield from ((row.url_id, row.title, row.body) for row in rows)
            last_url_id = rows[-1].url_id

    def count(self) -> int:
        """How many articles there are."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(articles)) or 0

    def reextract_all(self) -> int:
        """Let every page wait for extraction once more (after the method changed); returns how many do."""
        with self._database.write() as connection:
            return mark_all_for_extraction(connection)

    def unknown_doc_ids(self, doc_ids: Sequence[str]) -> list[str]:
        """Those of `doc_ids` that are no article's."""
        with self._database.read() as connection:
            known_doc_ids = set(connection.scalars(select(articles.c.doc_id).where(articles.c.doc_id.in_(doc_ids))))
        return [doc_id for doc_id in doc_ids if doc_id not in known_doc_ids]

    def find_url_ids(self, doc_ids: Sequence[str]) -> list[int]:
        """The url_ids of documents of the index."""
        with self._database.read() as connection:
            return list(connection.scalars(select(articles.c.url_id).where(articles.c.doc_id.in_(doc_ids))))


PENDING_PAGES_QUERY = (
    select(
        pages.c.url_id,
        urls.c.url,
        urls.c.host,
        pages.c.content_type,
        pages.c.digest,
        pages.c.fetched_at,
        pages.c.warc_file,
        pages.c.warc_offset,
        pages.c.warc_length,
    )
    .join(urls, urls.c.url_id == pages.c.url_id)
    .outerjoin(outcomes, and_(outcomes.c.url_id == pages.c.url_id, outcomes.c.stage == Stage.EXTRACT))
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
        .label("place"),
        func.count().over(partition_by=PENDING_PAGES_QUERY.c.host).label("waiting"),
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
        UNSAMPLED_PAGES_QUERY.c.place <= SAMPLE_PAGES,
        COUNTED_PAGES_EXPRESSION < SAMPLE_PAGES,
        COUNTED_PAGES_EXPRESSION + UNSAMPLED_PAGES_QUERY.c.waiting > MIN_REPEATED_PAGES,
    )
    .order_by(UNSAMPLED_PAGES_QUERY.c.url_id)
)
# Pages that are no more, of those that were parts, named others, are counted, or that parts are kept under.
REFERENCED_PAGES_QUERY = union(
    select(article_parts.c.url_id),
    select(article_parts.c.whole_id),
    select(page_references.c.url_id),
    select(pattern_members.c.url_id),
).subquery()
REMOVED_PAGES_QUERY = (
    select(REFERENCED_PAGES_QUERY.c.url_id)
    .outerjoin(pages, pages.c.url_id == REFERENCED_PAGES_QUERY.c.url_id)
    .where(pages.c.url_id.is_(None))
    .order_by(REFERENCED_PAGES_QUERY.c.url_id)
)


def serialize_saves(connection: Connection) -> None:
    """Have those who save articles at the same time wait for each other, as SQLite does anyway: what a site's pages
    have in common, which pages are one article and whose copy an article is, is decided by all that is kept."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(SAVE_ADVISORY_LOCK_ID)))


def mark_all_for_extraction(connection: Connection) -> int:
    """Let every extracted page wait for extraction once more; returns how many there are."""
    is_extraction = outcomes.c.stage == Stage.EXTRACT
    return connection.execute(update(outcomes).where(is_extraction).values(input="")).rowcount


def pending_page_from_row(row: Row[Any]) -> PendingPage:
    """The pending page in a row of WAITING."""
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    return PendingPage(row.url_id, row.url, row.content_type, row.digest, pointer, row.fetched_at, row.host)


__all__ = ["ArticleTable", "PageExtraction", "PendingPage", "WarcRecordLostError"]
