"""Compute the vectors of pending articles in several processes.

Each process has its own copy of the model, one core, and the lowest priority, so that searches go first. If a batch
crashes its process, its articles are embedded one by one; the article that crashes again counts as failed.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from functools import lru_cache, partial

from docstore.articles.vectors import ARTICLE_PASSAGE_NUMBER, EmbeddingResult, PassageVector, PendingText
from domain.batches import batched
from domain.outcome import Outcome, Reason
from pipeline.embedding.models import load_model
from pipeline.embedding.settings import EmbedSettings
from pipeline.workers.worker_process import Limits, WorkerClosedError, WorkerError, WorkerPool, WorkerProcess
from text.embedding.embedder import Embedder, pack_vectors
from text.embedding.model_spec import ModelSpec
from text.embedding.passages import Passage, iter_passages, truncate_to_tokens

log = logging.getLogger(__name__)

BATCH_SIZE = 24  # articles per request to a process and per transaction
BATCHES_IN_FLIGHT_PER_WORKER = 2
LEAD_PASSAGE_TOKENS = 256.0  # beginning of the body that represents the article
MAX_TITLE_LENGTH = 200  # characters
WORKER_LIMITS = Limits(seconds=900, megabytes=1024)  # long: wall-clock time on a busy machine
WORKER_PRELOAD = ("pipeline.embedding.embedding_pool", "onnxruntime", "tokenizers")
WORKER_NICENESS = 19
_LETTER = re.compile(r"[^\W_]")


class EmbeddingPool:
    """Processes that embed articles, for one caller at a time. `max_passages` limits the passages per article."""

    def __init__(self, max_passages: int, workers: int) -> None:
        self._max_passages, self._max_in_flight = max_passages, workers * BATCHES_IN_FLIGHT_PER_WORKER
        self._pool = WorkerPool(workers, WORKER_LIMITS, WORKER_PRELOAD)

    def embed(self, pending: Iterable[PendingText], spec: ModelSpec) -> Iterator[list[EmbeddingResult]]:
        """Yield the vectors of the articles in batches, in any order.

        Raises EmbeddingError if the model cannot be used.
        """
        in_flight: dict[Future[list[EmbeddingResult]], None] = {}
        try:
            for batch in batched(pending, BATCH_SIZE):
                in_flight[self._pool.submit(partial(embed_with_retry, batch, spec, self._max_passages))] = None
                while len(in_flight) >= self._max_in_flight:
                    yield from iter_finished(in_flight)
            while in_flight:
                yield from iter_finished(in_flight)
        finally:
            for future in in_flight:  # the caller has stopped the iteration
                future.cancel()

    def close(self) -> None:
        """Terminate all processes of the pool."""
        self._pool.close()


def embed_in_processes(
    pending: Iterable[PendingText], spec: ModelSpec, settings: EmbedSettings
) -> Iterator[list[EmbeddingResult]]:
    """Embed articles in temporary processes, which are closed at the end; see `EmbeddingPool.embed`."""
    with closing(EmbeddingPool(settings.passages, settings.processes or os.cpu_count() or 1)) as pool:
        yield from pool.embed(pending, spec)


def iter_finished(in_flight: dict[Future[list[EmbeddingResult]], None]) -> Iterator[list[EmbeddingResult]]:
    """Wait until at least one batch is done, remove all that are done from `in_flight`, and yield their results."""
    done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
    for future in done:
        del in_flight[future]
        yield future.result()


def embed_with_retry(
    batch: Sequence[PendingText], spec: ModelSpec, max_passages: int, process: WorkerProcess
) -> list[EmbeddingResult]:
    """Embed a batch in a worker process; if that fails, embed its articles one by one.

    Raises WorkerClosedError if the pool was closed meanwhile.
    """
    try:
        return process.call(embed_batch, list(batch), spec, max_passages)
    except WorkerClosedError:
        raise
    except WorkerError as error:
        if len(batch) > 1:
            return [result for article in batch for result in embed_with_retry([article], spec, max_passages, process)]
        log.error("embedding failed on article %d: %s", batch[0].url_id, error)
        return [EmbeddingResult(batch[0].digest, (), Outcome(Reason.UNEXPECTED_ERROR, str(error)))]


def embed_batch(batch: Sequence[PendingText], spec: ModelSpec, max_passages: int) -> list[EmbeddingResult]:
    """Compute the vectors of a batch; runs in a worker process."""
    model, plans = load_model_cached(spec), [plan_passages(article, max_passages) for article in batch]
    texts = [passage_text(article, passage) for article, parts in zip(batch, plans, strict=True) for passage in parts]
    vectors = iter(pack_vectors(model.encode_documents(texts)) if texts else ())
    return [build_embedded(article, parts, vectors) for article, parts in zip(batch, plans, strict=True)]


@lru_cache(2)
def load_model_cached(spec: ModelSpec) -> Embedder:
    """Load the model on the first call in a process, and lower the priority of the process."""
    if os.nice(0) < WORKER_NICENESS:
        os.nice(WORKER_NICENESS - os.nice(0))
    return load_model(spec)


def plan_passages(article: PendingText, max_passages: int) -> list[Passage]:
    """Return the passages of an article that get a vector.

    The first passage is the beginning of the body, which represents the article together with the title. A longer body
    has in addition up to `max_passages` passages. A text without a letter has none.
    """
    if not (_LETTER.search(article.title) or _LETTER.search(article.body)):
        return []
    lead_passage = Passage(0, len(truncate_to_tokens(article.body, LEAD_PASSAGE_TOKENS)))
    if not max_passages or lead_passage.end == len(article.body):
        return [lead_passage]
    parts = (passage for _, passage in zip(range(max_passages), iter_passages(article.body), strict=False))
    return [lead_passage, *parts]


def passage_text(article: PendingText, passage: Passage) -> str:
    """Return the input of the model for a passage: the article title, then the passage."""
    return f"{article.title[:MAX_TITLE_LENGTH]}\n{article.body[passage.start : passage.end]}"


def build_embedded(article: PendingText, parts: Sequence[Passage], vectors: Iterator[bytes]) -> EmbeddingResult:
    """Combine an article with its vectors, which are taken from `vectors` in order."""
    if not parts:
        return EmbeddingResult(
            article.digest, (PassageVector(ARTICLE_PASSAGE_NUMBER, 0, 0, b""),), Outcome(Reason.NOTHING_TO_EMBED)
        )
    passage_vectors = tuple(
        PassageVector(n, passage.start, passage.end, next(vectors)) for n, passage in enumerate(parts)
    )
    return EmbeddingResult(article.digest, passage_vectors, Outcome(Reason.EMBEDDED))
