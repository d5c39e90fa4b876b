"""The MCP endpoint: protocol, tools, size of answers, and refused requests."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from domain.article import document_id
from domain.errors import SolrUnavailableError
from domain.term import Lexicon, LexiconEntry
from search_ui.connect.token_budget import MAX_ANSWER_TOKENS, estimate_json_tokens, estimate_tokens, iter_parts
from search_ui.interfaces import OriginalDocument
from search_ui.settings import SearchSettings
from search_ui.spelling.did_you_mean import DidYouMeanKind, SearchSuggestion, SuggestionSearch
from tests.site_fixture import FakeOriginals, FakeSearch, MemorySite, document, site_app

MAX_SCHEMA_TOKENS = 1000
HEADERS = {"Accept": "application/json, text/event-stream"}
BODY = "\n".join(f"第{n}口页岩气水平井的压裂技术取得重大突破，日产量达到十万立方米。" for n in range(120))
DOCUMENTS = [document(n, f"页岩气{n}", BODY, site=f"s{n % 2}.example") for n in range(20)]
COPY = OriginalDocument("https://s1.example/1.html", 0.0, "html", "0" * 64)
LEXICON = Lexicon(1, (LexiconEntry("水力压裂", synonyms=("fracking",), broader_terms=("压裂",)), LexiconEntry("压裂")))


def client(search: FakeSearch | None = None, originals: FakeOriginals | None = None) -> FlaskClient:
    actions = MemorySite(published=LEXICON, originals=originals or FakeOriginals({"doc1": COPY}))
    return site_app(
        search or FakeSearch(DOCUMENTS), actions, SearchSettings(base_url="https://s.example/")
    ).test_client()


def post(caller: FlaskClient, method: str, params: dict[str, Any] | None = None, **headers: str) -> TestResponse:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return caller.post("/mcp", json=message, headers={**HEADERS, **headers})


def call(name: str, /, caller: FlaskClient | None = None, **arguments: Any) -> tuple[Any, bool]:
    """Return the answer of a tool, parsed if it is no error, and whether it is an error."""
    response = post(caller or client(), "tools/call", {"name": name, "arguments": arguments})
    result = response.json["result"]
    [content] = result["content"]
    assert estimate_tokens(content["text"]) <= MAX_ANSWER_TOKENS
    return (content["text"] if result["isError"] else json.loads(content["text"])), result["isError"]


def test_a_client_is_welcomed_and_told_the_tools() -> None:
    caller = client()
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    response = post(caller, "initialize", hello)
    assert response.json["result"]["serverInfo"]["title"] == "Plumbline"
    assert "Mcp-Session-Id" not in response.headers and response.mimetype == "application/json"
    told = caller.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=HEADERS)
    assert told.status_code == 202
    tools = post(caller, "tools/list").json["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["search", "fetch", "term", "explain"]
    assert estimate_json_tokens(tools) <= MAX_SCHEMA_TOKENS


def test_results_have_citations_and_lead_to_the_next_page() -> None:
    originals = FakeOriginals({"doc1": COPY})
    answer, _ = call("search", caller=client(originals=originals), query="页岩气")
    assert originals.calls == 1  # for all results
    assert answer["total"] == 20 and len(answer["results"]) == 6 and "page=2" in answer["continuation"]
    hit = next(hit for hit in answer["results"] if hit["id"] == "doc1")
    assert hit | {"snippet": ""} == {
        "id": "doc1",
        "title": "页岩气1",
        "url": "https://s1.example/1.html",
        "site": "s1.example",
        "date": "2016-05-09",
        "saved_copy": "https://s.example/article/doc1/original",
        "snippet": "",
    }
    assert [hit for hit in answer["results"] if "saved_copy" in hit] == [hit]
    last, _ = call("search", query="页岩气", page=4)
    assert len(last["results"]) == 2 and "continuation" not in last
    filtered, _ = call("search", query="页岩气", site="s1.example")
    assert {hit["site"] for hit in filtered["results"]} == {"s1.example"}


def test_a_site_is_excluded() -> None:
    answer, is_error = call("search", query="页岩气", **{"-site": "s1.example"})
    assert not is_error and {result["site"] for result in answer["results"]} == {"s0.example"}


def test_answers_stay_within_the_budget() -> None:
    long = [document(n, "页" * 500, BODY, site="a" * 250) | {"url": f"https://a.test/{'b' * 900}"} for n in range(9)]
    answer, _ = call("search", caller=client(FakeSearch(long)), query="页" * 100)
    assert len(answer["results"]) == 6 and all(len(hit["url"]) <= 300 for hit in answer["results"])
    assert all(hit["title"].endswith("…") for hit in answer["results"])


def test_the_parts_of_an_article_are_its_text() -> None:
    first, _ = call("fetch", id="doc1")
    assert set(first) == {"id", "title", "text", "url", "metadata", "continuation"}
    parts = [call("fetch", id="doc1", part=n + 1)[0]["text"] for n in range(first["metadata"]["parts"])]
    assert len(parts) > 1 and "".join(parts) == BODY
    assert all(part.endswith(("。", "\n")) for part in parts)
    assert "".join(iter_parts('"\n' * 999, 100)) == '"\n' * 999


def test_an_article_is_fetched_by_its_url_too() -> None:
    url = "https://s1.example/1.html"
    known = document(1, "标题", "正文。") | {"id": document_id(url)}
    answer, _ = call("fetch", caller=client(FakeSearch([known])), id=url)
    assert answer["text"] == "正文。"


def test_a_term_is_told_with_its_relations() -> None:
    answer, _ = call("term", name="fracking")
    assert answer["name"] == "水力压裂" and answer["broader"] == ["压裂"] and answer["synonyms"] == ["fracking"]
    assert call("term", name="压裂")[0]["narrower"] == ["水力压裂"]


def test_a_query_and_a_rank_are_explained() -> None:
    understood, _ = call("explain", query="水力压裂")
    assert understood["words"] == ["水力压裂"] and understood["synonyms"] == ["fracking"]
    ranked, _ = call("explain", query="页岩气", id="doc1")
    assert [part["part"] for part in ranked["parts"]] == ["body_pairs", "title_words"]
    assert ranked["article"]["url"] == "https://s1.example/1.html"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("search", {}, "'query' is a required property"),
        ("search", {"query": "a", "page": "x"}, "$.page"),
        ("search", {"query": "a", "from": "x"}, "2016"),
        ("fetch", {"id": "doc99"}, "no such article"),
        ("fetch", {"id": "doc1", "part": 99}, "parts 1 to"),
        ("term", {"name": "水力"}, "水力压裂"),
    ],
)
def test_a_wrong_call_says_what_to_change(name: str, arguments: dict[str, Any], message: str) -> None:
    text, is_error = call(name, **arguments)
    assert is_error and message in text


def test_errors_tell_nothing_of_the_inside() -> None:
    text, is_error = call(
        "search", caller=client(FakeSearch(error=SolrUnavailableError("10.1.2.3 refuses"))), query="a"
    )
    assert is_error and "10.1.2.3" not in text
    assert post(client(), "tools/call", {"name": "drop"}).json["error"]["code"] == -32602


def test_pages_of_other_origins_streams_and_large_requests_are_refused() -> None:
    caller = client()
    origins = ("http://evil.example", "https://s.example", "http://localhost:6274")
    assert [post(caller, "ping", Origin=origin).status_code for origin in origins] == [403, 200, 200]
    assert caller.get("/mcp").status_code == caller.delete("/mcp").status_code == 405
    large = caller.post("/mcp", data=b" " * 70_000, headers=HEADERS, content_type="application/json")
    assert large.status_code == 413


def test_arguments_are_read_as_json_has_them() -> None:
    answer, _ = call("search", query="页岩气", page=2.0, site=None, sort=None)
    assert "page=3" in answer["continuation"] and answer["total"] == 20
    assert call("fetch", id="doc1", part=1.0)[0]["id"] == "doc1"
    assert call("search", query="页岩气", page=1.5)[1]


def test_a_suggestion_of_the_same_words_names_the_filters_to_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_date(search: SuggestionSearch, _: object) -> list[SearchSuggestion]:
        return [SearchSuggestion(DidYouMeanKind.FILTER_REMOVED, search.plan.request.with_changes(since=""))]

    monkeypatch.setattr(SuggestionSearch, "suggestions", without_date)
    answer, _ = call("search", caller=client(FakeSearch([])), query="页岩气", **{"from": "2030"})
    assert answer["total"] == 0 and answer["suggestions"] == ["页岩气 (without from)"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_a_path_may_end_with_a_slash_and_other_methods_are_named(path: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert client().post(path, json=message, headers=HEADERS).status_code == 200
    refused = client().get(path, headers=HEADERS)
    assert refused.status_code == 405 and "POST" in refused.headers["Allow"]
