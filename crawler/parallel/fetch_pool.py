"""The threads that fetch and read pages. They share nothing with the loop but two queues: jobs in, results out."""

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache

from crawler.crawl_plan import CrawlPlan
from crawler.guide import Guide, PageReading
from crawler.host_suggestions import MAX_ABROAD
from crawler.http.documents import is_source_of
from crawler.http.fetch import Fetcher, FetchError, FetchResult
from crawler.http.render import Renderer
from crawler.pages.content import NO_CONTENT, Content
from crawler.pages.links import PageLinks, links_of
from crawler.pages.soft_404 import is_soft_404
from crawler.robots.cache import RobotsAnswer, fetch_robots
from crawler.sitemaps.feeds import read_feed
from crawler.sitemaps.sitemaps import Sitemap, SitemapEntry, read_sitemap
from crawler.urls.canonical import host_of, refuse
from docstore.formats import HTML
from docstore.model import FrontierEntry, Link, Origin, Outcome, Reason

logger = logging.getLogger(__name__)

_LARGEST_FILE = 50_000_000  # bytes, of a sitemap


class JobKind(StrEnum):
    """What a job asks for in the turn of its entry."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"
    PROBE = "probe"  # a page that cannot exist


@dataclass(frozen=True)
class Job:
    """Fetch the page of `entry`, as `url` if its site wants another spelling; or, in its turn, the file at `url` (of
    robots.txt: the origin)."""

    entry: FrontierEntry
    kind: JobKind = JobKind.PAGE
    url: str = ""


@dataclass(frozen=True)
class PageDone:
    """A fetched page: its result, the links on it that may be followed, and counts of those that may not.

    `feeds` and `sitemaps` are those that it names; `noindex` says that it asks not to be shown, `canonical`
    which URL it names as its own (""), `content` what it says, `abroad` are links to hosts out of scope, one each.
    """

    job: Job
    result: FetchResult
    links: tuple[Link, ...] = ()
    refused: Counter[Reason] = field(default_factory=Counter)
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    noindex: bool = False
    canonical: str = ""
    content: Content = NO_CONTENT
    abroad: tuple[Link, ...] = ()
    reading: PageReading | None = None  # as words, for a crawl that looks for a topic


@dataclass(frozen=True)
class RobotsDone:
    """A fetched robots.txt."""

    job: Job
    answer: RobotsAnswer


@dataclass(frozen=True)
class SitemapDone:
    """A sitemap or feed; empty if there is none. `moved_to` is where it is instead, if anywhere."""

    job: Job
    sitemap: Sitemap
    answered_at: float | None = None
    host_failed: bool = False
    moved_to: str = ""


Done = PageDone | RobotsDone | SitemapDone
Turn = Callable[[FrontierEntry], AbstractContextManager[bool]]
"""Around a request: may it be sent? See `crawler.parallel.coordination.Coordinator`."""
NOT_OURS = Outcome(Reason.FAILED, "another crawler has taken over the host")  # never recorded: it has the lease


def any_time(entry: FrontierEntry) -> AbstractContextManager[bool]:
    """Nobody else asks the host."""
    return nullcontext(True)


class Reader:
    """Does jobs; used by all threads. SettingsError where pages shall be rendered and nothing can do it."""

    def __init__(
        self,
        fetcher: Fetcher,
        plan: CrawlPlan,
        now: Callable[[], float],
        guide: Guide | None = None,
        turn: Turn = any_time,
    ) -> None:
        self._guide = guide
        self._turn = turn
        self._renderer = Renderer(fetcher, plan, now) if plan.rendered else None
        self._fetcher = fetcher
        self._rules = rules = plan.rules
        self._agent = plan.agent
        self._now = now
        self._delay = plan.delay
        self._refuse = lru_cache(maxsize=50_000)(lambda url: refuse(url, rules))  # most links stand on every page

    def work(self, job: Job) -> Done:
        """Do one job. Never raises: the unexpected is logged and becomes an outcome."""
        try:
            with self._turn(job.entry) as is_ours:
                return self._done(job) if is_ours else PageDone(job, FetchResult(NOT_OURS))
        except Exception as error:
            logger.exception("unexpected failure at %s", job.url or job.entry.url)
            return PageDone(job, FetchResult(Outcome(Reason.FAILED, f"{type(error).__name__}: {error}"[:300])))

    def _done(self, job: Job) -> Done:
        if job.kind is JobKind.ROBOTS:
            # Between the hops of a redirected robots.txt, the only case of two requests in one job, lies the delay.
            pause = lambda: time.sleep(self._delay)  # noqa: E731
            return RobotsDone(job, fetch_robots(self._fetcher, Origin(job.url), self._now, pause))
        if job.kind in (JobKind.PAGE, JobKind.PROBE):
            done = self._page(job)
            return self._with_words(done) if job.kind is JobKind.PAGE else done
        return self._sitemap(job)

    def close(self) -> None:
        """End the browser, if there is one, once its page under way is done."""
        if self._renderer is not None:
            self._renderer.close()

    def _page(self, job: Job) -> PageDone:
        result = self._rendered(job.entry, self._fetcher.fetch(job.entry, job.url))
        page = result.page
        if page is None:
            return PageDone(job, result)
        if page.format == HTML and is_soft_404(page.body):
            gone = FetchResult(Outcome(Reason.GONE, "it says so, with status 200"), answered_at=result.answered_at)
            return PageDone(job, gone)
        said = links_of(page, self._agent)
        links, refused = self._followable(said, page.url, job.entry.depth + 1)
        noindex = said.directives.noindex
        named, abroad = self._named(said, page.url), self._abroad(said)
        return PageDone(job, result, links, refused, said.feeds, said.sitemaps, noindex, named, said.content, abroad)

    def _rendered(self, entry: FrontierEntry, result: FetchResult) -> FetchResult:
        if result.page is None or result.page.format != HTML:
            return result
        if self._renderer is None or not self._renderer.wants(result.page):
            return result
        page = self._renderer.render(result.page)
        if page.digest == entry.digest:
            return replace(result, outcome=Outcome(Reason.UNCHANGED, "the same once rendered"), page=None)
        return replace(result, page=page)

    def _with_words(self, done: PageDone) -> PageDone:
        if self._guide is None or done.result.page is None:
            return done
        return replace(done, reading=self._guide.read(done.result.page, done.links))

    def _named(self, said: PageLinks, url: str) -> str:
        """The other URL that a page names as its own, if it may be asked."""
        named = said.canonical
        return named if named and named != url and self._refuse(named) is None else ""

    def _abroad(self, said: PageLinks) -> tuple[Link, ...]:
        """One link to each host that is out of scope."""
        found: dict[str, Link] = {}
        for link in said.links:
            if self._refuse(link.url) is Reason.OFF_SCOPE:
                host = host_of(link.url)
                if host not in self._rules.by_host and len(found) < MAX_ABROAD:
                    found.setdefault(host, link)
        return tuple(found.values())

    def _followable(self, said: PageLinks, url: str, depth: int) -> tuple[tuple[Link, ...], Counter[Reason]]:
        """The links of a page that the rules allow at `depth`, and how many they refuse, by reason."""
        refused = Counter(said.refused)
        if depth > self._rules.deepest:
            return (), refused
        links: list[Link] = []
        for link in said.links:
            language = said.languages.get(link.url, "")
            reason = refuse(link.url, self._rules, depth, language) if language else self._refuse(link.url)
            if reason is None and is_source_of(link.url, url):
                reason = Reason.NOT_TEXT
            if reason is None:
                links.append(link)
            else:
                refused[reason] += 1
        return tuple(links), refused

    def _sitemap(self, job: Job) -> SitemapDone:
        try:
            answer = self._fetcher.ask(job.url, {}, lambda status, _: status == 200, _LARGEST_FILE)
        except FetchError as error:
            return SitemapDone(job, Sitemap(), host_failed=error.host_failed)
        moved_to = answer.target
        if moved_to is not None:
            target = "" if isinstance(moved_to, Reason) else moved_to
            return SitemapDone(job, Sitemap(), answer.answered_at, moved_to=target)
        kind = answer.header("content-type")
        if job.kind is JobKind.SITEMAP:
            return SitemapDone(job, read_sitemap(answer.body, job.url, kind), answer.answered_at)
        feed = read_feed(answer.body, job.url, kind)
        entries = tuple(SitemapEntry(one.url, one.fetch, one.at, one.title) for one in feed.entries)
        return SitemapDone(job, Sitemap(entries), answer.answered_at)


class FetchPool:
    """`count` threads for the jobs of `reader`. `submit` only while `idle`; results come from `next`, in any order."""

    def __init__(self, count: int, reader: Reader) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._reader = reader
        self._count = count
        self.under_way = 0
        self._threads = [
            threading.Thread(target=self._run, name=f"crawl-{number}", daemon=True) for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def idle(self) -> int:
        """How many more jobs can start at once."""
        return self._count - self.under_way

    def submit(self, job: Job) -> None:
        """Start a job."""
        self.under_way += 1
        self._jobs.put(job)

    def next(self, seconds: float) -> Done | None:
        """The next result, waiting for it at most so long; None if there is none yet."""
        if self.under_way == 0:
            time.sleep(seconds)
            return None
        try:
            done = self._results.get(timeout=seconds) if seconds > 0 else self._results.get_nowait()
        except queue.Empty:
            return None
        self.under_way -= 1
        return done

    def close(self) -> None:
        """Let every thread end after the job it is at, without waiting for it (a fetch may take a minute), and the
        browser."""
        for _ in self._threads:
            self._jobs.put(None)
        self._reader.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._results.put(self._reader.work(job))
