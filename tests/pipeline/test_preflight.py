"""Sealed keys of near-duplicates in a vertical: the nightly run, backups, the check and its repair know them."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, update

from docstore.near_duplicates import key_compaction
from docstore.schema.article_tables import articles, key_segment_buckets
from extractor.settings import EXTRACTOR_VERSION
from pipeline import stages
from pipeline.engine import Engine
from pipeline.maintenance.backup import create_backup, restore_backup
from pipeline.maintenance.preflight import check_all
from pipeline.maintenance.repair import repair_vertical
from pipeline.progress import NullProgress
from pipeline.settings import Settings, load_settings
from tests.builders import relate_articles
from tests.crash_harness import Vertical
from tests.docstore.test_key_compaction import Nights
from tests.docstore.test_near_duplicates import article, groups, signature


@pytest.fixture
def vertical(tmp_path: Path) -> Iterator[Vertical]:
    """A vertical with articles of last month, whose keys are rows."""
    made = Vertical(tmp_path / "v").write({"crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    made.data.mkdir()
    nights = nights_in(made.data)
    nights.store.articles.require_extractor_version(EXTRACTOR_VERSION)  # stored pages are not read again
    nights.clock.now = time.time() - 31 * 86_400
    nights.add(*(article(str(n), signature(n)) for n in range(20)))
    nights.store.close()
    yield made
    made.end()


def nights_in(data: Path) -> Nights:
    nights = Nights(f"sqlite:///{data / 'store.db'}", data / "warc")
    nights.clock.now = time.time()
    return nights


def seal_at_night(settings: Settings) -> None:
    with Engine(settings, NullProgress()) as engine:
        stages.run(engine, last_stage="extract", only_stage="extract")


def test_the_nightly_run_seals_and_a_restored_backup_finds_the_same(
    vertical: Vertical, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(vertical.config)
    seal_at_night(settings)
    before = nights_in(vertical.data)
    keys = before.keys()
    assert (before.rows(), before.parts()) == (len(keys), [])  # a small store stays as it is
    before.store.close()
    monkeypatch.setattr(key_compaction, "MIN_ROWS_TO_SEAL", 0)
    seal_at_night(settings)
    backup = create_backup(settings, vertical.config, tmp_path / "backups")
    restored = Vertical(tmp_path / "restored").write({"crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    restore_backup(backup, load_settings(restored.config))
    found = nights_in(restored.data)
    assert (found.rows(), len(found.parts()), found.keys()) == (0, 1, keys)
    assert list(found.store.key_compaction.iter_faults()) == []
    found.add(article("copy", signature(7)))
    assert groups(found)["copy"] == "7"
    found.store.close()


def test_damaged_keys_are_found_and_made_anew(vertical: Vertical, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(vertical.config)
    monkeypatch.setattr(key_compaction, "MIN_ROWS_TO_SEAL", 0)
    seal_at_night(settings)
    opened = partial(Engine, settings, NullProgress())
    assert check_all(settings, opened, with_index=False) == []
    nights = nights_in(vertical.data)
    keys = nights.keys()
    with nights.store._database.write() as connection:
        [row, *_] = connection.execute(select(key_segment_buckets))
        connection.execute(
            update(key_segment_buckets).where(key_segment_buckets.c.bucket == row.bucket).values(entries=b"\0" * 9)
        )
    nights.store.close()
    faults = check_all(settings, opened, with_index=False)
    assert [fault.component for fault in faults] == ["copies"]
    done = list(repair_vertical(settings, opened, faults, []))
    assert any("near-duplicate keys are recomputed" in step.text for step in done)
    assert check_all(settings, opened, with_index=False) == []
    nights = nights_in(vertical.data)
    assert nights.keys() == keys
    assert nights.parts() == []
    nights.store.close()


def test_keys_on_a_page_that_cannot_be_read_are_thrown_away(
    vertical: Vertical, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(vertical.config)
    monkeypatch.setattr(key_compaction, "MIN_ROWS_TO_SEAL", 0)
    seal_at_night(settings)
    file = vertical.data / "store.db"
    nights = nights_in(vertical.data)
    with nights.store._database.read() as connection:
        [row, *_] = connection.execute(select(key_segment_buckets))
    nights.store.close()
    whole = file.read_bytes()
    page = whole.index(row.entries[-40:]) // 4096 * 4096
    file.write_bytes(whole[:page] + b"\xff" * 4096 + whole[page + 4096 :])
    opened = partial(Engine, settings, NullProgress())
    faults = check_all(settings, opened, with_index=False)
    assert {fault.component for fault in faults} & {"file", "database"}
    done = list(repair_vertical(settings, opened, faults, []))
    assert any("near-duplicate keys are recomputed" in step.text for step in done), done
    assert check_all(settings, opened, with_index=False) == []
    nights = nights_in(vertical.data)
    assert nights.parts() == []
    nights.store.close()


def test_wrong_citation_counts_are_reported_and_corrected(vertical: Vertical) -> None:
    settings = load_settings(vertical.config)
    opened = partial(Engine, settings, NullProgress())
    with opened() as engine:
        relate_articles(engine.store)
    nights = nights_in(vertical.data)
    with nights.store._database.write() as connection:
        connection.execute(update(articles).values(citations=3))
    nights.store.close()
    faults = check_all(settings, opened, with_index=False)
    assert [(fault.component, len(fault.keys)) for fault in faults] == [("citations", 20)]
    assert check_all(settings, opened, quick=True, with_index=False) == []
    steps = list(repair_vertical(settings, opened, faults, []))
    assert [step.text for step in steps] == ["20 citation counts were corrected; the next run writes them to the index"]
    assert check_all(settings, opened, with_index=False) == []
