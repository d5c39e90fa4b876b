"""The index and the pages past one machine, while parts of them die: sets `search` and `chaos` of `make bench-scale`.

    python -m benchmarks.scale_search [--short]

The search site on three Solr nodes (2 shards of 2 replicas) is asked 20 times a second, and the index is written anew
all the time; each node in turn is killed with -9 and started again. And a crawl's WARC files go to an object store that
is cut off with -9 in the middle (a proxy in front of moto's server, which would forget what it holds).

    search  errors_one_node_down   answers other than 200, from the kill until the node takes part again, and by kind:
                                   503 (Solr did not answer in time), ReadTimeout (the site did not in a minute) ...
            requests_one_node_down how many were asked
            p95_ms_one_node_down   95th percentile of the answers, ms
            ..._all_nodes_up       the same before the first kill: what the load does by itself
    chaos   lost, duplicates       of documents (`solr_node`) and of pages (`object_store`): by the store's own account
"""

import hashlib
import itertools
import math
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import click
import requests

from benchmarks.command import benchmark
from benchmarks.object_store import environment, free_port, make_bucket, object_store
from benchmarks.results import Figure, publish
from docstore.errors import PlumblineError
from docstore.model import Page, WarcPointer
from docstore.solr_session import SolrSession, collection_replicas
from docstore.warc_archive import WarcArchive
from docstore.warc_object_store import WarcObjectStore
from docstore.warc_reader import read_warc
from indexer.cluster.local_cluster import LocalSolrCluster
from pipeline import stages
from pipeline.demo.site import DemoServer, demo_urls, write_sites
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite
from pipeline.settings import Settings, build_settings
from pipeline.warc_sources import WarcSource

SEARCH, CHAOS, OURS = "search", "chaos", "plumbline"
RATE = 20.0  # requests a second
NODES, SHARDS, REPLICAS, HEAP = 3, 2, 2, "300m"
DOWN_SECONDS, SHORT_DOWN_SECONDS = 20.0, 5.0  # for which a node is away: longer than its session in ZooKeeper
WRITE_SECONDS = 3.0  # between writings of the whole index
PAGES, SHORT_PAGES = 4000, 300
ROTATE_BYTES = 40_000
QUERIES = ("世界石油大会", "页岩气", "钻井 工程", "oil", "管道 site:example", "勘探开发")
BUCKET = "chaos"
START_SECONDS = 180.0
POLL_SECONDS = 0.5
CAUSES, LONGEST_CAUSE = 5, 90  # that are shown, and characters of one


def measure(short: bool = False) -> Iterator[Figure]:
    """All figures of both sets."""
    yield from node_figures(short)
    yield from object_store_figures(short)


# -- Solr nodes


@dataclass
class Answers:
    """What the readers got while they asked."""

    ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def p95(self) -> float:
        """The 95th percentile of what was right, in ms; NaN where nothing was."""
        return sorted(self.ms)[math.ceil(0.95 * len(self.ms)) - 1] if self.ms else math.nan

    def figures(self, when: str) -> Iterator[Figure]:
        """How many were asked, what they got instead of an answer, and how long the others waited."""
        yield Figure(SEARCH, OURS, f"requests_{when}", len(self.ms) + self.errors.total())
        yield Figure(SEARCH, OURS, f"errors_{when}", self.errors.total())
        for kind, count in sorted(self.errors.items()):
            yield Figure(SEARCH, OURS, f"errors_{when}: {kind}", count)
        yield Figure(SEARCH, OURS, f"p95_ms_{when}", self.p95)

    def ask(self, url: str, query: str) -> None:
        """One search as a reader's browser asks it."""
        begun = time.perf_counter()
        try:
            status = str(requests.get(f"{url}search", params={"q": query}, timeout=60).status_code)
        except requests.RequestException as error:
            status = type(error).__name__
        if status == "200":
            self.ms.append(1000 * (time.perf_counter() - begun))
        else:
            self.errors[status] += 1


def node_figures(short: bool) -> Iterator[Figure]:
    """The set `search`, and what the index lost."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        nodes = 2 if short else NODES
        cluster = stack.enter_context(LocalSolrCluster(folder / "solr", nodes, HEAP, START_SECONDS))
        engine = stack.enter_context(indexed_demo(folder, cluster))
        site = stack.enter_context(SearchSite(engine))
        before, answers, seconds = Answers(), Answers(), SHORT_DOWN_SECONDS if short else DOWN_SECONDS
        with writing(engine) as written:
            with asking(site.url, before):
                time.sleep(seconds)
            with asking(site.url, answers):
                for number in (1,) if short else range(1, nodes + 1):
                    cluster.kill_node(number)
                    time.sleep(seconds)
                    cluster.start_node(number)
                    until_whole(cluster)  # else the next kill leaves a shard without any replica
        said = causes(engine.settings.data_dir / "logs" / "plumb.log")
        yield from before.figures("all_nodes_up")
        yield from answers.figures("one_node_down")
        for cause, count in said.most_common(CAUSES):
            yield Figure(SEARCH, OURS, f"503 because: {cause}", count)
        yield Figure(CHAOS, "solr_node", "documents_written", written[0])
        stages.index(engine)
        yield from ledger_figures(engine)


def until_whole(cluster: LocalSolrCluster) -> None:
    """Until every replica of every shard is active again, as it was before a node was killed."""
    deadline = time.monotonic() + START_SECONDS
    with SolrSession(cluster.solr_url, START_SECONDS) as session:
        while time.monotonic() < deadline:
            with suppress(requests.RequestException, ValueError, KeyError):
                said = session.cluster_status()
                found = [one for collection in said["collections"].values() for one in collection_replicas(collection)]
                if all(one["state"] == "active" and one["node_name"] in said["live_nodes"] for one in found):
                    return
            time.sleep(POLL_SECONDS)
    raise PlumblineError(f"the index was not whole again after {START_SECONDS:g} s")


def causes(log: Path) -> Counter[str]:
    """Why the site could not answer, by its own log: messages without addresses and numbers."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    texts = (line.partition("Solr")[2] for line in lines if "Solr" in line and "warning" in line.lower())
    return Counter(re.sub(r"https?://[^ ,]+|[0-9a-f]*[0-9][0-9a-f.]*", "#", text)[:LONGEST_CAUSE] for text in texts)


@contextmanager
def indexed_demo(folder: Path, cluster: LocalSolrCluster) -> Iterator[Engine]:
    """The demo's articles in an index of several shards."""
    write_sites(folder / "sites")
    with (
        DemoServer(folder / "sites", 0) as server,
        Engine(settings_of(folder, cluster, server.port), NullProgress()) as engine,
    ):
        for stage in (stages.crawl, stages.extract, stages.index):
            stage(engine)
        yield engine


def settings_of(folder: Path, cluster: LocalSolrCluster, port: int) -> Settings:
    """The demo's vertical on this cluster."""
    seeds = demo_urls(port)
    hosts = [seed.split("/")[2] for seed in seeds]
    crawl = {"seeds": seeds, "depth": 6, "delay": 0.002, "per_host": 4, "inside_hosts": hosts}
    index = {"solr_url": cluster.solr_url, "shards": SHARDS, "replicas": REPLICAS}
    search = {"port": 0, "timeout": 30.0}
    return build_settings({"crawl": crawl, "index": index, "search": search, "embed": {"model": "off"}}, folder)


@contextmanager
def asking(url: str, answers: Answers) -> Iterator[None]:
    """Searches at `RATE`, whether or not the ones before are answered."""
    stop, begun = threading.Event(), time.monotonic()

    def at_the_rate() -> None:
        with ThreadPoolExecutor(64) as readers:
            for number, query in enumerate(itertools.cycle(QUERIES)):
                if stop.wait(max(0.0, begun + number / RATE - time.monotonic())):
                    return
                readers.submit(answers.ask, url, f"{query} {number % 50}")

    clock = threading.Thread(target=at_the_rate)
    clock.start()
    try:
        yield
    finally:
        stop.set()
        clock.join()


@contextmanager
def writing(engine: Engine) -> Iterator[list[int]]:
    """All documents are written to the index again and again, by the site's follower; how many, in the list."""
    stop, written = threading.Event(), [0]

    def again() -> None:
        while not stop.wait(WRITE_SECONDS):
            if not engine.store.change_log.pending_document_count():
                try:
                    written[0] += engine.store.change_log.enqueue_all()
                except PlumblineError:
                    continue

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield written
    finally:
        stop.set()
        thread.join()


def ledger_figures(engine: Engine) -> Iterator[Figure]:
    """What the index holds by what the store says that it holds."""
    engine.index.commit()
    ids = list(engine.index.iter_ids())
    ours = {stored.doc_id for stored in engine.store.articles.iter_all()}
    yield Figure(CHAOS, "solr_node", "documents", engine.store.change_log.indexed_document_count())
    yield Figure(CHAOS, "solr_node", "lost", len(ours - set(ids)))
    yield Figure(CHAOS, "solr_node", "duplicates", engine.index.count() - len(set(ids) & ours))


# -- the object store


def object_store_figures(short: bool) -> Iterator[Figure]:
    """What the pages lost."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store, _ = stack.enter_context(object_store(free_port(), folder / "log"))
        make_bucket(store, BUCKET)
        port = free_port()
        said = {**environment(f"http://127.0.0.1:{port}"), "AWS_MAX_ATTEMPTS": "1"}
        stack.enter_context(patch.dict("os.environ", said))
        kept = written_while_cut(folder, store, port, SHORT_PAGES if short else PAGES)
        with way(port, store):
            with WarcArchive(folder / "here", object_store_url=f"s3://{BUCKET}/pages") as again:
                left = again.upload_closed_files()
            yield Figure(CHAOS, "object_store", "pages", len(kept))
            yield Figure(CHAOS, "object_store", "lost", left + unreadable(folder, kept))
            yield Figure(CHAOS, "object_store", "duplicates", records() - len(kept))


def written_while_cut(folder: Path, store: str, port: int, pages: int) -> list[tuple[WarcPointer, str]]:
    """Write pages as a crawl does; in the middle of it the way to the object store is killed for a third of them."""
    kept = []
    archive = WarcArchive(folder / "here", ROTATE_BYTES, object_store_url=f"s3://{BUCKET}/pages")
    with ExitStack() as stack:
        server = stack.enter_context(way(port, store))
        for number in range(pages):
            if number == pages // 3:
                threading.Timer(0.02, server.kill).start()
            if number == 2 * pages // 3:
                server.wait()
                stack.enter_context(way(port, store))
            page = page_of(number)
            kept.append((archive.append_page(page), page.digest))
        archive.close()
    return kept


def page_of(number: int) -> Page:
    """A page that no compression makes small."""
    body = hashlib.shake_256(str(number).encode()).hexdigest(1500).encode()
    url = f"http://a.test/{number}"
    return Page(0, url, url, 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1e9)


def unreadable(folder: Path, kept: Sequence[tuple[WarcPointer, str]]) -> int:
    """How many pages another machine cannot read."""
    bad = 0
    with WarcArchive(folder / "another machine", object_store_url=f"s3://{BUCKET}/pages") as archive:
        for pointer, digest in kept:
            try:
                archive.read_body(pointer, digest)
            except PlumblineError:
                bad += 1
    return bad


def records() -> int:
    """How many pages there are in the bucket."""
    names = WarcObjectStore(f"s3://{BUCKET}/pages").file_sizes()
    return sum(1 for name in names for _ in read_warc(WarcSource(f"s3://{BUCKET}/pages/{name}")))


@contextmanager
def way(port: int, store: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that passes connections on to the object store; killed, it cuts them off."""
    command = [sys.executable, "-m", "benchmarks.tcp_proxy", str(port), store.rpartition(":")[2]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it listens
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@benchmark("scale_search", short=True)
@click.option("--short", is_flag=True, help="Two nodes, one kill.")
def main(short: bool) -> None:
    """The command line, see the module."""
    publish("scale_search", list(measure(short)))


if __name__ == "__main__":
    main()
