"""Benchmark of the crawler's behaviour: `make bench-crawl [DATA=FOLDER] [ARGS='--set manners ...']`.

Builds crawlbench, whose source is in or next to DATA (default: ../shared/tools/crawlbench), and measures

    manners      requests that the server saw, on a site with traps and robots.txt rules
    incremental  seven days of a changing site, the last two without a change; incremental and full

It takes about 10 minutes on two cores. A failing set is reported, and the other one is still measured.
"""

import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.command import benchmark, data_option
from benchmarks.crawl_days import incremental_figures
from benchmarks.crawl_manners import manners_figures
from benchmarks.crawl_site import SOURCE, BenchSite, built, source_of
from benchmarks.results import Figure, publish
from domain.errors import PlumblineError

SETS = ("manners", "incremental")


@dataclass(frozen=True)
class Bench:
    """Shared by all sets: the program, a folder for stores, and the amount of measurement."""

    site: Path
    folder: Path
    pages: int
    seed: int
    minutes: float

    def serve(self, hosts: int, pages: int, *flags: str) -> BenchSite:
        """Serve a separate site for one set."""
        size = ("-seed", str(self.seed), "-hosts", str(hosts), "-pages", str(pages))
        return BenchSite(self.site, *size, *flags)


@benchmark("crawl", pages=40, minutes=0.1)
@data_option(SOURCE, "Where the source of crawlbench is.")
@click.option("--set", "sets", multiple=True, type=click.Choice(SETS), help="Only these sets [all].")
@click.option("--pages", default=4000, show_default=True, help="Pages of the set incremental.")
@click.option("--minutes", default=2.0, show_default=True, help="Duration of the set manners.")
@click.option("--seed", default=1, show_default=True, help="Random seed of the served site.")
def main(data: Path, sets: tuple[str, ...], minutes: float, pages: int, seed: int) -> None:
    """Measure the chosen sets."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        site, _ = built(source_of(data), Path(folder))
        bench = Bench(site, Path(folder), pages, seed, minutes)
        failed = []
        for name in sets or SETS:
            is_whole = measured(name, bench, figures)
            failed += [] if is_whole else [name]
            publish("crawl", figures)  # after each set, so that an interrupted run leaves its figures
    if failed:
        raise PlumblineError(f"failed: {', '.join(failed)}")


def measured(name: str, bench: Bench, figures: list[Figure]) -> bool:
    """Append the figures of one set. Returns False if the set failed; figures before the failure are included."""
    try:
        figures.extend(MEASURE[name](bench))
    except (OSError, subprocess.SubprocessError, sqlite3.Error, PlumblineError) as error:
        click.echo(f"the set {name} failed: {error}", err=True)
        return False
    return True


def manners(bench: Bench) -> Iterator[Figure]:
    """Measure the crawl of the quirk hosts."""
    with bench.serve(5, 250, "-quirks", "-slow", "200ms") as site:
        yield from manners_figures(site, bench.folder / "manners", bench.minutes)


def incremental(bench: Bench) -> Iterator[Figure]:
    """Measure on a smaller site, because it is crawled fourteen times."""
    changes = ("-changed", "0.05", "-gone", "0.01", "-fresh", "0.02")
    with bench.serve(20, bench.pages, *changes) as site:
        (bench.folder / "days").mkdir()
        yield from incremental_figures(site, bench.folder / "days")


MEASURE: Mapping[str, Callable[[Bench], Iterator[Figure]]] = {"manners": manners, "incremental": incremental}

if __name__ == "__main__":
    main()
