"""The change log between the store and the index.

The indexer takes a batch, writes it to Solr, then says what it did: at least once, in order, safe to repeat. A row
that arrives while a batch is under way has a higher number and is simply done in the next batch. Of several rows of one
document the last alone is handed out: what is written is its present state, for all of them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, and_, delete, exists, func, insert, literal, or_, select

from docstore.articles.records import Op, OutcomeRow, write_outcomes
from docstore.batches import batched
from docstore.database import Database
from docstore.model import Outcome, Reason, Stage
from docstore.schema.article_tables import articles, changes, indexed
from docstore.schema.crawl_tables import outcomes, urls

LINES_AT_ONCE = 100  # in one statement


@dataclass(frozen=True)
class Change:
    """One line of the change log."""

    seq: int
    url_id: int
    url: str
    op: Op
    at: float


@dataclass(frozen=True)
class Indexed:
    """What the index now holds of a URL (`digest` "" and `lexicon_version` 0 after a deletion or refusal)."""

    url_id: int
    outcome: Outcome
    digest: str = ""
    lexicon_version: int = 0


class ChangeLog:
    """`store.changes`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def pending(self, limit: int, after: int = 0) -> list[Change]:
        """The oldest `limit` lines that are not done, of those with a higher number than `after`; of each URL's lines
        the last alone."""
        later = changes.alias()
        is_overtaken = exists().where(later.c.url_id == changes.c.url_id, later.c.seq > changes.c.seq)
        query = (
            select(changes, urls.c.url)
            .join(urls, urls.c.url_id == changes.c.url_id)
            .where(changes.c.seq > after, ~is_overtaken)
            .order_by(changes.c.seq)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [change_of(row) for row in connection.execute(query)]

    def count(self) -> int:
        """How many documents wait to be written to the index: its lag."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count(changes.c.url_id.distinct()))) or 0

    def done(self, batch: Sequence[Change], results: Sequence[Indexed]) -> None:
        """Solr has acknowledged `results`: keep them and strike the lines of the batch, with what they overtook, in one
        transaction."""
        now = self._clock()
        held = [r for r in results if r.outcome.reason is Reason.INDEXED]
        lost = [r.url_id for r in results if r.outcome.reason is not Reason.INDEXED]
        rows = [
            {"url_id": r.url_id, "digest": r.digest, "lexicon_version": r.lexicon_version, "indexed_at": now}
            for r in held
        ]
        with self._database.write() as connection:
            self._database.upsert(connection, indexed, rows, update=("digest", "lexicon_version", "indexed_at"))
            connection.execute(delete(indexed).where(indexed.c.url_id.in_(lost)))
            write_outcomes(
                self._database,
                connection,
                [OutcomeRow(r.url_id, Stage.INDEX, r.outcome, now, r.digest) for r in results],
            )
            struck = [and_(changes.c.url_id == change.url_id, changes.c.seq <= change.seq) for change in batch]
            for some in batched(struck, LINES_AT_ONCE):
                connection.execute(delete(changes).where(or_(*some)))

    def enqueue_all(self) -> int:
        """Put every article into the change log (a new collection has to be filled); returns how many."""
        source = select(articles.c.url_id, literal(Op.UPSERT.value), literal(self._clock()))
        with self._database.write() as connection:
            connection.execute(delete(indexed))
            connection.execute(delete(outcomes).where(outcomes.c.stage == Stage.INDEX))
            statement = insert(changes).from_select(["url_id", "op", "at"], source)
            return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount

    def indexed_count(self) -> int:
        """How many documents the index holds, by our own account."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(indexed)) or 0


def change_of(row: Row[Any]) -> Change:
    """The change in a row of the log."""
    return Change(row.seq, row.url_id, row.url, Op(row.op), row.at)
