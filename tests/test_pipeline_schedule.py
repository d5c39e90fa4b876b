"""The timetable: decided without a clock, and fired for real by APScheduler."""

import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from apscheduler.schedulers.blocking import BlockingScheduler

from docstore.errors import SolrUnavailableError
from docstore.model import Stage, StageReport
from docstore.store import sqlite_store
from pipeline.schedule import Timetable, last_start, run_and_say, run_on_timetable, timetable
from pipeline.settings import ScheduleSettings, build

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


def test_the_last_scheduled_time() -> None:
    assert TABLE.last_before(datetime(2026, 3, 1, 2, 29)) == datetime(2026, 2, 28, 2, 30)


def test_the_settings_make_the_timetable() -> None:
    assert timetable(ScheduleSettings("23:05", 1.5)) == Timetable(23, 5, timedelta(hours=1.5))


def test_when_the_pipeline_last_ran_is_in_the_store(tmp_path: Path) -> None:
    with sqlite_store(tmp_path) as store:
        assert last_start(store) is None
        store.status.start_run("run")
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


def test_the_scheduler_is_set_never_to_run_twice_and_starts_what_was_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real scheduler, stopped as soon as it has started."""
    jobs = []

    def start(self: BlockingScheduler) -> None:
        self._event = threading.Event()
        super(BlockingScheduler, self).start(paused=True)
        jobs.extend(self.get_jobs())
        self.shutdown(wait=False)

    monkeypatch.setattr(BlockingScheduler, "start", start)
    runs: list[int] = []
    settings = build({"schedule": {"at": "00:00", "grace_hours": 24}}, tmp_path)

    def run_once() -> list[StageReport]:
        runs.append(1)
        return []

    run_on_timetable(settings, run_once, datetime(2001, 1, 1), lambda text: None)
    assert runs == [1]
    [job] = jobs
    assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, 24 * 3600)
