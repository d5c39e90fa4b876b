"""Saved pages and files for the search site, read from the archive and sanitized in a worker process.

    Originals(...).find(doc_id)       URL, time, format
    .sanitized_html(doc_id)           the sanitized page (`html_sanitizer`)
    .file_bytes(doc_id)               the bytes of a file

A request can only name the id of an article in the store. One page at a time is sanitized, in a process with limits on
time and memory. Concurrent requests wait up to LOCK_TIMEOUT_SECONDS.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from crawler.robots.page_directives import parse_x_robots_tag
from crawler.robots.robots_txt import product_token
from crawler.workers.worker_process import Limits, WorkerError, WorkerProcess
from docstore.articles.source_pages import ArchivedPage, SourcePageTable
from docstore.warc_archive import WarcRecordLostError
from domain.file_formats import HTML_FORMAT, format_for_content_type
from domain.page import Page
from pipeline.search_site.html_sanitizer import MAX_HTML_LENGTH, sanitize_page, x_robots_tags
from search_ui.interfaces import OriginalDocument, OriginalError

log = logging.getLogger(__name__)

WORKER_LIMITS = Limits(seconds=15.0, megabytes=512)
LOCK_TIMEOUT_SECONDS = 5.0  # then the request fails with "busy"
PAGE_CACHE_SIZE = 4  # sanitized pages; a browser requests the frame right after the page around it


class Originals:
    """Access to saved pages and files. Thread-safe; close it after use.

    `user_agent` is the User-Agent of the crawl. Robots rules for it apply.
    """

    def __init__(self, table: SourcePageTable, user_agent: str) -> None:
        self._table = table
        self._robots_agent = product_token(user_agent)
        self._process = WorkerProcess(WORKER_LIMITS, ["pipeline.search_site.html_sanitizer"])
        self._lock = threading.Lock()
        self._html_by_digest: OrderedDict[str, str] = OrderedDict()

    def find(self, doc_id: str) -> OriginalDocument | None:
        """Return the metadata of an article's saved page; None if there is none."""
        archived_page = self._table.find_by_doc_id(doc_id)
        if archived_page is None:
            return None
        return OriginalDocument(
            archived_page.final_url,
            archived_page.fetched_at,
            format_for_content_type(archived_page.content_type),
            archived_page.digest,
            archived_page.host,
        )

    def find_ids(self, doc_ids: Collection[str]) -> Collection[str]:
        """Return the ids of those articles that have a saved page, with one query. At most 500 ids."""
        return self._table.find_by_doc_ids(doc_ids).keys()

    def sanitized_html(self, doc_id: str) -> str:
        """Return the sanitized page of an article. Raises OriginalError with the reason if it cannot be shown."""
        archived_page = self._require_page(doc_id)
        if format_for_content_type(archived_page.content_type) != HTML_FORMAT:
            raise OriginalError("not_found")
        with self._exclusive():
            if archived_page.digest not in self._html_by_digest:
                self._html_by_digest[archived_page.digest] = self._sanitize(archived_page)
                if len(self._html_by_digest) > PAGE_CACHE_SIZE:
                    self._html_by_digest.popitem(last=False)
            return self._html_by_digest[archived_page.digest]

    def file_bytes(self, doc_id: str) -> bytes:
        """Return the bytes of a file. Raises OriginalError with the reason if it cannot be shown."""
        archived_page = self._require_page(doc_id)
        if format_for_content_type(archived_page.content_type) == HTML_FORMAT:
            raise OriginalError("not_found")
        with self._exclusive():
            page = self._read(archived_page)
        if parse_x_robots_tag(x_robots_tags(page.headers), self._robots_agent).noarchive:
            raise OriginalError("refused")
        return page.body

    def close(self) -> None:
        """Terminate the worker process, if it runs."""
        self._process.close()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Admit one request at a time. Raises OriginalError after LOCK_TIMEOUT_SECONDS."""
        if not self._lock.acquire(timeout=LOCK_TIMEOUT_SECONDS):
            raise OriginalError("busy")
        try:
            yield
        finally:
            self._lock.release()

    def _require_page(self, doc_id: str) -> ArchivedPage:
        archived_page = self._table.find_by_doc_id(doc_id)
        if archived_page is None:
            raise OriginalError("not_found")
        return archived_page

    def _read(self, archived_page: ArchivedPage) -> Page:
        try:
            return self._table.read(archived_page)
        except WarcRecordLostError as error:
            log.warning("%s: %s", archived_page.url, error)
            raise OriginalError("lost") from error

    def _sanitize(self, archived_page: ArchivedPage) -> str:
        page = self._read(archived_page)
        arguments = (
            page.body,
            archived_page.content_type,
            archived_page.final_url,
            x_robots_tags(page.headers),
            self._robots_agent,
        )
        try:
            sanitized_page = self._process.call(sanitize_page, *arguments)
        except WorkerError as error:
            log.warning("cannot sanitize the saved page of %s: %s", archived_page.url, error)
            raise OriginalError("unreadable") from error
        if sanitized_page.is_noarchive:
            raise OriginalError("refused")
        if not sanitized_page.html or len(sanitized_page.html) > MAX_HTML_LENGTH:
            raise OriginalError("unreadable")
        return sanitized_page.html
