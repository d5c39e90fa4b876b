"""Speed-up by a second worker: seconds of extraction by one and two workers of a Dask cluster, in blocks of 1,000."""

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from benchmarks.gold_web import GoldPage
from benchmarks.postgres_server import PostgresServer
from benchmarks.results import Figure
from benchmarks.scale_cluster import TICKS, Cluster, cpu_seconds
from benchmarks.scale_cost import fill
from crawler.urls.canonical import host_of
from docstore.store import Store
from domain.frontier import NewUrl, UrlKind
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings

BLOCK = 1000  # as cluster.block is by default
BLOCKS = 2  # one for each of two workers
WARM = 120  # pages that make the workers load what they need
SHARES = 6  # blocks that those are
PARTS = ("driver", "scheduler", "workers", "postgresql", "others")  # others: whatever else ran on this machine
FREE, OWN_CORE = "on any core", "a core each"


@dataclass(frozen=True)
class Took:
    """Cost and result of one extraction.

    Wall seconds, CPU seconds of each of PARTS, the number of articles, and a digest of all.
    """

    seconds: float
    cpu: Mapping[str, float]
    articles: int
    digest: str


def speedup(folder: Path, pages: Sequence[GoldPage], turns: int = 2) -> Iterator[Figure]:
    """Measure wall seconds with one worker and with two, as medians of alternating runs, in two settings.

    First the system places the processes. Then each worker has a core of its own, and everything else (this program,
    scheduler, PostgreSQL) runs on the first core, so the second worker has a core that was idle. Finally the same pages
    are extracted by this program without a cluster.
    """
    many = list(islice(repeated(pages), WARM + BLOCK * BLOCKS))
    warm, pages = many[:WARM], many[WARM:]
    took: dict[tuple[str, int], list[Took]] = {}
    for turn in range(turns):
        for place in (FREE, OWN_CORE):
            for workers in (1, 2):
                name = f"turn{turn}_{workers}_{place.split()[0]}"
                with placed(place):
                    one = by_workers(folder / name, warm, pages, workers, place == OWN_CORE)
                took.setdefault((place, workers), []).append(one)
    alone = by_itself(folder / "local", warm, pages)
    yield Figure("speedup", "plumbline", "pages", len(pages))
    yield Figure("speedup", "plumbline", "articles", alone.articles)
    others = [one for some in took.values() for one in some]
    same = sum(one.articles == alone.articles and one.digest == alone.digest for one in others)
    yield Figure("speedup", "plumbline", "runs", len(others))
    yield Figure("speedup", "plumbline", "runs whose articles equal those of local", same)
    yield Figure("speedup", "plumbline local", "seconds", alone.seconds)
    for place in (FREE, OWN_CORE):
        yield from figures(place, took[place, 1], took[place, 2])


def figures(place: str, one: Sequence[Took], two: Sequence[Took]) -> Iterator[Figure]:
    """Yield seconds, CPU seconds of each part, and the speed-up, by run."""
    system = f"plumbline dask, {place}"
    for name, some in (("one_worker", one), ("two_workers", two)):
        yield Figure("speedup", system, f"seconds_{name}", median(run.seconds for run in some))
        for part in PARTS:
            yield Figure("speedup", system, f"CPU s of {part}, {name}", median(run.cpu[part] for run in some))
    gains = [alone.seconds / both.seconds for alone, both in zip(one, two, strict=True)]
    yield Figure("speedup", system, "speedup_two_workers", median(gains))


def repeated(pages: Sequence[GoldPage]) -> Iterator[GoldPage]:
    """Repeat the pages under other hosts: pages of a site stay together, and sites are mixed."""
    for number in count():
        yield from (replace(page, url=under_other_host(page.url, number)) for page in pages)


def under_other_host(url: str, number: int) -> str:
    """Return the page under another host, derived from the number; hosts sort in random order."""
    parts = urlsplit(url)
    mixed = hashlib.sha256(f"{number} {parts.netloc}".encode()).hexdigest()[:8]
    return parts._replace(netloc=f"m{mixed}.{parts.netloc}").geturl()


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Pin this process and its children to the first core if each worker has a core."""
    cores = os.sched_getaffinity(0)
    if place == OWN_CORE:
        os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def by_workers(folder: Path, warm: Sequence[GoldPage], pages: Sequence[GoldPage], workers: int, own_core: bool) -> Took:
    """Measure extraction by a cluster with warm workers, in the same store."""
    postgres, cluster = PostgresServer(folder / "postgres"), Cluster(folder / "cluster", 0)
    try:
        cores = range(os.cpu_count() or 1)
        for number in range(workers):
            cluster.workers.append(cluster.start_worker())
            if own_core:  # before it starts threads, which are where it is
                os.sched_setaffinity(cluster.workers[-1].pid, {cores[number % len(cores)]})
        roots = {
            "scheduler": [cluster.scheduler.pid],
            "workers": [worker.pid for worker in cluster.workers],
            "postgresql": [postgres.pid],
        }
        shares: dict[str, object] = {"engine": "dask", "scheduler": cluster.address}
        return extraction(folder, postgres, shares, roots, warm, pages)
    finally:
        cluster.close()
        postgres.close()


def by_itself(folder: Path, warm: Sequence[GoldPage], pages: Sequence[GoldPage]) -> Took:
    """Measure extraction by processes of this machine."""
    postgres = PostgresServer(folder / "postgres")
    try:
        return extraction(folder, postgres, {}, {"postgresql": [postgres.pid]}, warm, pages)
    finally:
        postgres.close()


def extraction(
    folder: Path,
    postgres: PostgresServer,
    shares: Mapping[str, object],
    roots: Mapping[str, Sequence[int]],
    warm: Sequence[GoldPage],
    pages: Sequence[GoldPage],
) -> Took:
    """Measure the extraction of `pages`, after that of `warm` in the same store; ids begin at a block boundary."""
    url = postgres.database("speedup")

    def engine_of(block: int) -> Engine:
        settings = build_settings({"store": {"url": url}, "cluster": {**shares, "block": block}}, folder)
        return Engine(settings, NullProgress())

    with engine_of(WARM // SHARES) as engine:
        fill(engine.store, warm)
        stages.extract(engine)
        engine.store.frontier.add_urls([idle(number) for number in range(BLOCK - 1 - WARM)])
        fill(engine.store, pages)
    with engine_of(BLOCK) as engine:
        before, started = spent(roots), time.monotonic()
        stages.extract(engine)
        seconds, after = time.monotonic() - started, spent(roots)
        cpu = {part: after[part] - before[part] for part in after}
        whole = cpu.pop("all")
        return Took(seconds, {**cpu, "others": whole - sum(cpu.values())}, *made(engine.store))


def idle(number: int) -> NewUrl:
    """Return a URL that was not fetched."""
    url = f"http://idle.test/{number}"
    return NewUrl(url, host_of(url), 0, 1, UrlKind.UNKNOWN, 0.0)


def spent(roots: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Return CPU seconds of each part until now; the driver is this process with its finished children."""
    times = os.times()
    ours = times.user + times.system + times.children_user + times.children_system
    return {"driver": ours, "all": busy_seconds(), **{part: cpu_seconds(pids) for part, pids in roots.items()}}


def busy_seconds() -> float:
    """Return the CPU seconds of all processes of this machine."""
    user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / TICKS


def made(store: Store) -> tuple[int, str]:
    """Return the number of articles, and a digest of their visible text by URL.

    The digest excludes duplicate groups, because their representative depends on the order of saving.
    """
    digests = dict(store.articles.iter_digests())
    rows = sorted((one.article.url, digests[one.url_id]) for one in store.articles.iter_all())
    return len(rows), hashlib.sha256(repr(rows).encode()).hexdigest()
