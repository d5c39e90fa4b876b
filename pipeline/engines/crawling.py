"""Crawlers on several machines: long pieces of work, each of which leases hosts as long as any has something due.

This machine puts the seeds into the table and adds up what the crawlers count; which host is whose, they agree on by
leases alone (crawler/parallel/leased_hosts.py). One that dies leaves its hosts to the others when its leases run out.
"""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.crawl_context import CrawlContext, seed_rows
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import CrawlPlan, check_contact, plan_of
from crawler.host_suggestions import with_added
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicAddresses
from crawler.parallel.leased_hosts import HOSTS_A_THREAD, LeasedHosts
from crawler.progress import CrawlProgress, Tally
from crawler.schedule.forecast import PACES
from crawler.schedule.url_seen import UrlSeenTest
from crawler.settings import FOCUSED, strategy_of
from crawler.state_files import read_state, state_file, write_state
from docstore.errors import PlumblineError
from docstore.frontier.learned import LearnedTable
from docstore.locking.leases import Heartbeat
from docstore.locking.shared_locks import BEATS
from docstore.model import StageReport
from pipeline.engines.settings import DASK
from pipeline.engines.worker import worker_for
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.engine import Engine

HEADINGS = ("lastmod", "likeness", "proposed", PACES)  # of what a crawl learns of sites, by host
MAX_VAIN = 20  # turns in a row, a heartbeat apart, in which crawlers visited nothing although something was due
BY_HOST = "host"  # the queue policy whose numbers name hosts


def is_shared_out(settings: Settings) -> bool:
    """Do workers crawl? Not for a topic: one process learns what is relevant."""
    shares = settings.cluster.engine == DASK and settings.cluster.crawlers > 0
    return shares and strategy_of(settings.crawl) not in FOCUSED


def crawl_with_workers(engine: "Engine", tell: Callable[[CrawlProgress], None]) -> StageReport:
    """Crawl until nothing is due, the time or the page limit is reached; visits are counted by reason."""
    started, settings, table = time.monotonic(), engine.settings, engine.store.frontier
    plan = shared_plan(settings)
    check_contact(plan)
    table.requeue(BY_HOST, plan.queue_of)
    table.discount_spurious_changes(plan.revisit.longer)
    tally = Tally(added=table.add(seed_rows(plan)))
    share = partial(crawl_share, settings=settings, before=time.time(), until=time.time() + plan.seconds)
    for part in _shares(engine, share, plan):
        tally.merge(part)
        tell(CrawlProgress(tally.counts, tally.added, 0, time.monotonic() - started))
    return tally.report(time.monotonic() - started)


def _shares(engine: "Engine", share: "partial[Tally]", plan: CrawlPlan) -> Iterator[Tally]:
    """What crawlers have counted, until nothing is due that was when they began: those that fail leave work behind."""
    fetched = vain = 0
    beat, most = engine.settings.cluster.heartbeat_seconds, plan.max_pages * engine.settings.cluster.crawlers
    before, until = share.keywords["before"], share.keywords["until"]
    while engine.store.frontier.due_queues(before) and time.time() < until and not (most and fetched >= most):
        visited = 0
        for _, part in engine.work.each(share, range(engine.settings.cluster.crawlers)):
            visited, fetched = visited + part.counts.total(), fetched + part.fetched
            yield part
        vain = 0 if visited else vain + 1
        if vain == MAX_VAIN:
            raise PlumblineError("no crawler could crawl what is due: see the logs of the workers")
        time.sleep(0.0 if visited else beat)


def shared_plan(settings: Settings) -> CrawlPlan:
    """How all of them crawl: the queues are by host, for a queue is what is leased."""
    crawl = with_added(settings.crawl, settings.data_dir)
    plan = plan_of(replace(crawl, processes=1, queue_policy=BY_HOST))
    limit = -(-plan.max_pages // settings.cluster.crawlers)
    return replace(plan, max_pages=limit, processes=1)


def crawl_share(number: int, settings: Settings, before: float, until: float) -> Tally:
    """On a worker: crawl what no other crawler does, until nothing is due that was `before`, or it is `until` (both
    epoch seconds)."""
    worker, plan = worker_for(settings), shared_plan(settings)
    plan = replace(plan, seconds=max(until - time.time(), 0.0))
    seen_path = settings.data_dir / f"crawler-{number}" / "seen.bloom"
    addresses = PublicAddresses(settings.crawl.inside_hosts)
    beat, longest = settings.cluster.heartbeat_seconds, settings.crawl.total_timeout + settings.crawl.delay
    with (
        closing(Heartbeat(worker.leases, longest + BEATS * beat, beat)) as heartbeat,
        worker.store.frontier.opener()() as table,
        closing(Fetcher(settings.crawl, addresses)) as fetcher,
        closing(LeasedHosts(heartbeat, table, before, longest, addresses, plan.per_ip, plan.max_pages)) as place,
    ):
        place.most, place.crawlers = plan.threads * HOSTS_A_THREAD, settings.cluster.crawlers
        table.fence_by(place.lease_of)
        begin_with_learned(worker.store.learned, seen_path)
        seen = UrlSeenTest.load(seen_path, table, plan.seen_filter)
        context = CrawlContext(table, fetcher, plan, seen, place, state_file(seen_path))
        CrawlLoop.of(context).work()
        seen.save(seen_path)
        keep_learned(worker.store.learned, seen_path, {*context.tally.pages_of, *context.tally.errors_of})
    worker.store.upload_pages()
    return context.tally


def begin_with_learned(learned: LearnedTable, seen_path: Path) -> None:
    """Put what all crawlers have learned of sites where this one looks for it."""
    for heading in HEADINGS:
        write_state(state_file(seen_path)(heading), learned.of(heading))


def keep_learned(learned: LearnedTable, seen_path: Path, asked: Collection[str]) -> None:
    """Tell the others what this crawler has learned of the hosts that it has asked."""
    for heading in HEADINGS:
        known = read_state(state_file(seen_path)(heading))
        learned.keep(heading, {host: one for host, one in known.items() if host in asked})
