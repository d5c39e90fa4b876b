"""What a vertical costs at other sizes:

`python -m benchmarks.scale_model`, from slopes that were measured here.

    python -m benchmarks.scale_model                  # the table, and the first limit at each size
    python -m benchmarks.scale_model --measure        # measure the slopes again on real pages (DATA), then the table
    ARGS: --hosts 1000 --pages-a-host 10000 --month 30

A size is a number of pages, on a number of hosts. Every figure is linear in pages, articles or hosts; what is not
linear (one writer, one machine's disk, the crawl delay of a host) is a limit, and the table has its size.
Keys of near-duplicates are rows while their month is open, and parts once it is over
(docstore/near_duplicates/key_compaction.py): so rows and bytes of the database are two figures, when the first crawl
ends, and after its last month. Slopes of this run come from `benchmarks/out/scale_model.jsonl` where there is one,
else from `SLOPES` below.
"""

import json
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from sqlalchemy import create_engine, func, inspect, select, table, text

from benchmarks.chain import chain_settings
from benchmarks.command import benchmark, data_option
from benchmarks.gold_web import GoldWeb, sample_pages
from benchmarks.results import Figure, out_folder, publish
from docstore.database import Database
from docstore.near_duplicates.key_compaction import MIN_ROWS_TO_SEAL, KeyCompaction
from pipeline import stages
from pipeline.engine import Engine
from pipeline.index_stage import force_merge_index
from pipeline.progress import NullProgress

NAME, SET, OURS = "scale_model", "slopes", "plumbline"
MEASURED_PAGES = 1000
DAY, HOUR = 86_400.0, 3600.0
MAX_MONTH = 31  # days
MONTH = 30.0  # days whose keys are rows: what was extracted in the month that is not over yet
GB, TB = 1e9, 1e12

# `python -m benchmarks.scale_model --measure --data ../shared/data`, 852 real pages of many hosts on SQLite, two cores
# that others used as well (CPU time is what is counted; caches were not its own, so these are rather high).
SLOPES: Mapping[str, float] = {
    "articles_a_page": 0.968,
    "crawl_cpu_ms": 15.5,  # a page, the server of the pages included
    "extract_cpu_ms": 21.0,  # a page
    "mine_cpu_ms": 10.8,  # an article
    "index_cpu_ms": 5.6,  # an article, in Python
    "solr_cpu_ms": 15.0,  # an article, in Solr
    "rows_a_page": 139.7,  # all tables; few pages a host, so what is known of hosts weighs much
    "sealed_rows_a_page": 112.3,  # the same once the keys of near-duplicates are sealed
    "database_bytes": 18_273.0,  # a page, without what would be used again
    "sealed_database_bytes": 17_293.0,
    "warc_bytes": 35_414.0,  # a page
    "index_bytes": 19_807.0,  # an article: merged, without the update log, which does not grow with the index
}


@dataclass(frozen=True)
class Size:
    """A number of pages on a number of hosts."""

    name: str
    hosts: int
    pages: float


@dataclass(frozen=True)
class Machine:
    """Assumed hardware of one cluster machine."""

    cores: int = 16
    disk_tb: float = 4.0
    index_gb: float = 500.0  # of index a Solr node serves with its files in the page cache of 64 GB for the hot part
    share: float = 0.7  # of the time of its cores that is work


ASSUMPTIONS = (
    "pages are as those that the slopes were measured on; an article from as many of them",
    "the first crawl has a month; every host gets one request per second (`crawl.delay`)",
    "a machine has 16 cores, 4 TB of disk, and serves 500 GB of index; its cores work 70 % of the time",
    "two replicas of each shard, three copies of each object, two of the database",
    "pages come evenly over a crawl; the keys of its last thirty days are rows until the month is over",
    "no vectors: with them 3 to 9 KB an article more, and the CPU of `embed` (docs/decisions/0100)",
)


@dataclass(frozen=True)
class Need:
    """Resources of a size at the end of its first crawl; `sealed_...` after its last month, with all keys sealed."""

    core_hours: Mapping[str, float]
    rows: float
    sealed_rows: float
    database_bytes: float
    sealed_database_bytes: float
    page_bytes: float
    index_bytes: float
    days_by_manners: float
    writes_per_s: float

    def nodes(self, machine: Machine, days: float) -> Mapping[str, int]:
        """Number of machines of each kind."""
        hours = sum(self.core_hours.values())
        return {
            "work": at_least_one(hours / (machine.cores * machine.share * 24 * days)),
            "solr": at_least_one(2 * self.index_bytes / (machine.index_gb * GB)),
            "objects": at_least_one(3 * self.page_bytes / (machine.disk_tb * TB)),
            "database": at_least_one(2 * self.database_bytes / (machine.disk_tb * TB)),
        }


def at_least_one(number: float) -> int:
    """Round up to complete machines, at least one."""
    return max(1, int(-(-number // 1)))


def need_of(size: Size, slopes: Mapping[str, float], days: float) -> Need:
    """Return the resources of `size` with these slopes, if it is crawled in `days` days."""
    articles = size.pages * slopes["articles_a_page"]
    hours = {
        "crawl": size.pages * slopes["crawl_cpu_ms"] / 1000 / HOUR,
        "extract": size.pages * slopes["extract_cpu_ms"] / 1000 / HOUR,
        "mine": articles * slopes["mine_cpu_ms"] / 1000 / HOUR,
        "index": articles * (slopes["index_cpu_ms"] + slopes["solr_cpu_ms"]) / 1000 / HOUR,
    }
    keys = size.pages * (slopes["rows_a_page"] - slopes["sealed_rows_a_page"])
    rows, sealed_rows = by_months(size.pages, slopes, "rows_a_page", keys, days)
    in_rows, in_parts = by_months(size.pages, slopes, "database_bytes", keys, days)
    return Need(
        core_hours=hours,
        rows=rows,
        sealed_rows=sealed_rows,
        database_bytes=in_rows,
        sealed_database_bytes=in_parts,
        page_bytes=size.pages * slopes["warc_bytes"],
        index_bytes=articles * slopes["index_bytes"],
        days_by_manners=size.pages / size.hosts / DAY,
        writes_per_s=size.pages / (days * DAY),
    )


def by_months(pages: float, slopes: Mapping[str, float], name: str, keys: float, days: float) -> tuple[float, float]:
    """Split a slope that sealing reduces: value at the end of the first crawl, and value when all keys are sealed.

    At the end of the first crawl the pages of the last MONTH are rows and earlier ones sealed. Very few keys are never
    sealed.
    """
    open_share = min(1.0, MONTH / days) if keys > MIN_ROWS_TO_SEAL else 1.0
    sealed = slopes["sealed_" + name] if keys > MIN_ROWS_TO_SEAL else slopes[name]
    return pages * (open_share * slopes[name] + (1 - open_share) * sealed), pages * sealed


@dataclass(frozen=True)
class Limit:
    """A limit: the value of a figure of `Need` at which it is reached, and the remedy."""

    name: str
    most: float
    then: str


LIMITS = (
    Limit("pages a second on one machine's cores", 0.0, "several machines crawl and extract (cluster.engine)"),
    Limit("rows in SQLite", 300e6, "PostgreSQL (store.url): one file and one writer end here"),
    Limit("bytes of pages on one disk", 2 * TB, "an object store (store.warc)"),
    Limit("bytes of index on one node", 200 * GB, "shards (index.shards), each with replicas"),
    Limit("rows in one PostgreSQL", 20e9, "the largest tables by hash of host on several servers"),
)


def broken(need: Need, cores: float, days: float) -> Iterator[tuple[float, str]]:
    """Return the limits that this size exceeds, by factor, the worst first, each with its remedy."""
    at_once = sum(need.core_hours.values()) / (24 * days * cores)
    amounts = (need.rows, need.page_bytes, need.index_bytes, need.rows)
    values = (at_once, *(amount / one.most for amount, one in zip(amounts, LIMITS[1:], strict=True)))
    passed = [(ratio, f"{one.name}: {one.then}") for ratio, one in zip(values, LIMITS, strict=True) if ratio > 1]
    if need.days_by_manners > days:
        passed.append((need.days_by_manners / days, "crawl delay: a host has more pages than the time allows"))
    yield from sorted(passed, reverse=True)


# -- measuring


def measured(data: Path, count: int = 0) -> Iterator[Figure]:
    """Measure the slopes on real pages from an empty store, without Solr's start, with the pages' server (in crawl)."""
    pages = sample_pages(data, count)[:MEASURED_PAGES]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        GoldWeb(pages) as web,
        Engine(chain_settings(web, Path(folder)), NullProgress(), ip_policy=web) as engine,
    ):
        engine.index.ensure_collection()
        found = dict(slopes_of(engine, Path(folder)))
    yield from (Figure(SET, OURS, name, value) for name, value in found.items())


def slopes_of(engine: Engine, folder: Path) -> Iterator[tuple[str, float]]:
    """Return CPU of each stage, then disk usage."""
    cpu, solr = {}, 0.0
    flow = {"crawl": stages.crawl, "extract": stages.extract, "mine": stages.mine_candidates, "index": stages.index}
    for name, stage in flow.items():
        before, solr_before = cpu_seconds(), solr_seconds(folder)
        stage(engine)
        cpu[name], solr = cpu_seconds() - before, solr_seconds(folder) - solr_before
    engine.index.commit(soft=False)
    force_merge_index(engine)  # as a run does at its end
    pages = sum(1 for _ in engine.store.integrity.iter_warc_records())
    articles = engine.store.articles.count()
    data = engine.settings.data_dir
    yield "pages", pages
    yield "articles_a_page", articles / pages
    yield from ((f"{name}_cpu_ms", 1000 * cpu[name] / pages) for name in ("crawl", "extract"))
    yield from ((f"{name}_cpu_ms", 1000 * cpu[name] / articles) for name in ("mine", "index"))
    yield "solr_cpu_ms", 1000 * solr / articles
    yield "rows_a_page", rows_in(data / "store.db") / pages
    yield "database_bytes", packed_bytes(data / "store.db") / pages
    with closing(Database(f"sqlite:///{data / 'store.db'}")) as database:
        KeyCompaction(database, lambda: time.time() + MAX_MONTH * DAY).seal_past_months(min_rows=0)
    yield "sealed_rows_a_page", rows_in(data / "store.db") / pages
    yield "sealed_database_bytes", packed_bytes(data / "store.db") / pages
    yield "warc_bytes", bytes_below(data / "warc") / pages
    index_folders = [folder for folder in (data / "solr" / "solr").rglob("index*") if folder.is_dir()]
    yield "index_bytes", sum(map(bytes_below, index_folders)) / articles


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished children."""
    ours, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return ours.ru_utime + ours.ru_stime + theirs.ru_utime + theirs.ru_stime


def solr_seconds(folder: Path) -> float:
    """Return the CPU time of the Java process below `folder`."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            if f"-Dsolr.install.dir={folder}".encode() in command and b"/java\0" in command:
                ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:
            continue
    return ticks / 100


def rows_in(database: Path) -> int:
    """Count the rows of all tables."""
    engine = create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        names = inspect(connection).get_table_names()
        rows = sum(connection.scalar(select(func.count()).select_from(table(name))) or 0 for name in names)
    engine.dispose()
    return rows


def packed_bytes(database: Path) -> int:
    """Return the bytes of a database without reusable space."""
    copy = database.with_suffix(".packed")
    engine = create_engine(f"sqlite:///{database}", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("VACUUM INTO :copy"), {"copy": str(copy)})
    engine.dispose()
    size = copy.stat().st_size
    copy.unlink()
    return size


def bytes_below(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


# -- the table


def slopes() -> Mapping[str, float]:
    """Return the slopes measured last on this machine, otherwise `SLOPES`."""
    path = out_folder() / f"{NAME}.jsonl"
    if not path.exists():
        return SLOPES
    rows = (json.loads(line) for line in path.read_text().splitlines())
    return {**SLOPES, **{row["metric"]: row["value"] for row in rows}}


def sizes(hosts: int, pages_a_host: float) -> tuple[Size, ...]:
    """Return the sizes of the table: laptop, one machine, and larger."""
    return (
        Size("300 hosts, 100 k pages", 300, 1e5),
        Size("300 hosts, 1 M pages", 300, 1e6),
        Size("1,000 hosts, 10 M pages", 1000, 1e7),
        Size("20,000 hosts, 100 M pages", 20_000, 1e8),
        Size("100,000 hosts, 1 G pages", 100_000, 1e9),
        *((Size(f"{hosts:,} hosts x {pages_a_host:,.0f} pages", hosts, hosts * pages_a_host),) if hosts else ()),
    )


def show(known: Mapping[str, float], asked: tuple[Size, ...], days: float) -> None:
    """Print the table and the first limits."""
    console, machine = Console(width=140), Machine()
    made = Table("size", title=f"a first crawl in {days:g} days", title_justify="left")
    for name in ("core hours", "rows, M", "sealed", "database, GB", "sealed", "pages, GB", "index, GB"):
        made.add_column(name, justify="right", no_wrap=True)
    for name in ("work", "Solr", "objects", "DB"):
        made.add_column(name, justify="right", no_wrap=True)
    for size in asked:
        need = need_of(size, known, days)
        sizes_of = (need.database_bytes, need.sealed_database_bytes, need.page_bytes, need.index_bytes)
        amounts = [f"{x / 1e6:,.0f}" for x in (need.rows, need.sealed_rows)] + [f"{x / GB:,.0f}" for x in sizes_of]
        nodes = map(str, need.nodes(machine, days).values())
        made.add_row(size.name, f"{sum(need.core_hours.values()):,.0f}", *amounts, *nodes)
    console.print(made)
    for size in asked:
        faults = list(broken(need_of(size, known, days), machine.cores * machine.share, days))
        console.print(f"[bold]{size.name}[/bold]: {'one machine does it' if not faults else ''}")
        for ratio, what in faults:
            console.print(f"  {ratio:,.1f} times beyond: {what}", highlight=False)
    console.print("Assumed: " + "; ".join(ASSUMPTIONS) + ".", highlight=False)


@benchmark("scale_model", measure=True, pages=12)
@data_option()
@click.option("--measure", is_flag=True, help="Measure the slopes on this machine.")
@click.option("--pages", default=0, type=click.IntRange(0), help="Number of pages to measure on; 0: all.")
@click.option("--hosts", default=0, type=click.IntRange(0), help="Custom size: number of hosts.")
@click.option("--pages-a-host", default=10_000.0)
@click.option("--month", default=30.0, help="Days for the first crawl.")
def main(data: Path, measure: bool, pages: int, hosts: int, pages_a_host: float, month: float) -> None:
    """Run the command line, see the module docstring."""
    if measure:
        publish(NAME, list(measured(data, pages)))
    show(slopes(), sizes(hosts, pages_a_host), month)


if __name__ == "__main__":
    main()
