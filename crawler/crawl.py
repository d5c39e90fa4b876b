"""The crawl loop: take, fetch, keep, follow.

    frontier.take -> robots -> fetch + links (workers) -> keep? priority? -> Visit -> table.record -> frontier

One thread, the caller's, decides and records; worker threads only fetch and read pages. What is recorded is recorded
whole (page, outcome, links and next visit of a batch in one transaction), so a kill loses at most the fetches since
the last batch, which the next run repeats.
"""

import functools
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from crawler.fetch import Fetcher
from crawler.frontier import CrawlTable, Frontier
from crawler.plan import CrawlPlan, plan_of
from crawler.politeness import HostGate
from crawler.revisit import policy_of
from crawler.robots import Robots
from crawler.seen import Seen
from crawler.settings import CrawlSettings
from crawler.strategies import STRATEGIES, ParentPage
from crawler.urls import host_of, origin_of, refuse
from crawler.workers import Done, Job, PageDone, RobotsDone, Workers, work
from docstore.errors import PlumblineError, StoreError
from docstore.frontier import NewUrl, Visit
from docstore.model import FrontierEntry, Kind, Link, Outcome, Reason, Stage, StageReport

BATCH = 64  # visits recorded at once
_BATCH_AGE = 0.25  # seconds a visit waits to be recorded at most
_TICK = 0.5  # seconds without looking up at most
_MOST_UNEXPECTED = 20
_GOOD = frozenset((Reason.FETCHED, Reason.UNCHANGED))
_SEED_GOOD = _GOOD | {Reason.DUPLICATE}
_SEED_PRIORITY = 1.0
_SEED_ADVICE = {
    Reason.ROBOTS_FORBIDDEN: "robots.txt forbids us these pages; name others in crawl.seeds",
    Reason.INSIDE_ADDRESS: "if they are yours, name them in crawl.inside_hosts",
}


@dataclass(frozen=True)
class Progress:
    """How far a run has come: visits by reason, addresses added, fetches under way, seconds since the start."""

    counts: Mapping[Reason, int]
    added: int
    under_way: int
    seconds: float


def crawl(
    table: CrawlTable,
    fetcher: Fetcher,
    settings: CrawlSettings,
    seen_path: Path,
    now: Callable[[], float] = time.time,
    progress: Callable[[Progress], None] | None = None,
) -> StageReport:
    """Crawl until nothing is due, the time or the page limit is reached; visits are counted by reason.

    `seen_path` is where the seen filter is kept between runs. Refused links are counted in a note of the report, and
    leave no trace in the table. Raises SettingsError for settings that cannot be followed, PlumblineError if not one
    seed could be fetched, StoreError if the table fails. After Ctrl-C everything fetched is recorded before the
    exception goes on.
    """
    plan = plan_of(settings)
    table.requeue(plan.queues, plan.queue_of)
    seen = Seen.load(seen_path, table)
    run = _Run(table, fetcher, settings, plan, seen, now, progress)
    try:
        run.add_seeds()
        run.work()
    except StoreError:
        raise
    except BaseException:
        run.flush()
        seen.save(seen_path)
        raise
    finally:
        run.workers.close()
    seen.save(seen_path)
    return run.report()


@dataclass
class _Run:
    """One run of the crawl: its parts, and what it has to remember."""

    table: CrawlTable
    fetcher: Fetcher
    settings: CrawlSettings
    plan: CrawlPlan
    seen: Seen
    now: Callable[[], float]
    progress: Callable[[Progress], None] | None
    clock: Callable[[], float] = time.monotonic
    counts: Counter[Reason] = field(default_factory=Counter)
    refused: Counter[Reason] = field(default_factory=Counter)  # links, not addresses of the table
    added: int = 0
    fetched: int = 0
    seeds: dict[str, Outcome] = field(default_factory=dict)
    rested: set[str] = field(default_factory=set)
    note: str = ""

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.until = self.started + self.settings.minutes * 60
        self.before = self.now()
        self.gate = HostGate(self.settings.delay, self.settings.per_host)
        self.robots = Robots(self.table, self.settings, self.now)
        self.strategy = STRATEGIES[self.settings.strategy]()
        self.policy = policy_of(self.settings)
        self.pending: list[Visit] = []
        self.pending_since = self.started
        self.hops: dict[str, int] = {}  # address -> redirects in a row that led to it in this run
        self.asking: dict[str, list[FrontierEntry]] = {}  # origin whose robots.txt is under way -> who waits for it
        do = functools.partial(
            work, fetcher=self.fetcher, rules=self.plan.rules, now=self.now, delay=self.settings.delay
        )
        self.workers = Workers(self.settings.threads, do, self.fetcher.close)

    def add_seeds(self) -> None:
        """Put the seeds into the table, then open the frontier over it."""
        new = self.seen.new_among(self.plan.seeds)
        self.added += self.table.add([self._new_url(seed, 0, Kind.SEED, _SEED_PRIORITY) for seed in self.plan.seeds])
        self.seen.add(new)
        self.frontier = Frontier(self.table, self.gate, self.before)

    def work(self) -> None:
        """The loop."""
        while True:
            wait = self._start_what_may()
            if wait is None and not self.workers.under_way:
                break
            done = self.workers.next(min(_TICK if wait is None else wait, _TICK, _BATCH_AGE if self.pending else _TICK))
            while done is not None:
                self._finish(done)
                done = self.workers.next(0)
            if self.pending and self.clock() - self.pending_since >= _BATCH_AGE:
                self.flush()
        self.flush()

    def flush(self) -> None:
        """Record the pending visits."""
        if not self.pending:
            return
        batch, self.pending = self.pending, []
        self.table.record(batch)
        self.frontier.recorded(batch)
        if self.progress is not None:
            seconds = self.clock() - self.started
            self.progress(Progress(dict(self.counts), self.added, self.workers.under_way, seconds))

    def report(self) -> StageReport:
        """What the run did. Raises PlumblineError if no seed and no other page could be fetched."""
        bad = [f"{url}: {_shown(outcome)}" for url, outcome in self.seeds.items() if outcome.reason not in _SEED_GOOD]
        if bad and not self.fetched:
            first = next(outcome.reason for outcome in self.seeds.values() if outcome.reason not in _SEED_GOOD)
            advice = _SEED_ADVICE.get(first, "see that crawl.seeds is right and that the sites answer, then run again")
            raise PlumblineError(f"none of the seeds could be fetched ({'; '.join(bad[:3])}): {advice}")
        notes = [f"seed not fetched: {line}" for line in bad]
        notes += [f"host left alone after repeated failures: {host}" for host in sorted(self.rested)]
        notes += [self.note] if self.note else []
        if self.refused:
            counted = ", ".join(f"{count} {reason}" for reason, count in self.refused.most_common())
            notes.append(f"links not followed: {counted}")
        return StageReport(Stage.CRAWL, dict(self.counts), self.clock() - self.started, tuple(notes))

    def _start_what_may(self) -> float | None:
        """Give idle workers what may be fetched now. Seconds until more may be, None if only results can bring more."""
        while self._has_room():
            taken = self.frontier.take(self.clock())
            if isinstance(taken, FrontierEntry):
                self._start(taken)
            elif self.pending and not self.workers.under_way:
                self.flush()  # its links may be all there is
            elif taken is None:
                return None
            elif self.clock() + taken.seconds < self.until:
                return taken.seconds
            else:
                if not self.workers.under_way:
                    self.note = "stopped early: every host left asks to wait longer than this run may last"
                return None
        return None

    def _has_room(self) -> bool:
        if self.clock() >= self.until:
            self.note = f"stopped after {self.settings.minutes:g} minutes"
            return False
        limit = self.settings.max_pages
        if limit and self.fetched >= limit:
            self.note = f"stopped after {limit} pages"
        return self.workers.idle > 0 and not (limit and self.fetched + self.workers.under_way >= limit)

    def _start(self, entry: FrontierEntry) -> None:
        """Send an entry to the workers, or record why it is not fetched."""
        reason = refuse(entry.url, self.plan.rules, entry.depth)
        if reason is not None:
            self._skip(entry, Outcome(reason))
        elif self.gate.is_resting(entry.host):
            self.rested.add(entry.host)
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
            self.workers.submit(Job(entry, robots_of=origin))
        elif (outcome := rules.refuse(entry.url)) is not None:
            self._skip(entry, outcome)
        else:
            self.gate.slow_down(entry.host, rules.delay)
            self.workers.submit(Job(entry))

    def _skip(self, entry: FrontierEntry, outcome: Outcome) -> None:
        self.gate.withdrawn(entry.host)
        self.frontier.done(entry)
        self._keep(self._visit(entry, outcome))

    def _finish(self, done: Done) -> None:
        if isinstance(done, RobotsDone):
            self._finish_robots(done)
        elif done.job.robots_of:  # an unexpected failure
            self._release(done.job, done.result.outcome)
        else:
            self._finish_page(done)

    def _finish_robots(self, done: RobotsDone) -> None:
        answer, entry = done.answer, done.job.entry
        rules = self.robots.learn(answer)
        self.gate.slow_down(entry.host, rules.delay)
        self.gate.finished(entry.host, self.clock(), answer.answered_at, answer.host_failed)
        outcome = rules.refuse(entry.url)
        if outcome is None:
            self.frontier.put_back(entry)
        else:
            self.frontier.done(entry)
            self._keep(self._visit(entry, outcome))
        self._wake(done.job.robots_of)

    def _release(self, job: Job, outcome: Outcome) -> None:
        self.gate.finished(job.entry.host, self.clock())
        self.frontier.done(job.entry)
        self._keep(self._visit(job.entry, outcome))
        self._wake(job.robots_of)

    def _wake(self, origin: str) -> None:
        for entry in self.asking.pop(origin, []):
            self.gate.finished(entry.host, self.clock())
            self.frontier.put_back(entry)

    def _finish_page(self, done: PageDone) -> None:
        entry, result = done.job.entry, done.result
        self.gate.finished(entry.host, self.clock(), result.answered_at, result.host_failed, result.retry_after)
        self.frontier.done(entry)
        self.refused.update(done.refused)
        self.fetched += result.outcome.reason in _GOOD
        self._keep(self._judged(done))
        if self.counts[Reason.FAILED] >= _MOST_UNEXPECTED:
            raise PlumblineError(f"{_MOST_UNEXPECTED} pages failed in unexpected ways; see the log for the tracebacks")

    def _keep(self, visit: Visit) -> None:
        if not self.pending:
            self.pending_since = self.clock()
        self.pending.append(visit)
        self.counts[visit.outcome.reason] += 1
        if visit.entry.kind is Kind.SEED:
            self.seeds[visit.entry.url] = visit.outcome
        if len(self.pending) >= BATCH:
            self.flush()

    def _judged(self, done: PageDone) -> Visit:
        """The visit that a finished fetch amounts to."""
        entry, result = done.job.entry, done.result
        if result.redirect:
            return self._redirected(entry, result.redirect, result.moved_for_good)
        visit = self._visit(entry, result.outcome)
        visit = replace(visit, etag=result.etag, last_modified=result.last_modified)
        if result.page is None:
            return visit
        judgement = self.strategy.keep(result.page)
        links = self._followed(ParentPage(entry, result.page, judgement), done.links)
        if not judgement.keep:
            return replace(visit, outcome=Outcome(Reason.FETCHED, "not relevant, not kept"), links=links)
        self.strategy.learn(result.page)
        return replace(visit, page=result.page, links=links)

    def _visit(self, entry: FrontierEntry, outcome: Outcome) -> Visit:
        # A clock set back during the run must not make a page due again in the same run.
        at = max(self.now(), self.before + 0.001)
        due = self.policy.after(entry, outcome.reason, at)
        gone = outcome.reason is Reason.GONE
        return Visit(entry, outcome, at, due.next_visit, due.gap, gone=gone, attempts=due.attempts)

    def _followed(self, parent: ParentPage, links: tuple[Link, ...]) -> tuple[NewUrl, ...]:
        """The new ones among a page's links, with their priorities."""
        by_url = {link.url: link for link in links}
        followed: list[NewUrl] = []
        for url in self.seen.new_among(by_url):
            priority = self.strategy.link_priority(parent, by_url[url])
            if priority is not None:
                new = self._new_url(url, parent.entry.depth + 1, Kind.UNKNOWN, priority)
                link = by_url[url]
                followed.append(replace(new, parent_id=parent.entry.url_id, anchor=link.anchor, context=link.context))
        self._count_new([new.url for new in followed])
        return tuple(followed)

    def _redirected(self, entry: FrontierEntry, target: str, for_good: bool) -> Visit:
        """The target takes the entry's place: an address of its own, as deep, a seed if this was one."""
        hops = self.hops.get(entry.url, 0) + 1
        reason = refuse(target, self.plan.rules, entry.depth)
        if reason is not None:
            reason = Reason.REDIRECTED_OFF_SCOPE if reason is Reason.OFF_SCOPE else reason
            return self._visit(entry, Outcome(reason, f"redirected to {target}"[:300]))
        if target == entry.url or hops > self.settings.max_redirects:
            return self._visit(entry, Outcome(Reason.TOO_MANY_REDIRECTS, target[:300]))
        self.hops[target] = hops
        kind = entry.kind if entry.kind in (Kind.SEED, Kind.HUB) else Kind.UNKNOWN
        self._count_new(self.seen.new_among([target]))
        link = replace(self._new_url(target, entry.depth, kind, entry.priority), parent_id=entry.url_id)
        visit = self._visit(entry, Outcome(Reason.DUPLICATE, target[:300]))
        return replace(visit, links=(link,), gone=for_good and bool(entry.digest))

    def _new_url(self, url: str, depth: int, kind: Kind, priority: float) -> NewUrl:
        return NewUrl(url, host_of(url), self.plan.queue_of(url), depth, kind, priority)

    def _count_new(self, urls: list[str]) -> None:
        self.seen.add(urls)
        self.added += len(urls)


def _shown(outcome: Outcome) -> str:
    return f"{outcome.reason}, {outcome.detail}" if outcome.detail else str(outcome.reason)
