"""Articles that only signed-in readers find: signed out, no place tells them from articles that do not exist."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from benchmarks.doors_leaks import (
    PRIVATE_ARTICLES,
    PUBLIC_ARTICLES,
    STRANGER,
    measure_leaks,
    open_vertical,
    unprobed_rules,
)
from crawler.site import Sites
from docstore.store import open_sqlite_store
from domain.account import Role
from domain.errors import SiteError
from domain.search_log import SIGNED_IN_MARK, LoggedSearch
from domain.term import Definition, Lexicon, LexiconEntry
from indexer.embedded_solr import EmbeddedSolr
from pipeline.follows.delivery import open_services
from pipeline.settings import find_signed_in_sites
from search_ui.api_tokens import ApiScope, create_token, hash_token
from search_ui.query.score_explanation import RankExplanation, ScorePart, without_scores
from search_ui.query.solr_query import MATCH_ALL, Params, select_params, whole_index_facet
from search_ui.settings import SearchSettings, SignedInSites
from search_ui.signed_out import LeftOutTerms, SignedOutSolr
from search_ui.vocabulary_cache import frequent_words_params
from tests.site_fixture import PASSWORD_HASH, FakeSearch, MemorySite, document, sign_in, site_app
from text.segment import RjiebaSegmenter

PRIVATE = "portal.example"
SETTINGS = SearchSettings(signed_in_sites=SignedInSites(frozenset([PRIVATE])), log_days=0)


@pytest.mark.solr
@pytest.mark.exhaustive
def test_signed_out_readers_learn_nothing(solr_node: EmbeddedSolr, tmp_path: Path) -> None:
    probes, leaks = measure_leaks(solr_node.url, tmp_path)
    assert leaks == 0 and probes >= 600


@pytest.mark.solr
@pytest.mark.always
def test_signed_in_readers_find_every_article(solr_node: EmbeddedSolr, tmp_path: Path) -> None:
    with open_vertical(solr_node.url, tmp_path, has_private=True) as (engine, app):
        assert unprobed_rules(app) == []  # a new route needs a probe
        assert open_services(engine).is_limited  # of followed searches
        engine.store.accounts.set_password("reader", PASSWORD_HASH)
        client = app.test_client()
        copies = [planted.doc_id for planted in PUBLIC_ARTICLES if planted.copy_of]  # of a private article
        for doc_id in copies:
            found = client.get("/api/v1/search", query_string={"cluster": doc_id}).get_json()
            assert {hit["id"] for hit in found["hits"]} == set(copies)
        sign_in(client, "reader")
        for planted in PRIVATE_ARTICLES:
            found = client.get("/api/v1/search", query_string={"q": planted.title}).get_json()
            assert planted.doc_id in [hit["id"] for hit in found["hits"]], planted
            page = client.get(f"/article/{planted.doc_id}", headers={"Accept-Language": "en"})
            assert page.status_code == 200 and "Only for signed-in readers" in page.text
            assert client.get(f"/article/{planted.doc_id}/original").status_code == 200
            assert page.headers["Cache-Control"] == "private, no-cache"


# -- which sites


def sites(*tables: dict[str, Any]) -> SignedInSites:
    return find_signed_in_sites(Sites.parse(tables))


@pytest.mark.parametrize(
    ("tables", "private", "public"),
    [
        ([{"urls": ["https://a.example/"]}], [], ["a.example"]),
        (
            [{"host": "a.example.com", "readers": "signed-in"}],
            ["a.example.com", "www.a.example.com"],
            ["example.com", "b.a.example.com", "a.example.com:8080"],
        ),
        ([{"host": "a.example:8080", "readers": "signed-in"}], ["a.example:8080"], ["a.example"]),
        (
            [{"host": "www.a.example", "readers": "signed-in"}, {"host": "a.example", "name": "A"}],
            ["a.example", "www.a.example"],
            [],
        ),
        (
            [{"host": "www.a.example", "readers": "signed-in"}, {"host": "a.example", "readers": "everyone"}],
            ["www.a.example"],
            ["a.example"],
        ),
        (
            [
                {"host": "*.example.com", "readers": "signed-in"},
                {"host": "news.example.com", "delay": 3},
                {"host": "open.example.com", "readers": "everyone"},
            ],
            ["example.com", "a.b.example.com", "a.example.com:81", "news.example.com"],
            ["open.example.com", "myexample.com"],
        ),
        (
            [{"host": "a.example.com", "readers": "signed-in", "scope": ["*.example.com"]}, {"host": "b.example.com"}],
            ["a.example.com", "c.example.com"],
            ["b.example.com"],
        ),
    ],
)
def test_a_site_is_its_host_and_its_scope(tables: list[dict[str, Any]], private: list[str], public: list[str]) -> None:
    covered = sites(*tables)
    assert [host for host in (*private, *public) if covered.covers(host)] == private
    assert [host for host in private if not covered.covers_url(f"https://{host}/x?y=//z")] == []
    assert bool(covered) is bool(private)


def test_a_login_makes_a_site_private_unless_everyone_may_read() -> None:
    site = Sites.parse([{"host": "a.example"}]).records[0]
    assert not site.is_for_signed_in and replace(site, login="basic").is_for_signed_in
    assert not replace(site, login="basic", readers="everyone").is_for_signed_in
    with pytest.raises(SiteError) as caught:
        sites({"host": "a.example", "readers": "staff"})
    assert "signed-in" in str(caught.value.problems["readers"])


# -- requests to Solr


class Recorder:
    """Answers nothing and keeps the requests."""

    def __init__(self) -> None:
        self.asked: list[Params] = []

    def select(self, params: Params) -> dict[str, Any]:
        self.asked.append(params)
        return {"facet_counts": {"facet_fields": {"spelling": ["gas", 2]}}}


def test_every_request_is_filtered_also_where_it_ignores_filters() -> None:
    recorder = Recorder()
    solr = SignedOutSolr(
        recorder, SignedInSites(frozenset([PRIVATE]), frozenset(["b.example"]), frozenset(["c.b.example"]))
    )
    nested = {
        "type": "terms",
        "field": "site",
        "facet": {"all": whole_index_facet("a:b"), "own": {"domain": {"excludeTags": "x"}}},
    }
    solr.select(select_params(MATCH_ALL, facets={"sites": nested}, extra_params=[("whole_index", "*:*")]))
    named = dict(recorder.asked[0])
    found = named["fq"]
    assert found == named["findable"] == named["whole_index"]
    assert (named["signed_in_hosts"], named["signed_in_domains"], named["public_hosts"]) == (
        PRIVATE,
        "b.example",
        "c.b.example",
    )
    facets = json.loads(named["json.facet"])["sites"]["facet"]
    assert facets["all"]["domain"]["query"] == ["*:*", found] and facets["own"]["domain"] == {"excludeTags": "x"}


def test_words_are_counted_by_a_facet() -> None:
    recorder = Recorder()
    solr = SignedOutSolr(recorder, SETTINGS.signed_in_sites)
    assert solr.select(frequent_words_params("spelling", 5))["terms"] == {"spelling": ["gas", 2]}
    solr.select(frequent_words_params("body_base", 5, ("\u3400", "\ua000")))
    assert all("terms" not in dict(asked) and ("facet.field" in dict(asked)) for asked in recorder.asked)
    assert dict(recorder.asked[1])["facet.matches"] == "[\u3400-\u9fff].*"


def test_terms_that_are_left_out_are_no_words() -> None:
    segmenter = LeftOutTerms(RjiebaSegmenter([("苍穹压裂法", 0, "n"), ("Shale Gas", 0, "n")]), ["苍穹压裂法"])
    words = segmenter.cut("研究苍穹压裂法和shale gas")
    assert "苍穹压裂法" not in words and "shale gas" in words and "".join(words) == "研究苍穹压裂法和shale gas"


def test_an_explanation_without_scores_depends_on_none() -> None:
    parts = (ScorePart("title", 3.0, 75, 15, ("b", "a")), ScorePart("body", 1.0, 25, 5, ("c",)))
    hidden = without_scores(RankExplanation(4.0, parts))
    assert not hidden.has_scores and [part.name for part in hidden.parts] == ["body", "title"]
    assert hidden == without_scores(RankExplanation(9.0, parts[::-1]))
    assert RankExplanation(0.0, ()).has_scores


# -- accounts


def client_of(search: FakeSearch | None = None, settings: SearchSettings = SETTINGS, **site: Any) -> FlaskClient:
    memory = MemorySite(**site)
    app = site_app(search, memory, settings, {"reader": Role.READER, "operator": Role.OPERATOR})
    client = app.test_client()
    client.memory = memory  # type: ignore[attr-defined]
    return client


def left_out(search: FakeSearch) -> set[str]:
    """Return the hosts that the requests of searches left out; words are loaded in the background."""
    searches = [named for asked in search.asked if "part0_text" in (named := dict(asked))]
    return {named.get("signed_in_hosts", "") for named in searches}


def test_who_is_signed_in_finds_everything_at_the_next_request() -> None:
    search = FakeSearch([document(1, "页岩气", "正文", site=PRIVATE)])
    client = client_of(search)
    page = client.get("/search?q=页岩气")
    assert left_out(search) == {PRIVATE} and "private" not in str(page.cache_control)
    assert client.get("/feed.atom?q=页岩气").cache_control.public
    sign_in(client, "reader")
    search.asked.clear()
    page = client.get("/search?q=页岩气", headers={"Accept-Language": "zh"})
    assert left_out(search) == {""}
    assert "仅登录读者可见" in page.text and page.headers["Cache-Control"] == "private, no-cache"
    assert not client.get("/feed.atom?q=页岩气").cache_control.public


def test_a_temporary_password_opens_nothing() -> None:
    search = FakeSearch([document(1, "页岩气", "正文")])
    client = client_of(search)
    client.memory.store.accounts.create("new", PASSWORD_HASH, [Role.READER], True)  # type: ignore[attr-defined]
    sign_in(client, "new")
    search.asked.clear()
    client.get("/search?q=页岩气")
    assert left_out(search) == {PRIVATE}


def test_a_token_counts_as_signed_in() -> None:
    search = FakeSearch([document(1, "页岩气", "正文", site=PRIVATE)])
    client, token = client_of(search), create_token()
    client.memory.store.api_tokens.create("reader", "t", hash_token(token), [ApiScope.SEARCH])  # type: ignore[attr-defined]
    client.get("/api/v1/search?q=页岩气")
    assert left_out(search) == {PRIVATE}
    search.asked.clear()
    answer = client.get("/api/v1/search?q=页岩气", headers={"Authorization": f"Bearer {token}"})
    assert left_out(search) == {""}
    assert answer.headers["Cache-Control"] == "private, no-cache" and "Authorization" in answer.vary


def test_settings_take_effect_with_the_next_request() -> None:
    search, settings = FakeSearch([document(1, "页岩气", "正文")]), [SearchSettings(log_days=0)]
    memory = MemorySite()
    app = site_app(search, memory)
    site = app.extensions["plumbline"]
    app.extensions["plumbline"] = replace(site, load_settings=lambda: settings[0])
    client = app.test_client()
    client.get("/search?q=页岩气")
    assert left_out(search) == {""}
    for host in (PRIVATE, "other.example"):
        settings[0] = replace(SETTINGS, signed_in_sites=SignedInSites(frozenset([host])))
        search.asked.clear()
        client.get("/search?q=页岩气")
        assert left_out(search) == {host}


def test_a_reader_lands_on_the_search_and_sees_no_administration() -> None:
    client = client_of(FakeSearch())
    start = client.get("/search?q=a", headers={"Accept-Language": "en"})
    link = re.search(r'id="sign-in" href="([^"]+)"', start.text)
    assert link is not None and link[1] == "/admin/login?next=/search?q%3Da"
    sign_in(client, "reader")
    assert client.get(link[1]).location == "/search?q=a"
    assert client.get("/admin/login").location == "/admin/" and client.get("/admin/").location == "/"
    home = client.get("/", headers={"Accept-Language": "en"}).text
    assert ">My account<" in home and ">Admin<" not in home
    assert client.get("/compare?q=a").status_code == 403 and "/compare" not in home
    account = client.get("/admin/account", headers={"Accept-Language": "en"}).text
    assert "Reader" in account and ">Overview<" not in account
    for rule in client.application.url_map.iter_rules():
        own = ("/admin/account", "/admin/login", "/admin/logout", "/admin/tokens", "/admin/connect", "/admin/")
        if (
            rule.rule.startswith("/admin/")
            and rule.rule not in own
            and "GET" in (rule.methods or ())
            and not rule.arguments
        ):
            assert client.get(rule.rule).status_code in (403, 404, 405), rule.rule


def test_nothing_changes_without_such_sites() -> None:
    search = FakeSearch([document(1, "页岩气", "正文")])
    client = client_of(search, SearchSettings(log_days=0))
    page = client.get("/search?q=页岩气")
    assert left_out(search) == {""} and 'id="sign-in"' not in page.text
    sign_in(client, "reader")
    assert "Cache-Control" not in client.get("/search?q=页岩气").headers


def test_searches_of_signed_in_readers_are_not_suggested(tmp_path: Path) -> None:
    with open_sqlite_store(tmp_path) as store:
        for day in range(3):
            for query, filters in (("public", "site"), ("secret", f"site {SIGNED_IN_MARK}")):
                at = 1e9 + 86_400 * day
                store.search_log.save([LoggedSearch(f"{query}{day}", query, 3, 5, filters=filters, searched_at=at)], ())
        assert store.search_log.popular_queries(9) == ["public"]


def test_public_pages_take_nothing_past_the_services_of_the_request() -> None:
    folder = Path(__file__).parents[2] / "search_ui"
    modules = [
        *folder.glob("pages/*.py"),
        *folder.glob("connect/*.py"),
        *folder.glob("services/*.py"),
        folder / "api.py",
    ]
    text = "\n".join(module.read_text() for module in modules)
    used = set(re.findall(r"current_site\(\)\.(solr|backend\.\w+)", text))
    assert used == {"backend.follows"}
    names = re.findall(r"(\w+)(?:, \w+)? = current_site\(\)", text)
    assert not [name for name in names if re.search(rf"\b{name}\.(solr|backend)\b", text) and name != "site"]


def test_definitions_and_takedowns_follow_their_urls() -> None:
    lexicon = Lexicon(1, (LexiconEntry("页岩气", synonyms=("苍穹压裂法",)), LexiconEntry("苍穹压裂法")))
    search = FakeSearch([{**document(1, "页岩气", "页岩气"), "domain_terms": ["页岩气"]}])
    client = client_of(search, published=lexicon)
    memory = client.memory  # type: ignore[attr-defined]
    memory.store.definitions.save(
        [
            Definition("页岩气", "zh", f"页岩气是{host}的说法。", n, f"https://{host}/{n}", "t", "", 0.99, 1.0)
            for n, host in enumerate((PRIVATE, "news.example"), 1)
        ],
        (),
    )
    listed = client.get("/terms/print", environ_base=STRANGER).text
    assert "news.example的说法" in listed and f"{PRIVATE}的说法" not in listed and "苍穹压裂法" not in listed
    assert client.get("/term/苍穹压裂法").status_code == 404
    sign_in(client, "reader")
    assert f"{PRIVATE}的说法" in client.get("/terms/print").text
