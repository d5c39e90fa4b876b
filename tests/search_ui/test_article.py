"""The page of one article."""

import re

from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.term import Lexicon, LexiconEntry
from search_ui.query.display_text import Segment
from search_ui.query.solr_requests import HIGHLIGHT_END, HIGHLIGHT_START
from search_ui.services.articles import is_doc_id, parse_article
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.builders import page_at
from tests.site_fixture import FakeSearch, MemorySite, document, site_app

FIRST = document(1, "页岩气开发", "四川盆地页岩气产量上升。\n第二段说压裂。") | {
    solr_fields.AUTHOR: "张三",
    solr_fields.SOURCE: "能源报",
    solr_fields.SECTION: "要闻",
    solr_fields.DOMAIN_TERMS: ["页岩气", "邓安澜", "cubic metres", "压裂"],
}
COPY = document(2, "页岩气开发（转载）", "四川盆地页岩气产量上升。") | {solr_fields.CLUSTER_ID: "doc1"}
OTHER = document(3, "煤层气", "煤层气开发。")


def client() -> FlaskClient:
    actions = MemorySite(published=Lexicon(1, (LexiconEntry("页岩气"), LexiconEntry("压裂"))))
    return site_app(FakeSearch([FIRST, COPY, OTHER]), actions).test_client()


def soup(address: str) -> BeautifulSoup:
    return page_at(client(), address)


def test_the_number_of_results_is_separated_from_that_of_documents() -> None:
    assert re.match(r"1 result\s+\(", soup("/search?q=页岩气&lang=en").select_one("#total").text.strip())  # type: ignore[union-attr]


def test_it_tells_what_is_known_of_the_article() -> None:
    page = soup("/article/doc1?lang=en")
    rows = {row.dt.text: row.dd.text.strip() for row in page.select("#details div")}  # type: ignore[union-attr]
    assert rows == {
        "Site": "news.example", "Published": "2016-05-09", "Author": "张三", "Source": "能源报", "Section": "要闻",
        "Language": "Chinese", "Length": "19 characters", "URL": "https://news.example/1.html",
    }  # fmt: skip
    assert page.select_one("#copy time").text == "2024-05-01 10:20 UTC"  # type: ignore[union-attr]
    assert [link.text for link in page.select("#terms a")] == ["页岩气", "压裂"]
    assert page.select_one("#original")["href"] == "https://news.example/1.html"  # type: ignore[index]
    assert page.select_one("meta[name=robots]")["content"] == "noindex"  # type: ignore[index]
    assert page.select_one("#why") is None


def test_the_kept_text_stands_in_paragraphs_with_the_query_marked() -> None:
    page = soup("/article/doc1?q=页岩气")
    assert [p.text for p in page.select("#text p")] == ["四川盆地页岩气产量上升。", "第二段说压裂。"]
    assert [mark.text for mark in page.select("h1 mark, #text mark")] == ["页岩气", "页岩气"]
    back = page.select_one(".back a")
    assert back is not None and str(back["href"]).startswith("/search?q=")


def test_the_parts_of_the_score_are_said_in_words() -> None:
    page = soup("/article/doc1?q=页岩气&lang=en")
    names = [name.text for name in page.select("#why .name")]
    assert names == ["Adjacent characters or words in the text", "Words in the title"]
    assert [one.text for one in page.select("#why .percent")] == ["75%", "25%"]
    assert [bar["width"] for bar in page.select("#why .fill")] == ["150", "50"]


def test_what_is_like_it_and_its_copies_are_listed() -> None:
    page = soup("/article/doc1")
    assert [link.text for link in page.select("#copies a")] == ["页岩气开发（转载）"]
    assert "煤层气" in [link.text for link in page.select("#similar a")]


def test_there_is_no_such_article() -> None:
    for address in ("/article/doc9", "/article/" + "x" * 65, "/article/a b", "/article/%E9%A1%B5%22"):
        assert client().get(address).status_code == 404, address


def test_ids() -> None:
    assert is_doc_id("19483a08b1c37add7bbe7c1afa962f04") and is_doc_id("doc1")
    assert not is_doc_id("") and not is_doc_id("{!func}") and not is_doc_id("a/b") and not is_doc_id("a\n")


def test_neighbouring_marks_are_one_within_a_line() -> None:
    marked = {solr_fields.BODY: [f"四川{HIGHLIGHT_START}页岩{HIGHLIGHT_END}{HIGHLIGHT_START}气{HIGHLIGHT_END}井\n次"]}
    found = parse_article({"response": {"docs": [FIRST]}, "highlighting": {"doc1": marked}}, SearchSettings())
    assert found is not None
    assert found.paragraphs == ((Segment("四川"), Segment("页岩气", True), Segment("井")), (Segment("次"),))
