"""The page of a story and the links to it, with a real Solr."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import StoredArticle, document_id
from indexer.embedded_solr import EmbeddedSolr
from tests.builders import indexed, stored_article
from tests.site_fixture import MemorySite, site_app

pytestmark = pytest.mark.solr

STORY = "00112233aabbccdd"
TOLD = [
    ("a", "多哈冻产谈判破裂", "产油国在多哈的谈判未能达成协议。", "2016-04-18", STORY),
    ("b", "<b>产油国</b>谈判无果", "多哈谈判没有结果。", "2016-04-17", STORY),
    ("c", "多哈谈判之后", "油价在多哈谈判后下跌。", "2016-04-18", STORY),
    ("a", "多哈的天气", "多哈今天晴。", "2016-04-18", ""),
]


def stored(number: int, host: str, title: str, body: str, published: str, story: str) -> StoredArticle:
    return replace(stored_article(number, f"{host}.example", title, body, published), story_id=story)


@pytest.fixture(scope="module")
def reader(solr_node: EmbeddedSolr) -> Iterator[FlaskClient]:
    """A client of the site with `TOLD` and a near-duplicate of its first article."""
    articles = [stored(n, *row) for n, row in enumerate(TOLD)]
    articles.append(replace(stored(9, "d", *TOLD[0][1:]), duplicate_of=articles[0].doc_id))
    with indexed(solr_node.url, "stories", articles) as search:
        yield site_app(search, MemorySite()).test_client()  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "heading"), [("en", "Story:"), ("zh", "事件：")])
def test_a_story_is_a_timeline_of_what_is_no_copy(reader: FlaskClient, language: str, heading: str) -> None:
    response = reader.get(f"/story/{STORY}", headers={"Accept-Language": language})
    page = BeautifulSoup(response.text, "lxml")
    assert response.status_code == 200 and heading in page.h1.text  # type: ignore[union-attr]
    assert [day.text.strip() for day in page.select(".timeline h2")] == ["2016-04-17", "2016-04-18"]
    assert sorted(link.text for link in page.select(".timeline a")) == sorted(row[1] for row in TOLD[:3])
    assert "3" in page.select_one("#told").text  # type: ignore[union-attr]
    assert page.select_one(".timeline b") is None  # a title is text
    assert sorted(excerpt.text for excerpt in page.select(".excerpt")) == sorted(row[2] for row in TOLD[:3])
    assert page.select_one(".back") is None


def test_a_story_links_back_to_the_results(reader: FlaskClient) -> None:
    page = BeautifulSoup(reader.get(f"/story/{STORY}?q=多哈 谈判").text, "lxml")
    back = page.select_one(".back a")
    assert back is not None and "多哈 谈判" in back.text
    assert reader.get(str(back["href"])).status_code == 200 and str(back["href"]).startswith("/search?q=")
    article = page.select_one(".timeline a")
    assert article is not None and "?q=" in str(article["href"])


def test_hits_and_articles_lead_to_the_story(reader: FlaskClient) -> None:
    page = BeautifulSoup(reader.get("/search?q=多哈").text, "lxml")
    links = [hit.select_one("a.story") for hit in page.select("#hits > li")]
    story_url = f"/story/{STORY}?q=%E5%A4%9A%E5%93%88"
    assert [link["href"] for link in links if link] == [story_url] * 3 and links.count(None) == 1
    article = BeautifulSoup(reader.get(f"/article/{document_id('http://b.example/1')}").text, "lxml")
    assert article.select_one(f'#in-story a[href="/story/{STORY}"]')
    other = BeautifulSoup(reader.get(f"/article/{document_id('http://a.example/3')}").text, "lxml")
    assert other.select_one("#in-story") is None


@pytest.mark.parametrize("story_id", ["ffffffffffffffff", "x", "../etc", "%00", "0" * 500])
def test_a_story_that_is_not_told_is_not_found(reader: FlaskClient, story_id: str) -> None:
    assert reader.get(f"/story/{story_id}").status_code == 404
