"""The content of the home page."""

import pytest
from bs4 import BeautifulSoup

from domain.errors import SolrUnavailableError
from domain.term import Lexicon, LexiconEntry
from search_ui.services.home import (
    MAX_NEWEST,
    parse_newest,
    parse_sections,
)
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.site_fixture import BASE, FakeSearch, MemorySite, document, site_app
from text.domain_terms import is_domain_term

THINGS = "天然气 水平井压裂 随钻测井 二氧化碳 石英 白云岩 PDC钻头 高压水 低碳 埋深 产量"
QUERIES = ["套管", "测井", "页岩油"]
TERMS = ["水平井", "钻井液", "压裂"]
OTHERS = "邓安澜 韩立言 赵伯川 何静宜 技术人员 固井工程师 周期长 负荷平稳 成本高 压力大"


@pytest.mark.parametrize("term", [*THINGS.split(), "shale gas", "cubic boron nitride"])
def test_things_of_the_domain_are_shown(term: str) -> None:
    assert is_domain_term(term, BASE)


@pytest.mark.parametrize("term", [*OTHERS.split(), "Feng Zhiyuan", "万吨", "MPa", "billion cubic metres"])
def test_persons_qualities_and_units_are_not(term: str) -> None:
    assert not is_domain_term(term, BASE)


def test_sections_are_those_that_a_site_divides_itself_by() -> None:
    of_one = [{"val": "您身边的专家", "count": 50, "n": 50, "of": {"buckets": [{"val": "a.example", "count": 50}]}}]
    others = [
        {"val": name, "count": 9, "n": 9, "of": {"buckets": [{"val": "b.example", "count": 9}]}}
        for name in ("要闻", "市场")
    ]
    sites = {"buckets": [{"val": "a.example", "count": 50}, {"val": "b.example", "count": 30}]}
    told = {"facets": {"sections": {"buckets": [*of_one, *others]}, "sections_of_sites": sites}}
    assert [(section.value, section.count) for section in parse_sections(told)] == [("要闻", 9), ("市场", 9)]
    told["facets"]["sections"]["buckets"] = others[:1]
    assert parse_sections(told) == ()


def test_a_picture_that_two_have_is_the_sites() -> None:
    names = ("logo", "logo", "own")
    docs = [
        document(n, "标题", "", site=f"s{n}.example") | {solr_fields.PICTURE: f"https://news.example/{one}.png"}
        for n, one in enumerate(names)
    ]
    newest = parse_newest({"response": {"docs": docs}}, SearchSettings())
    assert [hit.picture for hit in newest] == ["", "", "https://news.example/own.png"]


def test_the_home_page_shows_terms_sections_and_the_newest() -> None:
    documents = [
        document(n, f"页岩气开发之{n}", "四川", site=f"s{n % 7}.example")
        | {solr_fields.DOMAIN_TERMS: ["页岩气", "校对者", "钻井", *TERMS], solr_fields.SECTION: ("要闻", "市场")[n % 2]}
        for n in range(9)
    ]
    documents[3][solr_fields.PICTURE] = "https://s3.example/p.png"
    published = Lexicon(1, tuple(map(LexiconEntry, ["页岩气", *TERMS])))
    actions = MemorySite(published=published, pictures={"https://s3.example/p.png": b"WebP"})
    client = site_app(FakeSearch(documents), actions).test_client()
    page = BeautifulSoup(client.get("/").text, "lxml")
    assert [link.text for link in page.select("#terms a")] == ["页岩气", *TERMS]
    assert "例如“页岩气”" in page.select_one(".hint").text  # type: ignore[union-attr]
    assert len(page.select("#newest > li")) == MAX_NEWEST == len({site.text for site in page.select("#newest .site")})
    assert [image["src"] for image in page.select("img")] == ["/picture/doc3"]
    sections = page.select("#sections a")
    assert [link.bdi.text for link in sections] == ["要闻", "市场"]
    listed = BeautifulSoup(client.get(str(sections[1]["href"])).text, "lxml")
    assert len(listed.select("#hits > li")) > 1 and "市场" in listed.select_one("#narrowed").text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("terms", "queries", "shown"),
    [(TERMS, QUERIES, []), (TERMS[:1], QUERIES, QUERIES), (TERMS[:1], QUERIES[:1], [])],
)
def test_few_terms_give_way_to_popular_searches_or_nothing(
    terms: list[str], queries: list[str], shown: list[str]
) -> None:
    documents = [document(n, f"文章{n}", "四川") | {solr_fields.DOMAIN_TERMS: ["页岩气", *TERMS]} for n in range(9)]
    actions = MemorySite(published=Lexicon(1, tuple(map(LexiconEntry, terms))), popular=queries)
    page = BeautifulSoup(site_app(FakeSearch(documents), actions).test_client().get("/").text, "lxml")
    assert [link.text for link in page.select("#popular a")] == shown
    assert len(page.select("#terms a")) == (len(terms) if len(terms) > 1 else 0)


def test_without_an_index_there_is_still_the_box() -> None:
    page = BeautifulSoup(site_app(FakeSearch(error=SolrUnavailableError("down"))).test_client().get("/").text, "lxml")
    assert page.select_one("#q") is not None and page.select(".front, #terms") == []
    assert "“" not in page.select_one(".hint").text  # type: ignore[union-attr]


def test_the_terms_beside_the_results_are_those_that_a_person_accepted() -> None:
    terms = [["页岩气", "邓安澜"], ["页岩气", "万吨"], ["钻井液"]]
    documents = [document(n, f"页岩气{n}", "") | {solr_fields.DOMAIN_TERMS: names} for n, names in enumerate(terms)]
    actions = MemorySite(published=Lexicon(1, (LexiconEntry("页岩气"), LexiconEntry("钻井液"))))
    page = BeautifulSoup(site_app(FakeSearch(documents), actions).test_client().get("/search?q=页岩气").text, "lxml")
    assert [link.bdi.text for link in page.select("#terms .toggle")] == ["页岩气", "钻井液"]  # type: ignore[union-attr]
