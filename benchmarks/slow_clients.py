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

import argparse
import http.client
import math
import multiprocessing
import random
import selectors
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import quote, urlsplit

from benchmarks.results import Figure, publish
from pipeline import stages
from pipeline.demo.run import DemoOptions, demo_settings
from pipeline.demo.site import DemoServer, write_sites
from pipeline.engine import Engine
from pipeline.progress import Quiet
from pipeline.search_site.serve import SearchSite

CONNECTIONS, SECONDS = 500, 120.0
KINDS = ("head", "body", "reader")
DRIP_SECONDS = 1.0  # between two bytes of a connection
TURNS = 4  # quiet and slow by turns
PAUSE = 0.01  # seconds between two pages of the others
QUERIES = ("石油", "天然气", "页岩气 压裂", "LNG market", "碳 排放", "世界石油大会")
PATHS = tuple(f"/search?q={quote(query)}" for query in QUERIES)
HEAD = b"GET /search?q=a HTTP/1.1\r\nHost: site\r\nX-Slow: "
FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 200000"
BODY = b"POST /admin/login HTTP/1.1\r\nHost: site\r\n" + FORM + b"\r\n\r\n"
READER = f"GET /search?q={quote('石油')}&page=1 HTTP/1.1\r\nHost: site\r\n\r\n".encode()
FIRST: Mapping[str, bytes] = {"head": HEAD, "body": BODY, "reader": READER * 20}


@dataclass
class Slow:
    """One slow connection."""

    kind: str
    socket: socket.socket
    next_at: float


def hold(place: tuple[str, int], connections: int, stop: Connection) -> None:
    """Hold so many slow connections: say when they are open, and at the end how many were held on an average, and how
    many the site closed.

    A process of its own, so that the others' clock does not wait for it.
    """
    selector, closed, held = selectors.DefaultSelector(), 0, []
    missing = [KINDS[n % len(KINDS)] for n in range(connections)]
    is_told = False
    while not stop.poll():
        missing = [kind for kind in missing if not opened(selector, place, kind)]
        if not is_told:
            stop.send(None)
            is_told = True
        gone = [one for one in due(selector) if not dripped(one)]
        for one in gone:
            selector.unregister(one.socket)
            one.socket.close()
        closed += len(gone)
        missing += [one.kind for one in gone]
        held.append(len(selector.get_map()))
        time.sleep(0.02)
    stop.recv()
    stop.send((sum(held) / max(len(held), 1), closed))


def due(selector: selectors.BaseSelector) -> list[Slow]:
    """The connections whose next byte is due."""
    now = time.monotonic()
    found = [key.data for key in selector.get_map().values() if key.data.next_at <= now]
    for one in found:
        one.next_at = now + DRIP_SECONDS
    return found


def opened(selector: selectors.BaseSelector, place: tuple[str, int], kind: str) -> bool:
    """Open a slow connection of this kind, if the site takes it."""
    try:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)  # what is not read stays with the site
        connection.settimeout(2.0)
        connection.connect(place)
        connection.sendall(FIRST[kind])
        connection.setblocking(False)
    except OSError:
        connection.close()
        return False
    selector.register(connection, selectors.EVENT_READ, Slow(kind, connection, time.monotonic() + random.random()))
    return True


def dripped(one: Slow) -> bool:
    """Send or read a byte; False where the site has closed."""
    try:
        if one.kind == "reader":
            return one.socket.recv(1) != b""
        one.socket.send(b"a")
        return one.socket.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


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
    """Slow connections are held meanwhile; afterwards the list has what `hold` says."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(place, connections, there), daemon=True)
    process.start()
    counted: list[float] = []
    try:
        here.recv()  # they are open
        yield counted
    finally:
        with suppress(OSError, EOFError):
            here.send(None)
            counted += here.recv()
        process.join(30)
        process.kill()


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
            with Engine(settings, Quiet()) as engine:
                stages.run(engine)
                with SearchSite(engine) as site:
                    yield site.url


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description="What others feel while connections are slow.")
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--url", default="")
    options = parser.parse_args()
    if options.url:
        figures = slow_clients(options.url, options.connections, options.seconds)
    else:
        with demo_site() as url:
            figures = slow_clients(url, options.connections, options.seconds)
    publish("slow_clients", [Figure("slow", "plumbline", metric, value) for metric, value in figures.items()])


if __name__ == "__main__":
    main()
