"""Several processes over one table: each has its hosts, and does for them what a run alone does for all.

Which process a host belongs to is part of its queue numbers (`queues.sharded`), so a host's manners stay in one hand.
An address found for another process's host goes into the table, where that one finds it. Every process writes its own
batches and WARC files: SQLite has them take turns, and what is recorded is recorded whole whoever is killed.

It is over when every process has looked into the table in vain after the last of them had anything to do.
"""

import logging
import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty
from typing import Any, Protocol, runtime_checkable

from crawler.addresses import AddressPolicy
from crawler.fetch import Fetcher
from crawler.frontier import CrawlTable
from crawler.plan import CrawlPlan, plan_of
from crawler.progress import HostProgress, Progress, Tally, Tell
from crawler.queues import shard_of
from crawler.run import Parts, Run, seed_rows
from crawler.seen import Seen
from crawler.settings import CrawlSettings
from docstore.errors import PlumblineError, StoreError
from docstore.model import Reason

_PAUSE = 0.1  # seconds between two looks into the table, or at the others
_ENDING = 120.0  # seconds that a process has to record what it has after a stop

Open = Callable[[], AbstractContextManager[CrawlTable]]


@runtime_checkable
class OpenedElsewhere(Protocol):
    """A table that other processes can open as well."""

    def opener(self) -> Open:
        """What opens it there; can be pickled."""


@dataclass
class Together:
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

    def has_room(self) -> bool:
        """May one more page be fetched?"""
        if os.getppid() != self.parent:
            raise PlumblineError("the process that began this crawl is gone")
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

    def all_done(self) -> bool:
        """Nothing to do here: wait a little, and say whether that holds for all."""
        self.idle[self.number] += 1
        return bool(self.stop.wait(_PAUSE)) or os.getppid() != self.parent

    def tell(self, progress: Progress) -> None:
        """To the process that began the crawl."""
        self.reports.put((self.number, progress))


def crawl_in_processes(
    table: OpenedElsewhere,
    fetcher: Fetcher,
    settings: CrawlSettings,
    plan: CrawlPlan,
    seen_path: Path,
    tell: Tell | None,
) -> Tally:
    """Crawl with `settings.processes` processes; what they counted. Raises what the first that failed raised."""
    if not isinstance(table, CrawlTable):
        raise TypeError(table)
    tally = Tally(added=table.add(seed_rows(plan)))
    group = _Group(settings, seen_path, table.opener(), fetcher.addresses)
    try:
        for part in group.tallies(tell):
            tally.merge(part)
    except BaseException:
        group.end()
        raise
    return tally


class _Group:
    """The processes, from the first's start to the last one's end."""

    def __init__(self, settings: CrawlSettings, seen_path: Path, opener: Open, addresses: AddressPolicy) -> None:
        context = get_context("spawn")
        count = settings.processes
        self._stop = context.Event()
        self._reports: Any = context.Queue()
        self._done: Any = context.Array("q", count)
        self._idle: Any = context.Array("q", count)
        self._shared = Together(
            *(0, count, settings.max_pages, context.Value("q", 0), self._done, self._idle, self._stop),
            *(self._reports, os.getpid()),
        )
        own = replace(settings, threads=-(-settings.threads // count))
        self._running: dict[int, BaseProcess] = {}
        for number in range(count):
            arguments = (replace(self._shared, number=number), opener, own, addresses, seen_path)
            self._running[number] = context.Process(target=_share, args=arguments, name=f"crawl-{number}", daemon=True)
            self._running[number].start()
        self._progress: dict[int, Progress] = {}
        self._before: tuple[list[int], list[int]] | None = None

    def tallies(self, tell: Tell | None) -> list[Tally]:
        """Wait for all of them, telling how far they are."""
        found: list[Tally] = []
        while self._running:
            self._stop_if_idle()
            try:
                number, said = self._reports.get(timeout=_PAUSE)
            except Empty:
                self._check_alive()
                continue
            if isinstance(said, Progress):
                self._progress[number] = said
                if tell is not None:
                    tell(merged(self._progress.values()))
                continue
            self._running.pop(number).join()
            if isinstance(said, BaseException):
                raise said
            found.append(said)
        return found

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

    def _stop_if_idle(self) -> None:
        """All have looked in vain twice since nobody had anything to do: then no look can find anything."""
        done, idle = list(self._done), list(self._idle)
        if self._before is None or self._before[0] != done:
            self._before = (done, idle)
        elif all(now >= then + 2 for now, then in zip(idle, self._before[1], strict=True)):
            self._stop.set()

    def _check_alive(self) -> None:
        for number, process in self._running.items():
            if not process.is_alive() and self._reports.empty():
                raise PlumblineError(
                    f"process {number} of the crawl ended with status {process.exitcode}: nothing that was recorded "
                    "is lost, run the same command again"
                )


def _share(company: Together, opener: Open, settings: CrawlSettings, addresses: AddressPolicy, seen_path: Path) -> None:
    """What one process does."""
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        with opener() as table, closing(Fetcher(settings, addresses)) as fetcher:
            seen = Seen.load(seen_path, table, settings.seen_filter)
            state = seen_path.with_name(f"lastmod-{company.number}.json")
            run = Run(Parts(table, fetcher, settings, plan_of(settings), seen, company, state, company.tell))
            run.work()
        company.reports.put((company.number, run.tally))
    except (PlumblineError, StoreError) as error:
        company.reports.put((company.number, error))
    except KeyboardInterrupt:
        company.reports.put((company.number, PlumblineError("stopped")))


def merged(parts: Any) -> Progress:
    """How far all of them are."""
    counts: Counter[Reason] = Counter()
    hosts: dict[str, HostProgress] = {}
    added = under_way = 0
    seconds = 0.0
    for part in parts:
        counts.update(part.counts)
        hosts.update(part.hosts)
        added, under_way, seconds = added + part.added, under_way + part.under_way, max(seconds, part.seconds)
    return Progress(counts, added, under_way, seconds, hosts)
