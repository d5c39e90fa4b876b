"""Add files (PDF, Word and others) that saved pages link to, after their formats were enabled."""

import re
from collections.abc import Iterator
from contextlib import closing

from crawler.crawl_plan import CrawlPlan, build_crawl_plan
from crawler.http.document_types import is_plain_text_version, parse_document_rules
from crawler.settings import FOCUSED_STRATEGIES, CrawlSettings
from crawler.urls.canonical import host_of, path_extension, rejection_reason
from docstore.articles.source_pages import ArchivedPage
from docstore.warc_archive import WarcRecordLostError
from domain.file_formats import FORMAT_BY_EXTENSION, FORMATS_BY_NAME
from domain.frontier import NewUrl, UrlKind
from domain.page import Page
from pipeline.engine import Engine
from pipeline.page_source import LinkReader

FOCUSED_PRIORITY = 0.0  # neutral; the linking pages were saved, so they are on topic


def backfill_documents(engine: Engine, settings: CrawlSettings) -> int:
    """Add the files that saved pages link to, of formats that no earlier crawl fetched.

    Reads each saved page once from the archive. After an interruption the next crawl resumes. Returns the number of
    new URLs.
    """
    backfill = engine.store.document_backfill
    enabled_formats = parse_document_rules(settings).formats
    new_formats = backfill.missing_formats(enabled_formats)
    if not new_formats:
        if enabled_formats:
            backfill.finish(sorted(enabled_formats))
        return 0
    added_count, plan = 0, build_crawl_plan(settings)
    endings = "|".join(ending for name in new_formats for ending in FORMATS_BY_NAME[name].extensions)
    extension_pattern = re.compile(rf"\.(?:{endings})\b".encode(), re.IGNORECASE)
    with (
        engine.progress.task("documents", engine.store.status.page_count()) as advance,
        closing(LinkReader()) as reader,
    ):
        while pages := backfill.next_batch(new_formats):
            links = [
                link
                for page in pages
                for link in iter_document_links(engine, reader, page, plan, extension_pattern, new_formats)
            ]
            added_count += engine.store.frontier.add_urls(links)
            backfill.advance_to(pages[-1].url_id, new_formats)
            advance(len(pages))
    requeued_count = backfill.requeue_rejected()
    backfill.finish(sorted(enabled_formats))
    if added_count or requeued_count:
        engine.progress.note(
            f"document formats enabled: {added_count} linked documents added, {requeued_count} URLs rescheduled"
        )
    return added_count


def iter_document_links(
    engine: Engine,
    reader: LinkReader,
    page: ArchivedPage,
    plan: CrawlPlan,
    extension_pattern: re.Pattern[bytes],
    formats: set[str],
) -> Iterator[NewUrl]:
    """Yield the files of `formats` that a saved page links to and that the crawl rules allow."""
    if page.is_document:
        return
    try:
        body = engine.store.articles.read_page_body(page)
    except WarcRecordLostError:
        return
    if not extension_pattern.search(body):
        return
    fetched_page = Page(
        page.url_id, page.url, page.final_url, 200, page.content_type, body, page.digest, page.fetched_at
    )
    depth = page.depth + 1
    priority = FOCUSED_PRIORITY if plan.strategy in FOCUSED_STRATEGIES else -float(depth)
    for link in reader.read(fetched_page, plan.product_token):
        is_missing_format = FORMAT_BY_EXTENSION.get(path_extension(link.url)) in formats and not is_plain_text_version(
            link.url, page.url
        )
        if is_missing_format and rejection_reason(link.url, plan.url_rules, depth) is None:
            host, queue = host_of(link.url), plan.queue_of(link.url)
            yield NewUrl(
                link.url, host, queue, depth, UrlKind.UNKNOWN, priority, page.url_id, link.anchor, link.context
            )
