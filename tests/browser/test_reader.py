"""The public pages in a real browser with the real engine, in both languages."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from domain.article import Article, StoredArticle, document_id
from domain.review import Order, TermQuery
from domain.term import Definition, TermStatus
from indexer.document_mapping import strip_unindexable, to_solr_document
from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from search_ui.query.display_text import clean_text
from solr_client import solr_fields
from tests.browser_fixture import (
    Vertical,
    Visit,
    Watch,
    becomes_true,
    faults,
    follow,
    links,
    number,
    odd_addresses,
    sign_in,
    vocabulary,
    weak_contrasts,
)
from tests.builders import decide
from tests.conftest import SHARED

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

FRACTURING = "水平井压裂"  # many documents hold it
CONGRESS = "世界石油大会"  # the paper's own query
RESULTS = f"/search?q={FRACTURING}"
PAGES = {
    "home": "/",
    "results": f"{RESULTS}&from=2024&to=2026&sort=date&page=2",
    "narrowed": f"{RESULTS} after:2023&from=2024&term=储层改造",
    "weak": "/search?q=世界石油大会压裂车组风电&page=2",  # with hits that hold little of the query
    "nothing": "/search?q=“量子水平井”&from=1999",
    "article": "",  # the first hit, whatever its id
    "term": "/term/储层改造",
    "terms": "/terms",
    "help": "/help",
    "bookmarks": "/bookmarks",
    "comparison": f"/compare?q={CONGRESS}",
    "login": "/admin/login",
    "error": "/nowhere",
}
LANGUAGES = ("zh", "en")


@pytest.fixture(scope="module")
def lexicon(unindexed: Engine) -> None:
    """Publish the best candidates, so that facets and articles have domain terms."""
    best = [term.text for term in unindexed.store.review_queue.find_page(TermQuery(order=Order.SCORE, limit=200))[1]]
    decide(unindexed.store, best, TermStatus.ACCEPTED)
    LexiconReview(unindexed.store).publish("")


def open_page(visit: Visit, name: str, **options: object) -> Page:
    """Open a page of `PAGES`."""
    page = visit(404, **options)
    if name == "comparison":  # for who is signed in
        sign_in(page)
    page.goto(PAGES[name] or RESULTS)
    if name == "article":
        page.goto(address_of(page.locator("#hits .reason").first))
    return page


def in_language(page: Page, language: str) -> None:
    """Return the URL of a page in a language."""
    address = re.sub(r"[?&]lang=\w+|#.*", "", page.url)
    page.goto(f"{address}{'&' if '?' in address else '?'}lang={language}")
    expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))


def address_of(link: Locator) -> str:
    return str(link.get_attribute("href"))


# -- a reader


def test_a_reader_searches_from_the_home_page(visit: Visit, vertical: Vertical) -> None:
    page = visit()
    page.goto("/")
    assert number(page.locator("#counts")) == vertical.engine.store.articles.count() > 250
    page.locator("#q").fill(FRACTURING)
    follow(page.get_by_role("button", name="搜索"))
    hits = page.locator("#hits > li")
    expect(hits).to_have_count(10)
    for n in range(10):
        assert set("".join(hits.nth(n).locator(".snippet mark").all_inner_texts())) & set(FRACTURING), n
    assert FRACTURING in hits.first.locator("mark").all_inner_texts()
    assert re.fullmatch(r"[\d,]+ 条结果( （含重复文档共 [\d,]+ 篇）)?", page.locator("#total").inner_text())
    assert 20 < number(page.locator("#total")) < 100
    expect(page).to_have_title(re.compile(FRACTURING))


def test_a_site_narrows_the_results_and_the_address_says_so(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    everything = number(page.locator("#total"))
    site = page.locator("#sites .toggle").last
    name, expected = site.locator("bdi").inner_text(), number(site.locator(".count"))
    follow(site)
    expect(page.locator("#sites a[aria-current]")).to_have_count(1)
    assert number(page.locator("#total")) == expected < everything
    assert set(page.locator("#hits .site").all_inner_texts()) == {name}
    shared = visit()  # someone else, who was sent the URL
    shared.goto(page.url)
    assert links(shared) == links(page) != []
    follow(page.locator("#sites a[aria-current]"))
    expect(page.locator("#sites a[aria-current]")).to_have_count(0)
    assert number(page.locator("#total")) == everything


def test_a_year_then_a_month_narrow_the_results(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    for length in (4, 7):
        bar = page.locator("#dates a").first
        label, expected = str(bar.get_attribute("aria-label")).split("：")
        assert len(label) == length
        follow(bar)
        expect(page).to_have_url(re.compile(f"from={label}&to={label}"))
        assert f"{number(page.locator('#total'))} 条结果" == expected
        days = page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
        assert days and all(day.startswith(label) for day in days)
    expect(page.locator("#dates a[aria-current]")).to_have_count(1)
    page.locator("#all-dates").click()
    expect(page).not_to_have_url(re.compile("from="))


def test_typed_dates_narrow_the_results(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    page.get_by_label("开始日期").fill("2025-03")
    page.get_by_label("结束日期").fill("2025-05-14")
    follow(page.get_by_role("button", name="应用"))
    expect(page).to_have_url(re.compile("from=2025-03&to=2025-05-14"))
    days = page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
    assert days and all("2025-03-01" <= day <= "2025-05-14" for day in days)


def test_by_date_the_newest_come_first_on_every_page(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    follow(page.get_by_role("link", name="最新"))
    days: list[str] = []
    for n in (1, 2, 3):
        expect(page.locator("nav.pages [aria-current]")).to_have_text(str(n))
        days += page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
        follow(page.locator("nav.pages a[rel=next]"))
    assert len(days) == 30 and days == sorted(days, reverse=True)
    assert len(set(days)) > 10


def test_pages_follow_each_other(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    first = links(page)
    follow(page.locator("nav.pages a[rel=next]"))
    expect(page.locator("nav.pages [aria-current]")).to_have_text("2")
    expect(page.locator("#hits")).to_have_attribute("start", "11")
    assert len(links(page)) == 10 and not set(links(page)) & set(first)
    follow(page.locator("nav.pages a[rel=prev]"))
    expect(page.locator("nav.pages [aria-current]")).to_have_text("1")
    assert links(page) == first


def test_where_nothing_is_found_there_is_a_way_on(visit: Visit) -> None:
    page = visit()
    page.goto("/search?q=“量子水平井”&from=1999&to=1999")
    expect(page.locator("#total")).to_contain_text("0 条结果")
    follow(page.locator("#no-filters"))
    expect(page.locator("#no-filters")).to_have_count(0)
    page.locator("#nothing .chips").get_by_role("link", name=re.compile("^水平井 ")).click()
    expect(page.locator("#hits > li")).to_have_count(10)


def test_an_english_reader_finds_other_forms_of_a_word(visit: Visit) -> None:
    page = visit(locale="en-GB")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.locator("#q").fill("drilling")
    follow(page.get_by_role("button", name="Search"))
    expect(page.locator("#total")).to_have_text(re.compile(r"\d+ results"))
    marked = {word.lower() for word in page.locator("#hits mark").all_inner_texts()}
    assert len(marked & {"drill", "drills", "drilled", "drilling"}) > 1


@pytest.mark.parametrize(("locale", "other"), [("zh-CN", "en"), ("en-US", "zh-Hans")])
def test_the_other_language_stays_once_chosen(visit: Visit, locale: str, other: str) -> None:
    page = visit(locale=locale)
    page.goto(f"{RESULTS}&sort=date")
    before = links(page)
    follow(page.locator("#language"))
    expect(page.locator("html")).to_have_attribute("lang", other)
    assert links(page) == before  # the same search
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", other)


def test_the_keyboard_alone_leads_from_the_home_page_to_an_article(visit: Visit) -> None:
    page = visit(404)  # the article's own pictures
    page.goto("/")
    expect(page.locator("#q")).to_be_focused()  # from the start
    page.keyboard.type(FRACTURING)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#hits > li")).to_have_count(10)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    first = page.locator("#hits a").first
    address = str(first.get_attribute("href"))
    links_above = page.locator("#term-card a").count()
    for _ in range(4 + links_above):  # relevance, newest, oldest, the card of the term, first hit
        page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    assert page.evaluate("document.referrer") == ""


@pytest.mark.parametrize(
    ("locale", "scripts"), [("zh-CN", True), ("en-GB", False)], ids=["zh-scripts", "en-no-scripts"]
)
@pytest.mark.always
def test_a_reader_s_round(visit: Visit, locale: str, scripts: bool) -> None:
    """From the home page through facets, sorting and pages to an article, to related articles, and back."""
    page = visit(locale=locale, java_script_enabled=scripts)
    page.goto("/")
    page.locator("#q").fill(FRACTURING)
    follow(page.locator("#q"), "Enter")
    everything = number(page.locator("#total"))
    for facet in ("#sites", "#terms"):
        value = page.locator(f"{facet} a").first
        expected = number(value.locator(".count"))
        follow(value)
        expect(page.locator(f"{facet} a[aria-current]")).to_have_count(1)
        assert number(page.locator("#total")) == expected <= everything
    chips = page.locator("#narrowed a:not(.clear)")
    expect(chips).to_have_count(2)
    follow(chips.first)
    expect(chips).to_have_count(1)
    follow(chips.first)
    expect(chips).to_have_count(0)
    assert number(page.locator("#total")) == everything
    follow(page.locator(".sorts a").last)
    expect(page.locator(".sorts a").last).to_have_attribute("aria-current", "true")
    follow(page.locator("nav.pages a[rel=next]"))
    expect(page.locator("#hits")).to_have_attribute("start", "11")
    hit = page.locator("#hits > li").first
    title = hit.locator("h2").inner_text()
    follow(hit.locator(".kept"))
    expect(page.locator("h1")).to_have_text(title)
    assert FRACTURING in "".join(page.locator("#text p").all_inner_texts()) + title
    follow(page.locator("#similar a").first)
    expect(page.locator("h1")).not_to_have_text(title)
    page.go_back()
    follow(page.locator(".back a"))
    expect(page.locator("#hits > li")).to_have_count(10)


def test_a_reader_learns_why_an_article_is_there(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    follow(page.locator("#hits .reason").first)
    why = page.locator("#why")
    expect(why).to_be_in_viewport()
    percents = [number(one) for one in why.locator(".percent").all()]
    assert percents == sorted(percents, reverse=True) and 95 <= sum(percents) <= 105
    assert "标题包含完整搜索词" in why.inner_text()
    widths = [box["width"] for bar in why.locator(".fill").all() if (box := bar.bounding_box())]
    assert len(widths) == len(percents) and widths == sorted(widths, reverse=True) and widths[0] > widths[-1]
    follow(page.locator("#terms a").first)
    follow(page.locator("#articles"))
    expect(page.locator("#hits > li").first).to_be_visible()


def test_each_share_of_the_explanation_stays_on_one_line(visit: Visit) -> None:
    page = visit()
    page.goto(f"{RESULTS}&lang=en")  # the English names are long
    follow(page.locator("#hits .reason").first)
    lines = page.locator("#why .percent").evaluate_all(
        """shares => shares.map(share => {
            const text = document.createRange();
            text.selectNodeContents(share);
            return new Set(Array.from(text.getClientRects(), line => line.top)).size;
        })"""
    )
    assert lines and set(lines) == {1}


@pytest.fixture
def copied(vertical: Vertical) -> Iterator[str]:
    """Return the title of an article that another site has republished."""
    original = next(iter(vertical.engine.store.articles.iter_all()))
    article = replace(original.article, url="https://again.example/1")
    again = replace(original, doc_id=document_id(article.url), article=article, duplicate_of=original.doc_id)
    try:
        assert vertical.index.add([to_solr_document(again, vertical.engine.analysis())]) == {}
        vertical.index.commit()
        yield article.title
    finally:
        vertical.index.delete([again.doc_id])
        vertical.index.commit()


def test_copies_are_opened_out(visit: Visit, copied: str) -> None:
    page = visit()
    page.goto(f"/search?q={copied}")
    link = page.locator("#hits .copies").first
    copies = number(link)
    follow(link)
    expect(page.locator("#hits > li")).to_have_count(copies + 1)
    assert len(set(links(page))) == copies + 1
    follow(page.locator("#hits .kept").first)
    expect(page.locator("#copies li")).to_have_count(copies)


def test_issues_of_a_series_are_shown_and_lead_to_each_other(visit: Visit, vertical: Vertical) -> None:
    counted = {"q": "*:*", "rows": "0", "facet": "true", "facet.field": solr_fields.SERIES_ID, "facet.mincount": "2"}
    series = vertical.index.search(counted)["facet_counts"]["facet_fields"][solr_fields.SERIES_ID]
    members = vertical.index.search({"q": f'{solr_fields.SERIES_ID}:"{series[0]}"', "fl": solr_fields.TITLE})[
        "response"
    ]["docs"]
    page = visit()
    page.goto(f"/search?q={members[0][solr_fields.TITLE]}")
    link = page.locator("#hits .similar").first
    similar = number(link)
    follow(link)
    expect(page.locator("#series li")).to_have_count(similar)
    expect(page.locator("#series")).to_be_in_viewport()


@pytest.mark.exhaustive
def test_one_can_page_to_the_last_result(visit: Visit) -> None:
    page = visit()
    page.goto("/search?q=公司")  # more than a hundred full matches
    seen, pages = links(page), 1
    following = page.locator("nav.pages a[rel=next]")
    while following.count():
        follow(following)
        expect(page.locator("ol.hits").first).to_have_attribute("start", str(len(seen) + 1))
        seen += links(page)
        pages += 1
    assert pages > 10 and len(seen) == len(set(seen)) > 100
    expect(page.locator("nav.pages [aria-current]")).to_have_text(f"第 {pages} 页")
    page.reload()  # the URL of a page beyond the tenth can be kept as well
    assert links(page) == seen[-len(links(page)) :]


def test_the_examples_of_the_help_page_can_be_tried(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    follow(page.locator(".top nav a[href^='/help']"))
    examples = page.locator("#syntax a")
    expect(examples).to_have_count(7)
    texts = examples.all_inner_texts()
    for n, text in enumerate(texts):
        follow(examples.nth(n))
        expect(page.locator("#q")).to_have_value(text)
        page.go_back()


def test_a_search_can_be_followed(visit: Visit) -> None:
    page = visit()
    page.goto(f"{RESULTS}&from=2025")
    for kind in ("atom", "rss"):
        named = page.locator(f"link[rel=alternate][type='application/{kind}+xml']")
        answer = page.request.get(address_of(named))
        assert answer.ok and FRACTURING in answer.text()
        shown_address = address_of(page.locator(f".feeds a[href^='/feed.{kind}']"))
        assert shown_address == address_of(named)
    described = page.request.get(address_of(page.locator("link[rel=search]")))
    assert described.ok and "{searchTerms}" in described.text()


# -- keys


@pytest.mark.parametrize(("locale", "width"), [("zh-CN", 390), ("en-US", 1280)])
def test_bookmarks_are_listed_shared_and_exported(visit: Visit, locale: str, width: int) -> None:
    page = visit(locale=locale, viewport={"width": width, "height": 800})
    page.goto(RESULTS)
    stars = page.locator("#hits .star")
    titles = [title.strip() for title in page.locator("#hits h2").all_inner_texts()][:3]
    for n in range(3):
        stars.nth(n).click()
        expect(stars.nth(n)).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.locator("#hits .star[aria-pressed=true]")).to_have_count(3)
    follow(page.locator("#hits .kept").first)
    expect(page.locator("article .star")).to_have_attribute("aria-pressed", "true")
    follow(page.locator("header nav a[href='/bookmarks']"))
    listed = page.locator("#bookmarks li > a")
    expect(listed).to_have_text(titles[::-1])
    page.locator("#bookmarks .star").first.click()
    expect(page.locator("#bookmarks .star[aria-pressed=true]")).to_have_count(2)
    page.reload()
    expect(listed).to_have_text(titles[1::-1])
    assert Axe().run(page).response["violations"] == []
    with page.expect_download() as download:
        page.get_by_role("button", name="RIS").click()
    assert download.value.path().read_text("utf-8").count("TY  - ") == 2
    assert "subject=" in address_of(page.locator("#share-mail"))
    for scripts in (True, False):  # somebody else opens the link
        other = visit(locale=locale, java_script_enabled=scripts)
        other.goto(address_of(page.locator("#share-link")))
        expect(other.locator("#bookmarks li > a")).to_have_text(titles[1::-1])
        if scripts:
            other.locator("#keep-all").click()
            other.goto("/bookmarks")
            expect(other.locator("#bookmarks li > a")).to_have_text(titles[1::-1])


def test_recent_searches_are_offered_until_the_reader_turns_them_off(visit: Visit) -> None:
    page = visit()
    for query in (FRACTURING, CONGRESS, FRACTURING):
        page.goto(f"/search?q={query}")
    page.goto("/")
    page.locator("#q").press("ArrowDown")
    expect(page.locator("#suggestions bdi")).to_have_text([FRACTURING, CONGRESS])
    page.goto("/bookmarks")
    expect(page.locator("#recent-searches bdi")).to_have_text([FRACTURING, CONGRESS])
    page.locator("#remember-searches").uncheck()
    expect(page.locator("#recent-searches li")).to_have_count(0)
    page.goto(RESULTS)
    page.goto("/bookmarks")
    expect(page.locator("#remember-searches")).not_to_be_checked()
    expect(page.locator("#recent-searches li")).to_have_count(0)


def test_a_full_list_of_bookmarks_says_so_and_loses_nothing(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    ids = [f"{n:032x}" for n in range(10_000)]
    page.evaluate("ids => localStorage.setItem('plumbline.bookmarks', JSON.stringify(ids))", ids)
    page.reload()
    page.locator("#hits .star").first.click()
    assert number(page.locator(".not-kept")) == 10_000
    assert page.evaluate("JSON.parse(localStorage.getItem('plumbline.bookmarks')).length") == 10_000
    expect(page.locator("#hits .star").first).to_have_attribute("aria-pressed", "false")


def test_keys_lead_to_the_box_and_along_the_results(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    titles = page.locator("#hits h2 a")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("j/k")  # in the box, letters are letters
    expect(page.locator("#q")).to_have_value("j/k")
    page.goto(RESULTS)
    for n in (0, 1, 2):
        page.keyboard.press("j")
        expect(titles.nth(n)).to_be_focused()
        expect(page.locator("#hits > li").nth(n)).to_be_in_viewport()
    page.keyboard.press("k")
    expect(titles.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(titles.nth(2)).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.goto(RESULTS)
    for _ in range(12):
        page.keyboard.press("j")
    expect(titles.nth(9)).to_be_focused()  # the last one, and there it stays
    page.keyboard.press("Control+k")
    expect(titles.nth(9)).to_be_focused()
    address = address_of(titles.last)
    page.keyboard.press("Enter")
    page.wait_for_url(address)


def test_arrows_scroll_where_no_result_has_the_focus(visit: Visit) -> None:
    page = visit(viewport={"width": 1000, "height": 400})
    page.goto(RESULTS)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    becomes_true(page, "scrollY > 0")
    assert page.evaluate("document.activeElement === document.body")


@pytest.mark.parametrize("language", LANGUAGES)
def test_keys_are_explained_and_can_be_switched_off(visit: Visit, language: str) -> None:
    page = visit()
    page.goto(f"/help?lang={language}")
    assert page.locator("#keys kbd").all_inner_texts() == ["/", "j", "↓", "k", "↑"]
    named = {"zh": "在此浏览器中启用单键快捷键", "en": "Enable single-key shortcuts in this browser"}
    switch = page.get_by_label(named[language])
    expect(switch).to_be_checked()
    switch.uncheck()
    page.goto(RESULTS)
    for key in ("/", "j"):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement === document.body")
    page.goto(f"/help?lang={language}")
    expect(switch).not_to_be_checked()
    switch.check()
    page.goto(RESULTS)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


# -- the first screen, and pictures


def test_the_first_screen_is_of_the_domain(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    terms = page.locator("#terms a").all_inner_texts()
    assert 8 <= len(terms) <= 12
    names = page.locator("#sections bdi").all_inner_texts()
    assert {"要闻", "市场", "天然气"} <= set(names) and "浏览文章" not in names  # which a site writes on all its pages
    section = page.locator("#sections a").first
    name, count = section.locator("bdi").inner_text(), number(section.locator(".count"))
    days = page.locator("#newest time").evaluate_all("all => all.map(one => one.dateTime)")
    assert len(days) == 3 and days == sorted(days, reverse=True)  # one a site
    follow(section)
    expect(page.locator("#narrowed")).to_contain_text(name)
    assert number(page.locator("#total")) == count
    shown_days = page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
    assert shown_days == sorted(shown_days, reverse=True)


def test_pictures_come_from_this_site_and_nowhere_else(visit: Visit) -> None:
    page = visit()
    sources: list[str] = []
    page.on("request", lambda request: sources.append(request.url) if request.resource_type == "image" else None)
    page.goto("/search?q=图片新闻")
    pictures = page.locator("#hits img.thumb")
    expect(pictures).to_have_count(10)
    for n in range(10):
        pictures.nth(n).scroll_into_view_if_needed()
    becomes_true(page, "[...document.querySelectorAll('img.thumb')].every(one => one.complete)")
    sizes = pictures.evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight, one.alt])")
    assert sizes and all(0 < width <= 320 and 0 < height <= 240 and alt == "" for width, height, alt in sizes)
    base = page.evaluate("location.origin")
    assert [url for url in sources if not url.startswith(f"{base}/")] == []


def test_a_picture_that_does_not_come_leaves_no_gap(visit: Visit) -> None:
    page = visit(404)
    page.route("**/picture/*", lambda route: route.fulfill(status=404))
    page.goto("/search?q=图片新闻")
    page.locator("#hits > li").last.scroll_into_view_if_needed()
    expect(page.locator("#hits img, #hits .pictured")).to_have_count(0)


# -- hostile text

MARKER = "plumbxss"


def payloads() -> list[str]:
    files = [SHARED / "data" / "hostile" / f"{name}.jsonl" for name in ("xss", "strings")]
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    return [row["text"] for row in rows if "text" in row]


def hostile_document(n: int, title: str, body: str, vertical: Vertical) -> dict[str, object]:
    """Return a document with payloads in every displayed field."""
    url = [f"javascript:alert({n})//{body}", f"https://hostile.example/{n}?{body}", body][n % 3]
    names = {"section": body, "author": title, "source": body, "language": title[:20]}
    article = Article(url, f"{MARKER} {title}", f"{body} {MARKER} {body}", f"2020-01-{n % 28 + 1:02}", **names)
    stored = StoredArticle(0, document_id(f"{MARKER}{n}"), body, article)
    terms = {
        solr_fields.DOMAIN_TERMS: [strip_unindexable(title), MARKER],
        solr_fields.LANGUAGE: strip_unindexable(title[:20]),
    }
    return {**to_solr_document(stored, vertical.engine.analysis()), solr_fields.PUBLISHED_TEXT: title, **terms}


@pytest.fixture(
    params=[pytest.param(19, id="every 19th pair"), pytest.param(1, id="all pairs", marks=pytest.mark.exhaustive)]
)
def hostile_documents(vertical: Vertical, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Index payloads as title or body of documents that `MARKER` finds, and return the titles."""
    texts = payloads()
    pairs = list(zip(texts[::2], texts[1::2], strict=False))[:: request.param]
    documents = [hostile_document(n, *pair, vertical) for n, pair in enumerate(pairs)]
    try:
        assert vertical.index.add(documents) == {}
        vertical.index.commit()
        yield [title for title, _ in pairs]
    finally:
        vertical.index.delete([str(document[solr_fields.ID]) for document in documents])
        vertical.index.commit()


def harmless_vocabulary(visit: Visit, copied: str) -> set[str]:
    """Return all elements and attributes of results pages and articles."""
    words: set[str] = set()
    for name in ("results", "narrowed", "weak", "nothing", "article"):
        words |= vocabulary(open_page(visit, name))
    page = visit()
    page.goto(f"/search?q={copied}")
    words |= vocabulary(page)
    follow(page.locator("#hits .kept").first)
    return words | vocabulary(page)


@pytest.mark.shared
@pytest.mark.always
def test_hostile_documents_are_shown_as_text(visit: Visit, hostile_documents: list[str], copied: str) -> None:
    harmless = harmless_vocabulary(visit, copied)
    page = visit()
    page.goto(f"/search?q={MARKER}")
    titles, articles = page.locator("#hits h2").all_inner_texts(), [address_of(page.locator("#hits .kept").first)]
    following = page.locator("nav.pages a[rel=next]")
    while following.count():
        start = str(page.locator("#hits").get_attribute("start"))
        follow(following)
        expect(page.locator("#hits")).not_to_have_attribute("start", start)
        assert vocabulary(page) <= harmless, page.url
        assert odd_addresses(page) == [], page.url
        titles += page.locator("#hits h2").all_inner_texts()
        articles.append(address_of(page.locator("#hits .kept").first))
    assert len(titles) == len(hostile_documents)
    assert sum("<" in title for title in titles) == sum("<" in clean_text(text)[:300] for text in hostile_documents)
    for address in articles:
        page.goto(address)
        assert vocabulary(page) <= harmless, address
        assert odd_addresses(page) == [], address


@pytest.mark.exhaustive
@pytest.mark.shared
def test_hostile_queries_are_echoed_as_text(visit: Visit) -> None:
    known = set().union(*(vocabulary(open_page(visit, name)) for name in ("results", "narrowed", "weak", "nothing")))
    page = visit(400)
    page.goto(PAGES["results"])
    for text in payloads()[::80]:
        page.locator("#q").fill(text)
        follow(page.locator("#q"), "Enter")
        assert vocabulary(page) <= known, text
        assert odd_addresses(page) == [], text
        if text.isprintable() and len(text) <= 160:
            expect(page.locator("#q")).to_have_value(text)


@pytest.mark.exhaustive
@pytest.mark.shared
def test_hostile_terms_are_looked_for_as_text(visit: Visit) -> None:
    page = sign_in(visit())
    known = vocabulary(page)
    for text in payloads()[::160]:
        page.get_by_label("查找术语").fill(text)
        follow(page.get_by_label("查找术语"), "Enter")
        expect(page.locator("p.nothing")).to_be_visible()
        assert vocabulary(page) <= known, text


def test_the_watch_sees_what_it_is_there_for(visit: Visit, watches: list[Watch], vertical: Vertical) -> None:
    """Inline scripts and external requests (both forbidden by the policy), dialogs, missing files."""
    page = visit()
    page.goto("/help")
    page.context.route("https://elsewhere.example/", lambda route: route.abort())
    page.evaluate("""() => {
        document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = true" }));
        document.body.append(Object.assign(document.createElement("img"), { src: "/nowhere.png" }));
        fetch("https://elsewhere.example/").catch(() => {});
        window.alert("dialog");
    }""")
    wanted = ("dialog: dialog", "Content Security Policy", "404 from")
    becomes_true(page, lambda: all(any(text in fault for fault in watches[0].faults) for text in wanted))
    assert page.evaluate("window.ran") is None
    watches[0].faults.clear()


def test_the_list_of_terms_is_filtered_while_typing(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    follow(page.get_by_role("link", name="术语", exact=True))
    links = page.locator(".terms a")
    assert links.count() > 20
    page.locator("#term-text").press_sequentially("chuceng")  # no button
    expect(links.first).to_have_text(re.compile("^储层"))
    becomes_true(page, lambda: all(text.startswith("储层") for text in links.all_inner_texts()))
    expect(page).to_have_url(re.compile(r"q=chuceng"))
    follow(links.filter(has_text=re.compile("^储层改造$")))
    expect(page.locator("h1")).to_contain_text("储层改造")
    total = number(page.locator("#articles"))
    follow(page.locator("#articles"))
    assert number(page.locator("#total")) == total > 0


def open_defined_article(visit: Visit, vertical: Vertical, **options: object) -> Page:
    """Open an article in which a term has a definition."""
    term = next(entry.text for entry in vertical.engine.store.lexicons.load_latest().entries if len(entry.text) > 3)
    url = "https://elsewhere.example/definition"
    definition = Definition(term, "zh", f"{term}是一种<b>东西</b>。", 1, url, "来源", "2024-05-01", 0.9, 1.0)
    store = vertical.engine.store
    store.definitions.save([definition], ())
    store.relations.save((), (), 1, store.relations.search_state()[1] + 1)
    page = visit(**options)
    page.goto(f"/search?q=“{term}”")
    page.goto(address_of(page.locator("#hits .reason").first))
    return page


def test_a_definition_opens_by_pointer_and_by_key(visit: Visit, vertical: Vertical) -> None:
    page = open_defined_article(visit, vertical)
    link, card = page.locator("a.defined").first, page.locator(".definition-card").first
    expect(card).to_be_hidden()
    link.hover()
    expect(card).to_be_visible()
    card.hover()  # it stays open
    page.wait_for_timeout(500)
    expect(card).to_be_visible()
    page.mouse.move(0, 0)
    expect(card).to_be_hidden()
    link.focus()
    expect(card).to_be_visible()
    assert faults(page) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.definition-card') !== null")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(link).to_be_focused()
    follow(link)
    expect(page.locator("h1")).to_contain_text(re.compile(".{4}"))


def test_a_definition_opens_by_tap_and_moves_nothing(visit: Visit, vertical: Vertical) -> None:
    page = open_defined_article(visit, vertical, viewport={"width": 360, "height": 740}, has_touch=True)
    page.evaluate("""() => {
        window.shift = 0;
        new PerformanceObserver(list => list.getEntries().forEach(one => { window.shift += one.value; })).observe(
            {type: "layout-shift", buffered: true});
    }""")
    address, card = page.url, page.locator(".definition-card").first
    page.locator("a.defined").first.tap()
    expect(card).to_be_visible()
    assert page.url == address and page.evaluate("document.documentElement.scrollWidth") <= 360
    assert faults(page) == [] and structure_faults(page) == []
    page.locator("h1").tap()
    expect(card).to_be_hidden()
    assert page.evaluate("window.shift") == 0
    page.locator("a.defined").first.tap()
    follow(card.locator(".to-term"))
    assert "/term/" in page.url


def test_without_scripts_a_definition_is_a_link_and_can_be_turned_off(visit: Visit, vertical: Vertical) -> None:
    page = open_defined_article(visit, vertical, java_script_enabled=False)
    expect(page.locator(".definition-card").first).to_be_hidden()
    follow(page.locator("#definitions-switch button"))
    expect(page.locator("a.defined")).to_have_count(0)
    follow(page.locator("#definitions-switch button"))
    follow(page.locator("a.defined").first)
    assert "/term/" in page.url


# -- for everyone


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_for_everyone(visit: Visit, name: str) -> None:
    """In both languages, on a phone and on a large screen, in light and dark."""
    page = open_page(visit, name)
    for language, width in (("en", 360), ("zh", 1280)):  # English is the wider
        page.set_viewport_size({"width": width, "height": 740})
        in_language(page, language)
        assert structure_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert faults(page) == [], language
    assert has_paint_of_scheme(page, is_dark=False)
    page.emulate_media(color_scheme="dark")
    assert has_paint_of_scheme(page, is_dark=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_any_combination(visit: Visit, name: str, width: int) -> None:
    """All languages, widths and colour schemes with all rules of axe."""
    page = open_page(visit, name, viewport={"width": width, "height": 740})
    for language, scheme in product(("zh", "en"), ("light", "dark")):
        in_language(page, language)
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        violations = Axe().run(page).response["violations"]
        assert [f"{one['id']}: {node['html']}" for one in violations for node in one["nodes"]] == [], (language, scheme)
        assert weak_contrasts(page) == [], (language, scheme)
        assert structure_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def structure_faults(page: Page) -> list[str]:
    """Return structural faults for screen readers: landmarks, main heading, title, names of controls, unique ids."""
    messages = [f"no {role}" for role in ("banner", "main", "navigation") if page.get_by_role(role).count() == 0]  # type: ignore[arg-type]
    if page.locator("h1").count() != 1:
        messages.append("not one h1")
    if not page.title().strip():
        messages.append("no title")
    nameless: list[str] = page.locator("input:not([type=hidden]):not([aria-hidden]), button, a, select").evaluate_all(
        """all => all.filter(one => !(one.labels && one.labels.length) && !one.textContent.trim()
            && !one.getAttribute("aria-label")).map(one => one.outerHTML)"""
    )
    repeated_ids: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('[id]')].map(o => o.id).sort().filter((x, n, all) => x === all[n - 1])"
    )
    return [*messages, *nameless, *repeated_ids]


def has_paint_of_scheme(page: Page, is_dark: bool) -> bool:
    """Return True if the page has the background of its colour scheme and is not blank."""
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)")
    blank_page = page.context.new_page()
    blank_page.set_viewport_size(page.viewport_size or {"width": 1280, "height": 740})
    # A page without a first frame cannot be captured: two more frames show that it has one.
    blank_page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    blank = len(blank_page.screenshot())
    blank_page.close()
    return (max(paper) < 64) == is_dark and len(page.screenshot()) > 2 * blank


@pytest.mark.parametrize("name", ["results", "narrowed", "article", "help"])
def test_the_focus_can_be_seen_wherever_it_goes(visit: Visit, name: str) -> None:
    page = open_page(visit, name)
    stops: list[str] = []
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # past the last stop
        place, has_ring = page.evaluate("""() => {
            const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
            const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
            const place = [...document.querySelectorAll("*")].indexOf(one);
            const shown = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
            return [place + one.outerHTML, ring && shown];
        }""")
        assert has_ring, place
        stops.append(place)
    assert len(set(stops)) > 10
