"""From pages to articles: which pages wait for extraction, what extraction made of them, and the articles."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, case, delete, func, or_, select, update

from docstore.archive import Archive, LostPageError
from docstore.database import Database
from docstore.model import Article, Kind, Outcome, Reason, Stage, StoredArticle, WarcPointer, document_id
from docstore.records import (
    TEXT_VERSION,
    Op,
    OutcomeRow,
    number,
    storable,
    write_changes,
    write_number,
    write_outcomes,
)
from docstore.tables import articles, outcomes, pages, urls

BATCH = 500
# Pages whose worth lies in their links: the crawl asks them again in every run.
HUB_REASONS = frozenset({Reason.LIST_PAGE, Reason.NO_BODY})


@dataclass(frozen=True)
class PendingPage:
    """A page that waits for extraction: where its bytes are and what is known of them (times in epoch seconds)."""

    url_id: int
    url: str
    content_type: str
    digest: str
    pointer: WarcPointer
    fetched_at: float = 0.0


@dataclass(frozen=True)
class Extraction:
    """What extraction made of one page: an article, or an outcome that says why there is none."""

    page: PendingPage
    result: Article | Outcome


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

    def pending(self) -> Iterator[PendingPage]:
        """Pages whose kept version was not extracted yet, in order of their ids, read a batch at a time.

        Saving while iterating is what is expected; a page is yielded once even if it was not saved.
        """
        last = 0
        while True:
            query = select(WAITING).where(WAITING.c.url_id > last).order_by(WAITING.c.url_id).limit(BATCH)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            yield from (pending_of(row) for row in rows)
            last = rows[-1].url_id

    def read_page(self, page: PendingPage) -> bytes:
        """The page's bytes. LostPageError when the archive does not hold them any more."""
        return self._archive.read(page.pointer, page.digest)

    def save(self, extractions: Sequence[Extraction]) -> list[Reason]:
        """Keep results, outcomes and change-log entries in one transaction; returns what became of each.

        An article equal to the one kept before is SAME_ARTICLE and makes no change-log entry.
        """
        now = self._clock()
        with self._database.write() as connection:
            reasons = [self._save_one(connection, extraction, now) for extraction in extractions]
            if Reason.EXTRACTED in reasons:
                write_number(self._database, connection, TEXT_VERSION, number(connection, TEXT_VERSION) + 1)
        return reasons

    def text_version(self) -> int:
        """A number that grows whenever an article is new or changed."""
        with self._database.read() as connection:
            return number(connection, TEXT_VERSION)

    def _save_one(self, connection: Connection, extraction: Extraction, now: float) -> Reason:
        page, result = extraction.page, extraction.result
        if isinstance(result, Article):
            outcome = self._save_article(connection, page, result, now)
        else:
            outcome = result
            if outcome.reason is not Reason.LOST_PAGE:  # the old article is better than none
                drop_article(connection, page.url_id, now)
        set_kind(connection, page.url_id, outcome.reason)
        seen = page.digest
        if outcome.reason is Reason.LOST_PAGE:  # it waits on, for a new fetch or for its file to be put back
            ask_again(connection, page.url_id)
            seen = ""
        row = OutcomeRow(page.url_id, Stage.EXTRACT, outcome, now, seen)
        write_outcomes(self._database, connection, [row])
        return outcome.reason

    def _save_article(self, connection: Connection, page: PendingPage, article: Article, now: float) -> Outcome:
        row = article_row(page.url_id, page.url, article, now)
        kept = connection.scalar(select(articles.c.digest).where(articles.c.url_id == page.url_id))
        if kept == row["digest"]:
            return Outcome(Reason.SAME_ARTICLE)
        self._database.upsert(
            connection, articles, [row], update=[c.name for c in articles.columns if not c.primary_key]
        )
        write_changes(connection, Op.UPSERT, [page.url_id], now)
        return Outcome(Reason.EXTRACTED, article.method)

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

    def count(self) -> int:
        """How many articles there are."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(articles)) or 0

    def again(self) -> int:
        """Let every page wait for extraction once more (after the method changed); returns how many do."""
        with self._database.write() as connection:
            return connection.execute(
                update(outcomes).where(outcomes.c.stage == Stage.EXTRACT).values(input="")
            ).rowcount

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


def drop_article(connection: Connection, url_id: int, now: float) -> None:
    """The page is no article (any more): what was kept of it leaves the store and the index."""
    if connection.execute(delete(articles).where(articles.c.url_id == url_id)).rowcount:
        write_changes(connection, Op.DELETE, [url_id], now)


def ask_again(connection: Connection, url_id: int) -> None:
    """Let the next crawl fetch a page whole, without a condition, unless it is never to be asked again."""
    due = case((urls.c.due_at.is_(None), None), else_=0.0)
    values = {"etag": "", "last_modified": "", "digest": "", "due_at": due}
    connection.execute(update(urls).where(urls.c.url_id == url_id).values(values))


def set_kind(connection: Connection, url_id: int, reason: Reason) -> None:
    """Tell the crawl what the page is. A hub is due again in the next run, whatever was set for it before."""
    mine = and_(urls.c.url_id == url_id, urls.c.kind != Kind.SEED)
    if reason in HUB_REASONS:
        due = func.coalesce(urls.c.visited_at, 0.0)
        connection.execute(update(urls).where(mine, urls.c.kind != Kind.HUB).values(kind=Kind.HUB, due_at=due))
    elif reason in (Reason.EXTRACTED, Reason.SAME_ARTICLE):
        connection.execute(update(urls).where(mine).values(kind=Kind.ARTICLE))


def article_row(url_id: int, url: str, article: Article, now: float) -> dict[str, Any]:
    """The `articles` row of an article."""
    return {
        "url_id": url_id,
        "doc_id": document_id(url),
        "title": storable(article.title),
        "body": storable(article.body),
        "published": article.published,
        "date_source": article.date_source,
        "language": article.language,
        "method": article.method,
        "digest": article.digest,
        "extracted_at": now,
    }


def pending_of(row: Row[Any]) -> PendingPage:
    """The pending page in a row of WAITING."""
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    return PendingPage(row.url_id, row.url, row.content_type, row.digest, pointer, row.fetched_at)


def stored_of(row: Row[Any]) -> StoredArticle:
    """The stored article in a row of STORED."""
    article = Article(
        url=row.url,
        title=row.title,
        body=row.body,
        published=row.published,
        date_source=row.date_source,
        language=row.language,
        method=row.method,
    )
    return StoredArticle(row.url_id, row.doc_id, row.host, article, row.fetched_at or 0.0)


__all__ = ["ArticleTable", "Extraction", "LostPageError", "PendingPage"]
