"""Cost of coordination: CPU time per page of a Dask cluster relative to one machine, and leases of many workers."""

import hashlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import distributed
from sqlalchemy import create_engine, text

from benchmarks.gold_web import GoldPage
from benchmarks.postgres_server import PostgresServer
from benchmarks.results import Figure
from benchmarks.scale_cluster import Cluster, cpu_seconds
from crawler.urls.canonical import host_of
from docstore.database import Database
from docstore.locking.leases import LeaseTable
from docstore.store import Store
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Page
from lexicon.counting.distributed_count import count_piece
from lexicon.model.term_model import counting_digest, load_shipped_models
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings

SLEEPERS, THREADS = 8, 8  # processes, and sleepers in each
SLEEP = 0.02  # seconds that a sleeper is at a block
BLOCKS = 100_000
WORKERS = 2  # of the cluster
STAGES = {"extract": stages.extract, "mine": stages.mine_candidates}
SHARES = 4  # blocks of pages, about
WARM = 120  # pages that make the workers load what they need
FEW = 100  # pages of a short run, which is mostly start cost


@dataclass(frozen=True)
class Spent:
    """CPU seconds of one stage on `many` pages, and on `few` of them, in separate stores.

    Both contain the fixed cost of a start (processes, models, connections), so the difference is the cost of the pages.
    """

    many: float
    few: float

    def a_page(self, more: int) -> float:
        """Return the seconds per page without the start; `more` is the difference in pages."""
        return (self.many - self.few) / more


def costs(folder: Path, pages: Sequence[GoldPage], turns: int = 3) -> Iterator[Figure]:
    """Measure CPU seconds per page of extraction and mining, over all processes including PostgreSQL.

    Returns medians of alternating runs of one machine and a cluster, because other load on the cores affects CPU time.
    Each run has a new cluster with a warm-up: workers cache words, which must not carry over between runs.
    """
    postgres = PostgresServer(folder / "postgres")
    few = pages[:: max(1, len(pages) // FEW)]
    spent: dict[tuple[str, str], list[Spent]] = {}
    begun: list[float] = []
    try:
        for turn in range(turns):
            for name in ("local", "dask"):
                by_size = []
                for size, some in (("many", pages), ("few", few)):
                    place = folder / f"{name}{turn}{size}"
                    if name == "local":
                        by_size.append(of_stages(place, postgres, some, {}))
                    else:
                        seconds, start = of_cluster(place, postgres, some, pages[:WARM])
                        by_size.append(seconds)
                        begun.append(start)
                for stage in STAGES:
                    many, part = (seconds[stage] for seconds in by_size)
                    spent.setdefault((stage, name), []).append(Spent(many, part))
    finally:
        postgres.close()
    yield Figure("start", "plumbline dask", "CPU s of scheduler, workers and a first run", median(begun))
    for stage in STAGES:
        yield from figures(stage, spent[stage, "local"], spent[stage, "dask"], len(pages), len(few))


def of_cluster(
    folder: Path, postgres: PostgresServer, pages: Sequence[GoldPage], warm: Sequence[GoldPage]
) -> tuple[dict[str, float], float]:
    """Measure `of_stages` on a cluster with warm workers, from the end of the warm-up.

    The run with few pages has as many blocks as the run with many, so all workers take part in both.
    """
    before = cpu_seconds([os.getpid()])
    cluster = Cluster(folder / "cluster", WORKERS)
    try:
        shares: dict[str, object] = {"engine": "dask", "scheduler": cluster.address}
        blocks = len(warm) // SHARES, len(pages) // SHARES
        of_stages(folder / f"{folder.name}warm", postgres, warm, {**shares, "block": blocks[0]})
        client_of: Any = distributed.Client
        with client_of(cluster.address, set_as_default=False) as client:
            client.run(count_piece, [(1, "页岩气 shale gas")], counting_digest(load_shipped_models()))
        begun = cpu_seconds([os.getpid()]) - before
        return of_stages(folder / folder.name, postgres, pages, {**shares, "block": blocks[1]}), begun
    finally:
        cluster.close()


def figures(stage: str, local: Sequence[Spent], dask: Sequence[Spent], pages: int, few: int) -> Iterator[Figure]:
    """Yield complete runs, their start cost, and the cost of the pages; with the ratio of cluster to machine."""
    for system, turns in (("plumbline local", local), ("plumbline dask", dask)):
        whole, own = median(one.many for one in turns), median(one.a_page(pages - few) for one in turns)
        yield Figure(stage, system, "pages", pages)
        yield Figure(stage, system, "CPU ms a page of a run", 1000 * whole / pages)
        yield Figure(stage, system, "CPU ms a page without its start", 1000 * own)
        yield Figure(stage, system, "CPU s of its start", whole - own * pages)
    both = list(zip(local, dask, strict=True))
    yield Figure(stage, "plumbline", f"cpu_ratio_{stage}", median(there.many / here.many for here, there in both))
    more = pages - few
    alone = median(there.a_page(more) / here.a_page(more) for here, there in both)
    yield Figure(stage, "plumbline", f"cpu_ratio_{stage} without its start", alone)


def of_stages(
    folder: Path, postgres: PostgresServer, pages: Sequence[GoldPage], shares: Mapping[str, object]
) -> dict[str, float]:
    """Measure CPU seconds of extraction and mining in an empty store: stage -> seconds."""
    settings = build_settings({"store": {"url": postgres.database(folder.name)}, "cluster": dict(shares)}, folder)
    roots = (os.getpid(), postgres.pid)  # the cluster's processes are children of this one
    with Engine(settings, NullProgress()) as engine:
        fill(engine.store, pages)
        return {stage: took(partial(work, engine), roots) for stage, work in STAGES.items()}


def took(work: Callable[[], object], roots: Sequence[int]) -> float:
    """Measure the CPU seconds of some processes and their children."""
    before = cpu_seconds(roots)
    work()
    return cpu_seconds(roots) - before


def fill(store: Store, pages: Sequence[GoldPage]) -> None:
    """Put pages into a store as a crawl would."""
    now = time.time()
    table = store.frontier
    table.add_urls([NewUrl(page.url, host_of(page.url), 0, 1, UrlKind.UNKNOWN, 0.0) for page in pages])
    known = table.find_entries([page.url for page in pages])
    visits = []
    for page in pages:
        entry, kind = known[page.url], f"text/html; charset={page.encoding}"
        digest = hashlib.sha256(page.content).hexdigest()
        answer = Page(entry.url_id, page.url, page.url, 200, kind, page.content, digest, now)
        visits.append(Visit(entry, Outcome(Reason.FETCHED), now, None, 0.0, answer))
    for start in range(0, len(visits), 64):
        table.record_visits(visits[start : start + 64])


def leases(folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure 64 workers that take a block, sleep and release it: leases per second, longest wait, dead rows."""
    postgres = PostgresServer(folder / "postgres")
    try:
        url = postgres.database("leases")
        with closing(Database(url)):
            pass  # creates the tables once
        with multiprocessing.get_context("spawn").Pool(SLEEPERS) as pool:
            waits = sorted(chain(*pool.starmap(sleepers, [(url, number, seconds) for number in range(SLEEPERS)])))
        engine = create_engine(url)
        with engine.connect() as connection:
            query = "SELECT n_dead_tup, n_live_tup, n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables"
            dead, live, hot, updated = connection.execute(text(f"{query} WHERE relname = 'leases'")).one()
        engine.dispose()
    finally:
        postgres.close()
    yield Figure("leases", "plumbline", "workers", SLEEPERS * THREADS)
    yield Figure("leases", "plumbline", "leases_per_s", len(waits) / seconds)
    yield Figure("leases", "plumbline", "median of a lease, ms", 1000 * waits[len(waits) // 2])
    yield Figure("leases", "plumbline", "p99 of a lease, ms", 1000 * waits[len(waits) * 99 // 100])
    yield Figure("leases", "plumbline", "seconds", seconds)
    yield Figure("leases", "plumbline", "dead tuples", dead)
    yield Figure("leases", "plumbline", "rows", live)
    yield Figure("leases", "plumbline", "updates in place, %", 100 * hot / max(1, updated))


def sleepers(url: str, number: int, seconds: float) -> list[float]:
    """Run the threads of one process. Returns the time of each lease."""
    waits: list[float] = []
    with closing(Database(url)) as database:

        def work(thread: int) -> None:
            table = LeaseTable(database, f"{number}-{thread}")
            until, block = time.monotonic() + seconds, number * THREADS + thread
            while time.monotonic() < until:
                keys = [str((block + step) % BLOCKS) for step in range(4)]
                asked = time.monotonic()
                taken = table.acquire("block", keys, 30.0)
                waits.append(time.monotonic() - asked)
                time.sleep(SLEEP)
                table.release(taken)
                block += SLEEPERS * THREADS

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return waits
