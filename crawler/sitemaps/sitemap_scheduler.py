"""Schedule the sitemaps and feeds of each origin before its pages.

    robots.txt, default paths, <link rel=sitemap>, feeds -> OriginSitemaps -> triggered by a page of the origin
                                                                           -> on another origin: a standalone job

Files on another origin (www or not, http or https, a file host) are standalone jobs. So are files that are declared
when no page of the origin is left to trigger them. A standalone job follows the robots.txt and throttle of its own
host. New URLs are added to the table; if they are more than the run can fetch, the rest only after all due pages. Known
URLs are rescheduled by their lastmod (`lastmod_trust.py`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from crawler.crawl_context import CrawlContext
from crawler.result_handler import ResultHandler
from crawler.robots.robots_cache import RobotsRules
from crawler.schedule.frontier import Frontier
from crawler.sitemaps.lastmod_trust import SitemapTable, find_dropped_urls
from crawler.sitemaps.origin_sitemaps import OriginSitemaps, default_sitemap_urls, robots_sitemap_urls
from crawler.sitemaps.sitemap import SitemapEntry
from crawler.urls.canonical import host_of, rejection_reason, url_origin
from crawler.workers.fetch_pool import Job, JobKind, SitemapResult
from domain.frontier import NewUrl
from domain.outcome import Reason
from domain.page import Origin

_DECLARED_PRIORITY = -1.0
_MAX_PREFERRED_URLS = 10_000  # new URLs of an origin that come before its known pages
_MAX_DECLARED_URLS = 200_000  # URLs of one origin that are compared with the saved ones


class SitemapScheduler:
    """Schedules sitemaps and feeds of all origins.

    Does nothing if sitemaps are disabled or the table does not support them.

    `add_standalone_job` queues a file as a standalone job and returns the job's id.
    """

    def __init__(
        self, context: CrawlContext, results: ResultHandler, add_standalone_job: Callable[[JobKind, str], int]
    ) -> None:
        table, is_enabled = context.table, context.plan.settings.sitemaps
        self._table: SitemapTable | None = table if is_enabled and isinstance(table, SitemapTable) else None
        self._plan = context.plan
        self._acquire_queue = context.coordinator.acquire_queue
        self._result_handler = results
        self._lastmod_trust = context.site_state.lastmod_trust
        self._path_answers, self._now = context.site_state.path_answers, context.now
        self._due_before, self._clock, self._deadline = context.due_before, context.clock, context.deadline
        self._sitemaps_by_origin: dict[Origin, OriginSitemaps] = {}
        self._add_standalone_job = add_standalone_job
        self._origin_by_job_id: dict[int, Origin] = {}  # id of a standalone job -> origin that its file belongs to
        self._requested_urls: set[str] = set()  # by any origin

    def next_file(self, origin: Origin, rules: RobotsRules, frontier: Frontier) -> tuple[JobKind, str] | None:
        """Return the origin's own file to fetch before its next page, or None.

        Files elsewhere become standalone jobs.
        """
        if self._table is None:
            return None
        origin_sitemaps = self._sitemaps_by_origin.get(origin) or self._start_origin(origin, rules)
        if not origin_sitemaps.may_read(self._clock()):
            return None
        while (file_job := self._next_unrequested(origin_sitemaps)) is not None:
            if url_origin(file_job[1]) != origin:
                self._queue_standalone(origin, *file_job)
            elif rules.rejection_outcome(file_job[1]) is None:
                origin_sitemaps.reading_since = self._clock()
                return file_job
            if origin_sitemaps.standalone_pending:
                return None
        if not origin_sitemaps.standalone_pending:
            self._recheck_dropped_pages(self._table, origin, frontier)
        return None

    def cancel(self, job: Job) -> None:
        """Cancel a job whose file is forbidden or failed unexpectedly."""
        origin_sitemaps = self._sitemaps_by_origin[self._origin_by_job_id[job.entry.url_id]]
        origin_sitemaps.standalone_pending, origin_sitemaps.reading_since = False, None

    def take_late_urls(self) -> list[NewUrl]:
        """Return the new URLs that waited for other pages, and queue the next files, because no page is left."""
        late_urls: list[str] = []
        for origin, origin_sitemaps in self._sitemaps_by_origin.items():
            late_urls += origin_sitemaps.late_urls
            origin_sitemaps.seconds_read, origin_sitemaps.new_url_count, origin_sitemaps.late_urls = 0.0, 0, []
            self._queue_next_standalone(origin, origin_sitemaps)
        new_urls = self._result_handler.select_declared_urls(late_urls)
        return self._result_handler.accept_declared_urls(new_urls, _DECLARED_PRIORITY)

    def add_declared_files(self, origin: Origin, feeds: Iterable[str], sitemaps: Iterable[str]) -> None:
        """Add feeds and sitemaps that a page of the origin declares.

        The page may be the last one of the origin, so the next file becomes a standalone job.
        """
        origin_sitemaps = self._sitemaps_by_origin.get(origin)
        if origin_sitemaps is not None:
            origin_sitemaps.add_feeds(feeds)
            origin_sitemaps.add_sitemaps(sitemaps)
            self._queue_next_standalone(origin, origin_sitemaps)

    def handle_result(self, job_result: SitemapResult, frontier: Frontier) -> list[NewUrl]:
        """Handle a fetched file. Returns its new URLs and reschedules the known ones."""
        job_id = job_result.job.entry.url_id
        origin = self._origin_by_job_id.get(job_id) or url_origin(job_result.job.entry.url)
        origin_sitemaps = self._sitemaps_by_origin[origin]
        entries: Sequence[SitemapEntry] = job_result.sitemap.entries
        is_guessed = job_result.job.url in origin_sitemaps.default_urls
        if is_guessed and job_result.fetch_result.outcome.reason is Reason.GONE:
            self._path_answers.record(host_of(job_result.job.url), job_result.job.url, False, self._now())
        if job_result.job.kind is JobKind.SITEMAP:
            entries = rewrite_to_https(
                origin_sitemaps.handle_sitemap(job_result.sitemap, job_result.fetch_result.redirect_url), origin
            )
            origin_sitemaps.declared_urls.update(entry.url for entry in entries)
        elif job_result.fetch_result.redirect_url:
            origin_sitemaps.add_feeds((job_result.fetch_result.redirect_url,))
        urls = [entry.url for entry in entries]
        new_urls = self._accept_new_urls(origin_sitemaps, urls)
        if self._table is not None and urls:
            last_visit_by_url = self._table.last_visits(urls)
            due = self._lastmod_trust.due_times(host_of(origin + "/"), entries, last_visit_by_url, self._due_before)
            self._reschedule(self._table, due, frontier)
            for host in {host_of(url) for url in due}:
                frontier.reload_host(host)
        if job_id < 0:
            origin_sitemaps.standalone_pending = False
            self._queue_next_standalone(origin, origin_sitemaps)
        return new_urls

    def _accept_new_urls(self, origin_sitemaps: OriginSitemaps, urls: Sequence[str]) -> list[NewUrl]:
        """Select the new URLs. Those beyond half of the pages that the run can still fetch are late."""
        new_urls = self._result_handler.select_declared_urls(urls)
        seconds_left, delay = self._deadline - self._clock(), max(self._plan.settings.delay, 0.01)
        count = max(int(min(_MAX_PREFERRED_URLS, seconds_left / delay / 2)) - origin_sitemaps.new_url_count, 0)
        origin_sitemaps.late_urls += new_urls[count:]
        origin_sitemaps.new_url_count += len(new_urls[:count])
        return self._result_handler.accept_declared_urls(new_urls[:count], _DECLARED_PRIORITY)

    def _start_origin(self, origin: Origin, rules: RobotsRules) -> OriginSitemaps:
        allowed = self._plan.url_rules
        folders = {url[len(origin) : url.rindex("/") + 1] for url in self._plan.seeds if url_origin(url) == origin}
        origin_sitemaps = OriginSitemaps(
            origin,
            lambda url: rejection_reason(url, allowed, 1),
            robots_sitemap_urls(rules.robots_txt, origin),
            default_sitemap_urls(origin, sorted(folders - {"/"})),
            self._clock(),
        )
        self._sitemaps_by_origin[origin] = origin_sitemaps
        return origin_sitemaps

    def _queue_next_standalone(self, origin: Origin, origin_sitemaps: OriginSitemaps) -> None:
        """Queue the next file as a standalone job, because no further page of the origin may trigger it."""
        while origin_sitemaps.may_read(self._clock()) and (file_job := self._next_unrequested(origin_sitemaps)):
            self._queue_standalone(origin, *file_job)

    def _next_unrequested(self, origin_sitemaps: OriginSitemaps) -> tuple[JobKind, str] | None:
        """Return the next file of the origin that no origin has requested yet."""
        while (file_job := origin_sitemaps.next_file()) is not None:
            url = file_job[1]
            is_guessed = url in origin_sitemaps.default_urls
            is_missing = is_guessed and self._path_answers.find(host_of(url), url, self._now()) is False
            if url not in self._requested_urls and not is_missing:
                self._requested_urls.add(url)
                return file_job
        return None

    def _queue_standalone(self, origin: Origin, kind: JobKind, url: str) -> None:
        """Queue the file unless its host belongs to another crawler, which knows the host's throttle state."""
        if self._acquire_queue(self._plan.queue_of(url)):
            origin_sitemaps = self._sitemaps_by_origin[origin]
            origin_sitemaps.standalone_pending, origin_sitemaps.reading_since = True, self._clock()
            self._origin_by_job_id[self._add_standalone_job(kind, url)] = origin

    def _recheck_dropped_pages(self, table: SitemapTable, origin: Origin, frontier: Frontier) -> None:
        """Recheck saved pages that left the sitemaps, after all sitemaps of the origin are read."""
        origin_sitemaps = self._sitemaps_by_origin[origin]
        declared_urls, origin_sitemaps.declared_urls = origin_sitemaps.declared_urls, set()
        if 0 < len(declared_urls) < _MAX_DECLARED_URLS:
            dropped_urls = find_dropped_urls(declared_urls, table.archived_urls_not_due(origin, self._due_before))
            self._reschedule(table, dict.fromkeys(dropped_urls, self._due_before), frontier)

    def _reschedule(self, table: SitemapTable, due: dict[str, float], frontier: Frontier) -> None:
        table.reschedule(due)
        frontier.mark_changed({self._plan.queue_of(url) for url, due_at in due.items() if due_at <= self._due_before})


def rewrite_to_https(entries: Sequence[SitemapEntry], origin: Origin) -> list[SitemapEntry]:
    """Rewrite http URLs of an https origin to https. Many sitemaps still list http URLs, which would redirect."""
    http_prefix = f"http://{host_of(origin + '/')}/"
    if not origin.startswith("https://"):
        return list(entries)
    return [
        replace(entry, url=f"{origin}/{entry.url[len(http_prefix) :]}") if entry.url.startswith(http_prefix) else entry
        for entry in entries
    ]
