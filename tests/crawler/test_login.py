"""Logins of sites on real servers: sign in, renew ended sessions, stop after refusals, and tell nobody the secret."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from benchmarks.members_site import FORM_MARK, SECRET, SIGNED_IN_TEXT, USER, MembersSite, ntlm_accounts
from crawler.crawl import crawl
from crawler.crawl_plan import build_crawl_plan
from crawler.http import login_session
from crawler.http.fetch import Fetcher, FetchError
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.login import try_login
from crawler.http.login_secrets import save_secret
from crawler.http.login_state import STATE_FILE, clear_login_failure, login_failures
from crawler.http.render import _ResourceLoader
from crawler.schedule.throttle import HostThrottle
from crawler.settings import CrawlSettings
from crawler.state_files import read_state
from domain.errors import PlumblineError
from domain.login import Login, LoginKind
from domain.outcome import Reason, StageReport
from tests.crawler_fakes import MemoryTable, settings
from tests.web_fixture import PATIENCE, Answer, Request, Site, page

KINDS = list(LoginKind)
REPEATED = {"revisit_shortest": 0.0, "revisit_longest": 1e-9}  # every page is due again in the next run


@pytest.fixture(autouse=True)
def _accounts() -> Iterator[None]:
    with ntlm_accounts():
        yield


def form(action: str) -> str:
    return (
        f"<form action='{action}' method='post'><input name='account'><input type='password' name='pass'></form>"
        f"<h1>{FORM_MARK}</h1>"
    )


def members_settings(site: MembersSite | Site, folder: Path, secret: str = "", **values: Any) -> CrawlSettings:
    is_member_site = isinstance(site, MembersSite)
    table = site.table(**values) if is_member_site else {"urls": [site.url()], **values}
    save_secret(folder, site.host, secret or (site.secret if is_member_site else SECRET))
    tables = [{"host": site.host, **table}]
    return settings(tables=tables, folder=folder, data_dir=folder, inside_hosts=("127.0.0.1",), **REPEATED)


def run(table: MemoryTable, made: CrawlSettings) -> StageReport:
    assert made.data_dir is not None
    with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
        return crawl(table, fetcher, made, made.data_dir / "seen")


def stored(table: MemoryTable) -> str:
    return "\n".join(f"{p.url}\n{p.headers}\n{p.body.decode()}" for p in table.pages.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_site_is_crawled_completely_although_its_sessions_end_twice(tmp_path: Path, kind: LoginKind) -> None:
    table = MemoryTable()
    with MembersSite(kind, end_after=(3, 8)) as site:
        run(table, members_settings(site, tmp_path))
        assert {page.url for page in table.pages.values()} == {site.url(path) for path in site.article_paths}
        assert (site.ended, site.lockouts, site.paths["/user/logout"], site.paths["/leave"]) == (2, 0, 0, 0)
        if kind in (LoginKind.FORM, LoginKind.CLIENT_CREDENTIALS):
            assert site.sign_ins == 3  # one thread signs in, the others wait
    assert FORM_MARK not in stored(table)
    assert "set-cookie" not in stored(table).lower()
    assert site.secret not in stored(table) and site.secret not in (tmp_path / "seen").read_bytes().decode("latin-1")
    assert not login_failures(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_secret_is_sent_at_most_three_times_until_it_is_changed(tmp_path: Path, kind: LoginKind) -> None:
    table = MemoryTable()
    with MembersSite(kind) as site:
        made = members_settings(
            site, tmp_path, "wrong horse", urls=[site.url(path) for path in ("/", "/a/1", "/a/2", "/a/3", "/a/4")]
        )
        with pytest.raises(PlumblineError, match="could be fetched"):
            run(table, made)
        assert 1 <= site.failed <= 3 and site.lockouts == 0 and not table.pages
        assert {visit.outcome.reason for visit in table.visits} == {Reason.NEEDS_LOGIN}
        assert list(login_failures(tmp_path)) == [site.host]
        assert "horse" not in (tmp_path / STATE_FILE).read_text()
        failed, asked = site.failed, sum(site.paths.values())
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            assert fetcher.logins.paused_hosts() == [site.host]
            with pytest.raises(FetchError):
                fetcher.get(site.url("/a/1"), {}, lambda *_: True)
        assert (site.failed, sum(site.paths.values())) == (failed, asked)
        run(table, members_settings(site, tmp_path))
        assert len(table.pages) == len(site.article_paths)
    assert not login_failures(tmp_path)


def test_without_a_secret_no_request_is_sent(tmp_path: Path) -> None:
    table = MemoryTable()
    with MembersSite(LoginKind.FORM) as site:
        made = members_settings(site, tmp_path)
        save_secret(tmp_path, site.host, "")
        with pytest.raises(PlumblineError, match="could be fetched"):
            run(table, made)
        assert not +site.paths - Counter({"/robots.txt": 1})
    assert [visit.outcome.reason for visit in table.visits] == [Reason.NEEDS_LOGIN]


def test_a_session_has_a_budget_of_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_session, "_MAX_REQUESTS_PER_SESSION", 5)
    table = MemoryTable()
    with MembersSite(LoginKind.FORM) as site:
        run(table, members_settings(site, tmp_path))
        assert len(table.pages) == len(site.article_paths)
        assert site.sign_ins >= len(site.article_paths) // 5


@pytest.mark.parametrize(
    ("urls", "login_url", "url", "is_sent"),
    [
        (("https://a.test/",), "", "https://a.test/x", True),
        (("https://a.test/",), "", "http://a.test/x", False),
        ((), "", "http://a.test/x", False),
        ((), "https://sso.test/in", "http://a.test/x", False),
        (("http://a.test/",), "https://sso.test/in", "http://a.test/x", True),
        (("https://a.test/",), "", "https://b.test/x", False),
        (("https://a.test/",), "", "https://www.a.test/x", True),
        (("https://a.test/",), "", "https://a.test/robots.txt", False),
    ],
)
def test_which_urls_are_requested_with_the_login(
    tmp_path: Path, urls: tuple[str, ...], login_url: str, url: str, is_sent: bool
) -> None:
    table = {"host": "a.test", "urls": list(urls), "login": "form" if login_url else "basic", "login_url": login_url}
    with closing(Fetcher(settings(tables=[table], folder=tmp_path), PublicOnlyPolicy())) as fetcher:
        assert (fetcher.logins.find(url) is not None) is is_sent


def test_an_outage_of_the_login_page_pauses_no_later_run(tmp_path: Path) -> None:
    with Site({"/in": Answer(500, b"down"), "/": page(text="member")}) as site:
        made = members_settings(site, tmp_path, login="form", login_url=site.url("/in"))
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            for _ in range(5):
                with pytest.raises(FetchError):
                    fetcher.get(site.url(), {}, lambda *_: True)
        assert site.asked() == ["/in"] * 3 and list(login_failures(tmp_path)) == [site.host]
        site.pages["/in"] = Answer(body=form(site.url("/check")).encode())
        site.pages["/check"] = page(text="welcome")
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            assert not fetcher.logins.paused_hosts()
            assert fetcher.get(site.url(), {}, lambda *_: True).status == 200
    assert not login_failures(tmp_path)


def test_a_process_that_runs_already_respects_a_pause(tmp_path: Path) -> None:
    with MembersSite(LoginKind.FORM) as site:
        made = members_settings(site, tmp_path, "wrong")
        policy = PublicOnlyPolicy(made.inside_hosts)
        with closing(Fetcher(made, policy)) as server, closing(Fetcher(made, policy)) as crawler:
            assert server.logins.find(site.url()) is not None
            for fetcher in (crawler, crawler, crawler, server):
                with pytest.raises(FetchError):
                    fetcher.get(site.url(), {}, lambda *_: True)
        assert site.failed == 3


def test_a_failure_can_be_cleared(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).write_text(json.dumps({"a.example": {"problem": "no", "login": "x"}}))
    assert login_failures(tmp_path) == {"a.example": "no"}
    clear_login_failure(tmp_path, "a.example")
    assert not login_failures(tmp_path)


def test_a_url_after_which_sessions_ended_twice_is_not_requested_again(tmp_path: Path) -> None:
    table = MemoryTable()
    with MembersSite(LoginKind.FORM) as site:
        made = members_settings(site, tmp_path)
        site.hidden["/a/extra"] = f"<title>x</title><p>{'Extra text of a member. ' * 40}<a href='/quiet-exit'>Go</a>"
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            for _ in range(4):
                for path in ("/quiet-exit", "/a/1"):
                    try:
                        response = fetcher.get(site.url(path), {}, lambda *_: True)
                    except FetchError as error:
                        assert (path, error.outcome.reason) == ("/quiet-exit", Reason.NEEDS_LOGIN)
                    else:
                        assert FORM_MARK not in response.body.decode()
        assert site.paths["/quiet-exit"] == 2
        for paths in (["/quiet-exit", "/a/1"], ["/quiet-exit"]):  # the next run requests it once more
            with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
                for path in paths:
                    fetcher.get(site.url(path), {}, lambda *_: True)
            clear_login_failure(tmp_path, site.host)
        assert site.paths["/quiet-exit"] == 4
    assert not table.visits


def test_credentials_go_to_no_other_host(tmp_path: Path) -> None:
    heard: list[Request] = []

    def hear(request: Request) -> Answer:
        heard.append(request)
        return page(text="elsewhere")

    with Site({"/": hear, "/x": hear}) as other, Site({}) as site:
        elsewhere = other.url("/x").replace("127.0.0.1", "localhost")
        site.pages["/login"] = Answer(body=form(elsewhere).encode())
        site.pages["/"] = Answer(302, headers={"Location": elsewhere})
        for kind in (LoginKind.FORM, LoginKind.BASIC):
            made = members_settings(
                site,
                tmp_path,
                login=kind.value,
                login_user=USER,
                login_url=site.url("/login"),
            )
            with closing(Fetcher(made, PublicOnlyPolicy(("127.0.0.1", "localhost")))) as fetcher:
                for url in (site.url(), other.url("/x"), elsewhere):
                    try:
                        fetcher.get(url, {}, lambda *_: True)
                    except FetchError as error:
                        assert "would send the password" in str(error.outcome.detail)
    assert [request.path for request in heard] == ["/x"] * 4
    assert not any("Authorization" in request.headers or request.method == "POST" for request in heard)


def test_the_cookies_of_a_login_go_to_no_other_site(tmp_path: Path) -> None:
    with MembersSite(LoginKind.FORM) as site, Site({"/": page(text="the same host for cookies")}) as other:
        made = members_settings(site, tmp_path)
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            assert fetcher.get(site.url(), {}, lambda *_: True).status == 200
            assert fetcher.has_cookies(site.url()) and not fetcher.has_cookies(other.url())
            fetcher.get(other.url(), {}, lambda *_: True)
        assert "Cookie" not in other.requests[0].headers


def test_a_rendered_page_reads_nothing_behind_the_login_of_another_site(tmp_path: Path) -> None:
    with MembersSite(LoginKind.BASIC) as site:
        made = replace(members_settings(site, tmp_path, render=True), rendered=site.host)
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            loader = _ResourceLoader(fetcher, HostThrottle(made), build_crawl_plan(made), lambda: 0.0)
            assert loader.load(site.url("/a/1"), site.url(), should_cache=True) is not None
            assert loader.load(site.url("/a/1"), "http://elsewhere.test/", should_cache=True) is None


def test_a_thread_does_not_wait_for_ever_for_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_session, "_MAX_TURN_SECONDS", 0.01)
    with MembersSite(LoginKind.FORM) as site:
        made = members_settings(site, tmp_path)
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            session = fetcher.logins.find(site.url())
            assert session is not None
            with session._turn:  # of a thread that waits for memory
                assert fetcher.get(site.url(), {}, lambda *_: True).status == 200


def test_a_login_reaches_no_inside_address(tmp_path: Path) -> None:
    with MembersSite(LoginKind.FORM) as site:
        made = members_settings(site, tmp_path)
        with closing(Fetcher(made, PublicOnlyPolicy(()))) as fetcher, pytest.raises(FetchError):
            fetcher.get(site.url(), {}, lambda *_: True)
        trial = try_login(
            site.host, Login(LoginKind.FORM, USER, site.url("/login")), SECRET, made, PublicOnlyPolicy(())
        )
        assert trial.problem is not None
        assert not site.paths


def login_of(site: MembersSite, **values: Any) -> Login:
    url = str(site.table().get("login_url", ""))
    return Login(site.kind, site.user, url, **values)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_signs_in_once_and_shows_the_page(tmp_path: Path, kind: LoginKind) -> None:
    with MembersSite(kind) as site:
        made = settings(tables=[{"host": site.host, "urls": [site.url()]}], inside_hosts=("127.0.0.1",))
        policy = PublicOnlyPolicy(made.inside_hosts)
        trial = try_login(
            site.host, login_of(site, signed_in_text=SIGNED_IN_TEXT), site.secret, made, policy, site.url("/a/3")
        )
        assert trial.problem is None
        assert trial.login.fields == (("account={user}", "pass={password}") if kind is LoginKind.FORM else ())
        assert trial.steps[-1].status == 200 and trial.steps[-1].url == site.url("/a/3")
        assert any("内部新闻 /a/3" in line for line in trial.page_lines)
        refused = try_login(site.host, login_of(site), "wrong", made, policy, site.url("/a/3"))
        assert refused.problem is not None and site.failed == 1
        missing = try_login(
            site.host, login_of(site, signed_in_text="no such text"), site.secret, made, policy, site.url("/a/3")
        )
        assert missing.problem is not None and "no such text" in missing.problem


@pytest.mark.parametrize(
    ("login", "page_url"),
    [
        (Login(LoginKind.FORM, "u", "javascript:x"), ""),
        (Login(LoginKind.FORM, "u", ""), ""),
        (Login(LoginKind.FORM, "u", "http://[::/in"), "https://a.test/"),
        (Login(LoginKind.BASIC, "u"), "nonsense"),
        (Login(LoginKind.BASIC, "u"), "https://b.test/"),
        (Login(LoginKind.BASIC, "u", fields=("novalue",)), "https://a.test/"),
        (Login(LoginKind.BASIC, "u"), ""),
    ],
)
def test_a_trial_of_nonsense_is_one_message(login: Login, page_url: str) -> None:
    trial = try_login("a.test", login, SECRET, settings(), PublicOnlyPolicy(), page_url)
    assert trial.problem is not None and not trial.steps


def test_a_page_without_a_login_proves_nothing() -> None:
    with Site({"/": page(text="public")}) as site:
        made = settings(tables=[{"host": site.host, "urls": [site.url()]}], inside_hosts=("127.0.0.1",))
        trial = try_login(site.host, Login(LoginKind.BASIC, USER), SECRET, made, PublicOnlyPolicy(made.inside_hosts))
        assert trial.problem is not None and "without a login" in trial.problem
        assert "Authorization" not in site.requests[0].headers


@pytest.mark.parametrize("signed_in_text", [SIGNED_IN_TEXT, ""])
def test_a_page_that_no_account_may_see_does_not_stop_the_crawl(tmp_path: Path, signed_in_text: str) -> None:
    """A page that always asks for a login is left out.

    No failure is counted for it if the sign-in led to a page with the text of signed-in users, or with a logout link.
    """
    table = MemoryTable()
    with MembersSite(LoginKind.FORM) as site:
        for n in range(4):
            site.hidden[f"/board/{n}"] = form("/session")
        urls = [site.url(), *(site.url(f"/board/{n}") for n in range(4))]
        run(table, members_settings(site, tmp_path, urls=urls, login_signed_in_text=signed_in_text))
        assert len(table.pages) == len(site.article_paths)
        assert table.reasons()["/board/0"] == Reason.NEEDS_LOGIN
        assert site.sign_ins <= 6
    assert FORM_MARK not in stored(table)


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium")
def test_a_form_that_needs_scripts_is_sent_by_a_browser(tmp_path: Path) -> None:
    table = MemoryTable()
    with MembersSite(LoginKind.FORM, pages=2, end_after=(2,), scripted=True) as site:
        made = members_settings(site, tmp_path, render=True, login_signed_in_text=SIGNED_IN_TEXT)
        run(table, made)
        assert {page.url for page in table.pages.values()} == {site.url(path) for path in site.article_paths}
        assert (site.ended, site.lockouts, site.paths["/session"]) == (1, 0, 0)
        trial = try_login(
            site.host, login_of(site), "wrong", made, PublicOnlyPolicy(made.inside_hosts), site.url("/a/1")
        )
        assert trial.problem is not None and "refuses" in trial.problem
    assert FORM_MARK not in stored(table)


WRITER = """
import sys
from pathlib import Path
from crawler.http.login_state import LoginState
folder, name = Path(sys.argv[1]), sys.argv[2]
print(flush=True)
sys.stdin.readline()
for number in range(20):
    LoginState(folder, f"{name}{number}.test").record_next("http://a.test/", True)
"""


@pytest.mark.process
def test_two_processes_lose_no_state(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, name], stdin=PIPE, stdout=PIPE, text=True) for name in ("a", "b")]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "\n"  # it is ready
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert [writer.wait(PATIENCE) for writer in writers] == [0, 0]
    assert len(read_state(tmp_path / STATE_FILE)) == 40
