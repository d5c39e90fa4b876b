"""Take in anyone's crawl: the HTML answers of a WARC file become pages of the store, as if we had fetched them."""

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from crawler.queues import QUEUE_POLICIES
from crawler.urls import canonical, host_of
from docstore.archive import read_warc
from docstore.frontier import NewUrl, Visit
from docstore.model import Kind, Outcome, Page, Reason, Stage, StageReport
from pipeline.engine import Engine

HTML = ("text/html", "application/xhtml+xml")


def import_warc(engine: Engine, path: Path) -> StageReport:
    """Import `path`. Importing a file twice changes nothing the second time; of two versions the newer wins.

    Raises StoreError when the file cannot be read; what came before the fault is kept.
    """
    started, counts = time.monotonic(), Counter[Reason]()
    with engine.lock("crawl"), engine.progress.task(f"import {path.name}") as advance:
        for page in read_warc(path):
            counts[import_page(engine, page)] += 1
            advance(1)
    return StageReport(Stage.CRAWL, counts, time.monotonic() - started, (f"imported from {path.name}",))


def import_page(engine: Engine, page: Page) -> Reason:
    """Keep one page if it is a page and new; returns what became of it."""
    url = canonical(page.url)
    if isinstance(url, Reason):
        return url
    if page.status != 200:
        return Reason.HTTP_ERROR
    if page.content_type.partition(";")[0].strip().lower() not in HTML:
        return Reason.NOT_HTML
    if not page.body.strip():
        return Reason.EMPTY
    return keep(engine, replace(page, url=url, final_url=url))


def keep(engine: Engine, page: Page) -> Reason:
    """Add the address to the frontier (never to be asked unless the crawl finds it too) and keep the page."""
    frontier, crawl = engine.store.frontier, engine.settings.crawl
    host = host_of(page.url)
    queue = QUEUE_POLICIES[crawl.queue_policy](crawl.queues)(page.url)
    frontier.add([NewUrl(page.url, host, queue, crawl.depth, Kind.UNKNOWN, 0.0)])
    entry = frontier.entries([page.url])[page.url]
    rows = engine.store.status.explain(page.url)["pages"]
    if rows and (rows[0]["digest"] == page.digest or rows[0]["fetched_at"] > page.fetched_at):
        return Reason.UNCHANGED
    outcome = Outcome(Reason.FETCHED, "imported")
    frontier.record([Visit(entry, outcome, page.fetched_at, None, 0.0, page=page)])
    return Reason.FETCHED
