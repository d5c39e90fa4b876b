"""Effect of slow clients: response times of others while hundreds of connections send and read one byte at a time.

    python -m benchmarks.slow_clients [--connections 500] [--seconds 120] [--url URL]

Without a URL the demo is crawled, indexed and served first. Other clients request results pages one after the other,
alternating without and with slow clients, so that other load of the machine affects both. A connection that the site
closes is opened again.

    connections   mean number of slow connections open at the same time
    answered      pages that the other clients received meanwhile
    failed        pages that they did not receive
    quiet_p95_ms, slow_p95_ms, p95_ratio   without slow clients, with them, and the ratio
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
from domain.errors import PlumblineError
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
    """Request pages in turn for some seconds. Returns the milliseconds of successful responses, and the number of
    failures.
    """
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
    """Yield the figures of the module docstring for the site at `url`. Slow clients run for `seconds` in total.

    The other clients request `paths`.
    """
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
    """Run slow connections during the `with` block; afterwards the list has the output of `benchmarks.slow_holder`."""
    command = [sys.executable, "-m", "benchmarks.slow_holder", place[0], str(place[1]), str(connections)]
    counted: list[float] = []
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        try:
            holder.stdout.readline()  # the connections are open
            yield counted
        finally:
            holder.stdin.close()
            counted += map(float, holder.stdout.readline().split())


def percentile(values: Sequence[float], share: float = 0.95) -> float:
    """Return the percentile of the values; NaN if there are none."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan


@contextmanager
def demo_site() -> Iterator[str]:
    """Crawl, index and serve the demo; yields the URL of its search page."""
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
@click.option("--seconds", default=SECONDS, help="Seconds for which they are open.")
@click.option("--url", default="", help="URL of a running site; default: the demo.")
def main(connections: int, seconds: float, url: str) -> None:
    """Measure the response times of others during slow connections."""
    with nullcontext(url) if url else demo_site() as site:
        figures = slow_clients(site, connections, seconds)
    if figures["failed"]:
        raise PlumblineError(f"{figures['failed']:g} requests failed while {connections} connections were slow")
    publish("slow_clients", [Figure("slow", "plumbline", metric, value) for metric, value in figures.items()])


if __name__ == "__main__":
    main()
