"""The part `crawl` of `make bench-speed`: our crawler with everything but the delay, beside others, on crawlbench."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from benchmarks.crawl_site import BenchSite, built, source_of
from benchmarks.results import OURS, Figure
from domain.errors import PlumblineError

PEERS = Path(__file__).resolve().parents[1] / ".venv-crawlers" / "bin" / "python"
SCRAPY = ("scrapy-tuned", "scrapy-default")
OTHERS = ("crawlee-parsel-default", "requests-selectolax-8", "go-16")
SIZE = ("-seed", "1", "-hosts", "50", "-pages", "20000")
SECONDS = 45  # crawl time of each system
LONGEST = 150  # seconds until a hanging system is killed


def crawl_figures(data: Path, rounds: int, pages: int, is_short: bool) -> Iterator[Figure]:
    """Yield pages/s (median of the rounds), CPU (best) and memory of each system, and our ratio to the faster Scrapy.

    Systems run in turns, so that a busy period of the machine affects all of them.
    """
    if not PEERS.exists():
        click.echo(f"{PEERS} is not there: `make bench-speed` makes it", err=True)
    peers = SCRAPY[:1] if is_short else (*SCRAPY, *OTHERS)
    systems = (OURS, *(peers if PEERS.exists() else ()))
    runs: dict[str, list[dict[str, Any]]] = {system: [] for system in systems}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = source_of(data)
        server, ceiling = built(source, folder)
        with BenchSite(server, *SIZE) as site:
            seeds = folder / "seeds"
            seeds.write_text("\n".join(site.seeds))
            for number in range(rounds):
                for system in systems:
                    site.reset()
                    command = command_of(system, folder / f"{system}-{number}", source, ceiling)
                    run = one_run([*command, f"--pages={pages}", f"--seconds={SECONDS}", f"--seeds={seeds}"])
                    run["robots_breaches"] = sum(host["robots_denied"] for host in site.stats())
                    runs[system].append(run)
    rates = {system: statistics.median(run["pages"] / run["wall_s"] for run in runs[system]) for system in systems}
    for system, found in runs.items():
        yield Figure("crawl", system, "pages_per_s", rates[system])
        yield Figure("crawl", system, "cpu_ms", min(1000 * run["cpu_s"] / run["pages"] for run in found))
        for metric in ("rss_mb", "robots_breaches"):
            yield Figure("crawl", system, metric, max(run[metric] for run in found))
    if theirs := [rates[system] for system in SCRAPY if system in rates]:
        yield Figure("crawl", OURS, "pages_per_s_ratio_scrapy", rates[OURS] / max(theirs))


def command_of(system: str, folder: Path, source: Path, ceiling: Path) -> list[str]:
    """Return the command line of a system; its files are in `folder`."""
    folder.mkdir()
    if system == OURS:
        return [sys.executable, "-m", "benchmarks.crawl_ours", "--folder", str(folder)]
    if system in SCRAPY:
        script = Path(__file__).with_name("crawl_scrapy.py")
        return [str(PEERS), str(script), system.removeprefix("scrapy-"), "--jobdir", str(folder)]
    if system.startswith("go-"):
        return [str(ceiling), f"-workers={system.removeprefix('go-')}"]
    return [str(PEERS), str(source / "bench" / "contestants.py"), system]


def one_run(command: list[str]) -> dict[str, Any]:
    """Run a crawler once; returns its figures. Raises PlumblineError if it has none.

    `timeout` forks: the peak memory of a direct child starts at that of this process.
    """
    limited = ["timeout", f"--kill-after={LONGEST}", str(LONGEST), *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    try:
        run = dict(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError) as error:
        raise PlumblineError(f"{' '.join(command)}: no result\n{done.stderr[-2000:]}") from error
    if not run["pages"]:
        raise PlumblineError(f"{' '.join(command)}: no pages")
    return run
