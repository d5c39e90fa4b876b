"""Slow clients: what others feel while hundreds of connections drip in heads and bodies, and read drop by drop.

    python -m benchmarks.slow_clients [--connections 500] [--seconds 120] [--url URL]

Without a URL the demo is crawled, indexed and served first. Others ask for result pages, one after the other, in turns
without and with the slow ones, so that what else the machine does falls on both. A connection that the site closes is
opened anew.

    connections   slow connections that were held at the same time, on an average
    answered      pages that others got meanwhile
    failed        pages that they did not get
    quiet_p95_ms, slow_p95_ms, p95_ratio   without the slow ones, with them, and the second by the first
    closed        slow connections that the site closed
"""

import http.client
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import quote, urlsplit

import click

from benchmarks.command import benchmark
from benchmarks.results import Figure, publish
from docstore.errors import PlumblineError
from pipeline import stages
from pipeline.demo.run import DemoOptions, demo_settings
from pipeline.demo.site import DemoServer, write_sites
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite

CONNECTIONS, SECONDS = 500, 120.0
ROOT = Path(__file__).parents[1]
TURNS = 4  # quiet and slow by turns
PAUSE = 0.01  # seconds between two pages of the others
QUERIES = ("石油", "天然气", "页岩气 压裂", "LNG market", "碳 排放", "世界石油大会")
PATHS = tuple(f"/search?q={quote(query)}" for query in QUERIES)


def asked(url: str, seconds: float, paths: Sequence[str] = PATHS) -> tuple[list[float], int]:
    """Ask for pages in turn, for so long: milliseconds of those that came, and how many did not."""
    host, took, failed = urlsplit(url), [], 0
    until, n = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        started, n = time.perf_counter(), n + 1
        connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=30)
        try:
            connection.request("GET", paths[n % len(paths)])
            response = connection.getresponse()
            response.read()
            if response.status == http.client.OK:
                took.append(1000 * (time.perf_counter() - started))
            else:
                failed += 1
        except (OSError, http.client.HTTPException):
            failed += 1
        finally:
            connection.close()
        time.sleep(PAUSE)
    return took, failed


def slow_clients(
    url: str, connections: int = CONNECTIONS, seconds: float = SECONDS, paths: Sequence[str] = PATHS
) -> dict[str, float]:
    """The figures of the module's docstring for the site at `url`; the slow ones are there for `seconds` in all. Others
    ask for `paths`."""
    place = urlsplit(url)
    quiet: list[float] = []
    slow: list[float] = []
    failed, closed = 0, 0
    held: list[float] = []
    asked(url, min(5.0, seconds / TURNS), paths)  # warm
    for _ in range(TURNS):
        quiet += asked(url, seconds / TURNS / 2, paths)[0]
        with holding((place.hostname or "", place.port or 80), connections) as counted:
            took, missed = asked(url, seconds / TURNS, paths)
        slow, failed = slow + took, failed + missed
        held, closed = [*held, counted[0]], closed + int(counted[1])
    figures = {"connections": min(held), "answered": len(slow), "failed": failed, "closed": closed}
    p95 = {"quiet_p95_ms": percentile(quiet), "slow_p95_ms": percentile(slow)}
    return figures | p95 | {"p95_ratio": p95["slow_p95_ms"] / p95["quiet_p95_ms"]}


@contextmanager
def holding(place: tuple[str, int], connections: int) -> Iterator[list[float]]:
    """Slow connections are held meanwhile; afterwards the list has what `benchmarks.slow_holder` says."""
    command = [sys.executable, "-m", "benchmarks.slow_holder", place[0], str(place[1]), str(connections)]
    counted: list[float] = []
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        try:
            holder.stdout.readline()  # they are open
            yield counted
        finally:
            holder.stdin.close()
            counted += map(float, holder.stdout.readline().split())


def percentile(values: Sequence[float], share: float = 0.95) -> float:
    """So many of the values are no larger; NaN where there are none."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan


@contextmanager
def demo_site() -> Iterator[str]:
    """The demo, crawled, indexed and served; the URL of its search page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # Solr ends a moment later
        folder = Path(name)
        write_sites(folder / "sites")
        with DemoServer(folder / "sites", 0) as sites:
            settings = demo_settings(DemoOptions(folder, port=0, site_port=sites.port))
            with Engine(settings, NullProgress()) as engine:
                stages.run(engine)
                with SearchSite(engine) as site:
                    yield site.url


@benchmark("slow_clients", connections=10, seconds=1.0)
@click.option("--connections", default=CONNECTIONS, type=click.IntRange(1), help="Slow connections.")
@click.option("--seconds", default=SECONDS, help="How long they are open.")
@click.option("--url", default="", help="A site that runs; without it the demo is served.")
def main(connections: int, seconds: float, url: str) -> None:
    """What others feel while connections are slow."""
    with nullcontext(url) if url else demo_site() as site:
        figures = slow_clients(site, connections, seconds)
    if figures["failed"]:
        raise PlumblineError(f"{figures['failed']:g} requests failed while {connections} connections were slow")
    publish("slow_clients", [Figure("slow", "plumbline", metric, value) for metric, value in figures.items()])


if __name__ == "__main__":
    main()
