"""Several processes over one table: each has its hosts, and does for them what a run alone does for all.

The process that begins the crawl does a share itself, at once, while the others start. Which process a host belongs to
is part of its queue numbers (`queues.sharded`), so a host's manners stay in one hand. A URL found for another
process's host goes into the table, where that one finds it. Every process writes its own batches and WARC files: SQLite
has them take turns, and what is recorded is recorded whole whoever is killed.

It is over when every process has looked into the table in vain after the last of them had anything to do.
"""

import logging
import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty
from typing import Any, Protocol, runtime_checkable

from crawler.crawl_context import CrawlContext, seed_rows
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import CrawlPlan
from crawler.http.fetch import Fetcher
from crawler.progress import CrawlProgress, HostProgress, Tally, Tell
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.queues import shard_of
from crawler.schedule.throttle import HostThrottle
from crawler.schedule.url_seen import UrlSeenTest
from crawler.state_files import state_file
from docstore.errors import PlumblineError, StoreError
from docstore.model import FrontierEntry, Reason

_PAUSE = 0.1  # seconds between two looks into the table, or at the others
_ENDING = 120.0  # seconds that a process has to record what it has after a stop

Open = Callable[[], AbstractContextManager[CrawlTable]]


@runtime_checkable
class OpenedElsewhere(Protocol):
    """A table that other processes can open as well."""

    def opener(self) -> Open:
        """What opens it there; can be pickled."""


@dataclass
class ShardWorker:
    """One process's place among all. The numbers are shared: pages taken, and of each process how often it had
    something to do and how often it looked in vain."""

    number: int
    count: int
    limit: int
    taken: Any
    done: Any
    idle: Any
    stop: Any
    reports: Any
    parent: int

    def mine(self, queue: int) -> bool:
        """One host's queues are all in one share."""
        return shard_of(queue, self.count) == self.number

    def watch(self) -> None:
        """Raise PlumblineError where the others are not as they should be."""
        if os.getppid() != self.parent:
            raise PlumblineError("the process that began this crawl is gone")

    def has_room(self) -> bool:
        """May one more page be fetched?"""
        self.watch()
        return not self.stop.is_set() and not (self.limit and self.taken.value >= self.limit)

    def may_start(self) -> bool:
        """Take one of the pages left."""
        if not self.limit:
            return True
        with self.taken.get_lock():
            if self.taken.value >= self.limit:
                return False
            self.taken.value += 1
        return True

    def ended(self, good: bool) -> None:
        """Only pages count."""
        if self.limit and not good:
            with self.taken.get_lock():
                self.taken.value -= 1

    def is_busy(self) -> None:
        """There is something to do here."""
        self.done[self.number] += 1

    def meet(self, throttle: HostThrottle) -> None:
        """A host is in one share alone."""

    def turn(self, entry: FrontierEntry) -> AbstractContextManager[bool]:
        """Always."""
        return nullcontext(True)

    def takes_more(self, waiting: int) -> bool:
        """Its queues are given."""
        return False

    def all_done(self) -> bool:
        """Nothing to do here: wait a little, and say whether that holds for all."""
        self.idle[self.number] += 1
        self.stop.wait(_PAUSE)
        self.watch()
        return bool(self.stop.is_set())

    def tell(self, progress: CrawlProgress) -> None:
        """To the process that began the crawl."""
        self.reports.put((self.number, progress))


@dataclass
class ShardLeader(ShardWorker):
    """The place of the process that began the crawl: in between it looks after the others."""

    look: Callable[[], None] = lambda: None

    def watch(self) -> None:
        """Take what the others report; raise what they raised."""
        self.look()


def crawl_in_processes(
    table: OpenedElsewhere,
    fetcher: Fetcher,
    plan: CrawlPlan,
    seen_path: Path,
    tell: Tell | None,
) -> Tally:
    """Crawl with `plan.processes` processes, this one among them; what they counted. Raises what the first that
    failed raised."""
    if not isinstance(table, CrawlTable):
        raise TypeError(table)
    tally = Tally(added=table.add(seed_rows(plan)))
    plan = replace(plan, threads=-(-plan.threads // plan.processes))
    group = _Group(plan, seen_path, table.opener(), fetcher.opener, tell)
    try:
        seen = UrlSeenTest.load(seen_path, table, plan.seen_filter)
        context = CrawlContext(table, fetcher, plan, seen, group.leading, state_file(seen_path, 0), group.tell)
        CrawlLoop.of(context).work()
        for part in (context.tally, *group.tallies()):
            tally.merge(part)
    except BaseException:
        group.end()
        raise
    return tally


class _Group:
    """The processes beside this one, from the first's start to the last one's end."""

    def __init__(
        self, plan: CrawlPlan, seen_path: Path, opener: Open, fetcher: Callable[[], Fetcher], tell: Tell | None
    ) -> None:
        context = get_context("spawn")
        count = plan.processes
        self._stop = context.Event()
        self._reports: Any = context.Queue()
        self._done: Any = context.Array("q", count)
        self._idle: Any = context.Array("q", count)
        shared = (0, count, plan.max_pages, context.Value("q", 0), self._done, self._idle, self._stop)
        place = ShardWorker(*shared, self._reports, os.getpid())
        self.leading = ShardLeader(*shared, self._reports, os.getpid(), self._look)
        self._running: dict[int, BaseProcess] = {}
        for number in range(1, count):
            arguments = (replace(place, number=number), plan, seen_path, opener, fetcher)
            self._running[number] = context.Process(target=_share, args=arguments, name=f"crawl-{number}", daemon=True)
            self._running[number].start()
        self._tell = tell
        self._found: list[Tally] = []
        self._progress: dict[int, CrawlProgress] = {}
        self._before: tuple[list[int], list[int]] | None = None
        self._looked_at = 0.0
        self._has_led = False

    def tell(self, progress: CrawlProgress) -> None:
        """How far this process is, told with what the others said last."""
        self._progress[0] = progress
        if self._tell is not None:
            self._tell(merged(self._progress.values()))

    def tallies(self) -> list[Tally]:
        """What the others counted, once all of them have ended. This process has."""
        self._has_led = True
        while self._running:
            self._take(_PAUSE)
        return self._found

    def end(self) -> None:
        """Have those left record what they have, and end."""
        self._stop.set()
        until = time.monotonic() + _ENDING
        for process in self._running.values():
            while process.is_alive() and time.monotonic() < until:
                try:
                    self._reports.get(timeout=_PAUSE)  # a full pipe would keep them from ending
                except Empty:
                    continue
            if process.is_alive():
                process.kill()

    def _look(self) -> None:
        """Now and then while this process crawls."""
        now = time.monotonic()
        if now - self._looked_at >= _PAUSE:
            self._looked_at = now
            while self._take(0.0):
                pass

    def _take(self, seconds: float) -> bool:
        """One report, waiting for it at most so long; False if there was none."""
        self._stop_if_idle()
        try:
            number, said = self._reports.get(timeout=seconds) if seconds else self._reports.get_nowait()
        except Empty:
            self._check_alive()
            return False
        if isinstance(said, CrawlProgress):
            self._progress[number] = said
            return True
        self._running.pop(number).join()
        if isinstance(said, BaseException):
            raise said
        self._found.append(said)
        return True

    def _stop_if_idle(self) -> None:
        """All that are at it have looked in vain twice since nobody had anything to do: no look can find anything."""
        done, idle = list(self._done), list(self._idle)
        at_it = (*self._running, *(() if self._has_led else (0,)))
        if self._before is None or self._before[0] != done:
            self._before = (done, idle)
        elif all(idle[number] >= self._before[1][number] + 2 for number in at_it):
            self._stop.set()

    def _check_alive(self) -> None:
        for number, process in self._running.items():
            if not process.is_alive() and self._reports.empty():
                raise PlumblineError(
                    f"process {number} of the crawl ended with status {process.exitcode}: nothing that was recorded "
                    "is lost, run the same command again"
                )


def _share(
    coordinator: ShardWorker, plan: CrawlPlan, seen_path: Path, opener: Open, open_fetcher: Callable[[], Fetcher]
) -> None:
    """What one process does."""
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        with opener() as table, closing(open_fetcher()) as fetcher:
            seen = UrlSeenTest.load(seen_path, table, plan.seen_filter)
            state = state_file(seen_path, coordinator.number)
            context = CrawlContext(table, fetcher, plan, seen, coordinator, state, coordinator.tell)
            CrawlLoop.of(context).work()
        coordinator.reports.put((coordinator.number, context.tally))
    except (PlumblineError, StoreError) as error:
        coordinator.reports.put((coordinator.number, error))
    except KeyboardInterrupt:
        coordinator.reports.put((coordinator.number, PlumblineError("stopped")))


def merged(parts: Any) -> CrawlProgress:
    """How far all of them are."""
    counts: Counter[Reason] = Counter()
    hosts: dict[str, HostProgress] = {}
    added = under_way = left = at_work = 0
    seconds = takes = 0.0
    for part in parts:
        counts.update(part.counts)
        hosts.update(part.hosts)
        added, under_way, seconds = added + part.added, under_way + part.under_way, max(seconds, part.seconds)
        left, at_work, takes = left + part.left, at_work + part.at_work, max(takes, part.takes)
    return CrawlProgress(counts, added, under_way, seconds, hosts, left, at_work, takes)
