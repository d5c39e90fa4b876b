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
from pipeline.settings import load_settings
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
TABLES = [
    {
        "urls": ["https://www.a.test/", "https://www.a.test/news"],
        "scope": ["*.a.test"],
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
    {"host": "*.a.test", "delay": 3, "headers": ["X-Token: one, two"]},
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
