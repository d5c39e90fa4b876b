"""Embedding as work: all that waits for a model on this machine, or block by block on many.

A block is a thousand ids of articles; see pipeline/engines/extraction.py. Articles that a reader sees alike share their
vectors, so the one with the lowest id stands for all, and its block alone makes them.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from docstore.articles.vectors import VectorTable
from docstore.model import Reason
from pipeline.embedding.work import embed_articles
from pipeline.engines.blocks import by_blocks
from pipeline.engines.contract import WorkEngine
from pipeline.engines.worker import worker_for
from pipeline.settings import Settings
from text.embedding.spec import ModelSpec

log = logging.getLogger(__name__)

EMBED = "embed"
Saved = Counter[Reason]  # what became of articles
NEVER = float("inf")


def embedded(
    work: WorkEngine, table: VectorTable, spec: ModelSpec, settings: Settings, until: float = NEVER
) -> Iterator[Saved]:
    """Make and save the vectors of all that waits for the model of `spec`; what became of it, some at a time. Workers
    stop at `until` (epoch seconds); here stops who asks for no more."""
    if work.is_spread:
        do = partial(embed_block, model=spec.model_id, settings=settings, until=until)
        waiting = partial(table.pending_blocks, spec.model_id, spec.languages, settings.cluster.block)
        beat, what = settings.cluster.heartbeat_seconds, "articles could not be embedded"
        yield from by_blocks(work, do, waiting, beat, what)
        return
    for batch in embed_articles(table.pending(spec.model_id, spec.languages), spec, settings.embed):
        yield Counter(table.save(spec.model_id, batch))


def embed_block(number: int, model: str, settings: Settings, until: float = NEVER) -> Saved | None:
    """On a worker: what became of a block's articles; None where somebody else is at it. EmbedError or JarError where
    the model cannot be had here."""
    worker, size = worker_for(settings), settings.cluster.block
    spec, table, counts = worker.model(model), worker.store.vectors, Counter[Reason]()
    with worker.block(EMBED, number) as lease:
        if lease is None:
            return None
        waiting = table.pending(model, spec.languages, number * size, (number + 1) * size)
        for batch in worker.embedding.embed(waiting, spec):
            counts.update(table.save(model, batch))
            if time.time() > until:
                break
    return counts
