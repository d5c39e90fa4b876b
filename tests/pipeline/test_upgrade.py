"""`plumb upgrade`, on stores and backups that a program of each earlier schema version created."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from docstore.schema import SCHEMA_VERSION
from docstore.schema_state import SchemaState
from domain.term import TermStatus
from indexer.solr_index import current_collection
from locks.file_locks import stage_lock
from pipeline.engine import open_store
from pipeline.maintenance.upgrade import check_extractor, check_index, check_schema
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
        accepted = [term.text for term in store.lexicons.find_terms(TermStatus.ACCEPTED)[1]]
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
