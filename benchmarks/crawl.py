"""Benchmark of the crawler against others: `make bench-crawl [DATA=FOLDER] [ARGS='--set crawlbench --rounds 1 ...']`.

Builds crawlbench, whose source is in or next to DATA (default: ../shared/tools/crawlbench), and measures

    crawlbench   pages/s, CPU and memory: ours with all features, Scrapy, crawlee, bare loops, a Go loop
    manners      requests that the server saw, on a site with traps and robots.txt rules
    incremental  seven days of a changing site, the last two without a change; incremental and full

It takes about 20 minutes on two cores. The peers are installed in .venv-crawlers (benchmarks/peers/crawlers.txt);
without them their rows are missing. A failing set is reported, and the other sets are still measured.
"""

import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.command import benchmark, data_option
from benchmarks.crawl_days import incremental_figures
from benchmarks.crawl_manners import manners_figures
from benchmarks.crawl_site import BenchSite, built
from benchmarks.results import SHARED, Figure, publish
from domain.errors import PlumblineError

SOURCE = SHARED.parent / "tools" / "crawlbench"
PEERS = Path(__file__).resolve().parents[1] / ".venv-crawlers" / "bin" / "python"
SETS = ("crawlbench", "manners", "incremental")
OURS = "plumbline"
THEIRS = (
    *("scrapy-default", "scrapy-tuned", "crawlee-parsel-default"),
    *("requests-selectolax-8", "2x-requests-selectolax-8", "go-16"),
)
_SECONDS = 45  # crawl time of each system
_LONGEST = 150  # seconds until a hanging system is killed


@dataclass(frozen=True)
class Bench:
    """Shared by all sets: the programs, a folder for stores, and the amount of measurement."""

    site: Path
    ceiling: Path
    source: Path
    peers: Path
    folder: Path
    pages: int
    rounds: int
    seed: int
    systems: tuple[str, ...]
    minutes: float

    def serve(self, hosts: int, pages: int, *flags: str) -> BenchSite:
        """Serve a separate site for one set."""
        size = ("-seed", str(self.seed), "-hosts", str(hosts), "-pages", str(pages))
        return BenchSite(self.site, *size, *flags)


@benchmark("crawl", systems=["plumbline"], pages=40, rounds=1, minutes=0.1)
@data_option(SOURCE, "Where the source of crawlbench is.")
@click.option("--set", "sets", multiple=True, type=click.Choice(SETS), help="Only these sets [all].")
@click.option("--system", "systems", multiple=True, help="Only these systems of the set crawlbench [all].")
@click.option("--peers", default=PEERS, type=click.Path(path_type=Path), help="Python of the peers' environment.")
@click.option("--pages", default=4000, show_default=True, help="Pages per run of the set crawlbench.")
@click.option("--rounds", default=3, show_default=True, help="Rounds of the set crawlbench.")
@click.option("--minutes", default=2.0, show_default=True, help="Duration of the set manners.")
@click.option("--seed", default=1, show_default=True, help="Random seed of the served site.")
def main(
    data: Path, sets: tuple[str, ...], systems: tuple[str, ...], peers: Path, minutes: float, **sizes: int
) -> None:
    """Measure the chosen sets."""
    figures: list[Figure] = []
    source = source_of(data)
    with tempfile.TemporaryDirectory() as folder:
        try:
            site, ceiling = built(source, Path(folder))
        except (OSError, subprocess.CalledProcessError) as error:
            raise click.ClickException(f"crawlbench cannot be built, which takes Go 1.22: {error}") from error
        chosen = systems or (OURS, *(THEIRS if peers.exists() else ("go-16",)))
        if not peers.exists():
            click.echo(f"{peers} is not there: Scrapy, crawlee and the bare loops are left out", err=True)
        bench = Bench(site, ceiling, source, peers, Path(folder), systems=tuple(chosen), minutes=minutes, **sizes)
        failed = []
        for name in sets or SETS:
            is_whole = measured(name, bench, figures)
            failed += [] if is_whole else [name]
            publish("crawl", figures)  # after each set, so that an interrupted run leaves its figures
    if failed:
        raise PlumblineError(f"failed: {', '.join(failed)}")


def source_of(data: Path) -> Path:
    """Return the folder with crawlbench's source: DATA itself, in DATA, next to DATA, or the default."""
    places = (data, data / "crawlbench", data / "tools" / "crawlbench", data.parent / "tools" / "crawlbench", SOURCE)
    found = next((place for place in places if (place / "go.mod").exists()), None)
    if found is None:
        raise click.UsageError(f"no source of crawlbench at {data} or {SOURCE}")
    return found.resolve()


def measured(name: str, bench: Bench, figures: list[Figure]) -> bool:
    """Append the figures of one set. Returns False if the set failed; figures before the failure are included."""
    try:
        figures.extend(MEASURE[name](bench))
    except (OSError, subprocess.SubprocessError, sqlite3.Error, PlumblineError) as error:
        click.echo(f"the set {name} failed: {error}", err=True)
        return False
    return True


def speed(bench: Bench) -> Iterator[Figure]:
    """Measure CPU (best round) and pages/s (median) of each system.

    Systems alternate within a round, so that a busy period of the machine affects all of them.
    """
    runs: dict[str, list[dict[str, Any]]] = {}
    with bench.serve(50, 20_000) as site:
        seeds = bench.folder / "seeds"
        seeds.write_text("\n".join(site.seeds))
        for number in range(bench.rounds):
            for system in bench.systems:
                site.reset()
                run = one_run(bench, system, seeds, bench.folder / f"{system}-{number}")
                seen = site.stats()
                run["robots_breaches"] = sum(host["robots_denied"] for host in seen)
                run["duplicates"] = sum(host["repeats"] for host in seen)
                if run["pages"]:
                    runs.setdefault(system, []).append(run)
    if missing := set(bench.systems) - runs.keys():
        raise PlumblineError(f"no result of {', '.join(sorted(missing))}")
    for system, found in runs.items():
        rates = [run["pages"] / run["wall_s"] for run in found]
        yield Figure("crawlbench", system, "pages_per_s", statistics.median(rates))
        yield Figure("crawlbench", system, "pages_per_s best", max(rates))
        yield Figure("crawlbench", system, "cpu_ms_per_page", min(1000 * run["cpu_s"] / run["pages"] for run in found))
        for metric in ("rss_mb", "robots_breaches", "duplicates"):
            yield Figure("crawlbench", system, metric, max(run[metric] for run in found))


def one_run(bench: Bench, system: str, seeds: Path, folder: Path) -> dict[str, Any]:
    """Run one system once."""
    folder.mkdir()
    limits = [f"--pages={bench.pages}", f"--seconds={_SECONDS}", f"--seeds={seeds}"]
    try:
        done = subprocess.run(
            [*command_of(bench, system, folder), *limits],
            capture_output=True,
            check=False,
            timeout=_LONGEST,
        )
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except IndexError:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        click.echo(f"{system}: no result; {said[-1] if said else 'it said nothing'}", err=True)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        click.echo(f"{system}: no result; {error}", err=True)
    return {"pages": 0}


def command_of(bench: Bench, system: str, folder: Path) -> list[str]:
    """Return the command line of a system."""
    if system == OURS:
        return [sys.executable, "-m", "benchmarks.crawl_ours", "--folder", str(folder)]
    if system.startswith("scrapy-"):
        script = Path(__file__).with_name("crawl_scrapy.py")
        return [str(bench.peers), str(script), system.removeprefix("scrapy-"), "--jobdir", str(folder)]
    if system.startswith("go-"):
        return [str(bench.ceiling), f"-workers={system.removeprefix('go-')}"]
    return [str(bench.peers), str(bench.source / "bench" / "contestants.py"), system]


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


MEASURE: Mapping[str, Callable[[Bench], Iterator[Figure]]] = {
    "crawlbench": speed,
    "manners": manners,
    "incremental": incremental,
}

if __name__ == "__main__":
    main()
