"""Index and page storage of a cluster while parts of it fail: sets `search` and `chaos` of `make bench-scale`.

    python -m benchmarks.scale_search [--short]

The search site on three Solr nodes (2 shards of 2 replicas) gets 20 requests per second while the index is rewritten
continuously. Each node in turn is killed with -9 and started again. A crawl's WARC files go to an object store that is
cut off with -9 during the crawl (by a proxy in front of moto's server, which would lose its data).

    search  errors_one_node_down   responses without status 200, from the kill until the node is active again, and by
                                   kind: 503 (Solr timeout), ReadTimeout (the site did not respond in a minute) ...
            requests_one_node_down number of requests
            p95_ms_one_node_down   95th percentile of the response time, ms
            ..._all_nodes_up       the same before the first kill: effect of the load without a failure
    chaos   lost, duplicates       of documents (`solr_node`) and of pages (`object_store`), according to the store
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
from benchmarks.local_cluster import LocalSolrCluster
from benchmarks.object_store import environment, make_bucket, object_store
from benchmarks.results import Figure, publish
from docstore.warc_archive import WarcArchive
from docstore.warc_object_store import WarcObjectStore
from docstore.warc_reader import read_warc
from domain.errors import PlumblineError
from domain.page import Page, WarcPointer
from indexer.embedded_solr import find_free_port
from pipeline import stages
from pipeline.demo.site import DemoServer, demo_urls, write_sites
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite
from pipeline.settings import Settings, build_settings
from pipeline.warc_import.sources import WarcSource
from solr_client.session import SolrSession, collection_replicas

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
    """Return all figures of both sets."""
    yield from node_figures(short)
    yield from object_store_figures(short)


# -- Solr nodes


@dataclass
class Answers:
    """Responses that the clients received."""

    ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def p95(self) -> float:
        """Return the 95th percentile of successful responses in ms; NaN if there are none."""
        return sorted(self.ms)[math.ceil(0.95 * len(self.ms)) - 1] if self.ms else math.nan

    def figures(self, when: str) -> Iterator[Figure]:
        """Yield the number of requests, the errors by kind, and the response times."""
        yield Figure(SEARCH, OURS, f"requests_{when}", len(self.ms) + self.errors.total())
        yield Figure(SEARCH, OURS, f"errors_{when}", self.errors.total())
        for kind, count in sorted(self.errors.items()):
            yield Figure(SEARCH, OURS, f"errors_{when}: {kind}", count)
        yield Figure(SEARCH, OURS, f"p95_ms_{when}", self.p95)

    def ask(self, url: str, query: str) -> None:
        """Send one search as a browser does."""
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
    """Yield the set `search`, and the loss of the index."""
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
                    until_whole(cluster)  # otherwise the next kill could leave a shard without a replica
        said = causes(engine.settings.data_dir / "logs" / "plumb.log")
        yield from before.figures("all_nodes_up")
        yield from answers.figures("one_node_down")
        for cause, count in said.most_common(CAUSES):
            yield Figure(SEARCH, OURS, f"503 because: {cause}", count)
        yield Figure(CHAOS, "solr_node", "documents_written", written[0])
        stages.index(engine)
        yield from ledger_figures(engine)


def until_whole(cluster: LocalSolrCluster) -> None:
    """Wait until every replica of every shard is active again, as before a kill."""
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
    """Return the causes of failed responses from the site's log: messages without URLs and numbers."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    texts = (line.partition("Solr")[2] for line in lines if "Solr" in line and "warning" in line.lower())
    return Counter(re.sub(r"https?://[^ ,]+|[0-9a-f]*[0-9][0-9a-f.]*", "#", text)[:LONGEST_CAUSE] for text in texts)


@contextmanager
def indexed_demo(folder: Path, cluster: LocalSolrCluster) -> Iterator[Engine]:
    """Index the demo's articles in several shards."""
    write_sites(folder / "sites")
    with (
        DemoServer(folder / "sites", 0) as server,
        Engine(settings_of(folder, cluster, server.port), NullProgress()) as engine,
    ):
        for stage in (stages.crawl, stages.extract, stages.index):
            stage(engine)
        yield engine


def settings_of(folder: Path, cluster: LocalSolrCluster, port: int) -> Settings:
    """Return the demo's vertical on this cluster."""
    seeds = demo_urls(port)
    hosts = [seed.split("/")[2] for seed in seeds]
    crawl = {"seeds": seeds, "depth": 6, "delay": 0.002, "per_host": 4, "inside_hosts": hosts}
    index = {"solr_url": cluster.solr_url, "shards": SHARDS, "replicas": REPLICAS}
    search = {"port": 0, "timeout": 30.0}
    return build_settings({"crawl": crawl, "index": index, "search": search, "embed": {"model": "off"}}, folder)


@contextmanager
def asking(url: str, answers: Answers) -> Iterator[None]:
    """Send searches at `RATE`, even if earlier ones are not answered yet."""
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
    """Rewrite all documents to the index continuously, with the site's follower; the list counts them."""
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
    """Compare the index with the store's record of indexed documents."""
    engine.index.commit()
    ids = list(engine.index.iter_ids())
    ours = {stored.doc_id for stored in engine.store.articles.iter_all()}
    yield Figure(CHAOS, "solr_node", "documents", engine.store.change_log.indexed_document_count())
    yield Figure(CHAOS, "solr_node", "lost", len(ours - set(ids)))
    yield Figure(CHAOS, "solr_node", "duplicates", engine.index.count() - len(set(ids) & ours))


# -- the object store


def object_store_figures(short: bool) -> Iterator[Figure]:
    """Yield the loss of pages."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store, _ = stack.enter_context(object_store(find_free_port(), folder / "log"))
        make_bucket(store, BUCKET)
        port = find_free_port()
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
    """Write pages as a crawl does, and cut the connection to the object store during the middle third."""
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
    """Return a page that does not compress well."""
    body = hashlib.shake_256(str(number).encode()).hexdigest(1500).encode()
    url = f"http://a.test/{number}"
    return Page(0, url, url, 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1e9)


def unreadable(folder: Path, kept: Sequence[tuple[WarcPointer, str]]) -> int:
    """Count the pages that another machine cannot read."""
    bad = 0
    with WarcArchive(folder / "another machine", object_store_url=f"s3://{BUCKET}/pages") as archive:
        for pointer, digest in kept:
            try:
                archive.read_body(pointer, digest)
            except PlumblineError:
                bad += 1
    return bad


def records() -> int:
    """Count the pages in the bucket."""
    names = WarcObjectStore(f"s3://{BUCKET}/pages").file_sizes()
    return sum(1 for name in names for _ in read_warc(WarcSource(f"s3://{BUCKET}/pages/{name}")))


@contextmanager
def way(port: int, store: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a proxy process for connections to the object store; killing it cuts them off."""
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
    """Run the command line, see the module docstring."""
    publish("scale_search", list(measure(short)))


if __name__ == "__main__":
    main()
