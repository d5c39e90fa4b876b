"""Finds a stored page that links to a URL which the crawl does not know."""

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from lxml import etree, html

from crawler.parsing.links import MAX_PARSED_BYTES, parse_page
from crawler.urls.canonical import canonicalize_url
from crawler.workers.worker_process import Limits, WorkerError, WorkerProcess
from docstore.articles.source_pages import ArchivedPage, SourcePageTable
from docstore.warc_archive import WarcRecordLostError
from domain.file_formats import HTML_FORMAT, format_for_content_type
from domain.page import Page
from pipeline.explain.page_diagnosis import LinkingPage

MAX_SEARCHED_PAGES = 300  # stored pages of the host, those nearest to a start URL first
MAX_PARSED_PAGES = 20  # of these, pages that contain the name of the file
WORKER_LIMITS = Limits(seconds=10.0, megabytes=512)


def find_linking_page(table: SourcePageTable, url: str, host: str, robots_agent: str) -> LinkingPage | None:
    """Return the stored page of `host` with the fewest links from a start URL that links to `url`; None if none does.

    Pages whose links are followed come first. At most MAX_SEARCHED_PAGES pages are read.
    """
    candidates = list(_iter_candidates(table, url, host))
    if not candidates:
        return None
    process = WorkerProcess(WORKER_LIMITS, ["pipeline.explain.linking_pages"])
    try:
        link_states = process.call(judge_links, [page for _, page in candidates], url, robots_agent)
    except WorkerError:  # a page that cannot be parsed here was not parsed by the crawl either
        return None
    finally:
        process.close()
    linking_pages = [
        LinkingPage(archived_page.url, archived_page.depth, is_followed)
        for (archived_page, _), is_followed in zip(candidates, link_states, strict=True)
        if is_followed is not None
    ]
    return min(linking_pages, key=lambda link: (not link.is_followed, link.depth), default=None)


def _iter_candidates(table: SourcePageTable, url: str, host: str) -> Iterator[tuple[ArchivedPage, Page]]:
    """Yield the pages of `host` whose text contains the last part of the URL's path."""
    path = url.split("/", 3)[3].partition("?")[0].rstrip("/")
    last_part = path.rpartition("/")[2] or path
    names = [last_part.encode(), unquote(last_part).encode(), unquote(last_part).encode("gb18030", "replace")]
    count = 0
    for archived_page in table.find_by_host(host, MAX_SEARCHED_PAGES):
        if format_for_content_type(archived_page.content_type) != HTML_FORMAT:
            continue
        try:
            page = table.read(archived_page)
        except WarcRecordLostError:
            continue
        if any(name in page.body for name in names):
            yield archived_page, page
            count += 1
            if count == MAX_PARSED_PAGES:
                return


def judge_links(pages: Sequence[Page], url: str, robots_agent: str) -> list[bool | None]:
    """Return for each page whether the crawl follows its link to `url`; None if it has no such link."""
    return [_judge_link(page, url, robots_agent) for page in pages]


def _judge_link(page: Page, url: str, robots_agent: str) -> bool | None:
    if any(link.url == url for link in parse_page(page, robots_agent).links):
        return True
    try:
        root = html.document_fromstring(page.body[:MAX_PARSED_BYTES])
    except (ValueError, etree.ParserError):
        return None
    hrefs = (anchor.get("href", "") for anchor in root.iter("a"))
    return False if any(canonicalize_url(href, page.final_url) == url for href in hrefs) else None
