"""Hostile text in every field: the structure of the pages does not change."""

import json
import re
from collections.abc import Iterable
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from docstore.terms.review import RelatedTerms
from domain.term import Term, TermStatus
from lexicon.jieba_dictionary import find_term_error
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.conftest import SHARED
from tests.site_fixture import FakeSearch, MemorySite, document, sign_in, site_app, term

pytestmark = pytest.mark.shared

Skeleton = list[tuple[str, tuple[str, ...]]]
COMMON = "页岩气"
PARAMETERS = ("page", "cursor", "site", "section", "cluster", "from", "sort", "profile", "lang", "format")


def rows(name: str) -> list[str]:
    lines = (SHARED / "data" / "hostile" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [row["text"] for row in map(json.loads, lines) if "text" in row]


def elements(html: str) -> list[HtmlElement]:
    assert "\0" not in html  # the parser would stop there
    parsed = document_fromstring(html.encode(), parser=HTMLParser(encoding="utf-8"))
    return [element for element in parsed.iter() if isinstance(element.tag, str)]


def skeleton(html: str) -> Skeleton:
    """Return the elements with the names of their attributes, in order, without highlighting."""
    return [
        (element.tag, tuple(sorted(map(str, element.attrib)))) for element in elements(html) if element.tag != "mark"
    ]


def assert_harmless(html: str) -> None:
    for element in elements(html):
        assert element.tag not in {"iframe", "object", "embed", "img", "base", "style", "math", "video", "audio"}
        assert element.tag != "script" or element.get("src", "").startswith("/static/")
        names = list(map(str, element.attrib))
        assert not [name for name in names if name.startswith("on") or name in ("style", "srcdoc")]
        for name in ("href", "src", "action"):
            assert element.get(name, "/").startswith(("/", "#", "https://", "http://")), element.attrib
        assert element.get("formaction", "/admin/").startswith("/admin/"), element.attrib


def batches(texts: list[str], size: int) -> Iterable[list[str]]:
    return (texts[start : start + size] for start in range(0, len(texts), size))


def results_page(documents: list[dict[str, Any]]) -> str:
    response = (
        site_app(FakeSearch(documents), settings=SearchSettings(page_size=100))
        .test_client()
        .get("/search", query_string={"q": COMMON})
    )
    assert response.status_code == 200
    return response.text


def test_titles_and_bodies_make_no_markup(step: int) -> None:
    for texts in batches((rows("xss") + rows("strings"))[::step], 100):
        hostile = [document(n, text, f"{text} {COMMON} {text}") for n, text in enumerate(texts)]
        harmless = [document(n, "题目", f"正文{COMMON}正文") for n in range(len(texts))]
        page = results_page(hostile)
        assert skeleton(page) == skeleton(results_page(harmless)), texts
        assert_harmless(page)


def article_page(texts: tuple[str, str]) -> str:
    title, body = texts
    named = dict.fromkeys(
        (solr_fields.SECTION, solr_fields.AUTHOR, solr_fields.SOURCE, solr_fields.LANGUAGE, solr_fields.PUBLISHED_TEXT),
        title,
    )
    held = (
        document(1, title, f"{body} {COMMON}\n{body}")
        | named
        | {solr_fields.URL: body, solr_fields.DOMAIN_TERMS: [title, body]}
    )
    neighbour = document(2, body, title) | {solr_fields.CLUSTER_ID: "doc1", solr_fields.URL: title}
    return site_app(FakeSearch([held, neighbour])).test_client().get(f"/article/doc1?q={COMMON}").text


@pytest.mark.always
def test_articles_make_no_markup(step: int) -> None:
    texts = [*rows("xss"), *rows("strings")][::step]
    for pair in zip(texts[::2], texts[1::2], strict=False):
        assert_harmless(article_page(pair))


def test_feeds_are_well_formed_whatever_they_hold(step: int) -> None:
    texts = (rows("xss") + rows("strings"))[::step]
    harmless = {kind: feed_of(["题目"] * 20, kind) for kind in ("atom", "rss")}
    for batch in batches(texts, 20):
        for kind, known in harmless.items():
            assert set(feed_of(batch, kind)) <= set(known), batch


def feed_of(texts: list[str], kind: str) -> list[str]:
    """Return the element names of a feed with these titles and bodies."""
    held = [document(n, f"{COMMON} {text}", text, text) | {solr_fields.URL: text} for n, text in enumerate(texts)]
    response = site_app(FakeSearch(held)).test_client().get(f"/feed.{kind}?q={COMMON}")
    return [element.tag for element in ElementTree.fromstring(response.data).iter()]


def test_addresses_sites_and_dates_make_no_markup(step: int) -> None:
    for texts in batches((rows("xss") + rows("strings"))[::step], 100):
        page = results_page(
            [
                document(n, COMMON, COMMON)
                | dict.fromkeys((solr_fields.URL, solr_fields.SITE, solr_fields.PUBLISHED_TEXT), text)
                for n, text in enumerate(texts)
            ]
        )
        assert_harmless(page)
        linked = {str(link["href"]) for link in BeautifulSoup(page, "lxml").select(".hit h2 a")}
        assert linked <= {text for text in texts if text.lower().startswith(("http://", "https://"))}


@pytest.mark.always
def test_queries_are_echoed_as_they_came_and_make_no_markup(step: int) -> None:
    client = site_app(FakeSearch()).test_client()
    for text in (rows("strings") + rows("xss") + rows("queries"))[::step]:
        response = client.get("/search", query_string={"q": text})
        assert response.status_code == 200, text
        assert_harmless(response.text)
        box = re.search(r'<input id="q"[^>]* value="([^"]*)"', response.text)
        assert box is not None
        assert unescape(box[1]) == text.replace("\0", "\ufffd"), text


def test_other_parameters_are_refused_or_harmless(step: int) -> None:
    client = site_app(FakeSearch()).test_client()
    for text in (rows("queries") + rows("xss")[::10])[::step]:
        for name in (
            "page",
            "site",
            "from",
            "to",
            "sort",
            "profile",
            "lang",
            "format",
            "section",
            "term",
            "cluster",
            "cursor",
            text,
        ):
            response = client.get("/search", query_string={"q": COMMON, name: text})
            assert response.status_code in (200, 400), (name, text)
            assert_harmless(response.text)


def queue_page(terms: list[Term]) -> str:
    client = site_app(site=MemorySite(terms)).test_client()
    sign_in(client)
    return client.get("/admin/lexicon").text


def test_terms_and_contexts_make_no_markup(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    near = LexiconReview.related_terms
    monkeypatch.setattr(
        LexiconReview, "related_terms", lambda desk, terms: [RelatedTerms()] * len(terms)
    )  # others' words
    harmless: dict[int, Skeleton] = {}  # by the number of terms
    for texts in batches((rows("xss") + rows("lexicon"))[::step], 20):
        hostile = [term(text, 100 - n, pos_tags=text, contexts=(f"前{text}后",)) for n, text in enumerate(texts)]
        page = queue_page(hostile)
        if len(texts) not in harmless:
            harmless[len(texts)] = skeleton(queue_page([term(f"词{n:02}", 100 - n) for n in range(len(texts))]))
        without_kinds = re.sub('<form class="same-kind".*?</form>', "", page, flags=re.S)  # of quantities and names
        assert skeleton(without_kinds) == harmless[len(texts)]
        assert_harmless(page)
    monkeypatch.setattr(LexiconReview, "related_terms", near)
    client = site_app(site=MemorySite(hostile)).test_client()
    sign_in(client)
    assert_harmless(client.get("/admin/lexicon").text)
    for one in hostile:
        assert_harmless(client.get("/admin/lexicon/term", query_string={"text": one.text}).text)


def test_a_hostile_term_can_be_decided_like_any_other() -> None:
    texts = [text for text in rows("xss") if "\r" not in text and "\0" not in text][:20]
    held = MemorySite([term(text, 100 - n) for n, text in enumerate(texts)])
    client = site_app(site=held).test_client()
    sign_in(client)
    for form in BeautifulSoup(client.get("/admin/lexicon").text, "html.parser").select("form.decide"):
        sent = {str(field["name"]): str(field["value"]) for field in form.select("input")}
        for decision in ("accepted", "rejected"):
            response = client.post("/admin/lexicon/decide", data={**sent, "decision": decision}, follow_redirects=True)
            assert_harmless(response.text)
    for one in held.all_terms:
        assert one.status is (TermStatus.REJECTED if find_term_error(one.text) else TermStatus.ACCEPTED)
    for path in ("/admin/lexicon?status=accepted", "/admin/lexicon/preview", "/admin/lexicon/history"):
        assert_harmless(client.get(path).text)
