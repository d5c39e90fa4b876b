"""Extraction in several worker processes, so that no page can stop the run.

A page that raises, exceeds the time or memory limit, or crashes its process (such as a segmentation fault of a parser)
becomes an outcome with a reason. Other pages are not affected. All pages of a site use the site template that was
current when its first page was submitted; it is sent to the worker with the bytes of the page.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache, partial

from crawler.memory_budget import return_large_blocks
from crawler.workers.worker_process import (
    Limits,
    WorkerDiedError,
    WorkerError,
    WorkerExceptionError,
    WorkerMemoryError,
    WorkerPool,
    WorkerProcess,
    WorkerTimeoutError,
    iter_results,
)
from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.source_pages import ArchivedPage
from docstore.warc_archive import WarcRecordLostError, WarcRecordNotUploadedError
from domain.article import EMPTY_SITE_TEMPLATE, ExtractionResult, SiteTemplate
from domain.message import Message, error_message
from domain.outcome import Outcome, Reason
from domain.recognized_page import RecognizedPage
from extractor.settings import ExtractSettings
from pipeline.workers.page_reading import EXTRACTOR_MODULES, extract_page

log = logging.getLogger(__name__)


MAX_IN_FLIGHT_PER_WORKER = 16  # pages per worker, queued or running; bounds the memory
# Estimated memory of all pages in flight, per worker. A page that needs more than all is processed by itself.
MAX_IN_FLIGHT_BYTES_PER_WORKER = 32_000_000
BYTES_PER_PAGE_BYTE = 8  # memory for each byte of HTML: text in several forms, and the result
BYTES_PER_TAG = 350  # memory for each start and end tag: tree and layout
SITE_CACHE_SIZE = 1_000  # site templates
WORKER_PRELOAD = ("pipeline.workers.page_reading", *EXTRACTOR_MODULES)

CRASH_SIGNALS = (
    "SIGSEGV",
    "SIGABRT",
    "SIGBUS",
    "SIGILL",
    "SIGFPE",
    "SIGTRAP",
)  # sent by a crash in a C library; SIGKILL has other causes

ReadPage = Callable[[ArchivedPage], bytes]
LookUpSite = Callable[[str], SiteTemplate]
LookUpRecognizedPages = Callable[[int, str], tuple[RecognizedPage, ...]]


@dataclass(frozen=True)
class PageJob:
    """A page or document with its bytes, the template of its site, and its pages that OCR has read."""

    page: ArchivedPage
    data: bytes
    site: SiteTemplate = EMPTY_SITE_TEMPLATE
    recognized_pages: tuple[RecognizedPage, ...] = ()


class ExtractionPools:
    """Worker processes for pages and documents, for one caller at a time.

    A worker processes one page at a time; few pages start few processes. Documents have a separate pool with the limits
    from `settings`, so that a crash of a document parser does not affect pages.

    Args:
        workers: processes per pool; default: the number of cores
        limits: limits of each call, for both pools; default: `Limits()` for pages, those of `settings` for documents
    """

    def __init__(self, settings: ExtractSettings, workers: int | None = None, limits: Limits | None = None) -> None:
        self._settings = settings
        return_large_blocks()
        workers = workers or os.cpu_count() or 1
        self._max_in_flight = workers * MAX_IN_FLIGHT_PER_WORKER
        self._max_in_flight_bytes = workers * MAX_IN_FLIGHT_BYTES_PER_WORKER
        documents = limits or Limits(settings.document_seconds, settings.document_mb)
        self._page_pool = WorkerPool(workers, limits, WORKER_PRELOAD)
        self._document_pool = WorkerPool(workers, documents, WORKER_PRELOAD)

    def extract(
        self,
        pages: Iterable[ArchivedPage],
        read_page_bytes: ReadPage,
        look_up_site: LookUpSite = lambda host: EMPTY_SITE_TEMPLATE,
        look_up_recognized_pages: LookUpRecognizedPages = lambda url_id, digest: (),
    ) -> Iterator[PageExtraction]:
        """Yield the extraction of each page, in their order.

        Args:
            read_page_bytes: returns the stored bytes of a page
            look_up_site: returns the template of a host
            look_up_recognized_pages: returns the recognized pages of a version (digest) of a document
        """
        jobs = iter_jobs(pages, read_page_bytes, lru_cache(SITE_CACHE_SIZE)(look_up_site), look_up_recognized_pages)
        return iter_results(jobs, self._submit, self._max_in_flight, estimate_bytes, self._max_in_flight_bytes)

    def close(self) -> None:
        """Terminate all processes of the pool."""
        self._page_pool.close()
        self._document_pool.close()

    def _submit(self, job: PageJob | PageExtraction) -> Future[PageExtraction]:
        """Submit a job to the pool of its kind; an extraction that failed before is the result already."""
        if isinstance(job, PageExtraction):
            future: Future[PageExtraction] = Future()
            future.set_result(job)
            return future
        pool = self._document_pool if job.page.is_document else self._page_pool
        return pool.submit(partial(extract_in_worker, job, self._settings))


def estimate_bytes(job: PageJob | PageExtraction) -> int:
    """Estimate the memory of an extraction, in bytes; 0 for one that failed before."""
    if isinstance(job, PageExtraction):
        return 0
    if job.page.is_document:
        return len(job.data)
    return BYTES_PER_PAGE_BYTE * len(job.data) + BYTES_PER_TAG * job.data.count(b"<")


def iter_jobs(
    pages: Iterable[ArchivedPage],
    read_page_bytes: ReadPage,
    look_up_site: LookUpSite,
    look_up_recognized_pages: LookUpRecognizedPages = lambda url_id, digest: (),
) -> Iterator[PageJob | PageExtraction]:
    """Read the bytes of each page.

    Yields a failed extraction if the bytes are lost. Skips a page whose record another machine has not uploaded yet: it
    stays pending for the next extraction.
    """
    for page in pages:
        try:
            may_be_recognized = "html" not in page.content_type  # a PDF can have any other type
            recognized_pages = look_up_recognized_pages(page.url_id, page.digest) if may_be_recognized else ()
            yield PageJob(page, read_page_bytes(page), look_up_site(page.host), recognized_pages)
        except WarcRecordNotUploadedError as error:
            log.warning("extraction of %s deferred: %s", page.url, error)
        except WarcRecordLostError as error:
            yield PageExtraction(page, Outcome(error.reason, str(error)))


def extract_in_worker(job: PageJob, settings: ExtractSettings, process: WorkerProcess) -> PageExtraction:
    """Extract one page in a worker process; a worker error becomes an outcome."""
    page = job.page
    try:
        reading = process.call(
            extract_page,
            job.data,
            page.url,
            page.content_type,
            page.fetched_at,
            job.site,
            settings,
            job.recognized_pages,
        )
    except WorkerError as error:
        reading = ExtractionResult(outcome_for_error(error, page.url, job.page.is_document))
    return PageExtraction(
        page, reading.result, reading.page_traits, reading.teaser, reading.is_declared_article, reading.warning
    )


def outcome_for_error(exc: WorkerError, url: str, is_document: bool = False) -> Outcome:
    """Map a worker error to an outcome.

    A possible defect of the program is logged and counts as a failure. A document that crashes its parser does not.
    """
    if isinstance(exc, WorkerTimeoutError):
        return Outcome(Reason.TIMED_OUT, _extraction_message(exc))
    if isinstance(exc, WorkerMemoryError):
        return Outcome(Reason.TOO_LARGE, _extraction_message(exc))
    if is_document and isinstance(exc, WorkerDiedError) and exc.cause_name in CRASH_SIGNALS:
        return Outcome(
            Reason.UNPARSABLE,
            Message(
                "Extraction: {cause}; the document is damaged, or needs more memory than the limit",
                cause=error_message(exc),
            ),
        )
    log.error(
        "extraction failed on %s: %s\n%s", url, exc, exc.traceback if isinstance(exc, WorkerExceptionError) else ""
    )
    return Outcome(Reason.UNEXPECTED_ERROR, error_message(exc))


def _extraction_message(exc: WorkerError) -> Message:
    return Message("Extraction: {reason}", reason=error_message(exc))
