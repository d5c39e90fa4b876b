"""A few damaged stores: each is detected and repaired. `make faults` runs sixty."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from crawler.schedule.url_seen import UrlSeenTest
from crawler.state_files import write_state
from docstore.database import to_store_error
from docstore.follows import FOLLOWS_FILE
from docstore.integrity.integrity_checks import find_sqlite_faults
from domain.errors import StoreError, StoreTooNewError, StoreUnavailableError
from domain.frontier import Visit
from domain.outcome import Outcome, Reason, Stage
from domain.term import Lexicon, LexiconEntry, TermStatus
from pipeline import stages
from pipeline.engine import Engine
from pipeline.maintenance.backup import BackupError, copy_sqlite, create_daily_copy, file_sha256, find_repair_sources
from pipeline.maintenance.integrity_check import Fault, has_readable_first_record, iter_state_file_faults
from pipeline.maintenance.preflight import check_all, check_before_run, raise_if_damaged
from pipeline.maintenance.repair import repair_vertical
from pipeline.progress import NullProgress
from pipeline.settings import build_settings, load_settings
from tests.builders import add, decide, keep_page, sqlite_error
from tests.crash_harness import Vertical
from tests.faults.stores import Damaged, bloom_faults, content, sqlite_faults
from tests.local_workers import local_workers

pytestmark = pytest.mark.slow

TEXT = "大庆油田今天宣布，第{n}号井的产量超过去年同期，创下新高。工程师说，钻井用了{n}十天，比计划少{n}天。"


@pytest.fixture(scope="module", autouse=True)
def without_worker_processes() -> Iterator[None]:
    """Extract pages in this process: these tests are about what is stored."""
    with local_workers():
        yield


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vertical]:
    """A vertical of eight pages with decisions and a published lexicon; it has no Solr."""
    vertical = Vertical(tmp_path_factory.mktemp("small") / "v").write({"vertical": {"name": "small"}})
    with Engine(load_settings(vertical.config), NullProgress()) as engine:
        for n in range(1, 9):
            body = "".join(f"<p>{TEXT.format(n=n)}</p>" * 3 for _ in range(2))
            html = f"<html><title>第{n}号井</title><body><h1>第{n}号井创下新高</h1>{body}"
            keep_page(engine.store, f"http://a.test/2024/{n}.html", html.encode())
        stages.extract(engine)
        assert engine.store.articles.count() == 8
        add(engine.store, ["抽油机", "采油树"], by="anna")
        decide(engine.store, ["采油树"], TermStatus.REJECTED, by="anna")
        engine.store.lexicons.publish(Lexicon(1, (LexiconEntry("抽油机"),)))
        stages.mine_candidates(engine)
        seen = engine.settings.data_dir / "seen.bloom"
        UrlSeenTest.load(seen, engine.store.frontier).save(seen)
        write_state(seen.with_name("lastmod.json"), {"a.test": [[1, 0]]})
    yield vertical


@pytest.fixture
def damaged(small: Vertical, tmp_path: Path) -> Damaged:
    return Damaged(small, tmp_path)


def test_random_bits_and_lost_pages_are_detected_and_put_right(small: Vertical, tmp_path: Path) -> None:
    tally = sqlite_faults(small, tmp_path, stores=3)
    assert tally.complaints == [] and tally.survived == tally.tried == tally.detected


@pytest.mark.exhaustive
def test_small_files_are_detected_and_made_anew(small: Vertical, tmp_path: Path) -> None:
    tally = bloom_faults(small, tmp_path)
    assert tally.complaints == [] and tally.lost == 0 and tally.survived == tally.tried == tally.detected


def test_damaged_bytes_that_resemble_an_arc_record_are_no_readable_record(tmp_path: Path) -> None:
    file = tmp_path / "damaged.warc.gz"
    file.write_bytes(b"XXXXXXXX http://a.test/ 1 2 3 4\n" + bytes(100))
    assert not has_readable_first_record(file)


def test_a_foreign_format_is_damage_and_a_lock_or_a_file_that_does_not_open_is_none(tmp_path: Path) -> None:
    settings = build_settings({}, tmp_path)
    file = settings.data_dir / FOLLOWS_FILE
    file.parent.mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("CREATE TABLE follows (id)")
        database.execute("BEGIN EXCLUSIVE")
        with closing(sqlite3.connect(file, timeout=0)) as other, pytest.raises(sqlite3.OperationalError):
            find_sqlite_faults(other)
    with file.open("r+b") as stream:
        stream.seek(44)
        stream.write((9).to_bytes(4))
    assert [fault.description for fault in iter_state_file_faults(settings)] == [
        "follows.db is damaged (unsupported file format)"
    ]
    file.unlink()
    file.mkdir()
    assert list(iter_state_file_faults(settings)) == []


def test_a_database_with_rows_that_lack_others_is_copied(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        database.executescript(
            "CREATE TABLE a (id PRIMARY KEY); CREATE TABLE b (id REFERENCES a); INSERT INTO b VALUES (1)"
        )
    copy_sqlite(tmp_path / "store.db", tmp_path / "copy.db", "the store", "")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("SELECT id FROM b").fetchall() == [(1,)]


def test_a_locked_store_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = build_settings({}, tmp_path)
    opened = partial(Engine, settings, NullProgress())
    with opened():
        pass
    monkeypatch.setattr("docstore.database.BUSY_TIMEOUT_MS", 100)
    with closing(sqlite3.connect(settings.data_dir / "store.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another program"):
            check_all(settings, opened, with_index=False)


@pytest.mark.parametrize(
    ("error", "is_damaged"),
    [
        (sqlite_error(sqlite3.SQLITE_BUSY, "database is locked"), False),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN, "unable to open database file"), False),
        (sqlite_error(sqlite3.SQLITE_READONLY, "attempt to write a readonly database"), True),
        (psycopg.OperationalError("the database server does not respond"), False),
        (psycopg.errors.TooManyConnections("sorry, too many clients already"), False),
        (psycopg.errors.DataCorrupted("invalid page in block 1"), True),
        (sqlite_error(sqlite3.SQLITE_CORRUPT, "database disk image is malformed"), True),
        (sqlite_error(sqlite3.SQLITE_ERROR, "unsupported file format"), True),
        (sqlite3.OperationalError("Could not decode to UTF-8 column 'title'"), True),
    ],
)
def test_a_store_that_is_locked_or_does_not_open_is_not_damaged(error: Exception, is_damaged: bool) -> None:
    def open_engine() -> Engine:
        raise to_store_error(DBAPIError("SELECT 1", {}, error))

    settings = build_settings({}, Path("/nowhere"))
    with nullcontext() if is_damaged else pytest.raises(StoreUnavailableError):
        assert [fault.component for fault in check_all(settings, open_engine)] == ["database"]


def test_a_text_that_is_not_utf_8_is_repaired(damaged: Damaged) -> None:
    file = change_rows(damaged, "UPDATE articles SET title = CAST(x'E5FF' AS TEXT) WHERE url_id = 3")
    damaged.repair(damaged.check(), with_backup=False)
    assert damaged.check() == [] and content(file)[0] == damaged.truth[0]


def test_without_a_backup_articles_come_from_their_pages(damaged: Damaged) -> None:
    file = change_rows(damaged, "UPDATE articles SET title = title || '小庆' WHERE url_id = 3")
    faults = damaged.check()
    assert [(one.component, one.location, one.keys) for one in faults] == [("rows", "articles", ("3",))]
    damaged.repair(faults, with_backup=False)
    assert damaged.check() == [] and content(file)[0] == damaged.truth[0]


CHANGES = {
    "terms": "UPDATE terms SET status = 'accepted' WHERE text = '采油树'",
    "term_changes": "UPDATE term_changes SET after = '' WHERE text = '采油树'",
    "term_acts": "DELETE FROM term_acts WHERE act_id = 2",
    "accounts": "UPDATE accounts SET roles = 'reviewer'",
    "operations": "DELETE FROM operations WHERE operation_id = 1",
    "alert_mutes": "UPDATE alert_mutes SET until = 5.0",
    "api_tokens": "UPDATE api_tokens SET scopes = 'all'",
    "term_comments": "UPDATE term_comments SET text = ''",
    "term_assignments": "DELETE FROM term_assignments",
    "lexicon_entries": "UPDATE lexicon_entries SET text = '抽油'",
}


def change_rows(damaged: Damaged, *statements: str) -> Path:
    """Change a fresh copy of the store; returns its file."""
    file = damaged.fresh() / "store.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return file


def test_what_people_said_comes_from_the_backup(damaged: Damaged) -> None:
    file = change_rows(damaged, *CHANGES.values())
    faults = damaged.check()
    assert set(CHANGES) <= {fault.location for fault in faults}
    damaged.repair(faults)
    assert content(file) == damaged.truth and damaged.check() == []


def test_a_store_of_before_there_were_sums_gets_them(damaged: Damaged) -> None:
    file = change_rows(damaged, "DELETE FROM row_sums", "DELETE FROM meta WHERE key = 'row_sums_form'")
    assert damaged.check() == []
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM row_sums").fetchone()[0] > 8


def test_a_run_on_a_damaged_store_is_refused(damaged: Damaged) -> None:
    change_rows(damaged, "UPDATE accounts SET roles = 'reviewer'")
    with damaged.opened() as engine:
        found = check_before_run(engine)
        assert {one.component for one in found} == {"rows"}
        with pytest.raises(StoreError, match="plumb check --repair"):
            raise_if_damaged(found)


def test_a_store_that_is_gone_is_missed(damaged: Damaged) -> None:
    (damaged.fresh() / "store.db").unlink()
    assert [one.component for one in check_all(damaged.settings, damaged.opened)] == ["database"]


def test_no_command_creates_a_store_beside_warc_files(damaged: Damaged) -> None:
    file = damaged.fresh() / "store.db"
    file.unlink()
    with pytest.raises(StoreError, match=r"store\.db is missing"):
        damaged.opened()
    assert not file.exists()
    losses = [step.text for step in damaged.repair(damaged.check(), with_backup=False) if step.is_loss]
    assert "accounts: 1 rows lost, no copy has them (unknown keys)" in losses
    with damaged.opened() as engine:
        assert engine.store.articles.count() == 8


KILLED_REPAIR = """
import os, pathlib, signal
replace = pathlib.Path.replace
def replace_or_die(path, target):
    if path.name == os.environ["KILLED_RENAME"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(path, target)
pathlib.Path.replace = replace_or_die
from pipeline.cli.main import main
main()
"""


@pytest.mark.process
def test_the_next_start_finishes_a_killed_repair(damaged: Damaged, caplog: pytest.LogCaptureFixture) -> None:
    file = kill_repair(damaged, "store.db.fresh")
    assert not file.exists() and list(file.parent.glob("store.db.damaged-*"))
    with damaged.opened() as engine:
        assert engine.store.frontier.url_count() == 8
    assert "an interrupted repair is finished" in caplog.text
    assert damaged.check() == [] and content(file) == damaged.truth


@pytest.mark.process
def test_a_rebuilt_store_is_not_used_after_a_kill_before_the_exchange(damaged: Damaged) -> None:
    file = kill_repair(damaged, "store.db")
    assert file.exists() and (fresh := file.with_name("store.db.fresh")).exists()
    with damaged.opened():
        assert not fresh.exists()
    damaged.repair(damaged.check())
    assert damaged.check() == [] and content(file) == damaged.truth


def kill_repair(damaged: Damaged, renamed: str) -> Path:
    """Kill the repair of a store before it renames a file; return the store."""
    file = damaged.fresh() / "store.db"
    lose_rows(file.parent, "terms")
    command = [sys.executable, "-c", KILLED_REPAIR, "-c", str(damaged.config), "check", "--repair", "--no-index"]
    environment = {**os.environ, "KILLED_RENAME": renamed}
    assert subprocess.run(command, check=False, env=environment).returncode == -signal.SIGKILL
    return file


def test_rows_of_a_lost_url_keep_its_address(damaged: Damaged) -> None:
    data = damaged.fresh()
    lose_rows(data, "urls")
    damaged.repair(damaged.check(), with_backup=False)
    assert content(data / "store.db")[0] == damaged.truth[0] and damaged.check() == []


def test_changes_of_a_lost_decision_and_entries_of_a_lost_version_are_kept(damaged: Damaged) -> None:
    data = damaged.fresh()
    for table in ("term_acts", "lexicons"):
        lose_rows(data, table)
    losses = [step.text for step in damaged.repair(damaged.check(), with_backup=False) if step.is_loss]
    assert sorted(losses) == [
        "lexicons: 1 rows lost, no copy has them (1)",
        "term_acts: 2 rows lost, no copy has them (1, 2)",
    ]
    found = content(data / "store.db")
    assert (found[3], found[4]) == (damaged.truth[3], damaged.truth[4]) and damaged.check() == []


def test_articles_stay_until_their_lost_pages_are_fetched(damaged: Damaged) -> None:
    data = damaged.fresh()
    [warc] = (data / "warc").iterdir()
    for table in ("pages", "outcomes"):
        lose_rows(data, table)
    warc.write_bytes(warc.read_bytes()[: warc.stat().st_size // 2])
    losses = [step.text for step in damaged.repair(damaged.check(), with_backup=False) if step.is_loss]
    assert any("their readable articles are kept" in loss for loss in losses)
    with damaged.opened() as engine:
        assert engine.store.articles.count() == 8
        stages.extract(engine)
        assert engine.store.articles.count() == 8


@pytest.mark.parametrize("how", ["bits", "fewer records"])
def test_a_warc_file_is_not_replaced_by_a_worse_one(damaged: Damaged, how: str) -> None:
    data = damaged.fresh()
    [file] = (data / "warc").iterdir()
    copy = damaged.backup / "warc" / file.name
    whole = copy.read_bytes()
    copy.write_bytes(whole[: len(whole) // 3] + bytes(60) + whole[len(whole) // 3 + 60 : len(whole) // 2])
    if how == "fewer records":  # the file was damaged when it was backed up
        manifest = json.loads((damaged.backup / "manifest.json").read_text())
        manifest["files"][f"warc/{file.name}"] = [copy.stat().st_size, file_sha256(copy)]
        (damaged.backup / "manifest.json").write_text(json.dumps(manifest))
        file.write_bytes(whole[: copy.stat().st_size])  # its last record is cut
    else:
        file.write_bytes(whole[:-300] + bytes(40) + whole[-260:])
    before = file.read_bytes()
    damaged.repair(damaged.check())
    assert file.read_bytes() == before


def test_a_replaced_warc_file_stays_in_the_data_folder(damaged: Damaged) -> None:
    [file] = (damaged.fresh() / "warc").iterdir()
    cut = file.read_bytes()[:-500]
    file.write_bytes(cut)
    damaged.repair(damaged.check())
    [old] = file.parent.parent.glob(f"{file.name}.damaged-*")
    assert old.read_bytes() == cut and damaged.check() == []


def test_decisions_come_from_the_daily_copy(damaged: Damaged) -> None:
    data = damaged.fresh()
    create_daily_copy(damaged.settings)
    for table in ("accounts", "terms", "term_acts", "api_tokens"):
        lose_rows(data, table)
    faults = damaged.check()
    with pytest.raises(BackupError):
        create_daily_copy(damaged.settings)
    steps = list(repair_vertical(damaged.settings, damaged.opened, faults, find_repair_sources(data, None)))
    assert not [step for step in steps if step.is_loss]
    assert content(data / "store.db") == damaged.truth and damaged.check() == []


def test_a_copy_that_fails_is_a_note_of_the_run(damaged: Damaged) -> None:
    (damaged.fresh() / "copies").write_text("not a folder")
    with damaged.opened() as engine:
        with stages.record_run(engine, "run") as record:
            record.run_stage(Stage.EXTRACT, partial(stages.extract, engine))
            stages.copy_decisions(engine, record)
        [run] = engine.store.runs.list_newest(1)
    assert "could not be copied" in run.stages[-1].notes[-1] and not run.stages[-1].error


def test_copies_of_seven_days_are_kept(damaged: Damaged) -> None:
    folder = damaged.fresh() / "copies"
    create_daily_copy(damaged.settings)
    [copy] = folder.iterdir()
    for day in range(10, 20):
        shutil.copytree(copy, folder / f"plumbline-202001{day}-000000")
    (folder / ".unfinished-20200101-000000-1").mkdir()
    os.utime(folder / ".unfinished-20200101-000000-1", (0, 0))  # of a killed run
    (folder / ".unfinished-20200101-000000-2").mkdir()
    create_daily_copy(damaged.settings)
    unfinished, *copies = sorted(folder.iterdir())
    assert len(copies) == 7 and not copy.exists() and unfinished.name.endswith("-2")
    assert copies[0].name == "plumbline-20200114-000000"


def lose_page_rows(data: Path) -> None:
    """Overwrite the database page that contains all rows of the table `pages`."""
    lose_rows(data, "pages")


def lose_rows(data: Path, table: str) -> None:
    """Overwrite the root page of a table."""
    file = data / "store.db"
    with closing(sqlite3.connect(file)) as connection:
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        [(size,)] = connection.execute("PRAGMA page_size").fetchall()
    with file.open("r+b") as stream:
        stream.seek((root - 1) * size)
        stream.write(bytes(size))


def damage_rows_and_a_warc_file(damaged: Damaged) -> str:
    """Add two pages in a second WARC file, lose all rows of pages, and damage the first file; return its name."""
    data = damaged.fresh()
    [first] = (data / "warc").iterdir()
    with damaged.opened() as engine:
        for n in (9, 10):
            keep_page(engine.store, f"http://a.test/2024/{n}.html", f"<p>{TEXT.format(n=n)}".encode())
    lose_page_rows(data)
    middle = first.stat().st_size // 2
    first.write_bytes(first.read_bytes()[:middle] + bytes(100) + first.read_bytes()[middle + 100 :])
    return first.name


def test_the_records_behind_a_damaged_one_are_imported(damaged: Damaged) -> None:
    data = damaged.fresh()
    [file] = (data / "warc").iterdir()
    with damaged.opened() as engine:
        offsets = [pointer.offset for _, pointer, _ in engine.store.integrity.iter_warc_records()]
    lose_page_rows(data)
    whole, middle = file.read_bytes(), (offsets[3] + offsets[4]) // 2
    file.write_bytes(whole[:middle] + bytes(40) + whole[middle + 40 :])
    losses = [step.text for step in damaged.repair(damaged.check(), with_backup=False) if step.is_loss]
    assert losses[0].startswith(f"{file.name} is damaged") and losses[1].startswith("1 stored pages are lost")
    with damaged.opened() as engine:
        assert engine.store.status.url_report("http://a.test/2024/4.html").page is None  # type: ignore[union-attr]
        assert len(list(engine.store.integrity.iter_warc_records())) == 7


def test_a_repair_does_not_bring_back_pages_that_are_gone(damaged: Damaged) -> None:
    data = damaged.fresh()
    with damaged.opened() as engine:
        frontier, url = engine.store.frontier, "http://a.test/2024/5.html"
        visit = Visit(frontier.find_entries([url])[url], Outcome(Reason.GONE), 2_000.0, None, 4_000.0, is_gone=True)
        frontier.record_visits([visit])
    lose_page_rows(data)
    damaged.repair(damaged.check(), with_backup=False)
    with damaged.opened() as engine:
        assert engine.store.status.url_report(url).page is None  # type: ignore[union-attr]
        assert len(list(engine.store.integrity.iter_warc_records())) == 7


def test_urls_restored_from_warc_files_are_due(damaged: Damaged) -> None:
    lose_page_rows(damaged.fresh())
    with closing(sqlite3.connect(damaged.settings.data_dir / "store.db")) as connection, connection:
        connection.execute("DELETE FROM urls WHERE url LIKE '%/6.html'")
    damaged.repair(damaged.check(), with_backup=False)
    with damaged.opened() as engine:
        visits = engine.store.frontier.last_visits([f"http://a.test/2024/{n}.html" for n in (5, 6)])
    assert [visit.due_at for _, visit in sorted(visits.items())] == [5_000.0, 1_000.0]


def test_a_damaged_warc_file_does_not_stop_the_import_of_the_others(damaged: Damaged) -> None:
    name = damage_rows_and_a_warc_file(damaged)
    losses = [step.text for step in damaged.repair(damaged.check(), with_backup=False) if step.is_loss]
    with damaged.opened() as engine:
        entries = engine.store.frontier.find_entries([f"http://a.test/2024/{n}.html" for n in range(1, 11)]).values()
        stored = {record[0] for record in engine.store.integrity.iter_warc_records()}
    with_digest = {entry.url_id for entry in entries if entry.digest}
    in_second_file = {entry.url_id for entry in entries if entry.url.endswith(("/9.html", "/10.html"))}
    assert with_digest == stored and in_second_file < stored
    assert len(losses) == 2 and losses[0].startswith(f"{name} is damaged")
    assert losses[1].startswith(f"{10 - len(stored)} stored pages are lost")
    assert damaged.check() == []


def test_a_page_whose_row_is_lost_comes_from_its_warc_file(damaged: Damaged) -> None:
    change_rows(damaged, "DELETE FROM pages WHERE url_id IN (2, 3)")
    faults = damaged.check()
    assert [(one.component, one.keys) for one in faults] == [("lost_pages", ("2", "3"))]
    assert not [step for step in damaged.repair(faults, with_backup=False) if step.is_loss]
    assert damaged.check() == [] and content(damaged.settings.data_dir / "store.db")[0] == damaged.truth[0]


@pytest.mark.always
def test_one_repair_restores_the_database_warc_and_state_files(damaged: Damaged) -> None:
    damage_rows_and_a_warc_file(damaged)
    (damaged.settings.data_dir / "lastmod.json").write_text("{")
    steps = damaged.repair(damaged.check())
    assert not [step for step in steps if step.is_loss] and damaged.check() == []
    with damaged.opened() as engine:
        assert len(list(engine.store.integrity.iter_warc_records())) == 10


def test_a_store_of_a_newer_program_is_not_damaged(damaged: Damaged) -> None:
    file = change_rows(damaged, "UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(StoreTooNewError):
        damaged.check()
    assert content(file) == damaged.truth


def test_the_database_of_a_server_is_not_rebuilt(tmp_path: Path) -> None:
    settings = build_settings({"store": {"url": "postgresql+psycopg://plumb@127.0.0.1:9/plumb"}}, tmp_path)
    (tmp_path / "data").mkdir()
    with pytest.raises(StoreError, match="restore its last dump"):
        list(repair_vertical(settings, nullcontext, [Fault("rows", "damaged")], []))  # type: ignore[arg-type]
    assert not list((tmp_path / "data").glob("store.db*"))
