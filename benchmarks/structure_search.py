"""The set `search` of `make bench-structure`: the Solr requests of a first results page, and its time.

    requests_words      median number of Solr requests of a page, semantic search off
    requests_meaning    the same with semantic search, queries that are no questions
    requests_question   the same, questions
    p50_ratio           median time of a page with semantic search, relative to commit `BASELINE` on the same index

Ordinary queries are measured: they have more full matches than `MAX_HITS_FOR_SUGGESTIONS` and no spelling suggestion,
which would add requests, and the index has no works (documents in several parts), which add one.

Both commits serve the same index, `BASELINE` from a temporary git worktree; each has a store of its own. Each query is
sent to both, one after the other, so other load on the machine affects both.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import requests
from flask import Flask

from benchmarks.results import SHARED
from benchmarks.search_data import Document, load_collections, load_scorer
from benchmarks.search_meaning import SETTINGS, vectors_of
from benchmarks.search_partial import small_sample
from domain.errors import PlumblineError
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from pipeline.embedding.models import configured_models, fetch_models
from pipeline.embedding.settings import MODEL_OFF
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import load_settings
from search_ui.query.semantic.questions import is_question
from search_ui.query.solr_client import SolrBackend, SolrResponse
from search_ui.query.solr_query import Params
from search_ui.spelling.did_you_mean import MAX_HITS_FOR_SUGGESTIONS
from text.segment import base_segmenter

SET = "search"
BASELINE = "4c659b1ceffac59d5ad80ab79f05f411163b0cab"  # the commit before the requests were merged
ROOT = Path(__file__).resolve().parents[1]
STORE_SCRIPT = Path(__file__).with_name("structure_search_store.py")
COLLECTIONS = ("zh_papers", "zh_web")
NAME = "structure_search"
WARM_UP_ROUNDS, TIMED_ROUNDS = 1, 5
MAX_TIMED_QUERIES = 40
START_SECONDS, STOP_SECONDS, PAGE_SECONDS = 120.0, 20.0, 60.0
POLL_SECONDS = 0.2
QUIET_SECONDS = 2.0


class CountingBackend:
    """Counts the requests to a search server."""

    def __init__(self, backend: SolrBackend) -> None:
        self._backend = backend
        self.count = 0

    def select(self, params: Params) -> SolrResponse:
        """Send and count a request."""
        self.count += 1
        return self._backend.select(params)


def rows(data: Path = SHARED) -> list[tuple[str, str, float]]:
    """Return set, metric and value of each figure.

    Raises:
        PlumblineError: `data` has no collections, git does not have `BASELINE`, or a site does not start.
    """
    scorer = load_scorer(data)
    collections = load_collections(data, scorer, COLLECTIONS)
    samples = [small_sample(one) for one in collections]
    if not samples:
        raise PlumblineError(f"no collections in {data}: give DATA=DIR, a folder of the form of ../shared/data")
    documents = [document for one in samples for document in one.documents]
    questions = [text for one in collections for _, text in one.queries if is_question(text)]
    others = [text for one in samples for _, text in one.queries if not is_question(text)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, ExitStack() as stack:
        folder = Path(name)
        solr = stack.enter_context(EmbeddedSolr(folder / "solr-home", IndexSettings(solr_heap="512m")))
        model_id, vector = _fill_index(solr.url, documents)
        config = _create_vertical(ROOT, folder / "now", solr.url, model_id, vector)
        figures = {
            "requests_words": _median_requests(config, [*others, *questions], {"embed.model": MODEL_OFF}),
            "requests_meaning": _median_requests(config, others),
            "requests_question": _median_requests(config, questions),
        }
        timed = [*_ordinary_queries(config, others), *_ordinary_queries(config, questions)][:MAX_TIMED_QUERIES]
        baseline = stack.enter_context(_baseline_checkout(folder))
        old_config = _create_vertical(baseline, folder / "before", solr.url, model_id, vector)
        old_url = stack.enter_context(_served(baseline, old_config))
        new_url = stack.enter_context(_served(ROOT, config))
        figures["p50_ratio"] = _time_ratio(old_url, new_url, timed)
    return [(SET, metric, value) for metric, value in figures.items()]


def _fill_index(solr_url: str, documents: Sequence[Document]) -> tuple[str, bytes]:
    """Index the documents with their vectors. Returns the id of the model and one of the vectors."""
    fetch_models(SETTINGS, print)
    spec = configured_models(SETTINGS, Path())[0]
    stored = [document.stored(NAME) for document in documents]
    vectors = vectors_of(stored, spec)
    index, segmenter = SolrIndex(solr_url, NAME, PAGE_SECONDS), base_segmenter()
    index.ensure_collection()
    analysis = TextAnalysis(Lexicon(), segmenter, segmenter)
    index.add([to_solr_document(one, analysis, {spec.model_id: vectors[one.article.digest]}) for one in stored])
    index.commit(soft=False)
    return spec.model_id, vectors[stored[0].article.digest]


def _create_vertical(checkout: Path, folder: Path, solr_url: str, model_id: str, vector: bytes) -> Path:
    """Return the config file of a vertical on this Solr. Its store was created by the code of a checkout."""
    folder.mkdir()
    config, vector_file = folder / "vertical.toml", folder / "vector"
    config.write_text(
        '[vertical]\nname = "Structure"\ndata_dir = "data"\n'
        '[crawl]\ncontact = "bench@localhost.test"\nseeds = ["http://structure.test/"]\n'
        f'[index]\nsolr_url = "{solr_url}"\ncollection = "{NAME}"\n'
        f"[search]\ntimeout = {PAGE_SECONDS}\n",
        "utf-8",
    )
    vector_file.write_bytes(vector)
    command = [sys.executable, str(STORE_SCRIPT), str(config), model_id, str(vector_file)]
    subprocess.run(command, cwd=checkout, env=os.environ | {"PYTHONPATH": str(checkout)}, check=True)
    return config


def _median_requests(config: Path, queries: Sequence[str], flags: dict[str, str] | None = None) -> float:
    """Return the median number of Solr requests of the first page of ordinary queries."""
    return statistics.median(_requests_by_query(config, queries, flags).values())


def _ordinary_queries(config: Path, queries: Sequence[str]) -> list[str]:
    return list(_requests_by_query(config, queries))


def _requests_by_query(config: Path, queries: Sequence[str], flags: dict[str, str] | None = None) -> dict[str, int]:
    """Return the number of Solr requests of the first page of each ordinary query."""
    counts = {}
    with Engine(load_settings(config, flags), NullProgress()) as engine:
        app = create_search_app(engine)
        counting = _count_requests(app)
        client = app.test_client()
        client.get("/search", query_string={"q": queries[0]})  # it loads the vocabulary in the background
        _wait_for_background_requests(counting)
        for query in queries:
            before = counting.count
            found = client.get("/api/v1/search", query_string={"q": query}).get_json()
            sent = counting.count - before
            if found["total"] > MAX_HITS_FOR_SUGGESTIONS and not found["offers"]:
                counts[query] = sent
    if not counts:
        raise PlumblineError("no query has more full matches than a query with suggestions")
    return counts


def _wait_for_background_requests(counting: CountingBackend) -> None:
    """Wait until no further request was counted for `QUIET_SECONDS`."""
    before = -1
    while before != counting.count:
        before = counting.count
        time.sleep(QUIET_SECONDS)


def _count_requests(app: Flask) -> CountingBackend:
    site = app.extensions["plumbline"]
    counting = CountingBackend(site.solr)
    app.extensions["plumbline"] = replace(site, solr=counting)
    return counting


@contextmanager
def _baseline_checkout(folder: Path) -> Iterator[Path]:
    """Check `BASELINE` out in a temporary git worktree."""
    checkout = folder / "baseline"
    command = ["git", "worktree", "add", "--detach", str(checkout), BASELINE]
    try:
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PlumblineError(f"commit {BASELINE[:8]} cannot be checked out: {error}") from error
    try:
        yield checkout
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(checkout)], cwd=ROOT, check=False)


@contextmanager
def _served(checkout: Path, config: Path) -> Iterator[str]:
    """Serve the vertical with the code of a checkout; yields the URL of the site."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "pipeline.cli.main", "serve", str(config), "--port", str(port)]
    site = subprocess.Popen(
        command, cwd=checkout, env=os.environ | {"PYTHONPATH": str(checkout)}, stdout=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(url, site)
        yield url
    finally:
        site.send_signal(signal.SIGTERM)
        try:
            site.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            site.kill()
            site.wait()


def _wait_until_ready(url: str, site: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and site.poll() is None:
        try:
            if requests.get(f"{url}/healthz", timeout=PAGE_SECONDS).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(POLL_SECONDS)
    raise PlumblineError(f"the site at {url} did not start (exit status {site.poll()})")


def _time_ratio(old_url: str, new_url: str, queries: Sequence[str]) -> float:
    """Return the median seconds of a page of the new site relative to the old one. Both alternate query by query."""
    seconds: dict[str, list[float]] = {old_url: [], new_url: []}
    with requests.Session() as session:
        session.trust_env = False
        for round_number in range(WARM_UP_ROUNDS + TIMED_ROUNDS):
            for number, query in enumerate(queries):
                for url in (old_url, new_url) if number % 2 else (new_url, old_url):
                    started = time.perf_counter()
                    session.get(f"{url}/search", params={"q": query}, timeout=PAGE_SECONDS).raise_for_status()
                    if round_number >= WARM_UP_ROUNDS:
                        seconds[url].append(time.perf_counter() - started)
    old_ms, new_ms = (1000 * statistics.median(seconds[url]) for url in (old_url, new_url))
    print(f"p50 of a page: {old_ms:.1f} ms before, {new_ms:.1f} ms now", file=sys.stderr)
    return new_ms / old_ms


if __name__ == "__main__":
    for row in rows():
        print(*row)
