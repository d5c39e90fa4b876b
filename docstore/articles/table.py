"""From pages to articles: which pages wait for extraction, what extraction made of them, and the articles.

What is kept of an extraction, and how pages, their doubles and near-duplicates hang together, is decided in
docstore/articles/extraction_writer.py.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select, union, update

from docstore.archive import Archive, LostPageError
from docstore.articles.extraction_writer import Extraction, ExtractionWriter, PendingPage
from docstore.articles.records import (
    EXTRACTOR_VERSION,
    GROUPED_TO,
    GROUPING_VERSION,
    TEXT_VERSION,
    Op,
    number,
    write_changes,
    write_number,
)
from docstore.articles.rows import blocks_of, stored_of
from docstore.batches import batched
from docstore.database import Database
from docstore.grouping.near_duplicates import Grouping, lost_leaders, regroup
from docstore.grouping.site_templates import MIN_PAGES, SAMPLE_PAGES, knowledge_of, learn
from docstore.model import Block, Reason, SiteKnowledge, Stage, StoredArticle, WarcPointer
from docstore.schema.article_tables import articles, page_kinds, parts, site_pages, sites, ties
from docstore.schema.crawl_tables import outcomes, pages, urls

BATCH = 500
FORGET = 100  # pages that are gone, in one transaction
SAVE_LOCK = 0x53617665
SAME_TEXTS = Grouping()
DIGESTS = 10_000  # listed at a time


class ArticleTable:
    """`store.articles`."""

    def __init__(self, database: Database, archive: Archive, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._archive = archive
        self._clock = clock

    def pending_count(self) -> int:
        """How many pages wait for extraction."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(WAITING)) or 0

    def pending(self, first: int = 1, before: int | None = None) -> Iterator[PendingPage]:
        """Pages whose kept version was not extracted yet, in order of their ids, read a batch at a time; of those alone
        whose ids are `first` or more, and less than `before`.

        Saving while iterating is what is expected; a page is yielded once even if it was not saved.
        """
        last = first - 1
        mine = WAITING if before is None else WAITING.select().where(WAITING.c.url_id < before).subquery()
        while True:
            query = select(mine).where(mine.c.url_id > last).order_by(mine.c.url_id).limit(BATCH)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (pending_of(row) for row in rows)
            last = rows[-1].url_id

    def pending_blocks(self, size: int) -> list[int]:
        """The blocks of so many ids in which pages wait for extraction, by rising numbers: number n has the ids from
        n times `size` on."""
        number = WAITING.c.url_id // size
        with self._database.read() as connection:
            return sorted(connection.scalars(select(number.label("block")).distinct()))

    def read_page(self, page: PendingPage) -> bytes:
        """The page's bytes. LostPageError when the archive does not hold them any more."""
        return self._archive.read(page.pointer, page.digest)

    def site(self, host: str) -> SiteKnowledge:
        """What the pages of a host have in common, as far as they were extracted."""
        with self._database.read() as connection:
            return knowledge_of(connection, host)

    def sample(self) -> list[PendingPage]:
        """Pages to learn from before any of their site is extracted: the first few that wait, of each host that is
        little known and has enough pages for something to repeat.
        """
        with self._database.read() as connection:
            return [pending_of(row) for row in connection.execute(SAMPLE)]

    def learn(self, extractions: Sequence[Extraction]) -> None:
        """Count what pages teach of their sites, and keep nothing else of them."""
        with self._database.write() as connection:
            take_turns(connection)
            learn(connection, [(e.page.url_id, e.page.host, e.learned) for e in extractions])

    def save(self, extractions: Sequence[Extraction], grouping: Grouping = SAME_TEXTS) -> list[Reason]:
        """Keep results, outcomes and change-log entries in one transaction.

        Returns what became of each page, then of those of other batches that are something else because of them. An
        article equal to the one kept before is SAME_ARTICLE and makes no change-log entry. A copy stands behind the
        article that it is a copy of, as `grouping` tells.
        """
        with self._database.write() as connection:
            take_turns(connection)
            return ExtractionWriter(self._database, connection, self._clock(), grouping).save(extractions)

    def forget_gone(self, grouping: Grouping = SAME_TEXTS) -> list[Reason]:
        """Resolve anew the pages that depended on pages that the crawl found gone; returns what became of them."""
        with self._database.read() as connection:
            pages_gone, leaders_gone = list(connection.scalars(GONE)), lost_leaders(connection)
        reasons = []
        for batch in batched(pages_gone, FORGET):
            with self._database.write() as connection:
                reasons += ExtractionWriter(self._database, connection, self._clock(), grouping).forget(batch)
        for doc_ids in batched(leaders_gone, FORGET):
            with self._database.write() as connection:
                moved = regroup(connection, self._database, [], doc_ids, grouping)
                write_changes(connection, Op.UPSERT, moved, self._clock())
        return reasons

    def use_extractor(self, version: int) -> int:
        """Let every page wait for extraction once more if it was made by an older extractor; returns how many do."""
        with self._database.write() as connection:
            if number(connection, EXTRACTOR_VERSION) >= version:
                return 0
            write_number(self._database, connection, EXTRACTOR_VERSION, version)
            return wait_again(connection)

    def is_grouped(self, version: int) -> bool:
        """Was it decided by these rules, or newer ones, whose copy each article is?"""
        with self._database.read() as connection:
            return number(connection, GROUPING_VERSION) >= version

    def group_again(self, version: int, grouping: Grouping) -> Iterator[int]:
        """Decide anew whose copy each article is, a batch at a time; yields how many were looked at.

        What was begun and broken off goes on where it was.
        """
        while ids := self._group_next(grouping):
            yield len(ids)
        with self._database.write() as connection:
            write_number(self._database, connection, GROUPED_TO, 0)
            write_number(self._database, connection, GROUPING_VERSION, version)

    def _group_next(self, grouping: Grouping) -> list[int]:
        with self._database.write() as connection:
            last = number(connection, GROUPED_TO)
            query = select(articles.c.url_id).where(articles.c.url_id > last).order_by(articles.c.url_id).limit(FORGET)
            ids = list(connection.scalars(query))
            moved = regroup(connection, self._database, ids, [], grouping)
            write_changes(connection, Op.UPSERT, moved, self._clock())
            write_number(self._database, connection, GROUPED_TO, ids[-1] if ids else last)
        return ids

    def text_version(self) -> int:
        """A number that grows whenever an article is new or changed."""
        with self._database.read() as connection:
            return number(connection, TEXT_VERSION)

    def get(self, url_ids: Sequence[int]) -> dict[int, StoredArticle]:
        """The articles among `url_ids`."""
        with self._database.read() as connection:
            rows = connection.execute(STORED.where(articles.c.url_id.in_(url_ids)))
            return {row.url_id: stored_of(row) for row in rows}

    def all(self) -> Iterator[StoredArticle]:
        """Every article, a batch at a time."""
        last = 0
        while True:
            query = STORED.where(articles.c.url_id > last).order_by(articles.c.url_id).limit(BATCH)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (stored_of(row) for row in rows)
            last = rows[-1].url_id

    def digests(self) -> Iterator[tuple[int, str]]:
        """The url_id of every article, by rising ids, and a digest of what a reader sees of it; a batch at a time."""
        last = 0
        while True:
            query = select(articles.c.url_id, articles.c.digest).where(articles.c.url_id > last)
            with self._database.read() as connection:
                rows = connection.execute(query.order_by(articles.c.url_id).limit(DIGESTS)).all()
            if not rows:
                return
            yield from ((row.url_id, row.digest) for row in rows)
            last = rows[-1].url_id

    def texts(self, url_ids: Sequence[int]) -> Iterator[tuple[int, str, str, tuple[Block, ...]]]:
        """url_id, title, body and blocks of the articles among `url_ids`, by rising ids."""
        columns = (articles.c.url_id, articles.c.title, articles.c.body, articles.c.blocks)
        for batch in batched(sorted(url_ids), BATCH):
            query = select(*columns).where(articles.c.url_id.in_(batch)).order_by(articles.c.url_id)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            yield from ((row.url_id, row.title, row.body, blocks_of(json.loads(row.blocks))) for row in rows)

    def plain_texts(self) -> Iterator[tuple[int, str, str]]:
        """url_id, title and body of every article, by rising ids; a batch at a time."""
        last = 0
        while True:
            query = select(articles.c.url_id, articles.c.title, articles.c.body).where(articles.c.url_id > last)
            with self._database.read() as connection:
                rows = connection.execute(query.order_by(articles.c.url_id).limit(BATCH)).all()
            if not rows:
                return
            yield from ((row.url_id, row.title, row.body) for row in rows)
            last = rows[-1].url_id

    def count(self) -> int:
        """How many articles there are."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(articles)) or 0

    def again(self) -> int:
        """Let every page wait for extraction once more (after the method changed); returns how many do."""
        with self._database.write() as connection:
            return wait_again(connection)

    def unknown(self, doc_ids: Sequence[str]) -> list[str]:
        """Those of `doc_ids` that are no article's."""
        with self._database.read() as connection:
            known = set(connection.scalars(select(articles.c.doc_id).where(articles.c.doc_id.in_(doc_ids))))
        return [doc_id for doc_id in doc_ids if doc_id not in known]

    def url_ids(self, doc_ids: Sequence[str]) -> list[int]:
        """The url_ids of documents of the index."""
        with self._database.read() as connection:
            return list(connection.scalars(select(articles.c.url_id).where(articles.c.doc_id.in_(doc_ids))))


WAITING = (
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
STORED = (
    select(articles, urls.c.url, urls.c.host, pages.c.fetched_at)
    .join(urls, urls.c.url_id == articles.c.url_id)
    .outerjoin(pages, pages.c.url_id == articles.c.url_id)
)


NEW = (
    select(
        WAITING,
        func.row_number().over(partition_by=WAITING.c.host, order_by=WAITING.c.url_id).label("place"),
        func.count().over(partition_by=WAITING.c.host).label("waiting"),
    )
    .outerjoin(site_pages, site_pages.c.url_id == WAITING.c.url_id)
    .where(site_pages.c.url_id.is_(None))
    .subquery()
)
COUNTED = func.coalesce(sites.c.pages, 0)
SAMPLE = (
    select(NEW)
    .outerjoin(sites, sites.c.host == NEW.c.host)
    .where(NEW.c.place <= SAMPLE_PAGES, COUNTED < SAMPLE_PAGES, COUNTED + NEW.c.waiting > MIN_PAGES)
    .order_by(NEW.c.url_id)
)
# Pages that are no more, of those that were parts, named others, are counted, or that parts are kept under.
NAMED = union(
    select(parts.c.url_id), select(parts.c.whole_id), select(ties.c.url_id), select(page_kinds.c.url_id)
).subquery()
GONE = (
    select(NAMED.c.url_id)
    .outerjoin(pages, pages.c.url_id == NAMED.c.url_id)
    .where(pages.c.url_id.is_(None))
    .order_by(NAMED.c.url_id)
)


def take_turns(connection: Connection) -> None:
    """Have those who save articles at the same time wait for each other, as SQLite does anyway: what a site's pages
    have in common, which pages are one article and whose copy an article is, is decided by all that is kept."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(SAVE_LOCK)))


def wait_again(connection: Connection) -> int:
    """Let every extracted page wait for extraction once more; returns how many there are."""
    mine = outcomes.c.stage == Stage.EXTRACT
    return connection.execute(update(outcomes).where(mine).values(input="")).rowcount


def pending_of(row: Row[Any]) -> PendingPage:
    """The pending page in a row of WAITING."""
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    return PendingPage(row.url_id, row.url, row.content_type, row.digest, pointer, row.fetched_at, row.host)


__all__ = ["ArticleTable", "Extraction", "LostPageError", "PendingPage"]
