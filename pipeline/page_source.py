"""Load a single page for display: from a file, from the archive, or from its site.

Pages are untrusted, so they are parsed in a separate process (`run_isolated`), as in the extract stage.
"""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.throttled_fetcher import ThrottledFetcher
from crawler.parsing.links import parse_page
from crawler.robots.robots_cache import RobotsRules, fetch_robots, parse_stored_robots
from crawler.robots.robots_txt import product_token
from crawler.schedule.throttle import HostThrottle
from crawler.settings import CrawlSettings
from crawler.urls.canonical import canonicalize_url, host_of, url_origin
from crawler.workers.fetch_pool import PARSING_LIMITS
from crawler.workers.worker_process import WorkerError, WorkerProcess
from docstore.articles.source_pages import ArchivedPage
from domain.article import EMPTY_SITE_TEMPLATE, SiteTemplate
from domain.errors import PlumblineError
from domain.file_formats import FORMAT_BY_EXTENSION, FORMATS_BY_NAME
from domain.frontier import FrontierEntry, UrlKind
from domain.outcome import Outcome, Reason
from domain.page import Link, Origin, Page, WarcPointer
from pipeline.workers.page_reading import EXTRACTOR_MODULES

if TYPE_CHECKING:  # worker processes import this module without store, index and site
    from pipeline.engine import Engine

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class LoadedPage:
    """A page with its metadata.

    Attributes:
        label: Name of the page in messages: URL, path or "standard input".
        body: Content in bytes.
        url: Canonical URL, "" if unknown.
        content_type: Content-Type header, "" if unknown.
        fetched_at: Epoch seconds, 0 if unknown.
        site: Learned template of the site.
    """

    label: str
    body: bytes
    url: str
    content_type: str = ""
    fetched_at: float = 0.0
    site: SiteTemplate = EMPTY_SITE_TEMPLATE


def canonical_url(url: str) -> str:
    """Return the canonical form of a URL. Raises PlumblineError if the URL is invalid."""
    canonical_or_reason = canonicalize_url(url)
    if isinstance(canonical_or_reason, Reason):
        raise PlumblineError(f"{url!r} is not a URL: {canonical_or_reason}")
    return canonical_or_reason


def run_isolated(page: LoadedPage, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function(*args, **kwargs)`, which parses `page`, in a separate process (see worker_process.py).

    Raises PlumblineError with the label of the page if the call exceeds its time or memory or kills the process.
    """
    with closing(WorkerProcess(preload=[function.__module__, *EXTRACTOR_MODULES])) as process:
        try:
            return process.call(function, *args, **kwargs)
        except WorkerError as error:
            raise PlumblineError(f"{page.label}: {error}") from error


class LinkReader:
    """Reads the links of saved pages in a worker process. Close it after use."""

    def __init__(self) -> None:
        self._process = WorkerProcess(PARSING_LIMITS, [parse_page.__module__])
        self.close = self._process.close

    def read(self, page: Page, robots_agent: str = "") -> Sequence[Link]:
        """Return the links of a page; none if it cannot be parsed within the limits."""
        try:
            return self._process.call(parse_page, page, robots_agent).links
        except WorkerError as error:
            log.warning("links of %s cannot be read: %s", page.url, error)
            return ()


def load_page_file(path: Path, url: str) -> LoadedPage:
    """Load a page from disk, or from standard input for `-`. Raises PlumblineError if it cannot be read."""
    if str(path) == "-":
        return LoadedPage("standard input", sys.stdin.buffer.read(), url, fetched_at=time.time())
    format_name = FORMAT_BY_EXTENSION.get(path.suffix.removeprefix(".").lower())
    content_type = FORMATS_BY_NAME[format_name].media_types[0] if format_name else ""
    try:
        return LoadedPage(str(path), path.read_bytes(), url, content_type, time.time())
    except OSError as error:
        raise PlumblineError(f"cannot read {path}: {error.strerror}") from error


def load_stored_page(engine: "Engine", raw_url: str) -> LoadedPage:
    """Load the saved version of a page. Raises PlumblineError if there is none or its WARC record is lost."""
    url = canonical_url(raw_url)
    report = engine.store.status.url_report(url)
    stored_page = report.page if report else None
    if stored_page is None:
        raise PlumblineError(f"no saved page of {url}: `plumb explain {url}` shows the reason")
    articles, host = engine.store.articles, host_of(url)
    pointer = WarcPointer(stored_page.warc_file, stored_page.warc_offset, stored_page.warc_length)
    page = ArchivedPage(
        stored_page.url_id, url, stored_page.content_type, stored_page.digest, pointer, stored_page.fetched_at, host
    )
    html = articles.read_page_body(page)
    return LoadedPage(url, html, url, page.content_type, page.fetched_at, articles.site_template(host))


def fetch_page(raw_url: str, settings: CrawlSettings) -> LoadedPage:
    """Fetch a page by the rules of the crawl: robots.txt, crawl delay, public IP addresses only.

    Redirects are followed up to `crawl.max_redirects`; each counts as a request. Raises PlumblineError with the reason
    if there is no page.
    """
    url = canonical_url(raw_url)
    with closing(Fetcher(settings, PublicOnlyPolicy(settings.inside_hosts))) as fetcher:
        polite_fetcher = PoliteFetcher(fetcher, settings)
        for _ in range(settings.max_redirects + 1):
            page_or_redirect = polite_fetcher.fetch(url)
            if isinstance(page_or_redirect, Page):
                return LoadedPage(
                    page_or_redirect.url,
                    page_or_redirect.body,
                    page_or_redirect.url,
                    page_or_redirect.content_type,
                    page_or_redirect.fetched_at,
                )
            url = page_or_redirect
    raise PlumblineError(f"{raw_url}: {Reason.TOO_MANY_REDIRECTS}")


class PoliteFetcher:
    """Sends the requests of one `fetch_page` call with robots.txt rules and delays."""

    def __init__(self, fetcher: Fetcher, settings: CrawlSettings) -> None:
        self.throttle = HostThrottle(settings)
        self.fetcher = ThrottledFetcher(fetcher, self.throttle)
        self.robots_agent = product_token(settings.user_agent)
        self.rules_by_origin: dict[str, RobotsRules] = {}

    def fetch(self, url: str) -> Page | str:
        """Fetch a URL after the delay; returns the page, or the target of a redirect. Raises PlumblineError."""
        rules = self.robots_rules(url_origin(url))
        refusal = rules.rejection_outcome(url)
        if refusal is not None:
            raise unreadable_url_error(url, refusal)
        self.throttle.raise_crawl_delay(host_of(url), rules.crawl_delay)
        result = self.fetcher.fetch(FrontierEntry(0, url, host_of(url), 0, 0, UrlKind.UNKNOWN, 0.0))
        if result.page is None and not result.redirect_url:
            raise unreadable_url_error(url, result.outcome)
        return result.page or result.redirect_url

    def robots_rules(self, origin: Origin) -> RobotsRules:
        """Return the robots.txt rules of an origin, from memory or fetched now.

        Raises PlumblineError if the fetch fails; the next call then tries again.
        """
        if origin not in self.rules_by_origin:
            robots = fetch_robots(self.fetcher, origin, time.time)
            if robots.failure is not None:
                raise unreadable_url_error(origin, robots.failure)
            self.rules_by_origin[origin] = parse_stored_robots(robots.robots_file, self.robots_agent)
        return self.rules_by_origin[origin]


def unreadable_url_error(url: str, outcome: Outcome) -> PlumblineError:
    """Create the error for a URL that could not be read: URL, reason and detail in one line."""
    return PlumblineError(": ".join(part for part in (url, str(outcome.reason), outcome.detail) if part))
