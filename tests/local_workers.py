"""Extraction for tests: in temporary pools, or without worker processes, because each loads the extractor again."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from unittest.mock import patch

from crawler.workers.worker_process import Limits, WorkerExceptionError, WorkerProcess
from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.source_pages import ArchivedPage
from domain.article import EMPTY_SITE_TEMPLATE
from domain.errors import PlumblineError
from extractor.settings import ExtractSettings
from pipeline.workers.extraction_pool import ExtractionPools, LookUpSite, ReadPage


@contextmanager
def local_workers() -> Iterator[None]:
    """Run the calls of `WorkerProcess` in this process, without its limits of time and memory."""
    with patch.object(WorkerProcess, "call", _call_here):
        yield


def _call_here(_: WorkerProcess, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return work(*args, **kwargs)
    except PlumblineError:
        raise
    except Exception as error:
        raise WorkerExceptionError(f"{type(error).__name__}: {error}", traceback.format_exc()) from error


def extract_pages(
    pages: Iterable[ArchivedPage],
    read: ReadPage,
    settings: ExtractSettings,
    workers: int,
    look_up_site: LookUpSite = lambda host: EMPTY_SITE_TEMPLATE,
    limits: Limits | None = None,
) -> Iterator[PageExtraction]:
    """Extract pages in pools that are closed at the end of the iteration."""
    with closing(ExtractionPools(settings, workers, limits)) as pools:
        yield from pools.extract(pages, read, look_up_site)
