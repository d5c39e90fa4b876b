"""Sign-in, end of sessions, access by role, and forms that are submitted after the session ended."""

import re
from collections.abc import Callable, Iterator

import pytest
from argon2 import PasswordHasher, Type, extract_parameters
from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from docstore.accounts import AccountTable
from domain.account import Role
from search_ui.app import create_app
from search_ui.login_throttle import LoginThrottle, ThrottleKey, ThrottleRule
from search_ui.passwords import hash_password, verify_password
from search_ui.settings import SearchSettings
from tests import site_fixture
from tests.site_fixture import (
    OPERATOR,
    PASSWORD,
    MemorySite,
    form_token,
    sign_in,
    site_app,
    term,
)

HOUR = 3600
DECIDE = "/admin/lexicon/decide"
DECISION = {"term": "词0", "decision": "accepted", "status": "all", "text": "词", "page": "1"}
JSON = {"Accept": "application/json"}
OPEN = {
    "/admin/login",
    "/click",
    "/follow",
    "/follow/confirm",
    "/follow/stop",
}  # strangers may: passwords, signed links
READING = {"/mcp", "/retrieval", "/bookmarks"}  # change nothing


def client_of(**more: object) -> FlaskClient:
    return site_app(**more).test_client()  # type: ignore[arg-type]


def attempt(client: FlaskClient, password: str = "wrong", name: str = OPERATOR, **more: object) -> int:
    sent = {"token": form_token(client), "name": name, "password": password}
    return client.post("/admin/login", data=sent, **more).status_code


def is_signed_in(client: FlaskClient) -> bool:
    return client.get("/admin/account").status_code == 200


def rules(app: Flask) -> Iterator[Rule]:
    return (rule for rule in app.url_map.iter_rules() if rule.endpoint != "static")


def changing(app: Flask) -> list[str]:
    """Return every URL that changes something."""
    posts = {str(rule) for rule in rules(app) if set(rule.methods or ()) - {"GET", "HEAD", "OPTIONS"}}
    return sorted(posts - READING)


# -- signing in


@pytest.mark.parametrize("name", [OPERATOR, " Operator ", "ＯＰＥＲＡＴＯＲ"])
def test_the_password_opens(name: str) -> None:
    client = client_of()
    assert attempt(client, PASSWORD, name) == 303
    assert is_signed_in(client)
    assert client.get("/admin/login").location == "/admin/"


@pytest.mark.parametrize(
    ("name", "password"),
    [(OPERATOR, "wrong"), (OPERATOR, ""), (OPERATOR, "\ud800"), ("nobody", PASSWORD), ("", ""), ("\0", "\0")],
    ids=repr,
)
def test_nothing_else_does(name: str, password: str) -> None:
    client = client_of()
    sent = {"token": form_token(client), "name": name, "password": password.encode("utf-8", "surrogatepass")}
    response = client.post("/admin/login", data=sent)
    assert response.status_code == 403 and "账号或密码错误" in response.text
    assert not is_signed_in(client)


def test_a_disabled_account_does_not_open() -> None:
    site = MemorySite()
    client = client_of(site=site, roles={OPERATOR: Role.OPERATOR, "anna": Role.REPORTS})
    site.store.accounts.disable("anna")
    assert attempt(client, PASSWORD, "anna") == 403


def test_without_an_account_the_page_says_how_to_make_one() -> None:
    client = client_of(roles={})
    page = client.get("/admin/login")
    assert "plumb account add" in page.text and "--role operator" in page.text
    assert "password" not in page.text.replace("plumb account", "")
    assert client.get("/admin/").status_code == 303


def test_the_login_form_needs_its_token() -> None:
    client = client_of()
    form_token(client)
    assert client.post("/admin/login", data={"name": OPERATOR, "password": PASSWORD}).status_code == 400
    assert not is_signed_in(client)


def test_signing_in_makes_a_new_token_and_signing_out_ends_it() -> None:
    client = client_of()
    before = form_token(client)
    token = sign_in(client)
    assert client.post("/admin/logout", data={"token": before}).status_code == 400
    kept = client.get_cookie(session_cookie(client))
    assert kept is not None
    assert client.post("/admin/logout", data={"token": token}).location == "/"
    assert not is_signed_in(client)
    client.set_cookie(session_cookie(client), kept.value)  # by whoever took it from there before
    assert not is_signed_in(client)


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    client = client_of()
    sent = {"token": form_token(client), "name": OPERATOR, "password": PASSWORD}
    cookie = client.post("/admin/login", data=sent).headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Secure" not in cookie
    over_tls = client_of().get("/admin/login", base_url="https://search.example/")
    assert "Secure" in over_tls.headers["Set-Cookie"]


@pytest.mark.parametrize(
    ("wanted", "goes"),
    [
        ("/admin/lexicon?status=all&page=2", "/admin/lexicon?status=all&page=2"),
        ("/admin/sites", "/admin/sites"),
        ("", "/admin/"),
        ("/", "/"),
        ("/search?q=a", "/search?q=a"),
        ("///evil.example", "/admin/"),
        ("//evil.example/admin", "/admin/"),
        ("https://evil.example/admin", "/admin/"),
        ("/admin\\@evil.example", "/admin/"),
        ("/admin/\r\nX: 1", "/admin/"),
        ("javascript:/admin", "/admin/"),
        ("http://[", "/admin/"),
    ],
)
def test_one_comes_back_to_where_one_was(wanted: str, goes: str) -> None:
    client = client_of()
    sent = {"token": form_token(client), "name": OPERATOR, "password": PASSWORD, "next": wanted}
    assert client.post("/admin/login", data=sent).location == goes


def test_the_page_that_was_asked_for_is_kept_in_the_form() -> None:
    client = client_of()
    asked = client.get("/admin/lexicon?text=a%26b&status=all")
    assert asked.status_code == 303
    form = BeautifulSoup(client.get(asked.location).text, "lxml").select_one(".card form")
    assert form is not None
    field = form.select_one("[name=next]")
    assert field is not None and field["value"] == "/admin/lexicon?text=a%26b&status=all"


# -- guessing


def test_wrong_passwords_delay_the_next_attempt_and_the_right_one_works_after_the_delay() -> None:
    now = [1_000_000.0]
    client = client_of(clock=lambda: now[0])
    assert [attempt(client) for _ in range(5)] == [403] * 5
    response = client.post("/admin/login", data={"token": form_token(client), "name": OPERATOR, "password": PASSWORD})
    assert response.status_code == 429 and response.headers["Retry-After"] == "1"
    assert "请" in response.text and 'name="password"' in response.text
    now[0] += 1.0
    assert [attempt(client), attempt(client, PASSWORD)] == [403, 429]
    now[0] += 2.0  # an attempt during the delay does not make it longer
    assert attempt(client, PASSWORD) == 303


def test_delays_double_up_to_their_maximum_and_are_forgotten() -> None:
    now, key = [0.0], ThrottleKey(ThrottleRule(2, 8.0), "a")
    throttle, waits = LoginThrottle(lambda: now[0]), []
    for _ in range(7):
        assert throttle.begin_attempt([key]) == 0.0
        waits.append(throttle.begin_attempt([key]) if throttle._failures[key].count >= 2 else 0.0)
        now[0] += waits[-1]
    assert waits == [0.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    now[0] += 3600.0
    assert throttle.begin_attempt([key]) == throttle.begin_attempt([key]) == 0.0


def test_guessing_many_accounts_from_one_address_is_delayed() -> None:
    client = client_of()
    told = [attempt(client, name=f"name{n}") for n in range(22)]
    assert told == [403] * 20 + [429] * 2
    assert attempt(client.application.test_client(), PASSWORD, environ_base={"REMOTE_ADDR": "192.0.2.7"}) == 303


def test_strangers_at_other_addresses_do_not_delay_the_owner() -> None:
    client = client_of()
    assert {attempt(client, environ_base={"REMOTE_ADDR": f"192.0.2.{n}"}) for n in range(50)} == {403}
    assert attempt(client, PASSWORD, environ_base={"REMOTE_ADDR": "192.0.2.99"}) == 303


def test_strangers_at_the_same_address_do_not_delay_a_known_device(caplog: pytest.LogCaptureFixture) -> None:
    owner = client_of()
    assert attempt(owner, PASSWORD) == 303
    token = form_token_of_signed_in(owner)
    assert owner.post("/admin/logout", data={"token": token}).location == "/"
    stranger = owner.application.test_client()
    assert [attempt(stranger) for _ in range(6)] == [403] * 5 + [429]
    assert "too many wrong passwords for 'operator'" in caplog.text
    assert attempt(stranger, PASSWORD) == 429
    assert attempt(owner, PASSWORD) == 303


@pytest.mark.parametrize("cookie", ["", "x", "WyJvcGVyYXRvciIsICIxIl0.aaaa.bbbb", "\xff" * 9])
def test_a_made_up_device_is_none(cookie: str) -> None:
    client = client_of()
    for _ in range(5):
        attempt(client)
    client.set_cookie(f"{session_cookie(client)}_device", cookie, path="/admin")
    assert attempt(client, PASSWORD) == 429


def session_cookie(client: FlaskClient) -> str:
    return str(client.application.config["SESSION_COOKIE_NAME"])


def form_token_of_signed_in(client: FlaskClient) -> str:
    page = client.get("/admin/account").text
    return page.partition('name="token" value="')[2].partition('"')[0]


def test_right_passwords_do_not_count() -> None:
    client = client_of()
    assert [attempt(site, PASSWORD) for site in [client.application.test_client() for _ in range(12)]] == [303] * 12


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [("2001:db8::1", "2001:db8::ffff", True), ("2001:db8::1", "2001:db8:0:1::1", False), ("::1", "::2", True)],
)
def test_an_ipv6_network_is_one_sender(first: str, second: str, same: bool) -> None:
    client = client_of()
    for _ in range(5):
        attempt(client, environ_base={"REMOTE_ADDR": first})
    assert attempt(client, PASSWORD, environ_base={"REMOTE_ADDR": second}) == (429 if same else 303)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "same"),
    [(0, "198.51.100.{}", True), (1, "198.51.100.{}", False), (1, "198.51.100.{}, 192.0.2.1", True)],
    ids=["a header anyone can send", "from our proxy", "only what our proxy adds"],
)
def test_a_forwarded_address_counts_only_behind_as_many_proxies(proxies: int, forwarded: str, same: bool) -> None:
    client = client_of(settings=SearchSettings(trusted_proxies=proxies))
    told = [attempt(client, headers={"X-Forwarded-For": forwarded.format(n)}) for n in range(6)]
    assert told[-1] == (429 if same else 403)


# -- what ends a session


@pytest.mark.parametrize(
    "change",
    [
        lambda accounts: accounts.reset_password(OPERATOR, "another"),
        lambda accounts: accounts.set_roles(OPERATOR, [Role.REPORTS]),
        lambda accounts: accounts.disable(OPERATOR),
    ],
    ids=["password", "roles", "disabled"],
)
def test_a_changed_account_ends_its_sessions(change: Callable[[AccountTable], None]) -> None:
    site = MemorySite()
    client = client_of(site=site)
    sign_in(client)
    assert is_signed_in(client)
    change(site.store.accounts)
    assert not is_signed_in(client)


def test_a_session_ends_after_eight_hours_however_busy() -> None:
    now = [1_000_000.0]
    client = client_of(clock=lambda: now[0])
    sign_in(client)
    for _ in range(7):
        now[0] += HOUR
        assert is_signed_in(client)
    now[0] += HOUR
    asked = client.get("/admin/lexicon?page=2")
    assert asked.location == "/admin/login?next=/admin/lexicon?page%3D2"
    assert "登录已过期" in client.get(asked.location).text


def test_a_stranger_is_not_told_of_a_session_that_never_was() -> None:
    assert "登录已过期" not in client_of().get("/admin/login").text


def test_two_verticals_on_one_host_do_not_sign_each_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of()
    sign_in(client)
    other_key = b"o" * 32
    monkeypatch.setattr(site_fixture, "create_app", lambda *parts, **more: create_app(*parts[:-1], other_key, **more))
    browser = client_of()
    browser._cookies = client._cookies  # cookies ignore the port
    sign_in(browser)
    assert is_signed_in(client) and is_signed_in(browser)


def test_another_site_s_key_opens_nothing() -> None:
    client = client_of()
    sign_in(client)
    cookie = client.get_cookie(session_cookie(client))
    assert cookie is not None
    other = site_app()
    other.secret_key = b"another"
    stranger = other.test_client()
    stranger.set_cookie(session_cookie(client), cookie.value)
    assert not is_signed_in(stranger)


# -- a form that is sent too late


def test_a_late_decision_is_held_and_can_be_sent_again() -> None:
    now, held = [1_000_000.0], MemorySite([term("词0"), term("词1")])
    client = client_of(site=held, clock=lambda: now[0])
    token = sign_in(client)
    now[0] += 9 * HOUR
    late = client.post(DECIDE, data={**DECISION, "token": token})
    assert late.status_code == 403 and "登录已过期" in late.text and "提交的内容尚未保存" in late.text
    fields = form_fields(late.text, ".card form")
    assert held.all_terms[0].status == "candidate"
    wrong = client.post("/admin/login", data={**fields, "name": OPERATOR, "password": "wrong"})
    fields = form_fields(wrong.text, ".card form")  # a slip of the finger loses nothing
    told = client.post("/admin/login", data={**fields, "name": OPERATOR, "password": PASSWORD})
    assert told.status_code == 200 and "词0" in told.text and "采纳" in told.text
    assert held.all_terms[0].status == "candidate"  # nothing is sent before somebody says so
    again = BeautifulSoup(told.text, "lxml").select_one("#again")
    assert again is not None and again["action"] == DECIDE
    done = client.post(DECIDE, data=form_fields(told.text, "#again"))
    assert done.status_code == 303 and done.location.startswith("/admin/lexicon?status=all&text=")
    assert held.all_terms[0].status == "accepted"


def test_every_late_form_of_the_signed_in_area_is_held_but_those_with_passwords() -> None:
    app = site_app()
    client = app.test_client()
    addresses = {address for address in changing(app) if address.startswith("/admin/")}
    data = {"reason": "the owner asked", "token": form_token(client)}
    held = {
        address
        for address in addresses
        if "the owner asked" in client.post(address.replace("<name>", "x").replace("<host>", "a.test"), data=data).text
    }
    passwords = {"/admin/login", "/admin/account/password", "/admin/sites/<host>/login"}
    assert addresses - held == {"/admin/logout", *passwords}


def form_fields(html: str, selector: str) -> dict[str, str]:
    form = BeautifulSoup(html, "lxml").select_one(selector)
    assert form is not None
    return {str(one["name"]): str(one.get("value", "")) for one in form.select("input[name]")}


@pytest.mark.parametrize(
    "action", ["/admin/logout", "/admin/account/password", "/admin/login", "/click", "/", "https://evil.example/", "x"]
)
def test_only_forms_of_the_signed_in_pages_are_held(action: str) -> None:
    client = client_of()
    sent = {"name": OPERATOR, "password": PASSWORD, "held_action": action, "held_fields": '[["a", "b"]]'}
    assert client.post("/admin/login", data={**sent, "token": form_token(client)}).status_code == 303


@pytest.mark.parametrize("fields", ["", "nonsense", "{}", "[1]", '[["a"]]', "null", '[["a", "b", "c"]]', "[" * 5000])
def test_nonsense_that_claims_to_be_a_held_form_is_left_out(fields: str) -> None:
    client = client_of()
    sent = {"name": OPERATOR, "password": PASSWORD, "held_action": DECIDE, "held_fields": fields}
    assert client.post("/admin/login", data={**sent, "token": form_token(client)}).status_code in (200, 303)


def test_programs_are_told_that_the_session_has_ended() -> None:
    now = [1_000_000.0]
    client = client_of(clock=lambda: now[0])
    token = sign_in(client)
    now[0] += 9 * HOUR
    told = client.post(DECIDE, data=DECISION, headers={**JSON, "X-Form-Token": token})
    assert told.status_code == 403 and "登录已过期" in told.json["error"]["message"]  # type: ignore[index]


# -- access by role


def test_there_is_something_to_walk_through() -> None:
    addresses = changing(site_app())
    assert {DECIDE, "/admin/lexicon/publish", "/admin/logout", "/admin/searches/candidate", *OPEN} <= set(addresses)


@pytest.mark.parametrize("token", [None, "", "wrong", "é", "of another session"])
def test_every_change_needs_the_token_of_its_session(token: str | None) -> None:
    held = MemorySite([term("词0")])
    app = site_app(site=held)
    client = app.test_client()
    sign_in(client)
    foreign = form_token(app.test_client())
    sent = {**DECISION, "query": "词9", "old": PASSWORD, "new": "n" * 12, "again": "n" * 12}
    if token is not None:
        sent["token"] = foreign if token == "of another session" else token
    assert {address: client.post(address, data=sent).status_code for address in changing(app)} == dict.fromkeys(
        changing(app), 400
    )
    assert [one.status for one in held.all_terms] == ["candidate"] and held.published.version == 0
    assert is_signed_in(client)


def test_every_change_needs_an_account() -> None:
    held = MemorySite([term("词0")])
    app = site_app(site=held)
    client = app.test_client()
    sent = {**DECISION, "query": "词9", "token": form_token(client)}
    for address in set(changing(app)) - OPEN:
        assert client.post(address, data=sent).status_code == 403, address
        assert client.post(address, data=sent, headers=JSON).status_code == 403, address
    assert [one.status for one in held.all_terms] == ["candidate"]


REVIEW = {
    DECIDE,
    *(
        f"/admin/lexicon/{act}"
        for act in (
            "add",
            "assign",
            "bulk",
            "change",
            "comment",
            "comment/remove",
            "concept",
            "definition",
            "import",
            "publish",
            "relations/decide",
            "revert",
            "undo",
        )
    ),
    "/admin/searches/candidate",
    "/admin/searches/synonym",
    "/admin/topics/<name>/answer",
    "/admin/topics/<name>/decide",
}
OPERATION = {
    "/admin/history/undo",
    "/admin/alerts/test",
    *(f"/admin/accounts/{name}" for name in ("create", "password")),
    *(f"/admin/settings/{step}" for step in ("edit", "review", "save")),
    "/admin/page/remedy",
    *(f"/admin/sites/<host>/{name}" for name in ("<action>", "remove", "settings", "options", "login")),
    "/admin/sites/add",
}
PAGES = {
    "/admin/": set(Role),
    "/admin/account": set(Role),
    **{f"/admin/accounts{page}": set() for page in ("", "/account", "/password")},
    "/admin/alerts": {Role.REPORTS},
    "/admin/connect": set(Role),
    **{f"/admin/curation{page}": {Role.EDITOR} for page in ("", "/rule")},
    "/admin/history": {Role.REPORTS},
    "/admin/lexicon": {Role.REVIEWER},
    **{
        f"/admin/lexicon/{name}": {Role.REVIEWER}
        for name in (
            "article",
            "definitions",
            "export/<form>",
            "history",
            "kind/<kind>",
            "preview",
            "relations",
            "report",
            "term",
            "usage",
            "versions",
        )
    },
    "/admin/page": {Role.REPORTS},
    "/admin/run": {Role.REPORTS},
    **{f"/admin/runs{page}": {Role.REPORTS} for page in ("", "/<run_id>", "/live")},
    "/admin/searches": {Role.REPORTS, Role.REVIEWER},
    "/admin/settings": {Role.REPORTS},
    "/admin/sites": {Role.REPORTS},
    "/admin/sites/<host>": {Role.REPORTS},
    "/admin/sites/<host>/login": set(),
    "/admin/sites/<host>/remove": set(),
    "/admin/sites/<host>/settings": {Role.REPORTS},
    "/admin/sites/add": {Role.REPORTS},
    "/admin/takedowns": {Role.REPORTS},
    "/admin/tokens": set(Role),
    "/admin/topics/": {Role.REVIEWER},
    "/admin/topics/<name>": {Role.REVIEWER},
}
OWN = {
    "/admin/logout",
    "/admin/account/password",
    "/admin/operations/<name>",
    "/admin/tokens/create",
}  # actions of every account; each operation has a role of its own
ADMIN_RIGHTS: dict[tuple[str, str], frozenset[Role]] = {
    **{("GET", address): frozenset(roles) for address, roles in PAGES.items()},
    **{("POST", address): frozenset({Role.REVIEWER}) for address in REVIEW},
    ("POST", "/admin/curation/rule"): frozenset({Role.EDITOR}),
    **{("POST", address): frozenset[Role]() for address in OPERATION},
    **{("POST", address): frozenset(Role) for address in OWN},
}
"""The roles with a right, beside the administrator, by method and route. A new route needs an entry."""


@pytest.mark.parametrize("role", Role)
@pytest.mark.always
def test_each_role_sees_and_does_its_own(role: Role) -> None:
    app = site_app(site=MemorySite([term("词0")]), roles={"someone": role})
    client = app.test_client()
    token = sign_in(client, "someone")
    routes = {
        (method, str(rule))
        for rule in rules(app)
        if str(rule).startswith("/admin") and str(rule) != "/admin/login"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert routes == set(ADMIN_RIGHTS)
    for (method, address), roles in ADMIN_RIGHTS.items():
        if address in OWN:
            continue  # they would end the session
        sent = {**DECISION, "query": "词9", "token": token}
        told = client.post(address, data=sent) if method == "POST" else client.get(address)
        is_let_in = told.status_code != 403
        assert is_let_in == (role in roles or role is Role.OPERATOR), address
        assert is_let_in or "没有" in told.text, address


@pytest.mark.parametrize("role", Role)
def test_each_operation_with_a_form_is_for_its_role(role: Role) -> None:
    site = MemorySite()
    client = client_of(site=site, roles={"someone": role})
    token = sign_in(client, "someone")
    for name, operation in site.administration.operations.items():
        status = client.post(f"/admin/operations/{name}", data={"token": token}).status_code
        may_not = operation.role not in (None, role) and role is not Role.OPERATOR
        assert status in ([403] if may_not else [303, 400]) if operation.message else status == 404, name
    assert client.post("/admin/operations/of_tomorrow", data={"token": token}).status_code == 404


def test_a_password_is_changed_only_by_the_form_that_makes_its_hash() -> None:
    site = MemorySite()
    client = client_of(site=site)
    before = site.store.accounts.find(OPERATOR).password_hash
    data = {"token": sign_in(client), "name": OPERATOR}
    assert client.post("/admin/operations/account_password", data=data).status_code == 404
    assert site.store.accounts.find(OPERATOR).password_hash == before


@pytest.mark.parametrize("role", Role)
def test_nobody_is_shown_a_way_that_is_closed_to_them(role: Role) -> None:
    client = client_of(roles={"someone": role})
    sign_in(client, "someone")
    page = client.get("/admin/account" if role is Role.READER else "/admin/")
    links = [str(link["href"]) for link in BeautifulSoup(page.text, "lxml").select(".areas a")]
    assert [client.get(link).status_code for link in links] == [200] * len(links)
    assert "/admin/account" in links and ("/admin/sites" in links) == (role in (Role.REPORTS, Role.OPERATOR))


def test_signed_in_pages_are_kept_by_no_cache() -> None:
    client = client_of()
    sign_in(client)
    for address in ("/admin/", "/admin/login", "/admin/account", "/admin/lexicon", "/admin/searches", "/admin/sites"):
        response = client.get(address)
        assert response.headers["Cache-Control"] == "no-store", address
        assert response.headers["X-Robots-Tag"] == "noindex", address


# -- one's own password


def change(client: FlaskClient, token: str, **fields: str) -> int:
    sent = {"token": token, "old": PASSWORD, "new": "battery staple", "again": "battery staple", **fields}
    return client.post("/admin/account/password", data=sent).status_code


def test_a_new_password_ends_all_other_sessions() -> None:
    site = MemorySite()
    app = site_app(site=site)
    here, elsewhere = app.test_client(), app.test_client()
    sign_in(elsewhere)
    assert change(here, sign_in(here)) == 303
    assert is_signed_in(here) and not is_signed_in(elsewhere)
    assert verify_password("battery staple", site.store.accounts.find(OPERATOR).password_hash)
    assert attempt(app.test_client(), PASSWORD) == 403


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"old": "wrong"}, 403), ({"new": "short", "again": "short"}, 422), ({"again": "battery stapel"}, 422)],
    ids=["old", "short", "differ"],
)
def test_a_password_is_changed_only_by_who_knows_it(fields: dict[str, str], status: int) -> None:
    site = MemorySite()
    client = client_of(site=site)
    assert change(client, sign_in(client), **fields) == status
    assert verify_password(PASSWORD, site.store.accounts.find(OPERATOR).password_hash)
    assert is_signed_in(client)


def test_the_password_of_a_stolen_session_cannot_be_guessed() -> None:
    client = client_of()
    token = sign_in(client)
    assert [change(client, token, old=f"guess {n}") for n in range(6)] == [403] * 5 + [429]


def test_hashes_are_as_expensive_as_rfc_9106_recommends(product_hasher: PasswordHasher) -> None:
    """The second recommended option, or more: Argon2id, three passes, 64 MiB."""
    password_hash = hash_password(PASSWORD)
    parameters = extract_parameters(password_hash)
    assert parameters.type is Type.ID
    assert parameters.time_cost >= 3 and parameters.memory_cost >= 64 * 1024
    assert verify_password(PASSWORD, password_hash) and not verify_password("wrong password", password_hash)


def test_a_password_is_the_same_however_it_is_typed() -> None:
    kept = hash_password("ｐａｓｓword é")
    assert verify_password("password e\u0301", kept)
    assert not verify_password("password e", kept) and not verify_password("password é", None)
    assert not verify_password("x", "no hash at all")
    assert re.match(r"\$argon2id\$", kept)
