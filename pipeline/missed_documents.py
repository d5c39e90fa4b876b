"""Documents that earlier crawls passed by: those that kept pages link to are put into the frontier."""

import re
from collections.abc import Iterator

from crawler.crawl_plan import CrawlPlan, plan_of
from crawler.host_suggestions import with_added
from crawler.http.documents import document_rules, is_source_of
from crawler.pages.links import links_of
from crawler.settings import FOCUSED, CrawlSettings
from crawler.urls.canonical import ending_of, host_of, refuse
from docstore.archive import LostPageError
from docstore.articles.originals import KeptPage
from docstore.articles.table import PendingPage
from docstore.formats import BY_ENDING, FORMATS, HTML, format_of_type
from docstore.frontier.table import NewUrl
from docstore.model import Kind, Page
from pipeline.engine import Engine

FOR_TOPIC = 0.0  # priority: the pages that link to them were kept, so they speak of the topic


def add_missed_documents(engine: Engine, settings: CrawlSettings) -> int:
    """Add the documents that the kept pages link to, of formats that no crawl fetched so far; how many are new.

    Every page is read once from the archive. What is killed goes on with the next crawl.
    """
    missed = engine.store.missed
    wanted = document_rules(settings).formats
    new = missed.new_formats(wanted)
    if not new:
        if wanted:
            missed.done(sorted(wanted))
        return 0
    added, plan = 0, plan_of(with_added(settings, engine.settings.data_dir))
    endings = "|".join(ending for name in new for ending in FORMATS[name].endings)
    mark = re.compile(rf"\.(?:{endings})\b".encode(), re.IGNORECASE)
    with engine.progress.task("documents", engine.store.status.pages_count()) as advance:
        while pages := missed.next_pages():
            links = [link for page in pages for link in documents_on(engine, page, plan, mark, new)]
            added += engine.store.frontier.add(links)
            missed.read_to(pages[-1].url_id)
            advance(len(pages))
    asked = missed.ask_refused(settings.incremental == "new_only")
    missed.done(sorted(wanted))
    if added or asked:
        engine.progress.note(f"documents are fetched now: {added} are linked to, {asked} URLs are asked again")
    return added


def documents_on(
    engine: Engine, kept: KeptPage, plan: CrawlPlan, mark: re.Pattern[bytes], formats: set[str]
) -> Iterator[NewUrl]:
    """The documents that a kept page links to, by the rules of the crawl."""
    if format_of_type(kept.content_type) != HTML:
        return
    pending = PendingPage(kept.url_id, kept.url, kept.content_type, kept.digest, kept.pointer, kept.fetched_at)
    try:
        body = engine.store.articles.read_page(pending)
    except LostPageError:
        return
    if not mark.search(body):
        return
    page = Page(kept.url_id, kept.url, kept.final_url, 200, kept.content_type, body, kept.digest, kept.fetched_at)
    depth = kept.depth + 1
    priority = FOR_TOPIC if plan.strategy in FOCUSED else -float(depth)
    for link in links_of(page, plan.agent).links:
        is_wanted = BY_ENDING.get(ending_of(link.url)) in formats and not is_source_of(link.url, kept.url)
        if is_wanted and refuse(link.url, plan.rules, depth) is None:
            host, queue = host_of(link.url), plan.queue_of(link.url)
            yield NewUrl(link.url, host, queue, depth, Kind.UNKNOWN, priority, kept.url_id, link.anchor, link.context)
