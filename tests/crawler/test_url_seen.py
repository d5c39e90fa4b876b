"""The URL-seen test: exact results, and an atomically written file that is rebuilt if damaged."""

import hashlib
from pathlib import Path

import pytest

from crawler.schedule import url_seen as seen_module
from crawler.schedule.url_seen import UrlSeenTest, url_fingerprint
from domain.frontier import NewUrl, UrlKind
from tests.crawler_fakes import MemoryTable


def table_of(*urls: str) -> MemoryTable:
    table = MemoryTable()
    table.add_urls([NewUrl(url, "h", 0, 0, UrlKind.UNKNOWN, 0.0) for url in urls])
    return table


def test_fingerprint_is_the_first_64_bits_of_md5() -> None:
    assert url_fingerprint("") == "d41d8cd98f00b204"


def test_new_among_keeps_order_and_names_each_once(tmp_path: Path) -> None:
    seen = UrlSeenTest.load(tmp_path / "seen", table_of("b"))
    assert seen.filter_unseen(["c", "b", "a", "c"]) == ["c", "a"]
    seen.add(["c"])
    assert seen.filter_unseen(["c", "a"]) == ["a"]


def test_a_false_positive_loses_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "url_fingerprint", lambda url: "0" * 16)  # the same for all
    seen = UrlSeenTest.load(tmp_path / "seen", table_of("known"))
    assert seen.filter_unseen(["known", "never seen"]) == ["never seen"]


def test_saved_and_loaded_without_asking_the_table_for_its_urls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"http://a/{n}" for n in range(3000)]
    table = table_of(*urls)
    UrlSeenTest.load(tmp_path / "seen", table).save(tmp_path / "seen")
    monkeypatch.setattr(table, "iter_urls", lambda: pytest.fail("rebuilt although the file is intact"))
    seen = UrlSeenTest.load(tmp_path / "seen", table)
    assert seen.filter_unseen([*urls, "new"]) == ["new"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:5000] + bytes(1000) + data[6000:],
        lambda data: b"PLSEEN99" + data[8:],
        lambda data: b"x" * 20,
    ],
    ids=["empty", "half", "zeroed", "other version", "short"],
)
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "seen"
    table = table_of("a", "b")
    UrlSeenTest.load(path, table).save(path)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert UrlSeenTest.load(path, table).filter_unseen(["a", "b", "c"]) == ["c"]


def test_a_file_older_than_the_table_gets_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "seen"
    UrlSeenTest.load(path, table_of("a")).save(path)
    seen = UrlSeenTest.load(path, table_of("a", "b"))
    assert url_fingerprint("b") in seen._filter
    assert seen.filter_unseen(["a", "b", "c"]) == ["c"]


def test_a_file_newer_than_the_table_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "seen"
    UrlSeenTest.load(path, table_of("a", "b")).save(path)
    assert url_fingerprint("b") not in UrlSeenTest.load(path, table_of("a"))._filter


def test_a_file_of_an_earlier_version_is_no_damage_and_is_made_anew(tmp_path: Path) -> None:
    content = (2).to_bytes(8, "little") + b"rbloom  " + bytes(100)
    path = tmp_path / "seen"
    path.write_bytes(b"PLSEEN02" + hashlib.sha256(content).digest() + content)
    assert UrlSeenTest.is_valid_file(path)
    seen = UrlSeenTest.load(path, table_of("a", "b"))
    assert seen.filter_unseen(["a", "b", "c"]) == ["c"] and url_fingerprint("b") in seen._filter
    seen.save(path)
    assert b"pybloom " in path.read_bytes()


def test_the_filter_forgets_nothing_and_errs_rarely_however_far_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_module, "INITIAL_CAPACITY", 100)
    urls = [f"http://h/{number}" for number in range(12_000)]
    seen = UrlSeenTest(MemoryTable())
    seen.add(urls[:3000])
    seen.save(tmp_path / "seen")
    seen = UrlSeenTest.load(tmp_path / "seen", table_of(*urls[:3000]))
    seen.add(urls[3000:6000])
    is_known = [url_fingerprint(url) in seen._filter for url in urls]
    assert all(is_known[:6000]) and sum(is_known[6000:]) < 6000 * 0.02


def test_a_failed_save_leaves_the_old_file_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "seen"
    seen = UrlSeenTest.load(path, table_of("a"))
    seen.save(path)
    before = path.read_bytes()
    monkeypatch.setattr("locks.private_files.os.fsync", lambda number: (_ for _ in ()).throw(OSError(28, "full")))
    seen.save(path)
    assert path.read_bytes() == before
    assert "cannot be written" in caplog.text
