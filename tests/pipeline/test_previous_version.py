"""Settings, store, index, backup and JSON answers of the previous version still work (tests/previous_version)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.engine import Engine
from pipeline.index_stage import wait_for_solr
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import load_settings
from tests.crash_harness import LocalVertical
from tests.earlier_versions import extract_archive

pytestmark = pytest.mark.solr


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


def test_the_store_is_complete(vertical: LocalVertical) -> None:
    assert vertical.plumb("check").status == 0


@pytest.mark.exhaustive
def test_commands_print_the_same_keys(vertical: LocalVertical, answers: dict[str, dict[str, Any]]) -> None:
    for command, before in answers["commands"].items():
        said = vertical.plumb(*command.split(), "--json")
        assert said.status == 0, said
        assert list(missing_keys(before, json.loads(said.out))) == [], command


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
