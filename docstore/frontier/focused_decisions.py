"""What a focused crawl thought of pages and links. Its state can be made of these rows again at each start.

Guidance   all that one judged page led to      crawler -> kept with its visit, in the same transaction
Judged     a page as it was judged              -> crawler (at start), operator
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, update

from docstore.articles.extraction_writer import PendingPage
from docstore.articles.forgetting import forget_page
from docstore.articles.records import OutcomeRow, storable, write_outcomes
from docstore.database import Database
from docstore.model import Outcome, Reason, Stage, WarcPointer
from docstore.schema.crawl_tables import judged, left_out, pages, urls

_ROWS = 200  # with their words, in memory at once
_SCORES_AT_ONCE = 10_000  # rows without


@dataclass(frozen=True)
class RejectedLink:
    """A link that is not followed, and why."""

    url: str
    anchor: str
    reason: str


@dataclass(frozen=True)
class PageDecision:
    """What a focused crawl makes of a page. `words` is what it read, packed; `seq` the place in the order of judging.

    `priorities` are those of URLs found before, as they are now; `left_out` links that are not followed.
    """

    seq: int
    strategy: str
    topic: str
    score: float
    kept: bool
    words: bytes
    priorities: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[RejectedLink, ...] = ()


@dataclass(frozen=True)
class StoredDecision:
    """A page as it was judged. `words` is what was read, packed."""

    url: str
    seq: int
    strategy: str
    topic: str
    score: float
    kept: bool
    words: bytes


@dataclass(frozen=True)
class StoredScore:
    """The same without what was read."""

    url: str
    seq: int
    score: float


@dataclass(frozen=True)
class Sample:
    """Some of the judged pages: each that is so many places after the last one, and these URLs."""

    every: int = 1
    always: frozenset[str] = frozenset()

    @property
    def condition(self) -> ColumnElement[bool]:
        """Of rows of `judged` with their URLs."""
        return (judged.c.seq % self.every == 0) | urls.c.url.in_(self.always)


WHOLE = Sample()


@dataclass(frozen=True)
class NewVerdict:
    """What is thought of a page after it was judged."""

    kept: bool
    score: float


@dataclass(frozen=True)
class Revised:
    """What came of new verdicts. `dropped` are pages that are not kept any more; `wanted` the URLs of those that would
    be kept and that the archive does not have."""

    dropped: int = 0
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Harvest:
    """Pages of a host that a strategy judged, and how many it kept. `score` is the mean of those kept: the precision
    to be expected, where scores are probabilities."""

    host: str
    strategy: str
    fetched: int
    kept: int
    score: float = 0.0

    @property
    def rate(self) -> float:
        """The part that was kept, 0 to 1."""
        return self.kept / self.fetched if self.fetched else 0.0


class DecisionTable:
    """`store.judgements`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def all(self, since: int = 0, sample: Sample = WHOLE) -> Iterator[StoredDecision]:
        """The judged pages of a sample in the order of judging, from a place on; some at a time, so that memory stays
        bounded."""
        yield from map(_judged_of, self._pages(_JUDGED, since, sample.condition, _ROWS))

    def scores(self, since: int, sample: Sample) -> Iterator[StoredScore]:
        """The same of all that are not in the sample."""
        rows = self._pages(_SCORES, since, ~sample.condition, _SCORES_AT_ONCE)
        return (StoredScore(row.url, row.seq, row.score) for row in rows)

    def _pages(self, rows: Select[Any], since: int, condition: ColumnElement[bool], most: int) -> Iterator[Any]:
        last = (since, -1)
        while True:
            later = (judged.c.seq > last[0]) | ((judged.c.seq == last[0]) & (judged.c.url_id > last[1]))
            query = rows.where(later, condition).order_by(judged.c.seq, judged.c.url_id).limit(most)
            with self._database.read() as connection:
                found = connection.execute(query).all()
            yield from found
            if len(found) < most:
                return
            last = (found[-1].seq, found[-1].url_id)

    def count(self, before: int | None = None) -> int:
        """How many pages were judged; only those before a place in the order, if it is given."""
        query = select(func.count()).select_from(judged)
        with self._database.read() as connection:
            return connection.scalar(query if before is None else query.where(judged.c.seq < before)) or 0

    def unread(self, most: int) -> list[PendingPage]:
        """Pages that are kept and that no focused crawl has judged, the newest `most`, the oldest of them first."""
        query = (
            select(pages, urls.c.url, urls.c.host)
            .join(urls, urls.c.url_id == pages.c.url_id)
            .outerjoin(judged, judged.c.url_id == pages.c.url_id)
            .where(judged.c.url_id.is_(None))
            .order_by(pages.c.fetched_at.desc(), pages.c.url_id.desc())
            .limit(most)
        )
        with self._database.read() as connection:
            return [_pending_of(row) for row in connection.execute(query)][::-1]

    def record(self, given: Sequence[tuple[int, PageDecision]]) -> None:
        """Keep what was thought of pages of the archive: (url_id, guidance) of each, in order."""
        at = self._clock()
        with self._database.write() as connection:
            write_guidance(self._database, connection, [(url_id, one, at) for url_id, one in given])

    def find(self, url: str) -> StoredDecision | None:
        """The judgement of a URL."""
        with self._database.read() as connection:
            row = connection.execute(_JUDGED.where(urls.c.url == url)).first()
        return _judged_of(row) if row else None

    def left_out(self, url: str) -> tuple[RejectedLink, str] | None:
        """Why a link was not followed, and the URL of the page that it was last seen on."""
        query = (
            select(left_out, urls.c.url.label("parent"))
            .outerjoin(urls, urls.c.url_id == left_out.c.parent_id)
            .where(left_out.c.url == url)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return (RejectedLink(row.url, row.anchor, row.reason), row.parent or "") if row else None

    def harvest(self) -> list[Harvest]:
        """What each strategy kept of each host's pages, the hosts with most pages first."""
        query = (
            select(
                *(urls.c.host, judged.c.strategy, func.count(), func.sum(judged.c.kept)),
                func.sum(judged.c.score * judged.c.kept),
            )
            .join(urls, urls.c.url_id == judged.c.url_id)
            .group_by(urls.c.host, judged.c.strategy)
            .order_by(func.count().desc(), urls.c.host, judged.c.strategy)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [
            Harvest(host, name, count, int(kept), score / kept if kept else 0.0)
            for host, name, count, kept, score in rows
        ]

    def expected(self, topic: str, strategy: str) -> tuple[int, float, float]:
        """The pages kept for a topic, the sum of their scores, and that of all pages judged for it."""
        query = select(
            func.coalesce(func.sum(judged.c.kept), 0),
            func.coalesce(func.sum(judged.c.score * judged.c.kept), 0.0),
            func.coalesce(func.sum(judged.c.score), 0.0),
        ).where(judged.c.topic == topic, judged.c.strategy == strategy)
        with self._database.read() as connection:
            kept, right, there = connection.execute(query).one()
        return int(kept), float(right), float(there)

    def revise(self, verdicts: Mapping[str, NewVerdict], strategy: str) -> Revised:
        """Take new verdicts on pages that `strategy` fetched: those that are not kept any more leave the store and the
        index. Batch by batch, so that it may be stopped anywhere and done again."""
        dropped, last = 0, -1
        wanted: list[str] = []
        while True:
            query = _STANDING.where(judged.c.url_id > last, judged.c.strategy == strategy).limit(_ROWS * 10)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return Revised(dropped, tuple(wanted))
            changed = [(row, verdicts[row.url]) for row in rows if row.url in verdicts and _differs(row, verdicts)]
            if changed:
                with self._database.write() as connection:
                    connection.execute(_REVISED, [_revised_row(row, one) for row, one in changed])
                    gone = [row for row, one in changed if not one.kept and row.digest]
                    self._drop(connection, gone, strategy)
                dropped += len(gone)
            wanted += [row.url for row, one in changed if one.kept and not row.kept and not row.digest]
            last = rows[-1].url_id

    def _drop(self, connection: Connection, rows: Sequence[Any], strategy: str) -> None:
        at = self._clock()
        for row in rows:
            forget_page(self._database, connection, row.url_id, at)
        said = Outcome(Reason.OFF_TOPIC, f"{strategy} has thought again")
        write_outcomes(self._database, connection, [OutcomeRow(row.url_id, Stage.CRAWL, said, at) for row in rows])

    def reprioritise(self, priorities: Mapping[str, float]) -> None:
        """Set the priorities of URLs that were not fetched yet."""
        if priorities:
            with self._database.write() as connection:
                _write_priorities(connection, priorities)


def write_guidance(
    database: Database, connection: Connection, given: Sequence[tuple[int, PageDecision, float]]
) -> None:
    """Keep what was thought of pages: (url_id, guidance, time) of each, in order. Their links are in the table."""
    database.upsert(connection, judged, [_judged_row(url_id, one) for url_id, one, _ in given], update=_RENEWED)
    priorities: dict[str, float] = {}
    for _, one, _ in given:
        priorities.update(one.priorities)
    _write_priorities(connection, priorities)
    rows = {link.url: _left_out_row(link, url_id, at) for url_id, one, at in given for link in one.left_out}
    database.upsert(connection, left_out, list(rows.values()), update=("parent_id", "anchor", "reason", "at"))


def _differs(row: Any, verdicts: Mapping[str, NewVerdict]) -> bool:
    one = verdicts[row.url]
    return one.kept != bool(row.kept) or abs(one.score - row.score) > _SAME_SCORE


def _revised_row(row: Any, one: NewVerdict) -> dict[str, Any]:
    return {"key": row.url_id, "new_score": one.score, "new_kept": int(one.kept)}


def _write_priorities(connection: Connection, priorities: Mapping[str, float]) -> None:
    if priorities:
        connection.execute(_PRIORITY, [{"address": url, "new": value} for url, value in priorities.items()])


def _judged_row(url_id: int, one: PageDecision) -> dict[str, Any]:
    return {
        "url_id": url_id,
        "seq": one.seq,
        "strategy": one.strategy,
        "topic": one.topic,
        "score": one.score,
        "kept": int(one.kept),
        "words": one.words,
    }


def _left_out_row(link: RejectedLink, parent_id: int, at: float) -> dict[str, Any]:
    return {
        "url": link.url,
        "parent_id": parent_id,
        "anchor": storable(link.anchor)[:300],
        "reason": storable(link.reason)[:300],
        "at": at,
    }


def _pending_of(row: Any) -> PendingPage:
    pointer = WarcPointer(row.warc_file, row.warc_offset, row.warc_length)
    return PendingPage(row.url_id, row.url, row.content_type, row.digest, pointer, row.fetched_at, row.host)


def _judged_of(row: Any) -> StoredDecision:
    return StoredDecision(row.url, row.seq, row.strategy, row.topic, row.score, bool(row.kept), row.words)


_RENEWED = ("strategy", "topic", "score", "kept", "words")  # a page that is read again keeps its place in the order
_JUDGED = select(judged, urls.c.url).join(urls, urls.c.url_id == judged.c.url_id)
_SCORES = select(judged.c.seq, judged.c.url_id, judged.c.score, urls.c.url).join(urls, urls.c.url_id == judged.c.url_id)
_SAME_SCORE = 0.005
_STANDING = (
    select(judged.c.url_id, judged.c.score, judged.c.kept, urls.c.url, urls.c.digest)
    .join(urls, urls.c.url_id == judged.c.url_id)
    .order_by(judged.c.url_id)
)
_REVISED = (
    update(judged)
    .where(judged.c.url_id == bindparam("key"))
    .values(score=bindparam("new_score"), kept=bindparam("new_kept"))
)
_PRIORITY = (
    update(urls)
    .where(urls.c.url == bindparam("address"), urls.c.visited_at.is_(None))
    .values(priority=bindparam("new"))
)
