"""The search site with slow clients, and whole runs with random faults."""

import os
import random
import shutil
import signal
import socket
import statistics
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import requests

from pipeline.runs.run_figures import folder_bytes
from tests.crash_harness import Undisturbed, Vertical, all_processes, indexed_ids
from tests.faults.comparison import compare_content, compare_requests
from tests.faults.kill9 import JAVA, RUN_TABLES, StageResult
from tests.faults.tally import Tally

SLOW, FEW_SLOW = 500, 60
MINUTES, FEW_SECONDS = 120.0, 8.0
ASKED = 40  # searches whose latency is measured
SETTLING_RUNS = 2  # the first one publishes terms, the second one counts with them and visits the seeds again


def slow_faults(source: Vertical, folder: Path, is_short: bool) -> Tally:
    """Open many connections that send headers or a body byte by byte, or read nothing; measure other clients."""
    tally = Tally("slow")
    count, seconds = (FEW_SLOW, FEW_SECONDS) if is_short else (SLOW, MINUTES)
    with source.copied(folder / "v") as vertical:
        url = served(vertical)
        latency(url)  # warm up caches and the index
        quiet = statistics.quantiles(latency(url), n=20)[-1]
        with ExitStack() as held, tally.trying(f"{count} slow connections"):
            host, port = urlsplit(url).hostname, urlsplit(url).port
            done = threading.Event()
            clients = [held.enter_context(socket.create_connection((host, port))) for _ in range(count)]
            tally.connections = len(clients)
            dripping = threading.Thread(target=drip, args=(clients, done), daemon=True)
            dripping.start()
            deadline, found = time.monotonic() + seconds, list[float]()
            while time.monotonic() < deadline or len(found) < ASKED:
                found += latency(url, ASKED)
            done.set()
            dripping.join()
            tally.p95_ratio = round(statistics.quantiles(found, n=20)[-1] / quiet, 2)
    return tally


def served(vertical: Vertical) -> str:
    """Start the search site; return its URL when Solr is ready."""
    running = vertical.start("serve")
    assert running.stdout is not None
    url = running.stdout.readline().split()[-1]
    deadline = time.monotonic() + 300
    while requests.get(f"{url}healthz", timeout=60).status_code != 200:
        assert time.monotonic() < deadline, "no Solr"
        time.sleep(0.2)
    return url


def latency(url: str, count: int = ASKED) -> list[float]:
    """Return the seconds of each of `count` searches; each must return 200."""
    found = []
    for number in range(count):
        began = time.monotonic()
        answer = requests.get(f"{url}search", params={"q": f"油田 {number % 7}"}, timeout=60)
        assert answer.status_code == 200, answer.status_code
        found.append(time.monotonic() - began)
        time.sleep(0.02)
    return found


def drip(clients: list[socket.socket], done: threading.Event) -> None:
    """Send a byte a second: a third of the clients sends headers, a third a body, a third reads no response."""
    heads = [b"GET /search?q=x HTTP/1.1\r\nX-Slow: ", b"POST /api/v1/click HTTP/1.1\r\nContent-Length: 100000\r\n\r\n"]
    for number, client in enumerate(clients):
        with suppress(OSError):
            client.sendall([*heads, b"GET /search?q=x HTTP/1.1\r\nHost: a\r\n\r\n"][number % 3])
    while not done.wait(1.0):
        for number, client in enumerate(clients):
            if number % 3 < 2:
                with suppress(OSError):
                    client.send(b"x")


def soak_faults(made: Undisturbed, folder: Path, rounds: int) -> Tally:
    """Repeat whole runs, each with a random fault. After each, store and index must be those of undisturbed runs."""
    tally, chance = Tally("soak"), random.Random(31)
    with made.new.copied(folder / "v") as whole:
        made.site.log.clear()
        for _ in range(SETTLING_RUNS):
            whole.done("run")
        expected = StageResult.read(whole, made)
    made.site.log.clear()  # once: the visits of all rounds count
    with made.new.copied(folder / "v") as vertical:
        sizes = []
        for number in range(rounds):
            with tally.trying(f"round {number}"):
                running = vertical.start("run")
                deadline = time.monotonic() + chance.uniform(1, 40)
                while time.monotonic() < deadline and running.poll() is None:
                    time.sleep(0.01)
                disturb(vertical, chance)
                running.communicate()
                for _ in range(SETTLING_RUNS):
                    vertical.done("run")
                found = StageResult.read(vertical, made)
                compare_content(tally, expected.content, found.content, f"round {number}", RUN_TABLES)
                compare_requests(tally, expected.requests, found.requests, found.content, f"round {number}")
                vertical.check_archive()
                vertical.done("check", "--no-index")
                with vertical.solr() as index:
                    tally.account(made.ids, indexed_ids(index), f"round {number}")
                vertical.end()
                sizes.append(folder_bytes(vertical.data) / 1e6)
        tally.peak_mb = round(max(sizes, default=0.0), 1)
        print(f"soak: {rounds} rounds, data folder {' '.join(f'{size:.1f}' for size in sizes)} MB")
    return tally


def disturb(vertical: Vertical, chance: random.Random) -> None:
    """Inject one random fault."""
    how = chance.choice(("all", "solr", "worker", "seen", "nothing"))
    alive = vertical.processes()
    if how == "all" and alive:
        vertical.kill()
    elif how == "solr" and any(JAVA in command for command in alive.values()):
        vertical.kill(JAVA)
    elif how == "worker":
        workers = [pid for pid, _, command in all_processes() if pid in alive and "worker" in command]
        if workers:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
    elif how == "seen":
        shutil.rmtree(vertical.data / "pictures", ignore_errors=True)
        (vertical.data / "seen.bloom").unlink(missing_ok=True)
