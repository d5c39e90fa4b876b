"""Embedding vectors of articles, and the articles that are pending embedding.

A vector belongs to an article digest, not to a URL. Articles with the same visible text share their vectors, and a
changed article is pending again. The vectors are opaque bytes here; text/embedding/embedder.py defines their format.

Each text is embedded in two parts, see `EmbeddingPart`. The index contains the vectors of the first part only, so only
saving them logs the articles as changed for the index.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from sqlalchemy import ColumnElement, FromClause, and_, delete, exists, func, or_, select, true

from docstore.bookkeeping import OutcomeRow, log_index_changes, read_meta, write_meta, write_outcomes
from docstore.database import StorePart
from docstore.schema.article_tables import articles, vectors
from domain.batches import batched
from domain.index_change import IndexOperation
from domain.outcome import Outcome, Reason, Stage

BATCH_SIZE = 200
SERVED_MODELS_KEY = "served_models"
ARTICLE_PASSAGE_NUMBER = 0  # the passage that represents the article


class EmbeddingPart(IntEnum):
    """What is embedded of a text; the value is the number of the first passage of this part."""

    ARTICLE = ARTICLE_PASSAGE_NUMBER  # title and beginning of the body: makes the article findable
    PASSAGES = 1  # passages of the rest of the body: choose the excerpt of a semantic match


@dataclass(frozen=True)
class PassageVector:
    """The vector of a passage of an article.

    Attributes:
        passage_number: `ARTICLE_PASSAGE_NUMBER` for the title and the beginning of the body; other passages count from
            1.
        start_offset: First character of the passage in the body.
        end_offset: End of the passage in the body, exclusive.
        vector: The vector; empty if there is nothing to embed.
    """

    passage_number: int
    start_offset: int
    end_offset: int
    vector: bytes


@dataclass(frozen=True)
class PendingText:
    """A text that is pending embedding, with the digest and the lowest url_id of its articles."""

    url_id: int
    digest: str
    title: str
    body: str


@dataclass(frozen=True)
class EmbeddingResult:
    """Result of embedding a text: its vectors, or no vectors and the outcome with the reason."""

    digest: str
    vectors: tuple[PassageVector, ...]
    outcome: Outcome


class VectorTable(StorePart):
    """Load and save embedding vectors (`store.vectors`).

    In all methods `model` is a model id, `languages` are the languages that the model supports (empty: all), and `part`
    is the part to embed. The passages of an article are pending once it has its article vector.
    """

    def pending_count(self, model: str, languages: Sequence[str], part: EmbeddingPart = EmbeddingPart.ARTICLE) -> int:
        """Return the number of articles that are pending embedding by `model`."""
        query = select(func.count()).select_from(articles).where(_is_in_languages(languages), _is_pending(model, part))
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def pending_url_ids(self, model: str, languages: Sequence[str]) -> set[int]:
        """Return the ids of the articles that are pending embedding by `model`."""
        query = select(articles.c.url_id).where(_is_in_languages(languages), _is_pending(model, EmbeddingPart.ARTICLE))
        with self._database.read() as connection:
            return set(connection.scalars(query))

    def uncovered_languages(self, languages: Sequence[str]) -> dict[str, int]:
        """Return the number of articles by language of all articles that are in none of `languages`."""
        query = select(articles.c.language, func.count()).where(~_is_in_languages(languages))
        with self._database.read() as connection:
            rows = connection.execute(query.group_by(articles.c.language).order_by(func.count().desc()))
            return {row[0]: row[1] for row in rows}

    def iter_pending(
        self,
        model: str,
        languages: Sequence[str],
        first_url_id: int = 1,
        before_url_id: int | None = None,
        part: EmbeddingPart = EmbeddingPart.ARTICLE,
    ) -> Iterator[PendingText]:
        """Iterate over the texts that are pending embedding, ordered by id. Reads in batches.

        Callers may save while iterating. Each text is yielded once, saved or not.

        Args:
            model: Id of the model.
            languages: Languages that the model supports; empty for all.
            first_url_id: Lowest id to yield.
            before_url_id: Yield only ids below this one, and only the first article of each digest (as in
                `pending_block_numbers`).
            part: Part to embed.
        """
        columns = (articles.c.url_id, articles.c.digest, articles.c.title, articles.c.body)
        query = select(*columns).where(_is_in_languages(languages), _is_pending(model, part))
        if before_url_id is not None:
            query = query.where(articles.c.url_id < before_url_id, _is_first_with_digest(languages))
        for rows in self._database.iter_batches(query, articles.c.url_id, BATCH_SIZE, first_url_id - 1):
            first_by_digest = {row.digest: row for row in reversed(rows)}
            yield from (PendingText(*row) for row in sorted(first_by_digest.values(), key=lambda row: row.url_id))

    def pending_block_numbers(
        self, model: str, languages: Sequence[str], block_size: int, part: EmbeddingPart = EmbeddingPart.ARTICLE
    ) -> list[int]:
        """Return the blocks of ids with articles that are pending embedding, in ascending order.

        Block n contains the ids from n * `block_size` to (n + 1) * `block_size` - 1. A digest belongs to the block of
        its lowest id, so that no two blocks contain the same text.
        """
        is_pending = _is_in_languages(languages), _is_pending(model, part), _is_first_with_digest(languages)
        query = select((articles.c.url_id // block_size).label("block")).where(*is_pending).distinct()
        with self._database.read() as connection:
            return sorted(connection.scalars(query))

    def save(
        self, model: str, results: Sequence[EmbeddingResult], part: EmbeddingPart = EmbeddingPart.ARTICLE
    ) -> list[Reason]:
        """Save vectors, outcomes and change-log entries in one transaction. Returns one Reason per article.

        New vectors replace earlier vectors of the same digest, model and part. An article without vectors stays
        pending. Outcomes and change-log entries belong to the article vector; PASSAGES writes none.
        """
        by_digest = {result.digest: result for result in results}
        now = self._clock()
        with self._database.write() as connection:
            query = select(articles.c.url_id, articles.c.digest).where(articles.c.digest.in_(list(by_digest)))
            article_results = [(row.url_id, by_digest[row.digest]) for row in connection.execute(query)]
            embedded_results = [result for result in by_digest.values() if result.vectors]
            is_replaced = and_(
                vectors.c.model == model,
                vectors.c.digest.in_([result.digest for result in embedded_results]),
                vectors.c.passage >= part,
            )
            connection.execute(delete(vectors).where(is_replaced))
            if rows := [row for result in embedded_results for row in _vector_rows(model, result)]:
                connection.execute(vectors.insert(), rows)
            if part is EmbeddingPart.ARTICLE:
                outcomes = [
                    OutcomeRow(url_id, Stage.EMBED, result.outcome, now, result.digest)
                    for url_id, result in article_results
                ]
                write_outcomes(self._database, connection, outcomes)
                embedded_ids = [url_id for url_id, result in article_results if result.vectors]
                log_index_changes(connection, IndexOperation.UPSERT, embedded_ids, now)
        return [result.outcome.reason for _, result in article_results]

    def article_vectors(self, digests: Iterable[str]) -> dict[str, dict[str, bytes]]:
        """Return the article vectors of these digests: digest -> model -> vector. Empty vectors are excluded."""
        vectors_by_digest: dict[str, dict[str, bytes]] = {}
        query = select(vectors.c.digest, vectors.c.model, vectors.c.vector).where(
            vectors.c.passage == ARTICLE_PASSAGE_NUMBER
        )
        with self._database.read() as connection:
            for batch in batched(sorted(set(digests)), BATCH_SIZE):
                for row in connection.execute(query.where(vectors.c.digest.in_(batch))):
                    if row.vector:
                        vectors_by_digest.setdefault(row.digest, {})[row.model] = row.vector
        return vectors_by_digest

    def passage_vectors(self, model: str, digests: Iterable[str]) -> dict[str, list[PassageVector]]:
        """Return all passage vectors of a model for these digests, the article passage first."""
        vectors_by_digest: dict[str, list[PassageVector]] = {}
        columns = (vectors.c.digest, vectors.c.passage, vectors.c.start, vectors.c.end, vectors.c.vector)
        query = select(*columns).where(vectors.c.model == model).order_by(vectors.c.digest, vectors.c.passage)
        with self._database.read() as connection:
            for batch in batched(sorted(set(digests)), BATCH_SIZE):
                for row in connection.execute(query.where(vectors.c.digest.in_(batch))):
                    vectors_by_digest.setdefault(row.digest, []).append(PassageVector(*row[1:]))
        return vectors_by_digest

    def model_ids(self) -> list[str]:
        """Return the ids of all models with stored vectors."""
        with self._database.read() as connection:
            return list(connection.scalars(select(vectors.c.model).distinct()))

    def served_models(self) -> str:
        """Return the value of the last `set_served_models` call, or ""."""
        with self._database.read() as connection:
            return read_meta(connection, SERVED_MODELS_KEY)

    def set_served_models(self, models: str) -> None:
        """Store which models searches use, in the format of the caller."""
        with self._database.write() as connection:
            write_meta(self._database, connection, SERVED_MODELS_KEY, models)

    def purge(self, models: Sequence[str] | None = None) -> int:
        """Delete the vectors of digests without an article. Returns the number of deleted vectors.

        Args:
            models: If set, also delete the vectors of all other models.
        """
        is_orphaned: ColumnElement[bool] = ~exists().where(articles.c.digest == vectors.c.digest)
        if models is not None:
            is_orphaned = or_(is_orphaned, vectors.c.model.not_in(models))
        with self._database.write() as connection:
            return connection.execute(delete(vectors).where(is_orphaned)).rowcount


def _is_pending(model: str, part: EmbeddingPart) -> ColumnElement[bool]:
    """SQL condition: this part of the article is pending embedding by this model."""
    is_missing = ~_has_vector(model, part)
    return is_missing if part is EmbeddingPart.ARTICLE else and_(_has_vector(model, EmbeddingPart.ARTICLE), is_missing)


def _has_vector(model: str, part: EmbeddingPart) -> ColumnElement[bool]:
    """SQL condition: the first passage of this part of the article has a vector of this model."""
    return exists().where(
        vectors.c.digest == articles.c.digest, vectors.c.model == model, vectors.c.passage == part.value
    )


def _is_in_languages(languages: Sequence[str], source: FromClause = articles) -> ColumnElement[bool]:
    """SQL condition: the article is in one of these languages, in any region."""
    if not languages:
        return true()
    regions = [source.c.language.like(f"{language}-%") for language in languages]
    return or_(source.c.language.in_(languages), *regions)


def _is_first_with_digest(languages: Sequence[str]) -> ColumnElement[bool]:
    """SQL condition: the article has the lowest id of its digest among articles in these languages."""
    other_articles = articles.alias()
    is_earlier = and_(other_articles.c.digest == articles.c.digest, other_articles.c.url_id < articles.c.url_id)
    return ~exists().where(is_earlier, _is_in_languages(languages, other_articles))


def _vector_rows(model: str, result: EmbeddingResult) -> Iterator[dict[str, object]]:
    for passage_vector in result.vectors:
        values = {
            "passage": passage_vector.passage_number,
            "start": passage_vector.start_offset,
            "end": passage_vector.end_offset,
            "vector": passage_vector.vector,
        }
        yield {"digest": result.digest, "model": model, **values}
