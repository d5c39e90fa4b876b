"""Settings and accounts in a real browser, on a vertical that `plumb init` created in an empty folder."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page, expect
from werkzeug.serving import make_server

from domain.account import Role
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import load_settings
from tests.browser_fixture import ACCOUNT, PASSWORD_HASH, Vertical, Visit, faults, fill_in, follow
from tests.plumb_call import call_plumb

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def vertical(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vertical]:
    """Yield the site of an empty vertical, without Solr."""
    path = tmp_path_factory.mktemp("settings") / "vertical.toml"
    assert call_plumb("init", str(path)).status == 0
    with Engine(load_settings(path), NullProgress()) as engine:
        engine.store.accounts.create(ACCOUNT, PASSWORD_HASH, [Role.OPERATOR])
        server = make_server("127.0.0.1", 0, create_search_app(engine, opens_solr=False), threaded=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Vertical(f"http://127.0.0.1:{server.server_port}/", "", engine, cast(Any, None))
        server.shutdown()
        thread.join()


def settings_path(vertical: Vertical) -> Path:
    assert vertical.engine.settings.file is not None
    return vertical.engine.settings.file


def open_settings(page: Page) -> Page:
    page.goto("/admin/settings")
    fill_in(page)
    expect(page.locator("h1")).to_have_text("设置")
    return page


def change(page: Page, path: str, value: str) -> None:
    """Open the group of a setting if it is closed, and enter a value."""
    field = page.locator(f"[name='set.{path}']")
    if not field.is_visible():
        page.locator("details", has=field).locator("summary").click()
    field.fill(value)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_setting_is_changed_shown_and_saved_and_a_conflict_keeps_both_changes(
    visit: Visit, vertical: Vertical, scripts: bool
) -> None:
    path = settings_path(vertical)
    page = open_settings(visit(409, 422, java_script_enabled=scripts, viewport={"width": 390, "height": 844}))
    change(page, "crawl.delay", "fast")
    follow(page.locator(".save-bar button"))
    expect(page.locator("#setting-crawl-delay .field-error")).to_have_text("crawl.delay = 'fast'：应为数字")
    delay = "3" if scripts else "4"
    change(page, "crawl.delay", delay)
    follow(page.locator(".save-bar button"))
    expect(page.locator("#diff .added")).to_have_text(f"+delay = {delay}")
    path.write_text(path.read_text() + "# changed in an editor\n")
    follow(page.get_by_role("button", name="保存"))
    expect(page.locator("#conflict")).to_contain_text("修改。此页显示最新值")
    expect(page.locator("[name='set.crawl.delay']")).to_have_value(delay)
    if scripts:  # axe is a script
        assert faults(page) == []
    assert scripts is False or page.evaluate("document.documentElement.scrollWidth") <= 390
    follow(page.locator(".save-bar button"))
    follow(page.get_by_role("button", name="保存"))
    expect(page.locator("p.note[role=status]")).to_have_text("已保存 1 项设置。")
    assert load_settings(path).crawl.delay == float(delay)
    assert path.read_text().endswith("# changed in an editor\n")


def test_typing_finds_settings_in_all_groups(visit: Visit) -> None:
    page = open_settings(visit())
    page.locator("#filter").fill("webhook")
    expect(page.locator("[name='set.alerts.webhook']")).to_be_visible()
    expect(page.locator("[name='set.crawl.depth']")).to_be_hidden()
    page.locator("#filter").fill("nothing like this")
    expect(page.locator("#filter-count")).to_have_text("没有匹配的设置")
    page.locator("#filter").fill("")
    expect(page.locator("[name='set.crawl.depth']")).to_be_visible()


@pytest.mark.always
def test_an_account_is_created_and_its_owner_signs_in(visit: Visit) -> None:
    page = visit(viewport={"width": 390, "height": 844})
    page.goto("/admin/accounts")
    fill_in(page)
    assert faults(page) == []
    page.locator("#name").fill("bea")
    page.get_by_label("报告查看者").check()
    follow(page.get_by_role("button", name="创建账号"))
    password = page.locator("#new-password").inner_text()
    assert faults(page) == []
    owner = visit()
    owner.goto("/admin/settings")
    fill_in(owner, "bea", password)
    expect(owner.locator("#temporary")).to_be_visible()  # no other page is open before the password is changed
    assert faults(owner) == []
    for field, value in (("old", password), ("new", "battery staple"), ("again", "battery staple")):
        owner.locator(f"#{field}").fill(value)
    follow(owner.get_by_role("button", name="修改密码"))
    owner.goto("/admin/settings")
    expect(owner.locator("[name='set.crawl.depth']")).to_be_disabled()
    follow(page.get_by_role("link", name="返回该账号"))
    assert faults(page) == []
    follow(page.get_by_role("button", name="退出所有登录"))
    owner.goto("/admin/settings")
    expect(owner.locator("#password")).to_be_visible()
