"""Benchmark of a cluster: `make bench-scale [DATA=DIR] [ARGS='--only chaos,extract ...']`.

    chaos          kill -9 of workers, scheduler, PostgreSQL and plumb in crawl, extract, embed and mine: lost,
                   duplicates, two_at_a_host
    extract, mine  CPU seconds per page of a Dask cluster relative to one machine, on the pages of DIR/extraction: of
                   complete runs (cpu_ratio_extract, cpu_ratio_mine), and without the fixed cost of a start
    speedup        seconds of extraction by one worker and by two, in blocks of 1,000 pages: speedup_two_workers
    bands          keys of near-duplicates: rows and bytes per article, recall
    leases         64 sleeping workers: leases_per_s, p99, dead tuples
    partitions     64 sleeping crawlers with `urls` as one table and partitioned by host, each twice for --seconds
    search         searches while a Solr node is down, errors_one_node_down: see benchmarks/scale_search.py

All processes are real and run on this machine: PostgreSQL, a Dask scheduler, workers, `plumb`, a web server.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.command import benchmark, data_option
from benchmarks.gold_web import GoldPage, sample_pages
from benchmarks.results import Figure, publish
from benchmarks.scale_bands import MADE, bands
from benchmarks.scale_chaos import chaos
from benchmarks.scale_cost import costs, leases
from benchmarks.scale_partitions import partitions
from benchmarks.scale_search import measure as search
from benchmarks.scale_speedup import speedup
from domain.errors import PlumblineError

SETS = "chaos,extract,mine,speedup,bands,leases,partitions,search"


@benchmark("scale", only="bands", most=40, articles=600)
@data_option()
@click.option("--only", default=SETS, help="Only these sets, comma-separated.")
@click.option("--stages", default="crawl,extract,embed,mine", help="Stages in which chaos kills processes.")
@click.option("--hosts", default=20, help="Sites of the web for chaos.")
@click.option("--pages", default=40, help="Pages per site.")
@click.option("--most", default=0, help="Maximum number of pages for extract, mine and bands; 0: all.")
@click.option("--turns", default=3, help="Repetitions of extract, mine and speedup; medians are shown.")
@click.option("--seconds", default=600.0, help="Duration of leases and of each run of partitions.")
@click.option("--articles", default=MADE, type=click.IntRange(500), help="Generated articles of the set bands.")
@click.option("--short", is_flag=True, help="Short form of search: two Solr nodes, one is killed.")
def main(
    data: Path,
    only: str,
    stages: str,
    hosts: int,
    pages: int,
    most: int,
    turns: int,
    seconds: float,
    articles: int,
    short: bool,
) -> None:
    """Measure the cost of several machines, and the loss when some of them fail."""
    wanted = only.split(",")
    if unknown := set(wanted) - set(SETS.split(",")):
        raise PlumblineError(f"no set {', '.join(sorted(unknown))}; there are {SETS}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs as a user of its own where we are root
        sizes = (stages, hosts, pages, most or None, turns, seconds, short, articles)
        publish("scale", list(measured(wanted, data, folder, *sizes)))


def measured(
    wanted: list[str],
    data: Path,
    folder: Path,
    stages: str,
    hosts: int,
    pages: int,
    most: int | None,
    turns: int,
    seconds: float,
    short: bool = False,
    articles: int = MADE,
) -> Iterator[Figure]:
    """Return the figures of the chosen sets."""
    if "chaos" in wanted:
        yield from chaos(folder / "chaos", hosts, pages, stages.split(","))
    if {"extract", "mine", "speedup", "bands"} & set(wanted):
        found = sample_pages(data)
        if {"extract", "mine"} & set(wanted):
            yield from costs(folder / "costs", spread_over(found, most), turns=turns)
        if "speedup" in wanted:
            yield from speedup(folder / "speedup", found, turns=turns)
        if "bands" in wanted:
            yield from bands(folder / "bands", spread_over(found, most), articles)
    if "leases" in wanted:
        yield from leases(folder / "leases", seconds)
    if "partitions" in wanted:
        yield from partitions(folder / "partitions", seconds)
    if "search" in wanted:
        yield from search(short)


def spread_over(pages: list[GoldPage], most: int | None) -> list[GoldPage]:
    """Return at most `count` pages, alternating between the sets."""
    return pages[:: max(1, -(-len(pages) // most))] if most else pages


if __name__ == "__main__":
    main()
