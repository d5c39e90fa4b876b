"""Extraction over several processes, so that no page can take the run down with it.

A page that raises, that takes too long, or that kills its worker (a parser's segmentation fault, memory) becomes an
outcome with a reason. The pages that were in flight when a worker died are tried again one by one, each alone.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from types import FrameType

from docstore.articles import Extraction, LostPageError, PendingPage
from docstore.model import Article, Outcome, Reason
from extractor.extract import ArticleExtractor
from extractor.settings import ExtractSettings

log = logging.getLogger(__name__)

PAGE_SECONDS = 60
IN_FLIGHT = 8  # pages a worker, waiting or under way: bounds the memory
ALONE_UP_TO = 16  # so few pages are done before a pool of processes has started


@dataclass(frozen=True)
class Job:
    """One page with its bytes."""

    page: PendingPage
    html: bytes


class TooLongError(Exception):
    """A page took longer than PAGE_SECONDS."""


def extract_pages(
    pages: Iterable[PendingPage],
    read: Callable[[PendingPage], bytes],
    settings: ExtractSettings,
    expected: int,
    workers: int | None = None,
) -> Iterator[Extraction]:
    """The extraction of each page, in no order. `expected` is about how many there are."""
    workers = workers or os.cpu_count() or 1
    if expected <= ALONE_UP_TO:
        extractor = ArticleExtractor(settings)
        yield from (extract_or_say_why(page, read, lambda job: extract_one(extractor, job)) for page in pages)
        return
    yield from extract_in_pool(iter(pages), read, settings, workers)


def extract_or_say_why(
    page: PendingPage, read: Callable[[PendingPage], bytes], extract: Callable[[Job], Article | Outcome]
) -> Extraction:
    """One page, here."""
    try:
        return Extraction(page, extract(Job(page, read(page))))
    except LostPageError as error:
        return Extraction(page, Outcome(Reason.LOST_PAGE, str(error)))


def extract_in_pool(
    pages: Iterator[PendingPage],
    read: Callable[[PendingPage], bytes],
    settings: ExtractSettings,
    workers: int,
) -> Iterator[Extraction]:
    """Keep every worker busy with a bounded number of pages."""
    pool = new_pool(settings, workers)
    running: dict[Future[Article | Outcome], Job] = {}
    try:
        while True:
            for page in pages:
                try:
                    job = Job(page, read(page))
                except LostPageError as error:
                    yield Extraction(page, Outcome(Reason.LOST_PAGE, str(error)))
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
                yield from (Extraction(job.page, extract_alone(job, settings)) for job in survivors)
                pool = new_pool(settings, workers)
                continue
            yield from (Extraction(running.pop(future).page, future.result()) for future in done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def extract_alone(job: Job, settings: ExtractSettings) -> Article | Outcome:
    """A page in a process of its own: it may be the one that kills."""
    with new_pool(settings, 1) as pool:
        try:
            return pool.submit(extract_in_worker, job).result()
        except BrokenProcessPool:
            log.error("the extractor's process died on %s", job.page.url)
            return Outcome(Reason.FAILED, "the extractor's process died on this page")


def new_pool(settings: ExtractSettings, workers: int) -> ProcessPoolExecutor:
    """Workers that each hold one extractor. Forked from a clean server, because our threads must not be forked."""
    return ProcessPoolExecutor(workers, get_context("forkserver"), initializer=set_up_worker, initargs=(settings,))


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


def extract_in_worker(job: Job) -> Article | Outcome:
    """One page under a deadline."""
    assert worker_extractor is not None
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, PAGE_SECONDS)
    try:
        return extract_one(worker_extractor, job)
    except TooLongError:
        return Outcome(Reason.TIMED_OUT, f"extraction took more than {PAGE_SECONDS} s")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(_number: int, _frame: FrameType | None) -> None:
    """The deadline has passed."""
    raise TooLongError


def extract_one(extractor: ArticleExtractor, job: Job) -> Article | Outcome:
    """The one place where the unexpected in extraction is caught: logged, and kept as an outcome."""
    try:
        return extractor.extract(job.html, job.page.url, job.page.content_type, job.page.fetched_at)
    except TooLongError:
        raise
    except Exception as error:
        log.exception("extraction failed on %s", job.page.url)
        return Outcome(Reason.FAILED, f"{type(error).__name__}: {error}")
