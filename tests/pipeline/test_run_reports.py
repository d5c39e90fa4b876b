"""Progress of the active run, figures of each run, and the log of a run."""

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from structlog.contextvars import get_contextvars

from crawler.progress import CrawlProgress
from domain.errors import PlumblineError
from domain.message import Message
from domain.outcome import Reason, Stage, StageReport
from domain.run import LiveRun, RunState
from pipeline import stages
from pipeline.engine import Engine
from pipeline.json_lines import append_json_lines, read_json_lines
from pipeline.logs import MASK
from pipeline.progress import NullProgress
from pipeline.runs import run_figures
from pipeline.runs.live_progress import LIVE_PROGRESS_FILE, LiveProgress, read_live_run
from pipeline.runs.log_excerpt import MAX_EXCERPT_LINES, read_log_excerpt
from pipeline.runs.run_figures import FIGURES_FILE, MAX_ROWS, folder_bytes, read_figures
from pipeline.runs.run_reports import StoreRunReports
from pipeline.settings import load_settings


@pytest.fixture
def engine(tmp_path: Path):  # type: ignore[no-untyped-def]
    config = tmp_path / "vertical.toml"
    config.write_text('[[sites]]\nurls = ["http://127.0.0.1:1/"]\n')
    with Engine(load_settings(config), NullProgress()) as opened:
        yield opened


def crawl_progress(visits: int, failed: int, backlog: int) -> CrawlProgress:
    counts = {Reason.FETCHED: visits - failed, Reason.GONE: failed}
    return CrawlProgress(counts, 0, 1, 1.0, {}, backlog, 3, 45.0, "slow.example")


def test_the_progress_of_a_crawl_is_written_now_and_then(tmp_path: Path) -> None:
    now = [1000.0]
    progress = LiveProgress(NullProgress(), tmp_path / LIVE_PROGRESS_FILE, lambda: now[0])
    progress.start_stage(7, Stage.CRAWL)
    assert read_live_run(tmp_path) == LiveRun(7, "crawl", 1000.0, 1000.0)
    now[0] = 1001.0
    with progress.crawl_task() as report:
        report(crawl_progress(10, 1, 90))
        assert read_live_run(tmp_path) == LiveRun(7, "crawl", 1000.0, 1000.0)  # too soon
        now[0] = 1030.0
        report(crawl_progress(100, 4, 20))
    assert read_live_run(tmp_path) == LiveRun(7, "crawl", 1000.0, 1030.0, 100, 120, 200.0, 3, 4, "slow.example", 45.0)
    progress.start_stage(7, Stage.EXTRACT)
    with progress.task("extract", 50) as advance:
        now[0] = 1040.0
        advance(5)
        now[0] = 1041.0
        advance(45)
        assert read_live_run(tmp_path) == LiveRun(7, "extract", 1030.0, 1040.0, 5, 50, 30.0, seconds_left=90.0)
    assert read_live_run(tmp_path) == LiveRun(
        7, "extract", 1030.0, 1041.0, 50, 50, 3000 / 11, seconds_left=0.0
    )  # its end always


@pytest.mark.parametrize("content", ["", "[]", "{", '{"run_id": 1, "other": 2}', "\0"])
def test_a_damaged_progress_file_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / LIVE_PROGRESS_FILE).write_text(content)
    assert read_live_run(tmp_path) is None


def test_a_progress_file_that_cannot_be_written_does_not_disturb_the_run(tmp_path: Path) -> None:
    (tmp_path / LIVE_PROGRESS_FILE).mkdir()
    LiveProgress(NullProgress(), tmp_path / LIVE_PROGRESS_FILE).start_stage(7, Stage.CRAWL)


def test_a_run_is_seen_while_it_runs_and_leaves_its_figures(engine: Engine) -> None:
    reports, display = StoreRunReports(engine), engine.progress
    assert reports.live_run() is None and list(reports.figures()) == []

    def extract() -> StageReport:
        live = reports.live_run()
        assert live is not None and (live.stage, live.run_id) == ("extract", record.run_id)
        assert reports.list_runs(None, 1)[0].state is RunState.RUNNING
        with engine.progress.task("extract", 2) as advance:
            advance(1)
        return StageReport(
            Stage.EXTRACT, {Reason.EXTRACTED: 2}, 1.0, (Message("Opened by {name}", name="ada"), "plain")
        )

    before = time.time()
    with engine.lock("run"), stages.record_run(engine, "run") as record:
        record.run_stage(Stage.EXTRACT, extract)
    assert reports.live_run() is None and engine.progress is display
    assert not (engine.settings.data_dir / LIVE_PROGRESS_FILE).exists()
    detail = reports.detail(record.run_id)
    assert detail is not None and detail.run.stages[0].started_at >= before
    [note, plain] = detail.run.stages[0].notes
    assert (note, plain) == ("Opened by ada", "plain") and isinstance(note, Message) and note.values == {"name": "ada"}
    [row] = reports.figures()
    assert row.run_id == record.run_id and row.disk_total_bytes > row.disk_used_bytes > 0 and row.due_count == 0


def test_a_progress_file_of_a_killed_run_is_not_the_progress_of_the_next(engine: Engine) -> None:
    (engine.settings.data_dir / LIVE_PROGRESS_FILE).write_text(json.dumps(vars(LiveRun(99, "crawl"))))
    with engine.lock("run"):
        run_id = engine.store.runs.start("run")
        assert StoreRunReports(engine).live_run() == LiveRun(run_id)


def test_reserved_disk_space_is_neither_used_nor_available(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SimpleNamespace(total=100, used=30, free=60)
    monkeypatch.setattr(run_figures.shutil, "disk_usage", lambda _folder: disk)
    row = run_figures.measure_run(engine, 1)
    assert (row.disk_used_bytes, row.disk_total_bytes) == (30, 90)


def test_a_failed_run_leaves_its_figures_too_and_old_rows_go(engine: Engine) -> None:
    path = engine.settings.data_dir / FIGURES_FILE
    row = {"run_id": 0, "recorded_at": 1.0, "disk_used_bytes": 1, "disk_total_bytes": 2, "due_count": 3}
    path.write_text("damaged\n" + (json.dumps(row) + "\n") * (MAX_ROWS + 5))

    def fail() -> StageReport:
        raise PlumblineError("no disk")

    with pytest.raises(PlumblineError), stages.record_run(engine, "run") as record:
        record.run_stage(Stage.CRAWL, fail)
    assert get_contextvars() == {}  # later lines of the log are of no run
    rows = read_figures(engine.settings.data_dir)
    assert len(rows) == MAX_ROWS and rows[-1].run_id == record.run_id


def test_lines_of_json_contain_any_text(tmp_path: Path) -> None:
    path, rows = tmp_path / "rows.jsonl", [{"text": f"a{separator}b"} for separator in "\u2028\u0085\x0c\ud800\r\n"]
    path.write_text(json.dumps(rows[0], ensure_ascii=False) + "\n")  # as earlier programs wrote it
    for row in rows[1:]:
        append_json_lines(path, [row], 9)
    assert read_json_lines(path, 9) == rows
    assert read_json_lines(path, 2) == rows[-2:]


def test_a_run_has_neighbours(engine: Engine) -> None:
    runs = engine.store.runs
    for command in ("run", "schedule", "schedule extract", "run"):
        runs.finish(runs.start(command), [])
    runs.start("run")  # killed
    reports = StoreRunReports(engine)
    first, detail = reports.detail(1), reports.detail(4)
    assert first is not None and (first.previous_id, first.next_id) == (None, 2)
    assert detail is not None and (detail.previous_id, detail.next_id) == (3, 5)
    assert [run.run_id for run in reports.list_runs(4, 2)] == [3, 2]
    assert reports.list_runs(None, 1)[0].state is RunState.KILLED
    assert reports.detail(6) is None


# -- the log of a run


def at(clock_time: str) -> float:
    return time.mktime(time.strptime(f"2024-05-01 {clock_time}", "%Y-%m-%d %H:%M:%S"))


def test_the_log_of_a_run_is_that_of_its_time(tmp_path: Path) -> None:
    log = tmp_path / "plumb.log"
    log.with_name("plumb.log.1").write_text(
        "2024-05-01 11:59:59 INFO a before\n2024-05-01 12:00:00 ERROR a first\nTraceback\n  line\n"
    )
    log.write_text(
        '{"event": "second", "timestamp": "2024-05-01T12:00:01.5"}\n2024-05-01 12:00:02 INFO a password=abcdef123456\n'
        "2024-05-01 12:00:03 INFO a after\nTraceback\n"
    )
    lines, is_cut = read_log_excerpt(log, at("12:00:00"), at("12:00:02"))
    assert lines[:3] == ["2024-05-01 12:00:00 ERROR a first", "Traceback", "  line"] and len(lines) == 5
    assert lines[4].endswith(f"password={MASK}") and not is_cut
    assert read_log_excerpt(tmp_path / "none", 0.0, 1.0) == ([], False)


def test_the_log_of_a_run_in_the_repeated_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, first, second = tmp_path / "plumb.log", 1792888200.0, 1792891800.0  # 02:30 CEST and 02:30 CET
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        log.write_text(
            "2026-10-25 02:30:01+0200 INFO a first\n"
            '{"event": "second", "timestamp": "2026-10-25T02:30:01.000123+0100"}\n'
            "2026-10-25 02:30:02 INFO a of an earlier program\n"
        )
        assert [line[-7:] for line in read_log_excerpt(log, first, first + 1)[0]] == ["a first"]
        assert ["second" in line for line in read_log_excerpt(log, second, second + 5)[0]] == [True]
        assert len(read_log_excerpt(log, second - 600, second + 5)[0]) == 1
        assert len(read_log_excerpt(log, first, second + 5)[0]) == 3
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_long_log_is_cut(tmp_path: Path) -> None:
    log = tmp_path / "plumb.log"
    log.write_text("".join(f"2024-05-01 12:00:00 INFO a {n} {'x' * 5000}\n" for n in range(MAX_EXCERPT_LINES + 3)))
    lines, is_cut = read_log_excerpt(log, at("12:00:00"), at("12:00:00"))
    assert is_cut and len(lines) == MAX_EXCERPT_LINES and " 202 x" in lines[-1] and max(map(len, lines)) <= 600


def test_the_size_of_a_folder_is_its_disk_space(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "text").write_bytes(b"x" * 10_000)
    with (tmp_path / "log").open("wb") as preallocated:
        preallocated.truncate(64 << 20)
    assert 10_000 <= folder_bytes(tmp_path) < 100_000
