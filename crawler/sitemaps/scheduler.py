"""What is asked of a site beside its pages: its sitemaps and feeds, in the turns of its pages and before them.

    robots.txt, usual places, <link rel=sitemap>, feeds -> Errands (of an origin) -> in a turn of one of its pages
                                                                                -> elsewhere: a turn of its own

A file on another origin (www or not, http or https, a host for files), or one that is named when no page of the origin
is left to be asked, has a turn of its own at its host, by that host's robots.txt and manners.
New URLs go into the table, known ones get the visit that their lastmod is worth (`lastmod.py`).
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from crawler.crawl_context import CrawlContext
from crawler.parallel.fetch_pool import Job, JobKind, SitemapDone
from crawler.robots.cache import RobotsRules
from crawler.schedule.frontier import Frontier
from crawler.schedule.result_handler import ResultHandler
from crawler.sitemaps.lastmod import DeclaredTable, dropped
from crawler.sitemaps.sitemaps import SitemapEntry
from crawler.sitemaps.walk import SitemapWalk, named_sitemaps, usual_places
from crawler.urls.canonical import host_of, origin_of, refuse
from crawler.urls.registered_domains import registrable_domain
from docstore.frontier.table import NewUrl
from docstore.model import Origin, Reason

_DECLARED_PRIORITY = -1.0
_MAX_DECLARED = 200_000  # URLs of one origin that are compared with those kept
MAX_FILES = 500  # sitemaps and feeds of one origin in a run


class OriginSitemaps:
    """The sitemaps and feeds of one origin, asked before its pages."""

    def __init__(
        self, rules: RobotsRules, origin: Origin, folders: Iterable[str], refuse_url: Callable[[str], Reason | None]
    ) -> None:
        self.walk = SitemapWalk(named_sitemaps(rules.said, origin), refuse_url, usual_places(origin, folders))
        self.feeds: deque[str] = deque()
        self.declared: set[str] = set()
        self.elsewhere = 0  # files that have a turn of their own and were not read yet
        self.rules = rules
        self._origin = origin
        self._left = MAX_FILES
        self._known: set[str] = set()

    def add_feeds(self, feeds: Iterable[str]) -> None:
        """Feeds that a page of the origin names, of the same site: others are not about it."""
        for feed in feeds:
            if feed not in self._known and self._is_own(feed) and len(self._known) < MAX_FILES:
                self._known.add(feed)
                self.feeds.append(feed)

    def next(self) -> tuple[JobKind, str] | None:
        """The file to ask for now, if any is left."""
        if self._left <= 0:
            return None
        url, kind = self.walk.next(), JobKind.SITEMAP
        if url is None:
            url, kind = self.feeds.popleft() if self.feeds else None, JobKind.FEED
        if url is None:
            return None
        self._left -= 1
        return kind, url

    def _is_own(self, url: str) -> bool:
        host, own = host_of(url), host_of(self._origin + "/")
        return host == own or (registrable_domain(host) or host) == registrable_domain(own)


class SitemapScheduler:
    """The errands of all origins of a run; none, where the table is not made for it. `add_turn` has a file asked for in
    a turn of its own, and gives the number of that turn."""

    def __init__(self, context: CrawlContext, results: ResultHandler, add_turn: Callable[[JobKind, str], int]) -> None:
        table, wanted = context.table, context.plan.sitemaps
        self._table: DeclaredTable | None = table if wanted and isinstance(table, DeclaredTable) else None
        self._plan = context.plan
        self._is_mine = context.coordinator.mine
        self._results = results
        self._lastmods = context.learned.lastmods
        self._before = context.before
        self._errands: dict[Origin, OriginSitemaps] = {}
        self._add_turn = add_turn
        self._owners: dict[int, Origin] = {}  # number of a turn -> the origin that its file is about
        self._asked: set[str] = set()  # by whatever origin

    def next(self, origin: Origin, rules: RobotsRules, frontier: Frontier) -> tuple[JobKind, str] | None:
        """The file of its own to ask for before the next page of an origin; those elsewhere have turns of their own."""
        if self._table is None:
            return None
        errands = self._errands.get(origin) or self._begin(origin, rules)
        while (file := self._next_of(errands)) is not None:
            if origin_of(file[1]) != origin:
                self._send_elsewhere(origin, *file)
            elif rules.refuse(file[1]) is None:
                return file
        if not errands.elsewhere:
            self._ask_for_dropped(self._table, origin, frontier)
        return None

    def drop(self, job: Job) -> None:
        """The file may not be asked for, or asking failed in a way that nobody expected."""
        self._errands[self._owners[job.entry.url_id]].elsewhere -= 1

    def add_named(self, origin: Origin, feeds: Iterable[str], sitemaps: Iterable[str]) -> None:
        """Feeds and sitemaps that a page of the origin names; it may have been the last one."""
        errands = self._errands.get(origin)
        if errands is not None:
            errands.add_feeds(feeds)
            errands.walk.add(sitemaps)
            self._drain(origin, errands)

    def take(self, done: SitemapDone, frontier: Frontier) -> list[NewUrl]:
        """The new URLs of a file; what it says of known ones goes into the table."""
        number = done.job.entry.url_id
        origin = self._owners.get(number) or origin_of(done.job.entry.url)
        errands = self._errands[origin]
        entries: Sequence[SitemapEntry] = done.sitemap.urls
        if done.job.kind is JobKind.SITEMAP:
            entries = of_origin(errands.walk.take(done.sitemap, done.moved_to), origin)
            errands.declared.update(one.url for one in entries)
        elif done.moved_to:
            errands.add_feeds((done.moved_to,))
        urls = [one.url for one in entries]
        new = self._results.declared(urls, _DECLARED_PRIORITY)
        if self._table is not None and urls:
            known = self._table.last_visits(urls)
            due = self._lastmods.plan(host_of(origin + "/"), entries, known, self._before)
            self._reschedule(self._table, due, frontier)
            for host in {host_of(url) for url in due}:
                frontier.reread(host)
        if number < 0:
            errands.elsewhere -= 1
            self._drain(origin, errands)
        return new

    def _begin(self, origin: Origin, rules: RobotsRules) -> OriginSitemaps:
        allowed = self._plan.rules
        folders = {url[len(origin) : url.rindex("/") + 1] for url in self._plan.seeds if origin_of(url) == origin}
        errands = OriginSitemaps(rules, origin, sorted(folders - {"/"}), lambda url: refuse(url, allowed, 1))
        self._errands[origin] = errands
        return errands

    def _drain(self, origin: Origin, errands: OriginSitemaps) -> None:
        """Nobody may ask for the next file of the origin any more: each has a turn of its own."""
        while (file := self._next_of(errands)) is not None:
            self._send_elsewhere(origin, *file)

    def _next_of(self, errands: OriginSitemaps) -> tuple[JobKind, str] | None:
        """The next file of these errands that no other ones have asked for."""
        while (file := errands.next()) is not None:
            if file[1] not in self._asked:
                self._asked.add(file[1])
                return file
        return None

    def _send_elsewhere(self, origin: Origin, kind: JobKind, url: str) -> None:
        """Its host may be in another process' hands, which knows how long it is to be left alone."""
        if self._is_mine(self._plan.queue_of(url)):
            self._errands[origin].elsewhere += 1
            self._owners[self._add_turn(kind, url)] = origin

    def _ask_for_dropped(self, table: DeclaredTable, origin: Origin, frontier: Frontier) -> None:
        """Once a site's sitemaps are read: what has left them may have left the site."""
        errands = self._errands[origin]
        declared, errands.declared = errands.declared, set()
        if 0 < len(declared) < _MAX_DECLARED:
            gone = dropped(declared, table.kept_at(origin, self._before))
            self._reschedule(table, dict.fromkeys(gone, self._before), frontier)

    def _reschedule(self, table: DeclaredTable, due: dict[str, float], frontier: Frontier) -> None:
        table.reschedule(due)
        frontier.expect({self._plan.queue_of(url) for url, at in due.items() if at <= self._before})


def of_origin(entries: Sequence[SitemapEntry], origin: Origin) -> list[SitemapEntry]:
    """The entries of a site that is asked by https: many a sitemap still names its pages by http, from which each
    would be redirected."""
    plain = f"http://{host_of(origin + '/')}/"
    if not origin.startswith("https://"):
        return list(entries)
    return [
        replace(one, url=f"{origin}/{one.url[len(plain) :]}", fetch="") if one.url.startswith(plain) else one
        for one in entries
    ]
