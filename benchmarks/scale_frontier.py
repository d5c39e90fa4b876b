"""Comparison of frontiers: `make bench-scale_frontier ARGS='--urlfrontier DIR'`.

A crawler without network adds URLs, takes them in turns and reports them as done. It runs on our frontier (SQLite,
PostgreSQL) and on crawler-commons' URLFrontier (RocksDB), each in separate processes:

    undisturbed   URLs added per second; URLs taken and done per second
    killed        kill -9 of the crawler and the frontier several times while URLs are added and taken, with restarts.
                  `lost`: acknowledged URLs that were never given; `done again`: given after their completion was
                  acknowledged; `in flight`: given and not done at a kill; `given again`: share of those that were
                  given again, as all must be unless they were completed at that moment

URLFrontier is not on Maven Central, so DIR is a folder with its built source:

    git clone https://github.com/crawler-commons/url-frontier DIR
    cd DIR && mvn -DskipTests -pl API,service package         # Java 17

Its client is generated from the API's .proto in the peers' environment, .venv-frontiers
(benchmarks/peers/frontiers.txt).
"""

import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import click

from benchmarks.command import benchmark
from benchmarks.postgres_server import PostgresServer
from benchmarks.results import Figure, publish
from benchmarks.scale_cluster import end
from domain.errors import PlumblineError
from indexer.embedded_solr import find_free_port

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-frontiers" / "bin" / "python"
PROTO, JAR = "API/src/main/protobuf/urlfrontier.proto", "service/target/urlfrontier-service-*.jar"
MAIN = "crawlercommons.urlfrontier.service.URLFrontierServer"
KILLED = "killed"
POLL = 0.002  # seconds
PATIENCE = 60.0  # seconds until a service answers
LONGEST = 1800.0  # seconds of a run


@dataclass(frozen=True)
class Account:
    """Counts of URLs, from the log of their crawlers."""

    put: int
    lost: int
    done_again: int
    in_flight: int
    given_again: int


def account(lines: Iterable[str]) -> Account:
    """Read a log: `put N`, `got N`, `done N`, and `killed` at each kill of crawler and frontier."""
    put, got, done, under_way, hanging = (set[str]() for _ in range(5))
    done_again = in_flight = given_again = 0
    for line in lines:
        word, _, number = line.strip().partition(" ")
        if word == "put":
            put.add(number)
        elif word == "got":
            done_again += number in done
            given_again += number in hanging
            hanging.discard(number)
            got.add(number)
            under_way.add(number)
        elif word == "done":
            done.add(number)
            under_way.discard(number)
        elif word == KILLED:
            in_flight += len(under_way)
            hanging |= under_way
            under_way.clear()
    return Account(len(put), len(put - got), done_again, in_flight, given_again)


class Holder(Protocol):
    """The process that stores a frontier."""

    @property
    def command(self) -> list[str]:
        """Return the Python interpreter of a crawler, and its first arguments: kind, location."""

    @property
    def last(self) -> list[str]:
        """Return its last arguments."""

    def crash(self) -> None:
        """kill -9 all its processes, and start it again."""

    def close(self) -> None:
        """Stop it."""


def crawler(python: str, kind: str, where: str) -> list[str]:
    """Return the beginning of a crawler's command."""
    return [python, "-m", "benchmarks.scale_frontier_worker", kind, where]


class InFile:
    """SQLite: only the crawler uses it."""

    last: list[str] = []  # noqa: RUF012 (nobody changes it)

    def __init__(self, folder: Path) -> None:
        self.command = crawler(sys.executable, "plumbline", f"sqlite:///{folder / 'store.db'}")

    def crash(self) -> None:
        return

    def close(self) -> None:
        return


class InPostgres:
    """PostgreSQL: all of its processes are killed at once."""

    last: list[str] = []  # noqa: RUF012 (nobody changes it)

    def __init__(self, folder: Path) -> None:
        self._postgres = PostgresServer(folder / "postgres")
        self.command = crawler(sys.executable, "plumbline", self._postgres.database("frontier"))

    def crash(self) -> None:
        self._postgres.crash()

    def close(self) -> None:
        self._postgres.close()


class InUrlFrontier:
    """URLFrontier's service with RocksDB, in its default configuration."""

    def __init__(self, folder: Path, built: Path) -> None:
        self._folder, self._port = folder, find_free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self._jar = next(built.glob(JAR))
        stubs = made_of((built / PROTO), folder / "stubs")
        self.command, self.last = crawler(str(PEERS), "urlfrontier", f"127.0.0.1:{self._port}"), [str(stubs)]
        self._process = self._started()

    def _started(self) -> "subprocess.Popen[bytes]":
        command = ["java", "-Xmx2G", "-cp", str(self._jar), MAIN, "-p", str(self._port)]
        with (self._folder / "service.log").open("ab") as log:
            process = subprocess.Popen(
                [*command, f"rocksdb.path={self._folder / 'rocksdb'}"], stdout=log, stderr=log, cwd=self._folder
            )
        until = time.monotonic() + PATIENCE
        while not answers(self._port):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"URLFrontier does not start: {(self._folder / 'service.log').read_text()[-2000:]}")
            time.sleep(POLL)
        return process

    def crash(self) -> None:
        end(self._process)
        self._process = self._started()

    def close(self) -> None:
        end(self._process)


def answers(port: int) -> bool:
    """True if a process listens on the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def made_of(proto: Path, folder: Path) -> Path:
    """Generate the client modules from an API. Returns their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    outs = (f"--python_out={folder}", f"--grpc_python_out={folder}")
    subprocess.run([PEERS, "-m", "grpc_tools.protoc", f"-I{proto.parent}", *outs, str(proto)], check=True)
    return folder


def measured(name: str, holder: Holder, folder: Path, count: int, hosts: int, kills: int = 0) -> Iterator[Figure]:
    """Measure one run on an empty frontier, with `kills` kills while URLs are added, and again while they are taken."""
    log = folder / "log"
    command = [*holder.command, str(log), str(count), str(hosts), *holder.last]
    for word in ("put", "got"):
        for kill in range(1, kills + 1):
            killed_at(command, holder, log, word, count * kill // (kills + 1))
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT, timeout=LONGEST)
    found = account(log.read_text().splitlines())
    if kills:
        yield Figure("killed", name, "kills", 2 * kills)
        for metric in ("put", "lost", "done_again", "in_flight", "given_again"):
            yield Figure("killed", name, metric.replace("_", " "), getattr(found, metric))
        return
    took = json.loads(answer.stdout.splitlines()[-1])
    yield Figure("undisturbed", name, "URLs", count)
    yield Figure("undisturbed", name, "missing", found.lost + count - found.put)
    yield Figure("undisturbed", name, "put_per_s", count / took["put_s"])
    yield Figure("undisturbed", name, "taken_per_s", count / took["take_s"])


def killed_at(command: Sequence[str], holder: Holder, log: Path, word: str, number: int) -> None:
    """Run a crawler until its log has a number of lines with a word; then kill it and the process of its frontier."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    while times(log, word) < number:
        if process.poll() is not None:
            raise PlumblineError(f"a crawler has ended before it had {word} {number}")
        time.sleep(POLL)
    process.send_signal(signal.SIGKILL)
    holder.crash()
    process.wait(PATIENCE)
    with log.open("a") as lines:
        lines.write(f"{KILLED}\n")


def times(log: Path, word: str) -> int:
    """Count the lines of a log that begin with a word."""
    return (b"\n" + log.read_bytes()).count(f"\n{word} ".encode()) if log.exists() else 0


def missing(built: Path | None) -> str:
    """Return the reason why URLFrontier cannot be measured; "" if it can."""
    if built is None:
        return "URLFrontier is left out: give --urlfrontier DIR, a folder with its source, built"
    if not (built / PROTO).exists() or not any(built.glob(JAR)):
        return f"{built} has not {PROTO} and {JAR}: see the head of benchmarks/scale_frontier.py for how to build them"
    if shutil.which("java") is None:
        return "URLFrontier needs Java 17"
    if not PEERS.exists():
        return f"there is no {PEERS.parents[1].name}: make {PEERS.parents[1].name}/.installed"
    return ""


@benchmark("scale_frontier", urls=300, hosts=10, kills=1)
@click.option("--urlfrontier", "built", type=click.Path(path_type=Path), help="A folder with URLFrontier, built.")
@click.option("--urls", default=20_000, help="Number of URLs.")
@click.option("--hosts", default=1000, help="Number of hosts; URLFrontier gives one URL per host and second at most.")
@click.option("--kills", default=5, help="Number of kills while URLs are added, and again while they are taken.")
def main(built: Path | None, urls: int, hosts: int, kills: int) -> None:
    """Measure the speed of frontiers, and the loss of each when it is killed."""
    why_not = missing(built)
    if why_not and built is not None:
        raise PlumblineError(why_not)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs as a user of its own where we are root
        publish("scale_frontier", list(all_measured(folder, None if why_not else built, urls, hosts, kills)))
    if why_not:
        click.echo(why_not)


def all_measured(folder: Path, built: Path | None, urls: int, hosts: int, kills: int) -> Iterator[Figure]:
    """Measure each frontier, undisturbed and killed, in separate stores."""
    for kills_now in sorted({0, kills}):
        for name in ("plumbline SQLite", "plumbline PostgreSQL", *(("URLFrontier RocksDB",) if built else ())):
            place = folder / f"{name.split()[1].lower()}{kills_now}"
            place.mkdir(mode=0o755)
            with closing(opened(name, place, built)) as holder:
                yield from measured(name, holder, place, urls, hosts, kills_now)


def opened(name: str, folder: Path, built: Path | None) -> Holder:
    """Start the frontier of this name."""
    if built is not None and name.startswith("URLFrontier"):
        return InUrlFrontier(folder, built)
    return InPostgres(folder) if name.endswith("PostgreSQL") else InFile(folder)


if __name__ == "__main__":
    main()
