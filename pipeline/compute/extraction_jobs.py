"""Extraction as work: all that waits on this machine, or block by block on many. Before it, what pages teach of sites
that are new: on many machines a few pages at a time.

A block is a thousand ids. Who does it leases it, reads and extracts what is still pending of it, and saves that a few
pages at a time, fenced by the lease: a worker that is killed costs the computing time of those pages. Results go into
the store from where they are made; what comes back is counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

from docstore.articles.article_table import ArticleTable, PendingPage
from docstore.batches import batched
from docstore.model import Reason
from docstore.near_duplicates.clusters import CopyDetection
from extractor.settings import ExtractSettings
from pipeline.compute.backend import ComputeBackend
from pipeline.compute.cluster_worker import get_worker
from pipeline.compute.leased_blocks import process_blocks
from pipeline.settings import Settings
from pipeline.workers.extraction_pool import ExtractionPools
from text.similarity.duplicates import ComparedArticle

EXTRACT_LEASE = "extract"
SAVE_BATCH_SIZE = 25  # extractions in one transaction: what kill -9 can cost is their computing time
ExtractionResult = tuple[Counter[Reason], int]  # what became of pages, and of how many


def extract_pending(backend: ComputeBackend, articles: ArticleTable, settings: Settings) -> Iterator[ExtractionResult]:
    """Extract and save all that waits; what became of it, some at a time."""
    if backend.is_distributed:
        list_pending = partial(articles.pending_block_numbers, settings.cluster.block)
        retry_seconds, failure = settings.cluster.heartbeat_seconds, "pages could not be extracted"
        yield from process_blocks(
            backend, partial(extract_block_on_worker, settings=settings), list_pending, retry_seconds, failure
        )
        return
    with closing(ExtractionPools(settings.extract)) as pools:
        yield from extract_and_save(articles, pools, settings)


def learn_site_statistics(
    backend: ComputeBackend, articles: ArticleTable, sample: Sequence[PendingPage], settings: Settings
) -> Iterator[int]:
    """Count what pages teach of their sites, and keep nothing else of them; of how many, some at a time."""
    if backend.is_distributed:
        batches = batched(sample, SAVE_BATCH_SIZE)
        yield from (
            count for _, count in backend.map_unordered(partial(learn_pages_on_worker, settings=settings), batches)
        )
        return
    with closing(ExtractionPools(settings.extract)) as pools:
        yield from count_site_statistics(articles, pools, sample)


def count_site_statistics(
    articles: ArticleTable, pools: ExtractionPools, pages: Sequence[PendingPage]
) -> Iterator[int]:
    """Read pages and count what they teach."""
    for batch in batched(pools.extract(pages, articles.read_page_body), SAVE_BATCH_SIZE):
        articles.learn_templates(batch)
        yield len(batch)


def learn_pages_on_worker(pages: Sequence[PendingPage], settings: Settings) -> int:
    """On a worker: count what pages teach; how many were read. A page counts once, so nobody needs a lease."""
    worker = get_worker(settings)
    return sum(count_site_statistics(worker.store.articles, worker.extraction_pools, pages))


def duplicate_grouping(settings: ExtractSettings) -> CopyDetection:
    """How articles are told from copies of them."""
    return CopyDetection(settings.near_duplicate, ComparedArticle)


def extract_and_save(
    articles: ArticleTable, pools: ExtractionPools, settings: Settings, first_id: int = 1, end_id: int | None = None
) -> Iterator[ExtractionResult]:
    """Extract and save what waits among some ids."""
    extractions = pools.extract(
        articles.iter_pending(first_id, end_id), articles.read_page_body, articles.site_template
    )
    for batch in batched(extractions, SAVE_BATCH_SIZE):
        yield Counter(articles.save(batch, duplicate_grouping(settings.extract))), len(batch)


def extract_block_on_worker(block_number: int, settings: Settings) -> ExtractionResult | None:
    """On a worker: what became of a block's pages; None where somebody else is at it."""
    worker, size = get_worker(settings), settings.cluster.block
    counts, pages = Counter[Reason](), 0
    with worker.lease_block(EXTRACT_LEASE, block_number) as lease:
        if lease is None:
            return None
        for outcomes, count in extract_and_save(
            worker.store.articles, worker.extraction_pools, settings, block_number * size, (block_number + 1) * size
        ):
            counts.update(outcomes)
            pages += count
    return counts, pages
