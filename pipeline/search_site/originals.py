"""Pages and documents as they were fetched, for the search site: read from the archive, made harmless in a process.

    Originals(...).of(doc_id)      where, when, what
    .html(doc_id)                  the page, harmless (`safe_html`)
    .file(doc_id)                  the bytes of a document

A reader names an article of the store and nothing else. One page at a time is made harmless, in a process that has a
deadline and so much memory; who comes meanwhile waits a little.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from crawler.robots.cache import product_token
from docstore.archive import LostPageError
from docstore.articles.originals import KeptPage, OriginalTable
from docstore.formats import HTML, format_of_type
from docstore.model import Page
from pipeline.search_site.safe_html import MAX_HTML, asks_no_copy_of_file, robots_headers, safe_page
from pipeline.workers.worker_process import Limits, WorkerError, WorkerProcess
from search_ui.actions import Original, OriginalError

log = logging.getLogger(__name__)

LIMITS = Limits(seconds=15.0, megabytes=512)
PATIENCE = 5.0  # seconds until a reader is told to come again
MAX_KEPT = 4  # pages that are remembered: the frame is asked for right after what stands around it


class Originals:
    """Safe to use from many threads; close it after use. `agent` is the User-Agent that the crawl was made with."""

    def __init__(self, table: OriginalTable, agent: str) -> None:
        self._table = table
        self._agent = product_token(agent)
        self._process = WorkerProcess(LIMITS, ["pipeline.search_site.safe_html"])
        self._guard = threading.Lock()
        self._made: OrderedDict[str, str] = OrderedDict()

    def of(self, doc_id: str) -> Original | None:
        """What is kept of an article's page; None where there is nothing."""
        kept = self._table.of(doc_id)
        if kept is None:
            return None
        return Original(kept.final_url, kept.fetched_at, format_of_type(kept.content_type), kept.digest)

    def html(self, doc_id: str) -> str:
        """The page of an article, harmless. OriginalError says why there is none to be shown."""
        kept = self._kept(doc_id)
        if format_of_type(kept.content_type) != HTML:
            raise OriginalError("not_found")
        with self._turn():
            if kept.digest not in self._made:
                self._made[kept.digest] = self._safe(kept)
                if len(self._made) > MAX_KEPT:
                    self._made.popitem(last=False)
            return self._made[kept.digest]

    def file(self, doc_id: str) -> bytes:
        """The bytes of a document. OriginalError says why there are none to be had."""
        kept = self._kept(doc_id)
        if format_of_type(kept.content_type) == HTML:
            raise OriginalError("not_found")
        with self._turn():
            page = self._read(kept)
        if asks_no_copy_of_file(robots_headers(page.headers), self._agent):
            raise OriginalError("refused")
        return page.body

    def close(self) -> None:
        """End the process, if there is one."""
        self._process.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One at a time. OriginalError where that takes too long."""
        if not self._guard.acquire(timeout=PATIENCE):
            raise OriginalError("busy")
        try:
            yield
        finally:
            self._guard.release()

    def _kept(self, doc_id: str) -> KeptPage:
        kept = self._table.of(doc_id)
        if kept is None:
            raise OriginalError("not_found")
        return kept

    def _read(self, kept: KeptPage) -> Page:
        try:
            return self._table.read(kept)
        except LostPageError as error:
            log.warning("%s: %s", kept.url, error)
            raise OriginalError("lost") from error

    def _safe(self, kept: KeptPage) -> str:
        page = self._read(kept)
        arguments = (page.body, kept.content_type, kept.final_url, robots_headers(page.headers), self._agent)
        try:
            found = self._process.call(safe_page, *arguments)
        except WorkerError as error:
            log.warning("%s cannot be shown as it was: %s", kept.url, error)
            raise OriginalError("unreadable") from error
        if found.refused:
            raise OriginalError("refused")
        if not found.html or len(found.html) > MAX_HTML:
            raise OriginalError("unreadable")
        return found.html
