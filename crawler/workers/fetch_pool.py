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
from crawler.focused_policy import FocusedPolicy, TokenizedPage
from crawler.host_suggestions import MAX_EXTERNAL_HOSTS_PER_PAGE
from crawler.http.document_types import is_plain_text_version_of
from crawler.http.fetch import Fetcher, FetchError, FetchResult
from crawler.http.render import Renderer
from crawler.parsing.content_fingerprint import EMPTY_FINGERPRINT, ContentFingerprint
from crawler.parsing.links import ParsedPage, parse_page
from crawler.parsing.soft_404 import is_soft_404
from crawler.robots.robots_cache import RobotsFetch, fetch_robots
from crawler.sitemaps.feed_parser import parse_feed
from crawler.sitemaps.sitemap_parser import Sitemap, SitemapEntry, parse_sitemap
from crawler.urls.canonical import host_of, rejection_reason
from docstore.file_formats import HTML_FORMAT
from docstore.model import FrontierEntry, Link, Origin, Outcome, Reason

logger = logging.getLogger(__name__)

_MAX_SITEMAP_BYTES = 50_000_000  # bytes, of a sitemap


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
class PageResult:
    """A fetched page: its result, the links on it that may be followed, and counts of those that may not.

    `feeds` and `sitemaps` are those that it names; `is_noindex` says that it asks not to be shown, `canonical_url`
    which URL it names as its own (""), `fingerprint` what it says, `external_links` are links to hosts out of scope, one each.
    """

    job: Job
    fetch_result: FetchResult
    links: tuple[Link, ...] = ()
    rejected_counts: Counter[Reason] = field(default_factory=Counter)
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    is_noindex: bool = False
    canonical_url: str = ""
    fingerprint: ContentFingerprint = EMPTY_FINGERPRINT
    external_links: tuple[Link, ...] = ()
    tokenized_page: TokenizedPage | None = None  # as words, for a crawl that looks for a topic


@dataclass(frozen=True)
class RobotsResult:
    """A fetched robots.txt."""

    job: Job
    robots_fetch: RobotsFetch


@dataclass(frozen=True)
class SitemapResult:
    """A sitemap or feed; empty if there is none. `redirect_url` is where it is instead, if anywhere."""

    job: Job
    sitemap: Sitemap
    responded_at: float | None = None
    host_failed: bool = False
    redirect_url: str = ""


JobResult = PageResult | RobotsResult | SitemapResult
RequestSlot = Callable[[FrontierEntry], AbstractContextManager[bool]]
"""Around a request: may it be sent? See `crawler.workers.coordinator.Coordinator`."""
LEASE_LOST_OUTCOME = Outcome(
    Reason.UNEXPECTED_ERROR, "another crawler has taken over the host"
)  # never recorded: it has the lease


def unrestricted_slot(entry: FrontierEntry) -> AbstractContextManager[bool]:
    """Nobody else asks the host."""
    return nullcontext(True)


class JobRunner:
    """Does jobs; used by all threads. SettingsError where pages shall be rendered and nothing can do it."""

    def __init__(
        self,
        fetcher: Fetcher,
        plan: CrawlPlan,
        now: Callable[[], float],
        focused_policy: FocusedPolicy | None = None,
        request_slot: RequestSlot = unrestricted_slot,
    ) -> None:
        self._focused_policy = focused_policy
        self._request_slot = request_slot
        self._renderer = Renderer(fetcher, plan, now) if plan.rendered_sites else None
        self._fetcher = fetcher
        self._url_rules = rules = plan.url_rules
        self._product_token = plan.product_token
        self._now = now
        self._delay = plan.delay
        self._cached_rejection_reason = lru_cache(maxsize=50_000)(
            lambda url: rejection_reason(url, rules)
        )  # most links stand on every page

    def run(self, job: Job) -> JobResult:
        """Do one job. Never raises: the unexpected is logged and becomes an outcome."""
        try:
            with self._request_slot(job.entry) as is_ours:
                return self._run_job(job) if is_ours else PageResult(job, FetchResult(LEASE_LOST_OUTCOME))
        except Exception as error:
            logger.exception("unexpected failure at %s", job.url or job.entry.url)
            return PageResult(
                job, FetchResult(Outcome(Reason.UNEXPECTED_ERROR, f"{type(error).__name__}: {error}"[:300]))
            )

    def _run_job(self, job: Job) -> JobResult:
        if job.kind is JobKind.ROBOTS:
            # Between the hops of a redirected robots.txt, the only case of two requests in one job, lies the delay.
            pause = lambda: time.sleep(self._delay)  # noqa: E731
            return RobotsResult(job, fetch_robots(self._fetcher, Origin(job.url), self._now, pause))
        if job.kind in (JobKind.PAGE, JobKind.PROBE):
            done = self._fetch_page(job)
            return self._add_tokenized_page(done) if job.kind is JobKind.PAGE else done
        return self._fetch_sitemap(job)

    def close(self) -> None:
        """End the browser, if there is one, once its page under way is done."""
        if self._renderer is not None:
            self._renderer.close()

    def _fetch_page(self, job: Job) -> PageResult:
        fetch_result = self._render_result(job.entry, self._fetcher.fetch(job.entry, job.url))
        page = fetch_result.page
        if page is None:
            return PageResult(job, fetch_result)
        if page.format == HTML_FORMAT and is_soft_404(page.body):
            soft_404_result = FetchResult(
                Outcome(Reason.GONE, "it says so, with status 200"), responded_at=fetch_result.responded_at
            )
            return PageResult(job, soft_404_result)
        parsed_page = parse_page(page, self._product_token)
        links, rejected_counts = self._filter_links(parsed_page, page.url, job.entry.depth + 1)
        noindex = parsed_page.directives.noindex
        canonical_url, external_links = (
            self._allowed_canonical_url(parsed_page, page.url),
            self._external_links(parsed_page),
        )
        return PageResult(
            job,
            fetch_result,
            links,
            rejected_counts,
            parsed_page.feeds,
            parsed_page.sitemaps,
            noindex,
            canonical_url,
            parsed_page.fingerprint,
            external_links,
        )

    def _render_result(self, entry: FrontierEntry, result: FetchResult) -> FetchResult:
        if result.page is None or result.page.format != HTML_FORMAT:
            return result
        if self._renderer is None or not self._renderer.should_render(result.page):
            return result
        page = self._renderer.render(result.page)
        if page.digest == entry.digest:
            return replace(result, outcome=Outcome(Reason.UNCHANGED, "the same once rendered"), page=None)
        return replace(result, page=page)

    def _add_tokenized_page(self, done: PageResult) -> PageResult:
        if self._focused_policy is None or done.fetch_result.page is None:
            return done
        return replace(done, tokenized_page=self._focused_policy.tokenize_page(done.fetch_result.page, done.links))

    def _allowed_canonical_url(self, parsed_page: ParsedPage, url: str) -> str:
        """The other URL that a page names as its own, if it may be asked."""
        canonical_url = parsed_page.canonical_url
        return (
            canonical_url
            if canonical_url and canonical_url != url and self._cached_rejection_reason(canonical_url) is None
            else ""
        )

    def _external_links(self, parsed_page: ParsedPage) -> tuple[Link, ...]:
        """One link to each host that is out of scope."""
        link_by_host: dict[str, Link] = {}
        for link in parsed_page.links:
            if self._cached_rejection_reason(link.url) is Reason.OUT_OF_SCOPE:
                host = host_of(link.url)
                if host not in self._url_rules.scopes_by_host and len(link_by_host) < MAX_EXTERNAL_HOSTS_PER_PAGE:
                    link_by_host.setdefault(host, link)
        return tuple(link_by_host.values())

    def _filter_links(self, parsed_page: ParsedPage, url: str, depth: int) -> tuple[tuple[Link, ...], Counter[Reason]]:
        """The links of a page that the rules allow at `depth`, and how many they refuse, by reason."""
        rejected_counts = Counter(parsed_page.rejected_reasons)
        if depth > self._url_rules.max_depth:
            return (), rejected_counts
        links: list[Link] = []
        for link in parsed_page.links:
            language = parsed_page.link_languages.get(link.url, "")
            reason = (
                rejection_reason(link.url, self._url_rules, depth, language)
                if language
                else self._cached_rejection_reason(link.url)
            )
            if reason is None and is_plain_text_version_of(link.url, url):
                reason = Reason.UNSUPPORTED_EXTENSION
            if reason is None:
                links.append(link)
            else:
                rejected_counts[reason] += 1
        return tuple(links), rejected_counts

    def _fetch_sitemap(self, job: Job) -> SitemapResult:
        try:
            answer = self._fetcher.get(job.url, {}, lambda status, _: status == 200, _MAX_SITEMAP_BYTES)
        except FetchError as error:
            return SitemapResult(job, Sitemap(), host_failed=error.host_failed)
        moved_to = answer.redirect_url
        if moved_to is not None:
            target = "" if isinstance(moved_to, Reason) else moved_to
            return SitemapResult(job, Sitemap(), answer.responded_at, redirect_url=target)
        content_type = answer.header("content-type")
        if job.kind is JobKind.SITEMAP:
            return SitemapResult(job, parse_sitemap(answer.body, job.url, content_type), answer.responded_at)
        feed = parse_feed(answer.body, job.url, content_type)
        entries = tuple(
            SitemapEntry(feed_entry.url, feed_entry.request_url, feed_entry.updated_at, feed_entry.title)
            for feed_entry in feed.entries
        )
        return SitemapResult(job, Sitemap(entries), answer.responded_at)


class FetchPool:
    """`count` threads for the jobs of `reader`. `submit` only while `free_threads`; results come from `next_result`, in any order."""

    def __init__(self, count: int, runner: JobRunner) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._runner = runner
        self._thread_count = count
        self.in_flight = 0
        self._threads = [
            threading.Thread(target=self._worker_loop, name=f"crawl-{thread_index}", daemon=True)
            for thread_index in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def free_threads(self) -> int:
        """How many more jobs can start at once."""
        return self._thread_count - self.in_flight

    def submit(self, job: Job) -> None:
        """Start a job."""
        self.in_flight += 1
        self._jobs.put(job)

    def next_result(self, timeout_seconds: float) -> JobResult | None:
        """The next result, waiting for it at most so long; None if there is none yet."""
        if self.in_flight == 0:
            time.sleep(timeout_seconds)
            return None
        try:
            done = self._results.get(timeout=timeout_seconds) if timeout_seconds > 0 else self._results.get_nowait()
        except queue.Empty:
            return None
        self.in_flight -= 1
        return done

    def close(self) -> None:
        """Let every thread end after the job it is at, without waiting for it (a fetch may take a minute), and the
        browser."""
        for _ in self._threads:
            self._jobs.put(None)
        self._runner.close()

    def _worker_loop(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._results.put(self._runner.run(job))
