"""`plumb upgrade`, on stores and backups that a program of each earlier schema version created."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from docstore.schema import SCHEMA_VERSION
from docstore.schema_state import SchemaState
from domain.review import TermQuery
from domain.term import TermStatus
from indexer.solr_index import current_collection
from locks.file_locks import stage_lock
from pipeline.engine import Engine, open_store
from pipeline.index_stage import wait_for_solr
from pipeline.maintenance.upgrade import check_extractor, check_index, check_schema
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import build_settings, load_settings
from tests.crash_harness import LocalVertical
from tests.earlier_versions import extract_archive

FIRST_VERSION_WITH_BACKUPS = 7


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a vertical of each earlier schema version."""
    folder = tmp_path_factory.mktemp("earlier")
    extract_archive("stores.tar.xz", folder)
    return folder


def open_vertical(folder: Path) -> LocalVertical:
    folder.mkdir(exist_ok=True)
    return LocalVertical(folder).write({"crawl": {"seeds": ["http://127.0.0.1:18999/"]}})


def schema_version(vertical: LocalVertical) -> int:
    """Return the schema version that the store states, without the program."""
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection:
        return int(connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()[0])


def contents(vertical: LocalVertical) -> tuple[int, list[str], int]:
    """Return the number of articles, the accepted terms, and the number of published lexicon versions."""
    with open_store(load_settings(vertical.config)) as store:
        accepted = [term.text for term in store.review_queue.find_page(TermQuery(TermStatus.ACCEPTED, limit=1000))[1]]
        return store.articles.count(), accepted, len(store.lexicons.list_versions())


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_a_store_of_each_earlier_version_is_upgraded(earlier: Path, version: int) -> None:
    vertical = open_vertical(earlier / str(version))
    said = vertical.plumb("upgrade")
    assert (said.status, schema_version(vertical)) == (1, version)
    assert "not ready for the upgrade: backup; nothing was changed" in said.complaint
    assert f"schema version {version} will be upgraded to {SCHEMA_VERSION}" in said.out
    assert "there is no index yet" in vertical.done("upgrade", "--without-backup").out
    assert schema_version(vertical) == SCHEMA_VERSION
    assert contents(vertical) == (3, ["页岩气"], 0 if version == 2 else 1)
    assert "no damage found" in vertical.done("check", "--no-index").out


@pytest.mark.parametrize("version", range(FIRST_VERSION_WITH_BACKUPS, SCHEMA_VERSION))
def test_a_backup_of_each_earlier_version_is_restored(earlier: Path, version: int) -> None:
    vertical = open_vertical(earlier / f"restored{version}")
    vertical.done("restore", str(earlier / str(version) / "backups"))
    assert schema_version(vertical) == version
    assert contents(vertical) == (3, ["页岩气"], 1)


def test_every_earlier_version_has_a_store(earlier: Path) -> None:
    assert {int(path.name) for path in earlier.iterdir() if path.name.isdecimal()} == set(range(1, SCHEMA_VERSION))


def test_an_active_process_prevents_the_upgrade(earlier: Path) -> None:
    vertical = open_vertical(earlier / "active")
    vertical.done("restore", str(earlier / "14" / "backups"))
    with stage_lock(vertical.data, "crawl"):
        said = vertical.plumb("upgrade", "--json", "--without-backup")
    assert said.status == 1 and "not ready for the upgrade: processes" in said.complaint
    [processes] = [row for row in json.loads(said.out) if row["name"] == "processes"]
    assert processes["text"].startswith("active: crawl (pid ")
    with closing(sqlite3.connect(vertical.data / "store.db")) as open_store:  # as the search site, which has no lock
        open_store.execute("SELECT count(*) FROM urls").fetchall()
        said = vertical.plumb("upgrade", "--without-backup")
    assert "PROBLEM  processes    active: a program that has the store open" in said.out


def test_without_a_store_nothing_is_created(tmp_path: Path) -> None:
    vertical = open_vertical(tmp_path / "new")
    assert "nothing to upgrade" in vertical.done("upgrade").out
    assert not vertical.data.exists()


def test_a_newer_store_and_an_older_extractor_are_named() -> None:
    newer = check_schema(SCHEMA_VERSION + 1)
    assert not newer.is_well and "install the newer program" in newer.advice
    assert check_extractor(SchemaState(SCHEMA_VERSION, 1, 7)).text == "the next run extracts 7 articles again"
    assert check_extractor(SchemaState(SCHEMA_VERSION, 1, 0)).text == "none will be extracted again"


def test_a_changed_schema_of_the_index_is_named(tmp_path: Path) -> None:
    settings = build_settings({}, tmp_path)
    cores = settings.data_dir / "solr" / "solr"
    names = ("plumbline_b674cc67", current_collection("plumbline", 1), "plumbline2_00000000")
    old, new, other = (cores / f"{name}_shard1_replica_n1" for name in names)
    for folder in (old, other):
        folder.mkdir(parents=True)
    assert "writes 7 articles to a new collection" in check_index(settings, 7).text
    new.mkdir()
    assert "completes the new collection and deletes the old one" in check_index(settings, 7).text
    old.rmdir()
    assert check_index(settings, 7).text == "its schema is current"
    silent = build_settings({"index": {"solr_url": "http://127.0.0.1:9/solr"}}, tmp_path)
    assert check_index(silent, 7).text == "not checked, Solr is not responding (ConnectionError)"


# -- Settings, store, index, backup and JSON answers of the previous version still work (tests/previous_version).


@pytest.fixture(scope="module")
def vertical(tmp_path_factory: pytest.TempPathFactory) -> LocalVertical:
    folder = tmp_path_factory.mktemp("previous")
    extract_archive("vertical.tar.xz", folder)
    return LocalVertical(folder)


@pytest.fixture(scope="module")
def answers(vertical: LocalVertical) -> dict[str, dict[str, Any]]:
    return json.loads((vertical.folder / "answers.json").read_text("utf-8"))


def missing_keys(before: object, now: object, path: str = "") -> Iterator[str]:
    """Yield what `now` lacks of `before`: keys, and values of the same type. `null` may replace any value."""
    if before is None or now is None:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        yield from (f"{path}.{key}" for key in before.keys() - now.keys())
        for key in before.keys() & now.keys():
            yield from missing_keys(before[key], now[key], f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list):
        for inner_before, inner_now in zip(before, now, strict=False):
            yield from missing_keys(inner_before, inner_now, f"{path}[]")
    elif not isinstance(now, int | float if isinstance(before, int | float) else type(before)):
        yield f"{path}: {type(now).__name__} instead of {type(before).__name__}"


@pytest.mark.solr
@pytest.mark.always
def test_the_store_is_complete(vertical: LocalVertical) -> None:
    assert vertical.plumb("check").status == 0


@pytest.mark.solr
@pytest.mark.exhaustive
def test_commands_print_the_same_keys(vertical: LocalVertical, answers: dict[str, dict[str, Any]]) -> None:
    for command, before in answers["commands"].items():
        said = vertical.plumb(*command.split(), "--json")
        assert said.status == 0, said
        assert list(missing_keys(before, json.loads(said.out))) == [], command


@pytest.mark.solr
@pytest.mark.exhaustive
def test_the_index_gives_the_same_results(vertical: LocalVertical, answers: dict[str, dict[str, Any]]) -> None:
    with Engine(load_settings(vertical.config), NullProgress()) as engine:
        wait_for_solr(engine)
        site = create_search_app(engine).test_client()
        for url, before in answers["pages"].items():
            now = site.get(url).get_json()
            assert list(missing_keys(before, now)) == [], url
            if "hits" in before:
                assert {hit["id"] for hit in before["hits"]} <= {hit["id"] for hit in now["hits"]}
                assert now["total"] == before["total"]


@pytest.mark.solr
@pytest.mark.exhaustive
def test_a_backup_is_restored(vertical: LocalVertical, tmp_path: Path) -> None:
    restored = LocalVertical(tmp_path)
    restored.config.write_bytes((vertical.folder / "backup" / "vertical.toml").read_bytes())
    said = restored.plumb("restore", str(vertical.folder / "backup"))
    assert said.status == 0, said
    said = restored.plumb("index")
    assert said.status == 0, said
    assert restored.plumb("check").status == 0
    assert restored.number("SELECT COUNT(*) FROM articles") == 32
