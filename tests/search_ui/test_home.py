"""The content of the home page."""

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup

from domain.errors import SolrUnavailableError
from search_ui.services.home import (
    MAX_HOME_TERMS,
    MAX_NEWEST,
    drop_column_names,
    newest_params,
    parse_newest,
    parse_sections,
    select_home_terms,
)
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.site_fixture import BASE, FakeSearch, MemorySite, document, site_app
from text.domain_terms import is_domain_term

THINGS = "天然气 水平井压裂 随钻测井 二氧化碳 石英 白云岩 PDC钻头 高压水 低碳 埋深 产量"
OTHERS = "邓安澜 韩立言 赵伯川 何静宜 技术人员 固井工程师 周期长 负荷平稳 成本高 压力大"


@pytest.mark.parametrize("term", [*THINGS.split(), "shale gas", "cubic boron nitride"])
def test_things_of_the_domain_are_shown(term: str) -> None:
    assert is_domain_term(term, BASE)


@pytest.mark.parametrize("term", [*OTHERS.split(), "Feng Zhiyuan", "万吨", "MPa", "billion cubic metres"])
def test_persons_qualities_and_units_are_not(term: str) -> None:
    assert not is_domain_term(term, BASE)


def answer(**facets: list[tuple[str, int]]) -> dict[str, Any]:
    counted = {name: {"buckets": [{"val": v, "count": n, "n": n} for v, n in pairs]} for name, pairs in facets.items()}
    return {"facets": counted}


def test_what_sections_and_sites_are_called_is_no_term() -> None:
    terms = [("天然气", 9), ("图片新闻", 8), ("油气日报", 7), ("钻井", 6)]
    counted = answer(terms=terms, sections=[("图片新闻", 8), ("要闻", 2)])
    assert select_home_terms(counted, ["油气日报"], BASE) == {"天然气": 9, "钻井": 6}


def test_a_word_with_which_its_titles_begin_names_a_column() -> None:
    terms = {"图片快讯": 30, "天然气": 71, "钻井": 60}
    asked = dict(newest_params(list(terms)))
    assert (asked["term0"], asked["term2"]) == ("图片快讯", "钻井")
    assert json.loads(asked["json.facet"])["term1"]["q"] == f"{{!prefix f={solr_fields.TITLE_KEY} v=$term1}}"
    told = {"facets": {"term0": {"count": 29}, "term1": {"count": 12}, "term2": {"count": 0}}}
    assert drop_column_names(terms, told) == ("天然气", "钻井")
    assert len(drop_column_names({f"词{n}": 5 for n in range(40)}, {})) == MAX_HOME_TERMS


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
        document(n, "标题", "") | {solr_fields.PICTURE: f"https://news.example/{one}.png"}
        for n, one in enumerate(names)
    ]
    newest = parse_newest({"response": {"docs": docs}}, SearchSettings())
    assert [hit.picture for hit in newest] == ["", "", "https://news.example/own.png"]


def test_the_home_page_shows_terms_sections_and_the_newest() -> None:
    documents = [
        document(n, f"页岩气开发之{n}", "四川", site=f"s{n % 2}.example")
        | {solr_fields.DOMAIN_TERMS: ["页岩气", "周期长", "邓安澜"], solr_fields.SECTION: ("要闻", "市场")[n % 2]}
        for n in range(9)
    ]
    documents[3][solr_fields.PICTURE] = "https://s1.example/p.png"
    actions = MemorySite(pictures={"https://s1.example/p.png": b"WebP"})
    client = site_app(FakeSearch(documents), actions).test_client()
    page = BeautifulSoup(client.get("/").text, "lxml")
    assert [link.text for link in page.select("#terms a")] == ["页岩气"]
    assert "例如“页岩气”" in page.select_one(".hint").text  # type: ignore[union-attr]
    assert len(page.select("#newest > li")) == MAX_NEWEST
    assert [image["src"] for image in page.select("img")] == ["/picture/doc3"]
    sections = page.select("#sections a")
    assert [link.bdi.text for link in sections] == ["要闻", "市场"]
    listed = BeautifulSoup(client.get(str(sections[1]["href"])).text, "lxml")
    assert len(listed.select("#hits > li")) > 1 and "市场" in listed.select_one("#narrowed").text  # type: ignore[union-attr]


def test_without_an_index_there_is_still_the_box() -> None:
    page = BeautifulSoup(site_app(FakeSearch(error=SolrUnavailableError("down"))).test_client().get("/").text, "lxml")
    assert page.select_one("#q") is not None and page.select(".front, #terms") == []
    assert "“" not in page.select_one(".hint").text  # type: ignore[union-attr]


def test_the_terms_beside_the_results_are_no_persons_or_units() -> None:
    terms = [["页岩气", "邓安澜"], ["页岩气", "万吨"], ["钻井液"]]
    documents = [document(n, f"页岩气{n}", "") | {solr_fields.DOMAIN_TERMS: names} for n, names in enumerate(terms)]
    page = BeautifulSoup(site_app(FakeSearch(documents)).test_client().get("/search?q=页岩气").text, "lxml")
    assert [link.bdi.text for link in page.select("#terms a")] == ["页岩气", "钻井液"]  # type: ignore[union-attr]
