"""The settings and files that the tables [[sites]] have replaced still work, and `plumb upgrade` rewrites them."""

import json
import tomllib
from pathlib import Path

import pytest

from crawler.crawl_plan import build_crawl_plan
from domain.errors import SettingsError
from pipeline.engine import Engine
from pipeline.old_site_settings import OLD_SITE_SETTINGS
from pipeline.progress import NullProgress
from pipeline.settings import Settings, load_settings
from pipeline.site_admin.sites import StoreSites
from tests.plumb_call import call_plumb

OLD = """\
# ours
[crawl]
delay = 2  # polite
# where it begins
seeds = ["https://www.a.test/", "b.test", "https://www.a.test/news"]
scope = ["*.a.test", "b.test/x/", "b.test", "c.test"]
paused_sites = ["B.test"]
site_delays = ["www.a.test 5", "www.a.test 7.5", "*.a.test 3"]
site_quiet_hours = ["b.test 08:00-09:00", "b.test 18:00-19:00"]
headers = ["*.a.test X-Token: one, two"]
cookies = ["www.a.test sid=1", "www.a.test lang=zh; x=y"]
proxies = ["c.test http://proxy:3128"]
rendered = ["auto", "b.test"]

[store]
keep_days_by_site = ["b.test 365", "c.test 0"]

[search.site_names]
"www.a.test" = "甲"

[schedule.sites]
"www.a.test, b.test" = "06:00 18:00"
"b.test" = "12:00"
"""
TABLES: list[dict[str, object]] = [
    {
        "urls": ["https://www.a.test/", "https://www.a.test/news"],
        "scope": [],
        "delay": 7.5,
        "cookies": ["sid=1", "lang=zh; x=y"],
        "name": "甲",
        "schedule": "06:00 18:00",
    },
    {
        "urls": ["b.test"],
        "scope": ["b.test/x/", "b.test"],
        "paused": True,
        "quiet_hours": "08:00-09:00, 18:00-19:00",
        "render": True,
        "keep_days": 365,
        "schedule": "06:00 18:00, 12:00",
    },
    {"host": "c.test", "scope": ["c.test"], "proxy": "http://proxy:3128", "keep_days": 0},
    {"host": "*.a.test", "scope": ["*.a.test"], "delay": 3, "headers": ["X-Token: one, two"]},
    {"urls": ["http://added.test/"], "scope": ["added.test"]},
    {"host": "scripted.test", "render": True},
]


def old_vertical(folder: Path) -> Path:
    """Write an old settings file with its old files in the data folder, and return it."""
    file, data = folder / "v.toml", folder / "data"
    file.write_text(OLD)
    data.mkdir()
    (data / "sites.json").write_text(json.dumps({"added": ["http://added.test/"]}))
    (data / "rendered.json").write_text(json.dumps({"hosts": ["scripted.test"]}))
    return file


def by_host(tables: list[dict[str, object]]) -> list[str]:
    return sorted(json.dumps(table, sort_keys=True) for table in tables)


def test_old_settings_and_files_are_read_with_warnings_and_rewritten_once(tmp_path: Path) -> None:
    file = old_vertical(tmp_path)
    settings = load_settings(file)
    assert {row.path for row in settings.deprecated_settings} == set(OLD_SITE_SETTINGS)
    assert settings.crawl.rendered == "auto" and settings.search.site_names == {"www.a.test": "甲"}
    plan = build_crawl_plan(settings.crawl)
    covered = {"https://x.a.test/", "https://b.test/y", "https://c.test/", "http://added.test/"}
    assert all(plan.url_rules.covers(url.split("/")[2], f"/{url.split('/')[3]}") for url in covered)
    assert not any(plan.url_rules.covers(host, "/") for host in ("a.com", "www.b.test", "scripted.test"))
    for _ in range(2):
        assert call_plumb("-c", str(file), "upgrade").status == 0
    text, data = file.read_text(), tomllib.loads(file.read_text())
    assert by_host(data["sites"]) == by_host(TABLES)
    assert data["crawl"] == {"delay": 2, "rendered": "auto"} and "# ours" in text and "# polite" in text
    upgraded = load_settings(file)
    assert upgraded == settings.__class__(**{**vars(settings), "deprecated_settings": ()})
    assert file.with_name("v.toml.before-upgrade").read_text() == OLD
    assert sorted(path.name for path in (tmp_path / "data").glob("*.json*")) == [
        "rendered.json.before-upgrade",
        "sites.json.before-upgrade",
    ]


def test_a_change_of_a_site_in_an_old_file_rewrites_it(tmp_path: Path) -> None:
    file = old_vertical(tmp_path)
    with Engine(load_settings(file), NullProgress()) as engine:
        sites = StoreSites(engine)
        sites.remove("added.test", "anna")
        assert sites.find_host("added.test") == "" and not load_settings(file).deprecated_settings
        [action] = engine.store.operations.find()
        assert action.after["changes"] == {
            "urls": [["http://added.test/"], None],
            "scope": [["added.test"], None],
        }
    assert file.with_name("v.toml.before-upgrade").exists()
    assert by_host(tomllib.loads(file.read_text())["sites"]) == by_host(
        [table for table in TABLES if table.get("urls") != ["http://added.test/"]]
    )


def test_the_environment_overrides_a_key_of_all_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "v.toml"
    file.write_text('[[sites]]\nurls = ["https://a.test/"]\ndelay = 3\nheaders = ["A: b"]\n')
    monkeypatch.setenv("PLUMB_CRAWL_SEEDS", "https://b.test/")
    monkeypatch.setenv("PLUMB_CRAWL_HEADERS", '["b.test X: a, b", "a.test Y: z"]')
    sites = load_settings(file).crawl.sites
    assert sites.seeds == ("https://b.test/",) and sites.for_host("a.test").delay == 3
    assert sites.for_host("a.test").request_headers == {"Y": "z"}
    assert sites.for_host("b.test").request_headers == {"X": "a, b"}
    monkeypatch.setenv("PLUMB_SITES", '[{"urls": ["https://c.test/"]}]')
    monkeypatch.delenv("PLUMB_CRAWL_SEEDS")
    assert load_settings(file).crawl.sites.seeds == ("https://c.test/",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('seeds = ["ftp://a.test/"]', "crawl.seeds"),
        ('scope = ["a b"]', "crawl.scope"),
        ('paused_sites = ["a.test/x"]', "crawl.paused_sites"),
        ('headers = ["s3cret"]', "headers"),
        ('site_delays = ["a.test soon"]', "Site a.test, delay"),
        ('headers = []\n[[sites]]\nhost = "a.test"', "crawl.headers and .* remove crawl.headers"),
    ],
)
def test_an_invalid_line_is_named_and_not_shown(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "v.toml").write_text(f"[crawl]\n{line}\n")
    with pytest.raises(SettingsError, match=message) as raised:
        load_settings(tmp_path / "v.toml")
    assert "s3cret" not in str(raised.value)


def load(folder: Path, text: str) -> Settings:
    (folder / "v.toml").write_text(text)
    return load_settings(folder / "v.toml")


@pytest.mark.parametrize(
    "text",
    [
        '[store]\nkeep_days_by_site = ["*.a.test 365", "a.test/n 365", "b.test 3"]',
        '[search.site_names]\n"*.a.test" = "A"\n"a.test/news" = "A"\n"a.test" = ""\n"b.test" = "B"',
        '[schedule.sites]\n"b.test" = " 06:00"',
        '[schedule.sites]\n"b.test" = "6:5\\n18:00"',
        '[crawl]\nproxies = ["b.test HTTP://proxy:3128"]',
        '[crawl]\nproxies = ["b.test http://u:p@ss@Proxy:3128"]',
    ],
)
def test_what_was_valid_is_still_read(tmp_path: Path, text: str) -> None:
    assert [site.host for site in load(tmp_path, text).crawl.sites.records] == ["b.test"]


def test_the_last_header_of_a_name_and_the_first_proxy_still_count(tmp_path: Path) -> None:
    sites = load(
        tmp_path,
        """[crawl]
headers = ["*.b.test X: 0", "a.test X: 1", "a.test Y: 1", "*.test X: 2", "c.test X: 3"]
proxies = ["d.a.test http://p0", "*.a.test http://p1", "a.test http://p2", "*.test http://p3"]""",
    ).crawl.sites
    headers = {host: sites.for_host(host).request_headers for host in ("a.test", "x.b.test", "c.test")}
    assert headers == {"a.test": {"X": "2", "Y": "1"}, "x.b.test": {"X": "2"}, "c.test": {"X": "3"}}
    hosts = ("a.test", "d.a.test", "x.test")
    assert [sites.for_host(host).proxy for host in hosts] == ["http://p1", "http://p0", "http://p3"]


def test_an_old_scope_belongs_to_no_start_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[crawl]\nseeds = ["http://a.x.test/", "http://b.x.test/news"]\nscope = ["*.x.test"]\n'
    with Engine(load(tmp_path, text), NullProgress()) as engine:
        sites, source = StoreSites(engine), engine.settings.require_source()
        sites.change("b.x.test", {**sites.load("b.x.test").values, "delay": "3"}, "anna")
        assert {"scope": [], "delay": 3}.items() <= source.stored("sites")[1].items()
        sites.remove("a.x.test", "anna")
        assert source.load().crawl.sites.seeds == ("http://b.x.test/news",)
    monkeypatch.setenv("PLUMB_CRAWL_SEEDS", "http://d.test/")
    with pytest.raises(SettingsError, match="outside the scope"):
        build_crawl_plan(load(tmp_path, text).crawl)


def test_another_value_of_rendered_keeps_the_sites_of_the_old_one(tmp_path: Path) -> None:
    source = load(tmp_path, '[crawl]\nrendered = ["a.test"]\n').require_source()
    assert source.edit(lambda _: {"crawl.rendered": "auto"}).changes == {"crawl.rendered": "auto"}
    settings = source.load()
    assert settings.crawl.rendered == "auto" and settings.crawl.sites.for_host("a.test").render
    assert source.file.with_name("v.toml.before-upgrade").exists()


def test_damaged_added_sites_are_not_given_up(tmp_path: Path) -> None:
    file = old_vertical(tmp_path)
    (added := tmp_path / "data" / "sites.json").write_text("{")
    result = call_plumb("-c", str(file), "upgrade")
    assert "plumb check --repair" in result.err and added.exists() and file.read_text() == OLD


@pytest.mark.parametrize(
    "text",
    [
        "[search]\nsite_names = ['s3cret']",
        "[search]\nsite_names = { a = 5 }",
        "[schedule]\nsites = ['s3cret']",
        "[crawl]\nseeds = [5]",
        "[crawl]\nseeds = 5",
        "[crawl]\nrendered = 5",
        "[crawl]\nheaders = [['s3cret']]",
        "[alerts]\nwebhook = ['s3cret']",
    ],
)
def test_a_value_of_another_type_is_named_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"\w+\.\w+( = \.\.\.)?: expected") as raised:
        load(tmp_path, text)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLUMB_SITES", "{}"),
        ("PLUMB_SITES", "[1]"),
        ("PLUMB_SITES", '[{"host": "a.test", "headers": ["X: s3cret"]},]'),
        ("PLUMB_CRAWL_HEADERS", '["a.test Authorization: s3cret'),
        ("PLUMB_SEARCH_SITE_NAMES", "s3cret"),
        ("PLUMB_CRAWL_INSIDE_HOSTS", '["s3cret'),
    ],
)
def test_a_variable_of_another_form_is_named_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=r"^(sites|\w+\.\w+): (expected|write)") as raised:
        load(tmp_path, "")
    assert "s3cret" not in str(raised.value) and "<class" not in str(raised.value)


def test_a_file_that_cannot_be_rewritten_does_not_stop_the_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = old_vertical(tmp_path)
    monkeypatch.setenv("PLUMB_SITES", '[{"urls": ["https://c.test/"]}]')
    result = call_plumb("-c", str(file), "upgrade")
    assert (result.status, file.read_text()) == (0, OLD) and "sites is overridden" in result.err
