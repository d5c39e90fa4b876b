"""Programs of others: Dify's retrieval API, SearXNG, and the page that says how to connect them."""

from typing import Any
from urllib.parse import quote

import pytest
import yaml
from bs4 import BeautifulSoup
from flask import Flask
from werkzeug.test import TestResponse

from search_ui.api_tokens import ApiScope, hash_token
from search_ui.connect.retrieval import rank_score
from search_ui.i18n import LANGUAGES
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.site_fixture import OPERATOR, FakeSearch, MemorySite, document, sign_in, site_app

TOKEN = "plumb_test"
FILLER = "会议在北京举行。" * 100
TERMS = {solr_fields.DOMAIN_TERMS: ["页岩气"]}
DOCUMENTS = [document(n, f"会议{n}", f"{FILLER}\n第{n}口页岩气井投产。") | TERMS for n in range(6)]


@pytest.fixture(scope="module")
def app() -> Flask:
    actions = MemorySite(popular=["页岩气", "会议", "投产"])
    actions.store.api_tokens.create(OPERATOR, "dify", hash_token(TOKEN), [ApiScope.SEARCH])
    actions.store.api_tokens.create(OPERATOR, "other", hash_token("plumb_other"), [ApiScope.METRICS])
    return site_app(FakeSearch(DOCUMENTS), actions, SearchSettings(base_url="https://s.example/"))


def retrieve(app: Flask, key: str = f"Bearer {TOKEN}", **changes: Any) -> TestResponse:
    body = {"knowledge_id": "all", "query": "页岩气", "retrieval_setting": {"top_k": 3, "score_threshold": 0.0}}
    return app.test_client().post("/retrieval", json=body | changes, headers={"Authorization": key} if key else {})


def test_dify_gets_the_matching_passages(app: Flask) -> None:
    response = retrieve(app)
    assert response.status_code == 200, response.text
    records = response.json["records"]
    assert [record["score"] for record in records] == [1.0, 0.8333, 0.6667]
    assert all("页岩气井投产" in record["content"] and len(record["content"]) < len(FILLER) for record in records)
    assert records[0]["title"] == "会议0" and records[0]["metadata"]["url"] == "https://news.example/0.html"
    threshold = {"top_k": 3, "score_threshold": 0.8}
    assert len(retrieve(app, retrieval_setting=threshold).json["records"]) == 2
    assert retrieve(app, query="没有的词").json == {"records": []}


def test_scores_tell_full_matches_from_related_articles() -> None:
    full, related = ([rank_score(index, 20, is_partial) for index in range(20)] for is_partial in (False, True))
    assert full == sorted(full, reverse=True) and min(full) > 0.5
    assert related == sorted(related, reverse=True) and min(related) > 0 and max(related) < 0.5


@pytest.mark.parametrize(
    ("key", "changes", "status", "code"),
    [
        ("", {}, 403, 1001),
        (TOKEN, {}, 403, 1001),
        ("Bearer plumb_unknown", {}, 403, 1002),
        ("Bearer plumb_other", {}, 403, 1002),
        (f"Bearer {TOKEN}", {"knowledge_id": "x"}, 404, 2001),
        (f"Bearer {TOKEN}", {"query": None}, 400, 400),
        (f"Bearer {TOKEN}", {"metadata_condition": {"conditions": []}}, 400, 400),
        (f"Bearer {TOKEN}", {"retrieval_setting": {"top_k": "many"}}, 400, 400),
        (f"Bearer {TOKEN}", {"retrieval_setting": {"score_threshold": -1}}, 400, 400),
        (f"Bearer {TOKEN}", {"retrieval_setting": {"score_threshold": float("nan")}}, 400, 400),
        (f"Bearer {TOKEN}", {"query": "x" * 300_000}, 413, 413),
    ],
)
def test_dify_is_told_what_is_wrong(app: Flask, key: str, changes: dict[str, Any], status: int, code: int) -> None:
    response = retrieve(app, key, **changes)
    assert response.status_code == status
    assert response.json["error_code"] == code and response.json["error_msg"]


def test_a_body_that_is_nested_too_deeply_is_no_json(app: Flask) -> None:
    body, headers = "[" * 60_000, {"Authorization": f"Bearer {TOKEN}"}
    assert app.test_client().post("/retrieval", data=body, headers=headers).json["error_code"] == 400


def test_an_unknown_token_is_refused_at_mcp(app: Flask) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json", "Authorization": "Bearer plumb_unknown"}
    assert app.test_client().post("/mcp", json=message, headers=headers).status_code == 401
    headers["Authorization"] = f"Bearer {TOKEN}"
    assert app.test_client().post("/mcp", json=message, headers=headers).status_code == 200


def test_the_page_has_filled_in_snippets_and_searxng_can_read_the_api(app: Flask) -> None:
    client = app.test_client()
    sign_in(client)
    for language in LANGUAGES:
        page = BeautifulSoup(client.get(f"/admin/connect?lang={language}").text, "lxml")
        snippets = [snippet.text for snippet in page.select("pre")]
        assert len(snippets) == 5 and all("https://s.example" in snippet for snippet in snippets)
    assert snippets[4].endswith(f"'https://s.example/api/v1/search?q={quote('页岩气')}'")  # a term with results
    [engine] = yaml.safe_load(snippets[3])["engines"]
    url = engine["search_url"].format(query="页岩气", pageno=1)
    [*results] = client.get(url.removeprefix("https://s.example")).json[engine["results_query"]]
    assert len(results) == 6
    for name in ("url_query", "title_query", "content_query"):
        assert all(isinstance(result[engine[name]], str) and result[engine[name]] for result in results)
