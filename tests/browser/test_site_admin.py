"""Sites and takedowns in a real browser, with the real engine and Solr."""

import pytest
from playwright.sync_api import Page, expect

from solr_client import solr_fields
from tests.browser_fixture import Vertical, Visit, becomes_true, faults, follow, links, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

NARROW = {"width": 390, "height": 800}


def check_page(page: Page) -> None:
    """Assert that the current page has no fault in both languages, and fits a narrow screen."""
    address = page.url
    for language in ("en", "zh"):
        page.goto(f"{address}?lang={language}")
        assert faults(page) == [], (address, language)
    wide = page.viewport_size
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], address
    assert wide is not None
    page.set_viewport_size(wide)


def article_count(vertical: Vertical, host: str) -> int:
    params = {"q": "{!term f=$field v=$host}", "field": solr_fields.SITE, "host": host, "rows": 0}
    return int(vertical.index.search(params)["response"]["numFound"])


def test_a_page_is_taken_down_on_its_own_page(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit(410))
    page.goto("/search?q=石油")
    url = links(page)[0]
    follow(page.locator("ol.hits a[href*='/article/']").first)
    address = page.url.partition("?")[0]
    page.locator("#take-down summary").click()
    page.locator("#takedown-reason").fill("权利人要求")
    follow(page.locator("#take-down button"))
    row = page.locator("#takedowns tbody tr").first
    expect(row).to_contain_text("权利人要求")
    check_page(page)
    for path in ("", "/original"):
        response = page.goto(address + path)
        assert response is not None and response.status == 410
    page.goto("/search?q=石油")
    assert url not in links(page)
    page.goto(f"/admin/page?url={url}")
    expect(page.locator("main")).to_contain_text("权利人要求")
    follow(page.get_by_role("button", name="撤销下架"))
    expect(page.locator("p.note[role=status]")).to_contain_text("已撤销下架")
    assert vertical.engine.store.takedowns.list_all() == []


def test_a_site_is_paused_resumed_and_removed(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    page.goto("/admin/sites/add")
    check_page(page)
    page.goto("/admin/sites")
    host = str(page.locator("#site-health th a").last.get_attribute("href")).rpartition("/")[2].replace("%3A", ":")
    assert article_count(vertical, host) > 0
    follow(page.locator("#site-health th a").last)
    follow(page.get_by_role("link", name="设置、暂停与移除"))
    check_page(page)
    follow(page.get_by_role("button", name="暂停抓取"))
    expect(page.locator("#state")).to_contain_text("已暂停")
    follow(page.get_by_role("button", name="恢复抓取"))
    expect(page.locator("#state")).to_have_text("此网站在抓取范围内。")
    page.get_by_label("类型").select_option(label="Cookie")
    page.get_by_label("值", exact=True).fill("session=s3cret")
    follow(page.get_by_role("button", name="添加或替换"))
    expect(page.locator("#site-options li")).to_contain_text("Cookie：session")
    assert "s3cret" not in page.content()
    check_page(page)
    page.get_by_label("静默时段").fill("08:00-18:30")
    page.get_by_label("抓取间隔（秒）").fill("7")
    follow(page.get_by_role("button", name="保存"))
    expect(page.get_by_label("抓取间隔（秒）")).to_have_value("7")
    follow(page.get_by_role("link", name="移除网站"))
    expect(page.locator("#removed-contents li").first).to_have_text(f"文章：{article_count(vertical, host)} 篇")
    check_page(page)
    follow(page.get_by_role("button", name="永久移除"))
    expect(page.locator("p.note[role=status]")).to_contain_text(f"已移除 {host}")
    becomes_true(page, lambda: article_count(vertical, host) == 0)
    actions = [item.name for item in vertical.engine.store.operations.find(limit=5)]
    assert actions == ["site_remove", "site_change", "site_option_set", "site_resume", "site_pause"]
