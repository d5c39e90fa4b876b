"""Parsing of Solr responses into hits and facets."""

from typing import Any

from search_ui.query.display_text import Segment
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import QueryWords
from search_ui.query.results import (
    Hit,
    SearchPage,
    SearchResponses,
    build_search_page,
    parse_site_counts,
    plain_text,
)
from search_ui.query.search_request import SearchRequest, SortOrder
from search_ui.query.solr_requests import HIGHLIGHT_END, HIGHLIGHT_START, MAX_FACET_VALUES
from search_ui.settings import SearchSettings
from tests.site_fixture import FakeSearch, NoQueryVectors, OneVector, document, site_app

SETTINGS = SearchSettings(site_names={"news.example": "石油新闻"})
ASKED = SearchRequest(raw_query="页岩气", text="页岩气")


def plan(asked: SearchRequest) -> QueryPlan:
    text = asked.parsed_query.ranking_text
    return QueryPlan(asked, QueryWords(text, text))


def mark(text: str) -> str:
    return text.replace("[", HIGHLIGHT_START).replace("]", HIGHLIGHT_END)


def answer(highlights: dict[str, list[str]], **doc: Any) -> dict[str, Any]:
    whole = {"id": "d1", "url": "https://news.example/1", "site": "news.example", "title": "页岩气开发", **doc}
    return {
        "responseHeader": {"QTime": 4},
        "response": {"numFound": 41, "docs": [whole]},
        "highlighting": {"d1": {name: [mark(text) for text in texts] for name, texts in highlights.items()}},
    }


def page_of(
    found: dict[str, Any],
    counted: dict[str, Any] | None = None,
    asked: SearchRequest = ASKED,
    about: dict[str, Any] | None = None,
) -> SearchPage:
    return build_search_page(SearchResponses(found, counted or {}, {**found, **(about or {})}), plan(asked), SETTINGS)


def counts(**facets: Any) -> dict[str, Any]:
    return {"response": {"numFound": 44}, "facets": {"count": 44, "total": 41, **facets}}


def buckets(*counted: tuple[str, int]) -> dict[str, Any]:
    return {"buckets": [{"val": value, "count": count + 1, "n": count} for value, count in counted]}


def test_neighbouring_marks_are_one() -> None:
    hit = page_of(answer({"title": ["[页岩][气]开发"], "body": ["四川[页岩][气]井"]})).hits[0]
    assert hit.snippet == (Segment("四川"), Segment("页岩气", True), Segment("井"))
    assert hit.title == (Segment("页岩气", True), Segment("开发"))


def test_a_character_that_was_asked_for_alone_is_marked() -> None:
    asked = SearchRequest(raw_query="井 四川", text="井 四川")
    hit = page_of(answer({"body": ["[四川]一口井"]}), None, asked).hits[0]
    assert hit.snippet == (Segment("四川", True), Segment("一口"), Segment("井", True))


def test_without_any_match_the_first_sentences_are_shown() -> None:
    hit = page_of(answer({"body": ["开头一句"]})).hits[0]
    assert hit.snippet == (Segment("开头一句"),)
    assert hit.title == (Segment("页岩气开发"),)


def test_a_snippet_is_short_whatever_solr_sends() -> None:
    hit = page_of(answer({"body": ["长" * 5000 + "[页岩气]"]})).hits[0]
    assert len(plain_text(hit.snippet)) <= 162 and Segment("页岩气", True) in hit.snippet


def test_an_address_that_is_no_web_page_is_not_linked() -> None:
    hit = page_of(answer({}, url="javascript:alert(1)")).hits[0]
    assert (hit.url, hit.safe_url) == ("javascript:alert(1)", "")


def test_sites_have_names_and_years_keep_their_distance() -> None:
    years = [("1990", 0), ("2014", 3), ("2015", 0), ("2016", 30), ("2017", 0)]
    counted = counts(
        sites=buckets(("news.example", 40), ("b.example", 1)),
        dates=buckets(*((f"{year}-01-01T00:00:00Z", count) for year, count in years)),
    )
    page = page_of(answer({}), counted, ASKED.with_changes(sites=("b.example",), since="2016", until="2016"))
    assert [(f.label, f.selected, f.bar_steps) for f in page.sites] == [("石油新闻", False, 20), ("b.example", True, 1)]
    page = page_of(answer({}), counted)
    assert [(f.value, f.count, f.bar_steps) for f in page.dates] == [("2014", 3, 2), ("2015", 0, 0), ("2016", 30, 20)]


def of(site: str, count: int) -> dict[str, Any]:
    return {"of": {"buckets": [{"val": site, "count": count}]}}


def test_values_stand_in_the_order_of_what_is_counted() -> None:
    """Solr sorts facet values by documents, the page by clusters."""
    counted = counts(terms={"buckets": [{"val": "压裂", "count": 40, "n": 3}, {"val": "钻井", "count": 20, "n": 9}]})
    assert [(f.value, f.count) for f in page_of(answer({}), counted).terms] == [("钻井", 9), ("压裂", 3)]


def test_characteristic_terms_come_first_and_terms_of_one_result_last() -> None:
    def term(text: str, count: int, relatedness: float) -> dict[str, Any]:
        return {"val": text, "count": count, "n": count, "relatedness": {"relatedness": relatedness}}

    counted = counts(
        terms={
            "buckets": [term("公司", 30, 0.02), term("压裂", 9, 0.4), term("支撑剂", 7, 0.6), term("张三井", 1, 0.9)]
        }
    )
    terms = page_of(answer({}), counted).terms
    assert [(f.value, f.count) for f in terms] == [("支撑剂", 7), ("压裂", 9), ("公司", 30), ("张三井", 1)]


def test_the_page_offers_few_of_the_counted_terms_and_all_selected_ones() -> None:
    counted = counts(terms=buckets(*((f"词{n}", 99 - n) for n in range(60))))
    page = page_of(answer({}), counted, ASKED.with_changes(terms=("词50",)))
    assert len(page.terms) == MAX_FACET_VALUES + 1
    assert [(f.value, f.count) for f in page.terms if f.selected] == [("词50", 49)]


def test_a_facet_without_a_choice_is_none() -> None:
    counted = counts(
        languages=buckets(("zh", 43)),  # all 44 documents
        types={"buckets": []},
        authors=buckets(("张三", 5)),  # one value alone
        terms=buckets(("油气", 43), ("压裂", 3), ("钻井", 2)),
    )
    page = page_of(answer({}), counted)
    assert page.languages == page.types == page.authors == ()
    assert [f.value for f in page.terms] == ["压裂", "钻井"]  # 油气 narrows nothing
    chosen = page_of(answer({}), counted, ASKED.with_changes(languages=("zh",)))
    assert [(f.value, f.selected) for f in chosen.languages] == [("zh", True)]


def test_what_a_site_writes_on_every_page_is_no_section_and_no_author() -> None:
    counted = counts(
        sections={
            "buckets": [
                {"val": "您身边的油气专家", "count": 19, "n": 19, **of("a.example", 19)},  # on 19 of its 20 pages
                {"val": "市场", "count": 10, "n": 10, **of("b.example", 10)},  # a section of it
                {"val": "要闻", "count": 9, "n": 9, **of("b.example", 6)},  # two sites have one of this name
            ]
        },
        authors={
            "buckets": [
                {"val": "admin", "count": 20, "n": 20, **of("a.example", 20)},
                {"val": "张三", "count": 7, "n": 7, **of("b.example", 7)},
                {"val": "李四", "count": 6, "n": 6, **of("b.example", 6)},
            ]
        },
        sections_of_sites=buckets(("a.example", 19), ("b.example", 23)),
        authors_of_sites=buckets(("a.example", 19), ("b.example", 23)),
    )
    page = page_of(answer({}), counted)
    assert [f.value for f in page.sections] == ["市场", "要闻"]
    assert [f.value for f in page.authors] == ["张三", "李四"]
    narrowed = page_of(answer({}), counted, ASKED.with_changes(sections=("您身边的油气专家",)))
    assert narrowed.sections[0].selected


def test_what_was_chosen_stays_in_sight_where_nothing_has_it() -> None:
    asked = ASKED.with_changes(sections=("要闻",), terms=("页岩气",))
    page = page_of(answer({}), counts(terms=buckets(("压裂", 3))), asked)
    assert [(f.value, f.count, f.selected) for f in page.sections] == [("要闻", 0, True)]
    assert [(f.value, f.count, f.selected) for f in page.terms] == [("压裂", 3, False), ("页岩气", 0, True)]


def test_what_holds_little_of_the_query_is_marked_and_not_counted() -> None:
    found = answer({})
    found["response"]["numFound"] = 900
    page = page_of(found, counts())
    assert (page.total, page.documents, page.match_count) == (41, 44, 900)
    assert page.hits[0].is_partial
    assert not page_of(answer({}, full=2.5), counts()).hits[0].is_partial
    by_date = SearchRequest(raw_query="页岩气", text="页岩气", sort=SortOrder.DATE)  # every word is required
    assert not page_of(found, counts(), by_date).hits[0].is_partial


def test_copies_are_those_besides_the_hit() -> None:
    found = answer({}, cluster="c1")
    counted = {"facets": {"copies": {"buckets": [{"val": "c1", "count": 4}]}}}
    assert page_of(found, about=counted).hits[0].copies == 3
    assert page_of(found).hits[0].copies == 0


def test_hits_stand_in_their_order_and_one_that_went_meanwhile_is_left_out() -> None:
    found = {"response": {"numFound": 3, "docs": [{"id": name} for name in ("d2", "gone", "d1")]}}
    shown = {"response": {"docs": [{"id": "d1", "title": "一"}, {"id": "d2", "title": "二"}]}}
    page = build_search_page(SearchResponses(found, {}, shown), plan(ASKED), SETTINGS)
    assert [(hit.doc_id, hit.plain_title) for hit in page.hits] == [("d2", "二"), ("d1", "一")]


def test_ten_pages_have_numbers() -> None:
    found = answer({})
    assert page_of(found).numbered_pages == 5
    found["response"]["numFound"] = 1_000_000
    assert page_of(found).numbered_pages == 10


def test_an_empty_answer_is_an_empty_page() -> None:
    page = page_of({})
    assert (page.total, page.numbered_pages, page.hits, page.sites, page.dates) == (0, 1, (), (), ())


def test_site_counts() -> None:
    found = parse_site_counts(
        {
            "response": {"numFound": 9},
            "facets": {
                "count": 9,
                "sites": {"buckets": [{"val": "a", "count": 5}, {"val": "b", "count": 4}]},
                "newest": "2016-05-09T00:00:00Z",
            },
        }
    )
    assert (found.documents, found.sites, found.newest) == (9, 2, "2016-05-09")
    assert parse_site_counts({"response": {"numFound": 0}, "facets": {"count": 0}}).newest == ""


def on_pages(*passages: str, body: str = "首页四川\n页岩气井\n第三页页岩气与页岩气", **doc: str) -> Hit:
    """Return the hit for a document whose pages begin at its lines."""
    starts = "1:0 2:5 3:10"
    found = answer({"body": list(passages)}, format="pdf", page_starts=starts, body=body, **doc)
    return build_search_page(SearchResponses(found, {}, found), plan(ASKED), SETTINGS).hits[0]


def test_a_hit_names_the_page_of_the_passage_with_most_marks() -> None:
    assert on_pages("[页岩气]井", "第三页[页岩气]与[页岩气]").page == 3
    assert on_pages("首页四川\n[页岩气]井").page == 2  # where the match stands, and not where its passage begins
    assert on_pages("[页岩气]井").page_url == "https://news.example/1#page=2"


def test_a_page_that_is_not_known_is_not_named() -> None:
    for hit in (on_pages("首页四川"), on_pages("[页岩气]井", body="another text by now")):
        assert (hit.page, hit.page_url) == (0, hit.safe_url)


def test_a_file_without_title_is_called_by_its_name() -> None:
    url = "https://news.example/files/%E5%B9%B4%E6%8A%A5-2024.pdf?x=1"
    assert on_pages("首页", title="", url=url).plain_title == "年报-2024.pdf"
    assert page_of(answer({}, title="", url=url)).hits[0].plain_title == ""  # of a page only its title is one
    assert page_of(answer({}, format="of a later version")).hits[0].format == "html"


def test_a_truncated_list_is_reported_with_semantic_search_too() -> None:
    search = FakeSearch([document(1, "页岩气", "开发")], cosines={"doc1": 0.9}, header={"partialResults": True})
    client = site_app(search, query_vectors=OneVector()).test_client()
    assert client.get("/api/v1/search?q=页岩气").get_json()["partial"] is True


def test_the_page_says_that_semantic_search_is_not_ready() -> None:
    class Preparing(NoQueryVectors):
        def is_preparing(self) -> bool:
            return True

    for vectors, is_shown in ((NoQueryVectors(), False), (Preparing(), True)):
        client = site_app(FakeSearch([document(1, "页岩气", "开发")]), query_vectors=vectors).test_client()
        assert ('id="keyword-only"' in client.get("/search?q=页岩气").text) is is_shown


def test_an_english_snippet_consists_of_whole_sentences() -> None:
    long = (
        "The [shale] gas wells of the basin were drilled in spring, and a second group followed in the autumn of 2016."
    )
    other = "Further wells, which cost more than planned because of a long winter, are expected to follow in 2017."
    hit = page_of(answer({"body": [long, other]})).hits[0]
    assert plain_text(hit.snippet) == f"{long.replace('[', '').replace(']', '')} … {other}"
    longer = page_of(answer({"body": [other, f"{other} {long} {other} {other}"]})).hits[0]
    assert plain_text(longer.snippet) == f"{long} {other} {other}".replace("[", "").replace("]", "")
