"""Extraction over several processes, so that no page can take the run down with it.

A page that raises, takes too long, needs too much memory or kills its process (a parser's segmentation fault) becomes
an outcome with a reason; no other page notices. Each page is read with what was known of its site when the first one
was, which goes to the worker beside the bytes.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial

from docstore.articles.table import Extraction, LostPageError, PendingPage
from docstore.model import Outcome, Reading, Reason, SiteKnowledge
from extractor.settings import ExtractSettings
from pipeline.workers.page_reading import read_page
from pipeline.workers.worker_process import (
    Limits,
    OverDeadlineError,
    OverMemoryError,
    WorkerError,
    WorkerPool,
    WorkerProcess,
    WorkRaisedError,
)

log = logging.getLogger(__name__)

NOTHING_KNOWN = SiteKnowledge()

IN_FLIGHT = 8  # pages a worker, waiting or under way: bounds the memory
MAX_SITES = 1_000  # that are remembered in a run
PRELOAD = ("pipeline.workers.page_reading", "datasketch")

Read = Callable[[PendingPage], bytes]
AskSite = Callable[[str], SiteKnowledge]


@dataclass(frozen=True)
class PageJob:
    """One page with its bytes and what is known of its site."""

    page: PendingPage
    html: bytes
    site: SiteKnowledge = NOTHING_KNOWN


def extract_pages(
    pages: Iterable[PendingPage],
    read: Read,
    settings: ExtractSettings,
    workers: int | None = None,
    ask_site: AskSite = lambda host: NOTHING_KNOWN,
    limits: Limits | None = None,
) -> Iterator[Extraction]:
    """The extraction of each page, in no order. `ask_site` says what is known of a host, `limits` what a page may take.

    A page has a process of its own while it is read; few pages start few processes.
    """
    workers = workers or os.cpu_count() or 1
    jobs = read_jobs(pages, read, lru_cache(MAX_SITES)(ask_site))
    running: set[Future[Extraction]] = set()
    with closing(WorkerPool(workers, limits, PRELOAD)) as pool:
        for job in jobs:
            if isinstance(job, Extraction):
                yield job
                continue
            running.add(pool.submit(partial(extraction_of, job, settings)))
            if len(running) == workers * IN_FLIGHT:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        yield from (future.result() for future in as_completed(running))


def read_jobs(pages: Iterable[PendingPage], read: Read, ask_site: AskSite) -> Iterator[PageJob | Extraction]:
    """Each page with its bytes; where they are lost, that is the end of it."""
    for page in pages:
        try:
            yield PageJob(page, read(page), ask_site(page.host))
        except LostPageError as error:
            yield Extraction(page, Outcome(error.reason, str(error)))


def extraction_of(job: PageJob, settings: ExtractSettings, process: WorkerProcess) -> Extraction:
    """What a worker makes of a page."""
    page = job.page
    try:
        reading = process.call(read_page, job.html, page.url, page.content_type, page.fetched_at, job.site, settings)
    except WorkerError as error:
        reading = Reading(outcome_of(error, page.url))
    return Extraction(page, reading.result, reading.learned, reading.teaser, reading.vouched, reading.warning)


def outcome_of(error: WorkerError, url: str) -> Outcome:
    """Why there is no result. What may be a fault of the program is logged, and counts as a failure."""
    if isinstance(error, OverDeadlineError):
        return Outcome(Reason.TIMED_OUT, f"extraction: {error}")
    if isinstance(error, OverMemoryError):
        return Outcome(Reason.TOO_LARGE, f"extraction: {error}")
    log.error(
        "extraction failed on %s: %s\n%s", url, error, error.traceback if isinstance(error, WorkRaisedError) else ""
    )
    return Outcome(Reason.FAILED, str(error))
