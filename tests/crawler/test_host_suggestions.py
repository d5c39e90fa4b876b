"""Hosts that are proposed: what counts, what is bounded, what outlives a run."""

import json
from pathlib import Path

import pytest

from crawler.host_suggestions import (
    HostSuggestionStats,
    load_host_suggestions,
)
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
