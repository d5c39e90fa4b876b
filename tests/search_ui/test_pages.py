"""The public pages."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from flask import g
from jinja2 import Environment, nodes
from werkzeug.test import TestResponse

import search_ui
from crawler.progress import Tally
from crawler.traps.trap_detector import TrapKind
from domain.account import Role
from domain.article import PageType
from domain.errors import LexiconError, SolrError, SolrStartingError, SolrUnavailableError
from domain.file_formats import FORMATS_BY_NAME, HTML_FORMAT
from domain.message import Message, parse_message, serialize_message
from domain.outcome import CERTIFICATE_ERROR, SUCCESS_REASONS, Outcome, Reason, Stage
from domain.run import RunHistory, RunState, RunSummary
from domain.term import Lexicon, LexiconEntry, TermStatus
from extractor.documents.content import damaged_error, no_text_error
from lexicon.jieba_dictionary import find_term_error
from search_ui.admin.site_views import MESSAGE_BY_ACTION
from search_ui.i18n import (
    load_catalog,
    load_names,
    translate,
    translate_error,
    translate_message_to,
    translate_to,
)
from search_ui.pages.public_views import page_number_window
from search_ui.query.search_request import PARAM_BY_FILTER
from search_ui.settings import SearchSettings
from search_ui.vocabulary_cache import VocabularyCache
from solr_client import solr_fields
from tests.site_fixture import ONE_GOOD_RUN, FakeSearch, MemorySite, OneVector, document, sign_in, site_app

_ROOT = Path(search_ui.__file__).parents[1]
_PACKAGES = ("crawler", "docstore", "domain", "extractor", "focused", "indexer", "lexicon", "locks", "pipeline")
_MESSAGE_FUNCTIONS = ("Message", "translate", "translate_to", "translate_markup")
TWENTY_FIVE = [document(n, f"页岩气开发之{n}", "四川盆地页岩气产量上升。", site=f"s{n % 2}.example") for n in range(25)]

WITH_TOOLS = SearchSettings(developer_tools=True)


def soup(response: TestResponse) -> BeautifulSoup:
    return BeautifulSoup(response.text, "lxml")


def test_home_counts_what_can_be_searched() -> None:
    actions = MemorySite(published=Lexicon(3, (LexiconEntry("页岩气"), LexiconEntry("压裂"))))
    page = soup(site_app(FakeSearch(TWENTY_FIVE), actions).test_client().get("/?lang=en"))
    assert page.select_one("#counts").get_text(" ", strip=True).split("\n")[0].startswith("25 documents · 2 sites")
    assert "version 3: 2 terms" not in page.get_text()
    opened = site_app(FakeSearch(TWENTY_FIVE), actions, WITH_TOOLS).test_client()
    assert "version 3: 2 terms" in soup(opened.get("/?lang=en")).get_text()


def test_home_opens_without_solr() -> None:
    response = site_app(FakeSearch(error=SolrUnavailableError("down"))).test_client().get("/")
    assert response.status_code == 200 and "搜索服务暂时不可用" in response.text


def test_results_show_hits_with_matches_marked() -> None:
    page = soup(site_app(FakeSearch(TWENTY_FIVE)).test_client().get("/search?q=页岩气"))
    hits = page.select("#hits > li")
    assert len(hits) == 10
    assert hits[0].h2.a["href"] == "https://s0.example/0.html"
    assert set(hits[0].h2.a["rel"]) == {"noopener", "noreferrer", "nofollow"}
    assert [mark.text for mark in hits[0].select("mark")] == ["页岩气", "页岩气"]
    assert "25 条结果" in page.select_one("#total").text
    assert page.select_one("#q")["value"] == "页岩气"


@pytest.mark.parametrize(
    ("text_source", "marks"),
    [
        ("ocr", {"en": "read by OCR", "zh": "由文字识别得到"}),
        ("partly_ocr", {"en": "partly read by OCR", "zh": "部分由文字识别得到"}),
    ],
)
def test_text_read_by_ocr_is_marked_wherever_it_is_shown(text_source: str, marks: dict[str, str]) -> None:
    fields = {solr_fields.FORMAT: "pdf", solr_fields.TEXT_SOURCE: text_source}
    scan = document(1, "页岩气年报", "四川盆地页岩气产量上升。") | fields
    client = site_app(FakeSearch([scan, TWENTY_FIVE[2]])).test_client()
    for language, mark in marks.items():
        for address in ("/search?q=页岩气", "/article/doc1?q=页岩气"):
            shown = soup(client.get(f"{address}&lang={language}")).select("[data-text-source]")
            assert [element.text for element in shown] == [mark]
    assert [hit["text_source"] for hit in client.get("/api/v1/search?q=页岩气").json["hits"]] == [text_source, ""]
    assert client.get("/api/v1/articles/doc1").json["text_source"] == text_source


def test_pages_follow_each_other() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    first = soup(client.get("/search?q=页岩气&site=s0.example&site=s1.example"))
    last = soup(client.get(first.select_one("a[rel=next]")["href"]))
    last = soup(client.get(last.select_one("a[rel=next]")["href"]))
    assert last.select_one("#hits")["start"] == "21" and len(last.select("#hits > li")) == 5
    assert last.select_one("a[rel=next]") is None
    assert last.select_one("nav.pages [aria-current=page]").text == "3"


@pytest.mark.parametrize(
    ("present", "last", "numbers"),
    [
        (1, 1, [1]),
        (1, 20, [1, 2, 3, 4, 5, 6, 7]),
        (10, 20, [7, 8, 9, 10, 11, 12, 13]),
        (20, 20, [14, 15, 16, 17, 18, 19, 20]),
    ],
)
def test_page_numbers(present: int, last: int, numbers: list[int]) -> None:
    assert page_number_window(present, last) == numbers


def test_a_site_is_chosen_and_dropped_again() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    page = soup(client.get("/search?q=页岩气"))
    chosen = soup(client.get(page.select("#sites .toggle")[1]["href"]))
    assert "12 条结果" in chosen.select_one("#total").text
    assert chosen.select_one("#sites a[aria-current=true] bdi").text == "s1.example"
    dropped = soup(client.get(chosen.select_one("#sites a[aria-current=true]")["href"]))
    assert "25 条结果" in dropped.select_one("#total").text
    assert chosen.select_one("form[role=search] input[name=site]")["value"] == "s1.example"


def test_a_year_of_the_histogram_narrows_to_it() -> None:
    search = FakeSearch(TWENTY_FIVE)
    client = site_app(search).test_client()
    bar = soup(client.get("/search?q=页岩气")).select_one("#dates a")
    assert bar["aria-label"] == "2016：25 条结果" and bar.select_one(".column")["height"] == "74.0"
    client.get(bar["href"])
    narrowed = ("fq", "{!tag=date}published:[2016-01-01T00:00:00Z TO 2017-01-01T00:00:00Z}")
    assert [narrowed in sent for sent in search.asked if ("start", "0") in sent] == [False, True]


def test_no_results_help_the_reader_on() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    page = soup(client.get("/search?q=四川钻井&site=s1.example&sort=date"))
    assert [chip.text for chip in page.select("#nothing .chips bdi")] == ["四川"]  # 钻井 would find nothing either
    assert "site=" not in page.select_one("#no-filters")["href"]


def test_the_query_is_cut_by_the_lexicon_of_the_index() -> None:
    search = FakeSearch()
    client = site_app(search, MemorySite(published=Lexicon(1, (LexiconEntry("世界石油大会"),)))).test_client()
    sent: dict[str, str] = {}
    for profile in ("domain", "base"):
        client.get(f"/search?q=世界石油大会&profile={profile}")
        sent |= {name: value for params in search.asked for name, value in params}
    assert sent["domain_words"] == "世界石油大会"
    assert sent["base_words"].split("\u200b") == ["世界", "石油", "大会"]


@pytest.mark.parametrize("query", ["", "*", "，。", "\0"])
def test_nothing_to_search_for_asks_nothing(query: str) -> None:
    search = FakeSearch(TWENTY_FIVE)
    response = site_app(search).test_client().get("/search", query_string={"q": query})
    assert response.status_code == 200 and search.asked == []
    assert soup(response).select_one("#q") is not None


def test_a_long_query_is_echoed_whole_and_searched_in_part() -> None:
    search = FakeSearch()
    page = soup(site_app(search).test_client().get("/search", query_string={"q": "页岩" * 200}))
    assert page.select_one("#q")["value"] == "页岩" * 200
    texts = [named["text"] for named in map(dict, search.asked) if "text" in named]
    assert set(texts) == {"页岩" * 80}
    assert "160" in page.select_one(".note").text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/search?q=a&profile=edismax", 400),
        ("/nowhere", 404),
        ("/admin/lexicon/decide", 405),
    ],
)
def test_errors_are_pages_and_json(address: str, status: int) -> None:
    client = site_app().test_client()
    html = client.get(address)
    assert html.status_code == status and soup(html).select_one("[role=alert] h1").text
    told = client.get(address, headers={"Accept": "application/json"})
    assert told.status_code == status and told.is_json
    assert told.json["error"]["status"] == status and told.json["error"]["message"]


@pytest.mark.parametrize(
    ("name", "value"), [("page", "-1"), ("from", "x"), ("to", "2016-13"), ("to", "1999&from=2000"), ("sort", "size")]
)
def test_an_invalid_parameter_is_reported_beside_its_field_and_the_results_stay(name: str, value: str) -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    page = soup(client.get(f"/search?q=页岩气&{name}={value}"))
    assert len(page.select("#hits > li")) == 10 and page.select_one(f"#error-{name}").text
    assert name != "page" or page.select_one("#total #error-page")  # above the results of page 1
    field = page.select_one(f"input[name={name}][aria-describedby=error-{name}]")
    assert field is None if name in ("page", "sort") else field["value"] == value.partition("&")[0]
    assert client.get(f"/api/v1/search?q=页岩气&{name}={value}").status_code == 400


def test_related_results_follow_the_full_matches_behind_a_heading() -> None:
    documents = [document(n, "页岩气", "产量") for n in range(2)] + [document(2, "非常规天然气", "储层")]
    search = FakeSearch(documents, cosines={"doc1": 0.8, "doc2": 0.9, "doc0": 0.7})
    page = soup(site_app(search, query_vectors=OneVector()).test_client().get("/search?q=页岩气"))
    assert [hit.h2.text.strip() for hit in page.select("#hits > li")] == ["页岩气", "页岩气"]
    [related] = page.select("#related-hits > li")
    assert "非常规天然气" in related.h2.text and related.select_one(".by-meaning").text == "语义匹配"
    assert "2 条结果" in page.select_one("#total").text and "2 条" in page.select_one("#counted").text
    assert page.select("nav.pages") == [] and related.h2["lang"] == "zh"


def test_dates_can_be_chosen_and_the_oldest_can_come_first() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE), clock=lambda: 1_463_011_200.0).test_client()  # 2016-05-12
    page = soup(client.get("/search?q=页岩气&sort=oldest"))
    links = [link["href"].partition("from=")[2] for link in page.select(".presets a")]
    assert links == ["2016-05-06&sort=oldest", "2016-04-13&sort=oldest", "2015-05-14&sort=oldest"]
    assert page.select_one(".sorts [aria-current]").text == "最早"


def test_no_time_is_displayed_that_excludes_a_part_of_the_response() -> None:
    page = soup(site_app(FakeSearch(TWENTY_FIVE)).test_client().get("/search?q=页岩气"))
    assert page.select_one("#total").get_text(strip=True) == "25 条结果"


def test_solr_down_is_a_friendly_503() -> None:
    down = FakeSearch(error=SolrUnavailableError("connection refused at 127.0.0.1"))
    client = site_app(down, settings=WITH_TOOLS).test_client()
    for address in ("/search?q=a", "/compare?q=a"):
        response = client.get(address)
        assert response.status_code == 503 and response.headers["Retry-After"] == "10"
        assert "plumb status" in response.text and "127.0.0.1" not in response.text
    assert client.get("/search?q=a&format=json").json["error"]["status"] == 503
    assert client.get("/healthz").status_code == 503


def test_a_refused_query_is_a_400() -> None:
    assert site_app(FakeSearch(error=SolrError("too many clauses"))).test_client().get("/search?q=a").status_code == 400


def test_the_unexpected_is_a_500_without_details() -> None:
    class Broken(FakeSearch):
        def select(self, params: object) -> dict[str, object]:
            raise RuntimeError("secret detail")

    app = site_app(Broken())
    app.extensions["plumbline"].caches.vocabulary = VocabularyCache(lambda reload: None)
    response = app.test_client().get("/search?q=a")
    assert response.status_code == 500 and "secret detail" not in response.text
    assert "日志" in response.text


def test_json_is_chosen_by_address_or_header() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    by_address = client.get("/search?q=页岩气&format=json").json
    by_header = client.get("/search?q=页岩气", headers={"Accept": "application/json"}).json
    assert by_address | {"took_ms": 0} == by_header | {"took_ms": 0} and by_address["total"] == 25
    assert client.get("/search?q=页岩气", headers={"Accept": "*/*"}).mimetype == "text/html"


def test_comparison_stands_side_by_side() -> None:
    search = FakeSearch([document(1, "世界石油大会", "开幕")])
    actions = MemorySite(published=Lexicon(1, (LexiconEntry("世界石油大会"),)))
    client = site_app(search, actions, WITH_TOOLS).test_client()
    page = soup(client.get("/compare?q=世界石油大会"))
    cut = page.select("#measures tbody tr")[0].find_all("td")
    assert [word.text for word in cut[0].select("bdi")] == ["世界", "石油", "大会"]
    assert [word.text for word in cut[1].select("bdi")] == ["世界石油大会"]
    assert len(page.select(".sides section .hit.whole")) == 2
    sides = client.get("/compare?q=世界石油大会&format=json").json["sides"]
    assert [(side["lexicon"], side["first_rank"]) for side in sides] == [("base", 1), ("domain", 1)]


@pytest.mark.parametrize("address", ["/", "/search?q=页岩气", "/article/doc1?q=页岩气", "/help"])
def test_a_reader_sees_no_tools_of_developers(address: str) -> None:
    """The comparison (MRR, P@10) and ranking profiles need a setting or a signed-in account."""
    reader = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    page = soup(reader.get(address))
    assert page.select('#profiles, a[href^="/compare"]') == []
    signed_in = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    sign_in(signed_in)
    for client in (signed_in, site_app(FakeSearch(TWENTY_FIVE), settings=WITH_TOOLS).test_client()):
        opened = soup(client.get(address))
        assert len(opened.select('nav a[href^="/compare"]')) == 1
        assert len(opened.select("#profiles a")) == (4 if address.startswith("/search") else 0)


def test_facets_show_their_first_values_and_more_behind_a_word() -> None:
    many = [document(n, "页岩气", "页岩气", site=f"s{n % 12:02}.example") for n in range(60)]
    authors = [
        one | {solr_fields.AUTHOR: f"作者{n % 3}", solr_fields.LANGUAGE: ("zh", "en")[n % 2]}
        for n, one in enumerate(many)
    ]
    client = site_app(FakeSearch(authors)).test_client()
    page = soup(client.get("/search?q=页岩气&lang=en"))
    assert len(page.select("#sites > ul .toggle")) == 8 and len(page.select("#sites details .toggle")) == 4
    assert "4 more" in page.select_one("#sites summary").text
    assert [bdi.text for bdi in page.select("#languages bdi")] == ["Chinese", "English"]
    assert len(page.select("#authors .toggle")) == 3
    assert page.select("#types, #sections") == []  # nothing to choose from
    narrowed = soup(client.get(page.select_one("#authors a")["href"]))
    assert "作者0" in narrowed.select_one("#narrowed").text
    kinds = [one | {solr_fields.PAGE_TYPE: ("article", "reference", "article")[n % 3]} for n, one in enumerate(many)]
    page = soup(site_app(FakeSearch(kinds)).test_client().get("/search?q=页岩气&lang=en"))
    assert [bdi.text for bdi in page.select("#types bdi")] == ["Articles", "Reference"]


def test_who_compares_is_asked_to_sign_in() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    asked = client.get("/compare?q=页岩气")
    assert asked.status_code == 303 and asked.headers["Location"].startswith("/admin/login?next=/compare")
    assert client.get("/compare?q=页岩气&format=json").status_code == 403
    assert client.get("/api/v1/compare?q=页岩气").status_code == 403
    sign_in(client)
    assert client.get("/compare?q=页岩气").status_code == 200


def test_health_robots_and_sign() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE), MemorySite(lag=4)).test_client()
    health = client.get("/healthz").json
    assert health.pop("runs") == {
        "last": "done", "last_good": "1970-01-01T00:00:00+00:00", "failed_since": None, "next": None
    }  # fmt: skip
    assert health == {"status": "ok", "title": "Plumbline", "documents": 25, "index_lag": 4}
    assert "Disallow: /search" in client.get("/robots.txt").text
    assert client.get("/favicon.ico").mimetype == "image/svg+xml"


def test_a_failed_run_is_told_to_whoever_watches_and_does_not_take_the_site_down() -> None:
    failed = RunSummary(200.0, 260.0, RunState.FAILED, (), "extract", "no disk")
    actions = MemorySite(runs=RunHistory((failed, *ONE_GOOD_RUN.runs), 0.0, 200.0, 86400.0))
    answer = site_app(FakeSearch(TWENTY_FIVE), actions).test_client().get("/healthz")
    assert (answer.status_code, answer.json["status"]) == (200, "ok")
    assert answer.json["runs"] == {
        "last": "failed", "last_good": "1970-01-01T00:00:00+00:00",
        "failed_since": "1970-01-01T00:03:20+00:00", "next": "1970-01-02T00:00:00+00:00",
    }  # fmt: skip
    assert "no disk" not in answer.text  # anyone may read this


@pytest.mark.parametrize(("language", "said"), [("zh", "搜索服务正在启动"), ("en", "Search is starting")])
def test_while_solr_starts_the_site_says_so_and_asks_again_by_itself(language: str, said: str) -> None:
    client = site_app(FakeSearch(error=SolrStartingError("not yet"))).test_client()
    answer = client.get(f"/search?q=页岩气&lang={language}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert said in answer.text
    assert '<meta http-equiv="refresh" content="5">' in answer.text
    told = client.get("/search?q=页岩气&format=json")
    assert (told.status_code, told.json["error"]["code"]) == (503, "starting")
    health = client.get("/healthz")
    assert (health.status_code, health.json["status"], health.json["runs"]["last"]) == (503, "starting", "done")
    assert client.get("/").status_code == 200  # the box is there to type in


def test_every_answer_carries_the_security_headers() -> None:
    client = site_app().test_client()
    for address in ("/", "/search?q=a", "/nowhere", "/admin/login", "/static/style.css", "/robots.txt"):
        headers = client.get(address).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"


def test_pages_obey_their_own_policy() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE), settings=WITH_TOOLS).test_client()
    for address in ("/", "/search?q=页岩气", "/compare?q=页岩气", "/admin/login"):
        page = soup(client.get(address))
        assert not page.select("style, script:not([src]), [style]")
        loaded = [
            tag.get("src") or tag.get("href")
            for tag in page.select("link[rel~=stylesheet], link[rel~=icon], script[src], img")
        ]
        assert loaded and all(address.startswith("/static/") for address in loaded)


# -- languages


def literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def message_calls() -> Iterator[tuple[str, str, frozenset[str], frozenset[str]]]:
    """Yield the singular, the plural, the placeholders and the values of each message that code or a template names."""
    for folder in (*_PACKAGES, "search_ui"):
        for file in (_ROOT / folder).rglob("*.py"):
            for call in ast.walk(ast.parse(file.read_text())):
                name = getattr(getattr(call, "func", None), "id", "")
                if not isinstance(call, ast.Call) or not (name in _MESSAGE_FUNCTIONS or name.endswith("Error")):
                    continue
                arguments = call.args[name.endswith("_to") :]
                texts = [literal(argument) for argument in arguments[:2]]
                is_open = any(keyword.arg is None for keyword in call.keywords)
                if texts and texts[0] and (name in _MESSAGE_FUNCTIONS or call.keywords):
                    yield from checked_call(
                        texts, [] if is_open else [str(word.arg) for word in call.keywords], is_open
                    )
    for file in (_ROOT / "search_ui" / "templates").iterdir():
        for call in Environment(extensions=["jinja2.ext.do"]).parse(file.read_text()).find_all(nodes.Call):
            if getattr(call.node, "name", "") in ("t", "t_html"):
                values = [word.key for word in call.kwargs]
                if isinstance(call.args[0], nodes.CondExpr):
                    for text in constants(call.args[0]):
                        yield from checked_call([text], values, call.dyn_kwargs is not None)
                else:
                    texts = [text for argument in call.args for text in constants(argument)]
                    yield from checked_call(texts, values, call.dyn_kwargs is not None)


def constants(node: nodes.Node) -> list[str]:
    """Return the texts of a text or a condition between texts in a template."""
    if isinstance(node, nodes.CondExpr) and node.expr2 is not None:
        return constants(node.expr1) + constants(node.expr2)
    assert isinstance(node, nodes.Const), node
    return [node.value]


def checked_call(
    texts: Sequence[str], values: Sequence[str], is_open: bool
) -> Iterator[tuple[str, str, frozenset[str], frozenset[str]]]:
    placeholders = frozenset(re.findall(r"\{(\w+)\}", "".join(texts)))
    yield texts[0], texts[1] if len(texts) > 1 else "", placeholders, placeholders if is_open else frozenset(values)


@pytest.mark.always
def test_every_message_has_a_translation_and_its_values() -> None:
    catalog, calls = load_catalog("zh"), list(message_calls())
    assert len(calls) > 1000
    for singular, plural, placeholders, values in calls:
        message = catalog.get(singular)
        assert message is not None and message.string, singular
        assert (message.id[1] if isinstance(message.id, tuple | list) else "") == plural, singular
        translation = message.string if isinstance(message.string, str) else message.string[0]
        assert set(re.findall(r"\{(\w+)\}", translation)) - {"n"} == placeholders - {"n"}, singular
        assert not values or placeholders <= values, singular


@pytest.mark.always
def test_every_translation_is_used() -> None:
    used = {text for singular, plural, *_ in message_calls() for text in (singular, plural)}
    for folder in (*_PACKAGES, "search_ui"):  # templates in tables
        for file in (_ROOT / folder).rglob("*.py"):
            used |= {literal(node) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)}
    ids = [message.id if isinstance(message.id, str) else message.id[0] for message in load_catalog("zh") if message.id]
    assert [text for text in ids if text not in used] == []


def test_names_of_codes_have_the_same_values_in_both_languages() -> None:
    for kind, names in load_names().items():
        for code, (*english, chinese) in names.items():
            assert 1 <= len(english) <= 2 and chinese, (kind, code)
            forms = [set(re.findall(r"\{(\w+)\}", form)) - {"n"} for form in (*english, chinese)]
            assert forms[1:] == forms[:-1], (kind, code)


def test_numbers_are_grouped_and_one_is_one() -> None:
    with site_app().test_request_context("/?lang=en"):
        g.language = "en"
        assert translate("1 result", "{n} results", n=1) == "1 result"
        assert translate("1 result", "{n} results", n=12345) == "12,345 results"


@pytest.mark.parametrize(
    ("address", "headers", "language"),
    [
        ("/", {}, "zh-Hans"),
        ("/", {"Accept-Language": "en-GB,en;q=0.9"}, "en"),
        ("/", {"Accept-Language": "fr"}, "en"),
        ("/", {"Accept-Language": "zh-TW"}, "zh-Hans"),
        ("/?lang=en", {"Accept-Language": "zh"}, "en"),
        ("/?lang=<script>", {}, "zh-Hans"),
    ],
)
def test_the_language_is_found(address: str, headers: dict[str, str], language: str) -> None:
    assert soup(site_app().test_client().get(address, headers=headers)).html["lang"] == language


def test_a_program_without_a_language_is_answered_in_english() -> None:
    client = site_app().test_client()
    assert client.get("/api/v1/articles/nope").json["error"]["message"] == "Page not found"
    refused = client.delete("/search")
    assert refused.status_code == 405 and "GET" in refused.headers["Allow"]


def test_the_language_button_of_an_answer_to_a_form_leads_to_a_page() -> None:
    client = site_app().test_client()
    token = sign_in(client)
    for address in ("/admin/lexicon/import", "/admin/lexicon/decide", "/admin/page/remedy"):
        data = {"token": token, "list": (BytesIO("页岩气\x07\n".encode()), "list.txt")}
        page = soup(client.post(address, data=data))
        target = page.select_one("form.language").get("action") or address
        assert client.get(target, follow_redirects=True).status_code == 200, address


def test_a_chosen_language_stays_and_the_switch_keeps_the_search() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    page = soup(client.get("/search?q=页岩气&site=s1.example&lang=en"))
    assert soup(client.get("/")).html["lang"] == "en"
    kept = [(field["name"], field["value"]) for field in page.select("form.language input")]
    assert kept == [("q", "页岩气"), ("site", "s1.example")]
    assert page.select_one("form.language button")["value"] == "zh"


def test_every_field_has_a_label_and_every_page_its_landmarks() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE), settings=WITH_TOOLS).test_client()
    for address in ("/", "/search?q=页岩气", "/compare?q=页岩气", "/admin/login"):
        page = soup(client.get(address))
        assert (
            len(page.select("main")) == 1 and len(page.select("h1")) == 1 and page.select_one("header nav[aria-label]")
        )
        labelled = {label.get("for") for label in page.select("label")}
        for field in page.select("input:not([type=hidden]):not([aria-hidden])"):
            assert field.get("id") in labelled or field.find_parent("label"), field
        ids = [tag["id"] for tag in page.select("[id]")]
        assert len(ids) == len(set(ids))


def test_a_site_shows_its_name_and_an_unlinkable_hit_its_title() -> None:
    strange = document(1, "页岩气", "正文页岩气") | {solr_fields.URL: "ftp://news.example/1"}
    settings = SearchSettings(title="油气搜索", site_names={"news.example": "石油新闻"})
    page = soup(site_app(FakeSearch([strange]), settings=settings).test_client().get("/search?q=页岩气"))
    assert page.title.text == "页岩气 – 油气搜索"
    assert page.select_one(".hit .site").text == "石油新闻"
    assert page.select_one(".hit h2 a") is None and page.select_one(".hit h2").text.strip() == "页岩气"


# -- errors in the reader's language


def test_an_error_is_shown_in_the_language_of_the_reader() -> None:
    reasons = (
        Message("“{term}”: {reason}", term="a", reason=find_term_error("a\x07")),
        Message("“{term}”: {reason}", term="", reason=find_term_error("")),
    )
    error = LexiconError("Not accepted. {reasons}.", reasons=reasons)
    with site_app().test_request_context():
        g.language = "en"
        assert translate_error(error) == "Not accepted. “a”: contains the forbidden character U+0007; “”: no term."
        g.language = "zh"
        assert translate_error(error) == "无法采纳。“a”：包含禁用字符 U+0007；“”：没有术语。"
        assert translate_error(LexiconError("a plain text")) == "a plain text"


def test_why_a_file_has_no_article_is_shown_in_the_language_of_the_reader() -> None:
    damaged = damaged_error(Message("{name} is missing", name="OFD.xml")).detail
    unknown = damaged_error(ValueError("Data format error")).detail
    assert (str(damaged), str(unknown)) == ("Damaged: OFD.xml is missing", "Damaged: Data format error")
    assert translate_message_to("zh", damaged) == "文件已损坏：缺少 OFD.xml"
    assert translate_message_to("zh", unknown) == "文件已损坏：Data format error"
    assert translate_message_to("en", no_text_error(1200).detail) == "There is no text on the 1,200 pages"


def test_no_blank_follows_a_chinese_sentence() -> None:
    """Templates join a sentence and what follows it with `sentence_gap`."""
    folder = Path(search_ui.__file__).parent / "templates"
    joined = re.compile(r'\{\{ t(?:_html)?\("([^"]+)"[^{}]*\}\}(?:\{%[^%]*%\})* (?=<a|\{\{)')
    texts = {match[1] for file in folder.glob("*.html") for match in joined.finditer(file.read_text())}
    assert [text for text in texts if translate_to("zh", text).endswith("。")] == []


def test_every_code_that_a_run_records_has_a_name() -> None:
    for kind, codes in (("reason", (*Reason, CERTIFICATE_ERROR)), ("stage", Stage), ("run_state", RunState)):
        names = load_names()[kind]
        assert set(codes) <= set(names)
    for kind, codes in (
        ("duration", ("days", "hours", "minutes")),
        ("setup", [f"contact_{problem}" for problem in ("missing", "example", "not_ascii", "invalid")]),
        ("site_change", ("changed", *MESSAGE_BY_ACTION.values())),
        ("field", PARAM_BY_FILTER.values()),
        ("status", ("automatic", *TermStatus)),
        ("role", Role),
        ("format", (HTML_FORMAT, *FORMATS_BY_NAME)),
        ("type", set(PageType) - {""}),
    ):
        assert set(codes) <= set(load_names()[kind]), kind
    assert len({name[0] for name in load_names()["reason"].values()}) == len(Reason) + 1


def test_links_that_are_not_followed_are_counted_in_the_language_of_the_reader() -> None:
    traps = [Message("crawler trap ({kind})", kind=kind.message) for kind in TrapKind]
    causes: list[str] = [*Reason, *traps]
    seed = Outcome(Reason.ROBOTS_FORBIDDEN)
    tally = Tally(rejected_links=Counter(dict.fromkeys(causes, 2)), pages_fetched=1, seed_outcomes={"http://a/": seed})
    notes = [parse_message(serialize_message(note)) for note in tally.report(1.0).notes]
    assert notes[0] == "Seed not fetched: http://a/: robots_forbidden"
    assert "2 off_scope" in notes[1] and "2 crawler trap (endless URLs of one kind)" in notes[1]
    assert translate_message_to("zh", notes[0]) == "起始网址未能抓取：http://a/（robots.txt 禁止抓取）"
    chinese = translate_message_to("zh", notes[1])
    assert "2 个超出抓取范围" in chinese and "2 个爬虫陷阱（同类网址无穷无尽）" in chinese
    assert "_" not in chinese


def has_english_text(node: ast.expr) -> bool:
    """Return whether an expression is a text with words that is no `Message`."""
    if isinstance(node, ast.JoinedStr):
        return any(map(has_english_text, node.values))
    if isinstance(node, ast.Subscript):
        return has_english_text(node.value)
    return isinstance(node, ast.Constant) and re.search("[A-Za-z]{3}", str(node.value)) is not None


@pytest.mark.always
def test_details_of_failures_can_be_translated() -> None:
    root, found = Path(search_ui.__file__).parents[1], []
    for folder in ("crawler", "extractor", "docstore/articles", "docstore/frontier", "docstore/page_roles", "pipeline"):
        for file in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Outcome"):
                    continue
                reason = getattr(node.args[0], "attr", "")
                if reason in Reason.__members__ and Reason[reason] in SUCCESS_REASONS - {Reason.LIST_PAGE}:
                    continue
                found += [f"{file}:{node.lineno}" for detail in node.args[1:] if has_english_text(detail)]
    assert found == []


@pytest.mark.parametrize("address", ["/?lang=en", "/search?q=页岩气&lang=en", "/article/doc1?q=页岩气&lang=en"])
def test_chinese_text_on_an_english_page_has_a_language(address: str) -> None:
    docs = [replaced | {solr_fields.DOMAIN_TERMS: ["页岩气"]} for replaced in TWENTY_FIVE]
    app = site_app(FakeSearch(docs), settings=SearchSettings(title="油气资讯", site_names={"s1.example": "能源报"}))
    page = soup(app.test_client().get(address))
    texts = page.body.find_all(string=re.compile("[\u4e00-\u9fff]"))  # type: ignore[union-attr]
    assert texts
    assert not [text for text in texts if not str(text.find_parent(attrs={"lang": True})["lang"]).startswith("zh")]


def test_a_shared_list_of_bookmarks_shows_its_articles_in_order_and_what_is_gone() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    page = soup(client.get("/bookmarks?ids=doc3,gone,doc1,doc3,<b>&lang=en"))
    assert [item["data-id"] for item in page.select("#bookmarks li")] == ["doc3", "doc1"]
    assert page.select_one("#gone").text == "No longer in the collection: 1"
    exported = client.post(
        "/bookmarks", data={"ids": "doc3,gone,doc1", "format": "csl", "token": page.select_one("[name=token]")["value"]}
    )
    assert [item["id"] for item in exported.json] == ["doc3", "doc1"]
    form = {"ids": "doc1", "format": "docx", "token": page.select_one("[name=token]")["value"]}
    assert client.post("/bookmarks", data=form).status_code == 400


def test_a_link_has_at_most_a_hundred_bookmarks_and_an_export_ten_thousand() -> None:
    client = site_app(FakeSearch(TWENTY_FIVE)).test_client()
    many = ",".join(f"{n:032x}" for n in range(9_999))
    page = soup(client.get(f"/bookmarks?lang=en&ids={many[: 33 * 130]}"))
    assert "at most 100 articles; 30 are left out" in page.text
    token = page.select_one("[name=token]")["value"]
    exported = client.post("/bookmarks", data={"ids": f"{many},doc1", "format": "csl", "token": token})
    assert [item["id"] for item in exported.json] == ["doc1"]
