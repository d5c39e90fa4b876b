"""Crawl on several machines: long-running tasks, each of which leases hosts until no host has due URLs.

This process adds the seed URLs to the frontier table and sums the counts of the crawlers. The crawlers coordinate the
assignment of hosts only by leases (crawler/workers/host_leases.py). If a crawler dies, other crawlers take over its
hosts when the leases expire.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.crawl_context import SITE_STATE_NAMES, CrawlContext, begin_crawl
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import CrawlPlan, build_crawl_plan
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.progress import CrawlProgress, Tally
from crawler.settings import FOCUSED_STRATEGIES, resolve_strategy
from crawler.state_files import read_state, state_path_factory, write_state
from crawler.workers.host_leases import HOST_LEASE_KIND, LEASED_HOSTS_PER_THREAD, LeaseCoordinator
from docstore.frontier.site_state import SiteStateTable
from docstore.locking.cluster_locks import ALLOWED_MISSED_BEATS
from docstore.locking.leases import LeaseHeartbeat
from docstore.store import Store
from domain.errors import PlumblineError, StoreError
from domain.outcome import StageReport
from locks.fences import start_thread
from pipeline.compute.cluster_worker import get_worker
from pipeline.compute.settings import DASK
from pipeline.local_time import local_second
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.engine import Engine

log = logging.getLogger(__name__)

LEASE_POLL_SECONDS = 2.0  # interval of the check for leases of lost crawlers
MAX_IDLE_ROUNDS = 20  # consecutive rounds, a heartbeat apart, in which URLs were due and no crawler fetched any
HOST_QUEUE_POLICY = "host"  # the queue policy whose numbers name hosts


def is_distributed_crawl(settings: Settings) -> bool:
    """True if cluster workers crawl. A focused crawl is never distributed: one process learns the relevance model."""
    has_cluster_crawlers = settings.cluster.engine == DASK and settings.cluster.crawlers > 0
    return has_cluster_crawlers and resolve_strategy(settings.crawl) not in FOCUSED_STRATEGIES


def crawl_on_cluster(engine: "Engine", on_progress: Callable[[CrawlProgress], None]) -> StageReport:
    """Crawl until no URL is due, or the time or page limit is reached. Returns the number of visits by reason."""
    started, settings, table = time.monotonic(), engine.settings, engine.store.frontier
    plan = cluster_crawl_plan(settings)
    tally = begin_crawl(table, plan)
    crawl_task = partial(
        crawl_until_done, settings=settings, due_before=time.time(), deadline=time.time() + plan.max_seconds
    )
    with reported_lease_waits(engine, crawl_task.keywords["due_before"]):
        for tally_part in _iter_tallies(engine, crawl_task, plan):
            tally.merge(tally_part)
            on_progress(CrawlProgress(tally.visits_by_reason, tally.urls_added, 0, time.monotonic() - started))
    return tally.report(time.monotonic() - started)


@contextmanager
def reported_lease_waits(engine: "Engine", due_before: float) -> Iterator[None]:
    """Report during the `with` block, in the log and as progress, that hosts wait for the leases of lost crawlers.

    After the loss of a worker or the scheduler, nothing else shows why no page is fetched.
    """
    is_done = threading.Event()

    def watch() -> None:
        has_reported = False
        while not is_done.wait(LEASE_POLL_SECONDS):
            try:
                message = describe_lease_wait(engine.store, engine.settings, due_before)
            except StoreError:  # the crawl reports it
                continue
            if message and not has_reported:
                log.warning("crawl: %s", message)
                engine.progress.note(f"crawl: {message}")
            has_reported = bool(message)

    thread = start_thread(watch, "lease-waits")
    try:
        yield
    finally:
        is_done.set()
        thread.join()


def describe_lease_wait(store: Store, settings: Settings, due_before: float) -> str:
    """Return how many hosts with due URLs are leased by crawlers that have stopped, and until when; "" if none are.

    A crawler renews its leases with each heartbeat. After two missed heartbeats it counts as stopped.
    """
    seconds_left_by_key = store.leases.seconds_left_by_key(HOST_LEASE_KIND)
    renewed_seconds = host_lease_seconds(settings) - 2 * settings.cluster.heartbeat_seconds
    leased_seconds = (
        seconds_left_by_key.get(str(queue), renewed_seconds) for queue in store.frontier.due_counts_by_queue(due_before)
    )
    waits = [seconds for seconds in leased_seconds if seconds < renewed_seconds]
    if not waits:
        return ""
    until = local_second(time.time() + max(waits))
    return f"{len(waits)} hosts wait until {until} at the latest: crawlers that do not respond have leased them"


def host_lease_seconds(settings: Settings) -> float:
    """Return the seconds that the lease of a host lasts without a heartbeat."""
    return max_request_seconds(settings) + ALLOWED_MISSED_BEATS * settings.cluster.heartbeat_seconds


def max_request_seconds(settings: Settings) -> float:
    """Return the maximum seconds of a request and the pause after it."""
    return settings.crawl.total_timeout + settings.crawl.delay


def _iter_tallies(engine: "Engine", crawl_task: "partial[Tally]", plan: CrawlPlan) -> Iterator[Tally]:
    """Yield the counts of the crawlers until no URL is due that was due at the start. Failed crawlers leave URLs."""
    pages_fetched = idle_rounds = 0
    heartbeat_seconds, max_pages = (
        engine.settings.cluster.heartbeat_seconds,
        plan.settings.max_pages * engine.settings.cluster.crawlers,
    )
    due_before, deadline = crawl_task.keywords["due_before"], crawl_task.keywords["deadline"]
    while (
        engine.store.frontier.due_counts_by_queue(due_before)
        and time.time() < deadline
        and not (max_pages and pages_fetched >= max_pages)
    ):
        visit_count = 0
        for _, tally_part in engine.compute_backend.map_unordered(crawl_task, range(engine.settings.cluster.crawlers)):
            visit_count, pages_fetched = (
                visit_count + tally_part.visits_by_reason.total(),
                pages_fetched + tally_part.pages_fetched,
            )
            yield tally_part
        idle_rounds = 0 if visit_count else idle_rounds + 1
        if idle_rounds == MAX_IDLE_ROUNDS:
            raise PlumblineError("URLs are due, but no crawler could fetch any: see the logs of the workers")
        time.sleep(0.0 if visit_count else heartbeat_seconds)


def cluster_crawl_plan(settings: Settings) -> CrawlPlan:
    """Build the crawl plan of all crawlers. Queues are per host: a lease covers one queue."""
    crawl = settings.crawl
    pages_per_crawler = -(-crawl.max_pages // settings.cluster.crawlers)
    crawl = replace(crawl, queue_policy=HOST_QUEUE_POLICY, max_pages=pages_per_crawler)
    return build_crawl_plan(crawl)


def crawl_until_done(crawler_number: int, settings: Settings, due_before: float, deadline: float) -> Tally:
    """Crawl hosts that no other crawler has leased; runs on a cluster worker.

    Args:
        crawler_number: index of this crawler, from 0; names its state folder
        settings: those of the process that started the crawl
        due_before: only URLs that were due then, in epoch seconds
        deadline: epoch seconds
    """
    worker, plan = get_worker(settings), cluster_crawl_plan(settings)
    plan = replace(plan, max_seconds=max(deadline - time.time(), 0.0))
    seen_path = settings.data_dir / f"crawler-{crawler_number}" / "seen.bloom"
    ip_policy = PublicOnlyPolicy(settings.crawl.inside_hosts)
    request_seconds = max_request_seconds(settings)
    with (
        closing(
            LeaseHeartbeat(worker.leases, host_lease_seconds(settings), settings.cluster.heartbeat_seconds)
        ) as heartbeat,
        worker.store.frontier.reopen() as table,
        closing(Fetcher(settings.crawl, ip_policy)) as fetcher,
        closing(
            LeaseCoordinator(
                heartbeat, table, due_before, request_seconds, ip_policy, plan.settings.per_ip, plan.settings.max_pages
            )
        ) as leased_hosts,
    ):
        leased_hosts.max_hosts, leased_hosts.crawler_count = (
            plan.settings.threads * LEASED_HOSTS_PER_THREAD,
            settings.cluster.crawlers,
        )
        table.exclude_hosts(fetcher.logins.paused_hosts())
        table.use_leases(leased_hosts.lease_for_queue)
        load_shared_state(worker.store.site_state, seen_path)
        context = CrawlContext(table, fetcher, plan, seen_path, leased_hosts)
        CrawlLoop.from_context(context).run()
        context.url_seen.save(seen_path)
        save_shared_state(
            worker.store.site_state, seen_path, {*context.tally.pages_by_host, *context.tally.errors_by_host}
        )
    worker.store.upload_warc_files()
    return context.tally


def load_shared_state(shared_state: SiteStateTable, seen_path: Path) -> None:
    """Copy the shared site state of all crawlers into the state files of this crawler."""
    for key in SITE_STATE_NAMES:
        write_state(state_path_factory(seen_path)(key), shared_state.load(key))


def save_shared_state(shared_state: SiteStateTable, seen_path: Path, visited_hosts: Collection[str]) -> None:
    """Share the state that this crawler has learned about the hosts it visited."""
    for key in SITE_STATE_NAMES:
        state_by_host = read_state(state_path_factory(seen_path)(key))
        shared_state.save(key, {host: state for host, state in state_by_host.items() if host in visited_hosts})
