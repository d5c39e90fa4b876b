"""Taking pages down on the site: the forms, the list, and the answer for a page that is gone."""

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.account import Role
from domain.administration import Takedown
from domain.article import document_id
from search_ui.admin.takedown_views import group_takedowns
from solr_client import solr_fields
from tests.search_ui_fakes import FakeAccounts, FakeActions, FakeSearch, document, sign_in, site_app

URL = "https://news.example/1.html"
OTHER_SCHEME = "http://news.example/1.html"


def signed_in(
    actions: FakeActions, role: Role = Role.OPERATOR, search: FakeSearch | None = None
) -> tuple[FlaskClient, str]:
    app = site_app(search or FakeSearch(), actions=actions, accounts=FakeAccounts(anna=role))
    client = app.test_client()
    return client, sign_in(client, "anna")


def test_a_page_is_taken_down_and_back(actions: FakeActions) -> None:
    client, token = signed_in(actions)
    sent = {"url": URL, "reason": "the owner asked", "token": token}
    listed = client.post("/admin/takedowns", data=sent, follow_redirects=True)
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
    assert "此前已下架" in client.post("/admin/takedowns", data=sent, follow_redirects=True).text
    undo = {"url": URL, "token": token}
    undone = client.post("/admin/takedowns/undo", data=undo, follow_redirects=True)
    assert "已撤销下架" in undone.text and undone.request.path == "/admin/takedowns"
    assert client.get(f"/article/{document_id(URL)}").status_code == 404
    assert client.post("/admin/takedowns/undo", data=undo).status_code == 404
    client.post("/admin/takedowns", data=sent)
    assert client.post("/admin/takedowns/undo", data=undo | {"back": "page"}).location == f"/admin/page?url={URL}"


@pytest.fixture
def actions() -> FakeActions:
    return FakeActions()


@pytest.mark.parametrize("sent", [{"url": URL}, {"url": URL, "reason": "  "}])
def test_a_takedown_needs_a_reason(actions: FakeActions, sent: dict[str, str]) -> None:
    client, token = signed_in(actions)
    answer = client.post("/admin/takedowns", data={**sent, "token": token}, follow_redirects=True)
    assert "请填写下架原因" in answer.text and f'value="{URL}"' in answer.text
    assert actions.takedowns.list_all() == []


def test_only_an_operator_has_the_forms(actions: FakeActions) -> None:
    search = FakeSearch([document(1, "页岩气", "页岩气")])
    doc_id = search.documents[0][solr_fields.ID]
    client, _ = signed_in(actions, search=search)
    form = BeautifulSoup(client.get(f"/article/{doc_id}").text, "lxml").select_one("#take-down form")
    assert form is not None and form.select_one("[name=url]")["value"] == search.documents[0][solr_fields.URL]  # type: ignore[index]
    reader, token = signed_in(actions, Role.REPORTS, search)
    assert "take-down" not in reader.get(f"/article/{doc_id}").text + reader.get("/admin/takedowns").text
    assert reader.post("/admin/takedowns", data={"url": URL, "reason": "r", "token": token}).status_code == 403


def test_each_address_is_listed_once_for_both_schemes() -> None:
    takedowns = [Takedown(url, 7, "anna", "r", 1.0) for url in (OTHER_SCHEME, URL, "http://news.example/2")]
    [group, older] = group_takedowns([*takedowns, Takedown(URL, 3, "bert", "s", 0.5)])
    assert (list(group.urls), group.account) == ([OTHER_SCHEME, "http://news.example/2"], "anna")
    assert (list(older.urls), older.reason) == ([URL], "s")
