"""The rules of editors on the site: the form below a result, its preview, the list, and what readers see."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from docstore.curation import MAX_REASON_CHARS
from domain.account import Role
from domain.search_log import LoggedSearch
from search_ui.admin.curation_views import RULES_PER_PAGE
from search_ui.context import current_services
from search_ui.pages.active_filters import filter_label
from search_ui.query.curation import CurationCache
from search_ui.query.search_request import SearchRequest
from search_ui.settings import SearchSettings
from tests.builders import operate, page_at
from tests.site_fixture import FakeSearch, MemorySite, document, sign_in, site_app

QUERY, RULE_PAGE, RESULTS = "页岩气", "/admin/curation/rule", "/search?q=页岩气&page=1"
TOMORROW = (date.today() + timedelta(days=1)).isoformat()
ROLES = {"eva": Role.EDITOR, "paul": Role.EDITOR, "rosa": Role.REVIEWER}
FIELDS = {"q": QUERY, "doc": "doc2", "action": "pin", "reason": "best overview", "until": "", "back": RESULTS}


@pytest.fixture
def site() -> MemorySite:
    return MemorySite()


@pytest.fixture
def search() -> FakeSearch:
    return FakeSearch([document(n, f"页岩气 {n}", "页岩气") for n in (1, 2, 3)])


def editor(site: MemorySite, search: FakeSearch, name: str = "eva", **options: Any) -> tuple[FlaskClient, str]:
    client = site_app(search, site, roles=ROLES, **options).test_client()
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
    return client, sign_in(client, name)


def make_rule(site: MemorySite, doc_id: str = "doc2", action: str = "pin", account: str = "eva", **more: Any) -> None:
    values = {"query": QUERY, "doc_id": doc_id, "title": doc_id, "action": action, "reason": "best overview"}
    assert operate(site.store, "curation_create", account, **values | more)


def titles(page: BeautifulSoup, selector: str) -> list[str]:
    return [link.get_text() for link in page.select(selector)]


def test_an_editor_pins_a_result_after_a_preview(site: MemorySite, search: FakeSearch) -> None:
    client, _ = editor(site, search)
    form = page_at(client, RESULTS).select("details.rule form")[1]
    fields = {str(field["name"]): str(field.get("value", "")) for field in form.select("input[type=hidden]")}
    assert (fields["q"], fields["doc"]) == (QUERY, "doc2") and "token" not in fields
    preview = page_at(client, str(form["action"]), **fields, action="pin", reason="best overview")
    sides = preview.select("#preview > section")
    assert [titles(side, "li a") for side in sides] == [
        ["页岩气 1", "页岩气 2", "页岩气 3"],
        ["页岩气 2", "页岩气 1", "页岩气 3"],
    ]
    assert site.store.curation.load_all() == []
    save = preview.select_one("#save")
    assert save is not None
    sent = {str(field["name"]): str(field["value"]) for field in save.select("input")}
    response = client.post(str(save["action"]), data=sent)
    assert response.status_code == 303 and parse_qs(urlsplit(response.location).query)["q"] == [QUERY]
    after = page_at(client, response.location)
    assert titles(after, "ol.hits h2 a") == ["页岩气 2", "页岩气 1", "页岩气 3"]
    assert "The rule is saved." in after.get_text() and "1 curation rule" in after.get_text()
    [entry] = site.store.operations.find()
    assert (entry.account, entry.name, entry.after["reason"]) == ("eva", "curation_create", "best overview")


def test_readers_see_the_recommendation_and_not_its_reason(site: MemorySite, search: FakeSearch) -> None:
    make_rule(site)
    make_rule(site, "doc3", "raise")
    reader = site_app(search, site, roles=ROLES).test_client()
    page = page_at(reader, "/search", q=QUERY, lang="en")
    badges = [[badge.get_text() for badge in hit.select(".recommended")] for hit in page.select("ol.hits > li")]
    assert badges == [["Recommended"], [], ["Recommended"]] and not page.select("details.rule, #rules")
    assert [hit["recommended"] for hit in reader.get("/api/v1/search", query_string={"q": QUERY}).json["hits"]] == [
        True,
        False,
        True,
    ]
    article = page_at(reader, "/article/doc2", q=QUERY, lang="en").select_one("#curated")
    assert article is not None and article.get_text() == "An editor has placed this result at the top for this query."
    assert page_at(reader, "/article/doc2", q="页岩").select_one("#curated") is None
    client, _ = editor(site, search)
    seen = page_at(client, "/article/doc2", q=QUERY).select_one("#curated")
    assert seen is not None and "best overview" in seen.get_text() and "eva" in seen.get_text()
    assert "推荐" in page_at(reader, "/search", q=QUERY, lang="zh").select("ol.hits .recommended")[0].get_text()


def test_a_hidden_result_is_neither_listed_nor_counted(site: MemorySite, search: FakeSearch) -> None:
    make_rule(site, "doc1", "hide")
    client, _ = editor(site, search)
    answer = client.get("/api/v1/search", query_string={"q": QUERY}).json
    assert [hit["id"] for hit in answer["hits"]] == ["doc2", "doc3"] and answer["total"] == 2
    feed = client.get("/feed.atom", query_string={"q": QUERY}).text
    assert "页岩气 1" not in feed and "页岩气 2" in feed
    assert len(client.get("/api/v1/search", query_string={"q": "页岩"}).json["hits"]) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reason": "  "}, "Enter a reason"),
        ({"until": "31.12."}, "Enter a day from today on"),
        ({"until": "2020-01-01"}, "Enter a day from today on"),
        ({"until": "9999-12-31"}, "Enter a day from today on"),
        ({"doc": "gone"}, "This page is not in the index"),
        ({"doc": "a,b"}, "This page is not in the index"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_lost(
    site: MemorySite, search: FakeSearch, changes: dict[str, str], message: str
) -> None:
    client, token = editor(site, search)
    preview = page_at(client, RULE_PAGE, **FIELDS | changes)
    assert message in preview.get_text() and not preview.select("#save")
    response = client.post(RULE_PAGE, data=FIELDS | changes | {"token": token})
    assert response.status_code == 400 and message in response.text
    assert "best overview" in response.text or not changes.get("reason", "x").strip()
    assert site.store.curation.load_all() == []


@pytest.mark.parametrize(
    "changes", [{"q": " "}, {"action": "delete"}, {"reason": "x" * (MAX_REASON_CHARS + 1)}, {"doc": "d" * 65}]
)
def test_bounds_of_the_form(site: MemorySite, search: FakeSearch, changes: dict[str, str]) -> None:
    client, token = editor(site, search)
    assert client.get(RULE_PAGE, query_string=FIELDS | changes).status_code == 400
    assert client.post(RULE_PAGE, data=FIELDS | changes | {"token": token}).status_code == 400


def test_the_second_editor_sees_the_rule_of_the_first(site: MemorySite, search: FakeSearch) -> None:
    client, token = editor(site, search, "paul")
    make_rule(site)
    refused = client.post(RULE_PAGE, data=FIELDS | {"token": token, "action": "hide", "reason": "outdated"})
    page = BeautifulSoup(refused.text, "lxml")
    assert refused.status_code == 409 and "eva has made a rule" in page.select("#problem")[0].get_text()
    assert "Pin best overview" in " ".join(page.select("#saved")[0].get_text().split())
    version = str(page.select("#save [name=version]")[0]["value"])
    values = FIELDS | {"token": token, "action": "hide", "reason": "outdated", "version": version}
    assert client.post(RULE_PAGE, data=values).status_code == 303
    assert "has changed since: paul" in client.post(RULE_PAGE, data=values).text
    [rule] = site.store.curation.load_all()
    assert (rule.action, rule.reason) == ("hide", "outdated")


def test_the_list_names_what_to_look_at(site: MemorySite, search: FakeSearch) -> None:
    now = site.store.curation._clock()
    make_rule(site, "doc1", until=now + 86_400.0)
    make_rule(site, "doc2", until=now - 1, created_at=now - 9_000.0)
    make_rule(site, "gone", query="天然气")
    site.store.search_log.save([LoggedSearch("1", "頁岩氣", 3, 5, searched_at=now)], [])
    client, token = editor(site, search)
    assert len(page_at(client, "/admin/curation").select("#curation tbody tr")) == 3
    for state, articles in (
        ("expiring", ["页岩气 1"]),
        ("expired", ["页岩气 2"]),
        ("unused", ["gone"]),
        ("gone", ["gone"]),
    ):
        rows = page_at(client, "/admin/curation", show=state).select("#curation tbody tr")
        assert [row.select("td")[0].find(["a", "bdi"]).get_text() for row in rows] == articles, state  # type: ignore[union-attr]
    assert len(page_at(client, "/admin/curation", q="頁岩氣").select("#curation tbody tr")) == 2
    delete = page_at(client, "/admin/curation", show="gone").select("#curation form")[0]
    sent = {str(field["name"]): str(field["value"]) for field in delete.select("input")} | {"token": token}
    done = client.post(str(delete["action"]), data=sent, follow_redirects=True)
    assert "The rule is deleted." in done.text and len(site.store.curation.load_all()) == 2
    assert "There are no rules." in page_at(client, "/admin/curation", q="别的").get_text()
    no_log, _ = editor(site, search, settings=SearchSettings(log_days=0))
    assert "no search in the log" not in page_at(no_log, "/admin/curation").get_text()


def test_the_list_has_pages(site: MemorySite, search: FakeSearch) -> None:
    for number in range(RULES_PER_PAGE + 1):
        make_rule(site, "doc1", query=f"查询{number}")
    client, _ = editor(site, search)
    assert len(page_at(client, "/admin/curation").select("#curation tbody tr")) == RULES_PER_PAGE
    [row] = page_at(client, "/admin/curation", page="9").select("#curation tbody tr")
    assert "查询0" in row.get_text()


def test_end_and_reason_are_edited(site: MemorySite, search: FakeSearch) -> None:
    make_rule(site)
    client, token = editor(site, search)
    link = page_at(client, "/admin/curation").select_one("#curation td > a[aria-label]")
    assert link is not None
    page = page_at(client, str(link["href"]))
    assert page.select("[name=reason]")[0]["value"] == "best overview" and page.select("#preview")
    [saved] = site.store.curation.load_all()
    values = FIELDS | {"until": TOMORROW, "reason": "newest", "version": str(saved.version), "token": token}
    response = client.post(RULE_PAGE, data=values | {"back": "/admin/curation"}, follow_redirects=True)
    assert response.request.path == "/admin/curation" and TOMORROW in response.text and "newest" in response.text
    assert client.post(RULE_PAGE, data=values | {"back": "https://elsewhere.example/search?"}).status_code == 409


def test_only_editors_have_the_forms(site: MemorySite, search: FakeSearch) -> None:
    make_rule(site)
    client, token = editor(site, search, "rosa")
    assert not page_at(client, RESULTS).select("details.rule, #rules")
    for path in ("/admin/curation", RULE_PAGE):
        assert client.get(path, query_string=FIELDS).status_code == 403
    assert client.post(RULE_PAGE, data=FIELDS | {"token": token}).status_code == 403
    values = {"query": QUERY, "doc_id": "doc2", "version": "1", "token": token}
    assert client.post("/admin/operations/curation_delete", data=values).status_code == 403
    assert len(site.store.curation.load_all()) == 1


def test_the_history_names_the_extent_of_a_rule(site: MemorySite, search: FakeSearch) -> None:
    make_rule(site, with_synonyms=True)
    client = site_app(search, site).test_client()
    sign_in(client)
    text = page_at(client, "/admin/history", lang="en").select("#history tbody")[0].get_text(" ")
    for part in ("Add curation rule", "eva", "页岩气 → doc2", "Pin", "also for synonyms", "best overview"):
        assert part in text, part


def test_the_diagnosis_names_what_an_editor_has_hidden(site: MemorySite, search: FakeSearch) -> None:
    make_rule(site, "doc1", "hide")
    app = site_app(search, site)
    with app.test_request_context("/?lang=en"):
        app.preprocess_request()
        request = SearchRequest(raw_query=QUERY, text=QUERY)
        [hidden] = current_services().search.plan(request).hidden_filters
        assert filter_label(request, hidden) == "hidden by an editor for this query"


def test_rules_are_loaded_again_only_after_a_change(site: MemorySite) -> None:
    cache, loads = CurationCache(), []

    def load() -> list[Any]:
        loads.append(1)
        return site.store.curation.load_all()

    for expected in (1, 1):
        cache.get_rules(site.store.curation.revision, load)
        assert len(loads) == expected
    make_rule(site)
    cache.get_rules(site.store.curation.revision, load)
    assert len(loads) == 2
