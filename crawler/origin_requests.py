"""What is asked of an origin beside its pages: robots.txt, sitemaps and feeds, and pages that cannot exist.

A robots.txt, sitemap or feed is asked for in the turn of a page of its origin, which waits for it as the origin's other
pages do. Sitemaps and feeds on other hosts, and pages that cannot exist, have turns of their own at their hosts.
"""

import itertools
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from crawler.crawl_context import CrawlContext
from crawler.result_handler import ResultHandler
from crawler.robots.robots_cache import RobotsCache
from crawler.schedule.frontier import Frontier
from crawler.schedule.throttle import NEVER, HostThrottle
from crawler.sitemaps.sitemap_scheduler import SitemapScheduler
from crawler.urls.canonical import host_of, origin_of
from crawler.workers.fetch_pool import FetchPool, Job, JobKind, JobResult, PageResult, RobotsResult, SitemapResult
from docstore.frontier.frontier_table import NewUrl
from docstore.model import FrontierEntry, Outcome, UrlKind


@dataclass
class StandaloneJobs:
    """Jobs that wait for their turn. Their entries have numbers below 0: the table does not know them."""

    pending: dict[int, Job] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(-1, -1))

    def add(self, kind: JobKind, url: str) -> int:
        """Ask for a URL; the number of its entry."""
        job_id = next(self._ids)
        self.pending[job_id] = Job(FrontierEntry(job_id, url, host_of(url), 0, 0, UrlKind.UNKNOWN, 0.0), kind, url)
        return job_id

    def pop_ready(self, throttle: HostThrottle, now: float, blocked_origins: Container[str]) -> Job | None:
        """A job whose host may be asked now, and whose origin is none of those whose robots.txt is being asked for."""
        for job_id, job in self.pending.items():
            if origin_of(job.url) not in blocked_origins and throttle.earliest_start(job.entry.host, now) <= now:
                return self.pending.pop(job_id)
        return None

    def seconds_until_ready(self, throttle: HostThrottle, now: float) -> float:
        """Until there may be a turn; NEVER if nothing waits, or only for what is under way."""
        starts = (throttle.earliest_start(job.entry.host, now) for job in self.pending.values())
        return max(min(starts, default=NEVER) - now, 0.0)

    def put_back(self, job: Job) -> None:
        """It was not asked for after all."""
        self.pending[job.entry.url_id] = job


class OriginRequests:
    """Starts and finishes the requests for all that is no page of the table. Used by one thread."""

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier,
        throttle: HostThrottle,
        pool: FetchPool,
        result_handler: ResultHandler,
    ) -> None:
        self._clock = context.clock
        self._frontier, self._throttle, self._pool, self._result_handler = frontier, throttle, pool, result_handler
        self._robots = RobotsCache(context.table, context.plan.product_token, context.now)
        self._standalone_jobs = StandaloneJobs()
        self._sitemaps = SitemapScheduler(context, result_handler, self._standalone_jobs.add)
        self._waiting_entries_by_origin: dict[
            str, list[FrontierEntry]
        ] = {}  # origin of which a file is under way -> who waits for it

    # -- starting

    def rejection_outcome(self, entry: FrontierEntry) -> Outcome | None:
        """Why robots.txt forbids a page; None where it does not, or is not known yet."""
        origin = origin_of(entry.url)
        rules = None if origin in self._waiting_entries_by_origin else self._robots.cached_rules(origin)
        return rules.rejection_outcome(entry.url) if rules else None

    def submit_prerequisite(self, entry: FrontierEntry) -> bool:
        """Use the turn of a page for what its origin is asked first. False: for nothing, the turn is the page's."""
        origin = origin_of(entry.url)
        if origin in self._waiting_entries_by_origin:
            self._waiting_entries_by_origin[origin].append(entry)
            return True
        rules = self._robots.cached_rules(origin)
        if rules is None:
            file_job: tuple[JobKind, str] | None = (JobKind.ROBOTS, origin)
        else:
            self._throttle.raise_crawl_delay(entry.host, rules.crawl_delay)
            file_job = self._sitemaps.next_file(origin, rules, self._frontier)
        if file_job is None:
            return False
        self._waiting_entries_by_origin[origin] = []
        self._pool.submit(Job(entry, *file_job))
        return True

    def start_standalone_job(self) -> bool:
        """Begin with a request that has a turn of its own, by the robots.txt of where it goes; False if none may."""
        job = self._standalone_jobs.pop_ready(self._throttle, self._clock(), self._waiting_entries_by_origin)
        if job is None:
            return False
        self._throttle.start_request(job.entry.host, self._clock())
        origin = origin_of(job.url)
        rules = self._robots.cached_rules(origin)
        if rules is None:
            self._waiting_entries_by_origin[origin] = []
            self._standalone_jobs.put_back(job)
            self._pool.submit(Job(job.entry, JobKind.ROBOTS, origin))
        elif rules.rejection_outcome(job.url) is not None or self._throttle.is_suspended(job.entry.host):
            self._throttle.cancel_request(job.entry.host)
            self._cancel(job)
        else:
            self._throttle.raise_crawl_delay(job.entry.host, rules.crawl_delay)
            self._pool.submit(job)
        return True

    def seconds_until_standalone_job(self) -> float:
        """Until a request may have a turn of its own; NEVER if none waits, or only for what is under way."""
        return self._standalone_jobs.seconds_until_ready(self._throttle, self._clock())

    def add_probes(self, urls: Iterable[str]) -> None:
        """Ask for pages that cannot exist, when their hosts may be asked."""
        for url in urls:
            self._standalone_jobs.add(JobKind.PROBE, url)

    def add_declared_files(self, done: PageResult) -> None:
        """Feeds and sitemaps that a page names."""
        self._sitemaps.add_declared_files(origin_of(done.job.entry.url), done.feeds, done.sitemaps)

    # -- finishing

    def handle_result(self, done: JobResult) -> tuple[Outcome | None, list[NewUrl]]:
        """Take a result: why the page in whose turn it was asked for is not fetched (None: it is, in another turn, or
        there was no page), and URLs that are new."""
        entry = done.job.entry
        if isinstance(done, PageResult) and done.job.kind is JobKind.PROBE:
            new_urls = self._handle_probe(done)
            self._frontier.wake_host(entry.host)
            return None, new_urls
        outcome, new_urls = None, list[NewUrl]()
        if isinstance(done, RobotsResult):
            outcome = self._handle_robots(done)
        elif isinstance(done, SitemapResult):
            self._throttle.finish_request(entry.host, self._clock(), done.responded_at, done.host_failed)
            new_urls = self._sitemaps.handle_result(done, self._frontier)
        else:  # an unexpected failure
            self._throttle.finish_request(entry.host, self._clock(), is_clean=False)
            outcome = done.fetch_result.outcome
        if entry.url_id < 0:  # a turn of its own
            if isinstance(done, PageResult):
                self._cancel(done.job)
            self._frontier.wake_host(entry.host)
            outcome = None
        elif outcome is None:
            self._frontier.put_back(entry)
        self._release_waiting_entries(origin_of(entry.url))
        return outcome, new_urls

    def _handle_robots(self, done: RobotsResult) -> Outcome | None:
        answer, entry = done.robots_fetch, done.job.entry
        rules = self._robots.store(answer)
        self._throttle.raise_crawl_delay(entry.host, rules.crawl_delay)
        self._throttle.finish_request(entry.host, self._clock(), answer.responded_at, answer.host_failed)
        return rules.rejection_outcome(entry.url)

    def _handle_probe(self, done: PageResult) -> list[NewUrl]:
        result, host = done.fetch_result, done.job.entry.host
        self._throttle.finish_request(host, self._clock(), result.responded_at, result.host_failed, result.retry_after)
        self.add_probes(self._result_handler.handle_probe(done.job.url, done))
        return self._result_handler.take_released_urls()

    def _cancel(self, job: Job) -> None:
        """What has a turn of its own may not be asked for, or failed in a way that nobody expected."""
        if job.kind is JobKind.PROBE:
            self._result_handler.handle_probe(job.url)
        else:
            self._sitemaps.cancel(job)

    def _release_waiting_entries(self, origin: str) -> None:
        for entry in self._waiting_entries_by_origin.pop(origin, []):
            self._throttle.finish_request(entry.host, self._clock())
            self._frontier.put_back(entry)
