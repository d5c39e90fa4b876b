"""The search and review pages as people meet them: in a real browser, on the real engine, in both languages."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from docstore import fields
from docstore.model import Article, StoredArticle, TermStatus, document_id
from indexer.mapping import to_document
from search_ui.texts import shown
from tests.browser_fixture import (
    Vertical,
    Visit,
    Watch,
    links,
    number,
    odd_addresses,
    sign_in,
    vocabulary,
    wait_for,
    weak_contrasts,
)
from tests.conftest import SHARED

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

FRACTURING = "水平井压裂"  # many documents hold it
CONGRESS = "世界石油大会"  # the paper's own query
RESULTS = f"/search?q={FRACTURING}"
PAGES = {
    "home": "/",
    "results": f"{RESULTS}&from=2024&to=2026&sort=date&page=2",  # with everything that a result page can have
    "nothing": "/search?q=“量子水平井”&from=1999",
    "comparison": f"/compare?q={CONGRESS}",
    "login": "/admin/login",
    "review": "/admin/lexicon",
    "error": "/nowhere",
}
LANGUAGES = ("zh", "en")


def open_page(visit: Visit, name: str, **options: object) -> Page:
    """A page of `PAGES`, by whoever may see it."""
    page = visit(404, **options)
    if name == "review":
        sign_in(page)
    page.goto(PAGES[name])
    return page


def first_shown_hit(page: Page) -> str:
    return page.locator("#hits > li").first.inner_text()


# -- a reader


def test_a_reader_searches_from_the_home_page(visit: Visit, vertical: Vertical) -> None:
    page = visit()
    page.goto("/")
    assert number(page.locator("#counts")) == vertical.engine.store.articles.count() > 250
    page.get_by_role("searchbox").fill(FRACTURING)
    page.get_by_role("button", name="搜索").click()
    hits = page.locator("#hits > li")
    expect(hits).to_have_count(10)
    for n in range(10):
        assert set("".join(hits.nth(n).locator(".snippet mark").all_inner_texts())) & set(FRACTURING), n
    assert FRACTURING in hits.first.locator("mark").all_inner_texts()
    assert re.fullmatch(r"[\d,]+ 条结果 用时 [\d,]+ 毫秒", page.locator("#total").inner_text())
    assert number(page.locator("#total")) > 100
    expect(page).to_have_title(re.compile(FRACTURING))


def test_a_site_narrows_the_results_and_the_address_says_so(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    everything = number(page.locator("#total"))
    site = page.locator("#sites a").last
    name, expected = site.locator("bdi").inner_text(), number(site.locator(".count"))
    site.click()
    expect(page.locator("#sites a[aria-current]")).to_have_count(1)
    assert number(page.locator("#total")) == expected < everything
    assert set(page.locator("#hits .site").all_inner_texts()) == {name}
    shared = visit()  # someone else, who was sent the address
    shared.goto(page.url)
    assert links(shared) == links(page) != []
    page.locator("#sites a[aria-current]").click()
    expect(page.locator("#sites a[aria-current]")).to_have_count(0)
    assert number(page.locator("#total")) == everything


def test_a_year_then_a_month_narrow_the_results(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    for length in (4, 7):
        bar = page.locator("#dates a").first
        label, expected = str(bar.get_attribute("aria-label")).split("：")
        assert len(label) == length
        bar.click()
        expect(page).to_have_url(re.compile(f"from={label}&to={label}"))
        assert f"{number(page.locator('#total'))} 条结果" == expected
        days = page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
        assert days and all(day.startswith(label) for day in days)
    page.get_by_role("link", name="全部日期").click()
    expect(page).not_to_have_url(re.compile("from="))


def test_typed_dates_narrow_the_results(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    page.get_by_label("从").fill("2025-03")
    page.get_by_label("到").fill("2025-05-14")
    page.get_by_role("button", name="应用").click()
    expect(page).to_have_url(re.compile("from=2025-03&to=2025-05-14"))
    days = page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
    assert days and all("2025-03-01" <= day <= "2025-05-14" for day in days)


def test_by_date_the_newest_come_first_on_every_page(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    page.get_by_role("link", name="日期").click()
    days: list[str] = []
    for n in (1, 2, 3):
        expect(page.locator("nav.pages [aria-current]")).to_have_text(str(n))
        days += page.locator("#hits time").evaluate_all("all => all.map(one => one.dateTime)")
        page.locator("nav.pages a[rel=next]").click()
    assert len(days) == 30 and days == sorted(days, reverse=True)
    assert len(set(days)) > 10


def test_pages_follow_each_other(visit: Visit) -> None:
    page = visit()
    page.goto(RESULTS)
    first = links(page)
    page.locator("nav.pages a[rel=next]").click()
    expect(page.locator("nav.pages [aria-current]")).to_have_text("2")
    expect(page.locator("#hits")).to_have_attribute("start", "11")
    assert len(links(page)) == 10 and not set(links(page)) & set(first)
    page.locator("nav.pages a[rel=prev]").click()
    expect(page.locator("nav.pages [aria-current]")).to_have_text("1")
    assert links(page) == first


def test_where_nothing_is_found_there_is_a_way_on(visit: Visit) -> None:
    page = visit()
    page.goto("/search?q=“量子水平井”&from=1999&to=1999")
    expect(page.locator("#total")).to_contain_text("0 条结果")
    page.locator("#no-filters").click()
    expect(page.locator("#no-filters")).to_have_count(0)
    page.locator("#nothing .chips").get_by_role("link", name="水平井", exact=True).click()
    expect(page.locator("#hits > li")).to_have_count(10)


def test_an_english_reader_finds_other_forms_of_a_word(visit: Visit) -> None:
    page = visit(locale="en-GB")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("searchbox").fill("drilling")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#total")).to_have_text(re.compile(r"\d+ results in \d+ ms"))
    marked = {word.lower() for word in page.locator("#hits mark").all_inner_texts()}
    assert marked >= {"drilling", "drilled", "drill"}


@pytest.mark.parametrize(("locale", "other"), [("zh-CN", "en"), ("en-US", "zh-Hans")])
def test_the_other_language_stays_once_chosen(visit: Visit, locale: str, other: str) -> None:
    page = visit(locale=locale)
    page.goto(f"{RESULTS}&sort=date")
    before = links(page)
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", other)
    assert links(page) == before  # the same search
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", other)


def test_the_keyboard_alone_leads_from_the_home_page_to_an_article(visit: Visit) -> None:
    page = visit(404)  # the article's own pictures
    page.goto("/")
    page.keyboard.type(FRACTURING)  # the box has the focus from the start
    page.keyboard.press("Enter")
    expect(page.locator("#hits > li")).to_have_count(10)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    first = page.locator("#hits a").first
    address = str(first.get_attribute("href"))
    for _ in range(3):  # relevance, date, first hit
        page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    assert page.evaluate("document.referrer") == ""


def test_everything_works_without_scripts(visit: Visit, vertical: Vertical) -> None:
    page = visit(java_script_enabled=False)
    page.goto("/")
    page.get_by_role("searchbox").fill(FRACTURING)
    page.get_by_role("searchbox").press("Enter")
    site = page.locator("#sites a").first
    expected = number(site.locator(".count"))
    site.click()
    expect(page.locator("#sites a[aria-current]")).to_have_count(1)
    assert number(page.locator("#total")) == expected
    sign_in(page)
    term = page.locator(".term").last
    name = term.locator("h2 bdi").inner_text()
    term.get_by_role("button", name="接受").click()
    expect(page.locator("p.note[role=status]")).to_have_text(f"已接受 “{name}”。")
    expect(page.locator(".term h2 bdi").get_by_text(name, exact=True)).to_have_count(0)
    page.get_by_role("button", name="发布新版词库").click()
    latest = vertical.engine.store.lexicon.latest()
    expect(page.locator("p.note[role=status]")).to_contain_text(f"第 {latest.version} 版")
    assert name in {entry.text for entry in latest.entries}


# -- the administrator


def test_a_wrong_password_opens_nothing(visit: Visit) -> None:
    page = visit(403)
    page.goto("/admin/lexicon")
    expect(page).to_have_url(re.compile("/admin/login$"))
    page.locator("#password").fill("wrong")
    page.locator("#password").press("Enter")
    expect(page.locator("#problem")).to_have_text("密码不对")
    page.goto("/admin/lexicon")
    expect(page).to_have_url(re.compile("/admin/login$"))
    sign_in(page)
    cookie = next(one for one in page.context.cookies() if one["name"] == "plumbline")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"


def test_candidates_come_best_first_each_with_its_contexts(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    assert (
        number(page.locator("[data-count=candidate]")) == vertical.engine.store.lexicon.counts()[TermStatus.CANDIDATE]
    )
    scores: list[float] = []
    for n in (1, 2):
        expect(page.locator("nav.pages [aria-current]")).to_have_text(re.compile(f"^{n} /"))
        for term in page.locator(".term").all():
            scores.append(float(term.locator("dd").first.inner_text()))
            marks = term.locator(".contexts mark").all_inner_texts()
            assert {mark.casefold() for mark in marks} == {term.locator("h2 bdi").inner_text().casefold()}
        page.locator("nav.pages a[rel=next]").click()
    assert len(scores) == 40 and scores == sorted(scores, reverse=True)


def test_keys_judge_terms(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    terms = page.locator(".term")
    before = {status: number(page.locator(f"[data-count={status}]")) for status in TermStatus}
    page.keyboard.press("j")
    expect(terms.nth(0)).to_be_focused()
    page.keyboard.press("a")
    expect(terms.nth(0)).to_have_attribute("data-status", "accepted")
    expect(terms.nth(1)).to_be_focused()
    page.keyboard.press("r")
    expect(terms.nth(1)).to_have_attribute("data-status", "rejected")
    expect(page.locator("[data-count=accepted]")).to_have_text(str(before[TermStatus.ACCEPTED] + 1))
    expect(page.locator("[data-count=rejected]")).to_have_text(str(before[TermStatus.REJECTED] + 1))
    expect(page.locator("[data-count=candidate]")).to_have_text(f"{before[TermStatus.CANDIDATE] - 2:,}")
    page.keyboard.press("k")
    expect(terms.nth(1)).to_be_focused()
    names = terms.locator("h2 bdi").all_inner_texts()[:2]
    for n in (1, 0):  # both decisions taken back, the latest first
        page.keyboard.press("u")
        expect(terms.nth(n)).to_have_attribute("data-status", "candidate")
        expect(terms.nth(n)).to_be_focused()
    for name in names:
        total, found = vertical.engine.store.lexicon.terms(None, name)
        assert next(term for term in found if term.text == name).status is TermStatus.CANDIDATE, total


def test_keys_typed_faster_than_the_server_answers_are_all_obeyed(visit: Visit) -> None:
    page = sign_in(visit())
    page.route("**/lexicon/decide", lambda route: (page.wait_for_timeout(150), route.continue_()))
    terms = page.locator(".term")
    page.keyboard.type("jara")
    for n, status in enumerate(["accepted", "rejected", "accepted"]):
        expect(terms.nth(n)).to_have_attribute("data-status", status)
    page.keyboard.type("uuu")
    for n in range(3):
        expect(terms.nth(n)).to_have_attribute("data-status", "candidate")
    expect(terms.nth(0)).to_be_focused()


def test_a_decision_that_cannot_be_saved_is_not_shown_as_taken(visit: Visit) -> None:
    page = sign_in(visit(503))
    page.route("**/lexicon/decide", lambda route: route.fulfill(status=503, body="<p>gone"))
    page.keyboard.type("ja")
    expect(page.locator("#trouble")).to_contain_text("没有保存")
    expect(page.locator(".term").first).to_have_attribute("data-status", "candidate")
    page.unroute("**/lexicon/decide")
    page.keyboard.type("a")
    expect(page.locator(".term").first).to_have_attribute("data-status", "accepted")
    expect(page.locator("#trouble")).to_be_hidden()
    page.keyboard.type("u")
    expect(page.locator(".term").first).to_have_attribute("data-status", "candidate")


def test_a_published_term_ranks_its_documents_first_within_seconds(visit: Visit, vertical: Vertical) -> None:
    reader, page = visit(), sign_in(visit())
    reader.goto(f"/compare?q={CONGRESS}")
    before = reader.locator("#measures tbody td:nth-child(2)").all_inner_texts()
    page.get_by_label("查找词语").fill(CONGRESS)
    page.get_by_label("查找词语").press("Enter")
    exact = page.locator(".term").filter(has=page.get_by_role("heading", name=CONGRESS, exact=False)).first
    expect(exact.locator("h2 bdi")).to_have_text(CONGRESS)
    exact.get_by_role("button", name="接受").click()
    expect(exact).to_have_attribute("data-status", "accepted")
    expect(page.locator("#pending-added")).to_have_text(re.compile("^[1-9]"))
    page.keyboard.press("Escape")
    page.locator("#publish button").click()
    expect(page.locator("p.note[role=status]")).to_contain_text("已发布")
    expect(page.locator("#pending-added")).to_have_text("0")
    version = vertical.engine.store.lexicon.latest_version()
    wait_for(reader, f"/compare?format=json&q={CONGRESS}", "answer => answer.sides[1].first_rank === 1")
    wait_for(reader, "/healthz", "answer => answer.index_lag === 0")
    reader.reload()
    base, domain = (reader.locator(f"#measures tbody td:nth-child({n})").all_inner_texts() for n in (2, 3))
    assert base == before
    assert domain[2] == "1" != base[2]
    assert reader.locator("#measures tbody td:nth-child(3) .word").all_inner_texts() == [CONGRESS]
    page.reload()
    expect(page.locator("#published")).to_have_text(re.compile(rf"^索引使用第 {version} 版，\d+ 个词$"))


def test_signing_out_closes_the_review(visit: Visit) -> None:
    page = sign_in(visit())
    page.locator("#logout").click()
    expect(page.locator("#counts")).to_be_visible()
    page.go_back()  # not even the browser's own memory shows it
    expect(page.locator("#password")).to_be_visible()
    page.goto("/admin/lexicon")
    expect(page).to_have_url(re.compile("/admin/login$"))


def test_a_form_without_the_page_s_token_changes_nothing(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    term = page.locator(".term h2 bdi").last.inner_text()
    stranger = visit()
    stranger.goto("/admin/login")
    foreign = str(stranger.locator("form [name=token]").first.get_attribute("value"))
    for token in ({}, {"token": ""}, {"token": foreign}):
        for address in ("decide", "bulk", "publish"):
            form = {"term": term, "decision": "rejected", **token}
            assert page.request.post(f"/admin/lexicon/{address}", form=form).status == 400
    page.goto(vertical.demo_url)  # another site, in the administrator's own browser
    page.evaluate(
        """([action, term]) => {
            const form = document.body.appendChild(document.createElement("form"));
            Object.assign(form, { action, method: "post" });
            form.innerHTML = `<input name="decision" value="rejected"><input name="term">`;
            form.elements.term.value = term;
            form.submit();
        }""",
        [f"{vertical.url}admin/lexicon/decide", term],
    )
    expect(page.locator("#publish")).to_be_visible()  # the cookie did not come with the form, only with what followed
    expect(page.locator("p.note[role=status]")).to_have_count(0)
    assert vertical.engine.store.lexicon.terms(TermStatus.REJECTED, term) == (0, [])


# -- hostile text

MARKER = "plumbxss"


def payloads() -> list[str]:
    lines = (SHARED / "data" / "hostile" / "xss.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def hostile_document(n: int, title: str, body: str, vertical: Vertical) -> dict[str, object]:
    """Payloads in every field that is shown."""
    url = [f"javascript:alert({n})//{body}", f"https://hostile.example/{n}?{body}", body][n % 3]
    article = Article(url, f"{MARKER} {title}", f"{body} {MARKER} {body}", f"2020-01-{n % 28 + 1:02}")
    stored = StoredArticle(0, document_id(f"{MARKER}{n}"), body, article)
    return {**to_document(stored, vertical.engine.analysis()), fields.PUBLISHED_TEXT: title}


@pytest.fixture
def hostile_documents(vertical: Vertical) -> Iterator[list[str]]:
    """All payloads, each as the title or the body of a document that `MARKER` finds; returns the titles."""
    texts = payloads()
    titles, bodies = texts[::2], texts[1::2]
    documents = [hostile_document(n, *pair, vertical) for n, pair in enumerate(zip(titles, bodies, strict=True))]
    try:
        assert vertical.index.add(documents) == {}
        vertical.index.commit()
        yield titles
    finally:
        vertical.index.delete([str(document[fields.ID]) for document in documents])
        vertical.index.commit()


@pytest.mark.shared
def test_hostile_documents_are_shown_as_text(visit: Visit, hostile_documents: list[str]) -> None:
    page = visit()
    page.goto(PAGES["results"])
    harmless = vocabulary(page)
    titles: list[str] = []
    for n in range(1, -(-len(hostile_documents) // 10) + 1):
        page.goto(f"/search?q={MARKER}&page={n}")
        assert vocabulary(page) <= harmless, n
        assert odd_addresses(page) == [], n
        titles += page.locator("#hits h2").all_inner_texts()
    assert len(titles) == len(hostile_documents)
    assert sum("<" in title for title in titles) == sum("<" in shown(text)[:300] for text in hostile_documents)


@pytest.mark.shared
def test_hostile_queries_are_echoed_as_text(visit: Visit) -> None:
    page = visit(400)
    page.goto(PAGES["results"])
    known = vocabulary(page)
    page.goto(PAGES["nothing"])
    known |= vocabulary(page)
    for text in payloads()[::40]:
        page.locator("#q").fill(text)
        page.locator("#q").press("Enter")
        page.wait_for_url(re.compile(r"[?&]q="))
        assert vocabulary(page) <= known, text
        assert odd_addresses(page) == [], text
        if text.isprintable() and len(text) <= 160:
            expect(page.locator("#q")).to_have_value(text)


@pytest.mark.shared
def test_hostile_terms_are_looked_for_as_text(visit: Visit) -> None:
    page = sign_in(visit())
    known = vocabulary(page)
    for text in payloads()[::160]:
        page.get_by_label("查找词语").fill(text)
        page.get_by_label("查找词语").press("Enter")
        expect(page.locator("p.nothing")).to_be_visible()
        assert vocabulary(page) <= known, text


def test_the_watch_sees_what_it_is_there_for(visit: Visit, watches: list[Watch], vertical: Vertical) -> None:
    """Inline scripts and requests to elsewhere (the policy refuses both), dialogs, missing files."""
    page = visit()
    page.goto("/")
    page.context.route("https://elsewhere.example/", lambda route: route.abort())
    page.evaluate("""() => {
        document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = true" }));
        document.body.append(Object.assign(document.createElement("img"), { src: "/nowhere.png" }));
        fetch("https://elsewhere.example/").catch(() => {});
        window.alert("dialog");
    }""")
    expect(page.locator("img")).to_have_count(1)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.ran") is None
    seen = "\n".join(watches[0].faults)
    watches[0].faults.clear()
    assert "dialog: dialog" in seen and "Content Security Policy" in seen and "404 from" in seen


# -- for everyone


@pytest.mark.parametrize("name", PAGES)
def test_pages_tell_assistive_technology_what_is_what(visit: Visit, name: str) -> None:
    page = open_page(visit, name)
    for language in LANGUAGES:
        page.goto(f"{PAGES[name]}{'&' if '?' in PAGES[name] else '?'}lang={language}")
        expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
        for role in ("banner", "main", "navigation"):
            assert page.get_by_role(role).count() >= 1, role  # type: ignore[arg-type]
        assert page.locator("h1").count() == 1
        assert page.title().strip()
        nameless = page.locator("input:not([type=hidden]):not([aria-hidden]), button, a, select").evaluate_all(
            """all => all.filter(one => !(one.labels && one.labels.length) && !one.textContent.trim()
                && !one.getAttribute("aria-label")).map(one => one.outerHTML)"""
        )
        assert nameless == []
        twice = page.evaluate(
            "() => [...document.querySelectorAll('[id]')].map(o => o.id).sort().filter((x, n, all) => x === all[n - 1])"
        )
        assert twice == []


@pytest.mark.parametrize("name", PAGES)
def test_texts_stand_out_in_light_and_dark(visit: Visit, name: str) -> None:
    page = open_page(visit, name)
    blank = len(page.context.new_page().screenshot())
    for scheme, is_dark in (("light", False), ("dark", True)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert weak_contrasts(page) == [], scheme
        paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)")
        assert (max(paper) < 64) == is_dark, paper
        assert len(page.screenshot()) > 2 * blank


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_a_narrow_screen(visit: Visit, name: str) -> None:
    page = open_page(visit, name, viewport={"width": 360, "height": 740})
    for language in LANGUAGES:
        page.goto(f"{PAGES[name]}{'&' if '?' in PAGES[name] else '?'}lang={language}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", ["results", "review"])
def test_the_focus_can_be_seen_wherever_it_goes(visit: Visit, name: str) -> None:
    page = open_page(visit, name)
    stops: list[str] = []
    for _ in range(30):
        page.keyboard.press("Tab")
        place, has_ring = page.evaluate("""() => {
            const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
            const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
            const place = [...document.querySelectorAll("*")].indexOf(one);
            const shown = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
            return [place + one.outerHTML, ring && shown];
        }""")
        assert has_ring, place
        stops.append(place)
    assert len(set(stops)) > 20
