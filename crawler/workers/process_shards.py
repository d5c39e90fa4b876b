"""Crawl one table with several processes. Each process crawls its own hosts.

The starting process also crawls a shard, while the others start. The queue number contains the shard of a host
(`queues.make_sharded_queue_function`), so a host is always throttled by one process. A URL of another process's host is
added to the table, where that process finds it. Each process writes its own batches and WARC files. SQLite serializes
the writes, and each batch is atomic even if a process is killed.

The crawl ends when every process has polled the table twice without finding work since any process last had work.

A killed process holds nothing that the others wait for: each has a pipe of its own, and each shared number one writer,
without a lock.
"""

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from logging.handlers import QueueHandler
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol, runtime_checkable

from crawler.crawl_context import CrawlContext
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import CrawlPlan
from crawler.http.fetch import Fetcher
from crawler.progress import CrawlProgress, HostProgress, ProgressCallback, Tally
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.queues import find_shard
from crawler.workers.coordinator import Coordinator
from domain.errors import PlumblineError
from domain.outcome import Reason

_POLL_SECONDS = 0.1  # interval of table and process polls
_SHUTDOWN_SECONDS = 120.0  # time to record pending visits after a stop

TableOpener = Callable[[], AbstractContextManager[CrawlTable]]


@runtime_checkable
class ReopenableTable(Protocol):
    """A table that other processes can open."""

    def make_opener(self) -> TableOpener:
        """Return a function that opens the table in another process. Can be pickled."""


@dataclass
class ShardCoordinator(Coordinator):
    """Coordinates one process with the others through shared numbers.

    `reserved_pages`, `busy_counts` and `idle_counts` count, per process, its reserved pages, how often it had work, and
    how often it polled without finding any. The starting process sets `is_stopped`. `check_peers` raises
    PlumblineError if a process that this one needs has ended.
    """

    shard_index: int
    max_pages: int
    reserved_pages: Any
    busy_counts: Any
    idle_counts: Any
    is_stopped: Any
    check_peers: Callable[[], None]

    def owns_queue(self, queue: int) -> bool:
        """True if the queue is in this process's shard. All queues of a host are in one shard."""
        return find_shard(queue, len(self.busy_counts)) == self.shard_index

    def has_page_budget(self) -> bool:
        """True if one more page may be fetched."""
        self.check_peers()
        return not self.is_stopped.value and not (self.max_pages and sum(self.reserved_pages) >= self.max_pages)

    def try_reserve_page(self) -> bool:
        """Reserve one of the remaining pages. Returns False if none is left, or if another process was as fast."""
        self.reserved_pages[self.shard_index] += 1  # before the sum is read: two processes never get the last page
        is_reserved = not self.max_pages or sum(self.reserved_pages) <= self.max_pages
        self.reserved_pages[self.shard_index] -= not is_reserved
        return is_reserved

    def finish_page(self, is_success: bool) -> None:
        """Uncount a page that was not fetched successfully."""
        self.reserved_pages[self.shard_index] -= not is_success

    def mark_busy(self) -> None:
        """Report that this process has work."""
        self.busy_counts[self.shard_index] += 1

    def check_finished(self) -> bool:
        """Report that this process has no work and wait briefly. Returns True if the crawl has ended for all."""
        self.idle_counts[self.shard_index] += 1
        time.sleep(_POLL_SECONDS)
        self.check_peers()
        return bool(self.is_stopped.value)


def crawl_in_processes(
    table: ReopenableTable,
    fetcher: Fetcher,
    plan: CrawlPlan,
    seen_path: Path,
    on_progress: ProgressCallback | None,
) -> Tally:
    """Crawl with `plan.settings.processes` processes, this one included. Returns their combined counts.

    Raises the error of the first process that failed.
    """
    if not isinstance(table, CrawlTable):
        raise TypeError(table)
    tally = Tally()
    threads = -(-plan.settings.threads // plan.settings.processes)
    plan = replace(plan, settings=replace(plan.settings, threads=threads))
    group = _WorkerGroup(plan, seen_path, table.make_opener(), fetcher.opener, on_progress)
    try:
        context = CrawlContext(table, fetcher, plan, seen_path, group.leader, 0, group.report_leader_progress)
        CrawlLoop.from_context(context).run()
        for part in (context.tally, *group.wait_for_tallies()):
            tally.merge(part)
    except BaseException:
        group.stop()
        raise
    return tally


class _WorkerGroup:
    """The other processes of a crawl, from start to end."""

    def __init__(
        self,
        plan: CrawlPlan,
        seen_path: Path,
        table_opener: TableOpener,
        fetcher_opener: Callable[[], Fetcher],
        on_progress: ProgressCallback | None,
    ) -> None:
        context, count = get_context("spawn"), plan.settings.processes
        reserved_pages, self._busy_counts, self._idle_counts = (context.RawArray("q", count) for _ in range(3))
        self._is_stopped = context.RawValue("b")
        shared = (plan.settings.max_pages, reserved_pages, self._busy_counts, self._idle_counts, self._is_stopped)
        self.leader = ShardCoordinator(0, *shared, self._poll_reports)
        self._workers: dict[Connection, tuple[int, BaseProcess]] = {}
        for shard_index in range(1, count):
            coordinator = ShardCoordinator(shard_index, *shared, partial(raise_if_orphaned, os.getpid()))
            reader, writer = context.Pipe(duplex=False)
            arguments = (writer, coordinator, plan, seen_path, table_opener, fetcher_opener)
            process = context.Process(target=_run_shard, args=arguments, name=f"crawl-{shard_index}", daemon=True)
            process.start()
            writer.close()  # so that the end of the process ends the pipe
            self._workers[reader] = shard_index, process
        self._on_progress = on_progress
        self._tallies: list[Tally] = []
        self._progress_by_shard: dict[int, CrawlProgress] = {}
        self._last_counts: tuple[list[int], list[int]] | None = None
        self._last_poll_at = 0.0
        self._is_leader_finished = False

    def report_leader_progress(self, progress: CrawlProgress) -> None:
        """Report the progress of this process, combined with the last reports of the others."""
        self._progress_by_shard[0] = progress
        if self._on_progress is not None:
            self._on_progress(merge_progress(self._progress_by_shard.values()))

    def wait_for_tallies(self) -> list[Tally]:
        """Wait for the other processes after this one has finished. Returns their counts."""
        self._is_leader_finished = True
        while self._workers:
            self._handle_reports(_POLL_SECONDS)
        return self._tallies

    def stop(self) -> None:
        """Stop the other processes after they have recorded their pending visits."""
        self._is_stopped.value = True
        deadline = time.monotonic() + _SHUTDOWN_SECONDS
        while self._workers and time.monotonic() < deadline:
            try:
                self._handle_reports(_POLL_SECONDS)
            except PlumblineError:  # the crawl has ended with its first error
                continue
        for _, process in self._workers.values():
            process.kill()

    def _poll_reports(self) -> None:
        """Handle pending reports, at most every `_POLL_SECONDS`."""
        now = time.monotonic()
        if now - self._last_poll_at >= _POLL_SECONDS:
            self._last_poll_at = now
            while self._handle_reports(0.0):
                pass

    def _handle_reports(self, seconds: float) -> bool:
        """Handle the next report of each process, waiting at most `seconds`. Returns False if there was none."""
        self._stop_when_all_idle()
        ready = wait([*self._workers], seconds)
        for reader in [reader for reader in self._workers if reader in ready]:
            shard_index, process = self._workers[reader]
            try:
                report = reader.recv()
            except (EOFError, OSError):  # also in the middle of a report
                del self._workers[reader]
                process.join()
                raise PlumblineError(
                    f"process {shard_index} of the crawl ended with status {process.exitcode}. "
                    "Recorded visits are saved. Run the same command again."
                ) from None
            if isinstance(report, logging.LogRecord):
                logging.getLogger(report.name).handle(report)
            elif isinstance(report, CrawlProgress):
                self._progress_by_shard[shard_index] = report
            else:
                del self._workers[reader]
                process.join()
                if isinstance(report, BaseException):
                    raise report
                self._tallies.append(report)
        return bool(ready)

    def _stop_when_all_idle(self) -> None:
        """Stop the crawl when all running processes polled twice without work since any process last had work."""
        busy, idle = list(self._busy_counts), list(self._idle_counts)
        running_shards = [index for index, _ in self._workers.values()] + [0] * (not self._is_leader_finished)
        if self._last_counts is None or self._last_counts[0] != busy:
            self._last_counts = (busy, idle)
        elif all(idle[shard_index] >= self._last_counts[1][shard_index] + 2 for shard_index in running_shards):
            self._is_stopped.value = True


def raise_if_orphaned(parent_pid: int) -> None:
    """Raise PlumblineError if the process that started the crawl has ended."""
    if os.getppid() != parent_pid:
        raise PlumblineError("the process that started this crawl has ended")


def _run_shard(
    writer: Connection,
    coordinator: ShardCoordinator,
    plan: CrawlPlan,
    seen_path: Path,
    table_opener: TableOpener,
    fetcher_opener: Callable[[], Fetcher],
) -> None:
    """Crawl one shard. Runs in its own process. Sends progress and log records, at the end the counts or an error."""
    reports: SimpleQueue[object] = SimpleQueue()
    sender = Thread(target=_send_reports, args=(reports, writer), name="reports", daemon=True)
    sender.start()  # in a thread, where no Ctrl-C cuts a report
    logging.getLogger().addHandler(QueueHandler(reports))
    try:
        with table_opener() as table, closing(fetcher_opener()) as fetcher:
            context = CrawlContext(table, fetcher, plan, seen_path, coordinator, coordinator.shard_index, reports.put)
            CrawlLoop.from_context(context).run()
        reports.put(context.tally)
    except PlumblineError as error:
        reports.put(error)
    except KeyboardInterrupt:
        reports.put(PlumblineError("stopped"))
    reports.put(None)
    sender.join()


def _send_reports(reports: "SimpleQueue[object]", writer: Connection) -> None:
    """Send reports up to a None. Ends if the starting process has ended."""
    with suppress(OSError):
        while (report := reports.get()) is not None:
            writer.send(report)


def merge_progress(parts: Iterable[CrawlProgress]) -> CrawlProgress:
    """Combine the progress of all processes into one report."""
    counts: Counter[Reason] = Counter()
    hosts: dict[str, HostProgress] = {}
    urls_added = in_flight = backlog = active_hosts = 0
    seconds = slowest_host_seconds = 0.0
    for part in parts:
        counts.update(part.counts)
        hosts.update(part.hosts)
        urls_added, in_flight = urls_added + part.urls_added, in_flight + part.in_flight
        seconds = max(seconds, part.elapsed_seconds)
        backlog, active_hosts = backlog + part.backlog, active_hosts + part.active_hosts
        slowest_host_seconds = max(slowest_host_seconds, part.slowest_host_seconds)
    return CrawlProgress(counts, urls_added, in_flight, seconds, hosts, backlog, active_hosts, slowest_host_seconds)
