"""The `plumb takedown` commands, and the commands that would bring a page back."""

import json
from pathlib import Path

import pytest

from docstore.store import Store, open_sqlite_store
from domain.outcome import Reason
from domain.page import Page
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from pipeline.warc_import.importer import store_page
from tests.builders import keep_page, operate
from tests.crash_harness import LocalVertical

URL = "http://a.test/1.html"


@pytest.fixture
def vertical(tmp_path: Path) -> LocalVertical:
    sections = {"vertical": {"data_dir": "data"}, "crawl": {"seeds": ["http://a.test/"]}}
    made = LocalVertical(tmp_path).write(sections)
    with open_store(tmp_path) as store:
        keep_page(store, URL)
    return made


def open_store(folder: Path) -> Store:
    return open_sqlite_store(folder / "data")


def test_a_page_is_taken_down_listed_and_restored(vertical: LocalVertical, tmp_path: Path) -> None:
    said = vertical.plumb("takedown", "add", f"{URL}#top", "--reason", "the owner asked")
    assert said.status == 0 and f"took down {URL}" in said.out, said
    rows = json.loads(vertical.plumb("takedown", "list", "--json").out)
    assert {row["url"] for row in rows} == {URL, "https://a.test/1.html"}
    assert {row["reason"] for row in rows} == {"the owner asked"}
    assert "is taken down already" in vertical.plumb("takedown", "add", URL, "--reason", "r").err
    assert "plumb takedown undo" in vertical.plumb("refresh", URL).err
    assert vertical.plumb("takedown", "undo", URL).status == 0
    assert "is not taken down" in vertical.plumb("takedown", "undo", URL).err
    assert "at most 500, not 501" in vertical.plumb("takedown", "add", URL, "--reason", "r" * 501).err
    assert "neither a host nor an http or https URL" in vertical.plumb("takedown", "add", "x:y", "--reason", "r").err
    with open_store(tmp_path) as store:
        [row] = store.frontier.admin.iter_urls()
        assert row.due_at == 0.0


@pytest.mark.parametrize("is_restore", [False, True])
def test_an_import_leaves_the_page_out(tmp_path: Path, is_restore: bool) -> None:
    settings = build_settings({"vertical": {"data_dir": "data"}, "crawl": {"seeds": ["http://a.test/"]}}, tmp_path)
    page = Page(0, URL, URL, 200, "text/html", b"<p>one</p>", "d", 5.0)
    with Engine(settings, NullProgress()) as engine:
        operate(engine.store, "page_takedown", url=URL, reason="")
        assert store_page(engine, page, is_restore) == Reason.TAKEN_DOWN
        assert engine.store.frontier.url_count() == 0
        operate(engine.store, "page_restore", url=URL)
        assert store_page(engine, page, is_restore) == Reason.FETCHED
