"""Pages in place of the page: challenges, maintenance, logins, "not found". They never replace an article."""

from pathlib import Path

import pytest

from crawler.dedup.shared_responses import SharedResponses
from crawler.http.fetch import FetchResult
from crawler.http.run_cookies import RunCookies
from crawler.parsing.links import parse_page
from crawler.parsing.status_pages import is_not_found_heading
from crawler.schedule.revisit_policy import SECONDS_PER_HOUR
from crawler.workers.fetch_pool import Job, PageResult
from domain.frontier import Visit
from domain.outcome import Outcome, Reason
from domain.page import Page
from tests.crawler.test_run import run
from tests.crawler_fakes import MemoryTable, entry, settings
from tests.web_fixture import Answer, Request, Site, page

FETCHED = Outcome(Reason.FETCHED)
AGAIN = {"revisit_shortest": 0.0, "revisit_longest": 1e-6}
KINDS = {
    "the site demands cookies": "cookies",
    "the site challenges the crawler": "challenge",
    "the site reports maintenance or an error": "maintenance",
    "“Not found” page with HTTP status 200": "soft_404",
}
NAV = "".join(f'<a href="/n/{n}">部门 {n}</a>' for n in range(12))


def status_of(title: str, body: str, head: str = "") -> tuple[str, str]:
    """Return reason and kind of a page, ("", "") for content."""
    html = f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    status = parse_page(Page(1, "http://a.test/x", "http://a.test/x", 200, "text/html", html.encode(), "d", 0.0)).status
    return (str(status.reason), KINDS.get(status.detail, "login")) if status else ("", "")


BLOCKED = [
    ("Just a moment...", "<noscript>Enable JavaScript and cookies to continue</noscript>", "challenge"),
    (
        "Attention Required! | Cloudflare",
        "<h1>Sorry, you have been blocked</h1><p>Ray ID: 8fa1c02b3d4e5f60</p>",
        "challenge",
    ),
    ("site.test", "<h1>Checking your browser before accessing site.test.</h1><p>This is automatic.</p>", "challenge"),
    ("", "<p>Request unsuccessful. Incapsula incident ID: 123-456</p>", "challenge"),
    ("Access Denied", "<h1>Access Denied</h1>You don't have permission to access this on this server.", "challenge"),
    (
        "Access to this page has been denied",
        "<p>Press &amp; Hold to confirm you are a human (and not a bot).</p>",
        "challenge",
    ),
    ("site.test", "<p>Please enable JS and disable any ad blocker</p>", "challenge"),
    ("Human Verification", "<p>Let's confirm you are human. Complete the security check.</p>", "challenge"),
    ("Sucuri Website Firewall - Access Denied", "<p>Your IP: 203.0.113.7</p>", "challenge"),
    ("Request Rejected", "The requested URL was rejected. Your support ID is: 1234567890", "challenge"),
    ("Making sure you're not a bot!", "<p>Loading...</p>", "challenge"),
    ("Sorry...", "Our systems have detected unusual traffic from your computer network.", "challenge"),
    ("DDoS-Guard", "<h1>DDoS protection by DDoS-Guard</h1><p>Please wait.</p>", "challenge"),
    ("访问拦截", "<p>当前访问疑似攻击，已被创宇盾拦截。</p>", "challenge"),
    ("405", "<p>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。</p>", "challenge"),
    ("百度安全验证", "<p>网络不给力，请稍后重试</p>", "challenge"),
    ("网站防火墙", "<p>您的请求带有不合法参数，已被网站管理员设置拦截！</p>", "challenge"),
    ("安全验证", "<p>请拖动滑块完成安全验证。</p>", "challenge"),
    ("提示", "<p>您的访问过于频繁，请稍后再试。</p>", "challenge"),
    ("请输入验证码", "<p>为了继续访问，请输入验证码。</p>", "challenge"),
    ("Maintenance", "<p>Briefly unavailable for scheduled maintenance. Check back in a minute.</p>", "maintenance"),
    ("", "<h1>Error establishing a database connection</h1>", "maintenance"),
    ("We'll be back soon!", "<p>The site is under maintenance.</p>", "maintenance"),
    ("502 Bad Gateway", "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>", "maintenance"),
    ("网站维护中", "<p>网站正在升级维护，请稍后访问。</p>", "maintenance"),
    ("系统提示", "<p>系统繁忙，请稍后再试</p>", "maintenance"),
    ("Runtime Error", "<h1>Server Error in '/' Application.</h1>", "maintenance"),
    ("Sign in", "<p>Please log in to continue reading.</p><form><input type=password></form>", "login"),
    ("提示信息", "<p>抱歉，您尚未登录，没有权限访问该版块</p>", "login"),
    ("用户登录", "<p>请先登录后再查看本页内容</p>", "login"),
    ("Cookies", "<p>Please enable cookies in your browser to continue.</p>", "cookies"),
    ("提示", "<p>请在浏览器中启用 Cookie 后重试</p>", "cookies"),
]


@pytest.mark.parametrize(("title", "body", "kind"), BLOCKED, ids=[f"{row[2]} {row[0]}" for row in BLOCKED])
def test_pages_in_place_of_the_page(title: str, body: str, kind: str) -> None:
    assert status_of(title, body) == ("needs_login" if kind == "login" else "blocked", kind)


NOT_FOUND = [
    "404",
    "404 Not Found",
    "Page not found - Site",
    "Error 404 | Site",
    "Oops! That page can’t be found.",
    "页面不存在",
]
NOT_FOUND += [
    "您访问的页面不存在_某某网",
    "404 页面不存在",
    "对不起，您要查看的文章已被删除",
    "The page you are looking for no longer exists",
]


@pytest.mark.parametrize("title", NOT_FOUND)
def test_a_heading_that_says_not_found_and_nothing_else(title: str) -> None:
    assert is_not_found_heading(title)
    assert status_of(title, f"{NAV}<p>Sorry.</p>") == ("gone", "soft_404")
    assert status_of(title, f"{NAV}<p>{'Words of an article about this. ' * 80}</p>") == ("", "")


HARMLESS = [
    "Peugeot 404",
    "404 Media raises money",
    "Tupolev Tu-404",
    "Room 404",
    "关于文章不存在抄袭的声明",
    "企业信息不存在泄露风险",
]
HARMLESS += [
    "Access denied: how ports close",
    "验证码的历史",
    "Lost city not found in the jungle",
    "网站维护公告",
    "请先登录再投票：问卷",
    "失效 - 机械百科",
    "删除 | 术语",
    "下架_词典",
    "Missing | Poems",
    "Gone",
    "网站防火墙（WAF）是一种安全产品",
    "A captcha is a test",
    "网站建设",
]
STORY = "The harbour was closed for a day because of the storm, and the pilots went home early. "


@pytest.mark.parametrize("title", HARMLESS)
@pytest.mark.parametrize("length", [6, 60])
def test_articles_with_such_words_are_content(title: str, length: int) -> None:
    assert status_of(title, f"<h1>{title}</h1><p>{STORY * length}</p>") == ("", "")
    assert status_of(title, f"{NAV}<article><h1>{title}</h1><p>{STORY}</p></article>") == ("", "")
    assert status_of(title, f"{NAV}<h1>{title}</h1><p>{STORY * 2}</p>") == ("", "")


def test_the_footer_of_a_protected_site_is_no_challenge() -> None:
    text = f"<h1>Harbour</h1><p>{STORY * 5}</p><footer>本站由百度云加速提供防护</footer>"
    assert status_of("Harbour", text) == ("", "")


FORM = '<form action=/in><label>Name <input name=u></label><input type="Password" name=p><button>Go</button></form>'


@pytest.mark.parametrize(("head", "tail"), [
    ("", ""), ("<h1>Portal</h1>", "<footer>© Ministry, Main Street 1</footer>"), (f"<div>{NAV[:200]}</div>", ""),
])  # fmt: skip
def test_a_page_that_is_a_form_with_a_password_field_asks_for_a_login(head: str, tail: str) -> None:
    assert status_of("Portal", f"{head}<main>{FORM}</main>{tail}") == ("needs_login", "login")


@pytest.mark.parametrize("body", [
    f"<header>{FORM}</header><h1>Harbour</h1><p>{STORY}</p>",
    f"<aside>{FORM}</aside><p>x</p>",
    f"<div>{FORM}</div><h1>Harbour</h1><p>{STORY * 4}</p>",
    f"{NAV * 2}{NAV.replace('/n/', '/m/')}{FORM}",
    "<form><input name=q><button>Search</button></form>",
], ids=["header", "margin", "article", "links", "search"])  # fmt: skip
def test_a_login_box_of_an_ordinary_page_is_no_login_wall(body: str) -> None:
    assert status_of("Harbour", body) == ("", "")


# -- what the crawl does


def story(number: int, night: int = 1) -> Answer:
    return page(text=f"<p>{chr(97 + number) * 40} of night {'abc'[night]}: {STORY}{chr(97 + number) * 90}</p>")


def stories(table: MemoryTable) -> int:
    return sum(b"harbour was closed" in one.body for one in table.pages.values())


def second_night(
    tmp_path: Path, answers: dict[str, object], count: int = 6, **changes: object
) -> tuple[MemoryTable, Site]:
    """Crawl a site of `count` stories, replace its answers and crawl it again."""
    table, paths = MemoryTable(), [f"/a{n}.html" for n in range(count)]
    with Site({"/": page(*paths), **{path: story(n) for n, path in enumerate(paths)}}) as site:
        made = settings(site.url(), **{**AGAIN, "per_host": 1, "delay_factor": 0.0, **changes})
        run(table, made, tmp_path)
        assert stories(table) == count
        site.pages.update(answers)  # type: ignore[arg-type]
        site.requests.clear()
        run(table, made, tmp_path)
    return table, site


def unknown_page(request: Request) -> Answer:
    """A page of a system that no list names, with an id of its own for each request."""
    text = "Zugriff wird geprueft. Bitte haben Sie einen Augenblick Geduld, es geht gleich weiter zu der Seite."
    return page(text=f"<p>{text} Vorgang: {hash(request.path):x}</p>")


@pytest.mark.parametrize("count", [2, 6])
def test_an_unknown_text_that_replaces_several_articles_replaces_none(tmp_path: Path, count: int) -> None:
    table, _ = second_night(tmp_path, {f"/a{n}.html": unknown_page for n in range(count)}, count)
    assert stories(table) == count
    assert {reason for path, reason in table.reasons().items() if path != "/"} == {"blocked"}


def test_a_site_that_shows_its_pages_again_is_crawled_whole(tmp_path: Path) -> None:
    """The nights of one text at all URLs seem to show that a parameter is useless; other texts refute that."""
    table, paths = MemoryTable(), [f"/a?id={n}" for n in range(12)]
    one_text = page(text="<p>Zugriff wird geprueft. Bitte haben Sie einen Augenblick Geduld, es geht weiter.</p>")
    with Site({"/": page(*paths), **dict.fromkeys(paths, one_text)}) as site:
        made = settings(site.url(), **{**AGAIN, "per_host": 1, "delay_factor": 0.0})
        run(table, made, tmp_path)
        site.pages.update({path: story(n) for n, path in enumerate(paths)})
        run(table, made, tmp_path)
        run(table, made, tmp_path)
    assert stories(table) == 12


def test_a_number_that_changes_each_night_is_recorded_in_the_end(tmp_path: Path) -> None:
    """The digits of a text do not count, so such pages look like one unknown page."""
    night, table, paths = 0, MemoryTable(), ["/level/passau", "/level/linz"]

    def level(request: Request) -> Answer:
        return page(text=f"<p>The water of the river at this gauge stands at {night} cm over its zero today.</p>")

    with Site({"/": page(*paths), **dict.fromkeys(paths, level)}) as site:
        for night in range(1, 7):  # noqa: B007 (level reads it)
            run(table, settings(site.url(), **{**AGAIN, "per_host": 1, "delay_factor": 0.0}), tmp_path)
    assert all(b" 6 cm" in one.body for one in table.pages.values() if b"gauge" in one.body)
    assert sum(b"gauge" in one.body for one in table.pages.values()) == 2


def test_a_variant_that_is_not_saved_replaces_no_article(tmp_path: Path) -> None:
    table, text = MemoryTable(), f"<p>{STORY * 3}</p>"
    variant = Answer(200, page(text=text).body, {"Content-Type": "text/html", "X-Robots-Tag": "noindex"})
    with Site({"/": page("/a?print=1", "/a"), "/a": page(text=text), "/a?print=1": variant}) as site:
        run(table, settings(site.url(), per_host=1, delay_factor=0.0), tmp_path)
    assert stories(table) == 1, table.reasons()


def test_an_article_behind_a_new_gate_stays(tmp_path: Path) -> None:
    gate = {
        "/a0.html": lambda request: resolved(
            needs("t=1", Answer(301, b"", {"Location": "/gate"}), story(0, 2)), request
        ),
        "/gate": with_cookie(302, "t=1; Path=/", "/a0.html"),
    }
    table, _ = second_night(tmp_path, gate)  # type: ignore[arg-type]
    assert stories(table) == 6 and sum(b"night c" in one.body for one in table.pages.values()) == 1


def test_articles_that_move_while_lists_answer_are_gone(tmp_path: Path) -> None:
    lists = [f"/list/{n}/" for n in range(40)]
    moved = {f"/a{n}.html": Answer(301, b"", {"Location": "/merged.html"}) for n in range(3)}
    short = {path: page(text=f"<p>List {'abcdefgh'[n % 8] * (n + 5)}</p>") for n, path in enumerate(lists)}
    table, _ = second_night(
        tmp_path, {**moved, "/": page(*lists, *(f"/a{n}.html" for n in range(6))), "/merged.html": story(9), **short}
    )
    assert "blocked" not in {table.reasons()[path] for path in moved}, table.reasons()


def test_a_text_of_its_own_replaces_an_article(tmp_path: Path) -> None:
    table, _ = second_night(tmp_path, {f"/a{n}.html": story(n, night=2) for n in range(6)})
    assert sum(b"night c" in one.body for one in table.pages.values()) == 6
    assert {visit.outcome.reason for visit in table.visits} == {Reason.FETCHED, Reason.UNCHANGED}


def test_copies_of_one_article_change_together(tmp_path: Path) -> None:
    """The same bytes under two parameters before, and the same new text now."""
    table, paths = MemoryTable(), ("/a.html?ref=x", "/a.html?ref=y")
    with Site({"/": page(*paths), **dict.fromkeys(paths, story(1))}) as site:
        made = settings(site.url(), **AGAIN)
        run(table, made, tmp_path)
        site.pages.update(dict.fromkeys(paths, story(1, night=2)))
        run(table, made, tmp_path)
    assert "blocked" not in table.reasons().values()
    assert any(b"night c" in one.body for one in table.pages.values())


def test_a_site_that_redirects_every_url_keeps_its_articles(tmp_path: Path) -> None:
    moved = Answer(301, b"", {"Location": "/closed.html"})
    answers = {**{f"/a{n}.html": moved for n in range(6)}, "/closed.html": page(text="<p>Bald wieder da.</p>")}
    table, _ = second_night(tmp_path, answers)
    assert stories(table) == 6
    assert {table.reasons()[f"/a{n}.html"] for n in range(6)} == {"blocked"}


def test_articles_that_move_to_the_front_page_are_gone(tmp_path: Path) -> None:
    moved = Answer(301, b"", {"Location": "/"})
    table, _ = second_night(tmp_path, {f"/a{n}.html": moved for n in range(3)})
    assert stories(table) == 3


@pytest.mark.parametrize("target", ["/login?next=/a0.html", "/user/signin", "/passport/", "/sso/cas"])
def test_a_redirect_to_a_login_is_no_success(tmp_path: Path, target: str) -> None:
    table, _ = second_night(tmp_path, {"/a0.html": Answer(302, b"", {"Location": target}), target: page()})
    assert stories(table) == 6 and table.reasons()["/a0.html"] == "needs_login"


NOTICE = f"<p>{STORY * 3}</p>"  # too much text for a page without other evidence


@pytest.mark.parametrize("text", [FORM, FORM + NOTICE])
def test_redirects_to_a_login_form_ask_for_a_login_whatever_its_url_says(tmp_path: Path, text: str) -> None:
    gate = {f"/a{n}.html": Answer(302, b"", {"Location": f"/gate?{n}"}) for n in range(4)}
    forms = {f"/gate?{n}": Answer(302, b"", {"Location": "/welcome"}) for n in range(4)}
    table, _ = second_night(tmp_path, {**gate, **forms, "/welcome": page(text=text)})
    assert stories(table) == 6
    assert {table.reasons()[f"/a{n}.html"] for n in range(4)} == {"needs_login"}, table.reasons()
    assert table.reasons()["/welcome"] == "needs_login" and table.reasons()["/a4.html"] == "unchanged"


def test_a_start_page_that_redirects_to_a_login_form_asks_for_a_login(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site(
        {"/": Answer(302, b"", {"Location": "/welcome"}), "/welcome": page("/free", text=FORM), "/free": story(1)}
    ) as site:
        run(table, settings(site.url()), tmp_path)
    assert table.reasons()["/"] == table.reasons()["/welcome"] == "needs_login"
    assert stories(table) == 1  # a page that needs no login, linked from the login page


def test_a_moved_article_with_a_login_box_is_an_article(tmp_path: Path) -> None:
    box, text = f"<div>{FORM}</div>", f"<p>{STORY * 9}</p>"
    table = MemoryTable()
    with Site({"/": Answer(302, b"", {"Location": "/a"}), "/a": page(text=box + text)}) as site:
        run(table, settings(site.url()), tmp_path)
    assert stories(table) == 1 and table.reasons()["/"] == "duplicate"


@pytest.mark.parametrize("is_new", [True, False])
def test_a_login_form_in_place_of_pages_is_no_article(tmp_path: Path, is_new: bool) -> None:
    wall, paths = page(text=FORM + NOTICE), [f"/{'new' if is_new else 'a'}{n}.html" for n in range(6)]
    table, _ = second_night(tmp_path, {"/": page(*paths), **dict.fromkeys(paths, wall)})
    assert {table.reasons()[path] for path in paths} == {"needs_login"}
    assert stories(table) == 6


def test_a_blocked_page_is_asked_again_soon_and_slows_the_crawl(tmp_path: Path) -> None:
    table, _ = second_night(tmp_path, {"/a0.html": page(text="<p>Checking your browser before accessing</p>")}, 1)
    visit = next(visit for visit in table.visits if visit.outcome.reason is Reason.BLOCKED)
    assert visit.next_visit_at is not None
    assert visit.next_visit_at - visit.visited_at <= SECONDS_PER_HOUR and visit.failed_attempts == 1


def test_a_site_that_never_shows_its_pages_saves_none(tmp_path: Path) -> None:
    table, paths = MemoryTable(), [f"/a{n}.html" for n in range(12)]
    with Site({"/": page(*paths), **dict.fromkeys(paths, unknown_page)}) as site:
        run(table, settings(site.url()), tmp_path)
    assert {table.reasons()[path] for path in paths} == {"blocked"} and list(table.pages) == [site.url()]


def test_what_waits_is_recorded_when_it_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.dedup.shared_responses._MAX_VISITS", 4)
    table, _ = second_night(tmp_path, {f"/a{n}.html": story(n, night=2) for n in range(20)}, 20)
    assert sum(b"night c" in one.body for one in table.pages.values()) == 20


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.dedup.shared_responses._MAX_SENTENCES", 50)
    shared = SharedResponses(lambda entry, outcome: Visit(entry, outcome, 0.0, None, 0.0))
    for number in range(100):
        html = f"<p>{'word ' * 20}{chr(97 + number % 26) * (number + 1)}</p>".encode()
        sent = Page(1, "http://a.test/x", "http://a.test/x", 200, "text/html", html, "d", 0.0)
        found, one = parse_page(sent), entry(f"http://a.test/{number}", number + 1)
        result = PageResult(Job(one), FetchResult(FETCHED, sent), fingerprint=found.fingerprint, is_bare=True)
        shared.must_wait(Visit(one, FETCHED, 0.0, None, 0.0, page=sent), result)
    assert len(shared._sources) <= 50


# -- cookies


def needs(cookie: str, otherwise: Answer, content: Answer) -> object:
    return lambda request: content if cookie in request.headers.get("Cookie", "") else otherwise


def with_cookie(status: int, cookie: str, location: str = "", body: bytes = b"") -> Answer:
    headers = {"Set-Cookie": cookie, "Content-Type": "text/html"}
    return Answer(status, body, {**headers, "Location": location} if location else headers)


GATES = {
    "redirect to itself": {"/a": needs("t=1", with_cookie(302, "t=1", "/a"), story(1))},
    "two redirects to itself": {
        "/a": needs("u=2", needs("t=1", with_cookie(302, "t=1", "/a"), with_cookie(302, "u=2", "/a")), story(1)),  # type: ignore[arg-type]
    },
    "redirect to a gate that sends back": {
        "/a": needs("t=1", Answer(302, b"", {"Location": "/gate"}), story(1)),
        "/gate": with_cookie(302, "t=1; Path=/", "/a"),
    },
    "gate page that leads back": {
        "/a": needs("t=1", Answer(302, b"", {"Location": "/gate"}), story(1)),
        "/gate": with_cookie(200, "t=1; Path=/", body=b'<p>Welcome</p><meta http-equiv=refresh content="0; url=/a">'),
    },
    "page that reloads": {
        "/a": needs(
            "t=1", with_cookie(200, "t=1", body=b'<meta http-equiv=refresh content="0"><p>One moment'), story(1)
        )
    },
    "cookie wall": {"/a": needs("t=1", with_cookie(200, "t=1", body=b"<p>Please enable cookies."), story(1))},
}


def resolved(answer: object, request: Request) -> Answer:
    while not isinstance(answer, Answer):
        answer = answer(request)  # type: ignore[operator]
    return answer


@pytest.mark.parametrize("name", GATES)
def test_a_cookie_set_on_the_way_opens_the_page(tmp_path: Path, name: str) -> None:
    pages = {path: (lambda request, answer=answer: resolved(answer, request)) for path, answer in GATES[name].items()}
    table = MemoryTable()
    with Site({"/": page("/a"), **pages}) as site:
        run(table, settings(site.url(), site.url("/a")), tmp_path)
    assert stories(table) == 1, table.reasons()


def test_a_site_that_sets_a_new_cookie_each_time_says_what_it_demands(tmp_path: Path) -> None:
    numbers = iter(range(100))
    table = MemoryTable()
    with Site({"/": page("/a"), "/a": lambda request: with_cookie(302, f"t={next(numbers)}", "/a")}) as site:
        run(table, settings(site.url()), tmp_path)
        assert site.asked().count("/a") <= 4
    assert table.reasons()["/a"] == "blocked"
    assert [str(visit.outcome.detail) for visit in table.visits if visit.outcome.reason is Reason.BLOCKED] == [
        "the site demands cookies"
    ]


@pytest.mark.parametrize(
    ("set_by", "cookie", "sent_to", "is_sent"),
    [
        ("http://www.site.test/", "a=1", "http://www.site.test/x", True),
        ("http://www.site.test/", "a=1", "http://news.site.test/x", False),
        ("http://site.test/", "a=1", "http://news.site.test/x", False),
        ("http://www.site.test/", "a=1; Domain=site.test", "http://news.site.test/x", True),
        ("http://www.site.test/", "a=1; Domain=other.test", "http://other.test/", False),
        ("http://www.site.com.cn/", "a=1; Domain=com.cn", "http://other.com.cn/", False),
        ("http://www.site.com.cn/", "a=1; Domain=com.cn", "http://www.site.com.cn/", False),
        ("http://www.site.test/b/", "a=1; Path=/b/", "http://www.site.test/c/", False),
        ("https://www.site.test/", "a=1; Secure", "http://www.site.test/", False),
        ("https://www.site.test/", "a=1; Secure", "https://www.site.test/", True),
        ("http://www.site.test/", "a=1; Max-Age=0", "http://www.site.test/", False),
        ("http://www.site.test/", "a=" + "x" * 5000, "http://www.site.test/", False),
        ("http://127.0.0.1:8000/", "a=1", "http://127.0.0.1:8000/x", True),
        ("http://127.0.0.1/", "a=1", "http://127.0.0.2/x", False),
    ],
)
def test_cookies_go_where_browsers_send_them(set_by: str, cookie: str, sent_to: str, is_sent: bool) -> None:
    from urllib3 import HTTPHeaderDict

    cookies = RunCookies()
    cookies.store(set_by, HTTPHeaderDict({"Set-Cookie": cookie}))
    assert bool(cookies.header(sent_to)) is is_sent


def test_configured_cookies_stay_and_memory_is_bounded() -> None:
    from urllib3 import HTTPHeaderDict

    cookies = RunCookies()
    assert cookies.store("http://a.test/", HTTPHeaderDict([("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]))
    assert not cookies.store("http://a.test/", HTTPHeaderDict([("Set-Cookie", "a=1")]))
    assert cookies.header("http://a.test/", "a=9; c=3") == "a=9; c=3; b=2"
    for number in range(300):
        cookies.store("http://a.test/", HTTPHeaderDict([("Set-Cookie", f"n{number}=1")]))
    assert len(cookies.header("http://a.test/").split(";")) <= 50
    for number in range(6000):
        cookies.store(f"http://s{number}.test/", HTTPHeaderDict([("Set-Cookie", "a=1")]))
    assert len(cookies._jars) <= 5001


# -- scripts


@pytest.mark.parametrize(
    "script",
    [
        *(
            'location.href = "/x"',
            "window.location='/x'",
            "location.replace('/x');",
            'document.location.assign( "/x" )',
        ),
        *("top.location.href='\\/x'", "setTimeout(\"location.href='/x'\", 100)", "self.location = 'x'"),
    ],
)
def test_a_literal_location_is_followed(tmp_path: Path, script: str) -> None:
    table = MemoryTable()
    html = f"<html><head><title>Redirecting</title><script>{script}</script></head><body></body></html>"
    with Site({"/": Answer(200, html.encode()), "/x": story(1)}) as site:
        run(table, settings(site.url()), tmp_path)
    assert table.reasons()["/x"] == Reason.FETCHED


@pytest.mark.parametrize(
    "script", ["location.href = '/x' + id", "var a = '/x'", "if (location == '/x') go()", "x.location2 = '/x'"]
)
def test_other_scripts_are_not_followed(script: str) -> None:
    html = f"<script>{script}</script><p>Redirecting</p>".encode()
    assert parse_page(Page(1, "http://a.test/", "http://a.test/", 200, "text/html", html, "d", 0.0)).links == ()
