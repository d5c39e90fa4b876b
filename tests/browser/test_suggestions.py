"""Suggestions in a real browser: by keyboard and mouse, and not while an input method is composing."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import CDPSession, Page, Request, expect

from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from tests.browser_fixture import Visit, faults, wait_for
from tests.builders import add

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

TERM = "水平井压裂"  # many documents hold it
DEBOUNCE_MS = 120  # of suggest.js: without a key before a request
HOUR = 3_600_000  # ms; far beyond the time at which the page clock is stopped


@pytest.fixture(scope="module")
def lexicon(unindexed: Engine) -> None:
    """A published lexicon that contains the term."""
    add(unindexed.store, [TERM])
    LexiconReview(unindexed.store).publish("")


class Asked:
    """Records the requests of a tab to `/suggest`."""

    def __init__(self, page: Page) -> None:
        self.queries: list[str] = []
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.path == "/suggest":
            self.queries.append(parse_qs(address.query)["q"][0])


def asks_for(url: str, query: str) -> bool:
    """Return True if this is the URL of the results page for exactly this query."""
    address = urlsplit(url)
    return address.path == "/search" and parse_qs(address.query)["q"] == [query]


def home(visit: Visit, **options: object) -> Page:
    """Open the home page of a site whose vocabulary is loaded."""
    page = visit(**options)
    page.goto("/")
    wait_for(page, f"/suggest?q={TERM[:2]}&format=json", "a => a.suggestions.some(one => one.kind === 'term')")
    return page


def test_a_suggestion_is_chosen_with_the_keys(visit: Visit) -> None:
    page = home(visit)
    box, options = page.locator("#q"), page.get_by_role("option")
    box.press_sequentially("shuiping")
    expect(options.first).to_contain_text(TERM)
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    expect(box).to_have_value(TERM)
    box.press("ArrowUp")
    expect(box).to_have_value("shuiping")
    assert box.get_attribute("aria-activedescendant") is None
    box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url(lambda url: asks_for(url, TERM))
    expect(page.locator("#hits > li").first).to_be_visible()


def test_escape_gives_back_what_was_typed_and_nothing_else_goes_wrong(visit: Visit) -> None:
    page = home(visit)
    box = page.locator("#q")
    box.press_sequentially("spj")
    expect(page.get_by_role("listbox")).to_be_visible()
    box.press("ArrowDown")
    box.press("Escape")
    expect(box).to_have_value("spj")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_attribute("aria-expanded", "false")
    box.press("Enter")
    page.wait_for_url(lambda url: asks_for(url, "spj"))


def test_a_suggestion_is_chosen_with_the_mouse_and_the_list_goes_when_one_leaves(visit: Visit) -> None:
    page = home(visit)
    page.locator("#q").press_sequentially(TERM[:2])
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.locator("#q").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("option").first.click()
    page.wait_for_url(lambda url: asks_for(url, TERM))


def test_while_an_input_method_is_composing_the_site_is_not_asked(visit: Visit) -> None:
    page = home(visit)
    asked = Asked(page)
    page.locator("#q").focus()
    method: CDPSession = page.context.new_cdp_session(page)
    page.clock.install(time=0)
    page.clock.pause_at(HOUR)
    for letters in ("s", "sh", "shui", "shui'p", "shui'ping"):
        method.send("Input.imeSetComposition", {"text": letters, "selectionStart": 9, "selectionEnd": 9})
        page.clock.run_for(2 * DEBOUNCE_MS)  # more than the pause before a question
    expect(page.locator("#q")).to_have_value("shui'ping")
    assert asked.queries == []
    expect(page.get_by_role("listbox")).to_be_hidden()
    method.send("Input.insertText", {"text": "水平"})
    page.clock.run_for(2 * DEBOUNCE_MS)
    expect(page.get_by_role("option").first).to_contain_text(TERM)
    assert asked.queries == ["水平"]


def test_keys_of_the_input_method_are_not_ours(visit: Visit) -> None:
    page = home(visit)
    box = page.locator("#q")
    box.press_sequentially(TERM[:2])
    expect(page.get_by_role("listbox")).to_be_visible()
    box.evaluate("""box => {
        const down = {key: "ArrowDown", bubbles: true};
        const key = (more) => box.dispatchEvent(new KeyboardEvent("keydown", {...down, ...more}));
        key({isComposing: true});
        key({keyCode: 229});
    }""")
    expect(box).to_have_value(TERM[:2])


def test_quick_typing_asks_once_for_what_was_typed_last(visit: Visit) -> None:
    page = home(visit)
    asked = Asked(page)
    page.clock.install(time=0)
    page.clock.pause_at(HOUR)  # how fast this machine presses keys does not count
    for letter in "shuipingjing":
        page.clock.run_for(DEBOUNCE_MS - 1)
        page.locator("#q").press(letter)
    page.clock.run_for(DEBOUNCE_MS - 1)
    assert asked.queries == []
    page.clock.run_for(1)
    expect(page.get_by_role("option").first).to_contain_text(TERM)
    assert asked.queries == ["shuipingjing"]


def test_an_answer_that_comes_late_does_not_take_away_what_is_chosen(visit: Visit) -> None:
    page = home(visit)
    asked = Asked(page)
    box, options = page.locator("#q"), page.get_by_role("option")
    box.press_sequentially("shuiping")
    expect(options.first).to_contain_text(TERM)
    page.clock.install(time=0)
    page.clock.pause_at(HOUR)
    asked.queries.clear()
    box.press("j")
    box.press("ArrowDown")
    page.clock.run_for(10 * DEBOUNCE_MS)
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_value(TERM)
    assert asked.queries == []


def test_the_open_list_is_accessible(visit: Visit) -> None:
    """On a phone, in light and dark."""
    page = home(visit, locale="en-GB", viewport={"width": 360, "height": 740})
    page.locator("#q").press_sequentially(TERM[:2])
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listbox", name="Suggestions")).to_be_visible()
    expect(page.locator("#suggest [role=status]")).to_contain_text("suggestion")
    assert faults(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_the_box_is_a_search_box(visit: Visit) -> None:
    page = visit(java_script_enabled=False)
    page.goto("/")
    box = page.get_by_role("searchbox")
    box.fill(TERM)
    box.press("Enter")
    expect(page.locator("#hits > li").first).to_be_visible()
    expect(page.locator("#suggestions")).to_be_hidden()
