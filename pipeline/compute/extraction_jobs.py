"""Extraction jobs: all pending pages on this machine, or block by block on a cluster.

Before the extraction, `learn_site_statistics` learns the templates of new sites, on a cluster in small batches.

A block is a range of `cluster.block` page ids. The worker leases the block, then extracts and saves its pending pages
in small batches, fenced by the lease. If the worker is killed, only the computing time of one batch is lost. The worker
writes the results to the store itself and returns only counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial

from docstore.articles.article_table import ArticleTable
from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.source_pages import ArchivedPage
from docstore.near_duplicates.clusters import CopyDetection
from domain.article import Article
from domain.batches import batched
from domain.outcome import Reason
from extractor.settings import ExtractSettings
from pipeline.compute.backend import ComputeBackend
from pipeline.compute.cluster_worker import get_worker
from pipeline.compute.leased_blocks import process_blocks
from pipeline.settings import Settings
from pipeline.workers.extraction_pool import ExtractionPools
from text.similarity.duplicates import ComparedArticle

EXTRACT_LEASE = "extract"
SAVE_BATCH_SIZE = 25  # extractions per transaction; kill -9 costs at most their computing time
SAVE_BATCH_CHARS = 1_000_000  # text of their articles; saving needs a multiple of its memory
ExtractionCounts = tuple[Counter[Reason], int]  # outcomes by reason, number of pages


def extract_pending(backend: ComputeBackend, articles: ArticleTable, settings: Settings) -> Iterator[ExtractionCounts]:
    """Extract and save all pending pages. Yields the outcome counts of one batch at a time."""
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
    backend: ComputeBackend, articles: ArticleTable, sample: Sequence[ArchivedPage], settings: Settings
) -> Iterator[int]:
    """Learn site templates from sample pages without saving articles. Yields the number of pages of each batch."""
    if backend.is_distributed:
        batches = batched(sample, SAVE_BATCH_SIZE)
        yield from (
            count for _, count in backend.map_unordered(partial(learn_pages_on_worker, settings=settings), batches)
        )
        return
    with closing(ExtractionPools(settings.extract)) as pools:
        yield from count_site_statistics(articles, pools, sample)


def count_site_statistics(
    articles: ArticleTable, pools: ExtractionPools, pages: Sequence[ArchivedPage]
) -> Iterator[int]:
    """Extract pages in `pools` and add their template statistics to the store.

    Yields the number of pages of each batch.
    """
    for batch in iter_save_batches(pools.extract(pages, articles.read_page_body)):
        articles.learn_templates(batch)
        yield len(batch)


def learn_pages_on_worker(pages: Sequence[ArchivedPage], settings: Settings) -> int:
    """Learn site templates from pages; runs on a cluster worker. Returns the number of pages.

    The store counts each page once, so no lease is needed.
    """
    worker = get_worker(settings)
    return sum(count_site_statistics(worker.store.articles, worker.extraction_pools(settings.extract), pages))


def create_copy_detection(settings: ExtractSettings) -> CopyDetection:
    """Create the near-duplicate detection of the settings."""
    return CopyDetection(settings.near_duplicate, ComparedArticle)


def extract_and_save(
    articles: ArticleTable, pools: ExtractionPools, settings: Settings, first_id: int = 1, end_id: int | None = None
) -> Iterator[ExtractionCounts]:
    """Extract and save the pending pages with ids from `first_id` up to, but not including, `end_id`."""
    extractions = pools.extract(
        articles.iter_pending(first_id, end_id),
        articles.read_page_body,
        articles.site_template,
        articles.load_recognized_pages,
    )
    for batch in iter_save_batches(extractions):
        counts, page_count = Counter(articles.save(batch, create_copy_detection(settings.extract))), len(batch)
        batch.clear()  # frees the articles before the next ones arrive
        yield counts, page_count


def iter_save_batches(extractions: Iterable[PageExtraction]) -> Iterator[list[PageExtraction]]:
    """Yield batches of at most SAVE_BATCH_SIZE extractions and SAVE_BATCH_CHARS of text; a longer article is alone."""
    batch: list[PageExtraction] = []
    batch_chars = 0
    for extraction in extractions:
        chars = len(extraction.result.body) if isinstance(extraction.result, Article) else 0
        if batch and batch_chars + chars > SAVE_BATCH_CHARS:
            yield batch
            batch, batch_chars = [], 0
        batch.append(extraction)
        del extraction  # the caller clears the batch, so that no long article stays in memory
        batch_chars += chars
        if len(batch) == SAVE_BATCH_SIZE or batch_chars >= SAVE_BATCH_CHARS:
            yield batch
            batch, batch_chars = [], 0
    if batch:
        yield batch


def extract_block_on_worker(block_number: int, settings: Settings) -> ExtractionCounts | None:
    """Extract the pending pages of one block on a cluster worker. Returns None if another worker holds the lease."""
    worker, size = get_worker(settings), settings.cluster.block
    counts, pages = Counter[Reason](), 0
    with worker.lease_block(EXTRACT_LEASE, block_number) as lease:
        if lease is None:
            return None
        for outcomes, count in extract_and_save(
            worker.store.articles,
            worker.extraction_pools(settings.extract),
            settings,
            block_number * size,
            (block_number + 1) * size,
        ):
            counts.update(outcomes)
            pages += count
    return counts, pages
