"""kill -9 of every process of a cluster while it crawls, extracts, embeds and mines, with an exact comparison.

The contents acknowledged by the store are recorded before each kill. They are compared with its later contents, and
with the result of an undisturbed machine on the same web.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from benchmarks.postgres_server import PostgresServer
from benchmarks.results import Figure
from benchmarks.scale_cluster import Cluster
from benchmarks.scale_web import ScaleWeb
from domain.errors import PlumblineError
from pipeline.settings_template import toml_value

HEARTBEAT, LONGEST_REQUEST = 0.5, 5.0  # seconds
LONGEST = 600.0  # seconds for a stage with all its kills
PER_IP = 4
POLL = 0.05  # seconds
COUNTS = {
    "crawl": "SELECT count(*) FROM pages",
    "extract": "SELECT count(*) FROM outcomes WHERE stage = 'extract'",
    "embed": "SELECT count(*) FROM outcomes WHERE stage = 'embed'",
}
KEPT = {
    "page": "SELECT url, p.digest, p.fetched_at FROM pages p JOIN urls USING (url_id)",
    "article": "SELECT url, a.digest, a.extracted_at FROM articles a JOIN urls USING (url_id)",
    "vector": "SELECT url, o.input, o.at FROM outcomes o JOIN urls USING (url_id) WHERE stage = 'embed'",
}
KINDS = {"crawl": ("page ",), "extract": ("page ", "article "), "embed": ("page ", "article ", "vector ")}
Rows = dict[str, tuple[Any, ...]]


class Vertical:
    """A folder with a `vertical.toml`, and its store."""

    def __init__(self, folder: Path, url: str, web: ScaleWeb, cluster: Mapping[str, Any]) -> None:
        self.url, self._folder = url, folder
        crawl = {"seeds": web.seeds, "inside_hosts": web.hosts, "delay": 0.01, "total_timeout": LONGEST_REQUEST}
        manners = {"per_ip": PER_IP, "queue_policy": "host", "sitemaps": False, "hub_gap": 24.0}
        sections: dict[str, Mapping[str, Any]] = {
            "store": {"url": url},
            "crawl": {**crawl, **manners},
            "cluster": cluster,
            "embed": {"model": "default", "passages": 0},
        }
        folder.mkdir(parents=True)
        lines = [
            line
            for section, values in sections.items()
            for line in (f"[{section}]", *(f"{key} = {toml_value(value)}" for key, value in values.items()))
        ]
        self.config = folder / "vertical.toml"
        self.config.write_text("\n".join(lines) + "\n")

    def start(self, stage: str) -> "subprocess.Popen[bytes]":
        """Start a stage by its command."""
        command = [str(Path(sys.executable).with_name("plumb")), "-c", str(self.config)]
        with (self._folder / "plumb.out").open("ab") as log:
            return subprocess.Popen([*command, *STAGES[stage]], stdout=log, stderr=log)

    def done(self, stage: str) -> None:
        """Run a stage to its end. Raises PlumblineError if it fails."""
        if self.start(stage).wait(LONGEST):
            raise PlumblineError((self._folder / "plumb.out").read_text()[-2000:])

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Query the store; returns no rows if it does not respond or has no tables yet."""
        engine = create_engine(self.url)
        try:
            with engine.connect() as connection:
                return [tuple(row) for row in connection.execute(text(query))]
        except SQLAlchemyError:
            return []
        finally:
            engine.dispose()

    def kept(self) -> Rows:
        """Return all acknowledged pages, articles and vectors with their times."""
        rows = ((f"{kind} {row[0]}", row[1:]) for kind, query in KEPT.items() for row in self.ask(query))
        return dict(rows)

    def terms(self) -> set[tuple[Any, ...]]:
        """Return the candidates with their counts and scores."""
        return set(self.ask("SELECT text, frequency, documents, score, tags FROM terms"))


STAGES = {"crawl": ("crawl",), "extract": ("extract",), "embed": ("embed",), "mine": ("lexicon", "build")}


def chaos(folder: Path, hosts: int, pages: int, stages: Collection[str] = tuple(STAGES)) -> Iterator[Figure]:
    """Crawl, extract, embed and mine a web with the given number of sites and pages, and kill one process after
    another.
    """
    postgres = PostgresServer(folder / "postgres")
    cluster = Cluster(folder / "dask", 2)
    try:
        with ScaleWeb(hosts, pages, pause=0.02) as web:
            shares = {"engine": "dask", "scheduler": cluster.address, "crawlers": 2}
            beats = {"heartbeat_seconds": HEARTBEAT, "block": 20}
            calm = Vertical(folder / "calm", postgres.database("calm"), web, {"heartbeat_seconds": HEARTBEAT})
            wild = Vertical(folder / "wild", postgres.database("wild"), web, {**shares, **beats})
            for stage in STAGES:
                calm.done(stage)
            web.asked.clear()
            for stage in STAGES:
                if stage in stages:
                    yield from disturbed(stage, calm, wild, cluster, postgres, web)
                else:
                    wild.done(stage)
    finally:
        cluster.close()
        postgres.close()


def disturbed(
    stage: str, calm: Vertical, wild: Vertical, cluster: Cluster, postgres: PostgresServer, web: ScaleWeb
) -> Iterator[Figure]:
    """Run one stage and kill every process once. Returns lost and repeated work."""
    kills: list[tuple[str, Callable[[], None]]] = [
        ("worker", cluster.kill_worker),
        ("scheduler", cluster.restart_scheduler),
        ("postgres", postgres.crash),
        ("plumb", lambda: None),
    ]
    acknowledged: Rows = {}
    lost = duplicates = done = 0
    two_before = web.two_at_a_host
    goal = len(calm.ask(COUNTS[stage].replace("count(*)", "1"))) if stage in COUNTS else 0
    leader, until = wild.start(stage), time.monotonic() + LONGEST
    for number, (name, kill) in enumerate(kills, 1):
        if stage in COUNTS:
            wait_for_share(wild, stage, goal * number // (len(kills) + 1), leader, until)
        else:
            wait_for_work(cluster, leader, until)
        acknowledged = wild.kept()
        if leader.poll() is None:
            done += 1
            if name == "plumb":
                os.kill(leader.pid, signal.SIGKILL)
        kill()
        kept = after_a_while(wild)
        lost += len(acknowledged.keys() - kept.keys())
        duplicates += sum(kept[key] != row for key, row in acknowledged.items() if key in kept)
        if name != "worker":
            leader.wait(LONGEST)
            leader = wild.start(stage)
    while leader.wait(LONGEST) and time.monotonic() < until:
        leader = wild.start(stage)
    kept = wild.kept()
    lost += len(acknowledged.keys() - kept.keys()) + missing(stage, calm, wild)
    duplicates += sum(kept[key] != row for key, row in acknowledged.items() if key in kept) + surplus(stage, calm, wild)
    yield Figure("chaos", "plumbline", f"{stage} kills", done)
    yield Figure("chaos", "plumbline", f"{stage} lost", lost)
    yield Figure("chaos", "plumbline", f"{stage} duplicates", duplicates)
    if stage == "crawl":
        yield Figure("chaos", "plumbline", "two_at_a_host", web.two_at_a_host - two_before)
        beyond = max(0, web.most_at_once - PER_IP)
        yield Figure("chaos", "plumbline", "requests beyond per_ip", beyond)
        yield Figure("chaos", "plumbline", "refetches", sum(web.asked.values()) - len(web.asked))


def wait_for_share(wild: Vertical, stage: str, share: int, leader: "subprocess.Popen[bytes]", until: float) -> None:
    """Wait until a share of a stage is done."""
    while time.monotonic() < until and leader.poll() is None:
        rows = wild.ask(COUNTS[stage])
        if rows and rows[0][0] >= share:
            return
        time.sleep(POLL)


def wait_for_work(cluster: Cluster, leader: "subprocess.Popen[bytes]", until: float) -> None:
    """Wait until a worker runs a task of a stage that writes to the store only at its end."""
    while time.monotonic() < until and leader.poll() is None and not cluster.is_working:
        time.sleep(POLL)


def after_a_while(wild: Vertical) -> Rows:
    """Return the contents of the store as soon as it responds again."""
    while not wild.ask("SELECT 1"):
        time.sleep(POLL)
    return wild.kept()


def missing(stage: str, calm: Vertical, wild: Vertical) -> int:
    """Return results of the undisturbed machine that the cluster does not have."""
    if stage == "mine":
        return len(calm.terms() - wild.terms())
    return sum(key.startswith(KINDS[stage]) for key, _ in content(calm).items() - content(wild).items())


def surplus(stage: str, calm: Vertical, wild: Vertical) -> int:
    """Return results of the cluster that the undisturbed machine does not have."""
    if stage == "mine":
        return len(wild.terms() - calm.terms())
    return len(content(wild).items() - content(calm).items()) if stage in ("extract", "embed") else 0


def content(vertical: Vertical) -> dict[str, Any]:
    """Return pages, articles and vectors with digests of their inputs."""
    return {key: row[0] for key, row in vertical.kept().items()}
