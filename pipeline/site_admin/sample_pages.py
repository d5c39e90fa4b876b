"""Sample pages with their extraction, for a person who decides whether the extraction is right."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, count, islice, zip_longest
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.settings import CrawlSettings
from crawler.workers.worker_process import WorkerError, WorkerProcess
from domain.article import Article
from domain.errors import PlumblineError
from domain.page import Page
from domain.site_check import SiteCheck
from extractor.settings import ExtractSettings
from pipeline.page_source import PoliteFetcher
from pipeline.search_site.html_sanitizer import sanitize_page, x_robots_tags
from pipeline.workers.page_reading import EXTRACTOR_MODULES, read_article
from search_ui.setup.interfaces import SamplePage

SAMPLE_COUNT = 3
MAX_ATTEMPTS = 9
MAX_BODY_CHARS = 1500
MAX_HTML_CHARS = 400_000


def load_sample_pages(
    sites: Sequence[SiteCheck],
    settings: CrawlSettings,
    extract: ExtractSettings,
) -> Iterator[SamplePage]:
    """Fetch pages of the sites in turn, by the rules of the crawl, and yield up to SAMPLE_COUNT articles.

    Pages without an article are yielded at the end if there are fewer articles.
    """
    candidates = chain.from_iterable(zip_longest(*(spread_kinds(site.sample_urls) for site in sites)))
    urls = islice((url for url in candidates if url), MAX_ATTEMPTS)
    article_count, unreadable = 0, list[SamplePage]()
    modules = ["pipeline.search_site.html_sanitizer", *EXTRACTOR_MODULES]
    with (
        closing(Fetcher(settings, PublicOnlyPolicy(settings.inside_hosts))) as fetcher,
        closing(WorkerProcess(preload=modules)) as process,
    ):
        polite_fetcher = PoliteFetcher(fetcher, settings)
        for url in urls:
            try:
                page = polite_fetcher.fetch(url)
                sample = read_sample(page, process, extract) if isinstance(page, Page) else None
            except PlumblineError:  # another page will do
                continue
            if sample is not None and sample.problem:
                unreadable.append(sample)
            elif sample is not None:  # no redirect
                yield sample
                article_count += 1
                if article_count == SAMPLE_COUNT:
                    return
    yield from unreadable[: SAMPLE_COUNT - article_count]


def spread_kinds(urls: Sequence[str]) -> Sequence[str]:
    """Return the URLs with the first of each folder (section, language) and file type before the second of each."""
    numbers = defaultdict[tuple[tuple[str, ...], str], Iterator[int]](count)
    paths = {url: PurePosixPath(urlsplit(url).path) for url in urls}
    return sorted(urls, key=lambda url: next(numbers[paths[url].parts[1:-1][:1], paths[url].suffix]))


def read_sample(page: Page, process: WorkerProcess, extract: ExtractSettings) -> SamplePage:
    """Extract and sanitize a page in a separate process. Raises PlumblineError."""
    result = process.call(read_article, page.body, page.final_url, page.content_type, page.fetched_at, extract)
    sample = SamplePage(page.url, html=sanitize_sample(page, process))
    if not isinstance(result, Article):
        return replace(sample, problem=str(result.reason))
    return replace(
        sample,
        title=result.title,
        published=result.published,
        body=result.body[:MAX_BODY_CHARS],
        is_cut=len(result.body) > MAX_BODY_CHARS,
    )


def sanitize_sample(page: Page, process: WorkerProcess) -> str:
    """Return the page without active content; "" if it forbids copies, or is too large or broken."""
    try:
        safe_page = process.call(
            sanitize_page, page.body, page.content_type, page.final_url, x_robots_tags(page.headers), ""
        )
    except WorkerError:
        return ""
    return safe_page.html if len(safe_page.html) <= MAX_HTML_CHARS else ""
