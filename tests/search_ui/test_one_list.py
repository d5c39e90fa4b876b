"""Total, pages, facets, export, API and MCP of one query are one list in one order, in a real Solr with vectors."""

import json
import random
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import Article, StoredArticle, document_id
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SolrIndex
from search_ui.query.display_text import truncate_query
from search_ui.query.search_request import page_at
from search_ui.query.semantic.hybrid import QueryVector
from search_ui.query.solr_client import SolrSearchClient
from search_ui.settings import SearchSettings
from tests.site_fixture import BASE, MemorySite, NoQueryVectors, site_app
from tests.solr_fixture import index_at

MODEL, DIMENSIONS = "m", 256
SITES = ("a.example", "b.example", "c.example")
WORDS = ("压裂", "水平井", "产量", "管道", "设备")
LONG_QUESTION = "水平井压裂的产量为什么和管道有关"


def articles() -> Iterator[tuple[StoredArticle, bytes]]:
    """Yield 260 articles with a vector each; most share words, some none."""
    chance = random.Random(5)
    for number in range(260):
        words = [word for word in WORDS if chance.random() < 0.4] if number % 7 else []
        text = "。".join(f"第{number}次说到{word}" * chance.randint(1, 3) for word in words) or f"别的消息{number}"
        url = f"http://{SITES[number % 3]}/{number}"
        vector = bytes(chance.randrange(1, 120) for _ in range(DIMENSIONS))
        yield StoredArticle(number, document_id(url), SITES[number % 3], Article(url, f"新闻{number}", text)), vector


class QueryVectors(NoQueryVectors):
    """The same vector for each query: its neighbours match by words or not, before and behind the first hundred."""

    def query_vector(self, text: str) -> QueryVector:
        return QueryVector(MODEL, f"{MODEL}_v{DIMENSIONS}", tuple(range(1, 120)) * 2 + (7,) * 18, min_cosine=0.2)


@pytest.fixture(scope="module")
def index(solr_node: EmbeddedSolr) -> Iterator[SolrIndex]:
    """Yield an index with `articles`; two modules use it, which run at a time."""
    index = index_at(solr_node.url, f"one_list_{uuid.uuid4().hex[:12]}")
    index.ensure_collection()
    analysis = TextAnalysis(Lexicon(), BASE, BASE)
    assert index.add([to_solr_document(stored, analysis, {MODEL: vector}) for stored, vector in articles()]) == {}
    index.commit()
    yield index
    index.delete_all()


def client_of(
    index: SolrIndex, page_size: int = 10, *, with_meaning: bool = True, site: MemorySite | None = None
) -> FlaskClient:
    settings = SearchSettings(page_size=page_size, base_url="https://s.example/")
    vectors = QueryVectors() if with_meaning else NoQueryVectors()
    search: Any = SolrSearchClient(index.base_url, index.collection, timeout=120.0)
    return site_app(search, site=site, settings=settings, query_vectors=vectors).test_client()


def read_all(client: FlaskClient, query: str, **more: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the first answer of the API, and the hits of all pages in their order."""
    first = answer = client.get("/api/v1/search", query_string={"q": query, **more}).json
    hits = list(answer["hits"])
    while answer["next"]:
        answer = client.get(answer["next"]).json
        assert answer["hits"], "a page that Next leads to has results"
        assert answer["total"] == first["total"]
        hits += answer["hits"]
    return first, hits


pytestmark = pytest.mark.solr
OTHER_QUERIES = (LONG_QUESTION, "压裂", "压裂 产量 管道 设备 水平井", "压裂 量子纠缠")
QUERIES = ["水平井压裂", *(pytest.param(query, marks=pytest.mark.exhaustive) for query in OTHER_QUERIES)]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("with_meaning", [True, False], ids=["meaning", "words"])
@pytest.mark.always
def test_each_matching_document_is_listed_once_in_one_order(index: SolrIndex, query: str, with_meaning: bool) -> None:
    first, hits = read_all(client_of(index, with_meaning=with_meaning), query)
    ids = [hit["id"] for hit in hits]
    assert len(ids) == len(set(ids)) == first["matched"]
    assert sum(not hit["is_partial"] for hit in hits) == first["total"]
    for page_size in (6, 25, 100, 200):
        assert [hit["id"] for hit in read_all(client_of(index, page_size, with_meaning=with_meaning), query)[1]] == ids


@pytest.mark.parametrize("query", QUERIES)
def test_a_full_match_has_every_word_and_leads_the_keywords(index: SolrIndex, query: str) -> None:
    _, hits = read_all(client_of(index), query)
    text_by_id = {stored.doc_id: stored.article.body for stored, _ in articles()}
    words = [word for word in (*WORDS, "量子纠缠") if word in query]
    for hit in hits:
        assert hit["is_partial"] is not all(word in text_by_id[hit["id"]] for word in words)
    if query != LONG_QUESTION:
        flags = [hit["is_partial"] for hit in hits]
        assert flags == sorted(flags)


@pytest.mark.parametrize("query", QUERIES)
def test_the_export_is_the_list(index: SolrIndex, query: str) -> None:
    client = client_of(index)
    first, hits = read_all(client, query)
    title_by_id = {hit["id"]: hit["title"] for hit in hits}
    exports = [
        [item["title"] for item in client.get(f"/api/v1/search?q={query}&format=csl{more}").get_json(force=True)]
        for more in ("", "&related=1")
    ]
    expected = [title_by_id[hit["id"]] for hit in hits[:200] if not (first["total"] and hit["is_partial"])]
    assert exports[0] == expected
    assert exports[1] == [title_by_id[hit["id"]] for hit in hits[:200] if hit["is_partial"]]


@pytest.mark.parametrize("query", QUERIES)
def test_a_facet_counts_what_its_filter_lists(index: SolrIndex, query: str) -> None:
    client = client_of(index, with_meaning=False)
    first, _ = read_all(client, query)
    facets = first["facets"]["sites"]
    assert sum(facet["count"] for facet in facets) == (first["total"] or first["matched"])
    for facet in facets:
        narrowed, hits = read_all(client, query, site=facet["value"])
        assert facet["count"] == (narrowed["total"] or len(hits)) > 0


@pytest.mark.parametrize("query", QUERIES)
def test_an_agent_gets_the_first_results_of_the_list(index: SolrIndex, query: str) -> None:
    client = client_of(index)
    hits = client.get("/api/v1/search", query_string={"q": query}).json["hits"]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    message |= {"params": {"name": "search", "arguments": {"query": query}}}
    response = client.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"}).json
    results = json.loads(response["result"]["content"][0]["text"])["results"]
    assert [result["id"] for result in results] == [hit["id"] for hit in hits[:6]]


def test_the_page_of_a_rank_lists_it(index: SolrIndex) -> None:
    client, query = client_of(index), "水平井压裂"
    _, hits = read_all(client, query)
    for rank in (1, 10, 11, 57, 100):
        page = client.get("/search", query_string={"q": query, "page": page_at(rank, 10)}).text
        link = BeautifulSoup(page, "lxml").select("ol.hits h2 a")[(rank - 1) % 10]
        assert link["href"] == hits[rank - 1]["url"]


def test_links_repeat_the_query_as_it_was_searched(index: SolrIndex) -> None:
    query = "压裂 " + " ".join(f"word{n}" for n in range(200))
    page = BeautifulSoup(client_of(index).get("/search", query_string={"q": query}).text, "lxml")
    links = [str(link["href"]) for link in page.select("a.kept")]
    searched = truncate_query(query, SearchSettings().longest_query)
    assert links and {parse_qs(urlsplit(link).query)["q"][0] for link in links} == {searched}
