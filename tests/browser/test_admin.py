"""The signed-in area in a real browser with the real engine, in both languages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from domain.account import Role
from domain.review import TermQuery
from domain.run import RunState, StageRun
from domain.term import TermStatus
from pipeline.alerts.service import evaluate_and_send
from tests.browser_fixture import (
    ACCOUNT,
    PASSWORD,
    PASSWORD_HASH,
    Vertical,
    Visit,
    at_keys,
    becomes_true,
    faults,
    fill_in,
    follow,
    number,
    odd_addresses,
    sign_in,
    wait_for,
)
from tests.builders import decide

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

CONGRESS = "世界石油大会"  # the paper's own query
AREAS = {
    "overview": "/admin/",
    "lexicon": "/admin/lexicon",
    "searches": "/admin/searches",
    "sites": "/admin/sites",
    "page": "/admin/page?url=https://elsewhere.example/page.html",
    "runs": "/admin/runs",
    "alerts": "/admin/alerts",
    "history": "/admin/history",
    "settings": "/admin/settings",
    "accounts": f"/admin/accounts/account?name={ACCOUNT}",
    "account": "/admin/account",
    "tokens": "/admin/tokens",
    "connect": "/admin/connect",
}
LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}


@contextmanager
def account(vertical: Vertical, name: str, *roles: Role) -> Iterator[str]:
    """Create an account with `PASSWORD` for one test."""
    table = vertical.engine.store.accounts
    table.create(name, PASSWORD_HASH, roles)
    yield name
    table.disable(name)


def status_of(vertical: Vertical, term: str) -> TermStatus:
    return vertical.engine.store.review_queue.find_terms([term])[term].status


# -- signing in


def test_a_wrong_password_opens_nothing(visit: Visit) -> None:
    page = visit(403)
    page.goto("/admin/lexicon?status=all")
    expect(page).to_have_url(re.compile("/admin/login"))
    fill_in(page, password="wrong")
    expect(page.locator("#problem")).to_have_text("账号或密码错误")
    expect(page.locator("#password")).to_be_focused()  # the name is still there
    page.goto("/admin/lexicon?status=all")
    fill_in(page)
    expect(page).to_have_url(re.compile(r"/admin/lexicon\?status=all$"))
    cookie = next(one for one in page.context.cookies() if re.fullmatch("plumbline_[0-9a-f]{8}", one["name"]))
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"


def test_each_sees_what_the_account_is_for(visit: Visit, vertical: Vertical) -> None:
    wanted = {
        Role.REPORTS: ["概览", "搜索统计", "网站", "任务", "告警", "操作记录", "设置", "我的账号"],
        Role.REVIEWER: ["概览", "词库", "主题", "搜索统计", "我的账号"],
    }
    for role, areas in wanted.items():
        with account(vertical, f"only-{role}", role) as name:
            page = visit(403)
            page.goto("/admin/")
            fill_in(page, name)
            expect(page.locator(".areas a")).to_have_text(areas)
            page.goto(AREAS["lexicon" if role is Role.REPORTS else "sites"])
            expect(page.locator("h1")).to_have_text("没有执行此操作的权限")


def test_a_new_password_ends_the_session_elsewhere(visit: Visit, vertical: Vertical) -> None:
    with account(vertical, "changing", Role.REPORTS) as name:
        here, elsewhere = visit(), visit()
        for page in (here, elsewhere):
            page.goto("/admin/account")
            fill_in(page, name)
            expect(page.locator("#who")).to_contain_text(name)
        here.get_by_label("当前密码").fill(PASSWORD)
        here.get_by_label("新密码（至少 10 个字符）").fill("another password")
        here.get_by_label("确认新密码").fill("another password")
        follow(here.get_by_label("确认新密码"), "Enter")
        expect(here.locator("p.note[role=status]")).to_have_text("密码已修改。")
        elsewhere.goto("/admin/sites")
        expect(elsewhere.locator("#note")).to_contain_text("登录已过期")
        fill_in(elsewhere, name, "another password")
        expect(elsewhere).to_have_url(re.compile("/admin/sites$"))


def test_the_keyboard_alone_signs_in_judges_and_publishes(visit: Visit, vertical: Vertical) -> None:
    page = visit()
    page.goto("/admin/lexicon")
    expect(page.locator(":focus")).to_have_attribute("name", "name")  # from the start
    page.keyboard.type(ACCOUNT)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    at_keys(page)
    name = page.locator(".term h2 bdi").first.inner_text()
    page.keyboard.press("a")
    expect(page.locator(".term").first).to_have_attribute("data-status", "accepted")
    page.keyboard.type("p")
    expect(page).to_have_url(re.compile("/admin/lexicon/preview$"))
    page.locator("#note").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#publish button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("p.note[role=status]")).to_contain_text("已发布")
    assert name in {entry.text for entry in vertical.engine.store.lexicons.load_latest().entries}


# -- a session that ends while one works


@pytest.mark.parametrize(("scripts", "language"), [(True, "zh"), (False, "en")], ids=["scripts-zh", "no scripts-en"])
def test_a_decision_sent_too_late_is_not_lost(visit: Visit, vertical: Vertical, scripts: bool, language: str) -> None:
    with account(vertical, f"late-{scripts}-{language}", Role.REVIEWER) as name:
        page = visit(403, locale=LANGUAGES[language], java_script_enabled=scripts)
        sign_in(page, name)
        term = page.locator(".term h2 bdi").last.inner_text()
        vertical.engine.store.accounts.set_roles(name, [Role.REVIEWER, Role.REPORTS])  # ends the session
        page.locator(".term").last.locator("button.reject").click()
        expect(page.locator("#held")).to_be_visible()
        fill_in(page, name)
        expect(page.locator("#words")).to_have_text(term)
        assert status_of(vertical, term) is TermStatus.CANDIDATE
        follow(page.locator("#again button"), "Enter")
        expect(page.locator("p.note[role=status]")).to_contain_text(term)
        assert status_of(vertical, term) is TermStatus.REJECTED
        decide(vertical.engine.store, [term], TermStatus.CANDIDATE)


# -- judging terms


def test_candidates_come_in_the_order_of_review_each_with_its_contexts(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    assert (
        number(page.locator("[data-count=candidate]"))
        == vertical.engine.store.lexicons.status_counts()[TermStatus.CANDIDATE]
    )
    texts: list[str] = []
    for n in (1, 2):
        expect(page.locator("nav.pages [aria-current]")).to_have_text(re.compile(f"^{n} /"))
        for term in page.locator(".term").all():
            text = term.locator("h2 bdi").inner_text()
            texts.append(text)
            marks = term.locator(".contexts mark").all_inner_texts()
            assert {mark.casefold() for mark in marks} == {text.casefold()}
        follow(page.locator("nav.pages a[rel=next]"))
    assert texts == [term.text for term in vertical.engine.store.review_queue.find_page(TermQuery(limit=40))[1]]


def test_keys_judge_terms(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    page.evaluate("document.getElementById('terms').dataset.unread = '0'")  # this test reads fast
    terms = page.locator(".term")
    counted = (TermStatus.CANDIDATE, TermStatus.ACCEPTED, TermStatus.REJECTED)
    before = {status: number(page.locator(f"[data-count={status}]")) for status in counted}
    expect(terms.nth(0)).to_be_focused()  # the first term is active at once
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
        total, found = vertical.engine.store.review_queue.find_page(TermQuery(None, name))
        assert next(term for term in found if term.text == name).status is TermStatus.CANDIDATE, total


def test_a_second_press_never_decides_a_term_that_was_not_shown(visit: Visit) -> None:
    page, held = visit(), list[Route]()
    page.route("**/lexicon/decide", lambda route: held.append(route))
    sign_in(page)
    terms = page.locator(".term")
    page.keyboard.type("1aar")  # the second and third decision come before the second term is shown
    expect(terms.nth(0)).to_have_attribute("data-category", "subject")
    becomes_true(page, lambda: held)
    held[0].continue_()
    expect(terms.nth(0)).to_have_attribute("data-status", "accepted")
    expect(terms.nth(1)).to_be_focused()
    assert len(held) == 1
    expect(terms.nth(1)).to_have_attribute("data-status", "candidate")
    page.keyboard.type("uu")
    expect(terms.nth(0)).to_have_attribute("data-status", "candidate")
    expect(terms.nth(0)).to_have_attribute("data-category", "")


def test_a_decision_that_cannot_be_saved_is_not_shown_as_taken(visit: Visit) -> None:
    page, is_down = visit(503), [True]
    # Before the page is loaded: Chromium may not intercept a request that follows `route` at once.
    page.route(
        "**/lexicon/decide",
        lambda route: route.fulfill(status=503, body="<p>gone") if is_down[0] else route.continue_(),
    )
    sign_in(page)
    page.keyboard.press("a")
    expect(page.locator("#trouble")).to_contain_text("保存失败")
    expect(page.locator(".term").first).to_have_attribute("data-status", "candidate")
    is_down[0] = False
    page.keyboard.type("a")
    expect(page.locator(".term").first).to_have_attribute("data-status", "accepted")
    expect(page.locator("#trouble")).to_be_hidden()
    page.keyboard.type("u")
    expect(page.locator(".term").first).to_have_attribute("data-status", "candidate")


@pytest.mark.always
def test_a_published_term_ranks_its_documents_first_within_seconds(visit: Visit, vertical: Vertical) -> None:
    reader, page = sign_in(visit()), sign_in(visit())
    reader.goto(f"/compare?q={CONGRESS}")
    before = reader.locator("#measures tbody td:nth-child(2)").all_inner_texts()
    page.get_by_label("查找术语").fill(CONGRESS)
    page.get_by_label("查找术语").press("Enter")
    exact = page.locator(".term").filter(has=page.get_by_role("heading", name=CONGRESS, exact=False)).first
    expect(exact.locator("h2 bdi")).to_have_text(CONGRESS)
    exact.get_by_role("button", name="采纳").click()
    expect(exact).to_have_attribute("data-status", "accepted")
    expect(page.locator("#pending-added")).to_have_text(re.compile("^[1-9]"))
    page.keyboard.press("Escape")
    follow(page.locator("#to-preview"))
    follow(page.locator("#publish button"))
    expect(page.locator("p.note[role=status]")).to_contain_text("已发布")
    expect(page.locator("#pending-added")).to_have_text("0")
    version = vertical.engine.store.lexicons.latest_version()
    wait_for(reader, f"/compare?format=json&q={CONGRESS}", "answer => answer.sides[1].first_rank === 1")
    wait_for(reader, "/healthz", "answer => answer.index_lag === 0")
    reader.reload()
    base, domain = (reader.locator(f"#measures tbody td:nth-child({n})").all_inner_texts() for n in (2, 3))
    assert base == before
    assert domain[2] == "1" != base[2]
    assert reader.locator("#measures tbody td:nth-child(3) .word").all_inner_texts() == [CONGRESS]
    page.reload()
    expect(page.locator("#published")).to_have_text(re.compile(rf"^索引使用第 {version} 版，\d+ 个术语$"))


def test_signing_out_closes_the_review(visit: Visit) -> None:
    page = sign_in(visit())
    follow(page.locator("#logout"))
    expect(page.locator("#counts")).to_be_visible()
    page.go_back()  # not even the browser's own memory shows it
    expect(page.locator("#password")).to_be_visible()
    page.goto("/admin/lexicon")
    expect(page).to_have_url(re.compile("/admin/login"))


def test_a_form_without_the_page_s_token_changes_nothing(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit(400))
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
    expect(page.locator("h1")).to_have_text(
        "表单已过期，请返回并刷新页面后重新提交"
    )  # the cookie does not come with such a form
    page.goto("/admin/lexicon")
    expect(page.locator("#publish")).to_be_visible()
    expect(page.locator("p.note[role=status]")).to_have_count(0)
    assert vertical.engine.store.review_queue.find_page(TermQuery(TermStatus.REJECTED, term)) == (0, [])


# -- reports


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_what_readers_miss_becomes_a_candidate(visit: Visit, vertical: Vertical, scripts: bool) -> None:
    missed = f"量子{'井' if scripts else '泵'}"
    reader, page = visit(java_script_enabled=scripts), sign_in(visit(java_script_enabled=scripts))
    reader.goto(f"/search?q=“{missed}”")
    wait_for_log(page, missed)
    row = page.locator("#without tr", has_text=missed).first
    assert number(row.locator("td").first) == 1
    follow(row.get_by_role("button", name="列为候选词"))
    expect(page.locator("p.note[role=status]")).to_contain_text("列为候选词")
    expect(page.locator(".term h2 bdi").first).to_contain_text(missed)
    assert vertical.engine.store.review_queue.find_page(TermQuery(text=missed))[0] == 1


def wait_for_log(page: Page, query: str) -> None:
    """Reload the searches until this one is listed. The log is written in the background."""

    def is_listed() -> bool:
        page.goto(AREAS["searches"])
        return page.locator("table a", has_text=query).count() > 0

    becomes_true(page, is_listed)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_result_that_is_opened_counts_and_its_link_stays_true(
    visit: Visit, vertical: Vertical, scripts: bool
) -> None:
    query = "钻井液性能" if scripts else "油藏描述"
    reader = visit(404, java_script_enabled=scripts)  # the article's own pictures
    reader.goto(f"/search?q={query}")
    first = reader.locator("#hits h2 a").first
    address = str(first.get_attribute("href"))
    assert address.startswith("http://") and not address.startswith(vertical.url)
    with reader.expect_event("request", lambda request: "/click?" in request.url) as told:
        first.click()
    assert told.value.method == "POST" and told.value.url.startswith(vertical.url)
    reader.wait_for_url(address)
    page = sign_in(visit())
    wait_for_log(page, query)

    def is_click_counted() -> bool:
        page.reload()
        return page.locator("#top-queries tr", has_text=query).locator("td").last.inner_text() == "100%"

    becomes_true(page, is_click_counted)


def test_the_overview_and_the_sites_tell_what_the_store_holds(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    page.goto(AREAS["overview"])
    assert number(page.locator("#documents")) >= vertical.engine.store.articles.count() > 250
    assert number(page.locator("#version")) == vertical.engine.store.lexicons.latest_version()
    expect(page.locator("#runs tbody tr", has_text="已抽取正文")).to_have_count(1)  # the run that made the demo's data
    page.goto(AREAS["sites"])
    expect(page.locator("#site-health tbody tr")).to_have_count(3)
    found = page.locator("#site-health tbody tr td:nth-child(2)").all_inner_texts()
    assert sum(map(int, found)) == vertical.engine.store.articles.count()
    heights = page.locator("#site-health tbody tr").evaluate_all("rows => rows.map(row => row.clientHeight)")
    assert max(heights) < 200, "no column is as narrow as one character"


@contextmanager
def failed_night(vertical: Vertical) -> Iterator[str]:
    """Record a failed crawl with its alert and yield its error. A successful run follows."""
    runs, error = vertical.engine.store.runs, "None of the seeds could be fetched (Connection refused)"
    runs.finish(runs.start("schedule"), [StageRun("crawl", state=RunState.FAILED, error=error)])
    evaluate_and_send(vertical.engine)
    yield error
    runs.finish(runs.start("schedule"), [StageRun("crawl")])
    evaluate_and_send(vertical.engine)


@pytest.mark.parametrize(
    ("language", "stage", "size"),
    [("zh", "抓取", {"width": 1280, "height": 740}), ("en", "Crawl", {"width": 390, "height": 844})],
    ids=["zh-wide", "en-narrow"],
)
def test_a_failed_night_its_stage_and_its_reason_are_seen_without_a_click(
    visit: Visit, vertical: Vertical, language: str, stage: str, size: dict[str, int]
) -> None:
    """On the first screen after signing in, in the reader's language, without opening anything."""
    page = sign_in(visit(locale=LANGUAGES[language], viewport=size))
    with failed_night(vertical) as error:
        page.goto(AREAS["overview"])
        for text in (stage, error):
            place = page.locator("#failing", has_text=text)
            expect(place).to_be_in_viewport(ratio=1)
        expect(page.locator("#alerts li")).to_contain_text(error)
        expect(page.locator("#durations-title")).to_be_attached()
        assert page.locator("figure.chart").first.locator("rect.part").last.bounding_box()["height"] > 0  # type: ignore[index]
        assert faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.goto(AREAS["overview"])
    expect(page.locator("#failing")).to_have_count(0)
    expect(page.locator("#alerts")).to_have_count(0)


def test_a_site_leads_to_its_runs_and_to_samples_of_what_went_wrong(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit(locale="en-GB"))
    page.goto(AREAS["sites"])
    follow(page.locator("#site-health a").first)
    expect(page.locator("#site-runs tbody tr").first).to_contain_text("new or changed")
    host = page.url.rsplit("/", 1)[1].replace("%3A", ":")
    known = {one.url for one in vertical.engine.store.status.outcome_samples(host)}
    found = page.locator("#samples a").evaluate_all("all => all.map(one => one.href)")
    assert found and set(found) <= known
    assert faults(page) == [] and odd_addresses(page) == []


# -- for everyone


def show(page: Page, area: str) -> None:
    """Open an area with content, with all folds open."""
    page.goto(AREAS[area])
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


@pytest.mark.parametrize(
    ("width", "language"),
    [
        (360, "en"),  # English is the wider
        pytest.param(1280, "zh", marks=pytest.mark.exhaustive),  # as test_administrator_journey.py sees it
    ],
)
def test_axe_finds_nothing_to_say(visit: Visit, language: str, width: int) -> None:
    size = {"width": width, "height": 740}
    page = visit(403, locale=LANGUAGES[language], viewport=size)
    page.goto(f"/search?q=“量子”&lang={language}")
    page.goto(AREAS["overview"])
    assert faults(page) == []
    if width == 360:  # five wrong passwords in five minutes are all that the site allows
        fill_in(page, password="wrong")
        assert faults(page) == []
    fill_in(page)
    wait_for_log(page, "量子")
    for area in AREAS:
        show(page, area)
        expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
        assert page.locator("h1").count() == 1
        assert odd_addresses(page) == []
        assert faults(page) == [], area
        if width == 360:
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, area


@pytest.mark.parametrize(
    "area",
    [
        pytest.param(area, marks=[] if area in ("overview", "lexicon", "settings") else [pytest.mark.exhaustive])
        for area in AREAS
    ],
)
def test_the_focus_can_be_seen_wherever_it_goes(visit: Visit, area: str) -> None:
    page = sign_in(visit())
    show(page, area)
    stops = set()
    for _ in range(16):
        page.keyboard.press("Tab")
        place, has_ring = page.evaluate("""() => {
            const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
            const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
            const shown = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
            return [[...document.querySelectorAll("*")].indexOf(one) + one.outerHTML, ring && shown];
        }""")
        if page.evaluate("document.activeElement === document.body"):  # once round
            break
        assert has_ring, place
        stops.add(place)
    assert len(stops) > 10


def test_a_missing_page_is_diagnosed_from_a_search(visit: Visit, vertical: Vertical) -> None:
    article = next(vertical.engine.store.articles.iter_all()).article
    unknown = article.url.rpartition("/")[0] + "/never-linked.html"
    page = sign_in(visit(locale="en-GB", viewport={"width": 390, "height": 844}))
    page.goto(f"/search?q={quote(unknown, safe='')}")
    follow(page.locator("#why-not"))
    expect(page.locator("#page-checks .stop")).to_have_count(1)
    expect(page.locator("#cause")).to_have_attribute("data-cause", "no_link")
    assert faults(page) == [] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    follow(page.locator(".stop button"))
    expect(page.locator("#cause")).to_have_attribute("data-cause", "not_visited")
    page.goto(f"/search?q={CONGRESS}")
    follow(page.locator("#missing-page"))
    expect(page.locator("#page-query")).to_have_value(CONGRESS)
    page.locator("#page-url").fill(article.url)
    follow(page.locator(".page-form button"))
    expect(page.locator("#page-checks li")).to_have_count(6)
    stranger = visit()
    stranger.goto(f"/search?q={quote(unknown, safe='')}")
    expect(stranger.locator("#page-lookup")).to_be_visible()
    expect(stranger.locator("#page-lookup a")).to_have_count(0)
