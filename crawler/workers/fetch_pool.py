"""The threads that fetch and parse pages. They share only two queues with the crawl loop: jobs and results."""

import logging
import os
import queue
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache

from crawler.crawl_plan import CrawlPlan
from crawler.dedup.content_fingerprint import EMPTY_FINGERPRINT, ContentFingerprint
from crawler.focused_policy import FocusedPolicy, TokenizedPage
from crawler.host_suggestions import MAX_EXTERNAL_HOSTS_PER_PAGE
from crawler.http.content_type import parse_content_type
from crawler.http.document_types import is_plain_text_version
from crawler.http.fetch import Fetcher, FetchError, FetchResult
from crawler.http.login_session import LoginError
from crawler.http.render import Renderer
from crawler.http.throttled_fetcher import ThrottledFetcher
from crawler.memory_budget import LARGE_BODY_BYTES, MEMORY_BUDGET_BYTES, MemoryBudget, Reservation, release_free_memory
from crawler.parsing.links import MAX_PARSED_BYTES, ParsedPage, parse_page
from crawler.parsing.status_pages import COOKIES_OUTCOME, LOGIN_OUTCOME, OVERLOAD_OUTCOMES
from crawler.robots.robots_cache import RobotsFetch, fetch_robots
from crawler.schedule.throttle import HostThrottle
from crawler.sitemaps.feed_parser import parse_feed
from crawler.sitemaps.sitemap import EMPTY_SITEMAP, Sitemap
from crawler.sitemaps.sitemap_parser import MAX_SITEMAP_BYTES, parse_sitemap
from crawler.urls.canonical import host_of, rejection_reason
from crawler.urls.logout_links import is_logout_anchor
from crawler.workers.ip_limiter import IpLimiter
from crawler.workers.worker_process import Limits, WorkerDiedError, WorkerMemoryError, WorkerPool, WorkerTimeoutError
from domain.errors import StoreError
from domain.file_formats import HTML_FORMAT
from domain.frontier import FrontierEntry
from domain.message import Message, error_message
from domain.outcome import Outcome, Reason
from domain.page import Link, Origin, Page
from locks.fences import start_thread

logger = logging.getLogger(__name__)

PARSING_LIMITS = Limits(seconds=20.0)  # of one page, sitemap or feed
_REASONS_TO_GET = (Reason.FETCHED, Reason.HTTP_ERROR, Reason.NEEDS_LOGIN)  # of HEAD, which a server may refuse
_PARSING_ERRORS = (WorkerTimeoutError, WorkerMemoryError, WorkerDiedError)
_REASON_BY_PARSING_ERROR = {WorkerTimeoutError: Reason.PARSING_TIMED_OUT, WorkerMemoryError: Reason.TOO_LARGE}
_PARSE_BYTES_PER_BYTE = 12  # measured on pages with many tags: text of the page, tree and links
_LOGOUT = Message("a link of the login, or one that ends the session")
_BYTES_PER_LINK = 1000  # of a result and its visit


class JobKind(StrEnum):
    """The kind of request that a job makes."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"
    PROBE = "probe"  # a nonexistent page


@dataclass(frozen=True)
class Job:
    """A request triggered by `entry`.

    `url` is the file to fetch, or the origin of a robots.txt. For a page it is the site's preferred spelling, or "".
    With `needs_head`, a HEAD request shows first whether there is a page.
    """

    entry: FrontierEntry
    kind: JobKind = JobKind.PAGE
    url: str = ""
    needs_head: bool = False


@dataclass(frozen=True)
class PageResult:
    """The result of a page or probe job.

    Attributes:
        links: links that the rules allow.
        rejected_counts: reason -> number of rejected links.
        feeds: URLs of declared feeds.
        sitemaps: URLs of declared sitemaps.
        is_noindex: True if the page has `noindex`.
        canonical_url: the page's own URL by rel=canonical if it is another allowed URL, or "".
        fingerprint: content fingerprint.
        external_links: links to hosts out of scope, one per host.
        tokenized_page: the page as words, for a focused crawl.
        reservation: memory of the page, to be released after it is recorded; None without a page.
        is_bare: True if the page has little text outside links and no article markup.
        has_login_form: True for a bare page with a login form.
        is_counted: True if the throttle of the host has counted the request already.
    """

    job: Job
    fetch_result: FetchResult
    links: tuple[Link, ...] = ()
    rejected_counts: Counter[str] = field(default_factory=Counter)
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    is_noindex: bool = False
    canonical_url: str = ""
    fingerprint: ContentFingerprint = EMPTY_FINGERPRINT
    external_links: tuple[Link, ...] = ()
    tokenized_page: TokenizedPage | None = None
    reservation: Reservation | None = None
    is_bare: bool = False
    has_login_form: bool = False
    is_counted: bool = False


@dataclass(frozen=True)
class RobotsResult:
    """The result of a robots.txt job."""

    job: Job
    robots_fetch: RobotsFetch

    @property
    def fetch_result(self) -> FetchResult:
        """The result of the request."""
        return self.robots_fetch.fetch_result


@dataclass(frozen=True)
class SitemapResult:
    """The result of a sitemap or feed job, empty if there is no such file.

    The `redirect_url` of `fetch_result` is its new location, or "".
    """

    job: Job
    sitemap: Sitemap
    fetch_result: FetchResult


@dataclass(frozen=True)
class SkippedResult:
    """A job whose request was not sent, because another crawler has the lease of the host."""

    job: Job


JobResult = PageResult | RobotsResult | SitemapResult
RequestSlot = Callable[[FrontierEntry], AbstractContextManager[bool]]
"""Returns a context manager around a request. It yields False if the request must not be sent, and suppresses the
LeaseLostError of a host's lease.
"""


class JobRunner:
    """Runs jobs in any thread. Raises SettingsError if pages must be rendered but no renderer is available.

    Pages, sitemaps and feeds are parsed in worker processes: no other site waits for the interpreter lock.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        plan: CrawlPlan,
        now: Callable[[], float],
        focused_policy: FocusedPolicy | None = None,
        request_slot: RequestSlot = lambda entry: nullcontext(True),
        throttle: HostThrottle | None = None,
    ) -> None:
        workers = 1 + max(1, os.cpu_count() or 1)  # one more than may stall at a time
        self._parsers = WorkerPool(workers, PARSING_LIMITS, (parse_page.__module__, parse_sitemap.__module__))
        self._focused_policy = focused_policy
        self._request_slot = request_slot
        throttle = throttle or HostThrottle(plan.settings, now)
        self._inner_fetcher = ThrottledFetcher(fetcher, throttle)  # for further requests of a job
        self._renderer = Renderer(fetcher, throttle, plan, now) if plan.rendered_sites else None
        self._fetcher = fetcher
        self._url_rules = rules = plan.url_rules
        self._product_token = plan.product_token
        self._now = now
        self._memory_budget = MemoryBudget(MEMORY_BUDGET_BYTES)
        self._ip_limiter = IpLimiter(plan.settings.per_ip, fetcher.find_ip)
        # Cached, because most links of a site are on every page.
        self._cached_rejection_reason = lru_cache(maxsize=50_000)(lambda url: rejection_reason(url, rules))

    def run(self, job: Job) -> JobResult | SkippedResult:
        """Run one job. An unexpected error is logged and becomes an outcome.

        Raises StoreError if the store failed, and LeaseLostError if the crawl has lost its lease.
        """
        try:
            with self._request_slot(job.entry) as may_send:
                if may_send:
                    with self._ip_limiter.reserve(job.entry.host) as may_send:
                        if may_send:
                            return self._run_job(job)
            return SkippedResult(job)
        except StoreError:
            raise
        except Exception as error:
            logger.exception("unexpected failure at %s", job.url or job.entry.url)
            return PageResult(
                job, FetchResult(Outcome(Reason.UNEXPECTED_ERROR, f"{type(error).__name__}: {error}"[:300]))
            )

    def _run_job(self, job: Job) -> JobResult:
        if job.kind is JobKind.ROBOTS:
            return RobotsResult(job, fetch_robots(self._fetcher, Origin(job.url), self._now, self._inner_fetcher))
        with ExitStack() as stack:
            reservation = stack.enter_context(Reservation(self._memory_budget))
            if job.kind not in (JobKind.PAGE, JobKind.PROBE):
                return self._fetch_sitemap(job, reservation)
            if job.needs_head:
                head = self._fetcher.check_page(job.entry)
                if head.host_failed or head.outcome.reason not in _REASONS_TO_GET:
                    return PageResult(job, head)
            job_result = self._fetch_page(job, reservation, self._inner_fetcher if job.needs_head else self._fetcher)
            job_result = replace(job_result, is_counted=job.needs_head)
            if job.kind is JobKind.PAGE and job_result.fetch_result.page is not None and reservation.size:
                stack.pop_all()
                return replace(job_result, reservation=reservation)
            return job_result

    def close(self) -> None:
        """End the waits for memory and IP addresses, and close the browser, if any, after its current page."""
        self._parsers.close()
        self._memory_budget.close()
        self._ip_limiter.close()
        if self._renderer is not None:
            self._renderer.close()

    def _fetch_page(self, job: Job, reservation: Reservation, fetcher: Fetcher) -> PageResult:
        fetch_result = self._fetch_rendered(job, reservation, fetcher)
        page = fetch_result.page
        if page is None:
            return PageResult(job, fetch_result)
        reservation.resize(len(page.body) + _PARSE_BYTES_PER_BYTE * min(len(page.body), MAX_PARSED_BYTES))
        try:
            job_result = self._parse_fetched_page(job, fetch_result, page)
        except _PARSING_ERRORS as error:
            outcome = Outcome(_REASON_BY_PARSING_ERROR.get(type(error), Reason.UNPARSABLE), error_message(error))
            return PageResult(job, FetchResult(outcome, responded_at=fetch_result.responded_at))
        reservation.resize(len(page.body) + _BYTES_PER_LINK * len(job_result.links))
        if len(page.body) >= LARGE_BODY_BYTES:
            release_free_memory()
        return job_result

    def _parse_fetched_page(self, job: Job, fetch_result: FetchResult, page: Page) -> PageResult:
        if page.format == HTML_FORMAT:
            page_start = replace(page, body=page.body[:MAX_PARSED_BYTES])
            parsed_page = self._parsers.call(parse_page, page_start, self._product_token)
        else:
            parsed_page = parse_page(page, self._product_token)
        status = COOKIES_OUTCOME if parsed_page.reloads and fetch_result.sets_cookie else parsed_page.status
        links, rejected_counts, external_links = self._filter_links(parsed_page, page.url, job.entry.depth + 1)
        if status is not None and parsed_page.is_bare:
            host_failed = status in OVERLOAD_OUTCOMES
            fetch_result = replace(fetch_result, outcome=status, page=None, host_failed=host_failed)
            if status == LOGIN_OUTCOME:  # pages that it links to may need no login
                return PageResult(job, fetch_result, links, fingerprint=parsed_page.fingerprint)
            return PageResult(job, fetch_result)
        noindex = parsed_page.directives.noindex
        canonical_url = self._allowed_canonical_url(parsed_page, page.url)
        tokenized_page = (
            self._focused_policy.tokenize_page(page, links)
            if self._focused_policy is not None and job.kind is JobKind.PAGE
            else None
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
            tokenized_page,
            is_bare=parsed_page.is_bare,
            has_login_form=parsed_page.has_login_form,
        )

    def _fetch_rendered(self, job: Job, reservation: Reservation, fetcher: Fetcher) -> FetchResult:
        """Fetch and render a page, again after a sign-in if its scripts show the login in place of the page."""
        session = self._fetcher.logins.find(job.url or job.entry.url)
        for is_repeated in (False, True):
            response_result = fetcher.fetch(job.entry, job.url, reservation)
            generation = session.generation if session else 0  # rendering takes seconds
            result = self._render_result(job.entry, response_result)
            page = result.page
            if page is None or session is None or self._renderer is None or not self._renderer.should_render(page):
                break
            if not session.shows_login(page.url, page.body, page.content_type):
                break
            try:
                session.renew(generation, is_repeated=is_repeated)
            except LoginError as error:
                return replace(result, outcome=replace(LOGIN_OUTCOME, detail=error_message(error)), page=None)
            result = replace(result, outcome=LOGIN_OUTCOME, page=None)
        return result

    def _render_result(self, entry: FrontierEntry, result: FetchResult) -> FetchResult:
        if result.page is None or result.page.format != HTML_FORMAT:
            return result
        if self._renderer is None or not self._renderer.should_render(result.page):
            return result
        page = self._renderer.render(result.page)
        if page.digest == entry.digest:
            return replace(result, outcome=Outcome(Reason.UNCHANGED, "unchanged after rendering"), page=None)
        return replace(result, page=page)

    def _allowed_canonical_url(self, parsed_page: ParsedPage, url: str) -> str:
        """Return the canonical URL of a page if it is another URL that the rules allow, or ""."""
        canonical_url = parsed_page.canonical_url
        return (
            canonical_url
            if canonical_url and canonical_url != url and self._cached_rejection_reason(canonical_url) is None
            else ""
        )

    def _filter_links(
        self, parsed_page: ParsedPage, url: str, depth: int
    ) -> tuple[tuple[Link, ...], Counter[str], tuple[Link, ...]]:
        """Return the links that the rules allow at `depth`, rejected ones by reason, and a link to each other host."""
        links: list[Link] = []
        session = self._fetcher.logins.find(url)
        rejected_counts, link_by_host = Counter[str](parsed_page.rejected_reasons), dict[str, Link]()
        is_too_deep = depth > self._url_rules.max_depth
        for link in parsed_page.links:
            reason: str | None = self._cached_rejection_reason(link.url)
            if reason is Reason.OUT_OF_SCOPE and len(link_by_host) < MAX_EXTERNAL_HOSTS_PER_PAGE:
                host = host_of(link.url)
                if host not in self._url_rules.scopes_by_host:
                    link_by_host.setdefault(host, link)
            if is_too_deep:
                continue
            if reason is None and is_plain_text_version(link.url, url):
                reason = Reason.UNSUPPORTED_EXTENSION
            if reason is None and session is not None:
                reason = _LOGOUT if session.is_excluded(link.url) or is_logout_anchor(link.anchor) else None
            if reason is None:
                links.append(link)
            else:
                rejected_counts[reason] += 1
        return tuple(links), rejected_counts, tuple(link_by_host.values())

    def _fetch_sitemap(self, job: Job, reservation: Reservation) -> SitemapResult:
        try:
            response = self._fetcher.get(
                job.url, {}, lambda status, _: status == 200, MAX_SITEMAP_BYTES, reservation=reservation
            )
        except FetchError as error:
            return SitemapResult(job, EMPTY_SITEMAP, error.fetch_result)
        result, redirect = response.file_result(self._now()), response.redirect_url
        if redirect is not None:
            target = "" if isinstance(redirect, Reason) else redirect
            return SitemapResult(job, EMPTY_SITEMAP, replace(result, redirect_url=target))
        parse = parse_sitemap if job.kind is JobKind.SITEMAP else parse_feed
        try:
            sitemap = self._parsers.call(parse, response.body, job.url, response.content_type)
        except _PARSING_ERRORS as error:
            logger.warning("%s cannot be read: %s", job.url, error)
            sitemap = EMPTY_SITEMAP
        is_html = parse_content_type(response.content_type).media_type == "text/html"
        if response.status == 200 and is_html and sitemap == EMPTY_SITEMAP:
            result = replace(result, outcome=Outcome(Reason.GONE))  # a "not found" page
        return SitemapResult(job, sitemap, result)


class FetchPool:
    """A pool of `count` threads that run jobs. Results arrive in any order.

    Call `submit` only while `free_threads` is above 0.
    """

    def __init__(self, count: int, runner: JobRunner) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[JobResult | SkippedResult | StoreError] = queue.SimpleQueue()
        self._runner = runner
        self._thread_count = count
        self.in_flight = 0
        for thread_index in range(count):
            start_thread(self._worker_loop, f"crawl-{thread_index}")

    @property
    def free_threads(self) -> int:
        """Number of jobs that can start at once."""
        return self._thread_count - self.in_flight

    def submit(self, job: Job) -> None:
        """Start a job on a free thread."""
        self.in_flight += 1
        self._jobs.put(job)

    def next_result(self, timeout_seconds: float) -> JobResult | SkippedResult | None:
        """Return the next result, or None if none arrives within `timeout_seconds`. Raises the StoreError of a job."""
        if self.in_flight == 0:
            time.sleep(timeout_seconds)
            return None
        try:
            job_result = (
                self._results.get(timeout=timeout_seconds) if timeout_seconds > 0 else self._results.get_nowait()
            )
        except queue.Empty:
            return None
        self.in_flight -= 1
        if isinstance(job_result, StoreError):
            raise job_result
        return job_result

    def close(self) -> None:
        """Stop all threads after their current job, without waiting for it, and close the browser."""
        for _ in range(self._thread_count):
            self._jobs.put(None)
        self._runner.close()

    def _worker_loop(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                self._results.put(self._runner.run(job))
            except StoreError as error:
                self._results.put(error)
