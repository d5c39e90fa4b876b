"""The setup pages: who reaches them, and what each step accepts."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from domain.account import Account, Role
from domain.errors import SettingsError
from domain.site_check import CheckState, SiteCheck
from search_ui.passwords import verify_password
from search_ui.setup.access import SetupAccess
from search_ui.setup.interfaces import SamplePage, SetupResult, SetupState
from search_ui.setup.setup_app import create_setup_app
from search_ui.setup.views import first_open_step

PORT = 8123
BASE = f"http://127.0.0.1:{PORT}"
SITE = SiteCheck("http://a.test/", CheckState.DONE, start_url="http://a.test/", page_count=3)
SAMPLE = SamplePage("http://a.test/1", title="标题", body="正文", html="<p>页</p>", answer="yes")
COMPLETE = SetupState(
    "anna", "hash", (SITE,), (SAMPLE,), CheckState.DONE, "名称", "anna@company.com", are_details_complete=True
)


@dataclass
class FakeSetup:
    """A setup in memory. `problem` is raised at the end."""

    current: SetupState = field(default_factory=SetupState)
    problem: str = ""
    is_finished: bool = False

    def state(self) -> SetupState:
        return self.current

    def is_valid_account_name(self, name: str) -> bool:
        return name.isalnum()

    def save_account(self, name: str, password_hash: str) -> None:
        self.current = replace(self.current, account_name=name, password_hash=password_hash)

    def check_sites(self, lines: Sequence[str]) -> list[str]:
        rejected = [line for line in lines if not line.startswith("http")]
        if not rejected:
            sites = tuple(replace(SITE, url=line, start_url=line) for line in lines)
            self.current = replace(self.current, sites=sites)
        return rejected

    def load_samples(self) -> None:
        self.current = replace(self.current, samples=self.current.samples or (SAMPLE,), samples_state=CheckState.DONE)

    def answer_samples(self, answers: Sequence[str]) -> None:
        pairs = zip(self.current.samples, answers, strict=True)
        self.current = replace(self.current, samples=tuple(replace(page, answer=answer) for page, answer in pairs))

    def accept_site(self, url: str, is_own_network: bool) -> None:
        sites = tuple(replace(site, is_accepted=site.is_accepted or site.url == url) for site in self.current.sites)
        self.current = replace(self.current, sites=sites, inside_hosts=(url,) if is_own_network else ())

    def details_problem(self, contact: str, daily_at: str, quiet_hours: str) -> str:
        return "quiet_start" if quiet_hours == "01:00-06:00" else "" if "@" in contact else "contact_missing"

    def save_details(self, title: str, contact: str, daily_at: str, quiet_from: str, quiet_to: str) -> None:
        self.current = replace(self.current, title=title, contact=contact, daily_at=daily_at, are_details_complete=True)

    def settings_text(self) -> str:
        return "[vertical]\n"

    def finish(self) -> SetupResult:
        if self.problem:
            raise SettingsError("{name} already exists and was not changed", name="vertical.toml")
        self.is_finished = True
        return SetupResult(Account("anna", "hash", frozenset([Role.OPERATOR])))


@dataclass
class Setup:
    """The application with its parts."""

    backend: FakeSetup
    access: SetupAccess
    finished: threading.Event
    app: Flask

    def open_link(self) -> FlaskClient:
        client = self.app.test_client()
        assert client.get(f"/setup?token={self.access.token}", base_url=BASE).status_code == 303
        return client


def setup_with(state: SetupState | None = None, problem: str = "", digests: list[str] | None = None) -> Setup:
    backend, finished = FakeSetup(state or SetupState(), problem), threading.Event()
    stored_digests = [] if digests is None else digests
    access = SetupAccess(PORT, stored_digests[-1] if stored_digests else "", stored_digests.append)
    app = create_setup_app(backend, access, b"k" * 32, finished)
    app.config["SERVER_NAME"] = None
    return Setup(backend, access, finished, app)


def send(client: FlaskClient, path: str, **fields: str) -> TestResponse:
    """Submit a form with the token of its page."""
    page = client.get(path, base_url=BASE).text
    token = page.split('name="token" value="')[1].split('"')[0]
    return client.post(path, data={"token": token, **fields}, base_url=BASE)


# -- access


def test_nothing_is_shown_without_the_link() -> None:
    setup = setup_with(COMPLETE)
    client = setup.app.test_client()
    paths = (
        "/",
        "/setup",
        "/setup/account",
        "/setup/samples/0",
        "/static/style.css",
        "/setup?token=",
        "/setup?token=é",
    )
    for path in paths:
        answer = client.get(path, base_url=BASE)
        assert answer.status_code == 403 and "anna" not in answer.text, path
    assert client.post("/setup/start", base_url=BASE).status_code == 403
    assert not setup.backend.is_finished


def test_the_link_opens_the_pages_in_one_browser_only() -> None:
    setup = setup_with()
    first = setup.open_link()
    assert first.get("/setup", base_url=BASE).location == "/setup/account"
    assert first.get(f"/setup?token={setup.access.token}", base_url=BASE).status_code == 303  # a reload
    second = setup.app.test_client()
    assert second.get(f"/setup?token={setup.access.token}", base_url=BASE).status_code == 403
    cookie = first.get_cookie(f"{first.application.config['SESSION_COOKIE_NAME']}_setup", domain="127.0.0.1")
    assert cookie is not None and cookie.http_only and cookie.same_site == "Strict"


def test_the_same_browser_continues_after_a_restart() -> None:
    digests: list[str] = []
    client = setup_with(digests=digests).open_link()
    cookie = client.get_cookie(f"{client.application.config['SESSION_COOKIE_NAME']}_setup", domain="127.0.0.1")
    assert cookie is not None and cookie.value not in digests
    again = setup_with(digests=digests).app.test_client()
    again.set_cookie(cookie.key, cookie.value, domain="127.0.0.1")
    assert again.get("/setup/account", base_url=BASE).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:9", "127.0.0.1.evil.example"])
def test_a_name_that_resolves_to_this_machine_is_rejected(host: str) -> None:
    setup = setup_with()
    client = setup.open_link()
    answer = client.get(f"/setup?token={setup.access.token}", base_url=f"http://{host}")
    assert answer.status_code == 403
    assert client.get("/setup/account", base_url=BASE, headers={"Host": host}).status_code == 403
    assert client.get("/setup/account", base_url=f"http://localhost:{PORT}").status_code == 403  # has no cookie


def test_a_form_without_its_token_changes_nothing() -> None:
    setup = setup_with(COMPLETE)
    client = setup.open_link()
    assert client.post("/setup/start", base_url=BASE).status_code == 400
    assert not setup.backend.is_finished


# -- steps


@pytest.mark.parametrize(
    ("state", "step"),
    [
        (SetupState(), "account"),
        (replace(SetupState(), account_name="anna"), "sites"),
        (replace(COMPLETE, sites=(replace(SITE, state=CheckState.ACTIVE),)), "sites"),
        (replace(COMPLETE, sites=(replace(SITE, problem="unreachable"),)), "sites"),
        (replace(COMPLETE, samples=(replace(SAMPLE, answer=""),)), "samples"),
        (replace(COMPLETE, samples=()), "start"),
        (replace(COMPLETE, are_details_complete=False), "details"),
        (COMPLETE, "start"),
    ],
)
def test_a_setup_continues_where_it_stopped(state: SetupState, step: str) -> None:
    assert first_open_step(state) == step


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "a b", "password": "long enough", "repeated": "long enough"}, "64"),
        ({"name": "anna", "password": "short", "repeated": "short"}, "10 至 1,000"),
        ({"name": "anna", "password": "p" * 1001, "repeated": "p" * 1001}, "10 至 1,000"),
        ({"name": "anna", "password": "long enough", "repeated": "long enough2"}, "不一致"),
    ],
)
def test_an_account_follows_the_rules_of_all_accounts(fields: dict[str, str], message: str) -> None:
    setup = setup_with()
    answer = send(setup.open_link(), "/setup/account", **fields)
    assert answer.status_code == 400 and message in answer.text
    assert setup.backend.current.account_name == ""


def test_the_password_is_kept_as_a_hash() -> None:
    setup = setup_with()
    fields = {"name": "anna", "password": "long enough", "repeated": "long enough"}
    assert send(setup.open_link(), "/setup/account", **fields).location == "/setup/sites"
    assert verify_password("long enough", setup.backend.current.password_hash)


def test_lines_that_are_not_urls_are_named_and_the_others_stay_in_the_field() -> None:
    setup = setup_with(replace(SetupState(), account_name="anna"))
    client = setup.open_link()
    answer = send(client, "/setup/sites", urls="http://a.test/\nnonsense<b>\n")
    assert answer.status_code == 400 and "nonsense&lt;b&gt;" in answer.text and "http://a.test/" in answer.text
    assert send(client, "/setup/sites", urls="  \n").status_code == 400
    assert send(client, "/setup/sites", urls="http://a.test/\nhttp://a.test/").location == "/setup/sites"
    assert len(setup.backend.current.sites) == 1


def test_a_site_with_problems_is_added_only_nevertheless_or_as_the_own_network() -> None:
    bad = replace(SITE, problem="inside_address")
    setup = setup_with(replace(COMPLETE, sites=(bad,), are_details_complete=False))
    client = setup.open_link()
    shown = BeautifulSoup(client.get("/setup/sites", base_url=BASE).text, "lxml")
    assert shown.select_one("#next") is None and len(shown.select(".site-check button")) == 2
    assert first_open_step(setup.backend.current) == "sites"
    send(client, "/setup/sites", accept=bad.url, own_network="1")
    assert setup.backend.current.inside_hosts == (bad.url,)
    assert send(client, "/setup/sites", accept=bad.url, nevertheless="1").location == "/setup/sites"
    shown = BeautifulSoup(client.get("/setup/sites", base_url=BASE).text, "lxml")
    assert shown.select_one("#next") and not shown.select(".site-check button")


def test_a_wrong_extraction_shows_what_can_be_done() -> None:
    setup = setup_with(replace(COMPLETE, samples=()))
    client = setup.open_link()
    answer = send(client, "/setup/samples", **{"answer-0": "no"})
    assert answer.location == "/setup/samples"
    assert "plumb explain" in client.get("/setup/samples", base_url=BASE).text
    assert send(client, "/setup/samples", **{"answer-0": "no", "continue": "1"}).location == "/setup/details"


def test_samples_are_judged_when_all_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = setup_with(replace(COMPLETE, samples_state=CheckState.ACTIVE))
    monkeypatch.setattr(setup.backend, "load_samples", lambda: None)
    client = setup.open_link()
    loading = client.get("/setup/samples", base_url=BASE).text
    assert "data-poll-seconds" in loading and "标题" in loading and "answer-0" not in loading
    setup.backend.current = COMPLETE
    loaded = client.get("/setup/samples", base_url=BASE).text
    assert "data-poll-seconds" not in loaded and "answer-0" in loaded


def test_a_sample_page_is_shown_in_a_frame_that_runs_nothing() -> None:
    answer = setup_with(COMPLETE).open_link().get("/setup/samples/0", base_url=BASE)
    assert answer.text == "<p>页</p>" and "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "change",
    [
        {"title": ""},
        {"contact": ""},
        {"contact": f"{'a' * 200}@b.cn"},
        {"contact": f"{'a' * 200}中@b.cn"},
        {"daily_at": "25:00"},
        {"quiet_from": "08:00", "quiet_to": ""},
        {"quiet_from": "01:00", "quiet_to": "06:00"},
    ],
)
def test_invalid_details_are_not_saved(change: dict[str, str]) -> None:
    setup = setup_with(replace(COMPLETE, are_details_complete=False))
    fields = {"title": "名称", "contact": "a@b.cn", "daily_at": "02:30", "quiet_from": "", "quiet_to": ""}
    client = setup.open_link()
    assert send(client, "/setup/details", **{**fields, **change}).status_code == 400
    assert not setup.backend.current.are_details_complete
    assert send(client, "/setup/details", **fields).location == "/setup/start"


def test_the_end_signs_in_and_hands_over() -> None:
    setup = setup_with(COMPLETE)
    client = setup.open_link()
    answer = send(client, "/setup/start")
    assert (answer.status_code, answer.headers["Refresh"]) == (200, "1; url=/admin/run")
    assert "正在启动" in answer.text
    assert setup.backend.is_finished and setup.finished.is_set()
    session_cookie = client.get_cookie(client.application.config["SESSION_COOKIE_NAME"], domain="127.0.0.1")
    assert session_cookie is not None and session_cookie.http_only
    repeated = client.get("/admin/run?lang=en", base_url=BASE)  # over the open connection
    assert (repeated.status_code, repeated.location) == (307, "/admin/run?lang=en")


def test_a_failure_at_the_end_is_shown_and_can_be_repeated() -> None:
    setup = setup_with(COMPLETE, problem="vertical.toml already exists")
    answer = send(setup.open_link(), "/setup/start")
    assert answer.status_code == 500 and "vertical.toml 已存在" in answer.text
    assert not setup.finished.is_set()


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("step", ["account", "sites", "samples", "details", "start"])
def test_every_step_exists_in_both_languages(step: str, language: str) -> None:
    answer = setup_with(COMPLETE).open_link().get(f"/setup/{step}?lang={language}", base_url=BASE)
    assert answer.status_code == 200 and f'<html lang="{"zh-Hans" if language == "zh" else "en"}">' in answer.text


def test_the_last_page_says_which_sites_need_a_login() -> None:
    walled = replace(SITE, url="http://paid.test/", needs_login=True, is_accepted=True)
    client = setup_with(replace(COMPLETE, sites=(SITE, walled))).open_link()
    text = client.get("/setup/start?lang=en", base_url=BASE).text
    assert "paid.test needs a login" in text and text.count("needs a login") == 1
