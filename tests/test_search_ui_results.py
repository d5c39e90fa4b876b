"""Solr's answer as hits, facets and JSON."""

from typing import Any

from search_ui.query import MARK_OFF, MARK_ON
from search_ui.request import SearchRequest
from search_ui.results import as_json, plain, search_page, site_counts
from search_ui.settings import SearchSettings
from search_ui.texts import Segment

SETTINGS = SearchSettings(site_names={"news.example": "石油新闻"})
ASKED = SearchRequest(typed="页岩气", text="页岩气")


def mark(text: str) -> str:
    return text.replace("[", MARK_ON).replace("]", MARK_OFF)


def answer(highlights: dict[str, list[str]], **doc: Any) -> dict[str, Any]:
    whole = {"id": "d1", "url": "https://news.example/1", "site": "news.example", "title": "页岩气开发", **doc}
    return {
        "responseHeader": {"QTime": 4},
        "response": {"numFound": 41, "docs": [whole]},
        "highlighting": {"d1": {name: [mark(text) for text in texts] for name, texts in highlights.items()}},
    }


def test_words_are_preferred_to_bigrams_where_they_match() -> None:
    both = {"body_domain": ["四川\u200b[页岩气]\u200b井"], "body": ["四川[页岩][岩气]井"]}
    hit = search_page(answer(both), ASKED, SETTINGS).hits[0]
    assert hit.snippet == (Segment("四川"), Segment("页岩气", True), Segment("井"))


def test_bigrams_are_shown_where_words_do_not_match() -> None:
    stale = {"body_domain": ["开头\u200b一句"], "body": ["四川[页岩气]井"]}
    assert plain(search_page(answer(stale), ASKED, SETTINGS).hits[0].snippet) == "四川页岩气井"


def test_without_any_match_the_first_sentences_are_shown() -> None:
    hit = search_page(answer({"body_domain": ["开头\u200b一句"], "body": ["开头一句"]}), ASKED, SETTINGS).hits[0]
    assert hit.snippet == (Segment("开头一句"),)
    assert hit.title == (Segment("页岩气开发"),)


def test_a_snippet_is_short_whatever_solr_sends() -> None:
    hit = search_page(answer({"body": ["长" * 5000 + "[页岩气]"]}), ASKED, SETTINGS).hits[0]
    assert len(plain(hit.snippet)) <= 162 and Segment("页岩气", True) in hit.snippet


def test_an_address_that_is_no_web_page_is_not_linked() -> None:
    hit = search_page(answer({}, url="javascript:alert(1)"), ASKED, SETTINGS).hits[0]
    assert (hit.url, hit.link) == ("javascript:alert(1)", "")


def test_sites_have_names_and_years_keep_their_distance() -> None:
    found = answer({})
    years = [("1990", 0), ("2014", 3), ("2015", 0), ("2016", 30), ("2017", 0)]
    found["facets"] = {
        "sites": {"buckets": [{"val": "news.example", "count": 40}, {"val": "b.example", "count": 1}]},
        "dates": {"buckets": [{"val": f"{year}-01-01T00:00:00Z", "count": count} for year, count in years]},
    }
    page = search_page(found, ASKED.changed(sites=("b.example",), since="2016", until="2016"), SETTINGS)
    assert [(f.label, f.selected, f.share) for f in page.sites] == [("石油新闻", False, 20), ("b.example", True, 1)]
    page = search_page(found, ASKED, SETTINGS)
    assert [(f.value, f.count, f.share) for f in page.dates] == [("2014", 3, 2), ("2015", 0, 0), ("2016", 30, 20)]


def test_pages_stop_at_the_deepest_result() -> None:
    found = answer({})
    assert search_page(found, ASKED, SETTINGS).pages == 5
    found["response"]["numFound"] = 1_000_000
    assert search_page(found, ASKED, SETTINGS).pages == 100


def test_an_empty_answer_is_an_empty_page() -> None:
    page = search_page({}, ASKED, SETTINGS)
    assert (page.total, page.pages, page.hits, page.sites, page.dates) == (0, 1, (), (), ())


def test_json_has_the_documented_shape() -> None:
    page = search_page(answer({"body": ["[页岩气]井"]}, published_text="2016-05"), ASKED, SETTINGS)
    told = as_json(page, ASKED, SETTINGS)
    assert set(told) == {
        "query", "profile", "sort", "total", "partial", "took_ms", "page", "pages", "page_size", "hits", "facets",
    }  # fmt: skip
    assert told["hits"] == [
        {
            "id": "d1", "title": "页岩气开发", "url": "https://news.example/1", "site": "news.example",
            "published": "2016-05", "snippet": [{"text": "页岩气", "marked": True}, {"text": "井", "marked": False}],
        }
    ]  # fmt: skip
    assert set(told["facets"]) == {"sites", "dates"}


def test_site_counts() -> None:
    counts = site_counts(
        {"response": {"numFound": 9}, "facets": {"count": 9, "sites": 2, "newest": "2016-05-09T00:00:00Z"}}
    )
    assert (counts.documents, counts.sites, counts.newest) == (9, 2, "2016-05-09")
    assert site_counts({"response": {"numFound": 0}, "facets": {"count": 0}}).newest == ""
