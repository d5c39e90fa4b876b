"""Embedding jobs: all pending articles on this machine, or block by block on a cluster.

A block is a range of article ids, see pipeline/compute/extraction_jobs.py. Articles with equal visible text share their
vectors: the article with the lowest id represents them, and only its block computes the vectors.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from docstore.articles.vectors import EmbeddingPart, VectorTable
from domain.outcome import Reason
from pipeline.compute.backend import ComputeBackend
from pipeline.compute.cluster_worker import get_worker
from pipeline.compute.leased_blocks import process_blocks
from pipeline.embedding.embedding_pool import embed_in_processes
from pipeline.settings import Settings
from text.embedding.model_spec import ModelSpec

log = logging.getLogger(__name__)

EMBED_LEASE = "embed"
OutcomeCounts = Counter[Reason]  # articles by outcome
NO_DEADLINE = float("inf")


def embed_pending(
    backend: ComputeBackend,
    table: VectorTable,
    spec: ModelSpec,
    settings: Settings,
    deadline: float = NO_DEADLINE,
    part: EmbeddingPart = EmbeddingPart.ARTICLE,
) -> Iterator[OutcomeCounts]:
    """Compute and save the vectors of this part of all articles that are pending for the model of `spec`.

    Yields the outcome counts of one batch at a time. Cluster workers stop at `deadline` (epoch seconds). Without a
    cluster `deadline` is ignored: the caller stops the iteration.
    """
    if backend.is_distributed:
        process_block = partial(
            embed_block_on_worker, model_id=spec.model_id, settings=settings, deadline=deadline, part=part
        )
        list_pending = partial(table.pending_block_numbers, spec.model_id, spec.languages, settings.cluster.block, part)
        retry_seconds, failure = settings.cluster.heartbeat_seconds, "articles could not be embedded"
        yield from process_blocks(backend, process_block, list_pending, retry_seconds, failure)
        return
    pending = table.iter_pending(spec.model_id, spec.languages, part=part)
    for batch in embed_in_processes(pending, spec, settings.embed, part):
        yield Counter(table.save(spec.model_id, batch, part))


def embed_block_on_worker(
    block_number: int,
    model_id: str,
    settings: Settings,
    deadline: float = NO_DEADLINE,
    part: EmbeddingPart = EmbeddingPart.ARTICLE,
) -> OutcomeCounts | None:
    """Embed the pending articles of one block; runs on a cluster worker.

    Returns the outcome counts, or None if another worker holds the lease. Raises EmbeddingError or JarError if the
    model is not available on this machine.
    """
    worker, size = get_worker(settings), settings.cluster.block
    spec, table, counts = worker.get_model(model_id, settings), worker.store.vectors, Counter[Reason]()
    with worker.lease_block(EMBED_LEASE, block_number) as lease:
        if lease is None:
            return None
        pending = table.iter_pending(model_id, spec.languages, block_number * size, (block_number + 1) * size, part)
        for batch in worker.embedding_pool(settings.embed).embed(pending, spec, part):
            counts.update(table.save(model_id, batch, part))
            if time.time() > deadline:
                break
    return counts
