"""Which sitemaps of a site to ask for next, and what its pages are: a walk that ends, however the files are linked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from crawler.domains import registrable_domain
from crawler.robots_rules import RobotsTxt
from crawler.sitemaps import Sitemap, SitemapEntry
from crawler.urls import canonical, host_of
from docstore.model import Reason

USUAL_PLACES = ("/sitemap.xml", "/sitemap_index.xml")  # where sites keep one that robots.txt does not name
DEEPEST = 3  # indexes in indexes
MOST_FILES = 1000
MOST_URLS = 1_000_000


def sitemaps_of(said: RobotsTxt, origin: str) -> tuple[str, ...]:
    """Canonical addresses at which a walk begins: those that robots.txt names, else the usual places."""
    named = (canonical(text, origin + "/") for text in said.sitemaps)
    found = tuple(dict.fromkeys(url for url in named if not isinstance(url, Reason)))
    return found or tuple(origin + place for place in USUAL_PLACES)


@dataclass
class SitemapWalk:
    """The sitemaps of one site, asked one after the other.

    `refuse` is the scope's word on pages. A sitemap may lie on another host only within the site's registrable domain,
    or where robots.txt names it: an index must not send us elsewhere.
    """

    start: Iterable[str]
    refuse: Callable[[str], Reason | None]
    refused: dict[Reason, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        begin = list(dict.fromkeys(self.start))
        self._waiting = [(url, 0) for url in begin]
        self._known = set(begin)
        self._domains = {_domain(url) for url in begin}
        self._pages = 0
        self._depth = 0

    def next(self) -> str | None:
        """The sitemap to ask for now; None at the end of the walk."""
        if not self._waiting or self._pages >= MOST_URLS:
            return None
        url, self._depth = self._waiting.pop(0)
        return url

    def take(self, sitemap: Sitemap) -> tuple[SitemapEntry, ...]:
        """The pages in scope of the sitemap that `next` named; what else it names is asked later."""
        for entry in sitemap.sitemaps:
            self._enqueue(entry.url)
        allowed = []
        for entry in sitemap.urls[: MOST_URLS - self._pages]:
            reason = self.refuse(entry.url)
            if reason is None:
                allowed.append(entry)
            else:
                self._count(reason)
        self._pages += len(allowed)
        return tuple(allowed)

    def _enqueue(self, url: str) -> None:
        if url in self._known:
            return
        if _domain(url) not in self._domains:
            self._count(Reason.OFF_SCOPE)
        elif self._depth >= DEEPEST or len(self._known) >= MOST_FILES:
            self._count(Reason.TOO_DEEP)
        else:
            self._known.add(url)
            self._waiting.append((url, self._depth + 1))

    def _count(self, reason: Reason) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1


def _domain(url: str) -> str:
    host = host_of(url)
    return registrable_domain(host) or host
