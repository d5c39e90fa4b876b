"""Compute the vectors of pending articles in several processes.

Each process has its own copy of the model and one core. Searches go first: the first process has a low priority, with
which it gets about a quarter of a busy core, and the others only use idle cores. If a batch crashes its process, its
articles are embedded one by one; the article that crashes again counts as failed.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice

from crawler.workers.worker_process import (
    Limits,
    WorkerClosedError,
    WorkerError,
    WorkerPool,
    WorkerProcess,
)
from docstore.articles.vectors import EmbeddingPart, EmbeddingResult, PassageVector, PendingText
from domain.batches import batched
from domain.message import error_message
from domain.outcome import Outcome, Reason
from pipeline.embedding.models import load_model
from pipeline.embedding.passages import (
    PASSAGE_TOKENS,
    TOKENS_PER_LATIN_CHAR,
    Passage,
    estimate_tokens,
    iter_passages,
    truncate_to_tokens,
)
from pipeline.embedding.settings import EmbedSettings
from text.embedding.embedder import pack_vectors
from text.embedding.model_spec import ModelSpec

log = logging.getLogger(__name__)

BATCH_SIZE = 24  # articles per request to a process and per transaction
BATCHES_IN_FLIGHT_PER_WORKER = 2
LEAD_PASSAGE_TOKENS = 256.0  # beginning of the body that represents the article
MIN_REST_TOKENS = PASSAGE_TOKENS / 2  # a shorter rest of the body gets no passages: the excerpt would hardly differ
MAX_REST_CHARS = int(MIN_REST_TOKENS / TOKENS_PER_LATIN_CHAR) + 1  # enough to decide whether the rest is short
MAX_TITLE_LENGTH = 200  # characters
WORKER_LIMITS = Limits(seconds=900, megabytes=1024)  # long: wall-clock time on a busy machine
WORKER_PRELOAD = ("pipeline.embedding.embedding_pool", "onnxruntime", "tokenizers")
WORKER_NICENESS = 5  # of the first process: a quarter of a busy core
_LETTER = re.compile(r"[^\W_]")
load_model_cached = lru_cache(2)(load_model)


@dataclass(frozen=True)
class EmbeddingJob:
    """What to compute for a batch: the part, with which model, and at most how many passages per article."""

    spec: ModelSpec
    part: EmbeddingPart
    max_passages: int


class EmbeddingPool:
    """Processes that embed articles, for one caller at a time. `max_passages` limits the passages per article."""

    def __init__(self, max_passages: int, workers: int) -> None:
        self._max_passages, self._max_in_flight = max_passages, workers * BATCHES_IN_FLIGHT_PER_WORKER
        self._pool = WorkerPool(workers, WORKER_LIMITS, WORKER_PRELOAD, WORKER_NICENESS)

    def embed(
        self, pending: Iterable[PendingText], spec: ModelSpec, part: EmbeddingPart = EmbeddingPart.ARTICLE
    ) -> Iterator[list[EmbeddingResult]]:
        """Yield the vectors of this part of the articles in batches, each as soon as it is complete.

        Raises EmbeddingError if the model cannot be used.
        """
        job, futures = EmbeddingJob(spec, part, self._max_passages), set[Future[list[EmbeddingResult]]]()
        try:
            for batch in batched(pending, BATCH_SIZE):
                futures.add(self._pool.submit(partial(embed_with_retry, batch, job)))
                if len(futures) >= self._max_in_flight:  # not in their order: a busy core would hold up the others
                    done, futures = wait(futures, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            yield from (future.result() for future in as_completed(futures))
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """Terminate all processes of the pool."""
        self._pool.close()


def embed_in_processes(
    pending: Iterable[PendingText], spec: ModelSpec, settings: EmbedSettings, part: EmbeddingPart
) -> Iterator[list[EmbeddingResult]]:
    """Embed articles in temporary processes, which are closed at the end; see `EmbeddingPool.embed`."""
    with closing(EmbeddingPool(settings.passages, settings.processes or os.cpu_count() or 1)) as pool:
        yield from pool.embed(pending, spec, part)


def embed_with_retry(batch: Sequence[PendingText], job: EmbeddingJob, process: WorkerProcess) -> list[EmbeddingResult]:
    """Embed a batch in a worker process; if that fails, embed its articles one by one.

    Raises WorkerClosedError if the pool was closed meanwhile.
    """
    try:
        return process.call(embed_batch, list(batch), job)
    except WorkerClosedError:
        raise
    except WorkerError as error:
        if len(batch) > 1:
            return [result for article in batch for result in embed_with_retry([article], job, process)]
        log.error("embedding failed on article %d: %s", batch[0].url_id, error)
        return [EmbeddingResult(batch[0].digest, (), Outcome(Reason.UNEXPECTED_ERROR, error_message(error)))]


def embed_batch(batch: Sequence[PendingText], job: EmbeddingJob) -> list[EmbeddingResult]:
    """Compute the vectors of a batch; runs in a worker process."""
    plans = [plan_passages(article, job) for article in batch]
    texts = [passage_text(article, passage) for article, parts in zip(batch, plans, strict=True) for passage in parts]
    vectors = iter(pack_vectors(load_model_cached(job.spec).encode_documents(texts)) if texts else ())
    return [build_result(article, job, parts, vectors) for article, parts in zip(batch, plans, strict=True)]


def plan_passages(article: PendingText, job: EmbeddingJob) -> list[Passage]:
    """Return the passages of an article that get a vector; none for a text without a letter.

    ARTICLE: the beginning of the body, which represents the article together with the title. PASSAGES: the first
    passages that end after it.
    """
    if not (_LETTER.search(article.title) or _LETTER.search(article.body)):
        return []
    lead_end = len(truncate_to_tokens(article.body, LEAD_PASSAGE_TOKENS))
    if job.part is EmbeddingPart.ARTICLE:
        return [Passage(0, lead_end)]
    passages = (passage for passage in iter_passages(article.body) if passage.end > lead_end)
    return list(islice(passages, job.max_passages))


def has_passages(article: PendingText, lead_end: int) -> bool:
    """True if enough text follows the beginning of the body, which ends at `lead_end`."""
    return estimate_tokens(article.body[lead_end : lead_end + MAX_REST_CHARS]) >= MIN_REST_TOKENS


def passage_text(article: PendingText, passage: Passage) -> str:
    """Return the input of the model for a passage: the article title, then the passage."""
    return f"{article.title[:MAX_TITLE_LENGTH]}\n{article.body[passage.start : passage.end]}"


def build_result(
    article: PendingText, job: EmbeddingJob, passages: Sequence[Passage], vectors: Iterator[bytes]
) -> EmbeddingResult:
    """Combine an article with its vectors, which are taken from `vectors` in order.

    A part with nothing to embed has one empty vector, so that it is not pending. An article that is too short for
    passages gets the one of this part together with its article vector.
    """
    part_vectors = [
        PassageVector(number, passage.start, passage.end, next(vectors))
        for number, passage in enumerate(passages, start=job.part)
    ]
    outcome = Outcome(Reason.EMBEDDED if part_vectors else Reason.NOTHING_TO_EMBED)
    part_vectors = part_vectors or [PassageVector(job.part, 0, 0, b"")]
    if job.part is EmbeddingPart.ARTICLE and job.max_passages and not has_passages(article, part_vectors[0].end_offset):
        part_vectors.append(PassageVector(EmbeddingPart.PASSAGES, 0, 0, b""))
    return EmbeddingResult(article.digest, tuple(part_vectors), outcome)
