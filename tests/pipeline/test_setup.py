"""The setup of a vertical in an empty folder: checks of sites, sample pages, and what is written at the end."""

import re
import shlex
import socket
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from crawler.settings import CrawlSettings
from crawler.sitemaps.sitemap import SitemapEntry
from docstore.store import Store
from domain.account import Role
from domain.errors import PlumblineError
from domain.page import Link
from domain.site_check import CheckState, SiteCheck
from extractor.settings import ExtractSettings
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import Settings, build_settings, load_settings
from pipeline.site_admin import setup_backend, setup_server
from pipeline.site_admin.sample_pages import load_sample_pages, spread_kinds
from pipeline.site_admin.setup_backend import FolderSetup, render_settings
from pipeline.site_admin.setup_state import load_state, save_state
from pipeline.site_admin.site_check import check_site, choose_sample_urls, with_forecast
from pipeline.site_admin.sites import StoreSites
from search_ui.i18n import translate_message_to
from search_ui.setup.interfaces import SamplePage, SetupState
from tests.crash_harness import until
from tests.plumb_call import call_plumb
from tests.settings_text import toml_of
from tests.site_fixture import MemorySite, sign_in, site_app
from tests.web_fixture import PATIENCE, Answer, Answers, Site, page

ARTICLE = "".join(f"<p>第{n}段，钻井平台在这一天完成了新的试验，记者从现场看到了全部过程。</p>" for n in range(9))
HOME = page("/1.html", "/2.html", text='<link rel="alternate" type="application/rss+xml" href="/feed.xml">')


def article(title: str) -> Answer:
    body = f"<!doctype html><title>{title}</title><body><h1>{title}</h1><div>{ARTICLE}</div></body>"
    return Answer(body=body.encode())


def check(pages: Answers, path: str = "/", **settings: object) -> SiteCheck:
    with Site(pages) as site:
        crawl = CrawlSettings(inside_hosts=(site.host,), delay=0.0, **settings)  # type: ignore[arg-type]
        result = check_site(site.url(path), replace(Settings(Path()), crawl=crawl), sleep=lambda _: None)
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
    assert result.is_usable and result.has_robots and result.crawl_delay == 3.0
    assert result.sitemap_count == 1 and result.feed_count == 1 and result.charset == "utf-8"
    assert result.page_count == 6  # the start page and five others
    assert result.minutes_per_run >= 6 * 3 / 60


@pytest.mark.parametrize(
    ("pages", "problem"),
    [
        ({"/": HOME, "/robots.txt": Answer(body=b"User-agent: *\nDisallow: /\n")}, "robots_forbidden"),
        ({"/": HOME, "/robots.txt": Answer(500)}, "robots_unavailable"),
        ({"/": Answer(404)}, "gone"),
        ({"/": Answer(401)}, "needs_login"),
        ({"/": Answer(302, headers={"Location": "/"})}, "too_many_redirects"),
    ],
)
def test_a_check_names_the_reason_why_a_site_cannot_be_crawled(pages: Answers, problem: str) -> None:
    result = check(pages)
    assert result.problem == problem and not result.is_usable
    assert result.needs_login is (problem == "needs_login")


def test_a_check_does_not_reach_private_addresses_that_are_not_allowed() -> None:
    with Site({"/": HOME}) as site:
        result = check_site(site.url(), Settings(Path()), sleep=lambda _: None)
        assert result.problem == "inside_address" and site.requests == []


def test_a_check_recognizes_scripts_and_sign_in_forms() -> None:
    app_page = b"<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>"
    assert check({"/": Answer(body=app_page)}).needs_scripts
    assert check({"/": Answer(body=b"<form><input name=u><input type='password'></form>")}).needs_login
    assert not check({"/": HOME}).needs_scripts and not check({"/": HOME}).needs_login
    box = b"<header><form><input type=password></form></header>"
    assert not check({"/": Answer(body=HOME.body.replace(b"<body>", b"<body>" + box))}).needs_login


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
        f"{site.url()}: No robots.txt: every page may be crawled. 1 sitemap. 1 feed. Encoding: utf-8. At least 6 "
        "pages. About 1 minute per night.",
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
    until(lambda: not setup.state().is_checking)
    assert setup.details_problem("", "03:30", "08:00-18:30") == ""
    assert setup.details_problem("me@example.org", "03:30", "") == "contact_example"
    assert setup.details_problem("", "03:30", "01:00-06:00") == "quiet_start"
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


def test_threads_that_outlast_their_purpose_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that ends after the setup, and samples of sites that were changed meanwhile."""
    goes_on, ended = threading.Event(), threading.Event()

    def check_late(url: str, *_: object) -> SiteCheck:
        goes_on.wait(PATIENCE)
        return SiteCheck(url, CheckState.DONE, start_url=url, page_count=9)

    def load_late(*_: object) -> Iterator[SamplePage]:
        yield SamplePage("http://old.test/1")
        goes_on.wait(PATIENCE)
        yield SamplePage("http://old.test/2")
        ended.set()

    monkeypatch.setattr(setup_backend, "start_run", lambda source, data_dir: None)
    monkeypatch.setattr(setup_backend, "load_sample_pages", load_late)
    with Site({"/": HOME}) as site:
        setup = complete_setup(tmp_path, site)
        setup.load_samples()
        until(lambda: setup.state().samples)
        monkeypatch.setattr(setup_backend, "check_site", check_late)
        setup.check_sites([site.host, "http://slow.test/"])
        assert setup.state().samples == () and setup.state().samples_state is CheckState.PENDING
        setup.finish()
        state_file = tmp_path / "data" / "setup.json"
        assert not state_file.exists()
        goes_on.set()
        until(lambda: ended.is_set() and not setup.state().is_checking)
    assert setup.state().samples == () and setup.state().samples_state is CheckState.PENDING
    assert not state_file.exists()


def test_the_start_urls_of_a_host_are_one_site() -> None:
    urls = ["https://a.test/x/", "http://b.test/", "https://A.test/y/"]
    settings = build_settings(tomllib.loads(render_settings(SetupState(), urls, [], False, "2026-11-28")), Path())
    assert [site.urls for site in settings.crawl.sites.records] == [
        ("https://a.test/x/", "https://a.test/y/"),
        ("http://b.test/",),
    ]


def test_the_file_contains_only_what_was_entered() -> None:
    site = SiteCheck("http://a.test/", CheckState.DONE, needs_scripts=True, can_render=True)
    state = SetupState(title='A "quoted" name', sites=(site,))
    values = tomllib.loads(render_settings(state, ["http://a.test/"], [], True, "2026-11-28"))
    assert values == {
        "vertical": {"name": 'A "quoted" name'},
        "crawl": {"rendered": "auto"},
        "sites": [{"urls": ["http://a.test/"]}],
        "schedule": {"at": "02:30"},
    }


# -- ten faulty sites at every door

APP = b"<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>"
LOGIN = b"<!doctype html><form><input name=u><input type='password'></form>"
FAULTY_SITES: tuple[tuple[Answers, str], ...] = (
    ({"/": Answer(500)}, "500"),
    ({"/": Answer(401)}, "needs a login"),
    ({"/": HOME, "/robots.txt": Answer(body=b"User-agent: *\nDisallow: /\n")}, "Ask the site for permission"),
    ({"/": HOME, "/robots.txt": Answer(503)}, "robots.txt"),
    ({"/": Answer(302, headers={"Location": "/login"}), "/login": Answer(body=LOGIN)}, "needs a login"),
    ({"/": Answer(body=b"<title>x</title><h1>Site under maintenance</h1>")}, "maintenance"),
    ({"/": Answer(body=APP)}, "empty without JavaScript"),
    ({"/": Answer(302, headers={"Location": "/"})}, "redirects"),
    ({"/": page(text=ARTICLE)}, "has no links"),
    ({"/": Answer(body=b"\x89PNG\r\n", headers={"Content-Type": "image/png"})}, "Open the URL in a browser"),
)


def test_every_door_says_the_same_about_ten_faulty_sites_and_opens_only_nevertheless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.settings.is_renderer_installed", lambda: False)
    config, new, file = (tmp_path / name for name in ("vertical.toml", "new.toml", "urls.txt"))
    with ExitStack() as running:
        good = running.enter_context(Site({"/": HOME}))
        sites = [running.enter_context(Site(pages)) for pages, _ in FAULTY_SITES]
        urls = [site.url() for site in sites]
        file.write_text("\n".join(urls))
        crawl = {"inside_hosts": ["127.0.0.1"], "delay": 0.01}
        config.write_text(toml_of({"crawl": {**crawl, "seeds": [good.url()]}}))
        setup = FolderSetup(build_settings({"crawl": crawl}, tmp_path / "new"), new)
        setup.check_sites([*urls, good.url()])
        until(lambda: not setup.state().is_checking)
        *checks, good_check = setup.state().sites
        assert setup.state().usable_sites == (good_check,)
        problems = [[translate_message_to("en", problem) for problem in check.problems] for check in checks]
        for (_, words), sentences in zip(FAULTY_SITES, problems, strict=True):
            assert words in " ".join(sentences), sentences

        client = site_app(site=MemorySite(settings=load_settings(config))).test_client()
        token = sign_in(client)
        for url, sentences in zip(urls, problems, strict=True):
            refused = client.post("/admin/sites/add?lang=en", data={"url": url, "token": token})
            lines = [line.get_text() for line in BeautifulSoup(refused.text, "lxml").select("#check li")]
            assert refused.status_code == 422 and lines[: len(sentences)] == sentences
        for command in (("sites", "add", *urls), ("sites", "import", str(file))):
            said = call_plumb("-c", str(config), *command)
            assert said.status == 1 and all(" ".join(sentences) in said.out for sentences in problems), said
        assert load_settings(config).crawl.sites.seeds == (good.url(),)
        init = ("-c", str(new), "-s", "crawl.inside_hosts=127.0.0.1", "init", urls[0])
        assert " ".join(problems[0]) in call_plumb(*init).complaint and not new.exists()

        for check in checks:
            setup.accept_site(check.url, is_own_network=False)
        assert [check.seed_url for check in setup.state().usable_sites] == [*urls, good.url()]
        assert call_plumb(*init, "--nevertheless").status == 0 and urls[0] in new.read_text()
        client.post("/admin/sites/add", data={"url": urls[0], "token": token, "nevertheless": "1"})
        assert call_plumb("-c", str(config), "sites", "import", str(file), "--nevertheless").status == 0
        assert load_settings(config).crawl.sites.seeds == (good.url(), *urls)


def test_a_private_address_is_allowed_by_the_button_and_by_the_command_that_the_message_names(tmp_path: Path) -> None:
    config = tmp_path / "my vertical.toml"
    config.write_text('[[sites]]\nurls = ["http://news.test/"]\n[crawl]\ndelay = 0.01\n')
    with Site({"/": HOME}) as site:
        setup = FolderSetup(build_settings({"crawl": {"delay": 0.01}}, tmp_path), tmp_path / "new.toml")
        setup.check_sites([site.url()])
        until(lambda: not setup.state().is_checking)
        assert setup.state().sites[0].problem == "inside_address"
        setup.accept_site(site.url(), is_own_network=True)
        until(lambda: not setup.state().is_checking)
        assert setup.state().usable_sites and f'inside_hosts = ["{site.host}"]' in setup.settings_text()

        with Engine(load_settings(config), NullProgress()) as engine:
            [said, _] = StoreSites(engine).check(site.url()).problems
        command = re.search(r"run plumb (.*) on the server", said)
        assert command and call_plumb(*shlex.split(command[1])).status == 0
        crawl = load_settings(config).crawl
        assert crawl.inside_hosts == (site.host,) and crawl.sites.seeds[1:] == (site.url(),)
