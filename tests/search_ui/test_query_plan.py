"""Query syntax, synonyms, two lexicon versions at once and suggestions, with a real Solr."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient

from domain.article import Article, StoredArticle, document_id
from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from search_ui.interfaces import AppliedLexicon
from search_ui.query.solr_client import SolrSearchClient
from search_ui.vocabulary_cache import VocabularyCache
from tests.builders import page_at
from tests.conftest import SHARED
from tests.site_fixture import BASE, MemorySite, site_app
from tests.solr_fixture import index_at
from text.segment import RjiebaSegmenter

pytestmark = pytest.mark.solr

CONGRESS = "世界石油大会"
SYNONYMS = ("shale gas", "页岩天然气")
ENTRIES = (LexiconEntry("页岩气", synonyms=SYNONYMS), LexiconEntry("水力压裂"), LexiconEntry(CONGRESS))
NEW = RjiebaSegmenter([(entry.text, 0, "n") for entry in ENTRIES])
OLD = RjiebaSegmenter([("页岩气", 0, "n"), ("水力压裂", 0, "n")])
ARTICLES = [
    ("a.example", "第21届世界石油大会开幕", "第21届世界石油大会在莫斯科开幕。", "2014-06-15", NEW),
    ("news.a.example:8080", "世界石油大会闭幕", "世界石油大会在莫斯科闭幕。", "2014-06-20", OLD),  # not done again yet
    ("b.example", "四川盆地页岩气开发", "页岩气资源丰富，水力压裂技术已经成熟。", "2016-05-09", NEW),
    ("b.example", "涪陵页岩气田产量", "页岩气产量上升。", "2016-11-30", NEW),
    ("c.example", "Shale gas wells", "Forty shale gas wells. Supersonic drills.", "2017-01-02", NEW),
    ("c.example", "煤层气", "煤层气和致密气。", "2012-02-29", NEW),
    ("c.example", "压裂设备出厂", "水力压裂设备出厂。", "", NEW),
]  # fmt: skip


def run_at_once(work: Callable[[], None]) -> None:
    work()


@pytest.fixture(scope="module")
def app(solr_node: EmbeddedSolr) -> Iterator[Flask]:
    """The site with `ARTICLES`. The vocabulary is loaded on first use."""
    index = index_at(solr_node.url, "understanding")
    index.ensure_collection()
    lexicon = Lexicon(2, ENTRIES)
    documents = [
        to_solr_document(stored(n, *row), TextAnalysis(lexicon, segmenter, BASE))
        for n, (*row, segmenter) in enumerate(ARTICLES)
    ]
    assert index.add(documents) == {}
    index.commit()
    terms = [Term(entry.text, 9.0, 5, 3, status=TermStatus.ACCEPTED) for entry in ENTRIES]
    actions = MemorySite(terms, published=lexicon, popular=["页岩气 产量"])
    app = site_app(SolrSearchClient(solr_node.url, "understanding", timeout=120.0), actions)  # type: ignore[arg-type]
    app.extensions["plumbline"].caches.vocabulary = VocabularyCache(run_at_once)
    yield app
    index.delete_all()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    client = app.test_client()
    client.get("/suggest?q=a")  # makes the vocabulary
    return client


def stored(number: int, host: str, title: str, body: str, published: str) -> StoredArticle:
    url = f"http://{host}/{number}"
    return StoredArticle(number, document_id(url), host, Article(url, title, body, published))


def page(client: FlaskClient, query: str, **more: str) -> BeautifulSoup:
    return page_at(client, "/search", q=query, lang="en", **more)


def titles(client: FlaskClient, query: str, **more: str) -> list[str]:
    return [str(link.get_text()) for link in page(client, query, **more).select("#hits .hit:not(.weak) h2 a")]


def test_a_page_reads_the_lexicon_once(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    read, versions = MemorySite.applied_lexicon, list[int]()

    def counted(site: MemorySite) -> AppliedLexicon:
        versions.append(site.published.version)
        return read(site)

    monkeypatch.setattr(MemorySite, "applied_lexicon", counted)
    assert titles(client, "页岩气") != [] and versions == [2]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("site:a.example", {"第21届世界石油大会开幕", "世界石油大会闭幕"}),
        ("site:news.a.example:8080", {"世界石油大会闭幕"}),
        ("页岩气 -产量", {"四川盆地页岩气开发", "Shale gas wells"}),
        ('页岩气 -"产量上升" -site:c.example', {"四川盆地页岩气开发"}),
        ("title:开发", {"四川盆地页岩气开发"}),
        ("title:页岩气", {"四川盆地页岩气开发", "涪陵页岩气田产量", "Shale gas wells"}),
        ("-site:a.example -site:b.example", {"Shale gas wells", "煤层气", "压裂设备出厂"}),
        ("after:2016 before:2016-06", {"四川盆地页岩气开发"}),
        ("after:2016-11-30 before:2018", {"涪陵页岩气田产量", "Shale gas wells"}),
        ("after：2016年11月 页岩气", {"涪陵页岩气田产量", "Shale gas wells"}),
        ("「水力压裂」", {"四川盆地页岩气开发", "压裂设备出厂"}),
    ],
)
def test_syntax_narrows(client: FlaskClient, query: str, found: set[str]) -> None:
    assert set(titles(client, query)) == found


def test_conditions_alone_list_the_newest_first(client: FlaskClient) -> None:
    assert titles(client, "-site:a.example") == [
        "Shale gas wells", "涪陵页岩气田产量", "四川盆地页岩气开发", "煤层气", "压裂设备出厂",
    ]  # fmt: skip


def test_synonyms_are_searched_with_less_weight_and_said_and_can_be_switched_off(client: FlaskClient) -> None:
    results = page(client, "页岩气")
    assert [str(link.get_text()) for link in results.select("#hits .hit:not(.weak) h2 a")][-1] == "Shale gas wells"
    assert [str(word.get_text()) for word in results.select("#also bdi")] == list(SYNONYMS)
    assert "Shale gas" in [mark.text for mark in results.select("#hits mark")]
    exact = results.select_one("#also a")
    assert exact is not None
    exactly = BeautifulSoup(client.get(str(exact["href"])).text, "lxml")
    assert exactly.select("#also") == [] and len(exactly.select("#hits > li")) == 2
    assert "四川盆地页岩气开发" in titles(client, "shale gas")
    assert "Shale gas wells" not in titles(client, '"页岩气"')


def test_by_date_a_synonym_stands_for_its_word(client: FlaskClient) -> None:
    assert titles(client, "页岩气", sort="date") == ["Shale gas wells", "涪陵页岩气田产量", "四川盆地页岩气开发"]


def test_documents_of_both_versions_are_found_while_they_are_being_segmented_again(client: FlaskClient) -> None:
    assert set(titles(client, CONGRESS)) >= {"第21届世界石油大会开幕", "世界石油大会闭幕"}
    assert set(titles(client, CONGRESS, sort="date")) == {"第21届世界石油大会开幕", "世界石油大会闭幕"}


BY_RELEVANCE = "Sort by relevance (sorting by newest requires every word)"


def offers(client: FlaskClient, query: str, **more: str) -> dict[str, tuple[str, int]]:
    """Return the suggestions by text: the query of their page, and the number of documents both there and here."""
    found = {}
    for link in page(client, query, **more).select("#offers a"):
        said = link.find_next("span", class_="muted")
        assert said is not None
        there = BeautifulSoup(client.get(str(link["href"])).text, "lxml")
        total, box = there.select_one("#total"), there.select_one("#q")
        assert total is not None and box is not None
        count = int(re.findall(r"\d+", said.get_text())[0])
        assert int(re.findall(r"\d+", total.get_text())[0]) == count, link
        found[" ".join(link.get_text().split())] = (str(box["value"]), count)
    return found


@pytest.mark.parametrize(
    ("query", "more", "offered"),
    [
        ("页岩气 site:nowhere.example", {}, {"Search without site:nowhere.example": ("页岩气", 3)}),
        ("煤层气 after:2020", {}, {"Search without after:2020": ("煤层气", 1)}),
        ("水力压裂 -技术 -设备", {}, {"Search without -技术": ("水力压裂 -设备", 1)}),
        ("煤层气", {"site": "b.example"}, {"Any site": ("煤层气", 1)}),
        ("煤层气", {"from": "2016"}, {"Any date": ("煤层气", 1)}),
        ("页岩气 莫斯科 产量", {"sort": "date"}, {BY_RELEVANCE: ("页岩气 莫斯科 产量", 5)}),
        ('"压裂水力技术"', {}, {"Search without quotation marks: 压裂水力技术": ("压裂 水力 技术", 1)}),
        ("可燃冰 煤层气 核聚变 反应堆", {}, {"煤层气 1 result": ("煤层气", 1)}),
        ("煤层器", {}, {"煤层气": ("煤层气", 1)}),  # 煤层 is held: its page is there, and the spelling beside it
        ("zzzzqqqq", {}, {}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_what_is_offered_when_nothing_is_found(
    client: FlaskClient, query: str, more: dict[str, str], offered: dict[str, tuple[str, int]]
) -> None:
    found = offers(client, query, **more)
    assert {name: found.get(name) for name in offered} == offered
    assert offered or not found


@pytest.mark.parametrize(
    ("query", "instead", "count"),
    [
        ("叶岩气", "页岩气", 3),
        ("yeyanqi", "页岩气", 3),
        ("ye yan qi", "页岩气", 3),
        ("水力压列", "水力压裂", 2),
        ("slyl", "水力压裂", 2),  # first letters
        ("supersonc", "supersonic", 1),
        ('"叶岩气"', "页岩气", 2),
        ("fulingyeyanqi", "涪陵页岩气", 1),  # a run in a title
        ("chanliangshangsheng", "产量上升", 1),  # words of the base dictionary, in bodies alone
        ("supersonicdrills", "supersonic drills", 1),
    ],
)
def test_a_page_that_would_be_empty_shows_another_spelling_and_says_so(
    client: FlaskClient, query: str, instead: str, count: int
) -> None:
    results = page(client, query)
    said, total, box = (results.select_one(one) for one in ("#instead", "#total", "#q"))
    assert said is not None and total is not None and box is not None
    assert [one.get_text() for one in said.select("bdi")] == [query, instead]
    assert re.findall(r"\d+", total.get_text())[0] == str(count) and box["value"] == query
    assert len(results.select("#hits .hit:not(.weak)")) == count
    told = client.get("/search", query_string={"q": query, "format": "json"}).json  # programs get what they asked for
    assert told["query"] == query and told["total"] == 0
    assert (told["offers"][0]["kind"], told["offers"][0]["total"]) == ("spelled", count)


@pytest.mark.parametrize("query", ["量子纠缠态", "zzzzqqqq", "zhouqizhang", "开幕式"])
def test_what_no_document_has_is_no_page_of_unrelated_hits(client: FlaskClient, query: str) -> None:
    results = page(client, query)
    assert results.select("#hits, #instead, #offers") == []
    assert results.select_one("#nothing") is not None


def test_where_nothing_holds_all_of_it_the_words_are_named_that_are_held(client: FlaskClient) -> None:
    results = page(client, "煤层气量子纠缠")
    assert [str(link.get_text()) for link in results.select("#hits h2 a")] == ["煤层气"]
    assert [str(word.get_text()) for word in results.select("#offers .chips bdi")] == ["煤层气"]
    assert "No article contains all words; 1 article contains some of them." in str(results.select_one("#total"))


def test_a_title_typed_with_signs_is_that_title(client: FlaskClient) -> None:
    assert titles(client, "压裂 -设备出厂")[:1] == ["压裂设备出厂"]
    assert "压裂设备出厂" not in titles(client, "压裂 -设备")


def test_nothing_is_offered_where_enough_is_found(client: FlaskClient) -> None:
    assert offers(client, "页岩气") == {}


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("页", "页岩气 产量"),
        ("yeyan", "页岩气 产量"),
        ("slyl", "水力压裂"),
        ("四川盆", "四川盆地页岩气开发"),
        ("盆地页", "四川盆地页岩气开发"),
        ("gas we", "Shale gas wells"),
        ("煤层", "煤层气"),
        ("頁岩氣", "页岩气 产量"),
        ("四川盆地頁", "四川盆地页岩气开发"),
    ],
)
def test_suggestions(client: FlaskClient, typed: str, first: str) -> None:
    query, texts = client.get("/suggest", query_string={"q": typed}).get_json(force=True)
    assert query == typed and texts[0] == first and len(texts) == len(set(texts))
    rich = client.get("/suggest", query_string={"q": typed, "format": "json"}).json
    assert rich is not None
    assert [one["text"] for one in rich["suggestions"]] == texts
    assert {one["kind"] for one in rich["suggestions"]} <= {"query", "term", "title"}


def hostile(*names: str) -> list[str]:
    lines = [
        line for name in names for line in (SHARED / "data/hostile" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    return [row["text"] for row in map(json.loads, lines) if "text" in row]


SYNTAX = ("{}", 'a -"{}" -{}', "title:{} site:{} after:{}", '"{}" -title:"{}" -site:{} before:{}')


@pytest.mark.shared
def test_hostile_text_is_suggested_for(client: FlaskClient, step: int) -> None:
    texts = hostile("queries", "strings", "xss")[::step]
    for text, shape in zip(texts, cycle(("opensearch", "json")), strict=False):
        response = client.get("/suggest", query_string={"q": text, "format": shape})
        assert response.status_code == 200, text
        assert response.mimetype in ("application/x-suggestions+json", "application/json")


@pytest.mark.shared
def test_hostile_text_is_searched_for_in_every_place_of_the_syntax(client: FlaskClient, step: int) -> None:
    for text, shape in zip(hostile("queries", "strings")[::step], cycle(SYNTAX), strict=False):
        response = client.get("/search", query_string={"q": shape.replace("{}", text[:70])})
        assert response.status_code in (200, 400), (shape, text)
