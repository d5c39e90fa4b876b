"""Judging terms and publishing. Who may is in test_search_ui_accounts.py."""

from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from docstore.errors import StoreFullError
from docstore.model import Lexicon, LexiconEntry, TermStatus
from tests.search_ui_fakes import FakeActions, sign_in, site_app, term


def actions(count: int = 3) -> FakeActions:
    return FakeActions([term(f"词{n}", 100.0 - n) for n in range(count)])


def statuses(held: FakeActions) -> list[str]:
    return [one.status.value for one in held.all_terms]


def get(client: FlaskClient, address: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(address).text, "lxml")


def test_candidates_stand_by_score_with_their_evidence() -> None:
    held = FakeActions([term("低分", 1.0), term("页岩气", 9.5, contexts=("开发页岩气的页岩气井",))])
    client = site_app(actions=held).test_client()
    sign_in(client)
    page = get(client, "/admin/lexicon")
    assert [row.h2.bdi.text for row in page.select(".term")] == ["页岩气", "低分"]
    first = page.select_one(".term")
    assert [value.text for value in first.select("dd")] == ["9.50", "12", "5", "n n"]
    assert [mark.text for mark in first.select(".contexts mark")] == ["页岩气", "页岩气"]


def test_filters_and_pages() -> None:
    held = actions(45)
    held.decide("词3", TermStatus.ACCEPTED)
    client = site_app(actions=held).test_client()
    sign_in(client)
    assert len(get(client, "/admin/lexicon").select(".term")) == 20
    assert len(get(client, "/admin/lexicon?page=3").select(".term")) == 4
    assert [t.h2.bdi.text for t in get(client, "/admin/lexicon?status=accepted").select(".term")] == ["词3"]
    assert len(get(client, "/admin/lexicon?status=all&text=词4").select(".term")) == 6
    assert get(client, "/admin/lexicon?status=nonsense&page=x").select_one(".tabs [aria-current]").text == "全部"


def test_a_button_decides_and_comes_back_to_the_same_place() -> None:
    held = actions()
    client = site_app(actions=held).test_client()
    sign_in(client)
    form = get(client, "/admin/lexicon?status=all&text=词").select_one("form.decide")
    sent = {field["name"]: field["value"] for field in form.select("input")} | {"decision": "accepted"}
    assert sent["token"]
    response = client.post(form["action"], data=sent)
    assert response.status_code == 303 and response.location == "/admin/lexicon?status=all&text=%E8%AF%8D&page=1"
    assert "已接受 “词0”" in client.get(response.location).text
    assert statuses(held) == ["accepted", "candidate", "candidate"]


def test_a_key_decides_and_is_told_the_new_counts() -> None:
    held = actions()
    client = site_app(actions=held).test_client()
    token = sign_in(client)
    response = client.post(
        "/admin/lexicon/decide",
        data={"term": "词1", "decision": "rejected"},
        headers={"Accept": "application/json", "X-Form-Token": token},
    )
    assert response.json == {
        "text": "词1",
        "status": "rejected",
        "counts": {"candidate": 2, "accepted": 0, "rejected": 1},
        "pending": {"added": 0, "removed": 0},
    }


def test_what_the_lexicon_refuses_is_said() -> None:
    client = site_app(actions=actions()).test_client()
    sent = {"token": sign_in(client), "term": "nowhere", "decision": "accepted"}
    told = client.post("/admin/lexicon/decide", data=sent, headers={"Accept": "application/json"})
    assert told.status_code == 409 and "no such term" in told.json["error"]["message"]
    assert "no such term" in client.post("/admin/lexicon/decide", data=sent, follow_redirects=True).text
    assert client.post("/admin/lexicon/decide", data=sent | {"decision": "maybe"}).status_code == 400


def test_a_whole_page_or_the_best_are_accepted_at_once() -> None:
    held = actions(30)
    client = site_app(actions=held).test_client()
    token = sign_in(client)
    form = get(client, "/admin/lexicon?page=2").select_one("#bulk-page")
    named = [field["value"] for field in form.select("input[name=term]")]
    client.post("/admin/lexicon/bulk", data={"token": token, "term": named, "decision": "rejected"})
    assert statuses(held) == ["candidate"] * 20 + ["rejected"] * 10
    client.post("/admin/lexicon/bulk", data={"token": token, "top": "5", "decision": "accepted"})
    assert statuses(held)[:6] == ["accepted"] * 5 + ["candidate"]
    sent = {"token": token, "term": ["词7", "nowhere"], "decision": "accepted"}
    said = client.post("/admin/lexicon/bulk", data=sent, follow_redirects=True).text
    assert "已接受 1 个词" in said and "1 个词不能收入词库" in said
    assert (
        client.post("/admin/lexicon/bulk", data={"token": token, "top": "-1", "decision": "accepted"}).status_code
        == 400
    )


def test_publishing_tells_version_words_and_lag() -> None:
    held = actions()
    held.published, held.lag = Lexicon(1, (LexiconEntry("旧词"),)), 7
    held.decide("词0", TermStatus.ACCEPTED)
    held.decide("词1", TermStatus.ACCEPTED)
    client = site_app(actions=held).test_client()
    token = sign_in(client)
    page = get(client, "/admin/lexicon")
    assert (page.select_one("#pending-added").text, page.select_one("#pending-removed").text) == ("2", "1")
    said = client.post("/admin/lexicon/publish", data={"token": token}, follow_redirects=True).text
    assert "7 篇文档等待更新索引" in page.select_one("#published").text
    assert "已发布第 2 版，共 2 个词；" in said
    assert (
        "nothing has changed"
        in client.post("/admin/lexicon/publish", data={"token": token}, follow_redirects=True).text
    )


def test_too_large_a_form_is_refused() -> None:
    client = site_app(actions=actions()).test_client()
    token = sign_in(client)
    sent = {"token": token, "term": "x" * 300_000, "decision": "accepted"}
    assert client.post("/admin/lexicon/decide", data=sent).status_code == 413


def test_a_store_that_fails_is_a_page_that_says_what_to_do() -> None:
    """A full disk, for one: nothing is lost, and no traceback is shown."""

    class Full(FakeActions):
        def decide(self, text: str, status: TermStatus) -> None:
            raise StoreFullError("the disk that holds the store is full")

    client = site_app(actions=Full([term("词0", 9.0)])).test_client()
    sent = {"token": sign_in(client), "term": "词0", "decision": "accepted"}
    told = client.post("/admin/lexicon/decide", data=sent)
    assert told.status_code == 503
    assert "logs/plumb.log" in told.text
    assert client.post("/admin/lexicon/decide", data=sent, headers={"Accept": "application/json"}).json["error"]
