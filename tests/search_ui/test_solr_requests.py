"""The search site with a real Solr: ranking, highlighting, facets and hostile queries."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import StoredArticle
from search_ui.query.ranking import PROFILES
from search_ui.settings import SearchSettings
from tests.builders import indexed, lexicon_of, stored_article
from tests.conftest import SHARED
from tests.site_fixture import MemorySite, site_app
from tests.solr_fixture import SHARDS, RunningSolr

pytestmark = pytest.mark.solr

TERMS = ("世界石油大会", "页岩气", "水力压裂")
ARTICLES = [
    ("a", "第21届世界石油大会开幕", "第21届世界石油大会在莫斯科开幕。各国石油公司的代表出席了大会。", "2014-06-15"),
    ("a", "石油大会讨论油价", "世界各地的代表在大会上讨论石油价格。石油世界变化很大。大会历时三天。", "2015-03"),
    ("b", "世界各国石油产量", "世界石油产量上升，大会没有召开。", "2017-01-02"),
    ("b", "四川盆地页岩气开发", "页岩气资源丰富，水力压裂技术已经成熟。", "2016-05-09"),
    ("b", "页岩气", "一种天然气。页岩气是埋藏于页岩层的天然气资源，与煤层气同属非常规天然气。", "2016-11-30"),
    ("c", "Shale gas wells", "Forty wells were drilled in the basin by PDC钻头.", ""),
    ("c", "<script>alert(1)</script>", "<img src=x onerror=alert(1)> 煤层气 & <b>bold</b>", "2012-02-29"),
    ("c", "无关", "天气预报说明天有雨。", "2016-05-10"),
]


@pytest.fixture(
    scope="module",
    params=[pytest.param(1, id="one shard"), pytest.param(2, id="two shards", marks=pytest.mark.exhaustive)],
)
def client(request: pytest.FixtureRequest) -> Iterator[FlaskClient]:
    """The site with `ARTICLES`, in one shard and in two shards on two nodes.

    tests/indexer/test_cluster.py compares scores and hits of one and two shards.
    """
    solr = request.getfixturevalue("solr_node" if request.param == 1 else "solr_cluster")
    url = solr.url if request.param == 1 else solr.solr_url
    with site_on(url, "searchui", request.param) as made:
        yield made


@pytest.fixture(scope="module")
def hostile_client(solr_node: RunningSolr) -> Iterator[FlaskClient]:
    """The same site for hundreds of requests, with as many shards as the test run uses."""
    with site_on(solr_node.url, "searchhostile", SHARDS) as made:
        yield made


@contextmanager
def site_on(url: str, name: str, shards: int) -> Iterator[FlaskClient]:
    """Yield the site with `ARTICLES`, indexed with a lexicon of `TERMS`."""
    lexicon = lexicon_of(TERMS)
    articles = [stored(n, *row) for n, row in enumerate(ARTICLES)]
    with indexed(url, name, articles, lexicon, shards) as search:
        yield site_app(search, MemorySite(published=lexicon), SearchSettings(developer_tools=True)).test_client()  # type: ignore[arg-type]


def stored(number: int, site: str, title: str, body: str, published: str) -> StoredArticle:
    return stored_article(number, f"{site}.example", title, body, published, author="张三")


def titles(client: FlaskClient, query: str, **more: str) -> list[str]:
    response = client.get("/search", query_string={"q": query, "format": "json", **more})
    assert response.status_code == 200, response.text
    return [hit["title"] for hit in response.json["hits"]]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_finds_chinese_and_english(client: FlaskClient, profile: str) -> None:
    assert "第21届世界石油大会开幕" in titles(client, "世界石油大会", profile=profile)
    asked = "drilling wells" if profile in ("domain", "base") else "drilling a well"  # words alone have no stems
    assert titles(client, asked, profile=profile) == ["Shale gas wells"]
    assert titles(client, "ＰＤＣ钻头", profile=profile) == ["Shale gas wells"]


def test_the_whole_term_leads_and_an_exact_title_comes_first(client: FlaskClient) -> None:
    assert titles(client, "世界石油大会")[0] == "第21届世界石油大会开幕"
    assert titles(client, "页岩气")[0] == "页岩气"
    assert titles(client, "世界石油大会", profile="domain") == ["第21届世界石油大会开幕"]


def test_quoted_words_must_be_there_as_they_stand(client: FlaskClient) -> None:
    assert len(titles(client, "石油大会")) > 2
    assert set(titles(client, '"石油大会"')) == {"第21届世界石油大会开幕", "石油大会讨论油价"}
    assert titles(client, '"大会石油"') == []
    assert titles(client, '"shale gas" “wells were”') == ["Shale gas wells"]


def test_by_date_only_documents_with_every_word_are_listed_newest_first(client: FlaskClient) -> None:
    assert titles(client, "天然气 页岩气", sort="date") == ["页岩气"]
    assert titles(client, "页岩气", sort="date") == ["页岩气", "四川盆地页岩气开发"]
    assert titles(client, "the wells", sort="date") == ["Shale gas wells"]  # a stop word is in the way of no one


def test_exported_results_have_the_order_of_the_pages(client: FlaskClient) -> None:
    export = "/api/v1/search?q=世界石油大会&format=csl"
    full_matches, related = (client.get(f"{export}{more}").get_json(force=True) for more in ("", "&related=1"))
    found = client.get("/search?q=世界石油大会&format=json").json
    assert len(full_matches) == found["total"] and len(related) == found["matched"] - found["total"] > 0
    items = full_matches + related
    assert [item["title"] for item in items] == titles(client, "世界石油大会")
    assert {item["author"][0]["literal"] for item in items} == {"张三"}


def test_matches_are_marked_by_whole_words(client: FlaskClient) -> None:
    page = BeautifulSoup(client.get("/search?q=世界石油大会").text, "lxml")
    first = page.select_one("#hits > li")
    assert first is not None
    assert [mark.text for mark in first.select("mark")] == ["世界石油大会", "世界石油大会"]
    assert "\u200b" not in page.text
    english = BeautifulSoup(client.get("/search?q=drill").text, "lxml").select_one(".snippet")
    assert english is not None
    assert english.text == "Forty wells were drilled in the basin by PDC钻头."


def test_markup_in_a_document_stays_text(client: FlaskClient) -> None:
    page = BeautifulSoup(client.get("/search?q=煤层气 alert").text, "lxml")
    hit = next(hit for hit in page.select("#hits > li") if "<script>" in hit.text)
    assert {tag.name for tag in hit.find_all(True)} <= {"h2", "a", "p", "bdi", "time", "mark", "span", "button"}
    assert "<b>bold</b>" in hit.text


def test_facets_count_and_narrow(client: FlaskClient) -> None:
    facets = client.get("/search?q=石油&profile=bigram&format=json").json["facets"]
    assert {site["value"]: site["count"] for site in facets["sites"]} == {"a.example": 2, "b.example": 1}
    counted = {day["value"]: day["count"] for day in facets["dates"]}
    assert counted == {"2014": 1, "2015": 1, "2016": 0, "2017": 1}
    months = client.get("/search?q=页岩气&profile=bigram&from=2016&to=2016&format=json").json
    assert months["total"] == 2
    assert [day["value"] for day in months["facets"]["dates"] if day["count"]] == ["2016-05", "2016-11"]
    assert set(titles(client, "页岩气 石油", profile="bigram", site="a.example")) == {
        "第21届世界石油大会开幕",
        "石油大会讨论油价",
    }
    assert titles(client, "页岩气", **{"from": "2016-05-09", "to": "2016-05-09"}) == ["四川盆地页岩气开发"]


def test_terms_of_the_results_are_ordered_by_how_characteristic_they_are(solr_node: RunningSolr) -> None:
    """天然气 is in all results of 页岩气 but also in most other documents; 水力压裂 is in no other document."""
    bodies = ["页岩气和天然气用水力压裂开采。"] * 3 + ["页岩气和天然气。"] + ["天然气的价格上升。"] * 8
    lexicon = lexicon_of(("页岩气", "天然气", "水力压裂", "价格"))
    articles = [stored(n, "a", f"第{n}篇", f"{body}{'续' * n}", "2016-05-09") for n, body in enumerate(bodies)]
    articles.append(stored(99, "a", "页岩气", "页岩气一词。", "2016-05-09"))
    with indexed(solr_node.url, "searchterms", articles, lexicon) as search:
        site = site_app(search, MemorySite(published=lexicon)).test_client()  # type: ignore[arg-type]
        terms = site.get("/search?q=页岩气&format=json").json["facets"]["terms"]
    assert [(term["value"], term["count"]) for term in terms] == [("水力压裂", 3), ("天然气", 4)]


def test_comparison_is_better_with_the_domain_lexicon(client: FlaskClient) -> None:
    base, domain = client.get("/compare?q=世界石油大会&format=json").json["sides"]
    assert (domain["first_rank"], domain["total"]) == (1, 1)
    assert base["total"] == 3 and base["first_rank"] is not None


def test_home_counts_the_index(client: FlaskClient) -> None:
    text = client.get("/?lang=en").text
    client.delete_cookie("lang")
    assert "8 documents" in text and "3 sites" in text and "2017-01-02" in text


@pytest.mark.parametrize(
    "query",
    [
        "id:*", "*:*", "url:http", "site:a.example", "_query_:无关", "{!lucene}*:*", "{!term f=site}a.example",
        "title:[* TO *]", "${q}", "* OR 无关zz", "_val_:ord(id)", '" OR *:* OR "', "\\", "-zzz",
    ],
)  # fmt: skip
def test_no_syntax_reaches_solr(client: FlaskClient, query: str) -> None:
    assert "无关" not in [title for title in titles(client, query) if "无关" not in query]
    assert len(titles(client, query)) < len(ARTICLES) - 1


def test_the_longest_query_stays_below_solrs_limit_of_clauses(hostile_client: FlaskClient) -> None:
    characters = random.Random(1).sample([chr(code) for code in range(0x4E00, 0x9FA5)], 160)
    repeated = ("a1 " * 200, "abcdefghijkl " * 200, "ab12" * 200, "页" * 160, '"' * 160 + "页")
    for query in ("".join(characters), " ".join(characters), *repeated):
        for profile in PROFILES:
            for sort in ("relevance", "date"):
                titles(hostile_client, query, profile=profile, sort=sort)


def hostile(name: str) -> list[str]:
    lines = (SHARED / "data" / "hostile" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


@pytest.mark.shared
@pytest.mark.parametrize("profile", PROFILES)
def test_hostile_queries_are_answered(hostile_client: FlaskClient, profile: str, step: int) -> None:
    texts = (hostile("queries") + hostile("strings"))[::step]
    for text in texts[list(PROFILES).index(profile) :: len(PROFILES)]:  # each text by one of them
        for sort in ("relevance", "date"):
            response = hostile_client.get("/search", query_string={"q": text, "profile": profile, "sort": sort})
            assert response.status_code == 200, text


@pytest.mark.shared
def test_hostile_terms_are_compared(hostile_client: FlaskClient, step: int) -> None:
    for text in (hostile("queries") + hostile("strings"))[::step]:
        assert hostile_client.get("/compare", query_string={"q": text}).status_code == 200, text
