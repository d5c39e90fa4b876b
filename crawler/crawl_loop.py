"""The loop of a crawl: take, fetch, keep, follow.

    frontier.take -> robots, sitemaps -> fetch + links (pool) -> results.to_visit -> recorder -> frontier.recorded

One thread decides; worker threads fetch and read pages, another one records. What is recorded is recorded whole (page,
outcome, links and next visit of a batch in one transaction), so a kill loses at most the fetches since the last batch,
which the next run repeats.
"""

from collections.abc import Sequence
from dataclasses import replace

from crawler.crawl_context import CrawlContext
from crawler.parallel.fetch_pool import Done, FetchPool, Job, JobKind, PageDone, Reader
from crawler.parallel.recorder import BATCH_AGE, Recorder
from crawler.progress import GOOD, Reporter
from crawler.schedule.backlog import Backlog, CountedTable
from crawler.schedule.best_first import BestFirst
from crawler.schedule.crawl_window import seconds_of_quiet
from crawler.schedule.frontier import Frontier, Wait
from crawler.schedule.origin_requests import OriginRequests
from crawler.schedule.result_handler import ResultHandler
from crawler.schedule.retries import Retries, is_trouble
from crawler.schedule.throttle import NEVER, HostThrottle
from docstore.errors import PlumblineError
from docstore.frontier.table import NewUrl, Visit
from docstore.model import FrontierEntry, Kind, Outcome, Reason

_TICK = 0.5  # seconds without looking up at most
_MAX_UNEXPECTED = 20


class CrawlLoop:
    """One run of the crawl over a table that has the seeds, or over one process's share of it."""

    def __init__(
        self, context: CrawlContext, frontier: Frontier, throttle: HostThrottle, pool: FetchPool, results: ResultHandler
    ) -> None:
        self.context, self.tally = context, context.tally
        self.frontier, self.throttle, self.pool, self.results = frontier, throttle, pool, results
        self.origins = OriginRequests(context, frontier, throttle, pool, results)
        self.recorder = Recorder(context.table.record)
        self.backlog = Backlog.of(context.table, context.before, context.coordinator.mine)
        self.reporter = Reporter(context.tell, context.tally, throttle, context.started)
        self.retries = Retries()
        self.spellings: dict[int, str] = {}  # url_id -> how the site wants it asked for

    @classmethod
    def of(cls, context: CrawlContext) -> "CrawlLoop":
        """The loop that the plan describes. SettingsError where pages shall be rendered and nothing can do it."""
        plan, table, before, mine = context.plan, context.table, context.before, context.coordinator.mine
        reader = Reader(context.fetcher, plan, context.now, context.guide, context.coordinator.turn)
        throttle = HostThrottle(plan.delay, plan.per_host, plan.delay_factor, plan.per_ip, plan.speed_up)
        context.coordinator.meet(throttle)
        if context.guide:
            frontier: Frontier = BestFirst(table, throttle, before, plan.queue_of, mine)
        else:
            frontier = Frontier(table, throttle, before, mine)
        revisit = replace(plan.revisit, rates=table.change_rates() if isinstance(table, CountedTable) else {})
        results = ResultHandler(context, revisit)
        return cls(context, frontier, throttle, FetchPool(plan.threads, reader), results)

    def work(self) -> None:
        """Crawl until nothing is due, or time or pages are up. After Ctrl-C everything fetched is recorded before the
        exception goes on."""
        try:
            self._loop()
        except BaseException:
            if not self.recorder.has_failed:
                self.recorder.flush()
                self.recorder.close()
                self.recorder.check()
            raise
        finally:
            self.pool.close()
            self.recorder.close()
            self.context.learned.paces.found(self.throttle.manners())
            self.context.learned.save(self.context.state)

    def _loop(self) -> None:
        while True:
            wait = self._start_what_may()
            if wait is None and not self.pool.under_way and self._is_over():
                break
            longest = BATCH_AGE if self.recorder.has_work else _TICK
            done = self.pool.next(longest if wait is None else min(wait, longest))
            while done is not None:
                self._finish(done)
                done = self.pool.next(0)
            self.recorder.flush(BATCH_AGE)
            self._take_recorded()

    # -- take

    def _start_what_may(self) -> float | None:
        """Give idle workers what may be fetched now. Seconds until more may be, None if only results can bring more."""
        while self.pool.idle and self._has_time():
            self._ask_again()
            if self.context.guide and not self.pool.under_way:
                self._catch_up()  # what the last pages have taught counts when the next one is chosen
            if self.origins.start_own_turn():
                continue
            taken = self.frontier.take(self.context.clock())
            if isinstance(taken, FrontierEntry):
                self._start(taken)
            elif self.context.coordinator.takes_more(self.frontier.waiting):
                self.frontier.look_again()
            elif self.pool.under_way or not self._catch_up():  # the links of pages kept may be all there is
                return self._pause(taken)
        return None

    def _has_time(self) -> bool:
        plan = self.context.plan
        if self.context.clock() >= self.context.until:
            self.tally.note(f"stopped after {plan.seconds / 60:g} minutes")
            return False
        if seconds_of_quiet(plan.quiet, self.context.now()):
            self.tally.note(f"stopped for the quiet hours {plan.quiet_hours}")
            return False
        if self.context.coordinator.has_room():
            return True
        if plan.max_pages and not self.pool.under_way:
            self.tally.note(f"stopped after {plan.max_pages} pages")
        return False

    def _ask_again(self) -> None:
        while (done := self.retries.due(self.context.clock())) is not None:
            if self.throttle.is_resting(done.job.entry.host):
                self._keep(self.results.to_visit(done))
            else:
                self.frontier.again(done.job.entry)

    def _pause(self, wait: Wait | None) -> float | None:
        """Seconds until something may start, None if nothing may in the time that is left, unless results bring it."""
        own_turn, retry = self.origins.seconds(), self.retries.seconds(self.context.clock())
        if wait is None and not self.retries and own_turn == NEVER:
            return None
        seconds = min(wait.seconds if wait else _TICK, retry, own_turn)
        if self.context.clock() + seconds < self.context.until:
            return seconds
        if not self.pool.under_way:
            self.tally.note("stopped early: every host left asks to wait longer than this run may last")
        return None

    def _is_over(self) -> bool:
        """Nothing is under way and nothing may start: is that the end?"""
        stopped = self.context.clock() >= self.context.until or bool(self.tally.notes)
        if self.retries and not stopped:
            return False
        for done in self.retries.give_up():
            self._keep(self.results.to_visit(done))
        self._catch_up()
        if stopped or not self.context.coordinator.has_room():
            self._add(self.results.left())
            return True
        if self._add(self.results.released()):
            return False
        if self.context.coordinator.all_done():
            return True
        self.frontier.look_again()
        return False

    # -- fetch

    def _start(self, entry: FrontierEntry) -> None:
        """Send an entry, or what its origin is asked first, to the workers; or record why it is not fetched."""
        self.context.coordinator.is_busy()
        outcome = self._refuse(entry)
        if outcome is not None:
            self.throttle.withdrawn(entry.host)
            self._over(entry, outcome)
        elif not self.origins.ask_before(entry):
            self._fetch(entry)

    def _refuse(self, entry: FrontierEntry) -> Outcome | None:
        outcome = self.results.refused(entry)
        if outcome is None and self.throttle.is_resting(entry.host):
            self.tally.rested.add(entry.host)
            outcome = Outcome(Reason.UNREACHABLE, "the host failed repeatedly in this run")
        return outcome or self.origins.refuse(entry)

    def _fetch(self, entry: FrontierEntry) -> None:
        if self.context.coordinator.may_start():
            self.pool.submit(Job(entry, url=self.spellings.get(entry.url_id, "")))
            return
        self.throttle.withdrawn(entry.host)
        self.frontier.put_back(entry)

    def _finish(self, done: Done) -> None:
        """Take the result of a job."""
        if isinstance(done, PageDone) and done.job.kind is JobKind.PAGE:
            self._finish_page(done)
            return
        outcome, new = self.origins.finish(done)
        self._add(new)
        if outcome is not None:
            self._over(done.job.entry, outcome)

    def _finish_page(self, done: PageDone) -> None:
        entry, result = done.job.entry, done.result
        good = result.outcome.reason in GOOD
        self._tell_throttle(done)
        self.frontier.done(entry)
        self.context.coordinator.ended(good)
        if self._is_asked_again(done, good):
            return
        self.retries.over(entry.url_id)
        self.tally.fetched += good
        self.tally.refused.update(done.refused)
        if good:
            self.context.learned.lastmods.visited(entry.host, entry.url, result.outcome.reason is Reason.FETCHED)
        if (done.feeds or done.sitemaps) and entry.kind in (Kind.SEED, Kind.HUB):
            self.origins.add_named(done)
        visit = self.results.to_visit(done)
        if visit.page is not None:
            self.context.learned.proposals.linked(entry.host, done.abroad)
        self._keep(visit)
        self.origins.probe(self.results.doubts(entry.host))
        if self.tally.counts[Reason.FAILED] >= _MAX_UNEXPECTED:
            raise PlumblineError(f"{_MAX_UNEXPECTED} pages failed in unexpected ways; see the log for the tracebacks")

    def _tell_throttle(self, done: PageDone) -> None:
        host, result, now = done.job.entry.host, done.result, self.context.clock()
        self.throttle.lives_at(host, self.context.fetcher.ip_of(host))
        how = (result.answered_at, result.host_failed, result.retry_after, not is_trouble(result.outcome))
        self.throttle.finished(host, now, *how, given_up=result.answered_at is None)
        self.throttle.is_large(host, self.backlog.left[host], self.context.until - now)

    def _is_asked_again(self, done: PageDone, good: bool) -> bool:
        """Is the page to be fetched once more in this run: in its site's spelling, or after a failure that passes?"""
        entry, spelling = done.job.entry, done.result.spelling
        if spelling and entry.url_id not in self.spellings:
            self.spellings[entry.url_id] = spelling
            self.frontier.again(entry)
            return True
        return not good and self.throttle.has_answered(entry.host) and self.retries.take(done, self.context.clock())

    # -- keep

    def _over(self, entry: FrontierEntry, outcome: Outcome) -> None:
        """The turn of an entry is over without a fetch."""
        self.frontier.done(entry)
        self._keep(self.results.visit(entry, outcome))

    def _keep(self, visit: Visit) -> None:
        self.recorder.add(visit)
        self.tally.visited(visit.entry.host, visit.outcome.reason)
        self.backlog.visited(visit)
        if visit.entry.kind is Kind.SEED:
            self.tally.seeds[visit.entry.url] = visit.outcome

    # -- follow

    def _add(self, new: Sequence[NewUrl]) -> bool:
        """Put URLs into the table that no visit has led to; are there any?"""
        if new:
            self.context.table.add(new)
            self.backlog.found(new)
            self.frontier.expect({one.queue for one in new if self.context.coordinator.mine(one.queue)})
        return bool(new)

    def _catch_up(self) -> bool:
        """Have all that is kept recorded, and its links in the frontier; was there anything?"""
        has_work = self.recorder.has_work
        if has_work:
            self.recorder.flush()
            self._take_recorded(wait=True)
        return has_work

    def _take_recorded(self, wait: bool = False) -> None:
        for batch in self.recorder.recorded(wait):
            self.frontier.recorded(batch)
            self.reporter.say(self.context.clock(), self.pool.under_way, self.backlog.left)
