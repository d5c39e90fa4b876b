"""Check a site before its first crawl, with the requests of the crawl: its fetcher, protections and delays."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace

from crawler.crawl_plan import CrawlPlan, build_crawl_plan
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.robots.robots_cache import RobotsRules, parse_stored_robots
from crawler.schedule.forecast import HostPaces, forecast_host
from crawler.settings import CrawlSettings, can_render_automatically
from crawler.site import Sites
from crawler.sitemaps.origin_sitemaps import OriginSitemaps, default_sitemap_urls, robots_sitemap_urls
from crawler.sitemaps.sitemap import SitemapEntry
from crawler.urls.canonical import host_of, rejection_reason, url_origin
from crawler.workers.fetch_pool import Job, JobKind, JobRunner, PageResult, RobotsResult, SitemapResult
from domain.errors import PlumblineError, SettingsError
from domain.file_formats import HTML_FORMAT
from domain.frontier import FrontierEntry, HostBacklog, UrlKind
from domain.message import error_message
from domain.outcome import Outcome, Reason
from domain.page import Link, Page
from domain.site_check import CheckState, SiteCheck
from pipeline.page_source import LoadedPage, run_isolated
from pipeline.runs.timetable import check_start_times
from pipeline.settings import Settings
from pipeline.workers.page_reading import read_article
from search_ui.i18n import translate_message_to
from text.decoding.decode import decode_page

log = logging.getLogger(__name__)

MAX_SITEMAP_REQUESTS = 8
MAX_SAMPLE_URLS = 12
MIN_ANCHOR_CHARS = 8  # of a link that is probably the headline of an article
MIN_RESPONSE_SECONDS = 0.02

MAX_CHECK_SECONDS = 30.0  # later no redirect is followed and no sitemap is read
MAX_FETCH_SECONDS = 20.0
MAX_PARALLEL_CHECKS = 8

ReportCheck = Callable[[SiteCheck], None]


class SiteProblemError(Exception):
    """The site cannot be crawled. `check` says why."""

    def __init__(self, check: SiteCheck, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.check = replace(check, problem=str(outcome.reason), detail=outcome.detail)


def check_site(
    url: str,
    settings: Settings,
    report: ReportCheck = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> SiteCheck:
    """Check the site of a start URL and return the result. Takes little more than MAX_CHECK_SECONDS.

    Args:
        url: Canonical URL.
        settings: The settings of the vertical; its sites are ignored.
        report: Called at each step with the check so far.
        sleep: Waits between two requests.
    """
    can_render = can_render_automatically(settings.crawl)
    check = active_check = SiteCheck(url, CheckState.ACTIVE, start_url=url, can_render=can_render)
    try:
        check_start_times(settings)
    except SettingsError as error:
        check = replace(active_check, schedule_problem=error_message(error))
    try:
        check = SiteProbe(settings, report, sleep).run(check)
    except SiteProblemError as problem:
        check = problem.check
    except Exception as error:
        if not isinstance(error, PlumblineError):
            log.exception("the check of %s failed", url)
        check = replace(check, problem=str(Reason.UNEXPECTED_ERROR), detail=error_message(error))
    return replace(check, state=CheckState.DONE, step="")


def check_sites(urls: Sequence[str], settings: Settings) -> list[SiteCheck]:
    """Check sites, some at the same time, and return the results in their order."""
    with ThreadPoolExecutor(MAX_PARALLEL_CHECKS) as pool:
        return list(pool.map(lambda url: check_site(url, settings), urls))


REFUSAL_ADVICE = "to add a site nevertheless, pass --nevertheless; for a host of your own network, pass --own-network"


def describe_check(check: SiteCheck) -> str:
    """Return the problems of a site, or what the check found, as one line in English."""
    sentences = " ".join(translate_message_to("en", text) for text in check.problems or check.findings)
    return f"{check.url} cannot be crawled: {sentences}" if check.problems else f"{check.start_url}: {sentences}"


class SiteProbe:
    """Sends the requests of one check. Use `run` once."""

    def __init__(self, settings: Settings, report: ReportCheck, sleep: Callable[[float], None]) -> None:
        self._settings = replace(settings.crawl, total_timeout=min(settings.crawl.total_timeout, MAX_FETCH_SECONDS))
        self._deadline = time.monotonic() + MAX_CHECK_SECONDS
        self._extract = settings.extract
        self._report = report
        self._sleep = sleep
        self._response_seconds = 0.0

    def run(self, check: SiteCheck) -> SiteCheck:
        """Check the site. Raises SiteProblemError, or SettingsError for a URL that no crawl may start at."""
        plan = self._plan_for(check.url)
        fetcher = Fetcher(plan.settings, PublicOnlyPolicy(plan.settings.inside_hosts))
        with closing(fetcher), ExitStack() as runners:
            runner = runners.enter_context(closing(JobRunner(fetcher, plan, time.time)))
            check, rules, result = self._fetch_start_page(runner, plan, check)
            if host_of(check.start_url) != host_of(check.url):
                plan = self._plan_for(check.start_url)
                runner = runners.enter_context(closing(JobRunner(fetcher, plan, time.time)))
            page = result.fetch_result.page
            if page is not None:
                check = replace(self._describe_page(check, page), needs_login=result.has_login_form)
            return self._measure_size(runner, plan, check, rules, result)

    def _plan_for(self, url: str) -> CrawlPlan:
        return build_crawl_plan(replace(self._settings, sites=Sites().with_urls([url]), topic="", rendered=""))

    def _send(self, runner: JobRunner, plan: CrawlPlan, job: Job, delay: float) -> object:
        """Wait for the crawl delay, then run a job of the crawl and return its result."""
        self._sleep(max(delay, plan.settings.delay))
        started = time.monotonic()
        result = runner.run(job)
        self._response_seconds = time.monotonic() - started
        return result

    def _fetch_start_page(
        self, runner: JobRunner, plan: CrawlPlan, check: SiteCheck
    ) -> tuple[SiteCheck, RobotsRules, PageResult]:
        """Fetch robots.txt and the start page, over redirects. Raises SiteProblemError."""
        url = check.url
        for _ in range(plan.settings.max_redirects + 1):
            check, rules = self._fetch_robots(runner, plan, replace(check, start_url=url))
            self._report(check := replace(check, step="page"))
            result = self._send(runner, plan, Job(frontier_entry(url)), 0.0)
            if not isinstance(result, PageResult):
                raise SiteProblemError(check, Outcome(Reason.UNEXPECTED_ERROR))
            fetch_result = result.fetch_result
            if fetch_result.page is not None:
                return check, rules, result
            if not fetch_result.redirect_url:
                outcome = fetch_result.outcome
                needs_login = outcome.reason is Reason.NEEDS_LOGIN or outcome == Outcome(Reason.HTTP_ERROR, "403")
                raise SiteProblemError(replace(check, needs_login=needs_login), outcome)
            url = fetch_result.redirect_url
            if time.monotonic() > self._deadline:
                raise SiteProblemError(check, Outcome(Reason.TIMED_OUT))
        raise SiteProblemError(check, Outcome(Reason.TOO_MANY_REDIRECTS))

    def _fetch_robots(self, runner: JobRunner, plan: CrawlPlan, check: SiteCheck) -> tuple[SiteCheck, RobotsRules]:
        """Fetch and apply robots.txt. Raises SiteProblemError if it forbids the start page or is unavailable."""
        self._report(check := replace(check, step="robots"))
        job = Job(frontier_entry(check.start_url), JobKind.ROBOTS, url_origin(check.start_url))
        result = self._send(runner, plan, job, 0.0)
        if not isinstance(result, RobotsResult):
            raise SiteProblemError(check, Outcome(Reason.UNEXPECTED_ERROR))
        robots_file = result.robots_fetch.robots_file
        rules = parse_stored_robots(robots_file, plan.product_token)
        failure = result.robots_fetch.failure or rules.failure or rules.rejection_outcome(check.start_url)
        if failure is not None:
            raise SiteProblemError(check, failure)
        return replace(check, has_robots=200 <= robots_file.status < 300, crawl_delay=rules.crawl_delay), rules

    def _describe_page(self, check: SiteCheck, page: Page) -> SiteCheck:
        """Return the check with the charset of the start page, and whether it needs scripts."""
        decoded_page = decode_page(page.body, page.content_type)
        if decoded_page is None and page.format == HTML_FORMAT:
            raise SiteProblemError(check, Outcome(Reason.UNDECODABLE))
        return replace(
            check,
            charset=decoded_page.encoding if decoded_page else "",
            needs_scripts=page.format == HTML_FORMAT and self._needs_scripts(page),
        )

    def _needs_scripts(self, page: Page) -> bool:
        loaded_page = LoadedPage(page.url, page.body, page.final_url, page.content_type, page.fetched_at)
        try:
            arguments = (page.body, page.final_url, page.content_type, page.fetched_at, self._extract)
            article = run_isolated(loaded_page, read_article, *arguments)
        except PlumblineError:  # a page that the extraction cannot read
            return False
        return isinstance(article, Outcome) and article.reason is Reason.NEEDS_JAVASCRIPT

    def _measure_size(
        self, runner: JobRunner, plan: CrawlPlan, check: SiteCheck, rules: RobotsRules, result: PageResult
    ) -> SiteCheck:
        """Return the check with sitemaps, feeds, the number of pages and the time they take."""
        entries, feed_entries, sitemap_count = self._read_sitemaps(runner, plan, check, rules, result)
        known_urls = {check.start_url, *(entry.url for entry in entries), *(link.url for link in result.links)}
        return with_forecast(
            replace(
                check,
                sitemap_count=sitemap_count,
                feed_count=len(result.feeds),
                page_count=len(known_urls),
                sample_urls=choose_sample_urls(check.start_url, feed_entries, entries, result.links),
            ),
            self._response_seconds,
            plan.settings,
        )

    def _read_sitemaps(
        self, runner: JobRunner, plan: CrawlPlan, check: SiteCheck, rules: RobotsRules, result: PageResult
    ) -> tuple[list[SitemapEntry], list[SitemapEntry], int]:
        """Read some sitemaps and one feed. Returns the entries of both in scope, and the number of sitemaps."""
        origin = url_origin(check.start_url)
        declared_urls = (*robots_sitemap_urls(rules.robots_txt, origin), *result.sitemaps)
        sitemaps = OriginSitemaps(
            origin, lambda url: rejection_reason(url, plan.url_rules), declared_urls, default_sitemap_urls(origin)
        )
        sitemaps.add_feeds(result.feeds[:1])
        entries: list[SitemapEntry] = []
        feed_entries: list[SitemapEntry] = []
        sitemap_count = 0
        for _ in range(MAX_SITEMAP_REQUESTS):
            next_file = sitemaps.next_file()
            if next_file is None or time.monotonic() + rules.crawl_delay > self._deadline:
                break
            kind, url = next_file
            self._report(replace(check, step=kind.value, page_count=len(entries), sitemap_count=sitemap_count))
            file_result = self._send(runner, plan, Job(frontier_entry(check.start_url), kind, url), rules.crawl_delay)
            if not isinstance(file_result, SitemapResult):
                continue
            allowed = sitemaps.handle_sitemap(file_result.sitemap, file_result.fetch_result.redirect_url)
            (feed_entries if kind is JobKind.FEED else entries).extend(allowed)
            sitemap_count += kind is JobKind.SITEMAP and bool(allowed or file_result.sitemap.child_sitemaps)
        return entries, feed_entries, sitemap_count


def frontier_entry(url: str) -> FrontierEntry:
    """Return a frontier entry for a URL that is not in the store."""
    return FrontierEntry(0, url, host_of(url), 0, 0, UrlKind.UNKNOWN, 0.0)


def with_forecast(check: SiteCheck, response_seconds: float, settings: CrawlSettings) -> SiteCheck:
    """Return the check with the minutes per run and the number of runs for `page_count` pages. Pure."""
    host = host_of(check.start_url)
    page_seconds = max(settings.delay, check.crawl_delay) + max(response_seconds, MIN_RESPONSE_SECONDS)
    backlog = HostBacklog(host, check.page_count, max(check.page_count - 1, 0), 1, 0)
    forecast = forecast_host(backlog, HostPaces({host: page_seconds}), settings)
    return replace(
        check,
        minutes_per_run=min(check.page_count * page_seconds / 60, settings.minutes),
        run_count=max(forecast.runs_for_new or 0, 1),
    )


def choose_sample_urls(
    start_url: str, feed_entries: Iterable[SitemapEntry], entries: Iterable[SitemapEntry], links: Iterable[Link]
) -> tuple[str, ...]:
    """Return pages that are probably articles: those of a feed, then links with long texts, then those of sitemaps.

    Sitemap entries are taken newest first; of equal age, those with the longest URL first. Pure.
    """
    headlines = sorted(
        (link for link in links if len(link.anchor) >= MIN_ANCHOR_CHARS), key=lambda link: -len(link.anchor)
    )
    newest = sorted(entries, key=lambda entry: (-(entry.lastmod or 0.0), -len(entry.url)))
    urls = [
        *(entry.url for entry in feed_entries),
        *(link.url for link in headlines[:MAX_SAMPLE_URLS]),
        *(entry.url for entry in newest[:MAX_SAMPLE_URLS]),
    ]
    return tuple(dict.fromkeys(url for url in urls if url != start_url))[:MAX_SAMPLE_URLS]
