"""Which sitemaps of a site to ask for next, and what its pages are: a walk that ends, however the files are linked."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from crawler.robots.rules import RobotsTxt
from crawler.sitemaps.sitemaps import Sitemap, SitemapEntry
from crawler.urls.canonical import canonical, host_of
from crawler.urls.registered_domains import registrable_domain
from docstore.model import Origin, Reason

# Where sites keep one that robots.txt does not name: by the protocol, by WordPress and its plugins, by site generators.
USUAL_PLACES = ("sitemap.xml", "sitemap_index.xml", "sitemap-index.xml", "wp-sitemap.xml", "sitemap.txt")
MAX_FOLDERS = 3
DEEPEST = 3  # indexes in indexes
MAX_FILES = 1000
MAX_URLS = 1_000_000


def named_sitemaps(said: RobotsTxt, origin: Origin) -> tuple[str, ...]:
    """Canonical URLs of the sitemaps that robots.txt names."""
    named = (canonical(text, origin + "/") for text in said.sitemaps)
    return tuple(dict.fromkeys(url for url in named if not isinstance(url, Reason)))


def usual_places(origin: Origin, folders: Iterable[str] = ()) -> tuple[str, ...]:
    """Where a sitemap may be that nobody names: at the root, and in `folders`, as a manual in a folder has its own."""
    first = (f"{origin}{folder}{USUAL_PLACES[0]}" for folder in islice(folders, MAX_FOLDERS))
    return tuple(dict.fromkeys((*(f"{origin}/{name}" for name in USUAL_PLACES), *first)))


@dataclass
class SitemapWalk:
    """The sitemaps of one site, asked one after the other.

    `refuse` is the scope's word on pages. A sitemap may lie on another host only within the site's registrable domain,
    or where robots.txt names it: an index must not send us elsewhere.
    """

    start: Iterable[str]
    refuse: Callable[[str], Reason | None]
    usual: Sequence[str] = ()  # asked one after the other where the others name no page
    refused: dict[Reason, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        begin = list(dict.fromkeys(self.start))
        self._waiting = deque((url, 0) for url in begin)
        self._known = set(begin)
        self._usual = deque(self.usual)
        self._domains = {_domain(url) for url in (*begin, *self._usual)}
        self._pages = 0
        self._depth = 0

    def next(self) -> str | None:
        """The sitemap to ask for now; None at the end of the walk."""
        if self._pages >= MAX_URLS:
            return None
        if not self._waiting and not self._pages:
            self._try_usual()
        if not self._waiting:
            return None
        url, self._depth = self._waiting.popleft()
        return url

    def add(self, urls: Iterable[str]) -> None:
        """Sitemaps that a page names."""
        self._depth = 0
        for url in urls:
            self._enqueue(url)

    def take(self, sitemap: Sitemap, moved_to: str = "") -> tuple[SitemapEntry, ...]:
        """The pages in scope of the sitemap that `next` named; what else it names, or where it has moved, is asked
        later."""
        for url in (*(entry.url for entry in sitemap.sitemaps), *((moved_to,) if moved_to else ())):
            self._enqueue(url)
        allowed = []
        for entry in sitemap.urls[: MAX_URLS - self._pages]:
            reason = self.refuse(entry.url)
            if reason is None:
                allowed.append(entry)
            else:
                self._count(reason)
        self._pages += len(allowed)
        return tuple(allowed)

    def _try_usual(self) -> None:
        while self._usual and not self._waiting:
            url = self._usual.popleft()
            if url not in self._known:
                self._known.add(url)
                self._waiting.append((url, 0))

    def _enqueue(self, url: str) -> None:
        if url in self._known:
            return
        if _domain(url) not in self._domains:
            self._count(Reason.OFF_SCOPE)
        elif self._depth >= DEEPEST or len(self._known) >= MAX_FILES:
            self._count(Reason.TOO_DEEP)
        else:
            self._known.add(url)
            self._waiting.append((url, self._depth + 1))

    def _count(self, reason: Reason) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1


def _domain(url: str) -> str:
    host = host_of(url)
    return registrable_domain(host) or host
