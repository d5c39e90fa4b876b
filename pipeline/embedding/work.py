"""From pending articles to vectors, over several processes.

Each process has a model of its own, one core, and the lowest priority: who searches meanwhile is served first, and idle
cores are used. A text that brings its process down is read alone then, and counts as failed; no other notices.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from functools import lru_cache, partial

from docstore.articles.vectors import WHOLE, Embedded, PassageVector, PendingText
from docstore.batches import batched
from docstore.model import Outcome, Reason
from pipeline.embedding.models import load
from pipeline.embedding.settings import EmbedSettings
from pipeline.workers.worker_process import Limits, WorkerError, WorkerPool, WorkerProcess
from text.embedding.contract import Embedder, packed
from text.embedding.passages import Passage, beginning, passages_of
from text.embedding.spec import ModelSpec

log = logging.getLogger(__name__)

JOB = 24  # articles a process is given at once, and a transaction keeps
JOBS_IN_FLIGHT = 2  # a process
WHOLE_TOKENS = 256.0  # of the body that stand for the article
MAX_TITLE = 200  # characters
LIMITS = Limits(seconds=900, megabytes=1024)  # by the clock, on a machine that has other work
PRELOAD = ("pipeline.embedding.work", "onnxruntime", "tokenizers")
NICE = 19
_LETTER = re.compile(r"[^\W_]")


class EmbeddingPool:
    """Processes that embed articles, for one caller at a time; `passages` is how many of a long one are read."""

    def __init__(self, passages: int, workers: int) -> None:
        self._passages, self._most = passages, workers * JOBS_IN_FLIGHT
        self._pool = WorkerPool(workers, LIMITS, PRELOAD)

    def embed(self, pending: Iterable[PendingText], spec: ModelSpec) -> Iterator[list[Embedded]]:
        """What the model of `spec` makes of each article, some at a time, in no order. Raises EmbedError where the
        model cannot be used."""
        running: dict[Future[list[Embedded]], None] = {}
        try:
            for batch in batched(pending, JOB):
                running[self._pool.submit(partial(embedded_by, batch, spec, self._passages))] = None
                while len(running) >= self._most:
                    yield from finished(running)
            while running:
                yield from finished(running)
        finally:
            for future in running:  # nobody waits for them any more
                future.cancel()

    def close(self) -> None:
        """End all processes."""
        self._pool.close()


def embed_articles(
    pending: Iterable[PendingText], spec: ModelSpec, settings: EmbedSettings
) -> Iterator[list[Embedded]]:
    """The same by processes that end with it."""
    with closing(EmbeddingPool(settings.passages, settings.processes or os.cpu_count() or 1)) as pool:
        yield from pool.embed(pending, spec)


def finished(running: dict[Future[list[Embedded]], None]) -> Iterator[list[Embedded]]:
    """Wait for some of the jobs under way, and take them out."""
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        del running[future]
        yield future.result()


def embedded_by(batch: Sequence[PendingText], spec: ModelSpec, passages: int, process: WorkerProcess) -> list[Embedded]:
    """What a process makes of some articles; each alone where they bring it down together."""
    try:
        return process.call(embed_batch, list(batch), spec, passages)
    except WorkerError as error:
        if len(batch) > 1:
            return [made for one in batch for made in embedded_by([one], spec, passages, process)]
        log.error("embedding failed on article %d: %s", batch[0].url_id, error)
        return [Embedded(batch[0].digest, (), Outcome(Reason.FAILED, str(error)))]


def embed_batch(batch: Sequence[PendingText], spec: ModelSpec, passages: int) -> list[Embedded]:
    """The vectors of some articles; runs in a process of its own."""
    model, plans = model_of(spec), [plan(one, passages) for one in batch]
    texts = [passage_text(one, part) for one, parts in zip(batch, plans, strict=True) for part in parts]
    vectors = iter(packed(model.encode_documents(texts)) if texts else ())
    return [embedded(one, parts, vectors) for one, parts in zip(batch, plans, strict=True)]


@lru_cache(2)
def model_of(spec: ModelSpec) -> Embedder:
    """The model, loaded with the first call in a process."""
    if os.nice(0) < NICE:
        os.nice(NICE - os.nice(0))
    return load(spec)


def plan(one: PendingText, passages: int) -> list[Passage]:
    """The parts of an article's body that get a vector: the beginning, which stands for all of it with the title, and
    the first `passages` of a body that goes on behind it. None of a text without a letter."""
    if not (_LETTER.search(one.title) or _LETTER.search(one.body)):
        return []
    whole = Passage(0, len(beginning(one.body, WHOLE_TOKENS)))
    if not passages or whole.end == len(one.body):
        return [whole]
    parts = (part for _, part in zip(range(passages), passages_of(one.body), strict=False))
    return [whole, *parts]


def passage_text(one: PendingText, part: Passage) -> str:
    """What the model reads of a passage: the article's title before it."""
    return f"{one.title[:MAX_TITLE]}\n{one.body[part.start : part.end]}"


def embedded(one: PendingText, parts: Sequence[Passage], vectors: Iterator[bytes]) -> Embedded:
    """The article with its vectors, which are taken from `vectors`."""
    if not parts:
        return Embedded(one.digest, (PassageVector(WHOLE, 0, 0, b""),), Outcome(Reason.NOTHING_TO_EMBED))
    made = tuple(PassageVector(n, part.start, part.end, next(vectors)) for n, part in enumerate(parts))
    return Embedded(one.digest, made, Outcome(Reason.EMBEDDED))
