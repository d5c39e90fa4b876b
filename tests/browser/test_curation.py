"""An editor places results in a real browser, in both languages and at the width of a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser_fixture import Vertical, Visit, faults, follow, links, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

QUERY = "水平井压裂"
NARROW = {"width": 390, "height": 844}


def check(page: Page) -> None:
    """Fail if a page has faults or is wider than the window."""
    assert faults(page) == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], page.url  # type: ignore[index]


@pytest.mark.parametrize(
    ("locale", "recommended"),
    [("zh-CN", "推荐"), pytest.param("en-GB", "Recommended", marks=pytest.mark.exhaustive)],
)
@pytest.mark.always
def test_an_editor_pins_a_result(visit: Visit, vertical: Vertical, locale: str, recommended: str) -> None:
    page = visit(locale=locale, viewport=NARROW)
    sign_in(page)
    page.goto(f"/search?q={QUERY}")
    before = links(page)
    chosen = page.locator("#hits > li").nth(3)
    chosen.locator("details.rule summary").click()
    check(page)
    chosen.locator("[name=reason]").fill("best overview")
    follow(chosen.locator("details.rule button"))
    sides = page.locator("#preview > section")
    titles = [sides.nth(n).locator("li a").all_inner_texts() for n in range(2)]
    assert titles[1][0] == titles[0][3] and titles[1][1:4] == titles[0][:3]
    check(page)
    follow(page.locator("#save button"))
    expect(page.locator("#hits > li").first.locator(".recommended")).to_have_text(recommended)
    after = links(page)
    assert after[:4] == [before[3], *before[:3]] and len(after) == len(before)
    check(page)
    reader = visit(locale=locale, viewport=NARROW)
    reader.goto(f"/search?q={QUERY}")
    assert links(reader) == after and reader.locator("details.rule").count() == 0
    follow(reader.locator("#hits .reason").first)
    expect(reader.locator("#curated")).to_be_visible()
    check(reader)
    follow(page.locator("#rules"))
    expect(page.locator("#curation tbody tr")).to_have_count(1)
    check(page)
    follow(page.locator("#curation button"))
    assert vertical.engine.store.curation.load_all() == []
    reader.goto(f"/search?q={QUERY}")
    assert links(reader) == before
