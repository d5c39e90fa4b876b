"""What the site costs for what readers and editors keep in it: `make bench-readers [ARGS='--parts curation']`.

    curation   searches with 1,000 rules of editors beside the same searches without rules, alternating
    follow     what followers miss or get twice over kills and restores; 10,000 followed searches on 5,000 new articles

Each part is a set of the figures. Every search of `curation` has two rules: the rules concern as many queries as half
their number.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.command import benchmark, names
from benchmarks.generated_articles import ArticleGenerator, generate_page
from benchmarks.readers_follow import measure_follow
from benchmarks.results import OURS, Figure, publish
from docstore.store import Store, open_sqlite_store
from domain.article import StoredArticle, document_id
from domain.curation import CurationAction
from domain.errors import PlumblineError
from domain.page import Host
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from search_ui.query.curation import Curation, CurationCache
from search_ui.query.query_words import Thesaurus
from search_ui.query.search import SearchService
from search_ui.query.search_request import CursorCodec, SearchRequest
from search_ui.query.solr_client import SolrSearchClient
from search_ui.settings import SearchSettings
from text.segment import base_segmenter

PARTS = ("curation", "follow")
COLLECTION = "readers"
ARTICLES, RULES, RULES_PER_QUERY = 400, 1_000, 2
SEARCHES, WARM_UP = 320, 20
WITHOUT_RULES = "without rules"


class NoVectors:
    """Semantic search is off: its models would hide what the rules cost."""

    def query_vector(self, text: str) -> None:
        """Return no vector."""


@benchmark("readers", searches=10, followed=20, kills=2)
@click.option("--parts", default="curation,follow", callback=names, help="Only these parts, comma-separated.")
@click.option("--searches", default=SEARCHES, type=click.IntRange(2, RULES // RULES_PER_QUERY), show_default=True)
@click.option("--followed", default=10_000, type=click.IntRange(2), show_default=True, help="Followed searches.")
@click.option("--kills", default=30, type=click.IntRange(1), show_default=True, help="Killed deliveries.")
def main(parts: list[str], searches: int, followed: int, kills: int) -> None:
    """Measure the chosen parts."""
    if unknown := set(parts) - {*PARTS}:
        raise PlumblineError(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    figures: list[Figure] = []
    try:
        for part in parts:
            figures += measure_follow(followed, kills) if part == "follow" else measure_curation(searches)
    finally:
        publish("readers", figures)  # also the figures of an interrupted run


def measure_curation(searches: int) -> Iterator[Figure]:
    """Yield the 95th percentile of the time of a search with and without rules, in milliseconds, and their ratio."""
    queries = [" ".join(ArticleGenerator(number).topic_words[:2]) for number in range(RULES // RULES_PER_QUERY)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with EmbeddedSolr(folder / "solr", IndexSettings(start_timeout=600.0)) as node:
            doc_ids = index_articles(node.url)
            solr = SolrSearchClient(node.url, COLLECTION, timeout=60.0)
            with open_sqlite_store(folder / "curated") as curated, open_sqlite_store(folder / "empty") as empty:
                save_rules(curated, queries, doc_ids)
                services = {OURS: search_service(solr, curated), WITHOUT_RULES: search_service(solr, empty)}
                seconds: dict[str, list[float]] = {system: [] for system in services}
                for n, query in enumerate(queries[:WARM_UP] + queries[:searches]):
                    order = list(services) if n % 2 else list(services)[::-1]
                    for system in order:
                        started = time.perf_counter()
                        services[system].search(SearchRequest(raw_query=query, text=query))
                        seconds[system] += [time.perf_counter() - started] * (n >= WARM_UP)
    p95 = {system: 1000 * statistics.quantiles(values, n=20)[-1] for system, values in seconds.items()}
    for system, value in p95.items():
        yield Figure("curation", system, "p95_ms", value)
    yield Figure("curation", OURS, "p95_ratio", p95[OURS] / p95[WITHOUT_RULES])


def index_articles(solr_url: str) -> list[str]:
    """Index generated articles and return their ids."""
    index, analysis = (
        SolrIndex(solr_url, COLLECTION, 120.0),
        TextAnalysis(Lexicon(), base_segmenter(), base_segmenter()),
    )
    index.ensure_collection()
    articles = [generate_page(number).article for number in range(ARTICLES)]
    ids = [document_id(article.url) for article in articles]
    stored = [
        StoredArticle(n, doc_id, Host(article.url.split("/")[2]), article)
        for n, (doc_id, article) in enumerate(zip(ids, articles, strict=True))
    ]
    index.add([to_solr_document(article, analysis) for article in stored])
    index.commit()
    return ids


def save_rules(store: Store, queries: list[str], doc_ids: list[str]) -> None:
    """Save the rules as an editor does: of all actions, about any articles."""
    create = next(operation for operation in store.curation.operations if operation.name == "curation_create")
    actions = [*CurationAction]
    for n in range(RULES):
        rule = {"query": queries[n % len(queries)], "doc_id": doc_ids[n * 7 % ARTICLES], "reason": "benchmark"}
        action = actions[(n + n // len(queries)) % len(actions)]
        store.operations.run(create, "benchmark", {**rule, "action": action.value})


def search_service(solr: SolrSearchClient, store: Store) -> SearchService:
    """Return a search service that looks up the rules of a store as the site does."""
    settings, cache, thesaurus = SearchSettings(), CurationCache(), Thesaurus()

    def find_curation(request: SearchRequest) -> Curation:
        rules = cache.get_rules(store.curation.revision, store.curation.load_all)
        return rules.curate(request, thesaurus, time.time())

    return SearchService(
        solr,
        base_segmenter(),
        settings,
        CursorCodec(b"benchmark", settings),
        thesaurus,
        NoVectors(),  # type: ignore[arg-type]
        lambda _: False,
        find_curation=find_curation,
    )


if __name__ == "__main__":
    main()
