"""Extraction over several processes, so that no page can take the run down with it.

A page that raises, takes too long, needs too much memory or kills its process (a parser's segmentation fault) becomes
an outcome with a reason; no other page notices. Each page is read with what was known of its site when the first one
was, which goes to the worker beside the bytes.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial

from docstore.articles.article_table import PageExtraction, PendingPage, WarcRecordLostError
from docstore.model import ExtractionResult, Outcome, Reason, SiteTemplate
from docstore.warc_archive import WarcRecordNotUploadedError
from extractor.settings import ExtractSettings
from pipeline.workers.page_reading import EXTRACTOR, read_page
from pipeline.workers.worker_process import (
    Limits,
    WorkerDiedError,
    WorkerError,
    WorkerExceptionError,
    WorkerMemoryError,
    WorkerPool,
    WorkerProcess,
    WorkerTimeoutError,
)

log = logging.getLogger(__name__)

NO_SITE_KNOWLEDGE = SiteTemplate()

MAX_IN_FLIGHT_PER_WORKER = 8  # pages a worker, waiting or under way: bounds the memory
MAX_IN_FLIGHT_BYTES = 64_000_000  # bytes, of all pages and documents together, but for one that alone takes more
DOM_BYTES_PER_PAGE_BYTE = 8  # bytes of memory for each byte of a page
SITE_CACHE_SIZE = 1_000  # that are remembered in a run
WORKER_PRELOAD = ("pipeline.workers.page_reading", *EXTRACTOR)

CRASH_SIGNALS = (
    "SIGSEGV",
    "SIGABRT",
    "SIGBUS",
    "SIGILL",
    "SIGFPE",
    "SIGTRAP",
)  # of a library in C; SIGKILL came from others

ReadPage = Callable[[PendingPage], bytes]
LookUpSite = Callable[[str], SiteTemplate]


@dataclass(frozen=True)
class PageJob:
    """One page or document with its bytes and what is known of its site."""

    page: PendingPage
    data: bytes
    site: SiteTemplate = NO_SITE_KNOWLEDGE

    @property
    def estimated_bytes(self) -> int:
        """Bytes that it may take while it is read, about."""
        return len(self.data) if self.page.is_document else DOM_BYTES_PER_PAGE_BYTE * len(self.data)


class ExtractionPools:
    """The processes that read pages and documents, for one caller at a time. `limits` is what a page may take.

    A page has a process of its own while it is read; few pages start few processes. Documents have others, with the
    limits that `settings` name: what a reader of theirs does to its process no page has to bear.
    """

    def __init__(self, settings: ExtractSettings, workers: int | None = None, limits: Limits | None = None) -> None:
        self._settings = settings
        self._max_in_flight = (workers or os.cpu_count() or 1) * MAX_IN_FLIGHT_PER_WORKER
        documents = limits or Limits(settings.document_seconds, settings.document_mb)
        self._page_pool = WorkerPool(workers or os.cpu_count() or 1, limits, WORKER_PRELOAD)
        self._document_pool = WorkerPool(workers or os.cpu_count() or 1, documents, WORKER_PRELOAD)

    def extract(
        self,
        pages: Iterable[PendingPage],
        read_page_bytes: ReadPage,
        look_up_site: LookUpSite = lambda host: NO_SITE_KNOWLEDGE,
    ) -> Iterator[PageExtraction]:
        """The extraction of each page, in no order. `look_up_site` says what is known of a host."""
        in_flight: dict[Future[PageExtraction], int] = {}
        try:
            for job in iter_jobs(pages, read_page_bytes, lru_cache(SITE_CACHE_SIZE)(look_up_site)):
                if isinstance(job, PageExtraction):
                    yield job
                    continue
                pool = self._document_pool if job.page.is_document else self._page_pool
                while in_flight and sum(in_flight.values()) + job.estimated_bytes > MAX_IN_FLIGHT_BYTES:
                    yield from iter_finished(in_flight)
                in_flight[pool.submit(partial(extract_one, job, self._settings))] = job.estimated_bytes
                while len(in_flight) >= self._max_in_flight:
                    yield from iter_finished(in_flight)
            while in_flight:
                yield from iter_finished(in_flight)
        finally:
            for future in in_flight:  # nobody waits for them any more
                future.cancel()

    def close(self) -> None:
        """End all processes."""
        self._page_pool.close()
        self._document_pool.close()


def extract_pages(
    pages: Iterable[PendingPage],
    read_page_bytes: ReadPage,
    settings: ExtractSettings,
    workers: int | None = None,
    look_up_site: LookUpSite = lambda host: NO_SITE_KNOWLEDGE,
    limits: Limits | None = None,
) -> Iterator[PageExtraction]:
    """The extraction of each page by processes that end with it: see `ExtractionPools`."""
    with closing(ExtractionPools(settings, workers, limits)) as pools:
        yield from pools.extract(pages, read_page_bytes, look_up_site)


def iter_finished(in_flight: dict[Future[PageExtraction], int]) -> Iterator[PageExtraction]:
    """Wait for some of the extractions under way (with the memory that each may take), and take them out."""
    done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
    for future in done:
        del in_flight[future]
        yield future.result()


def iter_jobs(
    pages: Iterable[PendingPage], read_page_bytes: ReadPage, look_up_site: LookUpSite
) -> Iterator[PageJob | PageExtraction]:
    """Each page with its bytes; where they are lost, that is the end of it. One that another machine has
    not uploaded yet waits for the next extraction."""
    for page in pages:
        try:
            yield PageJob(page, read_page_bytes(page), look_up_site(page.host))
        except WarcRecordNotUploadedError as error:
            log.warning("%s waits: %s", page.url, error)
        except WarcRecordLostError as error:
            yield PageExtraction(page, Outcome(error.reason, str(error)))


def extract_one(job: PageJob, settings: ExtractSettings, process: WorkerProcess) -> PageExtraction:
    """What a worker makes of a page."""
    page = job.page
    try:
        reading = process.call(read_page, job.data, page.url, page.content_type, page.fetched_at, job.site, settings)
    except WorkerError as error:
        reading = ExtractionResult(outcome_for_error(error, page.url, job.page.is_document))
    return PageExtraction(
        page, reading.result, reading.page_traits, reading.teaser, reading.is_declared_article, reading.warning
    )


def outcome_for_error(exc: WorkerError, url: str, is_document: bool = False) -> Outcome:
    """Why there is no result. What may be a fault of the program is logged, and counts as a failure; that a document
    brings its reader down is the document's fault."""
    if isinstance(exc, WorkerTimeoutError):
        return Outcome(Reason.TIMED_OUT, f"extraction: {exc}")
    if isinstance(exc, WorkerMemoryError):
        return Outcome(Reason.TOO_LARGE, f"extraction: {exc}")
    if is_document and isinstance(exc, WorkerDiedError) and exc.cause_name in CRASH_SIGNALS:
        return Outcome(Reason.UNPARSABLE, f"extraction: {exc}: it is damaged, or needs more memory than it may have")
    log.error(
        "extraction failed on %s: %s\n%s", url, exc, exc.traceback if isinstance(exc, WorkerExceptionError) else ""
    )
    return Outcome(Reason.UNEXPECTED_ERROR, str(exc))
