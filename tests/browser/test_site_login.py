"""A site behind a form, from "needs a login" to its saved login, in a real browser against a real site."""

import re
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask, redirect, request
from playwright.sync_api import Page, expect
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

from tests.browser_fixture import Vertical, Visit, faults, follow, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

USER, SECRET = "anna@office.example", "s3cret-of-the-portal"
FORM = """<!doctype html><title>Portal</title><h1>Portal</h1><p>{problem}</p>
<form method=post action=/welcome><input type=hidden name=csrf value={csrf}>
<label>Mail <input name=mail></label><label>Password <input type=password name=pass></label>
<button>Enter</button></form>"""
REPORT = "<!doctype html><title>Report</title><h1>Report</h1><p>Prices of the week. <a href=/leave>Log out</a></p>"


@pytest.fixture
def portal(vertical: Vertical) -> Iterator[str]:
    """Yield the URL of a site whose pages redirect to a form, at a URL that does not say so, without a session."""
    hosts = [*vertical.engine.settings.current().crawl.inside_hosts, "127.0.0.1"]
    vertical.engine.settings.require_source().edit(lambda _: {"crawl.inside_hosts": list(dict.fromkeys(hosts))})
    app, sessions, tokens = Flask("portal"), set[str](), set[str]()

    @app.get("/")
    def report() -> Response | str:
        return REPORT if request.cookies.get("session") in sessions else redirect("/welcome")

    @app.get("/robots.txt")
    def robots() -> tuple[str, int]:
        return "", 404

    @app.route("/welcome", methods=["GET", "POST"])
    def welcome() -> Response | str:
        form, problem = request.form, ""
        if request.method == "POST":
            is_valid = (form.get("mail"), form.get("pass")) == (USER, SECRET) and form.get("csrf") in tokens
            if is_valid:
                session = secrets.token_hex()
                sessions.add(session)
                response: Response = redirect("/")
                response.set_cookie("session", session)
                return response
            problem = f"Wrong password: {form.get('pass', '')}"  # a careless site
        csrf = secrets.token_hex()
        tokens.add(csrf)
        return FORM.format(problem=problem, csrf=csrf)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()


def check_result(page: Page) -> None:
    """Assert that the current page has no fault, fits the screen and does not have the password."""
    assert faults(page) == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth"), page.url
    assert SECRET not in page.content()


@pytest.mark.parametrize(
    ("locale", "texts"),
    [
        pytest.param("en-US", ("needs a login", "The sign-in succeeded."), marks=pytest.mark.exhaustive),
        ("zh-CN", ("需要登录", "登录成功。")),
    ],
)
@pytest.mark.always
def test_a_site_that_needs_a_login_gets_one(
    visit: Visit, vertical: Vertical, portal: str, locale: str, texts: tuple[str, str]
) -> None:
    page = sign_in(visit(422, locale=locale, viewport={"width": 390, "height": 800}))
    page.goto("/admin/sites/add")
    page.locator("#site-url").fill(portal)
    follow(page.locator("#add-site button"))
    expect(page.locator("#check")).to_contain_text(texts[0])
    check_result(page)
    follow(page.locator("#check button"))
    expect(page).to_have_url(re.compile("/admin/sites/127.0.0.1(:|%3A)[0-9]+/login"))
    check_result(page)

    page.locator("#field-login").select_option("form")
    page.locator("#field-login_user").fill(USER)
    page.locator("#field-login_url").fill(f"{portal}welcome")
    page.locator("#field-login_signed_in_text").fill("Log out")
    page.locator("#field-secret").fill("wrong-password")
    follow(page.locator("button[value=try]"))
    expect(page.locator("#trial-result[role=alert]")).to_be_visible()
    expect(page.locator("#trial-steps tbody tr").first).to_contain_text(f"GET {portal}welcome")
    expect(page.locator("#trial-page")).to_contain_text("Wrong password")
    assert "wrong-password" not in page.content()
    expect(page.locator("#field-login_fields")).to_have_value("mail={user}\npass={password}")
    expect(page.locator("#field-secret")).to_have_value("")
    check_result(page)

    page.locator("#field-secret").fill(SECRET)
    follow(page.locator("button[value=try]"))
    expect(page.locator("#trial-result")).to_have_text(texts[1])
    expect(page.locator("#trial-page")).to_contain_text("Prices of the week.")
    check_result(page)
    page.locator("#field-secret").fill(SECRET)
    follow(page.locator("button[value=try_and_save]"))
    expect(page.locator("p.note[role=status]").first).to_have_text(texts[1])
    expect(page.locator("#field-login_user")).to_have_value(USER)
    check_result(page)
    for address in ("/admin/history", page.url.replace("/login", "/settings"), "/admin/settings"):
        page.goto(address)
        assert SECRET not in page.content()

    folder = vertical.engine.settings.folder
    holders = [path.name for path in folder.rglob("*") if path.is_file() and holds_secret(path)]
    assert holders == ["login-secrets.toml"]
    names = [entry.name for entry in vertical.engine.store.operations.find(limit=2)]
    assert names == ["site_login", "site_add"]


def holds_secret(path: Path) -> bool:
    return SECRET.encode() in path.read_bytes()
