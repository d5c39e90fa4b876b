"""Every row that SQLite can read is in the new store."""

import random
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from docstore.articles.extraction_writer import PageExtraction
from docstore.integrity import rebuild
from docstore.integrity.rebuild import copy_decisions, rebuild_store
from docstore.store import open_sqlite_store
from domain.account import Role
from domain.frontier import NewUrl, UrlKind
from domain.outcome import Reason
from domain.page import Host
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import TermStatus
from tests.builders import ARTICLE, keep_page

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("short_scans")]

PAGE_BYTES = 4096
TABLE_INTERIOR = 0x05
TERMS = 500


@pytest.fixture
def short_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try fewer row ids behind the last readable row."""
    monkeypatch.setattr(rebuild, "SCAN_AHEAD_ROWIDS", 1_000)


def new_url(url: str) -> NewUrl:
    return NewUrl(url, Host("a.test"), 0, 0, UrlKind.UNKNOWN, 0.0)


def readable_terms(file: Path) -> set[str]:
    """Return the terms that can be read one by one."""
    names = set()
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        for rowid in range(2 * TERMS):
            try:
                names.update(
                    connection.execute("SELECT text FROM terms NOT INDEXED WHERE rowid = ?", (rowid,)).fetchall()
                )
            except sqlite3.DatabaseError:
                continue
    return {name for (name,) in names}


def find_leaves(data: bytes, page_number: int) -> list[int]:
    """Return the offsets of the leaves of a table below a page, in the order of their rows."""
    start = (page_number - 1) * PAGE_BYTES
    if data[start] != TABLE_INTERIOR:
        return [start]
    count = int.from_bytes(data[start + 3 : start + 5], "big")
    cells = [start + int.from_bytes(data[start + n : start + n + 2], "big") for n in range(12, 12 + 2 * count, 2)]
    children = [int.from_bytes(data[cell : cell + 4], "big") for cell in [*cells, start + 8]]
    return [leaf for child in children for leaf in find_leaves(data, child)]


def damage_leaves(file: Path, table: str, count: int) -> None:
    """Overwrite every second of `count` neighbouring leaves of a table, and its last leaf."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        [root] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    data = bytearray(file.read_bytes())
    leaves = find_leaves(bytes(data), root)
    first = random.Random(count).randrange(1, len(leaves) - count)
    for start in [*leaves[first : first + count : 2], leaves[-1]]:
        data[start : start + PAGE_BYTES] = b"\x5a" * PAGE_BYTES
    file.write_bytes(data)


@pytest.mark.parametrize("count", [1, 8])
def test_rows_beside_unreadable_ones_are_kept(tmp_path: Path, count: int) -> None:
    file, target, backup = (tmp_path / name for name in ("store.db", "new.db", "backup.db"))
    with open_sqlite_store(tmp_path) as store:
        edits = [
            TermEdit(f"term {n}", TermStatus.ACCEPTED, synonyms=("other words " * 4,), create_if_missing=True)
            for n in range(TERMS)
        ]
        store.review_history.apply(ReviewDecisionKind.ADD, edits, "anna")
    backup.write_bytes(file.read_bytes())
    with open_sqlite_store(tmp_path) as store:
        changes = [TermEdit(f"term {n}", synonyms=("newer words " * 4,)) for n in range(TERMS)]
        store.review_history.apply(ReviewDecisionKind.RELATE, changes, "anna")
    damage_leaves(file, "terms", count)
    readable = readable_terms(file)
    assert 0 < len(readable) < TERMS
    report = rebuild_store(file, [], target, new_url)
    with closing(sqlite3.connect(target)) as connection:
        assert {text for (text,) in connection.execute("SELECT text FROM terms")} == readable
    assert len(report.lost_keys["terms"]) == TERMS - len(readable)
    target.unlink()
    report = rebuild_store(file, [backup], target, new_url)
    with closing(sqlite3.connect(target)) as connection:
        newer = connection.execute("SELECT text FROM terms WHERE synonyms LIKE '%newer%'").fetchall()
    assert {text for (text,) in newer} == readable
    assert report.rows_from_copies["terms"] == len(report.unverified_keys["terms"]) == TERMS - len(readable)
    assert not any(report.lost_keys.values())


@pytest.mark.parametrize("row_count", [1_000, 2_000])
def test_the_work_grows_with_the_unreadable_rows(
    tmp_path: Path, row_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges = list[int]()
    iter_rows = rebuild.iter_readable_rows

    def counted(*arguments: Any) -> Iterator[tuple[Any, ...]]:
        ranges.append(1)
        return iter_rows(*arguments)

    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", [(f"{n}", "x" * 200) for n in range(row_count)])
    damage_leaves(tmp_path / "store.db", "meta", row_count // 25)
    monkeypatch.setattr(rebuild, "SCAN_AHEAD_ROWIDS", 100)
    monkeypatch.setattr(rebuild, "iter_readable_rows", counted)
    rebuild_store(tmp_path / "store.db", [], tmp_path / "new.db", new_url)
    assert row_count / 4 < len(ranges) < 3 * row_count


def test_an_article_whose_page_is_lost_stays_until_the_page_is_fetched(tmp_path: Path) -> None:
    with open_sqlite_store(tmp_path) as store:
        entry = keep_page(store)
        store.articles.save([PageExtraction(page, ARTICLE) for page in store.articles.iter_pending()])
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("DELETE FROM pages")
    with open_sqlite_store(tmp_path) as store:
        lost_ids = store.integrity.urls_without_page()
        assert lost_ids == [entry.url_id]
        store.integrity.force_refetch(lost_ids)
        assert store.articles.resolve_removed_pages() == [] and store.articles.count() == 1
        keep_page(store, body=b"<p>one, again</p>")
        pending = [PageExtraction(page, ARTICLE) for page in store.articles.iter_pending()]
        assert store.articles.save(pending) == [Reason.ARTICLE_UNCHANGED]


def rebuilt_rows(tmp_path: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the result of a query on the rebuilt store."""
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        return connection.execute(query).fetchall()


def fill_store(folder: Path, account_count: int = 0, action_ids: Iterable[int] = ()) -> Path:
    """Create a store with accounts and actions that is one file; return the file."""
    with open_sqlite_store(folder) as store:
        for n in range(account_count):
            store.accounts.create(f"user{n}", "hash", [Role.REVIEWER])
    with closing(sqlite3.connect(folder / "store.db")) as connection, connection:
        rows = [(number, "x" * 100) for number in action_ids]
        connection.executemany("INSERT INTO operations VALUES (?, 1, 'anna', 'a', 's', NULL, ?, NULL)", rows)
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")
    return folder / "store.db"


def overwrite_roots(file: Path, *names: str) -> None:
    """Overwrite the root pages of tables and indexes."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        marks = ", ".join("?" * len(names))
        roots = connection.execute(f"SELECT rootpage FROM sqlite_master WHERE name IN ({marks})", names).fetchall()
    assert len(roots) == len(names)
    data = bytearray(file.read_bytes())
    for (root,) in roots:
        data[(root - 1) * PAGE_BYTES : root * PAGE_BYTES] = b"\xff" * PAGE_BYTES
    file.write_bytes(data)


@pytest.mark.parametrize("lost_pages", [1, 3])
def test_the_rows_of_a_truncated_file_are_kept(tmp_path: Path, lost_pages: int) -> None:
    file = fill_store(tmp_path, 20, range(1, 2_001))
    file.write_bytes(file.read_bytes()[: -lost_pages * PAGE_BYTES])
    rebuild_store(file, [], tmp_path / "new.db", new_url)
    assert rebuilt_rows(tmp_path, "SELECT count(*) FROM accounts") == [(20,)]
    [(action_count,)] = rebuilt_rows(tmp_path, "SELECT count(*) FROM operations")
    assert action_count > 1_800


def test_a_store_with_unreadable_meta_keeps_its_id(tmp_path: Path) -> None:
    file = fill_store(tmp_path, 2)
    copy_decisions(file, tmp_path / "copy.db")
    with closing(sqlite3.connect(file)) as connection:
        stored_id = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchall()
    overwrite_roots(file, "meta", "sqlite_autoindex_meta_1")
    rebuild_store(file, [tmp_path / "copy.db"], tmp_path / "new.db", new_url)
    assert rebuilt_rows(tmp_path, "SELECT value FROM meta WHERE key = 'store_id'") == stored_id


@pytest.mark.parametrize("first_damaged", [-1, 40])
def test_rows_behind_a_gap_of_ids_are_kept(tmp_path: Path, first_damaged: int) -> None:
    file = fill_store(tmp_path, 0, [*range(1, 1_001), *range(201_001, 202_001), *range(400_001, 403_001)])
    with closing(sqlite3.connect(file)) as connection:
        [root] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'operations'").fetchone()
    data = bytearray(file.read_bytes())
    leaves = find_leaves(bytes(data), root)
    for start in {leaves[-1], leaves[first_damaged]}:
        data[start : start + PAGE_BYTES] = b"\xff" * PAGE_BYTES
    file.write_bytes(data)
    report = rebuild_store(file, [], tmp_path / "new.db", new_url)
    [(count, last)] = rebuilt_rows(tmp_path, "SELECT count(*), max(operation_id) FROM operations")
    assert count > 4_900 and last > 402_900
    assert report.partial_tables == ["operations"]
    assert len(report.lost_keys["operations"]) == 5_000 - count


def test_accounts_that_were_deleted_after_the_copy_do_not_come_back(tmp_path: Path) -> None:
    file = fill_store(tmp_path, 30)
    with open_sqlite_store(tmp_path) as store:
        term_edits = [TermEdit("term", TermStatus.ACCEPTED, create_if_missing=True)]
        store.review_history.apply(ReviewDecisionKind.ADD, term_edits, "anna")
    copy_decisions(file, tmp_path / "copy.db")
    deleted = {"user1", "user2", "user3"}
    with closing(sqlite3.connect(file)) as connection, connection:
        for table, key in (("accounts", "name"), ("row_sums", "key")):
            connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", [(name,) for name in deleted])
    overwrite_roots(file, "accounts", "sqlite_autoindex_accounts_1", "terms", "sqlite_autoindex_terms_1")
    report = rebuild_store(file, [tmp_path / "copy.db"], tmp_path / "new.db", new_url)
    assert rebuilt_rows(tmp_path, "SELECT count(*) FROM accounts") == [(27,)]
    assert report.deleted_keys["accounts"] == deleted and not report.lost_keys["accounts"]
    assert rebuilt_rows(tmp_path, "SELECT text FROM terms") == [("term",)]
