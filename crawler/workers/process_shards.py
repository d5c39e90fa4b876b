"""Crawl one table with several processes. Each process crawls its own hosts.

The starting process also crawls a shard, while the others start. The queue number contains the shard of a host
(`queues.make_sharded_queue_function`), so a host is always throttled by one process. A URL of another process's host is
added to the table, where that process finds it. Each process writes its own batches and WARC files. SQLite serializes
the writes, and each batch is atomic even if a process is killed.

The crawl ends when every process has polled the table twice without finding work since any process last had work.
"""

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from logging.handlers import QueueHandler
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty
from typing import Any, Protocol, runtime_checkable

from crawler.crawl_context import CrawlContext
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import CrawlPlan
from crawler.http.fetch import Fetcher
from crawler.progress import CrawlProgress, HostProgress, ProgressCallback, Tally
from crawler.schedule.frontier import CrawlTable
from crawler.schedule.queues import find_shard
from crawler.workers.coordinator import Coordinator
from domain.errors import PlumblineError, StoreError
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
    """Coordinates one process with the others through shared counters.

    `reserved_pages` counts reserved pages. `busy_counts` and `idle_counts` count, per process, how often it had work
    and how often it polled without finding any.
    """

    shard_index: int
    shard_count: int
    max_pages: int
    reserved_pages: Any
    busy_counts: Any
    idle_counts: Any
    stop_event: Any
    report_queue: Any
    parent_pid: int

    def owns_queue(self, queue: int) -> bool:
        """True if the queue is in this process's shard. All queues of a host are in one shard."""
        return find_shard(queue, self.shard_count) == self.shard_index

    def check_peers(self) -> None:
        """Raise PlumblineError if the process that started the crawl has ended."""
        if os.getppid() != self.parent_pid:
            raise PlumblineError("the process that started this crawl has ended")

    def has_page_budget(self) -> bool:
        """True if one more page may be fetched."""
        self.check_peers()
        return not self.stop_event.is_set() and not (self.max_pages and self.reserved_pages.value >= self.max_pages)

    def try_reserve_page(self) -> bool:
        """Reserve one of the remaining pages. Returns False if none is left."""
        if not self.max_pages:
            return True
        with self.reserved_pages.get_lock():
            if self.reserved_pages.value >= self.max_pages:
                return False
            self.reserved_pages.value += 1
        return True

    def finish_page(self, is_success: bool) -> None:
        """Uncount a page that was not fetched successfully."""
        if self.max_pages and not is_success:
            with self.reserved_pages.get_lock():
                self.reserved_pages.value -= 1

    def mark_busy(self) -> None:
        """Report that this process has work."""
        self.busy_counts[self.shard_index] += 1

    def check_finished(self) -> bool:
        """Report that this process has no work and wait briefly. Returns True if the crawl has ended for all."""
        self.idle_counts[self.shard_index] += 1
        self.stop_event.wait(_POLL_SECONDS)
        self.check_peers()
        return bool(self.stop_event.is_set())

    def report_progress(self, progress: CrawlProgress) -> None:
        """Send the progress to the process that started the crawl."""
        self.report_queue.put((self.shard_index, progress))


@dataclass
class LeaderCoordinator(ShardCoordinator):
    """Coordinator of the process that started the crawl. It also monitors the other processes."""

    poll_workers: Callable[[], None] = lambda: None

    def check_peers(self) -> None:
        """Handle the reports of the other processes. Raises their errors."""
        self.poll_workers()


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
        context = get_context("spawn")
        count = plan.settings.processes
        self._stop_event = context.Event()
        self._report_queue: Any = context.Queue()
        self._busy_counts: Any = context.Array("q", count)
        self._idle_counts: Any = context.Array("q", count)
        shared = (
            0,
            count,
            plan.settings.max_pages,
            context.Value("q", 0),
            self._busy_counts,
            self._idle_counts,
            self._stop_event,
        )
        worker = ShardCoordinator(*shared, self._report_queue, os.getpid())
        self.leader = LeaderCoordinator(*shared, self._report_queue, os.getpid(), self._poll_reports)
        self._process_by_shard: dict[int, BaseProcess] = {}
        for shard_index in range(1, count):
            arguments = (replace(worker, shard_index=shard_index), plan, seen_path, table_opener, fetcher_opener)
            self._process_by_shard[shard_index] = context.Process(
                target=_run_shard, args=arguments, name=f"crawl-{shard_index}", daemon=True
            )
            self._process_by_shard[shard_index].start()
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
        while self._process_by_shard:
            self._handle_next_report(_POLL_SECONDS)
        return self._tallies

    def stop(self) -> None:
        """Stop the other processes after they have recorded their pending visits."""
        self._stop_event.set()
        deadline = time.monotonic() + _SHUTDOWN_SECONDS
        for process in self._process_by_shard.values():
            while process.is_alive() and time.monotonic() < deadline:
                try:
                    _, report = self._report_queue.get(timeout=_POLL_SECONDS)  # a full pipe would block their exit
                except Empty:
                    continue
                if isinstance(report, logging.LogRecord):
                    logging.getLogger(report.name).handle(report)
            if process.is_alive():
                process.kill()

    def _poll_reports(self) -> None:
        """Handle pending reports, at most every `_POLL_SECONDS`."""
        now = time.monotonic()
        if now - self._last_poll_at >= _POLL_SECONDS:
            self._last_poll_at = now
            while self._handle_next_report(0.0):
                pass

    def _handle_next_report(self, seconds: float) -> bool:
        """Handle one report, waiting at most `seconds` for it. Returns False if there was none."""
        self._stop_when_all_idle()
        try:
            shard_index, report = (
                self._report_queue.get(timeout=seconds) if seconds else self._report_queue.get_nowait()
            )
        except Empty:
            self._check_alive()
            return False
        if isinstance(report, logging.LogRecord):
            logging.getLogger(report.name).handle(report)
            return True
        if isinstance(report, CrawlProgress):
            self._progress_by_shard[shard_index] = report
            return True
        self._process_by_shard.pop(shard_index).join()
        if isinstance(report, BaseException):
            raise report
        self._tallies.append(report)
        return True

    def _stop_when_all_idle(self) -> None:
        """Stop the crawl when all running processes polled twice without work since any process last had work."""
        busy, idle = list(self._busy_counts), list(self._idle_counts)
        running_shards = (*self._process_by_shard, *(() if self._is_leader_finished else (0,)))
        if self._last_counts is None or self._last_counts[0] != busy:
            self._last_counts = (busy, idle)
        elif all(idle[shard_index] >= self._last_counts[1][shard_index] + 2 for shard_index in running_shards):
            self._stop_event.set()

    def _check_alive(self) -> None:
        for shard_index, process in self._process_by_shard.items():
            if not process.is_alive() and self._report_queue.empty():
                raise PlumblineError(
                    f"process {shard_index} of the crawl ended with status {process.exitcode}. "
                    "Recorded visits are saved. Run the same command again."
                )


class _ReportHandler(QueueHandler):
    """Sends log records to the starting process, which writes the log. A traceback becomes part of the message."""

    def __init__(self, shard_index: int, report_queue: Any) -> None:
        super().__init__(report_queue)
        self._shard_index, self._report_queue = shard_index, report_queue

    def enqueue(self, record: logging.LogRecord) -> None:
        """Put the record on the report queue."""
        self._report_queue.put((self._shard_index, record))


def _run_shard(
    coordinator: ShardCoordinator,
    plan: CrawlPlan,
    seen_path: Path,
    table_opener: TableOpener,
    fetcher_opener: Callable[[], Fetcher],
) -> None:
    """Crawl one shard. Runs in its own process."""
    logging.getLogger().addHandler(_ReportHandler(coordinator.shard_index, coordinator.report_queue))
    try:
        with table_opener() as table, closing(fetcher_opener()) as fetcher:
            shared = (coordinator, coordinator.shard_index, coordinator.report_progress)
            context = CrawlContext(table, fetcher, plan, seen_path, *shared)
            CrawlLoop.from_context(context).run()
        coordinator.report_queue.put((coordinator.shard_index, context.tally))
    except (PlumblineError, StoreError) as error:
        coordinator.report_queue.put((coordinator.shard_index, error))
    except KeyboardInterrupt:
        coordinator.report_queue.put((coordinator.shard_index, PlumblineError("stopped")))


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
