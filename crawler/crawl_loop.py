"""The loop of a crawl: take, fetch, keep, follow.

    frontier.take -> robots, sitemaps -> fetch + links (workers) -> judged -> Visit -> recorder -> frontier

One thread decides; worker threads fetch and read pages, another one records. What is recorded is recorded whole (page,
outcome, links and next visit of a batch in one transaction), so a kill loses at most the fetches since the last batch,
which the next run repeats.
"""

from collections import Counter
from collections.abc import Iterable

from crawler.crawl_context import SEED_PRIORITY, CrawlContext, seed_rows
from crawler.crawl_state import CrawlState
from crawler.guided_strategy import Guided
from crawler.http.render import Renderer
from crawler.packed_reading import SEED_PRIORITY as FIRST
from crawler.parallel.fetch_pool import Done, FetchPool, Job, JobKind, PageDone, Reader, RobotsDone, SitemapDone
from crawler.parallel.recorder import Recorder
from crawler.progress import GOOD, Reporter, Tally
from crawler.robots.cache import Robots, product_token
from crawler.schedule.backlog import Backlog, CountedTable
from crawler.schedule.best_first import frontier_of
from crawler.schedule.crawl_window import quiet_hours, seconds_of_quiet
from crawler.schedule.result_handler import ResultHandler
from crawler.schedule.retries import Retries, is_trouble
from crawler.schedule.revisit import policy_of
from crawler.schedule.throttle import NEVER, HostThrottle
from crawler.sitemaps.own_turns import OwnTurns, is_own_turn
from crawler.sitemaps.scheduler import SitemapScheduler
from crawler.strategies import STRATEGIES
from crawler.urls.canonical import origin_of
from crawler.urls.run_deduplicator import RunDeduplicator
from docstore.errors import PlumblineError
from docstore.frontier.table import NewUrl, Visit
from docstore.model import FrontierEntry, Kind, Outcome, Reason

BATCH = 64  # visits recorded at once
_BATCH_AGE = 0.25  # seconds a visit waits to be recorded at most
_TICK = 0.5  # seconds without looking up at most
_MAX_UNEXPECTED = 20


class CrawlLoop:
    """One run of the crawl over a table, or over one process's share of it."""

    def __init__(self, parts: CrawlContext) -> None:
        settings = parts.settings
        self.parts, self.settings, self.table = parts, settings, parts.table
        self.clock = parts.clock
        self.started = self.clock()
        self.until = self.started + settings.minutes * 60
        self.before = parts.now()
        self.tally = Tally()
        self.throttle = HostThrottle(
            settings.delay, settings.per_host, settings.delay_factor, settings.per_ip, settings.speed_up
        )
        self.robots = Robots(parts.table, settings, parts.now)
        self.learned = CrawlState.load(parts.state)
        self.guided = Guided(parts.guide) if parts.guide else None
        self.result_handler = ResultHandler(
            parts.plan,
            policy_of(settings, parts.table.change_rates() if isinstance(parts.table, CountedTable) else None),
            self.guided or STRATEGIES["breadth_first"](),
            parts.seen,
            self.tally,
            parts.now,
            self.before,
            settings.max_redirects,
            RunDeduplicator(self.learned.likenesses),
        )
        self.quiet = quiet_hours(settings.quiet_hours)
        self.pending: list[Visit] = []
        self.pending_since = self.started
        self.backlog = Backlog(Counter())
        self.reporter = Reporter(parts.tell, self.tally, self.throttle, self.started)
        self.asking: dict[str, list[FrontierEntry]] = {}  # origin of which a file is under way -> who waits for it
        self.turns = OwnTurns()
        self.files = SitemapScheduler(parts, self.result_handler, self.learned.lastmods, self.before, self.turns)
        self.retries = Retries()
        self.spellings: dict[int, str] = {}  # url_id -> how the site wants it asked for
        agent = product_token(settings.user_agent)
        self.renderer = Renderer(parts.fetcher, settings, parts.now) if settings.rendered else None
        reader = Reader(parts.fetcher, parts.plan.rules, agent, parts.now, settings.delay, parts.guide, self.renderer)
        self.workers = FetchPool(settings.threads, reader.work)
        self.recorder = Recorder(parts.table.record)

    def add_seeds(self) -> None:
        """Put the seeds into the table."""
        new = self.parts.seen.new_among(self.parts.plan.seeds)
        priority = FIRST if self.guided else SEED_PRIORITY
        self.tally.added += self.table.add(seed_rows(self.parts.plan, priority))
        self.parts.seen.add(new)

    def work(self) -> None:
        """Crawl until nothing is due, or time or pages are up. After Ctrl-C everything fetched is recorded before the
        exception goes on."""
        parts = self.parts
        self.frontier = frontier_of(
            parts.table, self.throttle, self.before, parts.plan, parts.coordinator.mine, self.guided
        )
        self.backlog = Backlog.of(self.table, self.before, parts.coordinator.mine)
        try:
            self._loop()
        except BaseException:
            if not self.recorder.has_failed:
                self._flush()
                self.recorder.close()
                self.recorder.check()
            raise
        finally:
            self.workers.close()
            self.recorder.close()
            if self.renderer is not None:
                self.renderer.close()
            self.learned.paces.found(self.throttle.manners())
            self.learned.save(self.parts.state)

    def _loop(self) -> None:
        while True:
            wait = self._start_what_may()
            if wait is None and not self.workers.under_way and self._is_over():
                break
            longest = _BATCH_AGE if self.pending or self.recorder.under_way else _TICK
            done = self.workers.next(longest if wait is None else min(wait, longest))
            while done is not None:
                self._finish(done)
                done = self.workers.next(0)
            if self.pending and self.clock() - self.pending_since >= _BATCH_AGE:
                self._flush()
            self._take_recorded()

    def _is_over(self) -> bool:
        """Nothing is under way and nothing may start: is that the end?"""
        stopped = self.clock() >= self.until or bool(self.tally.notes)
        if self.retries and not stopped:
            return False
        for done in self.retries.give_up():
            self._keep(self.result_handler.to_visit(done))
        self._flush()
        self._take_recorded(wait=True)
        if stopped or not self.parts.coordinator.has_room():
            self._add(self.result_handler.left())
            return True
        if self._add(self.result_handler.released()):
            return False
        if self.parts.coordinator.all_done():
            return True
        self.frontier.look_again()
        return False

    # -- starting

    def _start_what_may(self) -> float | None:
        """Give idle workers what may be fetched now. Seconds until more may be, None if only results can bring more."""
        while self.workers.idle and self._has_time():
            self._ask_again()
            if self.guided and not self.workers.under_way:
                self._catch_up()
            errand = self.turns.next(self.throttle, self.clock(), self.asking)
            if errand is not None:
                self._start_errand(errand)
                continue
            taken = self.frontier.take(self.clock())
            if isinstance(taken, FrontierEntry):
                self._start(taken)
                continue
            if self.pending and not self.workers.under_way:
                self._flush()  # its links may be all there is
            if self.recorder.under_way and not self.workers.under_way:
                self._take_recorded(wait=True)
                continue
            errands = self.turns.seconds(self.throttle, self.clock())
            seconds = min(taken.seconds if taken else _TICK, self.retries.seconds(self.clock()), errands)
            if taken is None and not self.retries and errands == NEVER:
                return None
            if self.clock() + seconds < self.until:
                return seconds
            if not self.workers.under_way:
                self.tally.note("stopped early: every host left asks to wait longer than this run may last")
            return None
        return None

    def _catch_up(self) -> None:
        """What the last pages have taught is in the table before the next one is chosen."""
        if self.pending or self.recorder.under_way:
            self._flush()
            self._take_recorded(wait=True)

    def _has_time(self) -> bool:
        if self.clock() >= self.until:
            self.tally.note(f"stopped after {self.settings.minutes:g} minutes")
            return False
        if self.quiet and seconds_of_quiet(self.quiet, self.parts.now()):
            self.tally.note(f"stopped for the quiet hours {self.settings.quiet_hours}")
            return False
        return self._has_room()

    def _has_room(self) -> bool:
        if self.parts.coordinator.has_room():
            return True
        if self.settings.max_pages and not self.workers.under_way:
            self.tally.note(f"stopped after {self.settings.max_pages} pages")
        return False

    def _start(self, entry: FrontierEntry) -> None:
        """Send an entry to the workers, or record why it is not fetched."""
        self.parts.coordinator.is_busy()
        outcome = self.result_handler.refused(entry)
        if outcome is not None:
            self._skip(entry, outcome)
        elif self.throttle.is_resting(entry.host):
            self.tally.rested.add(entry.host)
            self._skip(entry, Outcome(Reason.UNREACHABLE, "the host failed repeatedly in this run"))
        else:
            self._start_by_robots(entry)

    def _start_by_robots(self, entry: FrontierEntry) -> None:
        origin = origin_of(entry.url)
        rules = self.robots.rules(origin)
        if origin in self.asking:
            self.asking[origin].append(entry)
        elif rules is None:
            self.asking[origin] = []
            self.workers.submit(Job(entry, JobKind.ROBOTS, origin))
        elif (outcome := rules.refuse(entry.url)) is not None:
            self._skip(entry, outcome)
        else:
            self.throttle.slow_down(entry.host, rules.delay)
            file = self.files.next(origin, rules, self.frontier)
            if file is None:
                self._start_page(entry)
            else:
                self.asking[origin] = []
                self.workers.submit(Job(entry, *file))

    def _start_errand(self, job: Job) -> None:
        """Ask for a sitemap or feed in a turn of its own, by the robots.txt of where it is."""
        self.throttle.started(job.entry.host, self.clock())
        origin = origin_of(job.url)
        rules = self.robots.rules(origin)
        if rules is None:
            self.asking[origin] = []
            self.turns.put_back(job)
            self.workers.submit(Job(job.entry, JobKind.ROBOTS, origin))
        elif rules.refuse(job.url) is not None or self.throttle.is_resting(job.entry.host):
            self.throttle.withdrawn(job.entry.host)
            self._drop(job)
        else:
            self.throttle.slow_down(job.entry.host, rules.delay)
            self.workers.submit(job)

    def _start_page(self, entry: FrontierEntry) -> None:
        if self.parts.coordinator.may_start():
            self.workers.submit(Job(entry, url=self.spellings.get(entry.url_id, "")))
            return
        self.throttle.withdrawn(entry.host)
        self.frontier.put_back(entry)

    def _skip(self, entry: FrontierEntry, outcome: Outcome) -> None:
        self.throttle.withdrawn(entry.host)
        self._over(entry, outcome)

    def _over(self, entry: FrontierEntry, outcome: Outcome) -> None:
        self.frontier.done(entry)
        self._keep(self.result_handler.visit(entry, outcome))

    # -- finishing

    def _finish(self, done: Done) -> None:
        if isinstance(done, RobotsDone):
            self._finish_robots(done)
        elif isinstance(done, SitemapDone):
            self._finish_sitemap(done)
        elif done.job.kind is JobKind.PROBE:
            self._finish_probe(done)
        elif done.job.kind is not JobKind.PAGE:  # an unexpected failure
            self.throttle.finished(done.job.entry.host, self.clock(), good=False)
            if is_own_turn(done.job.entry):
                self._drop(done.job)
            else:
                self._over(done.job.entry, done.result.outcome)
            self._wake(origin_of(done.job.entry.url))
        else:
            self._finish_page(done)

    def _finish_robots(self, done: RobotsDone) -> None:
        answer, entry = done.answer, done.job.entry
        rules = self.robots.learn(answer)
        self.throttle.slow_down(entry.host, rules.delay)
        self.throttle.finished(entry.host, self.clock(), answer.answered_at, answer.host_failed)
        outcome = None if is_own_turn(entry) else rules.refuse(entry.url)
        if outcome is None:
            self._put_back(entry)
        else:
            self._over(entry, outcome)
        self._wake(done.job.url)

    def _finish_sitemap(self, done: SitemapDone) -> None:
        entry, origin = done.job.entry, origin_of(done.job.entry.url)
        self.throttle.finished(entry.host, self.clock(), done.answered_at, done.host_failed)
        self._add(self.files.take(done, self.frontier))
        self._put_back(entry)
        self._wake(origin)

    def _finish_probe(self, done: PageDone) -> None:
        result, host = done.result, done.job.entry.host
        self.throttle.finished(host, self.clock(), result.answered_at, result.host_failed, result.retry_after)
        self._probe(self.result_handler.probed(done.job.url, done))
        self._add(self.result_handler.released())

    def _probe(self, urls: Iterable[str]) -> None:
        for url in urls:
            self.turns.add(JobKind.PROBE, url)

    def _drop(self, job: Job) -> None:
        """What has a turn of its own may not be asked for, or failed in a way that nobody expected."""
        if job.kind is JobKind.PROBE:
            self.result_handler.probed(job.url)
        else:
            self.files.drop(job)

    def _put_back(self, entry: FrontierEntry) -> None:
        """The entry was not fetched in its turn; a file's own turn is over, or waits among the files."""
        if not is_own_turn(entry):
            self.frontier.put_back(entry)

    def _wake(self, origin: str) -> None:
        for entry in self.asking.pop(origin, []):
            self.throttle.finished(entry.host, self.clock())
            self.frontier.put_back(entry)

    def _finish_page(self, done: PageDone) -> None:
        entry, result = done.job.entry, done.result
        self.throttle.lives_at(entry.host, self.parts.fetcher.ip_of(entry.host))
        good = result.outcome.reason in GOOD
        how = (result.answered_at, result.host_failed, result.retry_after, not is_trouble(result.outcome))
        self.throttle.finished(entry.host, self.clock(), *how, given_up=result.answered_at is None)
        self.throttle.is_large(entry.host, self.backlog.left[entry.host], self.until - self.clock())
        self.frontier.done(entry)
        self.parts.coordinator.ended(good)
        if result.spelling and entry.url_id not in self.spellings:
            self.spellings[entry.url_id] = result.spelling
            self.frontier.again(entry)
            return
        if not good and self.throttle.has_answered(entry.host) and self.retries.take(done, self.clock()):
            return
        self.retries.over(entry.url_id)
        self.tally.fetched += good
        self.tally.refused.update(done.refused)
        if good:
            self.learned.lastmods.visited(entry.host, entry.url, result.outcome.reason is Reason.FETCHED)
        if (done.feeds or done.sitemaps) and entry.kind in (Kind.SEED, Kind.HUB):
            self.files.add_named(origin_of(entry.url), done.feeds, done.sitemaps)
        visit = (
            self.guided.visit(done, self.result_handler.to_visit) if self.guided else self.result_handler.to_visit(done)
        )
        if visit.page is not None:
            self.learned.proposals.linked(entry.host, done.abroad)
        self._keep(visit)
        self._probe(self.result_handler.doubts(entry.host))
        if self.tally.counts[Reason.FAILED] >= _MAX_UNEXPECTED:
            raise PlumblineError(f"{_MAX_UNEXPECTED} pages failed in unexpected ways; see the log for the tracebacks")

    def _ask_again(self) -> None:
        while (done := self.retries.due(self.clock())) is not None:
            if self.throttle.is_resting(done.job.entry.host):
                self._keep(self.result_handler.to_visit(done))
            else:
                self.frontier.again(done.job.entry)

    # -- keeping

    def _add(self, new: list[NewUrl]) -> bool:
        """Put URLs into the table that no visit has led to; are there any?"""
        if new:
            self.table.add(new)
            self.backlog.found(new)
            self.frontier.expect({one.queue for one in new if self.parts.coordinator.mine(one.queue)})
        return bool(new)

    def _keep(self, visit: Visit) -> None:
        if not self.pending:
            self.pending_since = self.clock()
        self.pending.append(visit)
        self.tally.visited(visit.entry.host, visit.outcome.reason)
        self.backlog.visited(visit)
        if visit.entry.kind is Kind.SEED:
            self.tally.seeds[visit.entry.url] = visit.outcome
        if len(self.pending) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        """Hand the pending visits to the recorder."""
        if self.pending:
            self.recorder.submit(self.pending)
            self.pending = []

    def _take_recorded(self, wait: bool = False) -> None:
        for batch in self.recorder.recorded(wait):
            self.frontier.recorded(batch)
            self.reporter.say(self.clock(), self.workers.under_way, self.backlog.left)
