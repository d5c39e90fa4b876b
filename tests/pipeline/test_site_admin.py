"""Sites that are added, changed and removed: the settings file and the store."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crawler.host_suggestions import HostSuggestionStats
from docstore.articles.extraction_writer import PageExtraction
from domain.administration import HistorySource
from domain.article import document_id
from domain.errors import BusyError, SettingsError
from domain.frontier import NewUrl, UrlKind
from domain.message import error_message
from domain.page import Host, Link
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import load_settings
from pipeline.site_admin.history import StoreHistory
from pipeline.site_admin.sites import StoreSites
from search_ui.admin.interfaces.sites import SiteEdit, SiteOptionKind
from search_ui.i18n import translate_message_to
from tests.builders import ARTICLE, keep_page

A, B = "a.test", "b.test"
CONFIG = """
[vertical]
data_dir = "data"
[crawl]  # of the news
seeds = ["http://a.test/", "http://b.test/"]
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


def crawl_settings(engine: Engine) -> dict[str, object]:
    assert engine.settings.file is not None
    return vars(load_settings(engine.settings.file).crawl)


def due_hosts(engine: Engine) -> set[str]:
    return {row.host for row in engine.store.frontier.admin.iter_urls() if row.due_at is not None}


def add_page(engine: Engine, host: str) -> None:
    """Add a saved page of a host."""
    new_url = NewUrl(f"http://{host}/1.html", Host(host), 0, 1, UrlKind.UNKNOWN, 0.0)
    engine.store.frontier.add_urls([new_url])
    keep_page(engine.store, new_url.url, host.encode())


def test_a_site_is_added_paused_and_resumed(engine: Engine, sites: StoreSites) -> None:
    assert sites.add("https://c.test/news", "anna") == "c.test"
    assert crawl_settings(engine)["seeds"] == ("http://a.test/", "http://b.test/", "https://c.test/news")
    sites.pause("c.test", "anna")
    assert crawl_settings(engine)["paused_sites"] == ("c.test",) and sites.load("c.test").is_paused
    sites.resume("c.test", "anna")
    assert crawl_settings(engine)["paused_sites"] == () and sites.load("c.test").is_crawled
    assert [action.action for action in engine.store.actions.find()] == ["site_resume", "site_pause", "site_add"]
    assert engine.settings.file is not None and "# of the news" in engine.settings.file.read_text()


def test_sites_that_are_paused_at_the_same_time_are_all_paused(engine: Engine, sites: StoreSites) -> None:
    hosts = [f"site{number}.test" for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda host: sites.pause(host, "anna"), hosts))
    paused = crawl_settings(engine)["paused_sites"]
    assert isinstance(paused, tuple) and sorted(paused) == sorted(hosts)


def test_an_added_site_joins_a_scope(engine: Engine, sites: StoreSites) -> None:
    sites.change(A, SiteEdit("甲", "5", ["a.test/oil/"], ["http://a.test/oil/"]), "anna")
    sites.add("c.test", "anna")
    scope = crawl_settings(engine)["scope"]
    assert isinstance(scope, tuple) and {B, "a.test/oil/", "c.test"} <= set(scope)


def test_the_settings_of_a_site_change(engine: Engine, sites: StoreSites) -> None:
    sites.change(A, SiteEdit("甲", "5", [], ["http://a.test/"], "8:00-9:00, 22:00-6:00"), "anna")
    changed = sites.load(A)
    assert (changed.display_name, changed.delay, changed.is_crawled) == ("甲", "5", True)
    assert changed.quiet_hours == "8:00-9:00, 22:00-6:00"
    [action] = engine.store.actions.find()
    assert action.details["changes"] == {
        "crawl.site_delays": [[], ["a.test 5"]],
        "crawl.site_quiet_hours": [[], ["a.test 8:00-9:00", "a.test 22:00-6:00"]],
        "search.site_names": [[], {"a.test": "甲"}],
    }
    sites.change(A, SiteEdit("", "", [], ["http://a.test/"]), "anna")
    assert (sites.load(A).display_name, sites.load(A).delay) == ("", "")


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
    headers = (f"{A} authorization: Bearer s3cret-2", f"{B} Authorization: Bearer s3cret-3")
    assert crawl_settings(engine)["headers"] == headers
    for option in sites.load(A).options:
        sites.remove_option(A, option, "anna")
        sites.remove_option(A, option, "anna")
    assert not sites.load(A).options and len(sites.load(B).options) == 1
    details = [str(action.details) for action in engine.store.actions.find()]
    assert len(details) == 9 and not [text for text in details if "s3cret-" in text]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (SiteEdit("", "soon", [], ["http://a.test/"]), "crawl.site_delays 第 1 行：应为主机和秒数"),
        (SiteEdit("", "", [], ["http://a.test/"], "noon"), "crawl.site_quiet_hours 第 1 行：应为主机和时段"),
        (SiteEdit("", "", ["b.test"], ["http://a.test/"]), "“b.test”不属于 a.test"),
        (SiteEdit("", "", [], ["http://b.test/x"]), "“http://b.test/x”不是 a.test 的网址"),
        (SiteEdit("", "", ["a.test/oil/"], ["http://a.test/"]), "crawl.seeds：http://a.test/ 不在抓取范围内"),
    ],
)
def test_an_invalid_change_changes_nothing_and_is_explained(
    engine: Engine, sites: StoreSites, edit: SiteEdit, message: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        sites.change(A, edit, "anna")
    assert translate_message_to("zh", error_message(raised.value)).startswith(message)
    assert engine.settings.file is not None and engine.settings.file.read_text() == CONFIG
    assert engine.store.actions.find() == []


def test_a_removed_site_leaves_nothing_but_its_bytes(engine: Engine, sites: StoreSites) -> None:
    store = engine.store
    for host in (A, B):
        add_page(engine, host)
    store.articles.save([PageExtraction(page, ARTICLE) for page in store.articles.iter_pending()])
    sites.change(A, SiteEdit("", "", [], ["http://a.test/"], "8:00-9:00"), "anna")
    contents = sites.count_contents(A)
    assert (contents.url_count, contents.page_count, contents.article_count) == (1, 1, 1)
    assert contents.archived_bytes > 0
    with engine.lock("crawl"), pytest.raises(BusyError):
        sites.remove(A, "anna")
    assert sites.remove(A, "anna") == contents
    assert [article.doc_id for article in store.articles.iter_all()] == [document_id(f"http://{B}/1.html")]
    assert due_hosts(engine) == {B} and store.integrity.damaged_rows() == {}
    assert not sites.load(A).is_crawled and crawl_settings(engine)["seeds"] == ("http://b.test/",)
    with pytest.raises(SettingsError, match="only start URLs"):
        sites.remove(B, "anna")
    removal = engine.store.actions.find(action="site_remove")[0].action_id
    sites.add("http://c.test/", "anna")
    history = StoreHistory(engine)
    assert history.undo(HistorySource.ACTION, removal, "bert") and due_hosts(engine) == {A, B}
    assert crawl_settings(engine)["seeds"] == ("http://b.test/", "http://c.test/", "http://a.test/")
    assert crawl_settings(engine)["site_quiet_hours"] == (f"{A} 8:00-9:00",)
    assert not history.undo(HistorySource.ACTION, removal, "bert")


def test_a_host_that_a_wildcard_covers_is_paused_when_it_is_removed(engine: Engine, sites: StoreSites) -> None:
    file = engine.settings.file
    assert file is not None
    file.write_text(CONFIG + 'scope = ["a.test", "b.test", "*.test"]\n')
    sites.remove(A, "anna")
    assert crawl_settings(engine)["paused_sites"] == (A,)


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
