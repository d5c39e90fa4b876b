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

from docstore.articles.table import ArticleTable, PendingPage
from docstore.batches import batched
from docstore.grouping.near_duplicates import Grouping
from docstore.model import Reason
from extractor.settings import ExtractSettings
from pipeline.engines.blocks import by_blocks
from pipeline.engines.contract import WorkEngine
from pipeline.engines.worker import worker_for
from pipeline.settings import Settings
from pipeline.workers.extraction import ExtractionPools
from text.resemblance.copies import Text

EXTRACT = "extract"
SAVE_EVERY = 25  # extractions in one transaction: what kill -9 can cost is their computing time
Saved = tuple[Counter[Reason], int]  # what became of pages, and of how many


def extracted(work: WorkEngine, articles: ArticleTable, settings: Settings) -> Iterator[Saved]:
    """Extract and save all that waits; what became of it, some at a time."""
    if work.is_spread:
        waiting = partial(articles.pending_blocks, settings.cluster.block)
        beat, what = settings.cluster.heartbeat_seconds, "pages could not be extracted"
        yield from by_blocks(work, partial(extract_block, settings=settings), waiting, beat, what)
        return
    with closing(ExtractionPools(settings.extract)) as pools:
        yield from saved(articles, pools, settings)


def learned(
    work: WorkEngine, articles: ArticleTable, sample: Sequence[PendingPage], settings: Settings
) -> Iterator[int]:
    """Count what pages teach of their sites, and keep nothing else of them; of how many, some at a time."""
    if work.is_spread:
        some = batched(sample, SAVE_EVERY)
        yield from (count for _, count in work.each(partial(learn_pages, settings=settings), some))
        return
    with closing(ExtractionPools(settings.extract)) as pools:
        yield from taught(articles, pools, sample)


def taught(articles: ArticleTable, pools: ExtractionPools, pages: Sequence[PendingPage]) -> Iterator[int]:
    """Read pages and count what they teach."""
    for batch in batched(pools.extract(pages, articles.read_page), SAVE_EVERY):
        articles.learn(batch)
        yield len(batch)


def learn_pages(pages: Sequence[PendingPage], settings: Settings) -> int:
    """On a worker: count what pages teach; how many were read. A page counts once, so nobody needs a lease."""
    worker = worker_for(settings)
    return sum(taught(worker.store.articles, worker.pools, pages))


def grouping_of(settings: ExtractSettings) -> Grouping:
    """How articles are told from copies of them."""
    return Grouping(settings.near_duplicate, Text)


def saved(
    articles: ArticleTable, pools: ExtractionPools, settings: Settings, first: int = 1, before: int | None = None
) -> Iterator[Saved]:
    """Extract and save what waits among some ids."""
    done = pools.extract(articles.pending(first, before), articles.read_page, articles.site)
    for batch in batched(done, SAVE_EVERY):
        yield Counter(articles.save(batch, grouping_of(settings.extract))), len(batch)


def extract_block(number: int, settings: Settings) -> Saved | None:
    """On a worker: what became of a block's pages; None where somebody else is at it."""
    worker, size = worker_for(settings), settings.cluster.block
    counts, pages = Counter[Reason](), 0
    with worker.block(EXTRACT, number) as lease:
        if lease is None:
            return None
        for some, count in saved(worker.store.articles, worker.pools, settings, number * size, (number + 1) * size):
            counts.update(some)
            pages += count
    return counts, pages
