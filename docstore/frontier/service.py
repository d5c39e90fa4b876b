"""What an operator sees of the frontier and does to it: sites, counts, URLs to add, block or ask again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select, update

from docstore.database import Database
from docstore.frontier.deepening import deepen
from docstore.model import Kind, Reason, Stage, WarcPointer
from docstore.schema.crawl_tables import outcomes, pages, urls

_GOOD = (Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC, Reason.DUPLICATE)
_ROWS = 10_000


@dataclass(frozen=True)
class SiteHealth:
    """One host: URLs known, never asked, due now, with a page kept; last visits that ended badly, and when the
    last one was (None: never)."""

    host: str
    known: int
    new: int
    due: int
    kept: int
    bad: int
    last_visit: float | None


@dataclass(frozen=True)
class FrontierRow:
    """One URL: its place, when it is due (None: never), and how its last visit ended ("" if there was none)."""

    url: str
    host: str
    depth: int
    kind: str
    priority: float
    due_at: float | None
    visited_at: float | None
    attempts: int
    reason: str
    detail: str


class FrontierService:
    """Questions and orders of an operator. A *part* is a URL, or one that ends in `*`: all that begin so."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sites(self, now: float) -> list[SiteHealth]:
        """Every host, those with most URLs first."""
        bad = and_(outcomes.c.reason.is_not(None), outcomes.c.reason.not_in(_GOOD))
        columns = (
            urls.c.host,
            func.count(),
            count_if(urls.c.visited_at.is_(None)),
            count_if(urls.c.due_at <= now),
            func.count(pages.c.url_id),
            count_if(bad),
            func.max(urls.c.visited_at),
        )
        query = (
            select(*columns)
            .select_from(urls.outerjoin(pages, pages.c.url_id == urls.c.url_id).outerjoin(outcomes, _CRAWLED))
            .group_by(urls.c.host)
            .order_by(func.count().desc(), urls.c.host)
        )
        with self._database.read() as connection:
            return [SiteHealth(*row) for row in connection.execute(query)]

    def rows(self, part: str = "*", limit: int | None = None) -> Iterator[FrontierRow]:
        """The URLs of a part in the order in which they were found, some at a time (memory stays bounded)."""
        last, left = 0, limit
        while left is None or left > 0:
            size = _ROWS if left is None else min(left, _ROWS)
            query = (
                select(urls, outcomes.c.reason, outcomes.c.detail)
                .select_from(urls.outerjoin(outcomes, _CRAWLED))
                .where(in_part(part), urls.c.url_id > last)
                .order_by(urls.c.url_id)
                .limit(size)
            )
            with self._database.read() as connection:
                found = connection.execute(query).all()
            yield from (row_of(row) for row in found)
            if len(found) < size:
                return
            last, left = found[-1].url_id, None if left is None else left - size

    def kept(self, part: str = "*") -> Iterator[WarcPointer]:
        """Where the pages kept of a part stand, in the order in which their URLs were found."""
        last = 0
        while True:
            query = (
                select(pages.c.url_id, pages.c.warc_file, pages.c.warc_offset, pages.c.warc_length)
                .join(urls, urls.c.url_id == pages.c.url_id)
                .where(in_part(part), urls.c.url_id > last)
                .order_by(urls.c.url_id)
                .limit(_ROWS)
            )
            with self._database.read() as connection:
                found = connection.execute(query).all()
            yield from (WarcPointer(row.warc_file, row.warc_offset, row.warc_length) for row in found)
            if len(found) < _ROWS:
                return
            last = found[-1].url_id

    def deepen(self, depth: int) -> int:
        """Have the deepest pages read anew where links may now be followed further than before; how many."""
        return deepen(self._database, depth)

    def block(self, part: str) -> int:
        """Never ask the known URLs of a part again (until `requeue`); how many there are."""
        return self._set_due(part, None)

    def requeue(self, part: str) -> int:
        """Ask the known URLs of a part in the next run, as if they had not failed; how many there are."""
        return self._set_due(part, 0.0)

    def _set_due(self, part: str, due: float | None) -> int:
        change = update(urls).where(in_part(part)).values(due_at=due, attempts=0)
        with self._database.write() as connection:
            return connection.execute(change).rowcount


_CRAWLED = and_(outcomes.c.url_id == urls.c.url_id, outcomes.c.stage == Stage.CRAWL)


def count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """How many rows meet a condition."""
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def in_part(part: str) -> ColumnElement[bool]:
    """The URLs of a part."""
    if part == "*":
        return urls.c.url_id > 0
    if not part.endswith("*"):
        return urls.c.url == part
    return or_(urls.c.url.startswith(part[:-1], autoescape=True))


def row_of(row: Any) -> FrontierRow:
    """The row that a question for URLs gave."""
    return FrontierRow(
        row.url,
        row.host,
        row.depth,
        str(Kind(row.kind)),
        row.priority,
        row.due_at,
        row.visited_at,
        row.attempts,
        row.reason or "",
        row.detail or "",
    )
