"""Hosts that are proposed: what counts, what is bounded, what outlives a run."""

import errno
import json
from pathlib import Path

import pytest

from crawler.host_suggestions import (
    HostSuggestionStats,
    add_site,
    load_added_seeds,
    load_host_suggestions,
    remove_site,
    with_added_sites,
)
from crawler.settings import CrawlSettings
from domain.errors import SettingsError
from domain.page import Link


def linked(found: HostSuggestionStats, source: str, *urls: str) -> None:
    found.record_links(source, [Link(url, "来源") for url in urls])


def test_a_source_comes_before_a_footer() -> None:
    found = HostSuggestionStats({})
    for number in range(30):
        linked(found, "a.test", "http://icp.test/", f"http://source.test/{number % 5}")
    linked(found, "b.test", "http://source.test/1")
    first, second = found.rank_suggestions()
    assert (first.host, first.linking_pages, first.linked_urls, first.linking_hosts) == ("source.test", 31, 5, 2)
    assert (second.host, second.linking_pages, second.linked_urls, second.linking_hosts) == ("icp.test", 30, 1, 1)
    assert (first.example_url, first.example_anchor) == ("http://source.test/0", "来源")


def test_what_is_remembered_is_bounded() -> None:
    found = HostSuggestionStats({})
    for number in range(6000):
        linked(found, f"h{number}.test", f"http://h{number}.test/", f"http://one.test/{number}")
    assert len(found._hosts) <= 5000
    [one] = [one for one in found.rank_suggestions() if one.host == "one.test"]
    assert (one.linking_pages, one.linked_urls, one.linking_hosts) == (6000, 100, 20)


def test_what_several_processes_met_is_one_list(tmp_path: Path) -> None:
    for number in range(2):
        found = HostSuggestionStats({})
        linked(found, f"{number}.test", f"http://source.test/{number}")
        found.save(tmp_path / f"proposed-{number}.json")
    [one] = load_host_suggestions(tmp_path)
    assert (one.linking_pages, one.linked_urls, one.linking_hosts) == (2, 2, 2)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a.test": 3}', json.dumps({"a.test": {"pages": 1}})])
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "proposed.json").write_text(text)
    assert load_host_suggestions(tmp_path) == []


def test_a_damaged_list_of_added_hosts_is_not_overwritten(tmp_path: Path) -> None:
    add_site(tmp_path, "a.test")
    file = tmp_path / "sites.json"
    damaged = file.read_bytes()[:-9]
    file.write_bytes(damaged)
    for change in (add_site, remove_site):
        with pytest.raises(SettingsError, match="plumb check --repair"):
            change(tmp_path, "b.test")
    assert file.read_bytes() == damaged


def test_a_full_disk_is_an_error_of_the_addition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("crawler.state_files.write_private_file", fail)
    with pytest.raises(SettingsError, match="No space left"):
        add_site(tmp_path, "a.test")


def test_added_hosts_are_seeds_and_in_scope(tmp_path: Path) -> None:
    plain = CrawlSettings(seeds=("http://a.test/",))
    scoped = CrawlSettings(seeds=("http://a.test/",), scope=("a.test",))
    assert with_added_sites(plain, tmp_path) == plain
    assert add_site(tmp_path, "b.test") == "http://b.test/"
    assert add_site(tmp_path, "https://c.test/news/1?x=2") == "https://c.test/"
    assert with_added_sites(plain, tmp_path).seeds == ("http://a.test/", "http://b.test/", "https://c.test/")
    assert with_added_sites(plain, tmp_path).scope == ()
    assert with_added_sites(scoped, tmp_path).scope == ("a.test", "b.test", "c.test")
    assert remove_site(tmp_path, "b.test")
    assert not remove_site(tmp_path, "b.test")
    assert load_added_seeds(tmp_path) == ("https://c.test/",)


@pytest.mark.parametrize("text", ["", "ftp://a.test/", "http://user:word@a.test/", "a b"])
def test_what_is_no_host_is_not_added(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="neither a host"):
        add_site(tmp_path, text)
    assert load_added_seeds(tmp_path) == ()
