"""The setup of a vertical in an empty folder: checks of sites, sample pages, and what is written at the end."""

import socket
import threading
import time
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.settings import CrawlSettings
from crawler.sitemaps.sitemap import SitemapEntry
from docstore.store import Store
from domain.account import Role
from domain.errors import PlumblineError
from domain.page import Link
from extractor.settings import ExtractSettings
from pipeline.settings import Settings, build_settings
from pipeline.site_admin import setup_backend, setup_server
from pipeline.site_admin.sample_pages import load_sample_pages, spread_kinds
from pipeline.site_admin.setup_backend import FolderSetup, render_settings
from pipeline.site_admin.setup_state import load_state, save_state
from pipeline.site_admin.site_check import check_site, choose_sample_urls, with_forecast
from search_ui.setup.interfaces import CheckState, RobotsState, SamplePage, SetupState, SiteCheck
from tests.plumb_call import call_plumb
from tests.web_fixture import PATIENCE, Answer, Answers, Site, page

ARTICLE = "".join(f"<p>第{n}段，钻井平台在这一天完成了新的试验，记者从现场看到了全部过程。</p>" for n in range(9))
HOME = page("/1.html", "/2.html", text='<link rel="alternate" type="application/rss+xml" href="/feed.xml">')


def article(title: str) -> Answer:
    body = f"<!doctype html><title>{title}</title><body><h1>{title}</h1><div>{ARTICLE}</div></body>"
    return Answer(body=body.encode())


def check(pages: Answers, path: str = "/", **settings: object) -> SiteCheck:
    with Site(pages) as site:
        crawl = CrawlSettings(inside_hosts=(site.host,), delay=0.0, **settings)  # type: ignore[arg-type]
        steps: list[str] = []
        result = check_site(
            site.url(path), crawl, ExtractSettings(), lambda check: steps.append(check.step), lambda _: None
        )
    assert result.state is CheckState.DONE and result.step == ""
    return result


# -- checks


def test_a_check_finds_robots_sitemap_feed_and_pages() -> None:
    sitemap = "".join(f"<url><loc>/{n}.html</loc></url>" for n in range(5))
    pages: Mapping[str, Answer | str] = {
        "/": HOME,
        "/robots.txt": Answer(body=b"User-agent: *\nCrawl-delay: 3\nDisallow: /private\n"),
        "/sitemap.xml": Answer(body=f"<urlset>{sitemap}</urlset>".encode(), headers={"Content-Type": "text/xml"}),
    }
    result = check(pages)
    assert result.is_usable and result.robots is RobotsState.ALLOWED and result.crawl_delay == 3.0
    assert result.sitemap_count == 1 and result.feed_count == 1 and result.charset == "utf-8"
    assert result.page_count == 6  # the start page and five others
    assert result.minutes_per_run >= 6 * 3 / 60


@pytest.mark.parametrize(
    ("pages", "problem"),
    [
        ({"/": HOME, "/robots.txt": Answer(body=b"User-agent: *\nDisallow: /\n")}, "robots_forbidden"),
        ({"/": HOME, "/robots.txt": Answer(500)}, "robots_unavailable"),
        ({"/": Answer(404)}, "gone"),
        ({"/": Answer(401)}, "http_error"),
        ({"/": Answer(302, headers={"Location": "/"})}, "too_many_redirects"),
    ],
)
def test_a_check_names_the_reason_why_a_site_cannot_be_crawled(pages: Answers, problem: str) -> None:
    result = check(pages)
    assert result.problem == problem and not result.is_usable
    assert result.needs_login is (problem == "http_error")


def test_a_check_does_not_reach_private_addresses_that_are_not_allowed() -> None:
    with Site({"/": HOME}) as site:
        result = check_site(site.url(), CrawlSettings(), ExtractSettings(), lambda _: None, lambda _: None)
        assert result.problem == "inside_address" and site.requests == []


def test_a_check_recognizes_scripts_and_sign_in_forms() -> None:
    app_page = b"<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>"
    assert check({"/": Answer(body=app_page)}).needs_scripts
    assert check({"/": Answer(body=b"<form><input name=u><input type='password'></form>")}).needs_login
    assert not check({"/": HOME}).needs_scripts and not check({"/": HOME}).needs_login


def test_a_forecast_is_limited_by_the_length_of_a_run() -> None:
    settings = CrawlSettings(delay=1.0, minutes=10.0)
    forecast = with_forecast(SiteCheck("", start_url="http://a.test/", page_count=3000), 0.5, settings)
    assert forecast.minutes_per_run == 10.0 and forecast.run_count > 1
    assert with_forecast(replace(forecast, page_count=10), 0.5, settings).run_count == 1


def test_samples_are_feed_entries_then_headlines_then_the_newest_of_the_sitemap() -> None:
    links = [Link("http://a.test/", "a home page with a long name"), Link("http://a.test/l", "list")]
    links += [Link("http://a.test/h", "a long headline of an article")]
    entries = [SitemapEntry("http://a.test/old", 1.0), SitemapEntry("http://a.test/new", 2.0)]
    chosen = choose_sample_urls("http://a.test/", [SitemapEntry("http://a.test/f")], entries, links)
    assert chosen == ("http://a.test/f", "http://a.test/h", "http://a.test/new", "http://a.test/old")


def test_samples_are_of_each_section_and_file_type() -> None:
    urls = [f"http://a.test/{path}" for path in ("news/1", "news/2", "news/3", "en/1", "news/4.pdf", "5")]
    assert [urls.index(url) for url in spread_kinds(urls)] == [0, 3, 4, 5, 1, 2]


def test_sample_pages_are_articles_before_other_pages() -> None:
    pages: Answers = {
        "/list": Answer(body=b"<title>list</title><p></p>"),
        "/1": article("新平台完成试验"),
        "/gone": Answer(404),
    }
    with Site(pages) as site:
        crawl = CrawlSettings(inside_hosts=(site.host,), delay=0.0)
        checked = SiteCheck(site.url(), sample_urls=tuple(map(site.url, ("/list", "/gone", "/1"))))
        first, second = load_sample_pages([checked], crawl, ExtractSettings())
    assert first.title == "新平台完成试验" and "钻井平台" in first.body and "<h1>" in first.html
    assert second.url == site.url("/list") and second.problem


def test_init_writes_a_short_file_for_a_site_that_it_has_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sitemap = "".join(f"<url><loc>/{n}.html</loc></url>" for n in range(5))
    pages: Answers = {"/": HOME, "/sitemap.xml": Answer(body=f"<urlset>{sitemap}</urlset>".encode())}
    with Site(pages) as site:
        inside = ("-s", f"crawl.inside_hosts={site.host}", "-s", "crawl.delay=0.01")
        done = call_plumb(*inside, "init", site.url(), "--contact", "me@crawler.test")
        again = call_plumb(*inside, "init", site.url(), "--contact", "me@crawler.test")
        gone = call_plumb("-c", "other.toml", *inside, "init", site.url("/gone"), "--contact", "me@crawler.test")
    assert done.out.splitlines() == [
        f"{site.url()}: No robots.txt: every page may be crawled. 1 sitemap. 1 feed. At least 6 pages. "
        "About 1 minute per night. The first crawl takes about 1 night.",
        "created vertical.toml: run `plumb up` to crawl and search",
    ], done
    text = Path("vertical.toml").read_text()
    settings = build_settings(tomllib.loads(text), tmp_path)
    assert settings.crawl.sites.seeds == (site.url(),) and settings.crawl.contact == "me@crawler.test"
    assert len(text.splitlines()) <= 18
    assert "vertical.toml already exists and was not changed" in again.complaint and again.status == 1
    assert f"{site.url('/gone')} cannot be crawled: " in gone.complaint and not Path("other.toml").exists()
    for option, problem in ((), "is empty"), (("--contact", "me@example.org"), "me@example.org is an example"):
        said = call_plumb("-c", "other.toml", "init", "https://site.test/", *option)
        assert f"crawl.contact {problem}: write your own" in said.complaint and "can reach you" in said.complaint
        assert ("--contact" in said.complaint) is not bool(option)


# -- state


def test_a_state_survives_a_restart_and_unfinished_work_starts_again(tmp_path: Path) -> None:
    done, active = SiteCheck("http://a.test/", CheckState.DONE, sample_urls=("http://a.test/1",)), SiteCheck("b")
    state = SetupState(
        "anna", "hash", (done, replace(active, state=CheckState.ACTIVE)), (SamplePage("u"),), CheckState.ACTIVE
    )
    path = tmp_path / "setup.json"
    save_state(path, state, "digest")
    assert path.stat().st_mode & 0o077 == 0
    loaded, digest = load_state(path)
    assert digest == "digest" and loaded.account_name == "anna"
    assert loaded.sites == (done, active) and loaded.samples == () and loaded.samples_state is CheckState.PENDING
    for text in ("", "{}", '{"state": {"sites": 1}, "cookie_digest": ""}'):
        path.write_text(text)
        assert load_state(path) == (SetupState(), "")


# -- the end


def complete_setup(folder: Path, site: Site) -> FolderSetup:
    """Return a setup of this site with all forms sent."""
    crawl = CrawlSettings(inside_hosts=(site.host,), delay=0.0)
    setup = FolderSetup(replace(Settings(folder), crawl=crawl), folder / "vertical.toml")
    setup.save_account("anna", "hash")
    assert setup.check_sites(["no url at all"]) == ["no url at all"]
    assert setup.check_sites([site.host]) == []
    deadline = time.monotonic() + PATIENCE
    while setup.state().is_checking:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert setup.contact_problem("") == "" and setup.contact_problem("me@example.org") == "example"
    setup.save_details("名称", "", "03:30", "08:00", "18:30")
    return setup


def test_the_port_stays_open_until_the_search_site_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def finish_at_once(*arguments: object) -> object:
        finished = arguments[-1]
        assert isinstance(finished, threading.Event)
        finished.set()
        return object()

    monkeypatch.setattr(setup_server, "create_setup_app", finish_at_once)
    monkeypatch.setattr(setup_server, "configure_logging", lambda path: None)
    settings = build_settings({"search": {"host": "127.0.0.2", "port": 0}}, tmp_path)
    with setup_server.run_setup(settings, tmp_path / "vertical.toml", lambda line: None) as listening_socket:
        socket.create_connection(listening_socket.getsockname(), PATIENCE).close()
        assert listening_socket.getsockname()[0] == "127.0.0.2"


def test_the_end_writes_a_short_file_and_creates_an_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Path] = []
    monkeypatch.setattr(setup_backend, "start_run", lambda source, data_dir: started.append(source.file))
    with Site({"/": HOME}) as site:
        setup = complete_setup(tmp_path, site)
        result = setup.finish()
    config_file = tmp_path / "vertical.toml"
    text = config_file.read_text()
    settings = build_settings(tomllib.loads(text), tmp_path)
    assert settings.crawl.sites.seeds == (site.url(),) and settings.vertical.name == settings.search.title == "名称"
    assert (settings.crawl.quiet_hours, settings.schedule.at) == ("08:00-18:30", "03:30")
    assert len(text.splitlines()) < 25
    assert (result.account.name, result.account.roles, result.site_url) == ("anna", {Role.OPERATOR}, "")
    assert started == [config_file] and not (settings.data_dir / "setup.json").exists()


def test_the_end_can_be_repeated_and_never_overwrites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing_start(config_file: Path, data_dir: Path) -> None:
        raise PlumblineError("no process")

    monkeypatch.setattr(setup_backend, "start_run", failing_start)
    with Site({"/": HOME}) as site:
        setup = complete_setup(tmp_path, site)
    for _ in range(2):
        with pytest.raises(PlumblineError, match="no process"):
            setup.finish()
    (tmp_path / "vertical.toml").write_text("# mine\n")
    with pytest.raises(PlumblineError, match="already exists and was not changed"):
        setup.finish()
    assert (tmp_path / "vertical.toml").read_text() == "# mine\n"
    with Store(f"sqlite:///{tmp_path / 'data' / 'store.db'}", tmp_path / "data" / "warc") as store:
        assert [account.name for account in store.accounts.list_accounts()] == ["anna"]
        assert store.operations.find() == []


def test_the_start_urls_of_a_host_are_one_site() -> None:
    urls = ["https://a.test/x/", "http://b.test/", "https://A.test/y/"]
    settings = build_settings(tomllib.loads(render_settings(SetupState(), urls, [], False, "2026-11-28")), Path())
    assert [site.urls for site in settings.crawl.sites.records] == [
        ("https://a.test/x/", "https://a.test/y/"),
        ("http://b.test/",),
    ]


def test_the_file_contains_only_what_was_entered() -> None:
    site = SiteCheck("http://a.test/", CheckState.DONE, needs_scripts=True)
    state = SetupState(title='A "quoted" name', sites=(site,))
    values = tomllib.loads(render_settings(state, ["http://a.test/"], [], True, "2026-11-28"))
    assert values == {
        "vertical": {"name": 'A "quoted" name'},
        "crawl": {"rendered": "auto"},
        "sites": [{"urls": ["http://a.test/"]}],
        "schedule": {"at": "02:30"},
    }
