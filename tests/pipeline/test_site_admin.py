"""Sites that are added, changed and removed: the settings file and the store."""

import errno
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crawler.host_suggestions import HostSuggestionStats
from docstore.articles.extraction_writer import PageExtraction
from docstore.site_pages import SitePages
from domain.article import document_id
from domain.errors import BusyError, SettingsError, SiteError
from domain.frontier import NewUrl, UrlKind
from domain.message import error_message
from domain.page import Host, Link
from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.operations import declare_operations
from pipeline.progress import NullProgress
from pipeline.search_site.administration import build_administration
from pipeline.settings import load_settings
from pipeline.settings_source import SettingsSource
from pipeline.site_admin.sites import StoreSites
from pipeline.site_tables import find_table
from search_ui.admin.site_form import SITE_FORM_KEYS, SiteOptionKind
from search_ui.i18n import translate_message_to
from tests.builders import ARTICLE, keep_page

A, B = "a.test", "b.test"
CONFIG = """
[vertical]
data_dir = "data"
# of the news
[[sites]]
urls = ["http://a.test/"]
# the other
[[sites]]
urls = ["http://b.test/"]
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    file = tmp_path / "news.toml"
    file.write_text(CONFIG)
    with Engine(load_settings(file), NullProgress()) as opened:
        yield opened


@pytest.fixture
def sites(engine: Engine) -> StoreSites:
    return StoreSites(engine)


def table(engine: Engine, host: str) -> dict[str, object]:
    """Return the table of a host in the file."""
    source = engine.settings.require_source()
    return find_table(source.parse(source.read().text), host)


def due_hosts(engine: Engine) -> set[str]:
    return {row.host for row in engine.store.frontier.admin.iter_urls() if row.due_at is not None}


def add_page(engine: Engine, host: str) -> None:
    """Add a saved page of a host."""
    new_url = NewUrl(f"http://{host}/1.html", Host(host), 0, 1, UrlKind.UNKNOWN, 0.0)
    engine.store.frontier.add_urls([new_url])
    keep_page(engine.store, new_url.url, host.encode())


def test_a_site_is_added_paused_and_resumed(engine: Engine, sites: StoreSites) -> None:
    assert sites.add("https://c.test/news", "anna") == "c.test"
    assert table(engine, "c.test") == {"urls": ["https://c.test/news"]}
    sites.pause("c.test", "anna")
    assert table(engine, "c.test")["paused"] and sites.load("c.test").is_paused
    sites.resume("c.test", "anna")
    sites.resume("c.test", "anna")
    assert "paused" not in table(engine, "c.test") and sites.load("c.test").is_crawled
    assert [action.name for action in engine.store.operations.find()] == ["site_resume", "site_pause", "site_add"]
    assert "# of the news" in engine.settings.require_source().read().text


def test_a_host_is_one_site_however_it_is_written(engine: Engine, sites: StoreSites) -> None:
    source = engine.settings.require_source()
    tables = '[[sites]]\nhost = "News.Company.com"\npaused = true\n[[sites]]\nhost = "中文.cn"\ndelay = 3\n'
    source.file.write_text(CONFIG + tables)
    assert sites.find_host("NEWS.company.com") == "news.company.com" and sites.load("news.company.com").is_paused
    sites.resume("news.company.com", "anna")
    assert not sites.load("news.company.com").is_paused
    assert sites.find_host("中文.cn") == "xn--fiq228c.cn"
    assert [sites.find_host(text) for text in ("nohost.example", "a b", "x\r\ny", "\0", "")] == [""] * 5


def test_sites_that_are_paused_at_the_same_time_are_all_paused(engine: Engine, sites: StoreSites) -> None:
    hosts = [f"site{number}.test" for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda host: sites.pause(host, "anna"), hosts))
    assert all(engine.settings.current().crawl.sites.for_host(host).paused for host in hosts)


def test_an_added_url_joins_the_scope_of_its_site(engine: Engine, sites: StoreSites) -> None:
    sites.change(A, {"urls": "http://a.test/oil/", "scope": "a.test/oil/"}, "anna")
    sites.add("http://a.test/", "anna")
    assert table(engine, A) == {"urls": ["http://a.test/oil/", "http://a.test/"], "scope": ["a.test/oil/", A]}
    sites.add("c.test", "anna")
    assert sites.load("c.test").is_crawled and table(engine, "c.test") == {"urls": ["http://c.test/"]}


def test_the_settings_of_a_site_change(engine: Engine, sites: StoreSites) -> None:
    values = {"name": "甲", "delay": "5", "quiet_hours": "8:00-9:00, 22:00-6:00", "urls": "http://a.test/"}
    sites.change(A, {**values, "scope": "", "keep_days": "0", "schedule": "06:00", "render": "true"}, "anna")
    defaults = {"scope": "", "readers": ""}
    assert sites.load(A).values == {**values, **defaults, "keep_days": "0", "schedule": "06:00", "render": "true"}
    [action] = engine.store.operations.find()
    assert action.after["changes"] == {
        "name": [None, "甲"],
        "delay": [None, 5],
        "quiet_hours": [None, "8:00-9:00, 22:00-6:00"],
        "keep_days": [None, 0],
        "schedule": [None, "06:00"],
        "render": [None, True],
    }
    assert engine.settings.current().search.site_names == {A: "甲"}
    sites.change(A, dict.fromkeys(SITE_FORM_KEYS, "") | {"urls": "http://a.test/"}, "anna")
    assert engine.settings.require_source().read().text == CONFIG


def test_the_form_changes_only_what_it_does_not_show(engine: Engine, sites: StoreSites) -> None:
    file = engine.settings.require_source().file
    file.write_text(CONFIG + 'scope = []\n[[sites]]\nhost = "*.test"\nscope = ["*.test"]\n')
    shown = {key: value.replace("\n", "\r\n") for key, value in sites.load(B).values.items()}
    sites.change(B, {**shown, "delay": "3"}, "anna")
    assert table(engine, B) == {"urls": ["http://b.test/"], "scope": [], "delay": 3}


def test_the_form_keeps_more_than_200_start_urls(engine: Engine, sites: StoreSites) -> None:
    urls = [f"http://a.test/{number}{'x' * 1500}" for number in range(251)]
    sites.change(A, {"urls": "\n".join(urls)}, "anna")
    sites.change(A, {**sites.load(A).values, "delay": "3"}, "anna")
    assert table(engine, A) == {"urls": urls, "delay": 3}


def test_headers_cookies_and_the_proxy_of_a_site_are_replaced_by_name_and_stay_secret(
    engine: Engine, sites: StoreSites
) -> None:
    header, cookie, proxy = SiteOptionKind
    for host, kind, text in (
        (A, header, "Authorization: Bearer s3cret-1"),
        (A, header, "authorization: Bearer s3cret-2"),
        (B, header, "Authorization: Bearer s3cret-3"),
        (A, cookie, "session=s3cret-4; s3cret=5"),
        (A, proxy, "http://old:3128"),
        (A, proxy, "http://anna:s3cret-6@proxy:3128"),
    ):
        sites.set_option(host, kind, text, "anna")
    with pytest.raises(SettingsError) as raised:
        sites.set_option(A, header, "Cookie: s3cret-7", "anna")
    assert "s3cret" not in str(raised.value)
    names = ["authorization", "session, s3cret", "http://proxy:3128"]
    assert [option.name for option in sites.load(A).options] == names
    assert table(engine, A)["headers"] == ["authorization: Bearer s3cret-2"]
    assert stat.S_IMODE(engine.settings.require_source().file.stat().st_mode) == 0o600
    for option in sites.load(A).options:
        sites.remove_option(A, option, "anna")
        sites.remove_option(A, option, "anna")
    assert not sites.load(A).options and len(sites.load(B).options) == 1
    details = [str(action.after) for action in engine.store.operations.find()]
    assert len(details) == 9 and not [text for text in details if "s3cret-" in text]


@pytest.mark.parametrize(
    ("values", "key", "message"),
    [
        ({"delay": "soon"}, "delay", "应为 0 到 99999 之间的秒数"),
        ({"delay": "-5"}, "delay", "应为 0 到 99999 之间的秒数"),
        ({"quiet_hours": "noon"}, "quiet_hours", "应为时段"),
        ({"scope": "b.test"}, "scope", "应为此网站的一部分"),
        ({"urls": "http://b.test/x"}, "urls", "应为此网站的 http 或 https 网址"),
        ({"schedule": "25:00"}, "schedule", "应为时刻"),
        ({"scope": "a.test/oil/"}, "", "http://a.test/ 不在抓取范围内"),
    ],
)
def test_an_invalid_change_changes_nothing_and_is_explained(
    engine: Engine, sites: StoreSites, values: dict[str, str], key: str, message: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        sites.change(A, values, "anna")
    problems = raised.value.problems if isinstance(raised.value, SiteError) else {"": error_message(raised.value)}
    assert {key: translate_message_to("zh", text)[: len(message)] for key, text in problems.items()} == {key: message}
    assert engine.settings.require_source().read().text == CONFIG
    assert engine.store.operations.find() == []


@pytest.mark.parametrize(
    ("variable", "value", "change"),
    [
        ("PLUMB_CRAWL_SEEDS", "https://env.company.com/", lambda sites: sites.add("https://c.test/", "anna")),
        ("PLUMB_CRAWL_PAUSED_SITES", "c.test", lambda sites: sites.pause(A, "anna")),
        ("PLUMB_SITES", '[{"urls": ["https://c.test/"]}]', lambda sites: sites.pause(A, "anna")),
        ("PLUMB_CRAWL_PAUSED_SITES", B, lambda sites: sites.resume(B, "anna")),
        ("PLUMB_SITES", '[{"host": "b.test", "paused": true}]', lambda sites: sites.resume(B, "anna")),
        ("PLUMB_CRAWL_SEEDS", "https://env.test/", lambda sites: sites.remove("env.test", "anna")),
        ("PLUMB_CRAWL_SEEDS", "https://env.test/", lambda sites: sites.add("http://a.test/", "anna")),
        ("PLUMB_CRAWL_SCOPE", "a.test, b.test", lambda sites: sites.remove(A, "anna")),
    ],
)
def test_what_the_environment_overrides_is_not_changed(
    engine: Engine,
    sites: StoreSites,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    change: Callable[[StoreSites], None],
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match="overridden outside the file"):
        change(sites)
    assert engine.settings.require_source().read().text == CONFIG and engine.store.operations.find() == []


def test_a_secret_of_the_environment_stays_there(
    engine: Engine, sites: StoreSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMB_CRAWL_HEADERS", f"{B} Authorization: Bearer EnvSecret12345")
    sites.change(B, {"delay": "3"}, "anna")
    sites.pause(B, "anna")
    assert "EnvSecret" not in engine.settings.require_source().read().text
    assert engine.settings.require_source().load().crawl.sites.for_host(B).request_headers["Authorization"]
    with pytest.raises(SettingsError, match="overridden outside the file"):
        sites.set_option(A, SiteOptionKind.HEADER, "X: y", "anna")


def test_a_removed_site_leaves_nothing_but_its_bytes(engine: Engine, sites: StoreSites) -> None:
    store, site_reports = engine.store, build_administration(engine, LexiconReview(engine.store)).sites
    for host in (A, B):
        add_page(engine, host)
    store.articles.save([PageExtraction(page, ARTICLE) for page in store.articles.iter_pending()])
    sites.change(A, {"quiet_hours": "8:00-9:00"}, "anna")
    contents = store.site_pages.count(A)
    assert (contents.url_count, contents.page_count, contents.article_count) == (1, 1, 1)
    assert contents.archived_bytes > 0 and {site.totals.host for site in site_reports()} == {A, B}
    with engine.lock("crawl"), pytest.raises(BusyError):
        sites.remove(A, "anna")
    assert sites.remove(A, "anna") == contents
    assert [article.doc_id for article in store.articles.iter_all()] == [document_id(f"http://{B}/1.html")]
    assert due_hosts(engine) == {B} and store.integrity.damaged_rows() == {}
    assert not sites.load(A).is_crawled and table(engine, A) == {}
    assert {site.totals.host for site in site_reports()} == {B} and sites.find_host(A) == ""
    with pytest.raises(SettingsError, match="only start URLs"):
        sites.remove(B, "anna")
    removal = engine.store.operations.find(name="site_remove")[0].operation_id
    sites.add("http://c.test/", "anna")
    declared = declare_operations(engine)
    assert store.operations.undo(declared, removal, "bert") and due_hosts(engine) == {A, B}
    assert table(engine, A) == {"urls": ["http://a.test/"], "quiet_hours": "8:00-9:00"}
    assert store.operations.undo(declared, removal, "bert") is None


def test_a_removal_that_fails_or_is_killed_can_be_repeated(
    engine: Engine, sites: StoreSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_page(engine, A)
    source, operations = engine.settings.require_source(), engine.store.operations
    before, contents, replace = source.read().text, engine.store.site_pages.count(A), SettingsSource._replace

    def fail(_: SettingsSource, __: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    def die_of_a_change(self: SettingsSource, text: str) -> None:
        replace(self, text) if text == before else sys.exit()

    with monkeypatch.context() as patch, pytest.raises(SettingsError, match="Read-only"):
        patch.setattr(SettingsSource, "_replace", fail)
        sites.remove(A, "anna")
    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(SitePages, "remove", lambda *_: sys.exit())
        sites.remove(A, "anna")
    assert operations.find(name="site_remove") == [] and source.read().text == before
    assert engine.store.site_pages.count(A) == contents
    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(SettingsSource, "_replace", die_of_a_change)
        sites.remove(A, "anna")
    assert source.read().text == before and engine.store.site_pages.count(A).page_count == 0
    sites.remove(A, "anna")
    assert table(engine, A) == {}


def test_a_host_that_a_wildcard_covers_is_paused_when_it_is_removed(engine: Engine, sites: StoreSites) -> None:
    file = engine.settings.require_source().file
    file.write_text(CONFIG + '[[sites]]\nhost = "*.test"\nscope = ["*.test"]\n')
    sites.remove(A, "anna")
    assert table(engine, A) == {"host": A, "paused": True}


def test_all_pages_of_a_site_are_fetched_again(engine: Engine, sites: StoreSites) -> None:
    for host in (A, B):
        add_page(engine, host)
    assert sites.recrawl(A, "anna") == 1
    due_at = {row.host: row.due_at for row in engine.store.frontier.admin.iter_urls()}
    assert due_at[A] == 0.0 and due_at[B] != 0.0


def test_suggestions_are_hosts_out_of_scope(engine: Engine, sites: StoreSites) -> None:
    stats = HostSuggestionStats({})
    stats.record_links(A, [Link("http://c.test/1"), Link("http://b.test/1")])
    stats.save(engine.settings.data_dir / "proposed.json")
    assert [row.host for row in sites.suggestions(5)] == ["c.test"]
    sites.add("http://c.test/", "anna")
    assert sites.suggestions(5) == []


def test_without_a_file_nothing_is_changed(engine: Engine, tmp_path: Path) -> None:
    shutil.move(tmp_path / "news.toml", tmp_path / "moved.toml")
    with pytest.raises(SettingsError):
        StoreSites(engine).pause(A, "anna")
