"""Requests to an origin other than page fetches: robots.txt, sitemaps, feeds, and probes of nonexistent pages.

A page of an origin triggers the fetch of its robots.txt, sitemaps and feeds, and waits for it with all other pages of
the origin. Files on other hosts and probes are standalone jobs of their hosts.
"""

import itertools
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field

from crawler.crawl_context import CrawlContext
from crawler.result_handler import ResultHandler
from crawler.robots.robots_cache import RobotsCache
from crawler.schedule.frontier import Frontier
from crawler.schedule.throttle import NO_KNOWN_START, HostThrottle
from crawler.sitemaps.sitemap_scheduler import SitemapScheduler
from crawler.urls.canonical import host_of, url_origin
from crawler.workers.fetch_pool import FetchPool, Job, JobKind, JobResult, PageResult, RobotsResult, SitemapResult
from domain.frontier import FrontierEntry, NewUrl, UrlKind
from domain.outcome import Outcome


@dataclass
class StandaloneJobs:
    """Pending jobs that no page triggers. Their entries have negative ids, because they are not in the table.

    `queue_of(url)` returns the queue of a URL. It selects the host's lease in a crawl on several machines.
    """

    queue_of: Callable[[str], int]
    pending: dict[int, Job] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(-1, -1))

    def add(self, kind: JobKind, url: str) -> int:
        """Add a job for a URL. Returns the id of its entry."""
        job_id = next(self._ids)
        entry = FrontierEntry(job_id, url, host_of(url), self.queue_of(url), 0, UrlKind.UNKNOWN, 0.0)
        self.pending[job_id] = Job(entry, kind, url)
        return job_id

    def pop_ready(self, throttle: HostThrottle, now: float, blocked_origins: Container[str]) -> Job | None:
        """Remove and return a job whose host may be fetched now, or None. Origins in `blocked_origins` are skipped."""
        for job_id, job in self.pending.items():
            if url_origin(job.url) not in blocked_origins and throttle.earliest_start(job.entry.host, now) <= now:
                return self.pending.pop(job_id)
        return None

    def seconds_until_ready(self, throttle: HostThrottle, now: float, blocked_origins: Container[str]) -> float:
        """Return the seconds until a job may start, or NO_KNOWN_START without a pending job on a free host."""
        starts = (
            throttle.earliest_start(job.entry.host, now)
            for job in self.pending.values()
            if url_origin(job.url) not in blocked_origins
        )
        return max(min(starts, default=NO_KNOWN_START) - now, 0.0)

    def put_back(self, job: Job) -> None:
        """Return a job that was not started to the pending ones."""
        self.pending[job.entry.url_id] = job


class OriginRequests:
    """Starts and finishes all requests for files that are not pages of the table. Used by one thread."""

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier,
        throttle: HostThrottle,
        pool: FetchPool,
        result_handler: ResultHandler,
    ) -> None:
        self._clock, self._owns_queue = context.clock, context.coordinator.owns_queue
        self._frontier, self._throttle, self._pool, self._result_handler = frontier, throttle, pool, result_handler
        self._robots = RobotsCache(context.table, context.plan.product_token, context.now)
        self._standalone_jobs = StandaloneJobs(context.plan.queue_of)
        self._sitemaps = SitemapScheduler(context, result_handler, self._standalone_jobs.add)
        # Origin with a file in flight -> entries that wait for it.
        self._waiting_entries_by_origin: dict[str, list[FrontierEntry]] = {}

    # -- starting

    def rejection_outcome(self, entry: FrontierEntry) -> Outcome | None:
        """Return why robots.txt forbids a page, or None if it is allowed or the rules are not loaded yet."""
        origin = url_origin(entry.url)
        rules = None if origin in self._waiting_entries_by_origin else self._robots.cached_rules(origin)
        return rules.rejection_outcome(entry.url) if rules else None

    def submit_prerequisite(self, entry: FrontierEntry) -> bool:
        """Use the slot of a page for a file that its origin must fetch first.

        Returns:
            True if the page waits for a file, False if the page itself may be fetched.
        """
        origin = url_origin(entry.url)
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
        """Start one standalone job that its host's robots.txt and throttle allow. Returns False if there is none."""
        job = self._standalone_jobs.pop_ready(self._throttle, self._clock(), self._waiting_entries_by_origin)
        if job is None:
            return False
        if not self._owns_queue(job.entry.queue):  # another crawler has leased the host since
            self._cancel(job)
            return True
        self._throttle.start_request(job.entry.host, self._clock())
        origin = url_origin(job.url)
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
        """Return the seconds until a standalone job may start; see `StandaloneJobs.seconds_until_ready`."""
        return self._standalone_jobs.seconds_until_ready(self._throttle, self._clock(), self._waiting_entries_by_origin)

    def add_probes(self, urls: Iterable[str]) -> None:
        """Add probes: requests for nonexistent pages, sent when their hosts permit."""
        for url in urls:
            self._standalone_jobs.add(JobKind.PROBE, url)

    def add_declared_files(self, job_result: PageResult) -> None:
        """Schedule the feeds and sitemaps that a page declares."""
        self._sitemaps.add_declared_files(url_origin(job_result.job.entry.url), job_result.feeds, job_result.sitemaps)

    def take_late_urls(self) -> tuple[list[NewUrl], bool]:
        """Return the URLs of sitemaps that waited for other pages, and whether files are pending. No page is left."""
        return self._sitemaps.take_late_urls(), bool(self._standalone_jobs.pending)

    # -- finishing

    def handle_result(self, job_result: JobResult) -> tuple[Outcome | None, list[NewUrl]]:
        """Handle a result.

        Returns:
            The outcome to record for the page that triggered the request, and the new URLs. The outcome is None if that
            page is still to be fetched or there is no such page.
        """
        entry = job_result.job.entry
        self._throttle.finish_request(entry.host, self._clock(), job_result.fetch_result)
        if isinstance(job_result, PageResult) and job_result.job.kind is JobKind.PROBE:
            self.add_probes(self._result_handler.handle_probe(job_result.job.url, job_result))
            new_urls = self._result_handler.take_harmless_urls()
            self._frontier.wake_host(entry.host)
            return None, new_urls
        outcome, new_urls = None, list[NewUrl]()
        if isinstance(job_result, RobotsResult):
            rules = self._robots.store(job_result.robots_fetch)
            self._throttle.raise_crawl_delay(entry.host, rules.crawl_delay)
            outcome = rules.rejection_outcome(entry.url)
        elif isinstance(job_result, SitemapResult):
            new_urls = self._sitemaps.handle_result(job_result, self._frontier)
        else:  # an unexpected failure
            outcome = job_result.fetch_result.outcome
        if entry.url_id < 0:  # a standalone job
            if isinstance(job_result, PageResult):
                # If the request was for robots.txt, the job that waits for the file is still pending.
                self._cancel(self._standalone_jobs.pending.pop(entry.url_id, job_result.job))
            self._frontier.wake_host(entry.host)
            outcome = None
        elif outcome is None:
            self._frontier.put_back(entry)
        self._release_waiting_entries(url_origin(entry.url))
        return outcome, new_urls

    def handle_skipped(self, job: Job) -> None:
        """Handle a job that was not sent, because another crawler has the host."""
        if job.entry.url_id < 0:
            # A robots.txt was requested for a standalone job that is still pending.
            self._cancel(self._standalone_jobs.pending.pop(job.entry.url_id, job))
            self._frontier.wake_host(job.entry.host)
        else:
            self._frontier.abandon(job.entry)
        if job.kind is not JobKind.PROBE:
            self._release_waiting_entries(url_origin(job.entry.url))

    def _cancel(self, job: Job) -> None:
        """Cancel a standalone job that is forbidden, failed unexpectedly, or whose host has another crawler."""
        if job.kind is JobKind.PROBE:
            self._result_handler.handle_probe(job.url)
        else:
            self._sitemaps.cancel(job)

    def _release_waiting_entries(self, origin: str) -> None:
        for entry in self._waiting_entries_by_origin.pop(origin, []):
            self._throttle.release_slot(entry.host)
            self._frontier.put_back(entry)
