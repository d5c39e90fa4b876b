"""Vectors of articles: which articles wait for a model of meaning, and what it made of them.

A vector belongs to a digest, not to a URL: articles that a reader sees alike share theirs, and an article that changes
waits anew. What is written puts the articles into the change log, so the index gets it. The vectors themselves are
bytes here (text/embedding/contract.py says of what).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, FromClause, and_, delete, exists, func, or_, select, true

from docstore.articles.records import Op, OutcomeRow, write_changes, write_outcomes
from docstore.batches import batched
from docstore.database import Database
from docstore.model import Outcome, Reason, Stage
from docstore.schema.article_tables import articles, vectors
from docstore.schema.base import meta

BATCH = 200
SERVED = "served_models"
WHOLE = 0  # the number of the passage that stands for the article


@dataclass(frozen=True)
class PassageVector:
    """The `vector` of the characters `start` to `end` of an article's body. Passage `WHOLE` is its title and the
    beginning of its body, up to `end`; those that follow have the numbers from 1 on, in their order. A vector of no
    bytes: there is nothing to compare.
    """

    passage: int
    start: int
    end: int
    vector: bytes


@dataclass(frozen=True)
class PendingText:
    """An article without a vector, by its digest."""

    url_id: int
    digest: str
    title: str
    body: str


@dataclass(frozen=True)
class Embedded:
    """What a model made of a text: its vectors, or none and an outcome that says why."""

    digest: str
    vectors: tuple[PassageVector, ...]
    outcome: Outcome


class VectorTable:
    """`store.vectors`. `model` is the id of a model, `languages` those that it understands, none: all of them."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def pending_count(self, model: str, languages: Sequence[str]) -> int:
        """How many articles wait for a vector of this model."""
        query = select(func.count()).select_from(articles).where(_understood(languages), _without(model))
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def pending(
        self, model: str, languages: Sequence[str], first: int = 1, before: int | None = None
    ) -> Iterator[PendingText]:
        """The articles that wait, in order of their ids, each digest once, read a batch at a time; with `before` those
        alone whose ids are `first` or more, and less than it, and that stand for their digest (`pending_blocks`).

        Saving while iterating is what is expected; an article is yielded once even if it was not saved.
        """
        last = first - 1
        columns = (articles.c.url_id, articles.c.digest, articles.c.title, articles.c.body)
        query = select(*columns).where(_understood(languages), _without(model)).order_by(articles.c.url_id)
        if before is not None:
            query = query.where(articles.c.url_id < before, _stands_for_its_digest(languages))
        while True:
            with self._database.read() as connection:
                rows = connection.execute(query.where(articles.c.url_id > last).limit(BATCH)).all()
            if not rows:
                return
            once = {row.digest: row for row in reversed(rows)}
            yield from (PendingText(*row) for row in sorted(once.values(), key=lambda row: row.url_id))
            last = rows[-1].url_id

    def pending_blocks(self, model: str, languages: Sequence[str], size: int) -> list[int]:
        """The blocks of so many ids in which articles wait, by rising numbers: number n has the ids from n times `size`
        on. Of articles with one digest the one with the lowest id counts, so no two blocks have the same to do."""
        waits = _understood(languages), _without(model), _stands_for_its_digest(languages)
        query = select((articles.c.url_id // size).label("block")).where(*waits).distinct()
        with self._database.read() as connection:
            return sorted(connection.scalars(query))

    def save(self, model: str, results: Sequence[Embedded]) -> list[Reason]:
        """Keep vectors, outcomes and change-log entries in one transaction; returns what became of each article.

        What was kept of the same digest before is replaced. Where there is no vector the article waits on.
        """
        by_digest = {one.digest: one for one in results}
        now = self._clock()
        with self._database.write() as connection:
            query = select(articles.c.url_id, articles.c.digest).where(articles.c.digest.in_(list(by_digest)))
            held = [(row.url_id, by_digest[row.digest]) for row in connection.execute(query)]
            kept = [one for one in by_digest.values() if one.vectors]
            mine = and_(vectors.c.model == model, vectors.c.digest.in_([one.digest for one in kept]))
            connection.execute(delete(vectors).where(mine))
            if rows := [row for one in kept for row in _rows(model, one)]:
                connection.execute(vectors.insert(), rows)
            outcomes = [OutcomeRow(url_id, Stage.EMBED, one.outcome, now, one.digest) for url_id, one in held]
            write_outcomes(self._database, connection, outcomes)
            write_changes(connection, Op.UPSERT, [url_id for url_id, one in held if one.vectors], now)
        return [one.outcome.reason for _, one in held]

    def whole(self, digests: Iterable[str]) -> dict[str, dict[str, bytes]]:
        """The vectors that stand for articles with these digests: digest -> model -> vector; nothing empty."""
        found: dict[str, dict[str, bytes]] = {}
        query = select(vectors.c.digest, vectors.c.model, vectors.c.vector).where(vectors.c.passage == WHOLE)
        with self._database.read() as connection:
            for batch in batched(sorted(set(digests)), BATCH):
                for row in connection.execute(query.where(vectors.c.digest.in_(batch))):
                    if row.vector:
                        found.setdefault(row.digest, {})[row.model] = row.vector
        return found

    def passages(self, model: str, digests: Iterable[str]) -> dict[str, list[PassageVector]]:
        """All vectors that a model made of articles with these digests, `WHOLE` first."""
        found: dict[str, list[PassageVector]] = {}
        columns = (vectors.c.digest, vectors.c.passage, vectors.c.start, vectors.c.end, vectors.c.vector)
        query = select(*columns).where(vectors.c.model == model).order_by(vectors.c.digest, vectors.c.passage)
        with self._database.read() as connection:
            for batch in batched(sorted(set(digests)), BATCH):
                for row in connection.execute(query.where(vectors.c.digest.in_(batch))):
                    found.setdefault(row.digest, []).append(PassageVector(*row[1:]))
        return found

    def models(self) -> list[str]:
        """The models that have made vectors."""
        with self._database.read() as connection:
            return list(connection.scalars(select(vectors.c.model).distinct()))

    def counts(self) -> Mapping[str, int]:
        """How many texts each model has made vectors of."""
        query = select(vectors.c.model, func.count()).where(vectors.c.passage == WHOLE).group_by(vectors.c.model)
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def served(self) -> str:
        """What was last said to `serve`; "" before."""
        with self._database.read() as connection:
            return str(connection.scalar(select(meta.c.value).where(meta.c.key == SERVED)) or "")

    def serve(self, models: str) -> None:
        """Let searches use these models from now on (a text that only its writer reads)."""
        with self._database.write() as connection:
            self._database.upsert(connection, meta, [{"key": SERVED, "value": models}], update=("value",))

    def purge(self, models: Sequence[str] | None = None) -> int:
        """Forget the vectors of texts that no article has any more and, with `models`, those of all other models.
        Returns how many vectors that were."""
        gone: ColumnElement[bool] = ~exists().where(articles.c.digest == vectors.c.digest)
        if models is not None:
            gone = or_(gone, vectors.c.model.not_in(models))
        with self._database.write() as connection:
            return connection.execute(delete(vectors).where(gone)).rowcount


def _without(model: str) -> ColumnElement[bool]:
    """The articles of which this model has made nothing."""
    mine = and_(vectors.c.digest == articles.c.digest, vectors.c.model == model, vectors.c.passage == WHOLE)
    return ~exists().where(mine)


def _understood(languages: Sequence[str], of: FromClause = articles) -> ColumnElement[bool]:
    """The articles in one of these languages, of whatever region."""
    if not languages:
        return true()
    regions = [of.c.language.like(f"{language}-%") for language in languages]
    return or_(of.c.language.in_(languages), *regions)


def _stands_for_its_digest(languages: Sequence[str]) -> ColumnElement[bool]:
    """The article with the lowest id among those of its digest that the model understands."""
    other = articles.alias()
    earlier = and_(other.c.digest == articles.c.digest, other.c.url_id < articles.c.url_id)
    return ~exists().where(earlier, _understood(languages, other))


def _rows(model: str, one: Embedded) -> Iterator[dict[str, object]]:
    for part in one.vectors:
        values = {"passage": part.passage, "start": part.start, "end": part.end, "vector": part.vector}
        yield {"digest": one.digest, "model": model, **values}
