"""The page and the feed of rising terms, and their mark in the review."""

from datetime import UTC, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.rising_term import RisingTerm
from domain.term import Lexicon, LexiconEntry, TermStatus
from search_ui.services.terms import MAX_RISING_DAYS
from tests.site_fixture import FakeSearch, MemorySite, sign_in, site_app, term

NOW = datetime(2024, 5, 20, 12, tzinfo=UTC)
RISING = [RisingTerm("页岩气", "2024-05-19", 1200, 2), RisingTerm("<b>", "2024-05-18", 9, 0)]


def client_with(rising: list[RisingTerm]) -> FlaskClient:
    published = Lexicon(1, tuple(LexiconEntry(term.text) for term in RISING))
    return site_app(FakeSearch(), MemorySite(published=published, rising=rising), clock=NOW.timestamp).test_client()


def page_of(client: FlaskClient, address: str, language: str = "en") -> BeautifulSoup:
    return BeautifulSoup(client.get(address, headers={"Accept-Language": language}).text, "lxml")


def test_each_rising_term_links_to_its_articles_since_the_rise() -> None:
    rows = page_of(client_with(RISING), "/terms/rising").select("#rising li")
    assert [row.a.text for row in rows] == ["页岩气", "<b>"]
    assert [unquote(str(row.a["href"])) for row in rows] == ["/term/页岩气", "/term/<b>"]
    articles = rows[0].select("a")[1]
    assert articles.text == "Search since then" and "rose from 2 to 1,200 articles since 2024-05-19" in rows[0].text
    address = urlsplit(str(articles["href"]))
    assert address.path == "/search" and parse_qs(address.query) == {"q": ["页岩气"], "from": ["2024-05-19"]}
    chinese = page_of(client_with(RISING), "/terms/rising", "zh").select("#rising li")
    assert "自 2024-05-19 起，相关文章由 2 篇增至 1,200 篇" in chinese[0].text


def test_old_rises_are_not_shown() -> None:
    old = [RisingTerm("旧闻", "2024-04-01", 50, 0)]
    assert MAX_RISING_DAYS < 30
    page = page_of(client_with(old), "/terms/rising")
    assert not page.select("#rising") and page.select(".nothing")
    assert not page_of(client_with(old), "/").select("#to-rising")
    assert page_of(client_with(RISING), "/").select("#to-rising")


def test_the_list_of_terms_links_to_the_rising_ones() -> None:
    lexicon = Lexicon(1, (LexiconEntry("页岩气"),))
    for rising, link_count in ((RISING, 1), ([], 0)):
        held = MemorySite(published=lexicon, rising=rising)
        client = site_app(FakeSearch(), held, clock=NOW.timestamp).test_client()
        assert len(page_of(client, "/terms").select("nav.initials a[href='/terms/rising']")) == link_count


def test_rising_terms_are_a_feed() -> None:
    client = client_with(RISING)
    response = client.get("/terms/rising.atom")
    assert response.content_type == "application/atom+xml; charset=utf-8"
    feed = BeautifulSoup(response.text, "xml")
    assert [entry.title.text for entry in feed.find_all("entry")] == ["页岩气", "<b>"]
    assert feed.entry.updated.text == "2024-05-19T00:00:00+00:00" and feed.feed.updated.text == feed.entry.updated.text
    assert "from=2024-05-19" in feed.entry.link["href"]
    again = client.get("/terms/rising.atom", headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("address", ["/admin/lexicon", "/admin/lexicon/term?text=词1"])
def test_the_review_marks_a_rising_candidate_with_the_reason(address: str) -> None:
    held = MemorySite([term("词0", 9.0), term("词1", 5.0)])
    held.store.rising_terms.save([RisingTerm("词1", "2024-05-19", 30, 2)])
    client = site_app(FakeSearch(), held).test_client()
    sign_in(client)
    page = BeautifulSoup(client.get(address, headers={"Accept-Language": "en"}).text, "lxml")
    assert [badge.text for badge in page.select(".badge.rising")] == ["Rising"]
    assert page.select_one(".rise").text == "rose from 2 to 30 articles since 2024-05-19"
    assert page.select_one(".term bdi, h1 bdi").text == "词1"


def test_the_best_candidates_are_accepted_without_those_that_only_rise() -> None:
    held = MemorySite([term("词0", 9.0), term("词1", 5.0)])
    held.store.rising_terms.save([RisingTerm("词1", "2024-05-19", 30, 2)])
    client = site_app(FakeSearch(), held).test_client()
    token = sign_in(client)
    client.post("/admin/lexicon/bulk", data={"token": token, "top": "1", "decision": "accepted", "status": "candidate"})
    assert [one.status for one in held.all_terms] == [TermStatus.ACCEPTED, TermStatus.CANDIDATE]
