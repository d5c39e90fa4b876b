"""The sitemaps and feeds of an origin, in the order of their requests. The walk ends for any structure of the files."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from crawler.robots.robots_txt import RobotsTxt
from crawler.sitemaps.sitemap import Sitemap, SitemapEntry
from crawler.urls.canonical import canonicalize_url, host_of
from crawler.urls.registrable_domains import site_domain
from crawler.workers.fetch_pool import JobKind
from domain.outcome import Reason
from domain.page import Origin

# Default paths by the protocol, by WordPress and its plugins, and by site generators.
DEFAULT_SITEMAP_FILES = ("sitemap.xml", "sitemap_index.xml", "sitemap-index.xml", "wp-sitemap.xml", "sitemap.txt")
MAX_SEED_FOLDERS = 3
MAX_INDEX_DEPTH = 3  # nested indexes
MAX_FILES_PER_ORIGIN = 500  # sitemaps and feeds per run
MAX_PAGES_PER_SITE = 1_000_000
FREE_SECONDS, MAX_TIME_SHARE = 10.0, 0.25  # of reading, before pages are fetched between files
MAX_LATE_URLS = 100_000


def robots_sitemap_urls(robots_txt: RobotsTxt, origin: Origin) -> tuple[str, ...]:
    """Return the canonical URLs of the sitemaps in robots.txt."""
    urls = (canonicalize_url(text, origin + "/") for text in robots_txt.sitemaps)
    return tuple(dict.fromkeys(url for url in urls if not isinstance(url, Reason)))


def default_sitemap_urls(origin: Origin, folders: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the default sitemap URLs at the root and in `folders`, because a manual in a folder may have its own."""
    folder_sitemaps = (f"{origin}{folder}{DEFAULT_SITEMAP_FILES[0]}" for folder in islice(folders, MAX_SEED_FOLDERS))
    return tuple(dict.fromkeys((*(f"{origin}/{name}" for name in DEFAULT_SITEMAP_FILES), *folder_sitemaps)))


class OriginSitemaps:
    """The sitemaps and feeds of one origin, fetched one after the other before its pages.

    If they need more than ten seconds and a quarter of the time, or list too many new URLs, pages are fetched between
    them.

    A sitemap on another host must be in the origin's registrable domain or be listed in robots.txt, and a feed must be
    in the origin's registrable domain. An index therefore cannot redirect the crawl to other sites.

    Args:
        rejection_reason: applies the scope to pages.
        start_urls: sitemaps listed in robots.txt.
        default_urls: sitemaps tried in order if no other sitemap lists a page.
        started_at: monotonic seconds.
    """

    def __init__(
        self,
        origin: Origin,
        rejection_reason: Callable[[str], Reason | None],
        start_urls: Sequence[str],
        default_urls: Sequence[str] = (),
        started_at: float = 0.0,
    ) -> None:
        self._rejection_reason = rejection_reason
        self._pending = deque((url, 0) for url in dict.fromkeys(start_urls))
        self._known_urls = set(start_urls)
        self.default_urls = frozenset(default_urls)
        self._default_urls = deque(default_urls)
        self._own_domain = site_domain(host_of(origin + "/"))
        self._domains = {self._own_domain, *(site_domain(host_of(url)) for url in start_urls)}
        self._feeds: deque[str] = deque()
        self._known_feeds: set[str] = set()
        self._requests_left = MAX_FILES_PER_ORIGIN
        self._page_count = 0
        self._current_depth = 0
        self._started_at = started_at
        self.reading_since: float | None = None  # start of the current file, which ends when the next one may start
        self.seconds_read = 0.0
        self.new_url_count = 0
        self.late_urls: list[str] = []  # new URLs that come after the known pages
        self.declared_urls: set[str] = set()
        self.standalone_pending = False  # a file that no page triggers is not handled yet

    def may_read(self, now: float) -> bool:
        """True if the next file may be fetched before further pages. `now` is monotonic seconds."""
        if self.standalone_pending:
            return False
        self.seconds_read += 0.0 if self.reading_since is None else now - self.reading_since
        self.reading_since = None
        max_seconds = FREE_SECONDS + MAX_TIME_SHARE * (now - self._started_at)
        return len(self.late_urls) < MAX_LATE_URLS and self.seconds_read <= max_seconds

    def next_file(self) -> tuple[JobKind, str] | None:
        """Return the next file to fetch, or None."""
        if self._requests_left <= 0:
            return None
        url, kind = self._next_sitemap(), JobKind.SITEMAP
        if url is None and self._feeds:
            url, kind = self._feeds.popleft(), JobKind.FEED
        if url is None:
            return None
        self._requests_left -= 1
        return kind, url

    def add_feeds(self, feeds: Iterable[str]) -> None:
        """Add feeds that a page of the origin declares. Feeds of other sites are ignored."""
        for feed in feeds:
            is_new = feed not in self._known_feeds and site_domain(host_of(feed)) == self._own_domain
            if is_new and len(self._known_feeds) < MAX_FILES_PER_ORIGIN:
                self._known_feeds.add(feed)
                self._feeds.append(feed)

    def add_sitemaps(self, urls: Iterable[str]) -> None:
        """Add sitemaps that a page declares."""
        self._current_depth = 0
        for url in urls:
            self._enqueue(url)

    def handle_sitemap(self, sitemap: Sitemap, redirect_url: str = "") -> tuple[SitemapEntry, ...]:
        """Handle a sitemap returned by `next_file`. Returns its pages in scope.

        Child sitemaps and a redirect target are queued.
        """
        for url in (*sitemap.child_sitemaps, *((redirect_url,) if redirect_url else ())):
            self._enqueue(url)
        entries = sitemap.entries[: MAX_PAGES_PER_SITE - self._page_count]
        allowed = tuple(entry for entry in entries if self._rejection_reason(entry.url) is None)
        self._page_count += len(allowed)
        return allowed

    def _next_sitemap(self) -> str | None:
        if self._page_count >= MAX_PAGES_PER_SITE:
            return None
        while self._default_urls and not self._pending and not self._page_count:
            url = self._default_urls.popleft()
            if url not in self._known_urls:
                self._known_urls.add(url)
                self._pending.append((url, 0))
        if not self._pending:
            return None
        url, self._current_depth = self._pending.popleft()
        return url

    def _enqueue(self, url: str) -> None:
        if url in self._known_urls or site_domain(host_of(url)) not in self._domains:
            return
        if self._current_depth < MAX_INDEX_DEPTH and len(self._known_urls) < MAX_FILES_PER_ORIGIN:
            self._known_urls.add(url)
            self._pending.append((url, self._current_depth + 1))
