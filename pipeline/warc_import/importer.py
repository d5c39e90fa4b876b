"""Import pages and files from WARC files of any crawler into the store, as if the crawl had fetched them."""

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from crawler.http.content_encoding import ContentDecodingError, TooLargeError, decode_body
from crawler.http.document_types import max_response_bytes, parse_document_rules
from crawler.http.fetch import HttpResponse, interpret_response
from crawler.parsing.links import parse_page
from crawler.robots.robots_txt import product_token
from crawler.schedule.queues import QUEUE_POLICIES
from crawler.settings import CrawlSettings
from crawler.urls.canonical import MAX_URL_CHARS, canonicalize_url, host_of
from domain.errors import StoreError
from domain.frontier import FrontierEntry, NewUrl, UrlExclusion, UrlKind, Visit
from domain.message import Message
from domain.outcome import Outcome, Reason, Stage, StageReport
from domain.page import Page
from pipeline.engine import Engine
from pipeline.warc_import.sources import NO_FILTER, ImportFilter, SourceFailure, WarcSource, read_sources

PLAIN_CONTENT_START = re.compile(
    rb"\xef\xbb\xbf|\xff\xfe|\xfe\xff|%PDF-|PK\x03\x04|[^\x00-\x08\x0e-\x1a\x1c-\x1f]{0,1000}\Z"
)


class IncompleteImportError(StoreError):
    """Some files could not be read to their end. `failures` lists them; all other pages were imported."""

    def __init__(self, failures: Sequence[SourceFailure], file_count: int) -> None:
        suffix = f" (and {len(failures) - 1} more files of {file_count})" if len(failures) > 1 else ""
        super().__init__(f"{failures[0].reason}{suffix}")
        self.failures = tuple(failures)


def import_warc_files(
    engine: Engine,
    sources: Sequence[WarcSource],
    url_filter: ImportFilter = NO_FILTER,
    processes: int = 1,
    is_restore: bool = False,
) -> StageReport:
    """Import files, reading `processes` of them in parallel.

    The import is idempotent; of two versions of a page the newer one is stored. A response is interpreted as the crawl
    does, with its limits: a larger or truncated response becomes an outcome and uses no more memory than the limit.

    `is_restore` says that the files are those of this vertical and that rows of the store were lost. Pages that were
    removed since are then skipped, and a URL without a row is due, because its due time was lost.

    Raises IncompleteImportError after all files are processed if some could not be read to their end, and BusyError if
    another process crawls.
    """
    started, counts, failures = time.monotonic(), Counter[Reason](), list[SourceFailure]()
    read = partial(read_warc_pages, crawl=engine.settings.crawl, url_filter=url_filter, is_restore=is_restore)
    label = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
    with engine.lock("crawl"), engine.progress.task(f"import {label}") as advance:
        for result in read_sources(sources, read, processes):
            if isinstance(result, SourceFailure):
                failures.append(result)
                continue
            counts[result.reason if isinstance(result, Outcome) else store_page(engine, result, is_restore)] += 1
            advance(1)
        engine.store.upload_warc_files()
    if failures:
        raise IncompleteImportError(failures, len(sources))
    return StageReport(
        Stage.CRAWL, counts, time.monotonic() - started, (Message("Imported from {source}", source=label),)
    )


def read_warc_pages(
    source: WarcSource, crawl: CrawlSettings, url_filter: ImportFilter, is_restore: bool
) -> Iterator[Page | Outcome]:
    """Read a file; yields the pages to store, and an outcome for every other record. See `import_warc_files`."""
    from docstore.warc_reader import read_warc

    for result in read_warc(source, max_response_bytes(crawl), url_filter.matches):
        yield result if isinstance(result, Outcome) else interpret_page(result, crawl, is_restore)


def interpret_page(page: Page, crawl: CrawlSettings, is_restore: bool = False) -> Page | Outcome:
    """Interpret a response as the crawl does: return the page to store, or the outcome of the visit. Pure.

    Many tools store a decoded body with its original Content-Encoding, so text and documents need no coding.
    `is_restore` says that the crawl has decided to store the page.
    """
    url = canonicalize_url(page.url)
    if isinstance(url, Reason):
        return Outcome(url, page.url[:200])
    if len(url) > MAX_URL_CHARS:
        return Outcome(Reason.URL_TOO_LONG, page.url[:200])
    entry = FrontierEntry(0, url, host_of(url), 0, 0, UrlKind.UNKNOWN, 0.0)
    response = HttpResponse(url, page.status, page.headers, page.body, 0.0)
    try:
        coding = response.header("content-encoding")
        response = replace(response, body=decode_body(page.body, coding, max_response_bytes(crawl)))
    except TooLargeError as error:
        return Outcome(Reason.TOO_LARGE, f"{url[:200]}: {error}")
    except ContentDecodingError as error:
        if not PLAIN_CONTENT_START.match(page.body[:1000]):
            return Outcome(Reason.MALFORMED_RESPONSE, f"{url[:200]}: {error}")
    rules = parse_document_rules(crawl)
    result = interpret_response(entry, response, False, page.fetched_at, rules)
    if result.page is None:
        return result.outcome
    if len(response.body) > rules.max_body_bytes(result.page.format, crawl.max_bytes):
        return Outcome(Reason.TOO_LARGE, url[:200])
    if is_restore:
        return result.page
    parsed_page = parse_page(result.page, product_token(crawl.user_agent))
    if parsed_page.status is not None:
        return Outcome(parsed_page.status.reason, url[:200])
    if parsed_page.directives.noindex:
        return Outcome(Reason.NOINDEX)
    return result.page


def store_page(engine: Engine, page: Page, is_restore: bool = False) -> Reason:
    """Store the page and add its URL to the frontier.

    The crawl never fetches a URL that only the file names. If `is_restore`, it is due at once. A URL that the crawl has
    found retains its due time.

    Returns FETCHED, TAKEN_DOWN, or UNCHANGED if the stored version is equal or newer, or was removed (only if
    `is_restore`).
    """
    frontier, crawl = engine.store.frontier, engine.settings.crawl
    host = host_of(page.url)
    last_visit = frontier.last_visits([page.url]).get(page.url)
    queue = QUEUE_POLICIES[crawl.queue_policy](crawl.queues)(page.url)
    if engine.store.takedowns.find(page.url):
        return Reason.TAKEN_DOWN
    exclusion = UrlExclusion.NONE if is_restore else UrlExclusion.IMPORTED
    frontier.add_urls([NewUrl(page.url, host, queue, crawl.depth, UrlKind.UNKNOWN, 0.0, exclusion=exclusion)])
    entry = frontier.find_entries([page.url])[page.url]
    if is_restore and last_visit and not entry.digest and (last_visit.visited_at or 0.0) >= page.fetched_at:
        return Reason.UNCHANGED  # a later visit found that the page is gone, or the crawl removed it
    due_at = last_visit.due_at if last_visit else page.fetched_at
    report = engine.store.status.url_report(page.url)
    stored_page = report.page if report else None
    if stored_page and (stored_page.digest == page.digest or stored_page.fetched_at > page.fetched_at):
        return Reason.UNCHANGED
    outcome = Outcome(Reason.FETCHED, "imported")
    frontier.record_visits([Visit(entry, outcome, page.fetched_at, due_at, entry.gap, page=page)])
    return Reason.FETCHED
