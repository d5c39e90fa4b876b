"""What is asked of an origin beside its pages: robots.txt, sitemaps and feeds, and pages that cannot exist.

A robots.txt, sitemap or feed is asked for in the turn of a page of its origin, which waits for it as the origin's other
pages do. Sitemaps and feeds on other hosts, and pages that cannot exist, have turns of their own at their hosts.
"""

import itertools
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from crawler.crawl_context import CrawlContext
from crawler.parallel.fetch_pool import Done, FetchPool, Job, JobKind, PageDone, RobotsDone, SitemapDone
from crawler.robots.cache import Robots
from crawler.schedule.frontier import Frontier
from crawler.schedule.result_handler import ResultHandler
from crawler.schedule.throttle import NEVER, HostThrottle
from crawler.sitemaps.scheduler import SitemapScheduler
from crawler.urls.canonical import host_of, origin_of
from docstore.frontier.table import NewUrl
from docstore.model import FrontierEntry, Kind, Outcome


@dataclass
class OwnTurns:
    """Jobs that wait for their turn. Their entries have numbers below 0: the table does not know them."""

    waiting: dict[int, Job] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(-1, -1))

    def add(self, kind: JobKind, url: str) -> int:
        """Ask for a URL; the number of its entry."""
        number = next(self._numbers)
        self.waiting[number] = Job(FrontierEntry(number, url, host_of(url), 0, 0, Kind.UNKNOWN, 0.0), kind, url)
        return number

    def next(self, throttle: HostThrottle, now: float, not_of: Container[str]) -> Job | None:
        """A job whose host may be asked now, and whose origin is none of those whose robots.txt is being asked for."""
        for number, job in self.waiting.items():
            if origin_of(job.url) not in not_of and throttle.next_start(job.entry.host, now) <= now:
                return self.waiting.pop(number)
        return None

    def seconds(self, throttle: HostThrottle, now: float) -> float:
        """Until there may be a turn; NEVER if nothing waits, or only for what is under way."""
        starts = (throttle.next_start(job.entry.host, now) for job in self.waiting.values())
        return max(min(starts, default=NEVER) - now, 0.0)

    def put_back(self, job: Job) -> None:
        """It was not asked for after all."""
        self.waiting[job.entry.url_id] = job


class OriginRequests:
    """Starts and finishes the requests for all that is no page of the table. Used by one thread."""

    def __init__(
        self, context: CrawlContext, frontier: Frontier, throttle: HostThrottle, pool: FetchPool, results: ResultHandler
    ) -> None:
        self._clock = context.clock
        self._frontier, self._throttle, self._pool, self._results = frontier, throttle, pool, results
        self._robots = Robots(context.table, context.plan.agent, context.now)
        self._turns = OwnTurns()
        self._sitemaps = SitemapScheduler(context, results, self._turns.add)
        self._waiting: dict[str, list[FrontierEntry]] = {}  # origin of which a file is under way -> who waits for it

    # -- starting

    def refuse(self, entry: FrontierEntry) -> Outcome | None:
        """Why robots.txt forbids a page; None where it does not, or is not known yet."""
        origin = origin_of(entry.url)
        rules = None if origin in self._waiting else self._robots.rules(origin)
        return rules.refuse(entry.url) if rules else None

    def ask_before(self, entry: FrontierEntry) -> bool:
        """Use the turn of a page for what its origin is asked first. False: for nothing, the turn is the page's."""
        origin = origin_of(entry.url)
        if origin in self._waiting:
            self._waiting[origin].append(entry)
            return True
        rules = self._robots.rules(origin)
        if rules is None:
            file: tuple[JobKind, str] | None = (JobKind.ROBOTS, origin)
        else:
            self._throttle.slow_down(entry.host, rules.delay)
            file = self._sitemaps.next(origin, rules, self._frontier)
        if file is None:
            return False
        self._waiting[origin] = []
        self._pool.submit(Job(entry, *file))
        return True

    def start_own_turn(self) -> bool:
        """Begin with a request that has a turn of its own, by the robots.txt of where it goes; False if none may."""
        job = self._turns.next(self._throttle, self._clock(), self._waiting)
        if job is None:
            return False
        self._throttle.started(job.entry.host, self._clock())
        origin = origin_of(job.url)
        rules = self._robots.rules(origin)
        if rules is None:
            self._waiting[origin] = []
            self._turns.put_back(job)
            self._pool.submit(Job(job.entry, JobKind.ROBOTS, origin))
        elif rules.refuse(job.url) is not None or self._throttle.is_resting(job.entry.host):
            self._throttle.withdrawn(job.entry.host)
            self._drop(job)
        else:
            self._throttle.slow_down(job.entry.host, rules.delay)
            self._pool.submit(job)
        return True

    def seconds(self) -> float:
        """Until a request may have a turn of its own; NEVER if none waits, or only for what is under way."""
        return self._turns.seconds(self._throttle, self._clock())

    def probe(self, urls: Iterable[str]) -> None:
        """Ask for pages that cannot exist, when their hosts may be asked."""
        for url in urls:
            self._turns.add(JobKind.PROBE, url)

    def add_named(self, done: PageDone) -> None:
        """Feeds and sitemaps that a page names."""
        self._sitemaps.add_named(origin_of(done.job.entry.url), done.feeds, done.sitemaps)

    # -- finishing

    def finish(self, done: Done) -> tuple[Outcome | None, list[NewUrl]]:
        """Take a result: why the page in whose turn it was asked for is not fetched (None: it is, in another turn, or
        there was no page), and URLs that are new."""
        entry = done.job.entry
        if isinstance(done, PageDone) and done.job.kind is JobKind.PROBE:
            new = self._probed(done)
            self._frontier.freed(entry.host)
            return None, new
        outcome, new = None, list[NewUrl]()
        if isinstance(done, RobotsDone):
            outcome = self._learn_rules(done)
        elif isinstance(done, SitemapDone):
            self._throttle.finished(entry.host, self._clock(), done.answered_at, done.host_failed)
            new = self._sitemaps.take(done, self._frontier)
        else:  # an unexpected failure
            self._throttle.finished(entry.host, self._clock(), good=False)
            outcome = done.result.outcome
        if entry.url_id < 0:  # a turn of its own
            if isinstance(done, PageDone):
                self._drop(done.job)
            self._frontier.freed(entry.host)
            outcome = None
        elif outcome is None:
            self._frontier.put_back(entry)
        self._wake(origin_of(entry.url))
        return outcome, new

    def _learn_rules(self, done: RobotsDone) -> Outcome | None:
        answer, entry = done.answer, done.job.entry
        rules = self._robots.learn(answer)
        self._throttle.slow_down(entry.host, rules.delay)
        self._throttle.finished(entry.host, self._clock(), answer.answered_at, answer.host_failed)
        return rules.refuse(entry.url)

    def _probed(self, done: PageDone) -> list[NewUrl]:
        result, host = done.result, done.job.entry.host
        self._throttle.finished(host, self._clock(), result.answered_at, result.host_failed, result.retry_after)
        self.probe(self._results.probed(done.job.url, done))
        return self._results.released()

    def _drop(self, job: Job) -> None:
        """What has a turn of its own may not be asked for, or failed in a way that nobody expected."""
        if job.kind is JobKind.PROBE:
            self._results.probed(job.url)
        else:
            self._sitemaps.drop(job)

    def _wake(self, origin: str) -> None:
        for entry in self._waiting.pop(origin, []):
            self._throttle.finished(entry.host, self._clock())
            self._frontier.put_back(entry)
