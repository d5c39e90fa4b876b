"""A query that asks for new articles or for a year prefers them, and removes nothing; with a real Solr."""

from collections.abc import Iterator
from datetime import date

import pytest
from flask.testing import FlaskClient

from indexer.embedded_solr import EmbeddedSolr
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import Thesaurus, segment_query
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_requests import count_params, hits_params
from tests.builders import indexed, lexicon_of, page_at, stored_article
from tests.site_fixture import BASE, MemorySite, site_app

ORDINARY = (
    "页岩气",
    "页岩气 开发 2016吨",
    "oil recovery",
    "12016",
    "2016.5",
    "什么是页岩气",
    "世界石油大会",
    "late recently",
)
TIMELY = ("最新页岩气", "latest shale", "2016年页岩气", "shale 2016")


def plan(query: str, terms: tuple[str, ...] | None = ()) -> QueryPlan:
    request = SearchRequest(raw_query=query, text=query)
    is_term = None if terms is None else terms.__contains__
    return QueryPlan(request, segment_query(request, BASE, BASE, Thesaurus(), is_term))


@pytest.mark.parametrize("query", ORDINARY)
def test_ordinary_queries_send_the_same_parameters_as_without_recency(query: str) -> None:
    for build in (count_params, lambda each: hits_params(each, 10)):
        assert build(plan(query)) == build(plan(query, None))


@pytest.mark.parametrize("query", TIMELY)
def test_only_a_query_that_says_when_scores_by_date(query: str) -> None:
    assert "timeless" in dict(hits_params(plan(query), 10)) and "timeless" not in dict(
        hits_params(plan(query, None), 10)
    )


def test_a_word_for_new_is_not_required_and_a_year_is() -> None:
    assert plan("最新 页岩").words.content == ("页岩",) and plan("最新 页岩").words.wants_recent
    assert plan("2016年 石油").words.content == ("2016", "石油") and plan("2016年 石油").words.years == (2016,)
    assert plan("最新").words.content == ("最新",)
    for query, terms in (("recent sediments", ("recent sediments",)), ('"recent" oil', ())):
        assert not plan(query, terms).words.wants_recent and "recent" in plan(query, terms).words.content


def test_a_year_ends_with_its_last_day() -> None:
    for year, days in ((2016, 366), (2017, 365)):
        params = dict(hits_params(plan(f"shale {year}"), 10))
        assert f",0,{days * 86_400_000 - 1}," in params["time0"]


def articles() -> Iterator[object]:
    body = "四川盆地页岩气井压裂技术取得进展，产量上升。"
    days = (date.today().isoformat(), "2016-05-09", "2009-01-02", "")
    for n, published in enumerate(days):
        yield stored_article(n, "a.example", f"页岩气进展{'一二三四'[n]}", f"{body}第{'一二三四'[n]}篇。", published)
    yield stored_article(9, "a.example", "最新页岩气", "页岩气。", "2001-01-02")


@pytest.fixture(scope="module")
def reader(solr_node: EmbeddedSolr) -> Iterator[FlaskClient]:
    lexicon = lexicon_of(["页岩气"])
    with indexed(solr_node.url, "recency", articles(), lexicon) as search:  # type: ignore[arg-type]
        yield site_app(search, MemorySite(published=lexicon)).test_client()  # type: ignore[arg-type]


def titles(reader: FlaskClient, query: str, **more: str) -> list[str]:
    return [hit["title"] for hit in reader.get("/api/v1/search", query_string={"q": query, **more}).json["hits"]]


@pytest.mark.solr
def test_the_date_raises_and_nothing_is_lost(reader: FlaskClient) -> None:
    assert titles(reader, "页岩气压裂 最新")[0] == titles(reader, "latest 页岩气压裂")[0] == "页岩气进展一"
    assert titles(reader, "页岩气压裂 2009年")[0] == "页岩气进展三"
    assert titles(reader, "最新页岩气")[0] == "最新页岩气"  # a title that equals the query stays first
    for profile in ("plumbline", "bigram"):
        assert set(titles(reader, "页岩气压裂 最新", profile=profile)) >= set(
            titles(reader, "页岩气压裂", profile=profile)
        )


@pytest.mark.solr
@pytest.mark.parametrize(
    ("language", "reason"), [("en", "Date that the query asks for"), ("zh", "发布日期符合搜索要求")]
)
def test_the_explanation_names_the_date(reader: FlaskClient, language: str, reason: str) -> None:
    for query, score in (("页岩气压裂 最新", 30), ("页岩气压裂 2009年", 5)):
        hit = reader.get("/api/v1/search", query_string={"q": query}).json["hits"][0]
        told = reader.get(f"/api/v1/articles/{hit['id']}", query_string={"q": query}).json["explanation"]
        parts = {part["part"]: part["score"] for part in told["parts"]}
        assert parts["recency"] == pytest.approx(score, rel=0.02) and "other" not in parts
        assert sum(parts.values()) == pytest.approx(told["score"], rel=1e-3)
        assert reason in page_at(reader, f"/article/{hit['id']}", q=query, lang=language).select_one("#why").text
