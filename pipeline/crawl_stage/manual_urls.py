"""Adds URLs to the crawl that a person names."""

from collections.abc import Iterable

from crawler.crawl_plan import build_crawl_plan
from crawler.settings import CrawlSettings
from crawler.urls.canonical import canonicalize_url, host_of, rejection_reason
from domain.errors import PlumblineError
from domain.frontier import NewUrl, UrlKind
from domain.outcome import Reason
from pipeline.engine import Engine

MANUAL_PRIORITY = 1.0  # the next crawl fetches these URLs first


def add_manual_urls(
    engine: Engine, texts: Iterable[str], crawl_settings: CrawlSettings | None = None
) -> tuple[int, int]:
    """Add URLs to the frontier. Returns the number of new URLs, and of all.

    `crawl_settings` decide which URLs are allowed; by default those that the engine was opened with.

    Raises PlumblineError, and adds nothing, if a text is no URL or the crawl settings exclude it.
    """
    plan = build_crawl_plan(crawl_settings or engine.settings.crawl)
    new_urls: list[NewUrl] = []
    for text in texts:
        url = canonicalize_url(text)
        reason = url if isinstance(url, Reason) else rejection_reason(url, plan.url_rules)
        if reason is not None:
            raise PlumblineError(
                "{url} was not added: it is not a valid URL, or the crawl settings exclude it.", url=text[:200]
            )
        new_urls.append(NewUrl(url, host_of(url), plan.queue_of(url), 0, UrlKind.UNKNOWN, MANUAL_PRIORITY))
    return engine.store.frontier.add_urls(new_urls), len(new_urls)
