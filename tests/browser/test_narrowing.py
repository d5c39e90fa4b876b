"""Narrowing results in a real browser, in both languages and at the width of a phone."""

import re
from itertools import combinations

import pytest
from playwright.sync_api import expect

from tests.browser_fixture import Visit, faults, follow, number

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

RESULTS = "/search?q=水平井"
READERS = [("zh-CN", 1280), ("en-GB", 390)]


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_a_site_is_excluded_and_comes_back(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844})
    page.goto(RESULTS)
    everything = number(page.locator("#total"))
    row = page.locator("#sites li").first
    name, count = row.locator("bdi").inner_text(), number(row.locator(".count"))
    label = {"zh-CN": f"排除 {name}", "en-GB": f"Exclude {name}"}[locale]
    follow(page.get_by_role("link", name=label, exact=True))
    assert number(page.locator("#total")) == everything - count
    assert name not in page.locator("#hits .site").all_inner_texts()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    follow(page.locator("#narrowed a").first)
    assert number(page.locator("#total")) == everything


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_all_values_of_a_filter_are_found_by_a_text(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844}, java_script_enabled=False)
    page.goto(f"/filter/sites?q={RESULTS.partition('=')[2]}")
    name = page.locator("#sites bdi").first.inner_text()
    page.locator("#contains").fill(name)
    follow(page.locator("#contains"), "Enter")
    expect(page.locator("#sites .toggle")).to_have_count(1)
    count = number(page.locator("#sites .count"))
    follow(page.locator("#sites .toggle"))
    assert number(page.locator("#total")) == count


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_dragging_over_the_bars_selects_their_dates(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844})
    page.goto(RESULTS)
    histogram = page.locator("#dates")
    dates = str(histogram.get_attribute("data-dates")).split()
    assert len(dates) > 1
    histogram.scroll_into_view_if_needed()
    box = histogram.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=4)
    with page.expect_navigation():
        page.mouse.up()
    expect(page).to_have_url(re.compile(f"from={dates[0]}&to={dates[-1]}"))
    follow(page.locator("#dates a").first)  # a click still selects one bar
    expect(page).to_have_url(re.compile(r"from=([^&]+)&to=\1"))


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_pages_of_partial_matches_have_filters(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844})
    page.goto("/search?q=世界石油大会压裂车组风电")
    toggle = page.locator("#sites .toggle").last
    name, count = toggle.locator("bdi").inner_text(), number(toggle.locator(".count"))
    follow(toggle)
    assert number(page.locator("#total")) == count
    assert set(page.locator("#hits .site").all_inner_texts()) == {name}


@pytest.mark.parametrize(("locale", "word"), [("zh-CN", "最新"), ("en-GB", "latest")])
def test_a_word_for_new_raises_newer_articles(visit: Visit, locale: str, word: str) -> None:
    page = visit(locale=locale, viewport={"width": 390, "height": 844})

    def newer_pairs(query: str) -> int:
        """Return how many pairs of results have the newer article first."""
        page.goto(f"/search?q={query}")
        days = page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
        assert len(days) > 5
        return sum(first > second for first, second in combinations(days, 2))

    assert newer_pairs(f"水平井 {word}") > newer_pairs("水平井")


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_a_search_without_results_can_be_followed(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844})
    page.goto("/search?q=“量子水平井”")
    expect(page.locator("#hits > li")).to_have_count(0)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    follow(page.locator("#nothing #follow"))
    expect(page.locator("main")).to_contain_text("量子水平井")
