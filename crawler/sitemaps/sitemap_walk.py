"""Walk through the sitemaps of a site. The walk ends for any structure of the files."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from crawler.robots.robots_txt import RobotsTxt
from crawler.sitemaps.sitemap import Sitemap, SitemapEntry
from crawler.urls.canonical import canonicalize_url, host_of
from crawler.urls.registrable_domains import registrable_domain
from domain.outcome import Reason
from domain.page import Origin

# Default paths by the protocol, by WordPress and its plugins, and by site generators.
DEFAULT_SITEMAP_FILES = ("sitemap.xml", "sitemap_index.xml", "sitemap-index.xml", "wp-sitemap.xml", "sitemap.txt")
MAX_SEED_FOLDERS = 3
MAX_INDEX_DEPTH = 3  # nested indexes
MAX_SITEMAPS_PER_SITE = 1000
MAX_PAGES_PER_SITE = 1_000_000


def robots_sitemap_urls(robots_txt: RobotsTxt, origin: Origin) -> tuple[str, ...]:
    """Return the canonical URLs of the sitemaps in robots.txt."""
    urls = (canonicalize_url(text, origin + "/") for text in robots_txt.sitemaps)
    return tuple(dict.fromkeys(url for url in urls if not isinstance(url, Reason)))


def default_sitemap_urls(origin: Origin, folders: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the default sitemap URLs at the root and in `folders`, because a manual in a folder may have its own."""
    folder_sitemaps = (f"{origin}{folder}{DEFAULT_SITEMAP_FILES[0]}" for folder in islice(folders, MAX_SEED_FOLDERS))
    return tuple(dict.fromkeys((*(f"{origin}/{name}" for name in DEFAULT_SITEMAP_FILES), *folder_sitemaps)))


@dataclass
class SitemapWalk:
    """The sitemaps of one site, fetched one after the other.

    `rejection_reason` applies the scope to pages. A sitemap on another host must be in the site's registrable domain or
    be listed in robots.txt. An index therefore cannot redirect the crawl to other sites.
    """

    start_urls: Iterable[str]
    rejection_reason: Callable[[str], Reason | None]
    default_urls: Sequence[str] = ()  # tried in order if no other sitemap lists a page

    def __post_init__(self) -> None:
        start_urls = list(dict.fromkeys(self.start_urls))
        self._pending = deque((url, 0) for url in start_urls)
        self._known_urls = set(start_urls)
        self._default_urls = deque(self.default_urls)
        self._domains = {_site_domain(url) for url in (*start_urls, *self._default_urls)}
        self._page_count = 0
        self._current_depth = 0

    def next_url(self) -> str | None:
        """Return the next sitemap to fetch, or None at the end of the walk."""
        if self._page_count >= MAX_PAGES_PER_SITE:
            return None
        if not self._pending and not self._page_count:
            self._enqueue_default()
        if not self._pending:
            return None
        url, self._current_depth = self._pending.popleft()
        return url

    def add_sitemaps(self, urls: Iterable[str]) -> None:
        """Add sitemaps that a page declares."""
        self._current_depth = 0
        for url in urls:
            self._enqueue(url)

    def handle_sitemap(self, sitemap: Sitemap, redirect_url: str = "") -> tuple[SitemapEntry, ...]:
        """Handle the sitemap returned by `next_url`. Returns its pages in scope.

        Child sitemaps and a redirect target are queued.
        """
        for url in (*sitemap.child_sitemaps, *((redirect_url,) if redirect_url else ())):
            self._enqueue(url)
        entries = sitemap.entries[: MAX_PAGES_PER_SITE - self._page_count]
        allowed = tuple(entry for entry in entries if self.rejection_reason(entry.url) is None)
        self._page_count += len(allowed)
        return allowed

    def _enqueue_default(self) -> None:
        while self._default_urls and not self._pending:
            url = self._default_urls.popleft()
            if url not in self._known_urls:
                self._known_urls.add(url)
                self._pending.append((url, 0))

    def _enqueue(self, url: str) -> None:
        if url in self._known_urls or _site_domain(url) not in self._domains:
            return
        if self._current_depth < MAX_INDEX_DEPTH and len(self._known_urls) < MAX_SITEMAPS_PER_SITE:
            self._known_urls.add(url)
            self._pending.append((url, self._current_depth + 1))


def _site_domain(url: str) -> str:
    host = host_of(url)
    return registrable_domain(host) or host
