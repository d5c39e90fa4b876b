"""`make cluster`: a vertical on several machines, simulated by real processes on this machine.

    PostgreSQL                 the store                                store.url
    an object store (moto)     pages                                    store.warc
    ZooKeeper, 3 Solr nodes    the index, 2 shards of 2 replicas        index.solr_url, index.shards, index.replicas
    Dask: scheduler, 3 workers the compute backend                      cluster.engine, cluster.scheduler
    2 search sites             each with its own data folder, as on two machines

Crawls the demo sites and serves until Ctrl-C, which stops everything. All data is in a temporary folder. ARGS:
`--check` queries both sites and stops; also `--nodes 2`, `--no-dask`.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import requests

from indexer.embedded_solr import find_free_port
from pipeline.demo.articles import COMPARISON_TERM
from pipeline.demo.site import DemoServer, demo_urls, write_sites
from pipeline.settings import SECTIONS
from tests.local_cluster import LocalSolrCluster
from tests.object_store import environment, make_bucket, object_store
from tests.postgres_server import PostgresServer
from tests.settings_text import toml_of

NODES, SHARDS, REPLICAS, WORKERS, SITES = 3, 2, 2, 3, 2
HEAP = "300m"
LOOPBACK = "127.0.0.1"
BUCKET = "plumbline"
START_SECONDS = 180.0
POLL_SECONDS = 0.3


@dataclass
class Running:
    """The running services: their URLs and their processes by name."""

    folder: Path
    settings: dict[str, dict[str, Any]]
    environment: dict[str, str]
    solr: LocalSolrCluster
    object_store: str
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def vertical(self, name: str, **more: Mapping[str, Any]) -> Path:
        """Write a TOML file of the vertical with a data folder of its own, as on a machine of this name."""
        path = self.folder / f"{name}.toml"
        sections = {one: dict(values) for one, values in self.settings.items()}
        sections["vertical"] = {**sections.get("vertical", {}), "data_dir": name}
        for section, values in more.items():
            sections[section] = {**sections.get(section, {}), **values}
        path.write_text(toml_of(sections), encoding="utf-8")
        return path

    def start(self, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
        """Start a process in this environment; its output goes to `name.log`."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, **self.environment}, start_new_session=True
            )
        return self.processes[name]

    def plumb(self, config: Path, *words: str) -> None:
        """Run a `plumb` command to its end. Raises RuntimeError with its output if it fails."""
        command = [sys.executable, "-m", "pipeline.cli.main", "-c", str(config), *words]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **self.environment}, check=False
        )
        if done.returncode:
            raise RuntimeError(f"plumb {' '.join(words)}: {(done.stdout + done.stderr).strip()[-2000:]}")

    def stop(self) -> None:
        """Stop the processes in reverse order of their start."""
        for process in [*self.processes.values()][::-1]:
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextmanager
def services(
    folder: Path,
    nodes: int = NODES,
    shards: int = SHARDS,
    replicas: int = REPLICAS,
    dask: bool = True,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[Running]:
    """Start everything except the vertical itself in `folder`. Raises an error for a service that does not start."""
    with ExitStack() as stack:
        note("PostgreSQL ...")
        database = stack.enter_context(closing(PostgresServer(folder / "postgres"))).url
        note("object store ...")
        s3, _ = stack.enter_context(object_store(find_free_port(), folder / "object-store.log"))
        make_bucket(s3, BUCKET)
        note(f"ZooKeeper and {nodes} Solr nodes ...")
        solr = stack.enter_context(LocalSolrCluster(folder / "solr", nodes, HEAP, START_SECONDS))
        settings: dict[str, dict[str, Any]] = {
            "store": {"url": database, "warc": f"s3://{BUCKET}/pages"},
            "index": {"solr_url": solr.solr_url, "shards": shards, "replicas": replicas},
        }
        running = Running(folder, settings, environment(s3), solr, s3)
        stack.callback(running.stop)
        if dask and find_spec("distributed") and "cluster" in SECTIONS:
            note(f"Dask: a scheduler and {WORKERS} workers ...")
            settings["cluster"] = {"engine": "dask", "scheduler": start_dask(running)}
        yield running


def start_dask(running: Running) -> str:
    """Start a Dask scheduler and its workers. Returns the address of the scheduler."""
    port = find_free_port()
    address = f"tcp://{LOOPBACK}:{port}"
    dask = [sys.executable, "-m", "distributed.cli"]
    scheduler = ["dask_scheduler", "--host", LOOPBACK, "--port", str(port), "--dashboard-address", f"{LOOPBACK}:0"]
    running.start("dask-scheduler", [*dask[:2], f"{dask[2]}.{scheduler[0]}", *scheduler[1:]])
    for number in range(1, WORKERS + 1):
        worker = [address, "--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--memory-limit", "1GB"]
        local = ["--local-directory", str(running.folder / f"dask{number}")]
        running.start(f"dask-worker{number}", [sys.executable, "-m", f"{dask[2]}.dask_worker", *worker, *local])
    return address


def crawl_the_demo(running: Running, stack: ExitStack) -> Path:
    """Run all stages on the demo sites. Returns the vertical's TOML file."""
    write_sites(running.folder / "sites")
    server = stack.enter_context(DemoServer(running.folder / "sites", 0))
    seeds = demo_urls(server.port)
    crawl = {
        "seeds": seeds, "depth": 6, "delay": 0.002, "per_host": 4, "inside_hosts": [one.split("/")[2] for one in seeds],
    }  # fmt: skip
    config = running.vertical("crawler", crawl=crawl)
    running.plumb(config, "run")
    return config


def serve(running: Running, number: int) -> str:
    """Start a search site with its own data folder. Returns its URL as soon as it responds."""
    port = find_free_port()
    config = running.vertical(f"web{number}", search={"host": LOOPBACK, "port": port, "timeout": 15.0})
    command = [sys.executable, "-m", "pipeline.cli.main", "-c", str(config), "serve"]
    process, url = running.start(f"web{number}", command), f"http://{LOOPBACK}:{port}/"
    deadline = time.monotonic() + START_SECONDS
    while not is_well(url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the search site does not start: see {running.folder / f'web{number}.log'}")
        time.sleep(POLL_SECONDS)
    return url


def is_well(url: str) -> bool:
    """True if the site would return search results."""
    try:
        return requests.get(f"{url}healthz", timeout=10).ok
    except requests.RequestException:
        return False


def hits(url: str) -> int:
    """Return the number of results of the demo query on a site, as soon as its index responds."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        answer = requests.get(f"{url}search", params={"q": COMPARISON_TERM, "format": "json"}, timeout=30)
        if answer.status_code != requests.codes.service_unavailable or time.monotonic() > deadline:
            break
        time.sleep(POLL_SECONDS)
    answer.raise_for_status()
    return int(answer.json()["total"])


def main() -> None:
    """Run the command line, see the module docstring."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--no-dask", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupted)
    folder = Path(tempfile.mkdtemp(prefix="plumbline-cluster-"))
    try:
        with ExitStack() as stack:
            running = stack.enter_context(services(folder, asked.nodes, dask=not asked.no_dask, note=print))
            print("crawl, extract, mine, index ...")
            crawl_the_demo(running, stack)
            sites = [serve(running, number) for number in range(1, SITES + 1)]
            found = [hits(url) for url in sites]
            say(running, sites, found)
            if asked.check and (not found[0] or len(set(found)) > 1):
                sys.exit(f"the sites find {found} pages for {COMPARISON_TERM}")
            if not asked.check:
                signal.pause()
    except KeyboardInterrupt:
        print("\nstopping ...")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(running: Running, sites: list[str], found: list[int]) -> None:
    """Print the URLs of the services."""
    for url, count in zip(sites, found, strict=True):
        print(f"search site       {url}search?q={COMPARISON_TERM}   {count} hits")
    print(f"vertical          {running.folder / 'crawler.toml'}")
    print(f"store             {running.settings['store']['url']}")
    print(f"object store      {running.object_store}/{BUCKET}")
    print(f"Solr              {len(running.solr.node_urls)} nodes below {running.folder / 'solr'}")
    print(f"other processes   {', '.join(running.processes)}")
    print("for plumb beside it: export " + " ".join(f"{name}={value}" for name, value in running.environment.items()))
    print("Ctrl-C stops everything; nothing is kept.")


def _interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
