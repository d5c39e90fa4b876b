"""The timetable: decided without a clock, fired for real by APScheduler, and its runs killed for real."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from apscheduler.schedulers.background import BackgroundScheduler

from docstore.errors import SolrUnavailableError
from docstore.model import Stage, StageReport
from docstore.reports.runs import RunState, StageRun
from docstore.store import sqlite_store
from pipeline.demo.site import write_sites
from pipeline.engine import Engine
from pipeline.progress import Quiet
from pipeline.run_states import is_to_take_up, nights
from pipeline.schedule import last_start, run_and_say, run_when_due
from pipeline.settings import ScheduleSettings, build
from pipeline.timetable import Timetable, timetable
from tests.crash_harness import Said, SlowSites, Vertical, until
from tests.web_fixture import PATIENCE

TABLE = Timetable(2, 30, timedelta(hours=6))


@pytest.mark.parametrize(
    ("last", "now", "missed"),
    [
        ("2026-11-20 02:30", "2026-11-21 03:00", True),
        ("2026-11-21 02:30", "2026-11-21 03:00", False),
        ("2026-11-20 02:30", "2026-11-21 08:31", False),
        ("2026-11-20 02:30", "2026-11-21 02:29", False),
        ("2026-11-19 02:30", "2026-11-21 02:30", True),
        (None, "2026-11-21 03:00", False),
    ],
    ids=["within grace", "already ran", "too late", "not yet", "on time", "never ran"],
)
def test_a_missed_run_is_made_up_for_once(last: str | None, now: str, missed: bool) -> None:
    start = datetime.fromisoformat(last) if last else None
    assert TABLE.is_missed(start, datetime.fromisoformat(now)) is missed


@pytest.mark.parametrize(
    ("begun", "now", "same"),
    [
        ("2026-10-25 02:30", "2026-10-25 02:30", True),
        ("2026-10-25 02:59", "2026-10-25 02:30", True),
        ("2026-10-24 02:30", "2026-10-25 02:30", False),
        ("2026-10-25 01:00", "2026-10-25 02:30", False),
        (None, "2026-10-25 02:30", False),
    ],
    ids=["the hour that came before", "by a late start", "yesterday", "a run by hand", "never ran"],
)
def test_an_hour_that_comes_twice_has_one_run(begun: str | None, now: str, same: bool) -> None:
    moment = datetime.fromisoformat(begun) if begun else None
    assert TABLE.is_same_time(moment, datetime.fromisoformat(now)) is same


def test_the_second_of_two_equal_times_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    fire: list[Callable[[], None]] = []
    monkeypatch.setattr(
        BackgroundScheduler, "add_job", lambda self, work, *rest, **options: fire.append(work) or work()
    )
    runs: list[int] = []

    def run_once() -> list[StageReport]:
        runs.append(1)
        fire[0]()  # the hour begins again
        threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
        return []

    with pytest.raises(KeyboardInterrupt):
        run_when_due(TABLE, run_once, lambda text: None)
    assert runs == [1]


def test_the_last_and_the_next_scheduled_time() -> None:
    assert TABLE.last_before(datetime(2026, 3, 1, 2, 29)) == datetime(2026, 2, 28, 2, 30)
    assert TABLE.next_after(datetime(2026, 2, 28, 2, 29)) == datetime(2026, 2, 28, 2, 30)
    assert TABLE.next_after(datetime(2026, 2, 28, 2, 30)) == datetime(2026, 3, 1, 2, 30)


def test_the_settings_make_the_timetable() -> None:
    assert timetable(ScheduleSettings("23:05", 1.5)) == Timetable(23, 5, timedelta(hours=1.5))


def test_when_the_pipeline_last_ran_is_in_the_store(tmp_path: Path) -> None:
    with sqlite_store(tmp_path) as store:
        assert last_start(store) is None
        store.runs.start("run")
        started = last_start(store)
    assert started is not None
    assert abs((datetime.now() - started).total_seconds()) < 60


def test_a_failing_run_does_not_end_the_timetable() -> None:
    said: list[str] = []

    def fails() -> list[StageReport]:
        raise SolrUnavailableError("no Solr answers")

    run_and_say(fails, said.append)
    run_and_say(lambda: [StageReport(Stage.CRAWL)], said.append)
    assert any("the run failed: no Solr answers" in line for line in said)
    assert said[-1] == "crawl 0"


@pytest.mark.slow
def test_the_scheduler_fires_and_the_run_is_in_the_main_thread_where_a_stop_reaches_it() -> None:
    """The real scheduler, a minute ahead of the clock; a run that ends with a Ctrl-C ends the timetable."""
    soon = datetime.now() + timedelta(seconds=61)
    runs: list[float] = []

    def run_once() -> list[StageReport]:
        runs.append(time.time())
        signal.raise_signal(signal.SIGINT)  # reaches the main thread alone
        time.sleep(PATIENCE)
        return []

    with pytest.raises(KeyboardInterrupt):
        run_when_due(Timetable(soon.hour, soon.minute, timedelta(hours=1)), run_once, lambda text: None)
    assert len(runs) == 1
    assert datetime.fromtimestamp(runs[0]).replace(microsecond=0) >= soon.replace(second=0, microsecond=0)


# -- how runs are


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(build({"schedule": {"at": "02:30"}}, tmp_path), Quiet()) as opened:
        yield opened


def note_run(engine: Engine, state: RunState, command: str = "schedule") -> None:
    """A run that ended so, as it leaves it."""
    runs = engine.store.runs
    run_id = runs.start(command)
    stage = StageRun("crawl", state=RunState.RUNNING if state is RunState.KILLED else state)
    runs.save(run_id, [stage]) if state is RunState.KILLED else runs.finish(run_id, [stage])


@pytest.mark.parametrize(
    ("states", "takes_up"),
    [
        ([RunState.KILLED], True),
        ([RunState.DONE, RunState.STOPPED], True),
        ([RunState.KILLED, RunState.DONE], False),
        ([RunState.KILLED, RunState.FAILED], False),
        ([RunState.DONE, RunState.KILLED, RunState.KILLED], True),
        ([RunState.KILLED, RunState.KILLED, RunState.KILLED], False),
        ([], False),
    ],
)
def test_what_is_taken_up_when_the_scheduler_starts(engine: Engine, states: list[RunState], takes_up: bool) -> None:
    for state in states:
        note_run(engine, state)
    assert is_to_take_up(engine) is takes_up


def test_a_run_by_hand_that_was_killed_is_left_to_the_hand(engine: Engine) -> None:
    note_run(engine, RunState.KILLED, command="run")
    assert not is_to_take_up(engine)


def test_a_run_goes_on_as_long_as_its_lock_is_held_and_not_a_moment_longer(engine: Engine) -> None:
    note_run(engine, RunState.DONE)
    note_run(engine, RunState.FAILED)
    note_run(engine, RunState.KILLED)
    with engine.lock("run"):
        engine.store.runs.start("schedule")
        found = nights(engine, 8)
        assert [run.state.value for run in found.runs] == ["running", "killed", "failed", "done"]
    found = nights(engine, 8)
    assert [run.state.value for run in found.runs] == ["killed", "killed", "failed", "done"]
    assert (found.last_good, found.failed_since) == (found.runs[3].started_at, found.runs[2].started_at)
    assert found.last_bad == found.runs[0]
    assert found.next_run is None
    with engine.lock("schedule"):
        assert nights(engine, 1).next_run == TABLE.next_after(datetime.now()).timestamp()


# -- the real program


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlowSites]:
    folder = tmp_path_factory.mktemp("schedule")
    write_sites(folder / "sites")
    with SlowSites(folder / "sites", pause=0.0) as running:
        yield running


@pytest.fixture
def vertical(site: SlowSites, tmp_path: Path) -> Iterator[Vertical]:
    made = Vertical(tmp_path / "vertical").write(site.sections(max_pages=40))
    yield made
    made.end()


def status(vertical: Vertical) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(vertical.done("status", "--json").out)
    return found


def wait_for_states(vertical: Vertical, running: "subprocess.Popen[str]", *states: str) -> None:
    until(lambda: [run["state"] for run in status(vertical)["runs"]] == list(states), running)


@pytest.mark.slow
@pytest.mark.solr
def test_a_killed_nightly_run_is_shown_as_killed_and_taken_up_when_the_scheduler_starts(
    site: SlowSites, vertical: Vertical
) -> None:
    """The scheduler finds that the last run is long ago and runs; kill -9 in its crawl; the next scheduler goes on."""
    table = ["-s", f"schedule.at={datetime.now():%H:%M}"]
    with sqlite_store(vertical.data) as store:
        store.runs.finish(store.runs.start("schedule"), [])
    change_runs(vertical, "UPDATE runs SET started_at = started_at - 86400 * 3")
    site.pause = 0.1
    running = vertical.start(*table, "schedule")
    until(lambda: vertical.number("SELECT COUNT(*) FROM pages") > 3, running)
    found = status(vertical)
    assert [(run["state"], run["stage"]) for run in found["runs"]] == [("running", "crawl"), ("done", "")]
    assert found["next_run"] and not found["failed_since"]
    vertical.kill()
    site.pause = 0.0
    found = status(vertical)
    assert [(run["state"], run["stage"]) for run in found["runs"]] == [("killed", "crawl"), ("done", "")]
    assert found["failed_since"] == found["runs"][0]["started"] and found["next_run"] is None
    lines = vertical.done("status").out
    assert "killed in crawl" in lines and "runs have not succeeded since" in lines

    again = vertical.start(*table, "schedule")
    wait_for_states(vertical, again, "done", "killed", "done")
    assert vertical.number("SELECT COUNT(*) FROM indexed") > 20
    assert status(vertical)["failed_since"] is None
    again.send_signal(signal.SIGINT)
    said = vertical.finished(again)
    assert "the last run did not come to its end: running now" in said.err and said.status == 130


def change_runs(vertical: Vertical, statement: str) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        assert connection.execute(statement).rowcount > 0


@pytest.mark.slow
def test_a_stop_of_the_machine_ends_a_run_in_good_order(site: SlowSites, vertical: Vertical) -> None:
    """It is taken up at the next start; systemd's SIGINT ends the program at once, though a run goes on."""
    with sqlite_store(vertical.data) as store:
        store.runs.start("schedule")  # of which nobody holds the lock: killed
    site.pause = 0.1
    running = vertical.start("schedule")
    until(lambda: vertical.number("SELECT COUNT(*) FROM pages") > 3, running)
    os.kill(running.pid, signal.SIGINT)
    said = vertical.finished(running)
    site.pause = 0.0
    assert said.status == 130 and "Traceback" not in said.err
    assert [(run["state"], run["stage"]) for run in status(vertical)["runs"]] == [("stopped", "crawl"), ("killed", "")]


@pytest.mark.slow
def test_runs_that_fail_are_told_with_stage_and_reason_where_people_look(vertical: Vertical) -> None:
    """`plumb status`, and the log: also of a run that a timer started, whose standard error nobody reads."""
    vertical.write({"crawl": {"seeds": ["http://127.0.0.1:9/"], "inside_hosts": ["127.0.0.1:9"]}})
    failed = [vertical.plumb("run") for _ in range(3)]
    assert all(said.status == 1 and "none of the seeds" in said.complaint for said in failed), failed
    found = status(vertical)
    assert [(run["state"], run["stage"]) for run in found["runs"]] == [("failed", "crawl")] * 3
    assert all("none of the seeds could be fetched" in run["error"] for run in found["runs"])
    assert found["failed_since"] == found["runs"][2]["started"]
    assert (found["last_good_run"], found["next_run"]) == (None, None)
    lines = vertical.done("status").out.splitlines()
    assert "next run      none: plumb schedule is not running" in lines and "last good run never" in lines
    assert sum("failed in crawl after" in line and "Connection refused" in line for line in lines) == 3
    assert vertical.log().count("none of the seeds could be fetched") == 3


@pytest.mark.slow
def test_only_one_scheduler_at_a_time(vertical: Vertical) -> None:
    running = vertical.start("schedule")
    until(lambda: status(vertical)["next_run"] is not None, running)
    said: Said = vertical.plumb("schedule")
    assert said.status == 1 and f"another process (pid {running.pid}) is in the schedule stage" in said.complaint
