"""What coordination costs: CPU time a page of a Dask cluster beside one machine's, and leases of many workers."""

import hashlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

from sqlalchemy import create_engine, text

from benchmarks.gold_web import GoldPage
from benchmarks.results import Figure
from benchmarks.scale_cluster import Cluster, Postgres, cpu_seconds
from crawler.urls.canonical import host_of
from docstore.database import Database
from docstore.frontier.table import NewUrl, Visit
from docstore.locking.leases import LeaseTable
from docstore.model import Kind, Outcome, Page, Reason
from docstore.store import Store
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import Quiet
from pipeline.settings import build

WORKERS, THREADS = 8, 8  # processes, and sleepers in each
SLEEP = 0.02  # seconds that a sleeper is at a block
BLOCKS = 100_000
WARM = 40  # pages that make the workers load what they need


def costs(folder: Path, pages: Sequence[GoldPage], workers: int = 2) -> Iterator[Figure]:
    """CPU seconds a page of extraction and mining, of all processes with those of PostgreSQL; the workers were started
    and had done something before."""
    postgres = Postgres(folder / "postgres")
    spent: dict[str, dict[str, float]] = {}
    cluster: Cluster | None = None
    try:
        spent["local"] = of_stages(folder / "local", postgres, pages, {})
        cluster = Cluster(folder / "cluster", workers)  # now: one that only waits takes some time as well
        shares = {"engine": "dask", "scheduler": cluster.address, "block": 250}
        of_stages(folder / "warm", postgres, pages[:WARM], shares)
        spent["dask"] = of_stages(folder / "dask", postgres, pages, shares)
    finally:
        if cluster:
            cluster.close()
        postgres.close()
    for stage, seconds in spent["local"].items():
        for name, system in (("local", "plumbline local"), ("dask", "plumbline dask")):
            yield Figure(stage, system, "CPU ms a page", 1000 * spent[name][stage] / len(pages))
        yield Figure(stage, "plumbline", f"cpu_ratio_{stage}", spent["dask"][stage] / seconds)


def of_stages(
    folder: Path, postgres: Postgres, pages: Sequence[GoldPage], shares: dict[str, object]
) -> dict[str, float]:
    """CPU seconds of extraction and mining of pages in an empty store: stage -> seconds."""
    settings = build({"store": {"url": postgres.database(folder.name)}, "cluster": shares}, folder)
    roots = (os.getpid(), postgres.pid)  # the cluster's processes are children of this one
    with Engine(settings, Quiet()) as engine:
        fill(engine.store, pages)
        works = (("extract", stages.extract), ("mine", stages.mine))
        return {stage: took(partial(work, engine), roots) for stage, work in works}


def took(work: Callable[[], object], roots: Sequence[int]) -> float:
    """CPU seconds that some processes and their children spend meanwhile."""
    before = cpu_seconds(roots)
    work()
    return cpu_seconds(roots) - before


def fill(store: Store, pages: Sequence[GoldPage]) -> None:
    """Put pages into a store as a crawl would."""
    now = time.time()
    table = store.frontier
    table.add([NewUrl(page.url, host_of(page.url), 0, 1, Kind.UNKNOWN, 0.0) for page in pages])
    known = table.entries([page.url for page in pages])
    visits = []
    for page in pages:
        entry, kind = known[page.url], f"text/html; charset={page.encoding}"
        digest = hashlib.sha256(page.content).hexdigest()
        answer = Page(entry.url_id, page.url, page.url, 200, kind, page.content, digest, now)
        visits.append(Visit(entry, Outcome(Reason.FETCHED), now, None, 0.0, answer))
    for start in range(0, len(visits), 64):
        table.record(visits[start : start + 64])


def leases(folder: Path, seconds: float) -> Iterator[Figure]:
    """64 workers that take a block, sleep and give it back: leases a second, how long the slowest wait, dead rows."""
    postgres = Postgres(folder / "postgres")
    try:
        url = postgres.database("leases")
        with closing(Database(url)):
            pass  # its tables are made once
        with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
            waits = sorted(chain(*pool.starmap(sleepers, [(url, number, seconds) for number in range(WORKERS)])))
        engine = create_engine(url)
        with engine.connect() as connection:
            query = "SELECT n_dead_tup, n_live_tup, n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables"
            dead, live, hot, updated = connection.execute(text(f"{query} WHERE relname = 'leases'")).one()
        engine.dispose()
    finally:
        postgres.close()
    yield Figure("leases", "plumbline", "workers", WORKERS * THREADS)
    yield Figure("leases", "plumbline", "leases_per_s", len(waits) / seconds)
    yield Figure("leases", "plumbline", "median of a lease, ms", 1000 * waits[len(waits) // 2])
    yield Figure("leases", "plumbline", "p99 of a lease, ms", 1000 * waits[len(waits) * 99 // 100])
    yield Figure("leases", "plumbline", "seconds", seconds)
    yield Figure("leases", "plumbline", "dead tuples", dead)
    yield Figure("leases", "plumbline", "rows", live)
    yield Figure("leases", "plumbline", "updates in place, %", 100 * hot / max(1, updated))


def sleepers(url: str, number: int, seconds: float) -> list[float]:
    """What one process does with its threads; how long each lease took."""
    waits: list[float] = []
    with closing(Database(url)) as database:

        def work(thread: int) -> None:
            table = LeaseTable(database, f"{number}-{thread}")
            until, block = time.monotonic() + seconds, number * THREADS + thread
            while time.monotonic() < until:
                keys = [str((block + step) % BLOCKS) for step in range(4)]
                asked = time.monotonic()
                taken = table.take("block", keys, 30.0)
                waits.append(time.monotonic() - asked)
                time.sleep(SLEEP)
                table.release(taken)
                block += WORKERS * THREADS

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return waits
