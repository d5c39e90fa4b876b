"""Search under load: the set `load` of `make bench-search`.

Compares the site as served by gunicorn with the bare Solr query that each results page is built on (ranking and order,
ten ids, no facets, no highlighting). The same 1, 8 and 32 clients use both in turns. A turn is a results page, and the
suggestions for the first half of the query. The page is measured with keywords only, and with hybrid search; then every
article has a vector, which belongs to another text, because this does not affect the time.

    p95_ratio          95th percentile of the keyword page relative to the bare query, the worst of the three numbers of
                       clients
    meaning_p95_ratio  that of the hybrid page relative to the keyword page, the worst of the three
    errors             responses without status 200, of pages, suggestions and bare queries together
    nrt_p95_s          seconds from Solr's acknowledgement until a search finds the document, during other writes
"""

import http.client
import itertools
import json
import math
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from benchmarks.results import Figure
from benchmarks.search_data import Document
from benchmarks.search_meaning import SETTINGS, vectors_of
from benchmarks.search_systems import OURS, TIMEOUT
from docstore.articles.vectors import ARTICLE_PASSAGE_NUMBER, EmbeddingResult, PassageVector
from domain.batches import batched
from domain.outcome import Outcome, Reason
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.settings import IndexSettings
from indexer.solr_index import CommitWithin, SolrIndex
from pipeline.embedding.models import configured_models, fetch_models
from pipeline.embedding.settings import DEFAULT_MODEL, MODEL_OFF, EmbedSettings
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite
from pipeline.settings import Settings
from search_ui.query.display_text import normalize_query
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import Thesaurus, segment_query
from search_ui.query.ranking import parse_work_boosts, works_params
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import SolrSearchClient
from search_ui.query.solr_query import Params, select_params
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from solr_client.session import auth_headers
from text.embedding.model_spec import ModelSpec
from text.segment import base_segmenter

LOAD = "load"
DOCUMENTS = 100_000
CLIENTS = (1, 8, 32)
REQUESTS = 600  # of each kind, at each number of clients
QUERIES = 1000  # more than the site remembers the vectors of
WARM_UP = 300
VECTORS = 5000  # texts whose vectors the articles have
SENDERS = 2
NRT_BATCHES, NRT_BATCH = 60, 20
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Request:
    """A client request: a URL below the server's, and for a POST its body."""

    path: str
    body: str = ""


@dataclass(frozen=True)
class Measured:
    """Sorted milliseconds of the successful responses, and the number of failures."""

    ms: Sequence[float]
    errors: int

    @property
    def p95(self) -> float:
        """Return the 95th percentile; NaN without responses."""
        return self.ms[math.ceil(0.95 * len(self.ms)) - 1] if self.ms else math.nan


@dataclass(frozen=True)
class Sites:
    """The URLs of one site that is served twice: keywords only, and with its defaults."""

    words: str
    meaning: str


def load_figures(
    url: str, documents: Sequence[Document], queries: Sequence[str], sample: Sequence[Document]
) -> Iterator[Figure]:
    """Yield all figures of the set; the vectors are those of `sample`.

    `url` is the URL of a Solr; the benchmark's collection is deleted from it afterwards.
    """
    analysis = TextAnalysis(Lexicon(), base_segmenter(), base_segmenter())
    spec, vectors = sample_vectors(sample)
    index = SolrIndex(url, LOAD, TIMEOUT)
    index.ensure_collection()
    try:
        write(index, documents, analysis, itertools.cycle({spec.model_id: one} for one in vectors))
        yield Figure(LOAD, OURS, "documents", index.count())
        with served(url, MODEL_OFF) as words, served(url, DEFAULT_MODEL, (spec, vectors[0])) as meaning:
            asked = [query for query in queries if query][:QUERIES]
            yield from clients_figures(Sites(words, meaning), url, asked, analysis)
        yield Figure(LOAD, OURS, "nrt_p95_s", searchable_after(index, documents, analysis))
    finally:
        index.delete_all()


def sample_vectors(sample: Sequence[Document]) -> tuple[ModelSpec, list[bytes]]:
    """Return the default model for the language of some documents, and their vectors."""
    fetch_models(SETTINGS, print)
    spec = configured_models(SETTINGS, Path())[0]
    stored = [document.stored(LOAD) for document in sample[:VECTORS]]
    made = vectors_of(stored, spec)
    return spec, [made[one.article.digest] for one in stored if made.get(one.article.digest)]


def write(
    index: SolrIndex, documents: Sequence[Document], analysis: TextAnalysis, vectors: Iterator[Mapping[str, bytes]]
) -> None:
    """Index the documents like a run, but without a store. At the end of a run an index of this size is merged
    (`pipeline.index_stage.force_merge_index`).
    """
    with ThreadPoolExecutor(SENDERS) as pool:
        for group in batched(batched(documents, IndexSettings().batch), 4 * SENDERS):
            made = (
                [to_solr_document(document.stored(LOAD), analysis, next(vectors)) for document in batch]
                for batch in group
            )
            for sent in [pool.submit(index.add, batch, CommitWithin.LATER) for batch in made]:
                sent.result()
    index.commit(soft=False)
    index.optimize()


@contextmanager
def served(solr_url: str, model: str, known: tuple[ModelSpec, bytes] | None = None) -> Iterator[str]:
    """Serve the site on this Solr collection; yields its URL. With a `known` vector the store reports that articles
    have vectors.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            Path(folder),
            index=IndexSettings(solr_url=solr_url, collection=LOAD),
            search=SearchSettings(port=0, timeout=10.0),
            embed=EmbedSettings(model=model),
        )
        with Engine(settings, NullProgress()) as engine:
            if known is not None:
                spec, vector = known
                whole = EmbeddingResult(
                    "0" * 64, (PassageVector(ARTICLE_PASSAGE_NUMBER, 0, 0, vector),), Outcome(Reason.EMBEDDED)
                )
                engine.store.vectors.save(spec.model_id, [whole])
            with SearchSite(engine) as site:
                yield site.url


def clients_figures(sites: Sites, solr: str, queries: Sequence[str], analysis: TextAnalysis) -> Iterator[Figure]:
    """Yield 95th percentiles and their ratios for each number of clients; each client has other queries."""
    client, rounds = SolrSearchClient(solr, LOAD, TIMEOUT), itertools.cycle(queries)
    for server, requests in kinds(sites, solr, list(itertools.islice(rounds, WARM_UP)), client, analysis).values():
        measured(server, requests, 2)  # warm
    worst, errors = {"p95_ratio": 0.0, "meaning_p95_ratio": 0.0}, 0
    for clients in CLIENTS:
        asked = kinds(sites, solr, list(itertools.islice(rounds, REQUESTS)), client, analysis)
        found = {kind: measured(server, requests, clients) for kind, (server, requests) in asked.items()}
        errors += sum(one.errors for one in found.values())
        for kind, one in found.items():
            yield Figure(LOAD, OURS, f"{kind}_p95_ms_{clients}", one.p95)
        ratios = {
            "p95_ratio": found["page"].p95 / found["bare"].p95,
            "meaning_p95_ratio": found["meaning"].p95 / found["page"].p95,
        }
        for name, ratio in ratios.items():
            yield Figure(LOAD, OURS, f"{name}_{clients}", ratio)
            worst[name] = max(worst[name], ratio)
    for name, ratio in worst.items():
        yield Figure(LOAD, OURS, name, ratio)
    yield Figure(LOAD, OURS, "errors", errors)


def kinds(
    sites: Sites, solr: str, queries: Sequence[str], client: SolrSearchClient, analysis: TextAnalysis
) -> Mapping[str, tuple[str, Sequence[Request]]]:
    """Return the requests for each query, by kind: the server, and the requests."""
    pages = [Request(f"/search?{urlencode({'q': query})}") for query in queries]
    bare = [Request(f"/solr/{LOAD}/select", urlencode(bare_query(query, client, analysis))) for query in queries]
    typed = [Request(f"/suggest?{urlencode({'q': half(query)})}") for query in queries]
    return {
        "bare": (solr, bare),
        "page": (sites.words, pages),
        "meaning": (sites.meaning, pages),
        "suggest": (sites.words, typed),
    }


def half(text: str) -> str:
    """Return the text in the search box while the query is being typed."""
    return text[: max(1, len(text) // 2)]


def bare_query(text: str, client: SolrSearchClient, analysis: TextAnalysis) -> Params:
    """Return the ranking query of a search, without the other parts of the page."""
    asked = SearchRequest(raw_query=text, text=normalize_query(text, SearchSettings().longest_query))
    words = segment_query(asked, analysis.domain_segmenter, analysis.base_segmenter, Thesaurus())
    if works := works_params(words, asked.profile):
        words = replace(words, work_boosts=parse_work_boosts(client.select(works), asked.profile))
    plan = QueryPlan(asked, words)
    return select_params(plan.ranking, plan.filter_queries, 10, [solr_fields.ID], f"score desc,{solr_fields.ID} asc")


def measured(server: str, requests: Sequence[Request], clients: int) -> Measured:
    """Send all `requests` with the given number of concurrent clients, each with its own connection."""
    waiting, auth = iter(requests), auth_headers(server)
    taking = threading.Lock()
    seconds: list[float] = []
    errors: list[Request] = []

    def client() -> None:
        host = urlsplit(server)
        connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=60)
        while True:
            with taking:
                request = next(waiting, None)
            if request is None:
                break
            started = time.perf_counter()
            if answered(connection, request, auth):
                seconds.append(time.perf_counter() - started)
            else:
                errors.append(request)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Measured(sorted(1000 * second for second in seconds), len(errors))


def answered(connection: http.client.HTTPConnection, request: Request, auth: Mapping[str, str]) -> bool:
    """Send a request. Returns True for status 200; after a broken connection the next request opens a new one."""
    try:
        headers = {**auth, **(FORM if request.body else {})}
        connection.request("POST" if request.body else "GET", request.path, request.body or None, headers)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        connection.close()
        return False
    return response.status == http.client.OK


def searchable_after(index: SolrIndex, documents: Sequence[Document], analysis: TextAnalysis) -> float:
    """Return the 95th percentile of the seconds until an acknowledged document is found, while batches are written."""
    waits: list[float] = []
    watching: list[threading.Thread] = []
    for number, batch in enumerate(itertools.islice(batched(itertools.cycle(documents), NRT_BATCH), NRT_BATCHES)):
        fresh = [
            Document(f"nrt{number}-{place}", document.title, document.text) for place, document in enumerate(batch)
        ]
        index.add([to_solr_document(document.stored(LOAD), analysis) for document in fresh])
        last = fresh[-1].stored(LOAD).doc_id
        watching.append(threading.Thread(target=lambda name=last: waits.append(wait_for(index, name))))
        watching[-1].start()
    for thread in watching:
        thread.join()
    return sorted(waits)[math.ceil(0.95 * len(waits)) - 1]


def wait_for(index: SolrIndex, doc_id: str) -> float:
    """Return the seconds until a search finds the document."""
    started = time.perf_counter()
    host = urlsplit(index.base_url)
    connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=60)
    body = urlencode({"q": f"{{!term f={solr_fields.ID} v=$id}}", "id": doc_id, "rows": 0})
    while True:
        connection.request("POST", f"/solr/{LOAD}/select", body, FORM | auth_headers(index.base_url))
        if json.loads(connection.getresponse().read())["response"]["numFound"]:
            connection.close()
            return time.perf_counter() - started
        time.sleep(0.02)
