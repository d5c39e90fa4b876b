"""Signing in, judging terms and publishing."""

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from docstore.errors import StoreFullError
from docstore.model import Lexicon, LexiconEntry, TermStatus
from tests.search_ui_fakes import PASSWORD, FakeActions, form_token, sign_in, site_app, term

POSTS = ["/admin/logout", "/admin/lexicon/decide", "/admin/lexicon/bulk", "/admin/lexicon/publish"]


def actions(count: int = 3) -> FakeActions:
    return FakeActions([term(f"词{n}", 100.0 - n) for n in range(count)])


def statuses(held: FakeActions) -> list[str]:
    return [one.status.value for one in held.all_terms]


def get(client: FlaskClient, address: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(address).text, "lxml")


# -- who may


@pytest.mark.parametrize("address", POSTS)
def test_strangers_may_not(address: str) -> None:
    held = actions()
    client = site_app(actions=held).test_client()
    sent = {"token": form_token(client), "term": "词0", "decision": "accepted"}
    response = client.post(address, data=sent)
    assert response.status_code == 303 and response.location == "/admin/login"
    assert client.post(address, data=sent, headers={"Accept": "application/json"}).status_code == 403
    assert client.get("/admin/lexicon").status_code == 303
    assert statuses(held) == ["candidate"] * 3


@pytest.mark.parametrize("address", POSTS)
@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_a_form_of_another_site_changes_nothing(address: str, token: str) -> None:
    held = actions()
    client = site_app(actions=held).test_client()
    sign_in(client)
    assert client.post(address, data={"token": token, "term": "词0", "decision": "accepted"}).status_code == 400
    assert statuses(held) == ["candidate"] * 3 and held.published.version == 0
    assert client.get("/admin/lexicon").status_code == 200  # not even signed out


def test_a_wrong_password_does_not_open() -> None:
    client = site_app().test_client()
    response = client.post("/admin/login", data={"token": form_token(client), "password": "wrong"})
    assert response.status_code == 403 and "密码不对" in response.text
    assert client.get("/admin/lexicon").status_code == 303


def test_the_login_form_needs_its_token() -> None:
    client = site_app().test_client()
    form_token(client)
    assert client.post("/admin/login", data={"password": PASSWORD}).status_code == 400


def test_without_a_password_the_door_is_shut() -> None:
    client = site_app(password_hash="").test_client()
    assert "还没有设置管理员密码" in client.get("/admin/login").text
    assert client.post("/admin/login", data={"token": form_token(client), "password": ""}).status_code == 403
    assert client.get("/admin/lexicon").status_code == 303


def test_guessing_is_slowed_down_and_forgiven() -> None:
    now = [1000.0]
    client = site_app(clock=lambda: now[0]).test_client()

    def attempt(password: str) -> int:
        return client.post("/admin/login", data={"token": form_token(client), "password": password}).status_code

    assert [attempt("wrong") for _ in range(5)] == [403] * 5
    response = client.post("/admin/login", data={"token": form_token(client), "password": PASSWORD})
    assert response.status_code == 429 and response.headers["Retry-After"] == "300"
    now[0] += 299
    assert attempt(PASSWORD) == 429
    now[0] += 2
    assert attempt(PASSWORD) == 303


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    client = site_app().test_client()
    form_token(client)
    sent = {"token": form_token(client), "password": PASSWORD}
    cookie = client.post("/admin/login", data=sent).headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Secure" not in cookie
    client = site_app().test_client()
    over_tls = client.get("/admin/login", base_url="https://search.example/")
    assert "Secure" in over_tls.headers["Set-Cookie"]


def test_signing_in_makes_a_new_token_and_signing_out_ends_it() -> None:
    client = site_app().test_client()
    before = form_token(client)
    token = sign_in(client)
    assert token != before
    assert client.post("/admin/logout", data={"token": token}).location == "/"
    assert client.get("/admin/lexicon").status_code == 303


def test_a_new_password_ends_old_sessions() -> None:
    client = site_app().test_client()
    sign_in(client)
    cookie = client.get_cookie("plumbline")
    assert cookie is not None
    other = site_app(password_hash="scrypt:1024:8:1$new$00").test_client()
    other.set_cookie("plumbline", cookie.value)
    assert other.get("/admin/lexicon").status_code == 303


def test_review_pages_are_not_kept_by_caches() -> None:
    assert site_app().test_client().get("/admin/login").headers["Cache-Control"] == "no-store"


# -- judging


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
    token = sign_in(client)
    form = get(client, "/admin/lexicon?status=all&text=词").select_one("form.decide")
    sent = {field["name"]: field["value"] for field in form.select("input")} | {"decision": "accepted"}
    assert sent["token"] == token
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
