"""Effect of partitioning `urls`: 64 sleeping crawlers on PostgreSQL, one table or by hash of host, in turns.

Each crawler leases a host, reads its due URLs, sleeps, records ten visits that each found five links, and releases the
host. Both forms use the frontier's own code. A unique key of a partitioned table must contain the host, so no other
table can reference `urls`. This benchmark therefore drops those foreign keys, which the program does not do.
"""

import multiprocessing
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from sqlalchemy import create_engine, text

from benchmarks.postgres_server import PostgresServer
from benchmarks.results import Figure
from benchmarks.scale_cluster import cpu_seconds
from docstore.database import Database
from docstore.frontier.frontier_table import FrontierTable
from docstore.locking.leases import LeaseTable
from docstore.warc_archive import WarcArchive
from domain.batches import batched
from domain.frontier import FrontierEntry, NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host

PARTS = 16
HOSTS, PAGES = 2_000, 200  # of each
WORKERS, THREADS = 8, 8  # processes, and sleepers in each
SLEEP = 0.02  # seconds that a sleeper is at a host
VISITS, LINKS = 10, 5  # visits recorded at once, and links found by each
ROUNDS = 2
AGAIN = 86_400.0  # seconds until a page is due again

PARTITIONED = (
    "ALTER SEQUENCE urls_url_id_seq OWNED BY NONE",
    "ALTER TABLE urls RENAME TO whole",
    "CREATE TABLE urls (LIKE whole INCLUDING DEFAULTS) PARTITION BY HASH (host)",
    "DROP TABLE whole CASCADE",
    *(
        f"CREATE TABLE urls_{n} PARTITION OF urls FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {n})"
        for n in range(PARTS)
    ),
    "ALTER TABLE urls ADD PRIMARY KEY (url_id, host)",
    "ALTER TABLE urls ADD UNIQUE (url, host)",
    "CREATE INDEX urls_by_due ON urls (queue, due_at)",
)
Times = tuple[list[float], list[float]]  # seconds of each lease, of each record


def partitions(folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure both forms, each ROUNDS times for `seconds` seconds."""
    postgres = PostgresServer(folder / "postgres")
    try:
        stores = {"whole": postgres.database("whole"), "partitioned": postgres.database("partitioned")}
        for name, url in stores.items():
            with closing(Database(url)):
                pass  # its tables are made
            run(url, PARTITIONED if name == "partitioned" else ())
            fill(url, folder / name)
            run(url, ("VACUUM ANALYZE",))
        leases: dict[str, list[float]] = {name: [] for name in stores}
        records: dict[str, list[float]] = {name: [] for name in stores}
        spent = dict.fromkeys(stores, 0.0)
        with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
            for turn in range(ROUNDS):
                for name, url in stores.items():
                    before = cpu_seconds([postgres.pid])
                    works = [(url, folder / name, turn * WORKERS + n, seconds) for n in range(WORKERS)]
                    times = pool.starmap(crawlers, works)
                    spent[name] += cpu_seconds([postgres.pid]) - before
                    leases[name] += chain(*(one for one, _ in times))
                    records[name] += chain(*(one for _, one in times))
        for name, url in stores.items():
            yield from figures(name, sorted(leases[name]), sorted(records[name]), spent[name], seconds * ROUNDS, url)
    finally:
        postgres.close()


def figures(
    name: str, leases: list[float], records: list[float], spent: float, seconds: float, url: str
) -> Iterator[Figure]:
    """Yield the results of one form."""
    yield Figure("partitions", name, "leases_per_s", len(leases) / seconds)
    for what, times in (("lease", leases), ("record", records)):
        yield Figure("partitions", name, f"median of a {what}, ms", 1000 * times[len(times) // 2])
        yield Figure("partitions", name, f"p99 of a {what}, ms", 1000 * times[len(times) * 99 // 100])
    yield Figure("partitions", name, "CPU ms of PostgreSQL a record", 1000 * spent / len(records))
    engine = create_engine(url)
    query = "SELECT sum(n_dead_tup), sum(n_live_tup) FROM pg_stat_user_tables WHERE relname LIKE "
    with engine.connect() as connection:
        for table, pattern in (("urls", "urls%"), ("leases", "leases")):
            dead, live = connection.execute(text(f"{query} '{pattern}'")).one()
            yield Figure("partitions", name, f"dead tuples of {table}", int(dead))
            yield Figure("partitions", name, f"rows of {table}", int(live))
    engine.dispose()


def run(url: str, statements: tuple[str, ...]) -> None:
    """Execute some statements, each separately."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def new_url(host: int, page: int) -> NewUrl:
    """Return a page of a host."""
    name = Host(f"host{host}.example")
    return NewUrl(f"https://{name}/articles/2026/{page}.html", name, host, 1, UrlKind.UNKNOWN, page / PAGES)


def fill(url: str, folder: Path) -> None:
    """Put all pages into a frontier."""
    with closing(Database(url)) as database, WarcArchive(folder) as archive:
        table = FrontierTable(database, archive)
        for batch in batched((new_url(host, page) for host in range(HOSTS) for page in range(PAGES)), 10_000):
            table.add_urls(batch)


def crawlers(url: str, folder: Path, number: int, seconds: float) -> Times:
    """Run the threads of one process. Returns the time of each lease and each record."""
    leases: list[float] = []
    records: list[float] = []
    with closing(Database(url)) as database, WarcArchive(folder) as archive:
        table = FrontierTable(database, archive)

        def work(thread: int) -> None:
            own, chance = LeaseTable(database, f"{number}-{thread}"), random.Random(f"{number} {thread}")
            until = time.monotonic() + seconds
            while (asked := time.monotonic()) < until:
                taken = own.acquire("host", map(str, chance.sample(range(HOSTS), 4)), 30.0)
                leases.append(time.monotonic() - asked)
                if not taken:
                    continue
                host = int(taken[0].key)
                due = table.due_entries(host, time.time(), VISITS)
                time.sleep(SLEEP)
                visits = [visit_of(entry, host, chance) for entry in due]
                asked = time.monotonic()
                table.record_visits(visits)
                records.append(time.monotonic() - asked)
                own.release(taken)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return leases, records


def visit_of(entry: FrontierEntry, host: int, chance: random.Random) -> Visit:
    """Return a visit of a page with links to other pages, most of them known."""
    now = time.time()
    links = tuple(new_url(host, chance.randrange(PAGES * 5 // 4)) for _ in range(LINKS))
    return Visit(entry, Outcome(Reason.UNCHANGED), now, now + AGAIN, AGAIN, etag=str(now), discovered_urls=links)
