"""The pages that add, pause, change and remove sites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from domain.account import Role
from domain.administration import HostSuggestion, SiteContents
from domain.errors import BusyError, PlumblineError, SettingsError, SiteError
from domain.login import Login, LoginKind, LoginStep, LoginTrial
from domain.message import Message
from domain.operation import Call, Change
from domain.site_check import CheckState, SiteCheck
from search_ui.admin.site_form import (
    LOGIN_FORM_KEYS,
    SITE_FORM_KEYS,
    SecretSource,
    SiteLogin,
    SiteOption,
    SiteOptionKind,
    SiteReader,
    SiteSettings,
)
from tests.site_fixture import MemorySite, sign_in, site_app

HOST = "news.example"
CONTENTS = SiteContents(30, 20, 10, 2_500_000)


@dataclass
class FakeSites:
    """Records the operations on sites. All of them raise `error` unless it is None."""

    calls: list[tuple[object, ...]] = field(default_factory=list)
    error: PlumblineError | None = None
    paused_hosts: set[str] = field(default_factory=set)
    options: list[SiteOption] = field(default_factory=list)
    fetched_count: int = 20
    render: str = ""
    problem: str = ""
    login: SiteLogin = field(default_factory=lambda: SiteLogin(HOST))
    trial: LoginTrial = field(default_factory=lambda: LoginTrial(Login(LoginKind.FORM)))

    def check(self, url: str) -> SiteCheck:
        needs_login = self.problem == "needs_login"
        check = SiteCheck(url, CheckState.DONE, problem=self.problem, start_url=url, page_count=9)
        return replace(check, needs_login=needs_login)

    def find_host(self, text: str) -> str:
        return "" if text.startswith("unknown") else text

    def load(self, host: str) -> SiteSettings:
        values = {"name": "新闻网", "delay": "3", "quiet_hours": "", "urls": f"https://{host}/", "scope": host}
        values["render"] = self.render
        values = dict.fromkeys(SITE_FORM_KEYS, "") | values
        return SiteSettings(host, values, host in self.paused_hosts, options=self.options)

    def suggestions(self, limit: int) -> Sequence[HostSuggestion]:
        return [HostSuggestion("other.example", 7, 7, 2, "https://other.example/a/b", "")][:limit]

    def load_login(self, host: str) -> SiteLogin:
        return self.login

    def try_login(self, host: str, values: Mapping[str, str], secret: str, page_url: str) -> LoginTrial:
        if self.error:
            raise self.error
        self.calls.append(("try", host, dict(values), secret, page_url))
        return self.trial

    def apply(self, name: str, call: Call) -> Change:
        if self.error:
            raise self.error
        self.calls.append((name, dict(call.values), call.account))
        host = call.text("host") or call.text("url").split("/")[2]
        return Change(host, result={"site_remove": CONTENTS, "site_recrawl": self.fetched_count}.get(name, host))


@pytest.fixture
def sites() -> FakeSites:
    return FakeSites()


def signed_in(sites: FakeSites, role: Role = Role.OPERATOR) -> tuple[FlaskClient, str]:
    readers = sites.find_host, sites.load, sites.suggestions, sites.check, sites.load_login, sites.try_login
    site = MemorySite(site_reader=SiteReader(*readers))
    operations = {
        name: replace(operation, apply=partial(sites.apply, name))
        for name, operation in site.administration.operations.items()
        if name.startswith("site_")
    }
    site.administration = replace(site.administration, operations=operations)
    site.store.site_pages.count = lambda host: CONTENTS  # type: ignore[method-assign]
    client = site_app(site=site, roles={"anna": role}).test_client()
    return client, sign_in(client, "anna")


def test_a_suggested_site_is_added_with_one_click(sites: FakeSites) -> None:
    client, token = signed_in(sites)
    page = BeautifulSoup(client.get("/admin/sites/add").text, "lxml")
    [form] = page.select("#suggestions form")
    url = form.select_one("[name=url]")
    assert url is not None
    answer = client.post(str(form["action"]), data={"url": url["value"], "token": token})
    assert answer.location == "/admin/sites/other.example/settings"
    assert sites.calls == [("site_add", {"url": "https://other.example/"}, "anna")]


def test_a_site_with_problems_is_added_only_nevertheless(sites: FakeSites) -> None:
    sites.problem = "robots_forbidden"
    client, token = signed_in(sites)
    answer = client.post("/admin/sites/add?lang=en", data={"url": "https://a.example/", "token": token})
    assert answer.status_code == 422 and "Ask the site for permission" in answer.text and sites.calls == []
    [form] = BeautifulSoup(answer.text, "lxml").select("#check form")
    data = {str(item["name"]): str(item["value"]) for item in form.select("[name]")}
    assert client.post(str(form["action"]), data=data).location == "/admin/sites/a.example/settings"
    assert sites.calls == [("site_add", {"url": "https://a.example/"}, "anna")]


@pytest.mark.parametrize(("name", "text"), [("pause", "已暂停"), ("resume", "已恢复"), ("recrawl", "重新抓取")])
def test_one_click_changes_a_site(sites: FakeSites, name: str, text: str) -> None:
    client, token = signed_in(sites)
    answer = client.post(f"/admin/sites/{HOST}/{name}", data={"token": token}, follow_redirects=True)
    assert text in answer.text and sites.calls == [(f"site_{name}", {"host": HOST}, "anna")]


def test_without_fetched_pages_none_is_fetched_again(sites: FakeSites) -> None:
    client, token = signed_in(sites)
    sites.fetched_count = 0
    answer = client.post(f"/admin/sites/{HOST}/recrawl", data={"token": token}, follow_redirects=True)
    assert "还没有抓取过的网页" in answer.text


@pytest.mark.parametrize("text", ["false", ""])
def test_render_is_checked_only_if_it_is_true(sites: FakeSites, text: str) -> None:
    sites.render = text
    page = BeautifulSoup(signed_in(sites)[0].get(f"/admin/sites/{HOST}/settings").text, "lxml")
    assert page.select("[name=render]") and not page.select("[name=render][checked]")


def test_the_form_shows_and_changes_the_settings(sites: FakeSites) -> None:
    client, token = signed_in(sites)
    page = BeautifulSoup(client.get(f"/admin/sites/{HOST}/settings").text, "lxml")
    values = {
        field["name"]: field.get("value") or field.get_text()
        for field in page.select("form.site-settings")[0].select("[name]")
    }
    shown = {name.partition(".")[2]: values.pop(name) for name in list(values) if name.startswith("shown.")}
    assert values.pop("token") and values.pop("render") == "true"
    assert (values.pop("keep_days"), values.pop("schedule")) == ("", "")
    assert "仅登录读者" in str(values.pop("readers"))
    expected = {"name": "新闻网", "delay": "3", "quiet_hours": "", "urls": f"https://{HOST}/", "scope": HOST}
    assert values == expected and shown == {**dict.fromkeys(SITE_FORM_KEYS, ""), **expected}
    changes = {"delay": " 5 ", "quiet_hours": "8:00-9:00 ", "scope": f"{HOST}/oil/\r\n\r\n{HOST}/gas/\r\n"}
    sent = {**values, **{f"shown.{key}": text for key, text in shown.items()}, **changes, "token": token}
    client.post(f"/admin/sites/{HOST}/settings", data=sent)
    # The other values can have changed meanwhile.
    assert sites.calls == [("site_change", {"host": HOST, "values": changes}, "anna")]


def test_an_error_is_next_to_its_field_and_what_was_entered_stays(sites: FakeSites) -> None:
    problems = {
        "delay": Message("expected seconds from 0 to 99999, for example 10"),
        "quiet_hours": Message("expected hours, for example 08:00-18:30, 22:00-06:00"),
    }
    sites.error = SiteError(HOST, problems)
    client, token = signed_in(sites)
    sent = {"delay": "abc", "quiet_hours": "25:00-99:99", "urls": "https://x.test/\n" * 300, "token": token}
    sent["shown.delay"] = "3"
    answer = client.post(f"/admin/sites/{HOST}/settings?lang=en", data=sent)
    page = BeautifulSoup(answer.text, "lxml")
    assert answer.status_code == 422
    assert [error["id"] for error in page.select(".field-error")] == ["error-delay", "error-quiet_hours"]
    assert page.select("#error-delay")[0].text == "expected seconds from 0 to 99999, for example 10"
    assert page.select("#site-delay[value=abc][aria-invalid=true][aria-describedby='delay-note error-delay']")
    assert page.select("#site-quiet-hours")[0]["value"] == "25:00-99:99"
    assert page.select_one("[name='shown.delay']")["value"] == "3"
    assert page.select("#site-seeds")[0].text.count("https://x.test/") == 300


def test_an_unknown_host_is_not_found(sites: FakeSites) -> None:
    client, token = signed_in(sites)
    for name in ("pause", "resume", "recrawl", "remove", "settings", "options", "login"):
        assert client.post(f"/admin/sites/unknown.example/{name}", data={"token": token}).status_code == 404, name
    assert client.get("/admin/sites/unknown.example/settings").status_code == 404
    assert sites.calls == []


def test_a_cookie_is_set_and_removed_by_its_name(sites: FakeSites) -> None:
    sites.options = [SiteOption(SiteOptionKind.COOKIE, "session")]
    client, token = signed_in(sites)
    removal, addition = BeautifulSoup(client.get(f"/admin/sites/{HOST}/settings").text, "lxml").select(
        "#site-options form"
    )
    fields = {str(field["name"]): str(field["value"]) for field in removal.select("input")}
    client.post(str(removal["action"]), data=fields)
    client.post(str(addition["action"]), data={"kind": "cookie", "value": " session=2 ", "token": token})
    assert client.post(str(addition["action"]), data={"kind": "body", "token": token}).status_code == 400
    cookie = {"host": HOST, "kind": "cookie"}
    removed, added = {**cookie, "name": "session"}, {**cookie, "value": "session=2"}
    assert sites.calls == [("site_option_remove", removed, "anna"), ("site_option_set", added, "anna")]


def test_an_error_is_shown(sites: FakeSites) -> None:
    sites.error = SettingsError("the file is read-only")
    client, token = signed_in(sites)
    for address in (f"/admin/sites/{HOST}/settings", "/admin/sites/add", f"/admin/sites/{HOST}/remove"):
        answer = client.post(address, data={"url": "x", "token": token}, follow_redirects=True)
        assert "the file is read-only" in answer.text, address


def test_the_removal_says_what_disappears_and_is_confirmed(sites: FakeSites) -> None:
    client, token = signed_in(sites)
    page = BeautifulSoup(client.get(f"/admin/sites/{HOST}/remove").text, "lxml")
    assert [item.get_text() for item in page.select("#removed-contents li")] == [
        "文章：10 篇",
        "已保存的网页：20 个",
        "不再抓取的网址：30 个",
    ]
    assert "2.5 MB" in page.get_text() and sites.calls == []
    answer = client.post(f"/admin/sites/{HOST}/remove", data={"token": token})
    assert answer.location == "/admin/sites" and sites.calls == [("site_remove", {"host": HOST}, "anna")]


def test_a_site_is_not_removed_during_a_crawl(sites: FakeSites) -> None:
    sites.error = BusyError("another process crawls")
    client, token = signed_in(sites)
    assert "正在抓取" in client.post(f"/admin/sites/{HOST}/remove", data={"token": token}, follow_redirects=True).text


def test_readers_of_reports_see_no_forms(sites: FakeSites) -> None:
    client, _ = signed_in(sites, Role.REPORTS)
    for address in ("/admin/sites/add", f"/admin/sites/{HOST}/settings"):
        assert BeautifulSoup(client.get(address).text, "lxml").select("main form[method=post]") == []


# -- the login of a site

LOGIN_VALUES = dict.fromkeys(LOGIN_FORM_KEYS, "") | {"login": "form", "login_user": "anna@office.example"}
PASSWORD = "s3cret of the portal"
LOGIN_PAGE = f"/admin/sites/{HOST}/login"


def send_login(client: FlaskClient, token: str, action: str, **changes: str) -> TestResponse:
    sent = {**LOGIN_VALUES, "secret": PASSWORD, "page_url": f"https://{HOST}/a", **changes}
    return client.post(f"{LOGIN_PAGE}?lang=en", data={**sent, "action": action, "token": token})


def test_a_site_that_needs_a_login_is_added_and_its_login_page_opens(sites: FakeSites) -> None:
    sites.problem = "needs_login"
    client, token = signed_in(sites)
    answer = client.post("/admin/sites/add?lang=en", data={"url": "https://a.example/", "token": token})
    [form] = BeautifulSoup(answer.text, "lxml").select("#check form")
    assert "needs a login" in answer.text and form.get_text(strip=True) == "Add it and enter the login"
    data = {str(item["name"]): str(item["value"]) for item in form.select("[name]")}
    assert client.post(str(form["action"]), data=data).location == "/admin/sites/a.example/login"


def test_a_trial_shows_what_happened_and_fills_the_form(sites: FakeSites) -> None:
    steps = [LoginStep("GET", f"https://{HOST}/login", 200), LoginStep("POST", f"https://{HOST}/login", 0)]
    fields = ("user={user}", "pass={password}")
    sites.trial = LoginTrial(
        Login(LoginKind.FORM, fields=fields), Message("wrong password"), steps, ["<b>密码错误</b>"]
    )
    client, token = signed_in(sites)
    answer = send_login(client, token, "try")
    page = BeautifulSoup(answer.text, "lxml")
    assert answer.status_code == 422 and PASSWORD not in answer.text
    assert page.select("#trial-result[role=alert]")[0].get_text() == "wrong password"
    rows = [row.get_text(" ", strip=True) for row in page.select("#trial-steps tbody tr")]
    assert rows == [f"GET https://{HOST}/login 200", f"POST https://{HOST}/login no response"]
    assert page.select("#trial-page p")[0].get_text() == "<b>密码错误</b>"
    assert page.select("#field-login_fields")[0].get_text() == "user={user}\npass={password}"
    assert page.select("#field-login_user")[0]["value"] == "anna@office.example"
    assert page.select("#field-secret")[0].get("value") is None
    assert sites.calls == [("try", HOST, LOGIN_VALUES, PASSWORD, f"https://{HOST}/a")]


@pytest.mark.parametrize(("action", "problem", "is_saved"), [
    ("try", None, False), ("try_and_save", None, True), ("try_and_save", Message("wrong password"), False),
    ("save", Message("wrong password"), True),
])  # fmt: skip
def test_only_a_successful_trial_saves_unless_one_saves_without_it(
    sites: FakeSites, action: str, problem: Message | None, is_saved: bool
) -> None:
    sites.trial = LoginTrial(Login(LoginKind.FORM, fields=("user={user}",)), problem)
    client, token = signed_in(sites)
    answer = send_login(client, token, action)
    saved = [call for call in sites.calls if call[0] == "site_login"]
    fields = "" if action == "save" else "user={user}"
    values = {"host": HOST, "values": {**LOGIN_VALUES, "login_fields": fields}, "secret": PASSWORD}
    assert saved == ([("site_login", {**values, "removes_secret": False}, "anna")] if is_saved else [])
    assert answer.location == (LOGIN_PAGE if is_saved else None)
    assert ("The sign-in succeeded." in answer.text) is (action == "try")
    if is_saved:
        assert "The login is saved." in client.get(f"{LOGIN_PAGE}?lang=en").text


def test_an_error_of_a_login_is_next_to_its_field(sites: FakeSites) -> None:
    sites.error = SiteError(HOST, {"secret": Message("Enter the password."), "login_url": Message("expected text")})
    client, token = signed_in(sites)
    answer = send_login(client, token, "save", login_url="x")
    page = BeautifulSoup(answer.text, "lxml")
    assert answer.status_code == 422 and PASSWORD not in answer.text
    assert page.select("#error-secret")[0].get_text() == "Enter the password."
    assert page.select("#field-secret[aria-invalid=true][aria-describedby~='error-secret']")
    assert page.select("#field-login_url[value=x][aria-invalid=true]")
    assert send_login(client, token, "save", login_user="x" * 5000).status_code == 400
    assert send_login(client, token, "guess").status_code == 400


@pytest.mark.parametrize("source", SecretSource)
def test_the_page_says_where_the_password_is_and_never_shows_it(sites: FakeSites, source: SecretSource) -> None:
    sites.login = SiteLogin(HOST, LOGIN_VALUES, source, "PLUMB_LOGIN_SECRET_NEWS_EXAMPLE")
    page = BeautifulSoup(signed_in(sites)[0].get(f"{LOGIN_PAGE}?lang=en").text, "lxml")
    text = page.select("#secret-note")[0].get_text()
    is_open = source is not SecretSource.ENVIRONMENT
    assert bool(page.select("#field-secret[type=password][autocomplete=new-password]")) is is_open
    assert bool(page.select("[name=removes_secret]")) is (source is SecretSource.FILE)
    expected = {
        SecretSource.NONE: "No password is saved.",
        SecretSource.FILE: "A password is saved.",
        SecretSource.ENVIRONMENT: "PLUMB_LOGIN_SECRET_NEWS_EXAMPLE",
    }
    assert expected[source] in text
    assert "Signed-in readers if the site has a login" in page.select("#readers")[0].get_text()
    assert page.select("#readers a")[0]["href"] == f"/admin/sites/{HOST}/settings#site-readers"


def test_only_operators_see_and_change_a_login(sites: FakeSites) -> None:
    client, token = signed_in(sites, Role.REPORTS)
    assert client.get(LOGIN_PAGE).status_code == 403
    assert send_login(client, token, "save").status_code == 403
    assert send_login(signed_in(sites)[0], "", "save").status_code == 400 and sites.calls == []
