"""Extraction over several processes, so that no page can take the run down with it.

A page that raises, that takes too long, or that kills its worker (a parser's segmentation fault, memory) becomes an
outcome with a reason. The pages that were in flight when a worker died are tried again one by one, each alone.
Each page is read with what was known of its site when the first one was, which goes to the worker beside the bytes.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context, parent_process
from types import FrameType

from crawler.urls import canonical
from docstore.articles import Extraction, LostPageError, PendingPage
from docstore.model import Article, Outcome, Reading, Reason, SiteKnowledge
from extractor.extract import ArticleExtractor
from extractor.near_duplicates import signature
from extractor.settings import ExtractSettings

log = logging.getLogger(__name__)

NOTHING_KNOWN = SiteKnowledge()

PAGE_SECONDS = 60
IN_FLIGHT = 8  # pages a worker, waiting or under way: bounds the memory
ALONE_UP_TO = 16  # so few pages are done before a pool of processes has started
MOST_SITES = 1_000  # that are remembered in a run
PRELOAD = [__name__, "datasketch"]

Read = Callable[[PendingPage], bytes]
AskSite = Callable[[str], SiteKnowledge]


@dataclass(frozen=True)
class Job:
    """One page with its bytes and what is known of its site."""

    page: PendingPage
    html: bytes
    site: SiteKnowledge = NOTHING_KNOWN


class TooLongError(Exception):
    """A page took longer than PAGE_SECONDS."""


def extract_pages(
    pages: Iterable[PendingPage],
    read: Read,
    settings: ExtractSettings,
    expected: int,
    workers: int | None = None,
    ask_site: AskSite = lambda host: NOTHING_KNOWN,
) -> Iterator[Extraction]:
    """The extraction of each page, in no order. `expected` is about how many there are; `ask_site` says what is known
    of a host.
    """
    workers = workers or os.cpu_count() or 1
    jobs = read_jobs(pages, read, lru_cache(MOST_SITES)(ask_site))
    if expected <= ALONE_UP_TO:
        extractor = ArticleExtractor(settings)
        yield from (job if isinstance(job, Extraction) else extracted(job, extract_one(extractor, job)) for job in jobs)
        return
    yield from extract_in_pool(jobs, settings, workers)


def read_jobs(pages: Iterable[PendingPage], read: Read, ask_site: AskSite) -> Iterator[Job | Extraction]:
    """Each page with its bytes; where they are lost, that is the end of it."""
    for page in pages:
        try:
            yield Job(page, read(page), ask_site(page.host))
        except LostPageError as error:
            yield Extraction(page, Outcome(error.reason, str(error)))


def extracted(job: Job, reading: Reading) -> Extraction:
    """A page with what was made of it."""
    return Extraction(job.page, reading.result, reading.learned)


def extract_in_pool(jobs: Iterator[Job | Extraction], settings: ExtractSettings, workers: int) -> Iterator[Extraction]:
    """Keep every worker busy with a bounded number of pages."""
    pool = new_pool(settings, workers)
    running: dict[Future[Reading], Job] = {}
    try:
        while True:
            for job in jobs:
                if isinstance(job, Extraction):
                    yield job
                    continue
                running[pool.submit(extract_in_worker, job)] = job
                if len(running) >= workers * IN_FLIGHT:
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                survivors, running = list(running.values()), {}
                pool.shutdown(wait=False, cancel_futures=True)
                yield from (extracted(job, extract_alone(job, settings)) for job in survivors)
                pool = new_pool(settings, workers)
                continue
            yield from (extracted(running.pop(future), future.result()) for future in done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def extract_alone(job: Job, settings: ExtractSettings) -> Reading:
    """A page in a process of its own: it may be the one that kills."""
    with new_pool(settings, 1) as pool:
        try:
            return pool.submit(extract_in_worker, job).result()
        except BrokenProcessPool:
            log.error("the extractor's process died on %s", job.page.url)
            return Reading(Outcome(Reason.FAILED, "the extractor's process died on this page"))


def new_pool(settings: ExtractSettings, workers: int) -> ProcessPoolExecutor:
    """Workers that each hold one extractor. Forked from a clean server, because our threads must not be forked; the
    server has loaded what they need, so that a new one is there at once.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return ProcessPoolExecutor(workers, context, initializer=set_up_worker, initargs=(settings,))


worker_extractor: ArticleExtractor | None = None


def set_up_worker(settings: ExtractSettings) -> None:
    """Make the worker's extractor; Ctrl-C is the parent's business."""
    global worker_extractor
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, name="end with parent", daemon=True).start()
    worker_extractor = ArticleExtractor(settings)


def end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next page for ever: it holds both ends of the queue."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def extract_in_worker(job: Job) -> Reading:
    """One page under a deadline."""
    assert worker_extractor is not None
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, PAGE_SECONDS)
    try:
        return extract_one(worker_extractor, job)
    except TooLongError:
        return Reading(Outcome(Reason.TIMED_OUT, f"extraction took more than {PAGE_SECONDS} s"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(_number: int, _frame: FrameType | None) -> None:
    """The deadline has passed."""
    raise TooLongError


def extract_one(extractor: ArticleExtractor, job: Job) -> Reading:
    """The one place where the unexpected in extraction is caught: logged, and kept as an outcome."""
    page = job.page
    try:
        reading = extractor.read(job.html, page.url, page.content_type, page.fetched_at, job.site)
        return replace(reading, result=completed(reading.result, page.url))
    except TooLongError:
        raise
    except Exception as error:
        log.exception("extraction failed on %s", page.url)
        return Reading(Outcome(Reason.FAILED, f"{type(error).__name__}: {error}"))


def completed(result: Article | Outcome, url: str) -> Article | Outcome:
    """An article with its signature, and with the addresses it names in the form in which the store knows them."""
    if isinstance(result, Outcome):
        return result
    return replace(
        result,
        signature=signature(result.body),
        canonical_url=known_form(result.canonical_url, url),
        next_url=known_form(result.next_url, url),
    )


def known_form(url: str, base: str) -> str:
    """The canonical form of an address that a page names; "" where it has none."""
    found = canonical(url, base) if url else ""
    return "" if isinstance(found, Reason) else found
