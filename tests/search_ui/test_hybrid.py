"""Quotations above the hits and related articles by vectors, with a real Solr and the real Chinese model over HTTP."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import Article, StoredArticle, document_id
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from pipeline.embedding.models import configured_models, fetch_models, load_model
from pipeline.embedding.settings import EmbedSettings
from pipeline.search_site.query_vectors import compute_text_cosines
from search_ui.query.ranking import WORK_PARTS_QUERY
from search_ui.query.semantic.hybrid import QueryVector
from search_ui.query.solr_client import SolrResponse, SolrSearchClient
from search_ui.query.solr_query import Params
from solr_client.solr_fields import vector_field_name
from tests.site_fixture import BASE, MemorySite, site_app
from tests.solr_fixture import index_at
from text.embedding.embedder import pack_vectors, quantize
from text.embedding.onnx_model import OnnxEmbedder

pytestmark = pytest.mark.solr

QUESTION = "保管人保管不善造成保管物毁损的，应当承担赔偿责任吗？"
LNG_NOUNS = ("prices", "imports", "exports", "cargoes", "stocks", "contracts")
DEFINITION = "液化天然气（liquefied natural gas，简称LNG）是天然气经净化并冷却到零下162摄氏度后得到的液体。"
ARTICLES = [
    (
        "民法典 第八百九十七条",
        "第一款\n保管期内，因保管人保管不善造成保管物毁损、灭失的，保管人应当承担赔偿责任。",
    ),
    ("办法", "因保管人保管不善<script>alert(1)</script>造成保管物毁损的，保管人赔偿损失。"),
    ("寄存规则", "寄存人应当声明贵重物品，由保管人验收或者封存。"),
    ("治安管理处罚法", "结伙斗殴、追逐他人的，处五日以上十日以下拘留。"),
    ("打架", "两个人打架动手打人，公安机关会怎样处理他们。"),
    ("页岩气", "页岩气水平井压裂技术已经成熟，单井产量上升。"),
    ("天气", "明天多云转晴，最高气温二十度。"),
    *((f"LNG {noun} rise again", f"LNG {noun} at the terminal rose again in May.") for noun in LNG_NOUNS),
    ("接收站", f"接收站去年投入运行。\n{DEFINITION}\n接收站有四座储罐，员工三百人，年接卸能力六百万吨。"),
]


class Known:
    """A model, and the vectors of articles by digest."""

    def __init__(self, model: OnnxEmbedder, kept: Mapping[str, bytes]) -> None:
        self._model, self._kept = model, kept

    def _vector(self, values: Iterable[int]) -> QueryVector:
        model = self._model
        return QueryVector(model.model_id, vector_field_name(model.model_id, model.dimensions), tuple(values), 0.5)

    def query_vector(self, text: str) -> QueryVector | None:
        return self._vector(quantize(self._model.encode_queries([text]))[0].tolist())

    def is_preparing(self) -> bool:
        return False

    def article_vector(self, digest: str) -> QueryVector | None:
        return self._vector(array("b", self._kept[digest])) if digest in self._kept else None

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        return {}

    def text_cosines(self, query_vector: QueryVector, texts: Sequence[str]) -> Sequence[float]:
        return compute_text_cosines(self._model, query_vector, texts)


def stored(number: int) -> StoredArticle:
    url = f"http://a.example/{number}"
    return StoredArticle(number, document_id(url), "a.example", Article(url, *ARTICLES[number], language="zh"))


@pytest.fixture(scope="module")
def sites(solr_node: EmbeddedSolr) -> Iterator[tuple[FlaskClient, FlaskClient]]:
    """The site with and without semantic search, on one index."""
    fetch_models(EmbedSettings(), print)
    model = load_model(configured_models(EmbedSettings(), Path())[0])
    articles = [stored(number) for number in range(len(ARTICLES))]
    vectors = pack_vectors(model.encode_documents([f"{title}\n{body}" for title, body in ARTICLES]))
    kept = {one.article.digest: vector for one, vector in zip(articles, vectors, strict=True)}
    index = index_at(solr_node.url, "answering")
    index.ensure_collection()
    analysis = TextAnalysis(Lexicon(), BASE, BASE)
    assert (
        index.add([to_solr_document(one, analysis, {model.model_id: kept[one.article.digest]}) for one in articles])
        == {}
    )
    index.commit()
    search = SolrSearchClient(solr_node.url, "answering", timeout=120.0)
    made = (site_app(search, MemorySite(), query_vectors=Known(model, kept)), site_app(search, MemorySite()))  # type: ignore[arg-type]
    yield made[0].test_client(), made[1].test_client()
    index.delete_all()


def answer(client: FlaskClient, query: str) -> BeautifulSoup | None:
    page = BeautifulSoup(client.get("/search", query_string={"q": query}).text, "lxml")
    assert page.select("#hits > li") or page.select_one("#total")
    return page.select_one("#answer")  # type: ignore[return-value]


def test_a_question_is_answered_in_the_words_of_the_articles(sites: tuple[FlaskClient, FlaskClient]) -> None:
    found = answer(sites[0], QUESTION)
    assert found is not None
    quotes = [quote.text for quote in found.select("blockquote")]
    assert quotes[0] in (ARTICLES[0][1].split("\n")[1], ARTICLES[1][1]) and len(quotes) <= 3
    assert all(any(quote in body for _, body in ARTICLES) for quote in quotes)
    assert found.select_one("script") is None  # what an article says is text
    for item in found.select("li"):
        path, _, place = item.select_one("a")["href"].partition("#")  # type: ignore[index]
        article = BeautifulSoup(sites[0].get(path).text, "lxml")
        assert item.blockquote.text in article.select_one(f"#{place}").text  # type: ignore[union-attr]
    told = sites[0].get("/search", query_string={"q": QUESTION, "format": "json"}).json
    assert [quote["text"] for quote in told["answer"]] == quotes


@pytest.mark.parametrize("question", ["LNG是什么", "what is LNG", "什么是LNG？"])
def test_an_abbreviation_is_defined_where_its_term_is(sites: tuple[FlaskClient, FlaskClient], question: str) -> None:
    """Six other articles stand nearer to the question in their words."""
    found = answer(sites[0], question)
    assert found is not None and [quote.text for quote in found.select("blockquote")] == [DEFINITION]


@pytest.mark.parametrize(
    "query", ["保管物毁损 赔偿", "红烧肉怎么做好吃？", f'"{QUESTION}"', "北京到上海的高铁要多久？"]
)
def test_what_is_no_question_or_has_no_answer_here(sites: tuple[FlaskClient, FlaskClient], query: str) -> None:
    assert answer(sites[0], query) is None


def test_words_alone_answer_nothing(sites: tuple[FlaskClient, FlaskClient]) -> None:
    assert answer(sites[1], QUESTION) is None


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ('"页岩气" 压裂', 3),
        ("页岩气 压裂", 4),
        ("LNG是什么", 4),
        ("页岩气 打架", 6),  # no full match: hits and counts again, of documents with a part
    ],
)
def test_a_page_sends_few_requests_to_solr(
    sites: tuple[FlaskClient, FlaskClient], monkeypatch: pytest.MonkeyPatch, query: str, count: int
) -> None:
    sent: list[Params] = []
    select = SolrSearchClient.select

    def recorded(client: SolrSearchClient, params: Params) -> SolrResponse:
        sent.append(params)
        return select(client, params)

    sites[0].get("/search", query_string={"q": query})  # now the size of the index and the vocabulary are known
    monkeypatch.setattr(SolrSearchClient, "select", recorded)
    sites[0].get("/search", query_string={"q": query})
    others = [params for params in sent if "terms" in dict(params) or ("fq", WORK_PARTS_QUERY) in params]
    assert len(sent) - len(others) == count  # beside the vocabulary, and the works that this index has


def test_related_articles_are_found_by_meaning_too(sites: tuple[FlaskClient, FlaskClient]) -> None:
    fight = document_id("http://a.example/3")
    with_meaning, by_words = (
        [link.text for link in BeautifulSoup(site.get(f"/article/{fight}").text, "lxml").select("#similar a")]
        for site in sites
    )
    assert with_meaning[:1] == ["打架"] and "打架" not in by_words
    assert "天气" not in with_meaning  # there is always a nearest: it has to be near
