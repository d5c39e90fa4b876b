"""Take in anyone's crawl: pages and documents of WARC files become the store's, as if we had fetched them."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawler.http.content_type import content_type_of
from crawler.http.documents import DocumentRules, document_rules, media_of
from crawler.schedule.queues import QUEUE_POLICIES
from crawler.settings import CrawlSettings
from crawler.urls.canonical import MAX_URL, canonical, host_of
from docstore.errors import StoreError
from docstore.formats import HTML
from docstore.frontier.table import NewUrl, Visit
from docstore.model import Kind, Outcome, Page, Reason, Stage, StageReport
from pipeline.engine import Engine
from pipeline.import_sources import ALL_URLS, Failed, ImportFilter, WarcSource, answers_in, read_all

HTML_TYPES = ("text/html", "application/xhtml+xml")


def import_warc(engine: Engine, path: Path) -> StageReport:
    """Import one file. Raises StoreError when it cannot be read to its end; what came before the fault is kept."""
    return import_warcs(engine, [WarcSource(str(path))])


def import_warcs(
    engine: Engine, sources: Sequence[WarcSource], taken: ImportFilter = ALL_URLS, processes: int = 1
) -> StageReport:
    """Import files, so many read side by side. Importing one twice changes nothing the second time; of two versions the
    newer wins.

    The caps of the crawl hold: an answer that is larger, or has no end, becomes an outcome and costs no more memory
    than they allow. Raises StoreError when files cannot be read to their end; the others are imported before.
    """
    started, counts, failed = time.monotonic(), Counter[Reason](), list[Failed]()
    crawl = engine.settings.crawl
    read = partial(answers_in, cap=max(crawl.max_bytes, document_rules(crawl).max_bytes), taken=taken)
    named = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
    with engine.lock("crawl"), engine.progress.task(f"import {named}") as advance:
        for answer in read_all(sources, read, processes):
            if isinstance(answer, Failed):
                failed.append(answer)
                continue
            counts[answer.reason if isinstance(answer, Outcome) else import_page(engine, answer)] += 1
            advance(1)
        engine.store.upload_pages()
    if failed:
        more = f" (and {len(failed) - 1} more files of {len(sources)})" if len(failed) > 1 else ""
        raise StoreError(f"{failed[0].why}{more}")
    return StageReport(Stage.CRAWL, counts, time.monotonic() - started, (f"imported from {named}",))


def import_page(engine: Engine, page: Page) -> Reason:
    """Keep one page if it is a page and new; returns what became of it."""
    url = canonical(page.url)
    if isinstance(url, Reason):
        return url
    if len(url) > MAX_URL:
        return Reason.TOO_LONG
    if page.status != 200:
        return Reason.HTTP_ERROR
    if not page.body.strip():
        return Reason.EMPTY
    name = format_of(page, document_rules(engine.settings.crawl))
    if not name:
        return Reason.NOT_HTML
    if len(page.body) > cap_of(engine.settings.crawl, name):
        return Reason.TOO_LARGE
    kind = media_of(name, page.content_type)
    return keep(engine, replace(page, url=url, final_url=url, content_type=kind, format=name))


def format_of(page: Page, documents: DocumentRules) -> str:
    """What an answer is, `html` or the format of a document; "" for neither. What is called HTML is taken for that."""
    if content_type_of(page.content_type).type in HTML_TYPES:
        return documents.format_of("", page.body) or HTML
    disposition = next((value for name, value in page.headers if name.lower() == "content-disposition"), "")
    return documents.format_of(documents.claimed(page.url, page.content_type, disposition), page.body)


def cap_of(crawl: CrawlSettings, name: str) -> int:
    """The most bytes that an answer of a format may have."""
    return crawl.max_bytes if name == HTML else document_rules(crawl).cap(name, crawl.max_bytes)


def keep(engine: Engine, page: Page) -> Reason:
    """Add the URL to the frontier (never to be asked unless the crawl finds it too) and keep the page."""
    frontier, crawl = engine.store.frontier, engine.settings.crawl
    host = host_of(page.url)
    queue = QUEUE_POLICIES[crawl.queue_policy](crawl.queues)(page.url)
    frontier.add([NewUrl(page.url, host, queue, crawl.depth, Kind.UNKNOWN, 0.0)])
    entry = frontier.entries([page.url])[page.url]
    told = engine.store.status.explain(page.url)
    kept = told.page if told else None
    if kept and (kept.digest == page.digest or kept.fetched_at > page.fetched_at):
        return Reason.UNCHANGED
    outcome = Outcome(Reason.FETCHED, "imported")
    frontier.record([Visit(entry, outcome, page.fetched_at, None, 0.0, page=page)])
    return Reason.FETCHED
