"""The crawl beside others: `make bench-crawl [DATA=FOLDER] [ARGS='--set crawlbench --rounds 1 ...']`.

Builds ../shared/tools/crawlbench (DATA names another folder with its source), and measures

    crawlbench   pages/s, CPU and memory: ours with everything on, Scrapy, crawlee, bare loops, a Go loop
    million      memory and start with a million known addresses
    manners      what the server saw of us, over a site that sets traps and forbids things
    kill9        what twenty times kill -9 in one crawl costs
    incremental  seven days of a changing site, incremental and full
    tables       loads of the queue policies (WD-E1, WD-F1/F2), and the Bloom filters

The peers live in .venv-crawlers: python -m venv .venv-crawlers and pip install -r benchmarks/peers/crawlers.txt.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.crawl_days import incremental_figures
from benchmarks.crawl_kill import kill9_ours, kill9_scrapy
from benchmarks.crawl_manners import manners_figures
from benchmarks.crawl_million import million_figures
from benchmarks.crawl_site import BenchSite, built
from benchmarks.crawl_tables import bloom_figures, sharding_figures
from benchmarks.results import SHARED, Figure, publish

SOURCE = SHARED.parent / "tools" / "crawlbench"
PEERS = Path(__file__).resolve().parents[1] / ".venv-crawlers" / "bin" / "python"
SETS = ("crawlbench", "million", "manners", "kill9", "incremental", "tables")
OURS = ("plumbline", "plumbline-2-processes")
THEIRS = (
    *("scrapy-default", "scrapy-tuned", "crawlee-parsel-default"),
    *("requests-bs4-8", "requests-selectolax-8", "2x-requests-selectolax-8", "go-16"),
)


@dataclass(frozen=True)
class Bench:
    """What the sets share: the programs, a folder for stores, and how much is measured."""

    site: Path
    ceiling: Path
    source: Path
    peers: Path
    folder: Path
    pages: int
    rounds: int
    kills: int
    systems: tuple[str, ...]


@click.command()
@click.option("--data", default=SOURCE, type=click.Path(path_type=Path), help="The source of crawlbench.")
@click.option("--set", "sets", multiple=True, type=click.Choice(SETS), help="Only these [all].")
@click.option("--system", "systems", multiple=True, help="Only these contestants of the set crawlbench [all].")
@click.option("--peers", default=PEERS, type=click.Path(path_type=Path), help="Python of the peers' environment.")
@click.option("--pages", default=4000, show_default=True, help="Pages of the set crawlbench a run; kill9: five times.")
@click.option("--rounds", default=3, show_default=True, help="Rounds of the set crawlbench.")
@click.option("--kills", default=20, show_default=True, help="Kills of the set kill9.")
def main(data: Path, sets: tuple[str, ...], systems: tuple[str, ...], peers: Path, **sizes: int) -> None:
    """Measure."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        site, ceiling = built(data, Path(folder))
        chosen = systems or (*OURS, *(THEIRS if peers.exists() else ("go-16",)))
        bench = Bench(site, ceiling, data, peers, Path(folder), systems=tuple(chosen), **sizes)
        for name in sets or SETS:
            figures += MEASURE[name](bench)
    publish("crawl", figures)


def speed(bench: Bench) -> Iterator[Figure]:
    """The best round of each system for CPU, the median for pages/s; rounds in turn, so that a busy spell of the
    machine falls on all."""
    runs: dict[str, list[dict[str, Any]]] = {}
    with BenchSite(bench.site, "-hosts", "50", "-pages", "20000") as site:
        seeds = bench.folder / "seeds"
        seeds.write_text("\n".join(site.seeds))
        for number in range(bench.rounds):
            for system in bench.systems:
                site.reset()
                run = one_run(bench, system, seeds, bench.folder / f"{system}-{number}")
                if run["pages"]:
                    runs.setdefault(system, []).append(run)
    for system, found in runs.items():
        rates = [run["pages"] / run["wall_s"] for run in found]
        yield Figure("crawlbench", system, "pages_per_s", statistics.median(rates))
        yield Figure("crawlbench", system, "pages_per_s best", max(rates))
        yield Figure("crawlbench", system, "cpu_ms_per_page", min(1000 * run["cpu_s"] / run["pages"] for run in found))
        yield Figure("crawlbench", system, "rss_mb", max(run["rss_mb"] for run in found))


def one_run(bench: Bench, system: str, seeds: Path, folder: Path) -> dict[str, Any]:
    """One contestant, once."""
    folder.mkdir()
    limits = [f"--pages={bench.pages}", "--seconds=120", f"--seeds={seeds}"]
    done = subprocess.run(
        [*command_of(bench, system, folder), *limits],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    try:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        click.echo(f"{system}: no result", err=True)
        return {"pages": 0}


def command_of(bench: Bench, system: str, folder: Path) -> list[str]:
    """How a contestant is started."""
    if system in OURS:
        several = ["--set", "processes=2"] if system != OURS[0] else []
        return [sys.executable, "-m", "benchmarks.crawl_ours", "--folder", str(folder), *several]
    if system.startswith("scrapy-"):
        script = Path(__file__).with_name("crawl_scrapy.py")
        return [str(bench.peers), str(script), system.removeprefix("scrapy-"), "--jobdir", str(folder)]
    if system.startswith("go-"):
        return [str(bench.ceiling), f"-workers={system.removeprefix('go-')}"]
    return [str(bench.peers), str(bench.source / "bench" / "contestants.py"), system]


def million(bench: Bench) -> Iterator[Figure]:
    """Memory and start with a million known addresses."""
    with BenchSite(bench.site, "-hosts", "50", "-pages", "20000") as site:
        (bench.folder / "million").mkdir()
        yield from million_figures(site, bench.folder / "million")


def manners(bench: Bench) -> Sequence[Figure]:
    """Over the quirk hosts."""
    with BenchSite(bench.site, "-hosts", "5", "-pages", "250", "-quirks", "-slow", "200ms") as site:
        return list(manners_figures(site, bench.folder / "manners"))


def kill9(bench: Bench) -> Iterator[Figure]:
    """Ours, and Scrapy if it is there."""
    pages = 5 * bench.pages
    with BenchSite(bench.site, "-hosts", "50", "-pages", str(pages)) as site:
        (bench.folder / "killed").mkdir()
        yield from kill9_ours(site, bench.folder / "killed", bench.kills, pages)
        if bench.peers.exists():
            (bench.folder / "killed-scrapy").mkdir()
            yield from kill9_scrapy(site, bench.folder / "killed-scrapy", bench.peers, bench.kills, pages)


def incremental(bench: Bench) -> Sequence[Figure]:
    """A smaller site, for it is crawled fourteen times."""
    changes = ("-changed", "0.05", "-gone", "0.01", "-fresh", "0.02")
    with BenchSite(bench.site, "-hosts", "10", "-pages", str(bench.pages // 4), *changes) as site:
        (bench.folder / "days").mkdir()
        return list(incremental_figures(site, bench.folder / "days"))


def tables(bench: Bench) -> Iterator[Figure]:
    """What needs no server but for its list of addresses."""
    with BenchSite(bench.site, "-hosts", "50", "-pages", "20000") as site:
        yield from sharding_figures(list(site.truth(1)))
    yield from bloom_figures()


MEASURE = {
    "crawlbench": speed,
    "million": million,
    "manners": manners,
    "kill9": kill9,
    "incremental": incremental,
    "tables": tables,
}

if __name__ == "__main__":
    main()
