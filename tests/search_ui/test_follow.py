"""Following a search in the browser: nothing is saved or sent without a confirmation."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from docstore.follows import FOLLOWS_FILE
from domain.follow import MAX_FOLLOWS, Follow, FollowChannel, Interval
from pipeline.settings import build_settings
from search_ui.services.follow_links import CONFIRM_DAYS, FollowLinks
from search_ui.settings import SearchSettings
from tests.mail_server import Mailbox, open_hook, open_mail_server
from tests.search_ui.test_pages import soup
from tests.site_fixture import MemorySite, form_token, sign_in, site_app

ADDRESS = "reader@x.example"
SEARCH = SearchSettings(base_url="https://search.x.example/", title="油气")


@pytest.fixture(scope="module")
def mail_server() -> object:
    with open_mail_server() as server:
        yield server


@pytest.fixture
def mailbox(mail_server: tuple[str, Mailbox]) -> Mailbox:
    mailbox = mail_server[1]
    mailbox.mails.clear()
    mailbox.refuses, mailbox.bounces = "", {}
    return mailbox


@pytest.fixture
def site(tmp_path: Path, mail_server: tuple[str, Mailbox], mailbox: Mailbox) -> MemorySite:
    alerts = {"mail_from": "site@x.example", "smtp": mail_server[0], "inside_hosts": ["127.0.0.1"], "seconds": 5}
    search = {"base_url": SEARCH.base_url, "title": SEARCH.title}
    return MemorySite(settings=build_settings({"alerts": alerts, "search": search}, tmp_path))


def client_of(site: MemorySite) -> FlaskClient:
    return site_app(site=site, settings=SEARCH).test_client()


def ask(client: FlaskClient, **changes: str) -> object:
    fields = {"channel": "mail", "address": ADDRESS, "interval": "daily", "query": "q=页岩气"}
    return client.post("/follow", data={"token": form_token(client, "/bookmarks?lang=en"), **fields, **changes})


def link_in(mailbox: Mailbox) -> str:
    found = re.search(r"https://search\.x\.example(/follow/confirm\?key=\S+)", mailbox.mails[-1].get_content())
    assert found is not None
    return found[1]


def test_a_reader_follows_by_mail_after_a_confirmation(site: MemorySite, mailbox: Mailbox) -> None:
    client = client_of(site)
    page = soup(client.get("/search?q=页岩气&lang=en"))
    form = soup(client.get(page.select_one("#follow")["href"]))
    assert "页岩气" in form.select_one("#followed").text
    sent = ask(client)
    assert ADDRESS in soup(sent).select_one("#sent").text and site.follows.counts().follows == 0
    [mail] = mailbox.mails
    assert mail["To"] == ADDRESS and "页岩气" not in mail.as_string() and "油气" in mail["Subject"]
    page = soup(client.get(link_in(mailbox)))
    assert site.follows.counts().follows == 0, "mail programs open links by themselves"
    key = page.select_one("[name=key]")["value"]
    for _ in range(2):  # twice is once
        answer = client.post("/follow/confirm", data={"key": key}, follow_redirects=True)
        assert [item.text for item in soup(answer).select("#follows li > a")] == ["页岩气"]
    assert site.follows.counts().follows == 1


def test_one_link_lists_and_stops_everything(site: MemorySite) -> None:
    client = client_of(site)
    follows = [
        site.follows.start(Follow("", FollowChannel.MAIL, ADDRESS, f"q={word}", Interval.WEEKLY, "en"))
        for word in ("LNG", "coal", "oil")
    ]
    site.follows.start(Follow("", FollowChannel.MAIL, "other@x.example", "q=LNG", Interval.DAILY, "en"))
    links = FollowLinks(b"k" * 32)
    one = links.list_path(ADDRESS, follows[0].follow_id)
    page = soup(client.get(f"{one}&lang=en"))
    assert "LNG" in page.select_one("#followed").text and len(site.follows.list_by_address(ADDRESS)) == 3
    assert client.post(one, data={"List-Unsubscribe": "One-Click"}).status_code == 303, "as mail programs send it"
    assert soup(client.get(f"{one}&lang=en")).select_one("#stopped") is not None
    page = soup(client.get(f"{links.list_path(ADDRESS)}&lang=en"))
    assert [item.text for item in page.select("#follows li > a")] == ["coal", "oil"]
    key = parse_qs(urlsplit(links.list_path(ADDRESS)).query)["key"][0]
    answer = client.post("/follow/stop", data={"key": key, "id": ""}, follow_redirects=True)
    assert soup(answer).select_one("#none") is not None and site.follows.counts().follows == 1


@pytest.mark.parametrize("path", ["/follow/list", "/follow/stop", "/follow/confirm"])
def test_a_link_that_nobody_signed_shows_and_changes_nothing(site: MemorySite, path: str) -> None:
    client = client_of(site)
    forged = FollowLinks(b"x" * 32).list_path(ADDRESS).partition("key=")[2]
    for key in ("", "x", forged):
        answer = client.get(f"{path}?key={key}&lang=en")
        assert answer.status_code == 400 and "not valid or out of date" in answer.text
        if path != "/follow/list":
            assert client.post(path, data={"key": key}).status_code == 400


def test_a_confirmation_ends_after_three_days(monkeypatch: pytest.MonkeyPatch) -> None:
    links, follow = FollowLinks(b"k" * 32), Follow("", FollowChannel.MAIL, ADDRESS, "q=LNG", Interval.DAILY, "en")
    key = links.confirm_path(follow).partition("key=")[2]
    assert links.read_confirm_key(key) == follow
    monkeypatch.setattr("search_ui.services.follow_links.CONFIRM_DAYS", -1)
    assert links.read_confirm_key(key) is None and CONFIRM_DAYS == 3


@pytest.mark.parametrize(
    ("changes", "status", "text"),
    [
        ({"address": "reader@x.example\r\nBcc: b@x.example"}, 400, "This is not a mail address."),
        ({"address": "a@x.example,b@x.example"}, 400, "This is not a mail address."),
        ({"address": ""}, 400, "This is not a mail address."),
        ({"channel": "webhook", "address": "https://hook.example/"}, 400, "Sign in to use a webhook."),
        ({"interval": "hourly"}, 400, "Nothing to follow"),
        ({"channel": "fax"}, 400, "Nothing to follow"),
        ({"query": "q="}, 400, "Nothing to follow"),
        ({"query": "q=x&from=never"}, 400, "Invalid date"),
    ],
)
def test_bad_input_gets_one_line(
    site: MemorySite, mailbox: Mailbox, changes: dict[str, str], status: int, text: str
) -> None:
    answer = ask(client_of(site), **changes)
    assert answer.status_code == status and text in answer.text and mailbox.mails == []  # type: ignore[attr-defined]
    assert site.follows.counts().follows == 0


def test_the_mail_server_and_the_limits_have_the_last_word(site: MemorySite, mailbox: Mailbox) -> None:
    client = client_of(site)
    mailbox.bounces = {ADDRESS: "550 no such user"}
    assert "550 no such user" in ask(client).text  # type: ignore[attr-defined]
    mailbox.bounces = {}
    statuses = [ask(client).status_code for _ in range(3)]  # type: ignore[attr-defined]
    assert statuses == [200, 200, 429] and len(mailbox.mails) == 2
    assert ask(client, address="other@x.example").status_code == 200  # type: ignore[attr-defined]
    assert client.get("/follow?lang=en").status_code == 400, "nothing to follow"


def test_nobody_follows_without_end(site: MemorySite) -> None:
    for number in range(MAX_FOLLOWS):
        site.follows.start(Follow("", FollowChannel.MAIL, ADDRESS, f"q={number}", Interval.DAILY, "en"))
    assert "more than 50 searches" in ask(client_of(site)).text  # type: ignore[attr-defined]


def test_an_account_follows_by_webhook(site: MemorySite) -> None:
    client = client_of(site)
    sign_in(client)
    with open_hook() as hook:
        answer = ask(client, channel="webhook", address=hook.url)
        assert answer.status_code == 303 and len(hook.posted) == 1  # type: ignore[attr-defined]
        assert [one.address for one in site.engine.follows.list_all()] == [hook.url]
        hook.status = 404
        assert "404" in ask(client, channel="webhook", address=f"{hook.url}2").text  # type: ignore[attr-defined]
    assert "http or https" in ask(client, channel="webhook", address="file:///etc/passwd").text  # type: ignore[attr-defined]
    inside = ask(client, channel="webhook", address="http://10.0.0.1/")
    assert inside.status_code == 502 and "private network" in inside.text  # type: ignore[attr-defined]


def test_a_site_that_sends_no_mail_offers_feeds(tmp_path: Path) -> None:
    client = site_app().test_client()
    page = soup(client.get("/follow?q=LNG&lang=en"))
    assert page.select_one("#no-mail") is not None and page.select_one("#address") is None
    assert page.select_one("a[href='/feed.atom?q=LNG']") is not None
    assert "sends no mail" in ask(client).text  # type: ignore[attr-defined]


def test_operators_see_who_gets_nothing(site: MemorySite) -> None:
    client = client_of(site)
    follow = site.follows.start(Follow("", FollowChannel.MAIL, ADDRESS, "q=LNG", Interval.DAILY, "en"))
    with site.engine.follows._database.write() as connection:
        connection.exec_driver_sql("UPDATE follows SET problem = '550 unknown'")
    token = sign_in(client)
    section = soup(client.get("/admin/alerts?lang=en")).select_one("#follows")
    assert ADDRESS in section.text and "550 unknown" in section.text and "1 follower" in section.text
    client.post("/admin/operations/follow_retry", data={"token": token, "follow_id": follow.follow_id})
    assert site.follows.list_problems(10) == []
    assert ADDRESS not in client.get("/admin/history?lang=en").text


def test_damaged_follows_hide_no_alert(site: MemorySite) -> None:
    (site.engine.settings.data_dir / FOLLOWS_FILE).write_bytes(b"no database" * 1000)
    client = client_of(site)
    sign_in(client)
    page = soup(client.get("/admin/alerts?lang=zh"))
    assert "已损坏" in page.select_one("#follows").text and len(page.select("main section")) > 1
