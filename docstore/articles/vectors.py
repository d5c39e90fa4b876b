"""Vectors of articles: which articles wait for a model of meaning, and what it made of them.

A vector belongs to a digest, not to a URL: articles that a reader sees alike share theirs, and an article that changes
waits anew. What is written puts the articles into the change log, so the index gets it. The vectors themselves are
bytes here (text/embedding/embedder.py says of what).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, FromClause, and_, delete, exists, func, or_, select, true

from docstore.batches import batched
from docstore.bookkeeping import IndexOperation, OutcomeRow, log_index_changes, write_outcomes
from docstore.database import Database
from docstore.model import Outcome, Reason, Stage
from docstore.schema.article_tables import articles, vectors
from docstore.schema.base import store_meta

BATCH_SIZE = 200
SERVED_MODELS_KEY = "served_models"
WHOLE_ARTICLE = 0  # the number of the passage that stands for the article


@dataclass(frozen=True)
class PassageVector:
    """The `vector` of the characters `start_offset` to `end_offset` of an article's body. Passage `WHOLE_ARTICLE` is its title and the
    beginning of its body, up to `end_offset`; those that follow have the numbers from 1 on, in their order. A vector of no
    bytes: there is nothing to compare.
    """

    passage_number: int
    start_offset: int
    end_offset: int
    vector: bytes


@dataclass(frozen=True)
class PendingText:
    """An article without a vector, by its digest."""

    url_id: int
    digest: str
    title: str
    body: str


@dataclass(frozen=True)
class EmbeddingResult:
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
        query = select(func.count()).select_from(articles).where(_is_in_languages(languages), _has_no_vector(model))
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def iter_pending(
        self, model: str, languages: Sequence[str], first_url_id: int = 1, before_url_id: int | None = None
    ) -> Iterator[PendingText]:
        """The articles that wait, in order of their ids, each digest once, read a batch at a time; with `before_url_id` those
        alone whose ids are `first_url_id` or more, and less than it, and that stand for their digest (`pending_block_numbers`).

        Saving while iterating is what is expected; an article is yielded once even if it was not saved.
        """
        last_url_id = first_url_id - 1
        columns = (articles.c.url_id, articles.c.digest, articles.c.title, articles.c.body)
        query = select(*columns).where(_is_in_languages(languages), _has_no_vector(model)).order_by(articles.c.url_id)
        if before_url_id is not None:
            query = query.where(articles.c.url_id < before_url_id, _is_first_with_digest(languages))
        while True:
            with self._database.read() as connection:
                rows = connection.execute(query.where(articles.c.url_id > last_url_id).limit(BATCH_SIZE)).all()
            if not rows:
                return
            first_by_digest = {row.digest: row for row in reversed(rows)}
            yield from (PendingText(*row) for row in sorted(first_by_digest.values(), key=lambda row: row.url_id))
            last_url_id = rows[-1].url_id

    def pending_block_numbers(self, model: str, languages: Sequence[str], block_size: int) -> list[int]:
        """The blocks of so many ids in which articles wait, by rising numbers: number n has the ids from n times `block_size`
        on. Of articles with one digest the one with the lowest id counts, so no two blocks have the same to do."""
        is_pending = _is_in_languages(languages), _has_no_vector(model), _is_first_with_digest(languages)
        query = select((articles.c.url_id // block_size).label("block")).where(*is_pending).distinct()
        with self._database.read() as connection:
            return sorted(connection.scalars(query))

    def save(self, model: str, results: Sequence[EmbeddingResult]) -> list[Reason]:
        """Keep vectors, outcomes and change-log entries in one transaction; returns what became of each article.

        What was kept of the same digest before is replaced. Where there is no vector the article waits on.
        """
        by_digest = {result.digest: result for result in results}
        now = self._clock()
        with self._database.write() as connection:
            query = select(articles.c.url_id, articles.c.digest).where(articles.c.digest.in_(list(by_digest)))
            article_results = [(row.url_id, by_digest[row.digest]) for row in connection.execute(query)]
            with_vectors = [result for result in by_digest.values() if result.vectors]
            is_replaced = and_(
                vectors.c.model == model, vectors.c.digest.in_([result.digest for result in with_vectors])
            )
            connection.execute(delete(vectors).where(is_replaced))
            if rows := [row for result in with_vectors for row in _vector_rows(model, result)]:
                connection.execute(vectors.insert(), rows)
            outcomes = [
                OutcomeRow(url_id, Stage.EMBED, result.outcome, now, result.digest)
                for url_id, result in article_results
            ]
            write_outcomes(self._database, connection, outcomes)
            log_index_changes(
                connection, IndexOperation.UPSERT, [url_id for url_id, result in article_results if result.vectors], now
            )
        return [result.outcome.reason for _, result in article_results]

    def article_vectors(self, digests: Iterable[str]) -> dict[str, dict[str, bytes]]:
        """The vectors that stand for articles with these digests: digest -> model -> vector; nothing empty."""
        vectors_by_digest: dict[str, dict[str, bytes]] = {}
        query = select(vectors.c.digest, vectors.c.model, vectors.c.vector).where(vectors.c.passage == WHOLE_ARTICLE)
        with self._database.read() as connection:
            for batch in batched(sorted(set(digests)), BATCH_SIZE):
                for row in connection.execute(query.where(vectors.c.digest.in_(batch))):
                    if row.vector:
                        vectors_by_digest.setdefault(row.digest, {})[row.model] = row.vector
        return vectors_by_digest

    def passage_vectors(self, model: str, digests: Iterable[str]) -> dict[str, list[PassageVector]]:
        """All vectors that a model made of articles with these digests, `WHOLE_ARTICLE` first."""
        vectors_by_digest: dict[str, list[PassageVector]] = {}
        columns = (vectors.c.digest, vectors.c.passage, vectors.c.start, vectors.c.end, vectors.c.vector)
        query = select(*columns).where(vectors.c.model == model).order_by(vectors.c.digest, vectors.c.passage)
        with self._database.read() as connection:
            for batch in batched(sorted(set(digests)), BATCH_SIZE):
                for row in connection.execute(query.where(vectors.c.digest.in_(batch))):
                    vectors_by_digest.setdefault(row.digest, []).append(PassageVector(*row[1:]))
        return vectors_by_digest

    def model_ids(self) -> list[str]:
        """The models that have made vectors."""
        with self._database.read() as connection:
            return list(connection.scalars(select(vectors.c.model).distinct()))

    def text_counts(self) -> Mapping[str, int]:
        """How many texts each model has made vectors of."""
        query = (
            select(vectors.c.model, func.count()).where(vectors.c.passage == WHOLE_ARTICLE).group_by(vectors.c.model)
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def served_models(self) -> str:
        """What was last said to `set_served_models`; "" before."""
        with self._database.read() as connection:
            return str(connection.scalar(select(store_meta.c.value).where(store_meta.c.key == SERVED_MODELS_KEY)) or "")

    def set_served_models(self, models: str) -> None:
        """Let searches use these models from now on (a text that only its writer reads)."""
        with self._database.write() as connection:
            self._database.upsert(
                connection, store_meta, [{"key": SERVED_MODELS_KEY, "value": models}], update_columns=("value",)
            )

    def purge(self, models: Sequence[str] | None = None) -> int:
        """Forget the vectors of texts that no article has any more and, with `models`, those of all other models.
        Returns how many vectors that were."""
        is_orphaned: ColumnElement[bool] = ~exists().where(articles.c.digest == vectors.c.digest)
        if models is not None:
            is_orphaned = or_(is_orphaned, vectors.c.model.not_in(models))
        with self._database.write() as connection:
            return connection.execute(delete(vectors).where(is_orphaned)).rowcount


def _has_no_vector(model: str) -> ColumnElement[bool]:
    """The articles of which this model has made nothing."""
    is_article_vector = and_(
        vectors.c.digest == articles.c.digest, vectors.c.model == model, vectors.c.passage == WHOLE_ARTICLE
    )
    return ~exists().where(is_article_vector)


def _is_in_languages(languages: Sequence[str], source: FromClause = articles) -> ColumnElement[bool]:
    """The articles in one of these languages, of whatever region."""
    if not languages:
        return true()
    regions = [source.c.language.like(f"{language}-%") for language in languages]
    return or_(source.c.language.in_(languages), *regions)


def _is_first_with_digest(languages: Sequence[str]) -> ColumnElement[bool]:
    """The article with the lowest id among those of its digest that the model understands."""
    other = articles.alias()
    earlier = and_(other.c.digest == articles.c.digest, other.c.url_id < articles.c.url_id)
    return ~exists().where(earlier, _is_in_languages(languages, other))


def _vector_rows(model: str, result: EmbeddingResult) -> Iterator[dict[str, object]]:
    for passage_vector in result.vectors:
        values = {
            "passage": passage_vector.passage_number,
            "start": passage_vector.start_offset,
            "end": passage_vector.end_offset,
            "vector": passage_vector.vector,
        }
        yield {"digest": result.digest, "model": model, **values}
