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

from docstore.archive import PageElsewhereError
from docstore.articles.table import Extraction, LostPageError, PendingPage
from docstore.model import Outcome, Reading, Reason, SiteKnowledge
from extractor.settings import ExtractSettings
from pipeline.workers.page_reading import EXTRACTOR, read_page
from pipeline.workers.worker_process import (
    Limits,
    OverDeadlineError,
    OverMemoryError,
    WorkerDiedError,
    WorkerError,
    WorkerPool,
    WorkerProcess,
    WorkRaisedError,
)

log = logging.getLogger(__name__)

NOTHING_KNOWN = SiteKnowledge()

IN_FLIGHT = 8  # pages a worker, waiting or under way: bounds the memory
MEMORY_IN_FLIGHT = 64_000_000  # bytes, of all pages and documents together, but for one that alone takes more
TREE = 8  # bytes of memory for each byte of a page
MAX_SITES = 1_000  # that are remembered in a run
PRELOAD = ("pipeline.workers.page_reading", *EXTRACTOR)

FAULTS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP")  # of a library in C; SIGKILL came from others

Read = Callable[[PendingPage], bytes]
AskSite = Callable[[str], SiteKnowledge]


@dataclass(frozen=True)
class PageJob:
    """One page or document with its bytes and what is known of its site."""

    page: PendingPage
    data: bytes
    site: SiteKnowledge = NOTHING_KNOWN

    @property
    def memory(self) -> int:
        """Bytes that it may take while it is read, about."""
        return len(self.data) if self.page.is_document else TREE * len(self.data)


class ExtractionPools:
    """The processes that read pages and documents, for one caller at a time. `limits` is what a page may take.

    A page has a process of its own while it is read; few pages start few processes. Documents have others, with the
    limits that `settings` name: what a reader of theirs does to its process no page has to bear.
    """

    def __init__(self, settings: ExtractSettings, workers: int | None = None, limits: Limits | None = None) -> None:
        self._settings = settings
        self._most = (workers or os.cpu_count() or 1) * IN_FLIGHT
        documents = limits or Limits(settings.document_seconds, settings.document_mb)
        self._of_pages = WorkerPool(workers or os.cpu_count() or 1, limits, PRELOAD)
        self._of_documents = WorkerPool(workers or os.cpu_count() or 1, documents, PRELOAD)

    def extract(
        self, pages: Iterable[PendingPage], read: Read, ask_site: AskSite = lambda host: NOTHING_KNOWN
    ) -> Iterator[Extraction]:
        """The extraction of each page, in no order. `ask_site` says what is known of a host."""
        running: dict[Future[Extraction], int] = {}
        try:
            for job in read_jobs(pages, read, lru_cache(MAX_SITES)(ask_site)):
                if isinstance(job, Extraction):
                    yield job
                    continue
                pool = self._of_documents if job.page.is_document else self._of_pages
                while running and sum(running.values()) + job.memory > MEMORY_IN_FLIGHT:
                    yield from finished(running)
                running[pool.submit(partial(extraction_of, job, self._settings))] = job.memory
                while len(running) >= self._most:
                    yield from finished(running)
            while running:
                yield from finished(running)
        finally:
            for future in running:  # nobody waits for them any more
                future.cancel()

    def close(self) -> None:
        """End all processes."""
        self._of_pages.close()
        self._of_documents.close()


def extract_pages(
    pages: Iterable[PendingPage],
    read: Read,
    settings: ExtractSettings,
    workers: int | None = None,
    ask_site: AskSite = lambda host: NOTHING_KNOWN,
    limits: Limits | None = None,
) -> Iterator[Extraction]:
    """The extraction of each page by processes that end with it: see `ExtractionPools`."""
    with closing(ExtractionPools(settings, workers, limits)) as pools:
        yield from pools.extract(pages, read, ask_site)


def finished(running: dict[Future[Extraction], int]) -> Iterator[Extraction]:
    """Wait for some of the extractions under way (with the memory that each may take), and take them out."""
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        del running[future]
        yield future.result()


def read_jobs(pages: Iterable[PendingPage], read: Read, ask_site: AskSite) -> Iterator[PageJob | Extraction]:
    """Each page with its bytes; where they are lost, that is the end of it. One that another machine has
    not uploaded yet waits for the next extraction."""
    for page in pages:
        try:
            yield PageJob(page, read(page), ask_site(page.host))
        except PageElsewhereError as error:
            log.warning("%s waits: %s", page.url, error)
        except LostPageError as error:
            yield Extraction(page, Outcome(error.reason, str(error)))


def extraction_of(job: PageJob, settings: ExtractSettings, process: WorkerProcess) -> Extraction:
    """What a worker makes of a page."""
    page = job.page
    try:
        reading = process.call(read_page, job.data, page.url, page.content_type, page.fetched_at, job.site, settings)
    except WorkerError as error:
        reading = Reading(outcome_of(error, page.url, job.page.is_document))
    return Extraction(page, reading.result, reading.learned, reading.teaser, reading.vouched, reading.warning)


def outcome_of(error: WorkerError, url: str, is_document: bool = False) -> Outcome:
    """Why there is no result. What may be a fault of the program is logged, and counts as a failure; that a document
    brings its reader down is the document's fault."""
    if isinstance(error, OverDeadlineError):
        return Outcome(Reason.TIMED_OUT, f"extraction: {error}")
    if isinstance(error, OverMemoryError):
        return Outcome(Reason.TOO_LARGE, f"extraction: {error}")
    if is_document and isinstance(error, WorkerDiedError) and error.how in FAULTS:
        return Outcome(Reason.UNPARSABLE, f"extraction: {error}: it is damaged, or needs more memory than it may have")
    log.error(
        "extraction failed on %s: %s\n%s", url, error, error.traceback if isinstance(error, WorkRaisedError) else ""
    )
    return Outcome(Reason.FAILED, str(error))
