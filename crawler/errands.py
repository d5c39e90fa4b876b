"""What is asked of a site beside its pages: its sitemaps and feeds, in the turns of its pages and before them.

New addresses go into the table, known ones get the visit that their lastmod is worth (`declared.py`).
"""

from collections import deque
from collections.abc import Callable, Iterable

from crawler.declared import DeclaredTable, Lastmods, dropped
from crawler.frontier import CrawlTable, Frontier
from crawler.judging import Judge
from crawler.plan import CrawlPlan
from crawler.robots import RobotsRules
from crawler.sitemap_walk import SitemapWalk, sitemaps_of
from crawler.urls import origin_of, refuse
from crawler.workers import Kind, SitemapDone
from docstore.frontier import NewUrl
from docstore.model import Reason

_DECLARED_PRIORITY = -1.0
_MOST_DECLARED = 200_000  # addresses of one origin that are compared with those kept
_MOST_FILES = 200  # sitemaps and feeds of one origin in a run


class Errands:
    """The sitemaps and feeds of one origin, asked before its pages."""

    def __init__(self, rules: RobotsRules, origin: str, refuse_url: Callable[[str], Reason | None]) -> None:
        start = sitemaps_of(rules.said, origin) if rules.sitemaps else ()
        self.walk = SitemapWalk(start, refuse_url)
        self.feeds: deque[str] = deque()
        self.declared: set[str] = set()
        self._rules = rules
        self._origin = origin
        self._left = _MOST_FILES
        self._known: set[str] = set()

    def add_feeds(self, feeds: Iterable[str]) -> None:
        """Feeds that a page of the origin names."""
        new = [feed for feed in feeds if feed not in self._known and len(self._known) < _MOST_FILES]
        self._known.update(new)
        self.feeds.extend(new)

    def next(self) -> tuple[Kind, str] | None:
        """The file to ask for now, if any is left; files elsewhere are left out: their host has its own manners."""
        while self._left > 0:
            url, kind = self.walk.next(), Kind.SITEMAP
            if url is None:
                url, kind = self.feeds.popleft() if self.feeds else None, Kind.FEED
            if url is None:
                return None
            if origin_of(url) == self._origin and self._rules.refuse(url) is None:
                self._left -= 1
                return kind, url
        return None


class SiteFiles:
    """The errands of all origins of a run; none, where the table is not made for it."""

    def __init__(
        self, table: CrawlTable, plan: CrawlPlan, judge: Judge, lastmods: Lastmods, before: float, wanted: bool
    ) -> None:
        self._table: DeclaredTable | None = table if wanted and isinstance(table, DeclaredTable) else None
        self._plan = plan
        self._judge = judge
        self._lastmods = lastmods
        self._before = before
        self._errands: dict[str, Errands] = {}

    def next(self, origin: str, rules: RobotsRules, frontier: Frontier) -> tuple[Kind, str] | None:
        """The file to ask for before the next page of an origin."""
        if self._table is None:
            return None
        if origin not in self._errands:
            allowed = self._plan.rules
            self._errands[origin] = Errands(rules, origin, lambda url: refuse(url, allowed, 1))
        file = self._errands[origin].next()
        if file is None:
            self._ask_for_dropped(self._table, origin, frontier)
        return file

    def add_feeds(self, origin: str, feeds: Iterable[str]) -> None:
        """Feeds that a page of the origin names."""
        if origin in self._errands:
            self._errands[origin].add_feeds(feeds)

    def take(self, done: SitemapDone, frontier: Frontier) -> list[NewUrl]:
        """The new addresses of a file; what it says of known ones goes into the table."""
        errands = self._errands[origin_of(done.job.entry.url)]
        entries = done.sitemap.urls
        if done.job.kind is Kind.SITEMAP:
            entries = errands.walk.take(done.sitemap)
            errands.declared.update(one.url for one in entries)
        urls = [one.url for one in entries]
        new = self._judge.declared(urls, _DECLARED_PRIORITY)
        if self._table is not None and urls:
            known = self._table.last_visits(urls)
            due = self._lastmods.plan(done.job.entry.host, entries, known, self._before)
            self._reschedule(self._table, due, frontier)
            if due:
                frontier.reread(done.job.entry.host)
        return new

    def _ask_for_dropped(self, table: DeclaredTable, origin: str, frontier: Frontier) -> None:
        """Once a site's sitemaps are read: what has left them may have left the site."""
        errands = self._errands[origin]
        declared, errands.declared = errands.declared, set()
        if 0 < len(declared) < _MOST_DECLARED:
            gone = dropped(declared, table.kept_at(origin, self._before))
            self._reschedule(table, dict.fromkeys(gone, self._before), frontier)

    def _reschedule(self, table: DeclaredTable, due: dict[str, float], frontier: Frontier) -> None:
        table.reschedule(due)
        frontier.expect({self._plan.queue_of(url) for url, at in due.items() if at <= self._before})
