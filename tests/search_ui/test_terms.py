"""The term pages, with a real Solr: every count equals the total of the search that it links to."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from urllib.parse import quote, unquote

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import StoredArticle, document_id
from domain.rising_term import RisingTerm
from domain.term import (
    AUTOMATIC_ACTOR,
    ConceptTerm,
    ConceptTermStatus,
    Definition,
    Lexicon,
    LexiconEntry,
    TermClass,
    TermStatus,
)
from domain.term_relation import RelationKind, RelationProposal, TermRelation
from indexer.embedded_solr import EmbeddedSolr
from search_ui.citations.formats import TermSource, format_term_bibtex
from search_ui.pages import glossary_views
from search_ui.query.solr_client import SolrSearchClient
from search_ui.services import home
from tests.builders import indexed, operate, page_at, stored_article
from tests.crash_harness import until
from tests.search_ui.test_api import fits, schema_of
from tests.search_ui.test_mcp import HEADERS as MCP_HEADERS
from tests.site_fixture import MemorySite, site_app, term

pytestmark = pytest.mark.solr

GAS = LexiconEntry("页岩气", synonyms=("shale gas", "LNG-X", "页岩瓦斯"), category=TermClass.SUBJECT)
NARROW = LexiconEntry("水平井", broader_terms=("页岩气", "未发布词"))
PUBLIC_PLACES = [
    "/", "/terms", "/terms?q=TCP", "/terms/print", "/terms/rising", "/terms/rising.atom", "/sitemap.xml",
    "/term/TCP%2FIP", "/term/页岩气", "/search?q=四川", "/search?q=TCP%2FIP", "/api/v1/terms", "/api/v1/search?q=四川",
    "/api/v1/terms?prefix=TCP", "/api/v1/terms/TCP%2FIP", "/api/v1/terms/页岩气", "/suggest?q=TCP&format=json",
    "/api/v1/suggest?q=TCP", f"/article/{document_id('http://a.example/1')}", "/mcp",
]  # fmt: skip
LEXICON = Lexicon(1, (GAS, LexiconEntry("tcp/ip", synonyms=("互联网协议",)), NARROW), published_at=1_700_000_000.0)
ROWS = [
    # host, title, published, section, author, whether the body has the term, number of citations
    ("a", "第一篇", "2015-03-02", "新闻", "张三", True, 0),
    ("a", "第二篇", "2015-03-09", "新闻", "李四", True, 3),
    ("b", "<b>第三篇</b>", "2015-05-01", "科技", "张三", True, 1),
    ("b", "第四篇", "2015-05", "科技", "", True, 0),
    ("b", "第五篇", "2015-05-03", "科技", "", False, 9),
    ("c", "第六篇", "", "", "", True, 0),
    ("c", "第七篇", "2099-01-01", "", "", True, 0),
    ("e", "第八篇", "", "", "", False, 0),  # has a synonym
]
ROWS += [("d", f"别的{n}", "2015-03-20", "新闻", "", False, 0) for n in range(20)]


def stored(
    number: int, host: str, title: str, published: str, section: str, author: str, has_term: bool, cited: int
) -> StoredArticle:
    subject = "页岩气TCP/IP" if has_term else "shale gas" if host == "e" else "煤"
    body = f"四川的{subject}产量在第{number}年增长了。" + chr(0x4E00 + 40 * number) * 30
    stored = stored_article(number, f"{host}.example", title, body, published, section=section, author=author)
    return replace(stored, citation_count=cited)


@pytest.fixture(scope="module")
def solr(solr_node: EmbeddedSolr) -> Iterator[SolrSearchClient]:
    """An index with `ROWS` and a near-duplicate of the first article."""
    articles = [stored(n, *row) for n, row in enumerate(ROWS)]
    articles.append(replace(stored(99, *ROWS[0]), duplicate_of=articles[0].doc_id))
    with indexed(solr_node.url, "termpages", articles, LEXICON) as search:
        yield search


@pytest.fixture
def actions() -> MemorySite:
    """Three published terms, and a candidate and a rejected term that are not published."""
    texts = [entry.text for entry in LEXICON.entries]
    accepted = [term(text, status=TermStatus.ACCEPTED) for text in texts]
    others = [term("候选词"), term("否决词", status=TermStatus.REJECTED)]
    return MemorySite([*accepted, *others], published=LEXICON)


@pytest.fixture
def reader(solr: SolrSearchClient, actions: MemorySite) -> FlaskClient:
    return site_app(solr, actions).test_client()  # type: ignore[arg-type]


def total(reader: FlaskClient, address: str) -> int:
    return int(reader.get(address + "&format=json").json["total"])


def test_every_count_equals_the_linked_search(reader: FlaskClient) -> None:
    page = page_at(reader, "/term/页岩气?lang=en")
    assert total(reader, page.select_one("#articles")["href"]) == total(reader, "/search?q=页岩气") == 7
    assert page.select_one("#articles").text == "7 articles"
    links = page.select("#sites a, #sections a, #authors a")
    counts = {(link.bdi.text, int(link.select_one(".count").text)) for link in links}
    assert counts == {
        ("a.example", 2), ("b.example", 2), ("c.example", 2), ("e.example", 1), ("新闻", 2), ("科技", 2),
        ("张三", 2), ("李四", 1),
    }  # fmt: skip
    for link in links:
        assert total(reader, link["href"]) == int(link.select_one(".count").text), link
    bars, rows = page.select("#months a"), page.select("#months-table tbody tr")
    assert [bar["aria-label"] for bar in bars] == [
        "2015-03: 2 of 22 articles (9.1%)", "2015-05: 2 of 3 articles (66.7%)",
    ]  # fmt: skip
    assert ["sparse" in bar.get("class", []) for bar in bars] == [False, True]
    assert "9.1%" in page.select_one("#months ~ p.muted:not(.range)").text  # the scale ignores the sparse month
    assert [total(reader, bar["href"]) for bar in bars] == [2, 2]
    assert [total(reader, row.a["href"]) for row in rows] == [int(row.td.text) for row in rows] == [2, 2]


def test_related_terms_are_shown_with_the_number_of_common_articles(reader: FlaskClient) -> None:
    page = page_at(reader, "/term/页岩气?lang=en")
    assert [link.text for link in page.select("#narrower a")] == ["水平井"] and not page.select("#broader")
    term_link, count_link = page.select("#often-together a")
    assert (term_link.text, count_link.text) == ("tcp/ip", "6 articles") and total(reader, count_link["href"]) == 6
    assert "computed from the articles" in page.select_one("#often-together").text
    narrow = page_at(reader, "/term/水平井?lang=zh").select_one("#broader")
    assert [word.text for word in narrow.select("bdi")] == ["页岩气", "未发布词"]
    assert [link.text for link in narrow.select("a")] == ["页岩气"]


def test_reviewed_related_terms_are_apart_from_computed_ones(reader: FlaskClient, actions: MemorySite) -> None:
    relations = actions.store.relations
    for other in ("tcp/ip", "未发布词"):
        relation = TermRelation(RelationKind.RELATED, min(other, "页岩气"), max(other, "页岩气"), "together", 0.5, "")
        relations.add_related([RelationProposal(relation, 1, "http://a.example/1", "题", 0.0)], "")
        operate(actions.store, "relation_accept", kind=relation.kind, term=relation.term, other=relation.other)
    page = page_at(reader, "/term/页岩气?lang=en")
    assert [link.text for link in page.select("#related a")] == ["tcp/ip"] and not page.select("#often-together")
    assert [link.text for link in page_at(reader, "/term/tcp%2Fip").select("#related a")] == ["页岩气"]
    assert reader.get("/api/v1/terms/页岩气").json["related"] == ["tcp/ip"]


def test_a_term_page_shows_names_first_use_and_articles(reader: FlaskClient) -> None:
    page = page_at(reader, "/term/页岩气?lang=en")
    details = {row.dt.text: row.dd.text.strip() for row in page.select("#details > div")}
    assert details["Abbreviation"] == "LNG-X" and details["In the other language"] == "shale gas"
    assert details["Synonyms"] == "页岩瓦斯" and details["Class"] == "Subject"
    assert details["Added in"].startswith("Lexicon version 1")
    assert "2015-03-02" in details["First use"] and "第一篇" in details["First use"]
    assert {link.text for link in page.select("#newest a")[:2]} == {"<b>第三篇</b>", "第四篇"}
    assert [link.text for link in page.select("#cited a")] == ["第二篇", "<b>第三篇</b>"]
    assert page.select_one("#newest b") is None
    json_ld = json.loads(page.select_one('script[type="application/ld+json"]').string)
    assert json_ld["@type"] == "DefinedTerm" and json_ld["name"] == "页岩气" and "shale gas" in json_ld["alternateName"]
    assert json_ld["url"] == page.select_one("link[rel=canonical]")["href"]


@pytest.mark.parametrize("place", PUBLIC_PLACES)
def test_no_public_place_shows_a_doubtful_word_that_no_person_accepted(
    reader: FlaskClient, actions: MemorySite, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The articles have it as TCP/IP, so `tcp/ip` is the entry of the lexicon, beside the kind of a suggestion."""
    monkeypatch.setattr(home, "MIN_HOME_SEARCHES", 1)
    today = date.today().isoformat()
    actions.store.rising_terms.save([RisingTerm("tcp/ip", today, 9, 0)])
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "term", "arguments": {"name": "TCP"}}}

    def shows_term() -> bool:
        if place == "/mcp":
            response = reader.post(place, json=call, headers=MCP_HEADERS)
        else:
            response = reader.get(place, follow_redirects=True)
        if "suggest" in place:
            return {"text": "tcp/ip", "kind": "term"} in response.json["suggestions"]
        return "tcp/ip" in unquote(response.text)

    until(shows_term)  # the vocabulary is loaded in the background
    actions.review.decide(["tcp/ip"], TermStatus.ACCEPTED, AUTOMATIC_ACTOR)
    assert not shows_term()
    actions.review.decide(["tcp/ip"], TermStatus.ACCEPTED, "anna")
    assert shows_term()


def test_a_nearly_certain_chinese_word_is_public_without_a_person() -> None:
    figures = {"页岩气": (0.9, 8), "水平井": (0.9, 7), "tcp/ip": (0.99, 99)}
    words = [term(text, score, document_count=count) for text, (score, count) in figures.items()]
    site = MemorySite(words, published=LEXICON)
    site.review.decide(list(figures), TermStatus.ACCEPTED, AUTOMATIC_ACTOR)
    assert site.store.lexicons.published_term_states(1).hidden_texts == {"水平井", "tcp/ip"}


@pytest.mark.parametrize("name", ["shale gas", "SHALE GAS", "页岩瓦斯", "頁岩氣"])
def test_another_name_leads_to_the_term(reader: FlaskClient, name: str) -> None:
    response = reader.get(f"/term/{quote(name)}?name=x&endpoint=y&lang=en")
    assert response.status_code == 302 and response.headers["Location"] == f"/term/{quote('页岩气')}?lang=en"


def test_a_name_may_contain_a_slash(reader: FlaskClient) -> None:
    assert reader.get("/term/tcp/ip").status_code == reader.get("/term/tcp%2Fip").status_code == 200


HOSTILE_NAMES = [
    "候选词", "否决词", "<script>alert(1)</script>", "</script>", "a/../b", "%", "%%2F%00", "{!func}", "x" * 10_000,
    "页" * 10_000, "\u202e", "..", "'\"&", "\udcff", " ",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("path", ["/term/", "/api/v1/terms/"])
def test_what_is_not_published_has_no_page(reader: FlaskClient, path: str, name: str) -> None:
    response = reader.get(path + quote(name, errors="surrogateescape"))
    assert response.status_code == 404 and "<script>alert" not in response.text


def test_the_error_page_of_an_unknown_term_searches_for_it(reader: FlaskClient) -> None:
    page = BeautifulSoup(reader.get("/term/未知词").text, "lxml")
    assert page.select_one("form[action='/search'] #q")["value"] == "未知词"


def test_a_withdrawn_term_has_no_page_before_the_next_version(reader: FlaskClient, actions: MemorySite) -> None:
    assert reader.get("/term/水平井").status_code == 200
    actions.review.decide(["水平井"], TermStatus.REJECTED, "operator")
    assert reader.get("/term/水平井").status_code == 404
    actions.store.review_history.undo("operator", None)
    assert reader.get("/term/水平井").status_code == 200


def test_markup_in_a_published_name_stays_text(solr: SolrSearchClient) -> None:
    name = "</script><b>x"
    lexicon = Lexicon(1, (LexiconEntry(name, synonyms=("<i>y</i>",)),), published_at=1.0)
    page = page_at(site_app(solr, MemorySite(published=lexicon)).test_client(), f"/term/{quote(name)}")  # type: ignore[arg-type]
    assert page.h1.text.strip() == name and page.select("b, i") == []
    json_ld = json.loads(page.select_one('script[type="application/ld+json"]').string)
    assert json_ld["name"] == name and json_ld["alternateName"] == ["<i>y</i>"]


def test_the_api_returns_the_same(reader: FlaskClient) -> None:
    response = reader.get("/api/v1/terms/shale%20gas")
    assert response.status_code == 200 and fits(response.json, schema_of("/terms/{name}", "200")), response.text
    answer = response.json
    assert (answer["name"], answer["articles"], answer["first_use"]) == ("页岩气", 7, "2015-03-02")
    assert (answer["broader"], answer["narrower"]) == ([], ["水平井"])
    assert answer["often_together"] == [{"name": "tcp/ip", "articles": 6}]
    assert answer["months"] == [
        {"month": "2015-03", "articles": 2, "all_articles": 22},
        {"month": "2015-04", "articles": 0, "all_articles": 0},
        {"month": "2015-05", "articles": 2, "all_articles": 3},
    ]


def test_the_terms_of_a_concept_have_their_status(reader: FlaskClient, actions: MemorySite) -> None:
    terms = [
        ConceptTerm("页岩气", "zh", ConceptTermStatus.PREFERRED),
        ConceptTerm("shale gas", "en", ConceptTermStatus.PREFERRED, "gas in shale"),
        ConceptTerm("LNG-X", "en"),
        ConceptTerm("页岩瓦斯", "zh", ConceptTermStatus.DEPRECATED),
    ]
    actions.review.edit_concept("页岩气", terms, "anna", None)
    page = page_at(reader, "/term/页岩气?lang=en")
    stable_url = page.select_one("#stable-link")["href"]
    assert stable_url in page.select_one("#citation").text and stable_url in page.select_one("#bibtex").text
    assert page.select_one("link[rel=canonical]")["href"].endswith(f"/term/{quote('页岩气')}")
    names = {row.dt.text: row.dd.text for row in page_at(reader, "/term/页岩气?lang=en").select("#details > div")}
    assert (names["Preferred terms"], names["Deprecated terms"]) == ("shale gas", "页岩瓦斯")
    assert names["Abbreviation"] == "LNG-X" and "Synonyms" not in names and "In the other language" not in names
    response = reader.get("/term/页岩瓦斯?lang=en", follow_redirects=True)
    note = BeautifulSoup(response.text, "lxml").select_one("#deprecated").text
    assert note == "“页岩瓦斯” is a deprecated term. The preferred term is “页岩气”."
    assert not page_at(reader, "/term/页岩气?lang=en&deprecated=x").select("#deprecated")
    answer = reader.get("/api/v1/terms/页岩气").json
    assert fits(answer, schema_of("/terms/{name}", "200"))
    assert {item["text"]: item["status"] for item in answer["concept"]["terms"]}["页岩瓦斯"] == "deprecated"


def listed(page: BeautifulSoup) -> list[str]:
    return [link.text for link in page.select(".terms a")]


def test_terms_are_listed_by_initial(reader: FlaskClient) -> None:
    page = page_at(reader, "/terms?lang=en")
    assert listed(page) == ["水平井", "tcp/ip", "页岩气"]
    assert [heading.text for heading in page.select("#term-list h2")] == ["S", "T", "Y"]
    assert page.select_one('nav.initials a[href*="new"]') is None  # the first version has no new terms
    assert listed(page_at(reader, "/terms?initial=Y")) == ["页岩气"]
    assert all(reader.get(link["href"]).status_code == 200 for link in page.select(".terms a, nav.initials a"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("岩", ["页岩气"]), ("shale", ["页岩气"]), ("yeyan", ["页岩气"]), ("TCP", ["tcp/ip"]), ("候选", []),
        ("<b>", []), ("x" * 10_000, []), ("%00{!", []),
    ],
)  # fmt: skip
def test_the_list_is_filtered_by_a_form(reader: FlaskClient, query: str, expected: list[str]) -> None:
    page = page_at(reader, f"/terms?q={quote(query)}")
    assert listed(page) == expected
    assert page.select_one("form#term-filter")["method"] == "get" and page.select("main b") == []


def test_the_list_is_paged() -> None:
    lexicon = Lexicon(1, tuple(LexiconEntry(f"term {n:03}") for n in range(250)), published_at=1.0)
    reader = site_app(site=MemorySite(published=lexicon)).test_client()
    address, names = "/terms?q=term", list[str]()
    while address:
        page = page_at(reader, address)
        names += listed(page)
        link = page.select_one('nav.pages a[rel="next"]')
        address = link["href"] if link else ""
    assert names == [entry.text for entry in lexicon.entries]
    for number in ("0", "-1", "x", "99", "9" * 5000):
        assert page_at(reader, f"/terms?page={number}").select_one(".terms")
    address, names = "/api/v1/terms?prefix=term%200", []
    while address:
        answer = reader.get(address).json
        assert fits(answer, schema_of("/terms", "200"))
        names += [one["name"] for one in answer["terms"]]
        address = answer["next"] or ""
    assert names == [entry.text for entry in lexicon.entries[:100]] and answer["total"] == 100


@pytest.mark.parametrize("query", ["页岩气", "shale gas", "頁岩氣", "页岩气&site=a.example"])
def test_a_search_for_a_term_shows_its_card(reader: FlaskClient, query: str) -> None:
    card = page_at(reader, f"/search?q={query}&lang=en").select_one("#term-card")
    assert card.h2.text == "页岩气" and "页岩瓦斯" in card.text
    assert {link["href"] for link in card.select("a")} == {f"/term/{quote('页岩气')}"}


@pytest.mark.parametrize(
    "query", ["水平井", "页岩气 产量", "候选词", "否决词", "“页岩气”", "-页岩气", "页岩气&page=2", "", "页"]
)
def test_other_searches_have_no_card(reader: FlaskClient, query: str) -> None:
    assert page_at(reader, f"/search?q={query}").select_one("#term-card") is None


def test_the_terms_of_an_article_lead_to_their_pages(reader: FlaskClient, actions: MemorySite) -> None:
    address = f"/article/{document_id('http://a.example/0')}"
    links = {link["href"] for link in page_at(reader, address).select("#terms a")}
    assert links == {f"/term/{quote('页岩气')}", "/term/tcp/ip"}
    actions.review.decide(["页岩气"], TermStatus.REJECTED, "operator")
    links = {link["href"] for link in page_at(reader, address).select("#terms a")}
    assert links == {"/term/tcp/ip"}


GONE_URL = "http://gone.example/x"


def save_definitions(actions: MemorySite) -> None:
    """Save a definition from the index, one from a page that is gone, and one that needs a recheck."""
    first, gone, outdated = (
        Definition("页岩气", "zh", sentence, n, url, title, "2015-03-02", score, 1.0, needs_recheck)
        for n, (sentence, url, title, score, needs_recheck) in enumerate(
            [
                ("页岩气是<b>天然气</b>。", "http://a.example/0", "<i>第一篇</i>", 0.95, False),
                ("页岩气指气。", GONE_URL, "别处", 0.92, False),
                ("页岩气是煤。", "http://a.example/1", "第二篇", 0.99, True),
            ],
            1,
        )
    )
    actions.store.definitions.save([first, gone, outdated], ())


def test_the_best_definition_is_quoted_with_its_source(reader: FlaskClient, actions: MemorySite) -> None:
    assert page_at(reader, "/term/页岩气").select(".definition") == []
    save_definitions(actions)
    page = page_at(reader, "/term/页岩气?lang=en")
    best, [other] = page.select_one("#definition"), page.select("#definitions .definition")
    assert best.blockquote.text == "页岩气是<b>天然气</b>。" and best.select("b, i") == []
    assert "<i>第一篇</i>" in best.text and best.time["datetime"] == "2015-03-02"
    assert [link["href"] for link in best.select("a")] == [
        "http://a.example/0", f"/article/{document_id('http://a.example/0')}",
    ]  # fmt: skip
    assert other.blockquote.text == "页岩气指气。" and [link["href"] for link in other.select("a")] == [GONE_URL]
    assert "页岩气是煤" not in page.text
    json_ld = json.loads(page.select_one('script[type="application/ld+json"]').string)
    assert json_ld["description"] == "页岩气是<b>天然气</b>。"
    assert "页岩气是<b>天然气</b>。" in page_at(reader, "/search?q=页岩气").select_one("#term-card").text
    response = reader.get("/api/v1/terms/页岩气")
    assert fits(response.json, schema_of("/terms/{name}", "200")), response.text
    assert [one["id"] for one in response.json["definitions"]] == [document_id("http://a.example/0"), None]


NAMES = ("甲烷", "乙烷", "丙烷", "丁烷")


def test_new_terms_are_those_of_the_last_two_versions() -> None:
    backend = MemorySite([term(name) for name in NAMES])
    for name in NAMES:
        backend.review.decide([name], TermStatus.ACCEPTED, "operator")
        backend.review.publish("operator")
    reader = site_app(site=backend).test_client()
    assert set(listed(page_at(reader, "/terms?new=1"))) == set(NAMES[2:])
    assert backend.first_version(NAMES[2]).version == 3
    assert backend.first_version("戊烷") is None


def test_the_list_is_filtered_by_class_and_printed(reader: FlaskClient, actions: MemorySite) -> None:
    page = page_at(reader, "/terms?class=subject&lang=en")
    assert page.select_one("#term-list > p").text.startswith("1 of 3 terms in lexicon version 1")
    assert listed(page) == ["页岩气"] and page.select_one('nav.initials a[aria-current="page"]').text == "Subject"
    assert listed(page_at(reader, "/terms?class=x")) == ["水平井", "tcp/ip", "页岩气"]
    save_definitions(actions)
    printed = page_at(reader, page.select_one('a[href^="/terms/print"]')["href"] + "&lang=en")
    assert [term.text.strip() for term in printed.select("dt")] == ["页岩气"]
    assert "页岩气是<b>天然气</b>。" in printed.text and "shale gas" in printed.text and "<i>第一篇</i>" in printed.text
    everything = page_at(reader, "/terms/print")
    assert [group.text for group in everything.select("h2")] == ["S", "T", "Y"] and len(everything.select("dt")) == 3
    assert everything.select("#print-limit") == []


def test_a_long_print_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary_views, "MAX_PRINTED_TERMS", 2)
    reader = site_app(site=MemorySite(published=LEXICON)).test_client()
    page = page_at(reader, "/terms/print?lang=en")
    assert len(page.select("dt")) == 2 and "first 2 of 3 terms" in page.select_one("#print-limit").text


def test_the_sitemap_lists_every_term_page(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = site_app(site=MemorySite(published=LEXICON)).test_client()
    [address] = re.findall("Sitemap: http://localhost(.*)", reader.get("/robots.txt").text)

    def addresses(path: str) -> list[str]:
        return [location.text for location in BeautifulSoup(reader.get(path).data, "xml").select("loc")]

    pages = addresses(address)
    assert len(pages) == 4 and all(reader.get(page).status_code == 200 for page in pages if "/terms" in page)
    assert f"http://localhost/term/{quote('页岩气')}" in pages and "http://localhost/term/tcp/ip" in pages
    monkeypatch.setattr(glossary_views, "MAX_SITEMAP_TERMS", 2)
    parts = addresses(address)
    assert len(parts) == 2 and {page for part in parts for page in addresses(part)} == set(pages)
    assert addresses("/sitemap.xml?page=9") == addresses(parts[-1])


def test_the_id_of_a_concept_leads_to_the_present_name() -> None:
    backend = MemorySite([term("甲烷"), term("沼气")])
    backend.review.decide(["甲烷"], TermStatus.ACCEPTED, "operator")
    backend.review.publish("operator")
    reader = site_app(site=backend).test_client()
    concept_id = backend.store.review_queue.find_terms(["甲烷"])["甲烷"].concept_id
    assert reader.get(f"/term/{concept_id}").headers["Location"] == f"/term/{quote('甲烷')}"
    backend.review.rename("甲烷", "甲烷气", "operator", None)
    backend.review.publish("operator")
    assert reader.get(f"/term/{concept_id}").headers["Location"] == f"/term/{quote('甲烷气')}"
    backend.review.decide(["甲烷气"], TermStatus.REJECTED, "operator")
    assert reader.get(f"/term/{concept_id}").status_code == reader.get("/term/c0123456789abcdef").status_code == 404


def test_without_terms_the_list_says_so() -> None:
    assert "No terms" in page_at(site_app().test_client(), "/terms?lang=en").main.text


def test_bibtex_has_no_syntax_of_the_name() -> None:
    source = TermSource("50% {a}\\b_", "A & B", 3, "2024-05-01", "https://a.example/term/50%25", "2024-06-01")
    assert format_term_bibtex(source) == (
        "@misc{term-50-a-b,\n"
        "  title = {{50\\% \\textbraceleft{}a\\textbraceright{}\\textbackslash{}b\\_}},\n"
        "  howpublished = {A \\& B, lexicon version 3},\n"
        "  year = {2024},\n"
        "  url = {https://a.example/term/50%25},\n"
        "  urldate = {2024-06-01},\n"
        "}\n"
    )
