"""The parts of `make bench-speed` on a store of generated articles: lexicon stage, index, search, serving, disk.

Stages run in a process of their own, the site is `plumb serve`, and Solr is the embedded one. Vectors of a few articles
are computed; the others get copies of them, because the content of a vector does not change what it costs.
"""

import http.client
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from benchmarks.crawl_ours import cpu_seconds
from benchmarks.generated_articles import ArticleGenerator, GeneratedPage, generate_page
from benchmarks.results import OURS, Figure
from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.vectors import EmbeddingPart
from domain.batches import batched
from domain.errors import PlumblineError
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host
from indexer.embedded_solr import EmbeddedSolr, find_free_port
from pipeline import stages
from pipeline.compute.extraction_jobs import create_copy_detection
from pipeline.embedding.embedding_pool import EmbeddingJob, build_result, passage_text, plan_passages
from pipeline.embedding.models import fetch_models, load_model
from pipeline.engine import Engine
from pipeline.index_stage import force_merge_index
from pipeline.lexicon_stage.sentence_scan import search_articles
from pipeline.progress import NullProgress
from pipeline.runs.run_figures import folder_bytes
from pipeline.settings import load_settings
from solr_client.session import SolrSession, auth_headers
from text.embedding.embedder import pack_vectors

LEXICON, INDEX, SEARCH, SERVE, DISK = "lexicon_stage", "index", "search", "serve", "disk"
PLUMB = Path(sys.executable).with_name("plumb")
TOML = "[index]\nstart_timeout = 600.0\n[search]\ntimeout = 60.0\n"
AT_ONCE = 500
EMBEDDED = 24  # articles of each model whose vectors are computed
WARM_UP = 8  # queries before each measurement
MEANING = "meaning"  # the kind of the figures without a kind: a search as most are
PATIENCE = 600.0
SETTLE_SECONDS = 15.0  # in which a site without changes releases what only indexing needs
TICKS = os.sysconf("SC_CLK_TCK")


class SolrRequest(NamedTuple):
    """A recorded request to Solr."""

    method: str
    path: str
    body: bytes
    content_type: str


def vertical_figures(parts: Sequence[str], articles: int, queries: int) -> Iterator[Figure]:
    """Yield the figures of the chosen `parts` of a new store of this size; `queries` of each kind."""
    with tempfile.TemporaryDirectory() as name:
        config = Path(name) / "vertical.toml"
        config.write_text(TOML)
        fill(config, articles)
        home = config.parent / "data" / "solr"
        with EmbeddedSolr(home, load_settings(config).index) as node:
            yield from stage_figures(parts, config, home, articles)
            if SEARCH in parts:
                yield from search_figures(config, node.url, home, search_queries(articles, queries))
        if SERVE in parts:
            yield from serve_figures(config, search_queries(articles, queries))
        if DISK in parts:
            yield from disk_figures(config.parent / "data", articles)


# -- the store


def fill(config: Path, articles: int) -> None:
    """Put generated articles into the store as if they had been crawled, extracted and embedded."""
    context = get_context("spawn")
    with Engine(load_settings(config), NullProgress()) as engine, ProcessPoolExecutor(mp_context=context) as pool:
        for pages in batched(pool.map(generate_page, range(articles), chunksize=50), AT_ONCE):
            save(engine, pages)
        embed(engine)


def save(engine: Engine, pages: Sequence[GeneratedPage]) -> None:
    """Save pages and their articles."""
    store, articles = engine.store, {one.page.url: one.article for one in pages}
    hosts = [Host(urlsplit(url).netloc) for url in articles]
    store.frontier.add_urls(
        [NewUrl(url, host, 0, 0, UrlKind.UNKNOWN, 0.0) for url, host in zip(articles, hosts, strict=True)]
    )
    entries, fetched = store.frontier.find_entries(list(articles)), Outcome(Reason.FETCHED)
    store.frontier.record_visits(
        [Visit(entries[page.url], fetched, page.fetched_at, None, 86_400.0, page=page) for page, _ in pages]
    )
    pending = list(store.articles.iter_pending(min(entry.url_id for entry in entries.values())))
    extractions = [PageExtraction(page, articles[page.url]) for page in pending]
    store.articles.save(extractions, create_copy_detection(engine.settings.extract))


def embed(engine: Engine) -> None:
    """Give every article vectors."""
    settings, table = engine.settings.embed, engine.store.vectors
    fetch_models(settings, print)
    for spec in engine.configured_models:
        pending, embedder = list(table.iter_pending(spec.model_id, spec.languages)), load_model(spec)
        for part in EmbeddingPart:
            job = EmbeddingJob(spec, part, settings.passages)
            plans = [(text, plan_passages(text, job)) for text in pending[:EMBEDDED]]
            texts = [passage_text(text, passage) for text, passages in plans for passage in passages]
            vectors = iter(pack_vectors(embedder.encode_documents(texts)))
            made = [build_result(text, job, passages, vectors) for text, passages in plans]
            for group in batched(zip(pending, itertools.cycle(made)), AT_ONCE):
                copies = []
                for text, result in group:
                    inside = tuple(vector for vector in result.vectors if vector.end_offset <= len(text.body))
                    copies.append(replace(result, digest=text.digest, vectors=inside))
                table.save(spec.model_id, copies, part)


# -- the stages


def stage_figures(parts: Sequence[str], config: Path, home: Path, articles: int) -> Iterator[Figure]:
    """Yield CPU seconds of the lexicon stage, and CPU milliseconds per document of the index stage and its Solr."""
    seconds = stage_seconds(config, "terms") if {LEXICON, DISK} & {*parts} else 0.0
    before = cpu_of(solr_processes(home))
    ours = stage_seconds(config, "index")
    solr = cpu_of(solr_processes(home)) - before
    if INDEX in parts:
        yield Figure(INDEX, OURS, "cpu_ms_ours", 1000 * ours / articles)
        yield Figure(INDEX, OURS, "cpu_ms_solr", 1000 * solr / articles)
    if seconds:
        seconds += stage_seconds(config, "sentences")
        if LEXICON in parts:
            yield Figure(LEXICON, OURS, "cpu_s", seconds)
    stage_seconds(config, "merge")


def stage_seconds(config: Path, name: str) -> float:
    """Return the CPU seconds of a stage in a process of its own, with its imports."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run_stage, config, name).result()


def run_stage(config: Path, name: str) -> float:
    """Run a stage; return the CPU seconds of this process and its children."""
    with Engine(load_settings(config), NullProgress()) as engine:
        if name == "terms":
            stages.update_lexicon(engine)
        elif name == "sentences":
            search_articles(engine, with_index=True)
        elif name == "merge":
            force_merge_index(engine)
        else:
            stages.index(engine)
    return cpu_seconds()


# -- search and serving


def search_queries(articles: int, count: int) -> Mapping[str, list[str]]:
    """Return queries of words that an article repeats, by kind: with an operator, plain, and as a question."""
    found: dict[str, list[str]] = {"words": [], MEANING: [], "question": []}
    for number in range(2 * (count + WARM_UP)):
        generator = ArticleGenerator(number * 37 % articles)
        one, two, three, four, five, six = generator.topic_words[:6]
        space = generator.vocabulary.space
        found["words"].append(f'"{one}" {two}')
        found[MEANING].append(f"{three}{space}{four}")
        found["question"].append(f"why does {five} {six}?" if generator.is_english else f"{five}为什么{six}？")
    return found


def search_figures(config: Path, solr: str, home: Path, queries: Mapping[str, list[str]]) -> Iterator[Figure]:
    """Yield requests to Solr per results page, its time, its ratio to the slowest of its requests alone, and CPU.

    One client. The requests are recorded first, by a proxy. Pages and requests are then measured in turns, each time
    with empty caches of Solr.
    """
    recorded: dict[str, list[SolrRequest]] = {}
    with recording_proxy(solr) as (proxy, seen), served(config, proxy) as (site, _):
        for kind, texts in queries.items():
            for text in texts:
                seen.clear()
                page_seconds(site, text)
                recorded[text] = list(seen)
            yield Figure(SEARCH, OURS, f"requests_{kind}", statistics.median(len(recorded[text]) for text in texts))
    pages: dict[str, list[float]] = {kind: [] for kind in queries}
    slowest: dict[str, list[float]] = {kind: [] for kind in queries}
    cpu = {"cpu_ms": 0.0, "cpu_ms_solr": 0.0}
    with served(config) as (site, server):
        for turn in range(2):
            halves = {kind: texts[turn::2] for kind, texts in queries.items()}
            empty_caches(config, solr)
            warm_up = [text for texts in halves.values() for text in texts[:WARM_UP]]
            for text in warm_up:
                page_seconds(site, text)
            web, java = cpu_of(web_processes(server)), cpu_of(solr_processes(home))
            for kind, texts in halves.items():
                pages[kind] += [page_seconds(site, text) for text in texts[WARM_UP:]]
            cpu["cpu_ms"] += 1000 * (cpu_of(web_processes(server)) - web)
            cpu["cpu_ms_solr"] += 1000 * (cpu_of(solr_processes(home)) - java)
            empty_caches(config, solr)
            for text in warm_up:
                request_seconds(solr, recorded[text])
            for kind, texts in halves.items():
                slowest[kind] += [max(request_seconds(solr, recorded[text])) for text in texts[WARM_UP:]]
    for name, milliseconds in cpu.items():
        yield Figure(SEARCH, OURS, name, milliseconds / sum(map(len, pages.values())))
    for kind in queries:
        page, request = (1000 * statistics.median(found[kind]) for found in (pages, slowest))
        for suffix in (f"_{kind}", *([""] if kind == MEANING else [])):
            yield Figure(SEARCH, OURS, f"p50_ms{suffix}", page)
            yield Figure(SEARCH, "slowest solr request", f"p50_ms{suffix}", request)
            yield Figure(SEARCH, OURS, f"ratio_solr{suffix}", page / request)


def serve_figures(config: Path, queries: Mapping[str, list[str]]) -> Iterator[Figure]:
    """Yield the proportional memory of all processes of the site, after some searches, and the part of each kind."""
    with served(config) as (site, server):
        for texts in queries.values():
            for text in texts[: 2 * WARM_UP]:
                page_seconds(site, text)
        time.sleep(SETTLE_SECONDS)
        tree, web = descendants(server), web_processes(server)
        java = [pid for pid in tree if "solr.solr.home" in command_line(pid)]
        yield Figure(SERVE, OURS, "pss_mb", sum(map(pss_megabytes, tree)))
        for name, pids in {"serve": [server], "web": web, "solr": java}.items():
            yield Figure(SERVE, OURS, f"pss_mb_{name}", sum(map(pss_megabytes, pids)))


@contextmanager
def served(config: Path, solr: str = "") -> Iterator[tuple[str, int]]:
    """Run `plumb serve`, on another Solr if it is given; yields its URL and process id when it can search."""
    port = find_free_port()
    environment = {**os.environ, **({"PLUMB_INDEX_SOLR_URL": solr} if solr else {})}
    command = [str(PLUMB), "-c", str(config), "serve", "--port", str(port)]
    site, until = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            while not is_ready(site):
                if time.monotonic() > until or server.poll() is not None:
                    raise PlumblineError("the search site did not start")
                time.sleep(0.2)
            yield site, server.pid
        finally:
            server.terminate()


def is_ready(site: str) -> bool:
    """Return True if the site can search."""
    with suppress(OSError, http.client.HTTPException):
        return exchange(site, SolrRequest("GET", "/healthz", b"", ""))[0] == http.client.OK
    return False


def page_seconds(site: str, text: str) -> float:
    """Return the seconds of a results page."""
    started = time.perf_counter()
    status, _, _ = exchange(site, SolrRequest("GET", f"/search?{urlencode({'q': text})}", b"", ""))
    if status != http.client.OK:
        raise PlumblineError(f"the page of {text!r} has status {status}")
    return time.perf_counter() - started


def request_seconds(solr: str, requests: Sequence[SolrRequest]) -> list[float]:
    """Return the seconds of each request, sent one after another."""
    seconds = []
    for request in requests:
        started = time.perf_counter()
        exchange(solr, request)
        seconds.append(time.perf_counter() - started)
    return seconds


def exchange(url: str, request: SolrRequest) -> tuple[int, str, bytes]:
    """Send a request to the server of `url`; returns status, content type and body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        headers = {**auth_headers(url), **({"Content-Type": request.content_type} if request.content_type else {})}
        connection.request(request.method, request.path, request.body or None, headers)
        response = connection.getresponse()
        return response.status, response.headers.get("Content-Type", ""), response.read()
    finally:
        connection.close()


@contextmanager
def recording_proxy(solr: str) -> Iterator[tuple[str, list[SolrRequest]]]:
    """Yield the URL of a proxy before Solr, and the list of the queries that it passes on."""
    seen: list[SolrRequest] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = SolrRequest(self.command, self.path, body, self.headers.get("Content-Type", ""))
            if urlsplit(self.path).path.endswith(("/select", "/query", "/get")):
                seen.append(request)
            status, content_type, answer = exchange(solr, request)
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = pass_on

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/solr", seen
        server.shutdown()


def empty_caches(config: Path, solr: str) -> None:
    """Empty Solr's caches of queries and filters."""
    collection = load_settings(config).index.collection
    with SolrSession(solr, PATIENCE) as session:
        name = session.cluster_status().get("aliases", {}).get(collection, collection)
        session.request_json("admin/collections", {"action": "RELOAD", "name": name})


# -- processes and disk


def descendants(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            children.setdefault(int(stat_fields(path)[1]), []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def stat_fields(path: Path) -> list[str]:
    """Return the fields of /proc/PID/stat after the name: state, parent ..."""
    return path.read_text().rpartition(")")[2].split()


def cpu_of(pids: Sequence[int]) -> float:
    """Return the CPU seconds of some processes."""
    rows = [stat_fields(Path(f"/proc/{pid}/stat")) for pid in pids]
    return sum(int(row[11]) + int(row[12]) for row in rows) / TICKS


def command_line(pid: int) -> str:
    """Return the command line of a process; "" if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


def web_processes(server: int) -> list[int]:
    """Return gunicorn and its workers."""
    return [pid for pid in descendants(server) if "gunicorn" in command_line(pid)]


def solr_processes(home: Path) -> list[int]:
    """Return the Java process of the Solr in `home`."""
    marks = f"solr.solr.home={home.absolute()}", "XmlConfiguration"
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    lines = {pid: command_line(pid) for pid in pids}
    return [pid for pid, line in lines.items() if all(mark in line for mark in marks) and "supervisor" not in line]


def pss_megabytes(pid: int) -> float:
    """Return the proportional memory of a process: its own, and its part of what it shares with others."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def disk_figures(data: Path, articles: int) -> Iterator[Figure]:
    """Yield the kilobytes per article in the data folder, without WARC files, and of each part."""
    sizes = dict.fromkeys(("store", "solr", "lexicon", "warc", "other"), 0.0)
    for path in data.iterdir():
        name = "store" if path.name.startswith("store.db") else path.name
        size = folder_bytes(path) if path.is_dir() else 512 * path.stat().st_blocks
        sizes[name if name in sizes else "other"] += size / 1000 / articles
    yield Figure(DISK, OURS, "kb_per_article", sum(sizes.values()) - sizes["warc"])
    yield from (Figure(DISK, OURS, f"kb_{name}", size) for name, size in sizes.items())
