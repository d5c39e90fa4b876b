"""The crawl loop: take a URL, fetch it, record the visit, follow its links.

    frontier.take_next -> robots, sitemaps -> fetch + links (pool) -> build_visit -> recorder -> frontier.mark_recorded

One thread makes all decisions. Worker threads fetch and parse pages, and another thread records visits. A batch (page,
outcome, links, next visit) is recorded in one transaction. A kill therefore loses at most the fetches since the last
batch, and the visits that wait for other responses (`shared_responses.py`). The next run repeats them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from crawler.crawl_context import CrawlContext
from crawler.memory_budget import Reservation
from crawler.origin_requests import OriginRequests
from crawler.progress import ProgressReporter
from crawler.result_handler import ResultHandler
from crawler.schedule.backlog import Backlog
from crawler.schedule.best_first_frontier import BestFirstFrontier
from crawler.schedule.frontier import Frontier, Wait
from crawler.schedule.quiet_hours import quiet_seconds_left
from crawler.schedule.retry_queue import RetryQueue
from crawler.schedule.throttle import NO_KNOWN_START, HostThrottle
from crawler.workers.fetch_pool import FetchPool, Job, JobKind, JobResult, JobRunner, PageResult, SkippedResult
from crawler.workers.visit_recorder import MAX_BATCH_AGE_SECONDS, VisitRecorder
from domain.errors import PlumblineError
from domain.frontier import FrontierEntry, NewUrl, UrlKind, Visit
from domain.message import Message
from domain.outcome import FETCH_SUCCESS_REASONS, Outcome, Reason
from domain.page import Host

_MAX_POLL_SECONDS = 0.5  # maximum wait for a result, if no frontier entry has a known start
_MAX_UNEXPECTED_FAILURES = 20
_TAKEDOWN_POLL_SECONDS = 1.0  # a page is not requested when it was taken down this long ago
_MAX_CLOCK_DIFFERENCE_SECONDS = 3600.0  # between the machines of a store
_MAX_QUIET_WAIT_SECONDS = 3600.0  # maximum wait for the end of the quiet hours of all remaining sites
_ALL_QUIET_NOTE = Message("Stopped early: all remaining sites have quiet hours")
_DELAYS_NOTE = Message("Stopped early: crawl delays or retry delays of all remaining URLs exceed the time left")


class CrawlLoop:
    """One run over a table that contains the seeds."""

    def __init__(
        self, context: CrawlContext, frontier: Frontier, throttle: HostThrottle, pool: FetchPool, results: ResultHandler
    ) -> None:
        self.context, self.tally = context, context.tally
        self.frontier, self.throttle, self.pool, self.result_handler = frontier, throttle, pool, results
        self.origin_requests = OriginRequests(context, frontier, throttle, pool, results)
        self.recorder = VisitRecorder(context.table.record_visits)
        self.backlog = Backlog.from_table(context.table, context.due_before, context.coordinator.owns_queue)
        self.reporter = ProgressReporter(context.on_progress, context.tally, throttle, context.started_at)
        self.retry_queue = RetryQueue()
        self.preferred_request_urls: dict[int, str] = {}  # url_id -> spelling that the site redirects to
        self.repeated_requests: Counter[int] = Counter()  # url_id -> requests after such redirects or new cookies
        self.list_visits: dict[Host, list[int]] = {}  # host -> [visited list pages, those with new links]
        self.postponed_hosts: set[Host] = set()
        self.taken_down_urls: set[str] = set()
        self.takedowns_loaded_at = float("-inf")  # monotonic seconds
        self.reservations: dict[int, Reservation] = {}  # url_id -> memory of a page that is not recorded yet

    @classmethod
    def from_context(cls, context: CrawlContext) -> "CrawlLoop":
        """Build the loop from the plan. Raises SettingsError if pages must be rendered but no renderer is available."""
        plan, table, due_before, owns_queue = (
            context.plan,
            context.table,
            context.due_before,
            context.coordinator.owns_queue,
        )
        throttle = HostThrottle(plan.settings, context.now)
        context.coordinator.attach_throttle(throttle)
        reader = JobRunner(
            context.fetcher, plan, context.now, context.focused_policy, context.coordinator.request_slot, throttle
        )
        if context.focused_policy:
            frontier: Frontier = BestFirstFrontier(table, throttle, due_before, plan.queue_of, owns_queue)
        else:
            frontier = Frontier(table, throttle, due_before, owns_queue)
        revisit = replace(plan.revisit_policy, change_rates_by_host=table.change_rates_by_host())
        results = ResultHandler(context, revisit)
        return cls(context, frontier, throttle, FetchPool(plan.settings.threads, reader), results)

    def run(self) -> None:
        """Crawl until no URL is due, or until the time or page limit is reached.

        After Ctrl-C, all fetched pages are recorded before the exception propagates.
        """
        try:
            self._run_loop()
        except BaseException:
            if not self.recorder.has_failed:
                self._record_judged()
                self.recorder.flush()
                self.recorder.close()
                self.recorder.raise_if_failed()
            raise
        finally:
            self.pool.close()
            self.recorder.close()
            self.context.site_state.host_paces.update(self.throttle.status_by_host())
            self.context.site_state.save(self.context.state_path)

    def _run_loop(self) -> None:
        while True:
            wait = self._start_jobs()
            if wait is None and not self.pool.in_flight and self._finish_or_continue():
                break
            max_wait_seconds = MAX_BATCH_AGE_SECONDS if self.recorder.has_unrecorded else _MAX_POLL_SECONDS
            job_result = self.pool.next_result(max_wait_seconds if wait is None else min(wait, max_wait_seconds))
            while job_result is not None:
                self._handle_result(job_result)
                job_result = self.pool.next_result(0)
            self.recorder.flush(MAX_BATCH_AGE_SECONDS)
            self._apply_recorded()

    # -- select

    def _start_jobs(self) -> float | None:
        """Submit jobs to free threads.

        Returns the seconds until the next job may start, or None if a result must arrive first.
        """
        while self.pool.free_threads and self._may_start_more():
            for queue in self.context.coordinator.take_lost_queues():
                self.frontier.release_queue(queue)
            self._requeue_due_retries()
            if self.context.focused_policy and not self.pool.in_flight:
                self._flush_recorder()  # decisions about the last pages affect the next choice
            if self.origin_requests.start_standalone_job():
                continue
            next_entry = self.frontier.take_next(self.context.clock())
            if isinstance(next_entry, FrontierEntry):
                self._start_entry(next_entry)
            elif self.context.coordinator.acquire_more_queues(self.frontier.waiting_hosts):
                self.frontier.rescan()
            elif self.pool.in_flight or not self._flush_recorder():  # pending links may be the only URLs left
                return self._seconds_until_next_start(next_entry)
        return None

    def _may_start_more(self) -> bool:
        plan = self.context.plan
        if self.context.clock() >= self.context.deadline:
            minutes = f"{plan.max_seconds / 60:g}"
            self.tally.add_note(Message("Stopped after {minutes} minutes", minutes=minutes))
            return False
        if quiet_seconds_left(plan.quiet_minutes, self.context.now()):
            hours = plan.settings.quiet_hours
            self.tally.add_note(Message("Stopped for the quiet hours {hours}", hours=hours))
            return False
        if self.context.coordinator.has_page_budget():
            return True
        if plan.settings.max_pages and not self.pool.in_flight:
            count = plan.settings.max_pages
            self.tally.add_note(Message("Stopped after 1 page", "Stopped after {n} pages", n=count))
        return False

    def _requeue_due_retries(self) -> None:
        while (job_result := self.retry_queue.pop_due(self.context.clock())) is not None:
            if self.throttle.is_suspended(job_result.job.entry.host):
                self._record_visit(self.result_handler.build_visit(job_result))
            else:
                self.frontier.retry(job_result.job.entry)

    def _seconds_until_next_start(self, wait: Wait | None) -> float | None:
        """Return the seconds until the next job may start.

        Returns None if there is no pending job, or if it may start only after the deadline, after more than an hour of
        quiet hours, or after the result of a job in flight. If no job may start in time and none is in flight, adds a
        note, which ends the crawl.

        Args:
            wait: time until the first frontier entry may start; None if the frontier is empty.
        """
        standalone_seconds = self.origin_requests.seconds_until_standalone_job()  # files and probes that no page needs
        retry_seconds = self.retry_queue.seconds_until_due(self.context.clock())
        if wait is None and not self.retry_queue and standalone_seconds == NO_KNOWN_START:
            return None
        seconds = min(wait.seconds if wait else _MAX_POLL_SECONDS, retry_seconds, standalone_seconds)
        is_quiet = seconds > _MAX_QUIET_WAIT_SECONDS and self.throttle.has_quiet_host()
        if self.context.clock() + seconds < self.context.deadline and not is_quiet:
            return seconds
        if not self.pool.in_flight:
            self.tally.add_note(_ALL_QUIET_NOTE if is_quiet else _DELAYS_NOTE)
        return None

    def _finish_or_continue(self) -> bool:
        """End the crawl, or find more work for it. Call it only if no job may start now and none is in flight.

        - Time left and retries pending: does nothing; the retries continue the crawl.
        - Stopped by the deadline, a note or the page limit: records the last results of all pending retries and saves
          the suspected trap URLs to the frontier, so that nothing is lost.
        - Otherwise follows suspected trap URLs that proved harmless, or looks for due URLs in the frontier again.

        Returns:
            True if the crawl is finished.
        """
        # Until the end of the crawl, every note states why it stops.
        is_stopped = self.context.clock() >= self.context.deadline or bool(self.tally.notes)
        if self.retry_queue and not is_stopped:
            return False
        for job_result in self.retry_queue.drain():
            self._record_visit(self.result_handler.build_visit(job_result))
        has_judged = self._record_judged()
        self._flush_recorder()
        if is_stopped or not self.context.coordinator.has_page_budget():
            self._add_new_urls(self.result_handler.take_remaining_suspect_urls())
            return True
        late_urls, has_files = self.origin_requests.take_late_urls()
        if self._add_new_urls(self.result_handler.take_harmless_urls() + late_urls) or has_judged or has_files:
            return False
        if self.context.coordinator.check_finished():
            return True
        self.frontier.rescan()
        return False

    # -- fetch

    def _start_entry(self, entry: FrontierEntry) -> None:
        """Fetch an entry, or first fetch a file of its origin. If the entry is rejected, record the reason."""
        if self._is_taken_down(entry.url):
            self.throttle.cancel_request(entry.host)
            self.frontier.abandon(entry)
            return
        outcome = self._rejection_outcome(entry)
        if outcome is not None:
            self.throttle.cancel_request(entry.host)
            self._record_without_fetch(entry, outcome)
        elif not self.origin_requests.submit_prerequisite(entry):
            self._submit_fetch(entry)

    def _is_taken_down(self, url: str) -> bool:
        """True if an operator has taken a page down since the start of the run, after the frontier loaded it."""
        now = self.context.clock()
        if now - self.takedowns_loaded_at >= _TAKEDOWN_POLL_SECONDS:
            since = self.context.due_before - _MAX_CLOCK_DIFFERENCE_SECONDS
            self.taken_down_urls, self.takedowns_loaded_at = self.context.table.taken_down_urls(since), now
        return url in self.taken_down_urls

    def _rejection_outcome(self, entry: FrontierEntry) -> Outcome | None:
        outcome = self.result_handler.rejection_outcome(entry)
        if outcome is None and self.throttle.is_suspended(entry.host):
            self.tally.suspended_hosts.add(entry.host)
            outcome = Outcome(Reason.UNREACHABLE, Message("The host failed repeatedly in this run"))
        login = self.context.fetcher.logins.find(entry.url)
        if outcome is None and login is not None and login.problem:
            outcome = Outcome(Reason.NEEDS_LOGIN, login.problem)
        return outcome or self.origin_requests.rejection_outcome(entry)

    def _submit_fetch(self, entry: FrontierEntry) -> None:
        if self.context.coordinator.try_reserve_page():
            url = self.preferred_request_urls.get(entry.url_id, "")
            self.pool.submit(Job(entry, JobKind.PAGE, url, self.result_handler.needs_head(entry)))
            return
        self.throttle.cancel_request(entry.host)
        self.frontier.put_back(entry)

    def _handle_result(self, job_result: JobResult | SkippedResult) -> None:
        """Handle the result of any kind of job."""
        if isinstance(job_result, SkippedResult):
            self._handle_skipped(job_result.job)
            return
        host = job_result.job.entry.host
        self.throttle.set_ip(host, self.context.fetcher.last_ip(host))
        if isinstance(job_result, PageResult) and job_result.job.kind is JobKind.PAGE:
            self._handle_page_result(job_result)
            return
        outcome, new_urls = self.origin_requests.handle_result(job_result)
        self._add_new_urls(new_urls)
        if outcome is not None:
            self._record_without_fetch(job_result.job.entry, outcome)

    def _handle_skipped(self, job: Job) -> None:
        """Forget a job that was not sent. The crawler that has the host now fetches its URLs."""
        self.throttle.release_slot(job.entry.host)
        if job.kind is JobKind.PAGE:
            self.context.coordinator.finish_page(is_success=False)
            self.frontier.abandon(job.entry)
        else:
            self.origin_requests.handle_skipped(job)

    def _handle_page_result(self, job_result: PageResult) -> None:
        entry, result = job_result.job.entry, job_result.fetch_result
        is_success = result.outcome.reason in FETCH_SUCCESS_REASONS
        self._update_throttle(job_result)
        self.frontier.finish(entry)
        self.context.coordinator.finish_page(is_success)
        if self._schedule_retry(job_result, is_success):
            return
        self.retry_queue.forget(entry.url_id)
        self.tally.pages_fetched += is_success
        self.tally.rejected_links.update(job_result.rejected_counts)
        if is_success:
            self.context.site_state.lastmod_trust.record_visit(
                entry.host, entry.url, result.outcome.reason is Reason.FETCHED
            )
        if (job_result.feeds or job_result.sitemaps) and entry.kind in (UrlKind.SEED, UrlKind.HUB):
            self.origin_requests.add_declared_files(job_result)
        visit = self.result_handler.build_visit(job_result)
        if entry.kind is UrlKind.HUB and is_success:
            self._count_list_visit(entry.host, has_new_links=bool(visit.discovered_urls))
        if visit.page is not None:
            self.context.site_state.host_suggestions.record_links(entry.host, job_result.external_links)
        if self.result_handler.shared_responses.must_wait(visit, job_result):
            if job_result.reservation is not None:
                job_result.reservation.release()
        else:
            self._record_visit(visit, job_result.reservation)
        while self.result_handler.gated_entries:
            gated_entry = self.result_handler.gated_entries.pop()
            self.result_handler.shared_responses.forget(gated_entry)
            self.frontier.retry(gated_entry)
        self._record_judged(is_end=False)
        self.origin_requests.add_probes(self.result_handler.start_probes(entry.host))
        if self.tally.visits_by_reason[Reason.UNEXPECTED_ERROR] >= _MAX_UNEXPECTED_FAILURES:
            raise PlumblineError(
                "{n} pages failed unexpectedly: see logs/plumb.log, fix the cause and run again",
                n=_MAX_UNEXPECTED_FAILURES,
            )

    def _count_list_visit(self, host: Host, has_new_links: bool) -> None:
        """Count a visit to a list page. Postpones the site's new list pages once hardly any list has new links."""
        counts = self.list_visits.setdefault(host, [0, 0])
        counts[0], counts[1] = counts[0] + 1, counts[1] + has_new_links
        seconds = self.result_handler.revisit_policy.first_list_seconds(*counts)
        if seconds and host not in self.postponed_hosts:
            self.postponed_hosts.add(host)
            if self.context.table.postpone_lists(host, seconds, self.context.due_before):
                self.frontier.reload_host(host)

    def _update_throttle(self, job_result: PageResult) -> None:
        host, now = job_result.job.entry.host, self.context.clock()
        if job_result.is_counted:
            self.throttle.release_slot(host)
        else:
            self.throttle.finish_request(host, now, job_result.fetch_result)
        self.throttle.update_backlog(host, self.backlog.due_by_host[host], self.context.deadline - now)

    def _schedule_retry(self, job_result: PageResult, is_success: bool) -> bool:
        """Schedule another fetch in this run: after a redirect to the same canonical URL, a cookie, or a failure.

        Returns:
            True if the page is fetched again.
        """
        entry, result = job_result.job.entry, job_result.fetch_result
        preferred_url, repeats = result.preferred_request_url, self.repeated_requests[entry.url_id]
        needs_cookie = result.sets_cookie and result.outcome.reason in (Reason.BLOCKED, Reason.NEEDS_LOGIN)
        if (preferred_url or needs_cookie) and repeats < (3 if preferred_url and result.sets_cookie else 1):
            self.preferred_request_urls[entry.url_id] = preferred_url
            self.repeated_requests[entry.url_id] += 1
            self.frontier.retry(entry)
            return True
        return (
            not is_success
            and self.throttle.has_responded(entry.host)
            and self.retry_queue.schedule(job_result, self.context.clock())
        )

    def _record_judged(self, is_end: bool = True) -> bool:
        """Record the visits that waited for the responses of other URLs. Returns True if there were any."""
        visits = self.result_handler.shared_responses.judge(is_end)
        for visit in visits:
            self._record_visit(visit)
        return bool(visits)

    # -- record

    def _record_without_fetch(self, entry: FrontierEntry, outcome: Outcome) -> None:
        """Finish an entry without a fetch and record its outcome."""
        self.frontier.finish(entry)
        self._record_visit(self.result_handler.visit_without_page(entry, outcome))

    def _record_visit(self, visit: Visit, reservation: Reservation | None = None) -> None:
        if reservation is not None:
            self.reservations[visit.entry.url_id] = reservation
        self.recorder.add(visit, reservation.size if reservation is not None else 0)
        self.tally.count_visit(visit.entry.host, visit.outcome.reason)
        self.backlog.mark_visited(visit)
        if visit.entry.kind is UrlKind.SEED:
            self.tally.seed_outcomes[visit.entry.url] = visit.outcome

    # -- follow

    def _add_new_urls(self, new_urls: Sequence[NewUrl]) -> bool:
        """Add URLs to the table that do not come from a visit. Returns True if there were any."""
        if new_urls:
            self.context.table.add_urls(new_urls)
            self.backlog.add_new_urls(new_urls)
            self.frontier.mark_changed(
                {new_url.queue for new_url in new_urls if self.context.coordinator.owns_queue(new_url.queue)}
            )
        return bool(new_urls)

    def _flush_recorder(self) -> bool:
        """Record all pending visits and pass their links to the frontier. Returns True if there were any."""
        has_work = self.recorder.has_unrecorded
        if has_work:
            self.recorder.flush()
            self._apply_recorded(wait=True)
        return has_work

    def _apply_recorded(self, wait: bool = False) -> None:
        for batch in self.recorder.take_recorded(wait):
            self.frontier.mark_recorded(batch)
            for visit in batch:
                if (reservation := self.reservations.pop(visit.entry.url_id, None)) is not None:
                    reservation.release()
            self.reporter.report(self.context.clock(), self.pool.in_flight, self.backlog.due_by_host)
