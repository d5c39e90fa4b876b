"""Taking pages down on the site: the forms, the list, and the answer for a page that is gone."""

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.account import Role
from domain.administration import Takedown
from domain.article import document_id
from search_ui.admin.takedown_views import group_takedowns
from solr_client import solr_fields
from tests.site_fixture import FakeSearch, MemorySite, document, sign_in, site_app

URL = "https://news.example/1.html"
OTHER_SCHEME = "http://news.example/1.html"
TAKE_DOWN, RESTORE = "/admin/operations/page_takedown", "/admin/operations/page_restore"


def signed_in(
    actions: MemorySite, role: Role = Role.OPERATOR, search: FakeSearch | None = None
) -> tuple[FlaskClient, str]:
    app = site_app(search or FakeSearch(), site=actions, roles={"anna": role})
    client = app.test_client()
    return client, sign_in(client, "anna")


def test_a_page_is_taken_down_and_back(actions: MemorySite) -> None:
    client, token = signed_in(actions)
    sent = {"url": URL, "reason": "the owner asked", "token": token, "back": "/admin/takedowns"}
    listed = client.post(TAKE_DOWN, data=sent, follow_redirects=True)
    row = BeautifulSoup(listed.text, "lxml").select_one("#takedowns tbody tr")
    assert row is not None
    assert [cell.get_text() for cell in row.select("th, td")][:3] == [URL, "the owner asked", "anna"]
    for address in ("", "/original", "/original/page", "/original/file"):
        gone = client.get(f"/article/{document_id(URL)}{address}")
        assert gone.status_code == 410 and "本站不再提供此文章" in gone.text, address
        assert "the owner asked" not in gone.text
    assert client.get(f"/picture/{document_id(URL)}").status_code == 410
    answer = client.get(f"/api/v1/articles/{document_id(URL)}")
    assert (answer.status_code, answer.json["error"]["code"]) == (410, "gone")
    assert "此前已下架" in client.post(TAKE_DOWN, data=sent, follow_redirects=True).text
    undo = {"url": URL, "token": token, "back": "/admin/takedowns"}
    undone = client.post(RESTORE, data=undo, follow_redirects=True)
    assert "已撤销下架" in undone.text and undone.request.path == "/admin/takedowns"
    assert client.get(f"/article/{document_id(URL)}").status_code == 404
    assert "未作改动" in client.post(RESTORE, data=undo, follow_redirects=True).text


@pytest.fixture
def actions() -> MemorySite:
    return MemorySite()


@pytest.mark.parametrize("sent", [{"url": URL}, {"url": URL, "reason": "  "}])
def test_a_takedown_needs_a_reason(actions: MemorySite, sent: dict[str, str]) -> None:
    client, token = signed_in(actions)
    answer = client.post(TAKE_DOWN, data={**sent, "token": token, "back": "/admin/takedowns"}, follow_redirects=True)
    assert "请填写下架原因" in answer.text and f'value="{URL}"' in answer.text
    assert actions.store.takedowns.list_all() == []


def test_only_an_operator_has_the_forms(actions: MemorySite) -> None:
    search = FakeSearch([document(1, "页岩气", "页岩气")])
    doc_id = search.documents[0][solr_fields.ID]
    client, _ = signed_in(actions, search=search)
    form = BeautifulSoup(client.get(f"/article/{doc_id}").text, "lxml").select_one("#take-down form")
    assert form is not None and form.select_one("[name=url]")["value"] == search.documents[0][solr_fields.URL]  # type: ignore[index]
    reader, token = signed_in(actions, Role.REPORTS, search)
    assert "take-down" not in reader.get(f"/article/{doc_id}").text + reader.get("/admin/takedowns").text
    assert reader.post(TAKE_DOWN, data={"url": URL, "reason": "r", "token": token}).status_code == 403


def test_each_address_is_listed_once_for_both_schemes() -> None:
    takedowns = [Takedown(url, 7, "anna", "r", 1.0) for url in (OTHER_SCHEME, URL, "http://news.example/2")]
    [group, older] = group_takedowns([*takedowns, Takedown(URL, 3, "bert", "s", 0.5)])
    assert (list(group.urls), group.account) == ([OTHER_SCHEME, "http://news.example/2"], "anna")
    assert (list(older.urls), older.reason) == ([URL], "s")
