"""Narrowing results in a real browser, in both languages and at the width of a phone."""

import re
from itertools import combinations

import pytest
from playwright.sync_api import expect

from domain.term import Definition, Lexicon, LexiconEntry, TermStatus
from pipeline.engine import Engine
from tests.browser_fixture import Visit, faults, follow, number
from tests.builders import add, decide
from tests.crash_harness import until

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

RESULTS = "/search?q=水平井"
DEFINITION = "水平井是井斜角接近九十度的井。"
READERS = [("zh-CN", 1280), pytest.param("en-GB", 390, marks=pytest.mark.exhaustive)]


@pytest.fixture(scope="module")
def lexicon(unindexed: Engine) -> None:
    """Publish a term with an abbreviation and a definition, and a narrower term."""
    entries = (LexiconEntry("水平井", synonyms=("HW",)), LexiconEntry("水平井压裂", broader_terms=("水平井",)))
    add(unindexed.store, [entry.text for entry in entries])
    decide(unindexed.store, [entry.text for entry in entries], TermStatus.ACCEPTED)
    definition = Definition("水平井", "zh", DEFINITION, 1, "https://a.example/1", "甲", "2014", 0.9, 1.0)
    unindexed.store.definitions.save([definition], ())
    unindexed.store.lexicons.publish(Lexicon(1, entries))


@pytest.mark.parametrize(("locale", "width"), READERS)
@pytest.mark.always
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


def test_a_finger_selects_dates(visit: Visit) -> None:
    page = visit(locale="zh-CN", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(RESULTS)
    histogram = page.locator("#dates")
    dates = str(histogram.get_attribute("data-dates")).split()
    histogram.scroll_into_view_if_needed()
    box = histogram.bounding_box()
    assert box is not None
    devtools, middle = page.context.new_cdp_session(page), box["y"] + box["height"] / 2

    def touch(kind: str, *places: float) -> None:
        points = [{"x": box["x"] + place * box["width"], "y": middle} for place in places]
        devtools.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    touch("Start", 0.01)
    for place in (0.2, 0.4, 0.6, 0.8, 0.99):
        touch("Move", place)
    with page.expect_navigation():
        touch("End")
    expect(page).to_have_url(re.compile(f"from={dates[0]}&to={dates[-1]}"))


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_an_abbreviation_is_answered_by_its_full_form(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844})
    page.goto({"zh-CN": "/search?q=HW是什么", "en-GB": "/search?q=what is HW"}[locale])
    card = page.locator("#term-card")
    expect(card.locator("h2")).to_have_text("水平井")
    expect(card).to_contain_text(DEFINITION)
    assert faults(page) == []


@pytest.mark.parametrize(("locale", "width"), READERS)
def test_related_searches_come_from_the_lexicon(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 844})
    related = page.locator("#related-searches")

    def is_shown() -> bool:  # as soon as the words of the index are loaded
        page.goto(RESULTS)
        return related.count() > 0

    until(is_shown)
    expect(related.locator("h2")).to_have_text({"zh-CN": "相关搜索", "en-GB": "Related searches"}[locale])
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    follow(related.get_by_role("link", name="水平井压裂"))
    expect(page.locator("#q")).to_have_value("水平井压裂")
    assert number(page.locator("#total")) > 0


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
