"""The timetable: decided by a clock of ours in six zones, woken for real by APScheduler, its runs killed for real."""

import json
import os
import random
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from time import time as now
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import pipeline.runs.scheduler
from crawler.site import Sites
from docstore.reports.runs import RunTable
from docstore.store import open_sqlite_store
from domain.errors import BusyError, PlumblineError, SettingsError, SiteError
from domain.outcome import Reason, Stage, StageReport
from domain.run import RunState, StageRun
from pipeline import stages
from pipeline.alerts.inputs import missed_run_time
from pipeline.cli.status import collect_status, format_status
from pipeline.demo.site import write_sites
from pipeline.engine import Engine
from pipeline.index_stage import run_index_stage
from pipeline.local_time import local_time
from pipeline.maintenance.doctor import check_schedule_and_backup
from pipeline.maintenance.repair import repair_vertical
from pipeline.maintenance.upgrade import check_safety
from pipeline.progress import NullProgress
from pipeline.runs.run_history import load_run_history, missed_time, should_resume
from pipeline.runs.run_record import RunRecord
from pipeline.runs.scheduler import Scheduler, run_appointment, run_scheduler
from pipeline.runs.timetable import Appointment, DailyTrigger, configured_appointments, next_planned_time
from pipeline.settings import ScheduleSettings, Settings, build_settings
from pipeline.settings_source import SettingsSource
from pipeline.site_admin.run_control import EngineRunControl
from tests.crash_harness import PausableSites, Vertical, until
from tests.solr_fixture import RunningSolr
from tests.web_fixture import PATIENCE, Site, page

NIGHT = time(2, 30)
HOUR, DAY = 3600.0, 86_400.0
# Two hours that change at different times, half an hour, at midnight, the other way about, and a day that was left out.
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Havana",
    "America/Santiago",
    "Pacific/Apia",
)


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


# -- times


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("night", [time(0, 0), time(2, 30), time(23, 59)])
def test_a_trigger_fires_once_a_day_through_every_change_of_the_clock(zone: str, night: time) -> None:
    """A year (2011: Apia left a day out), as APScheduler goes through it; at each firing time the next one is planned,
    and also at odd times between."""
    trigger, chance = DailyTrigger(night, ZoneInfo(zone)), random.Random(f"{zone}{night}")
    now, end = datetime.fromtimestamp(at("2011-01-01 12:00", zone), UTC), at("2012-01-04 12:00", zone)
    times: list[float] = []
    while (fires_at := trigger.get_next_fire_time(None, now)).timestamp() < end:
        assert trigger.get_next_fire_time(now, now + timedelta(days=9)) == fires_at
        if chance.random() < 0.5:
            now += (fires_at - now) / 2
        else:
            now = fires_at
            times.append(fires_at.timestamp())
            assert trigger.period(times[-1])[0] == times[-1]
    days = {trigger.timestamp_on(date(2011, 1, 2) + timedelta(days=n)) for n in range(365)}
    assert days <= set(times) and len(set(times)) == len(times)
    assert len(days) == (364 if zone == "Pacific/Apia" else 365)


@pytest.mark.parametrize("zone", ZONES)
def test_the_time_of_a_night_is_the_one_on_the_wall_where_there_is_such_a_one(zone: str) -> None:
    table = DailyTrigger(NIGHT, ZoneInfo(zone))
    for n in range(800):
        day = date(2011, 1, 1) + timedelta(days=n)
        shown = datetime.fromtimestamp(table.timestamp_on(day), ZoneInfo(zone))
        is_left_out = shown.replace(tzinfo=None) != datetime.combine(day, NIGHT)
        assert not is_left_out or shown.replace(tzinfo=None) > datetime.combine(day, NIGHT)
        assert is_left_out or shown.fold == 0  # of an hour that comes twice the first


def test_the_last_and_the_next_scheduled_time() -> None:
    table = DailyTrigger(NIGHT, ZoneInfo("UTC"))
    assert table.period(at("2026-03-01 02:29"))[0] == at("2026-02-28 02:30")
    assert table.period(at("2026-02-28 02:29"))[1] == at("2026-02-28 02:30")
    assert table.period(at("2026-02-28 02:30"))[1] == at("2026-03-01 02:30")


def planned(schedule: ScheduleSettings, times_by_host: Mapping[str, str] | None = None) -> Settings:
    """Settings with a schedule, and with the times of sites."""
    sites = Sites.parse([{"host": host, "schedule": times} for host, times in (times_by_host or {}).items()])
    made = build_settings({}, Path("/"))
    return replace(made, schedule=schedule, crawl=replace(made.crawl, sites=sites))


def test_the_settings_make_the_timetable() -> None:
    asked = planned(
        ScheduleSettings("23:05", 1.5, {"crawl": "08:00 14:00"}),
        {"a.example": "06:00", "b.example:8080": "06:00 07:00"},
    )
    found = configured_appointments(asked)
    assert [(one.command, one.stage, one.hosts, one.trigger) for one in found] == [
        ("schedule", "", (), DailyTrigger(time(23, 5))),
        ("schedule crawl 08:00", "crawl", (), DailyTrigger(time(8))),
        ("schedule crawl 14:00", "crawl", (), DailyTrigger(time(14))),
        ("schedule sites 06:00", "", ("a.example", "b.example:8080"), DailyTrigger(time(6))),
        ("schedule sites 07:00", "", ("b.example:8080",), DailyTrigger(time(7))),
    ]


def test_the_next_run_is_the_earliest_of_all_planned_ones() -> None:
    settings = planned(ScheduleSettings("00:33", stages={"crawl": "03:03"}), {"a.example": "04:00"})
    times = [datetime(2026, 11, 21, *of_day).timestamp() for of_day in ((2, 33), (3, 3), (4, 0))]
    assert [next_planned_time(settings, now) for now in times[:2]] == times[1:]
    assert next_planned_time(settings, times[2]) == datetime(2026, 11, 22, 0, 33).timestamp()


@pytest.mark.parametrize(
    "schedule",
    [
        {"at": "25:00"},
        {"at": "02:30 03:30"},
        {"stages": {"craw": "08:00"}},
        {"stages": {"crawl": "8"}},
    ],
)
def test_a_timetable_that_cannot_be_followed_is_refused(tmp_path: Path, schedule: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        build_settings({"schedule": schedule}, tmp_path)


def test_times_of_a_site_that_cannot_be_followed_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="schedule: expected times"):
        build_settings({"sites": [{"host": "a.test", "schedule": "25:00"}]}, tmp_path)


# -- what was missed


@pytest.mark.parametrize(
    ("planned", "last", "now", "missed"),
    [
        ("2026-11-01 00:00", "2026-11-20 02:30", "2026-11-21 03:00", True),
        ("2026-11-01 00:00", "2026-11-21 02:30", "2026-11-21 03:00", False),
        ("2026-11-01 00:00", "2026-11-20 02:30", "2026-11-21 02:29", False),
        ("2026-11-01 00:00", "2027-11-21 02:30", "2026-11-21 02:30", True),
        ("2026-11-01 00:00", None, "2026-11-21 03:00", True),
        ("2026-11-21 02:31", None, "2026-11-21 03:00", False),
        ("2026-11-21 02:31", "2026-11-20 02:30", "2026-11-21 03:00", False),
        (None, "2026-11-20 02:30", "2026-11-21 03:00", False),
    ],
    ids=["missed", "made", "later", "by a clock that was ahead", "never ran", "new", "changed", "not planned"],
)
def test_a_run_is_missed_that_was_planned_and_not_made(
    engine: Engine, planned: str | None, last: str | None, now: str, missed: bool
) -> None:
    daily = Appointment("schedule", DailyTrigger(NIGHT, ZoneInfo("UTC")))
    engine.store.runs = RunTable(engine.store.runs._database, lambda: at(planned or "2026-11-01 00:00"))
    engine.store.runs.save_plans([daily.plan] if planned else [])
    if last:
        note_start(engine, "schedule", at(last))
    assert (missed_time(engine, daily, at(now)) is not None) is missed


def test_a_run_by_hand_is_as_good_as_the_nights(engine: Engine) -> None:
    daily, crawl = configured_appointments(planned(ScheduleSettings(stages={"crawl": "02:30"})))
    scheduled_at = plan_yesterday(engine, [daily, crawl])
    assert missed_time(engine, daily, now()) == missed_time(engine, crawl, now()) == scheduled_at
    note_start(engine, "run", scheduled_at + 60)
    assert missed_time(engine, daily, now()) is None and missed_time(engine, crawl, now()) == scheduled_at
    assert missed_time(engine, daily, now(), scheduled_at + 61) == scheduled_at


def test_a_plan_counts_from_when_it_was_made_and_in_an_earlier_store_from_its_first_run(engine: Engine) -> None:
    runs = engine.store.runs
    note_start(engine, "schedule", 1000.0)
    runs.save_plans(["02:30 schedule", "03:00 schedule crawl 03:00"])
    since = runs.planned_since("03:00 schedule crawl 03:00")
    assert runs.planned_since("02:30 schedule") == 1000.0 and since is not None and now() - since < PATIENCE
    runs.save_plans(["08:00 schedule", "03:00 schedule crawl 03:00"])
    changed = runs.planned_since("08:00 schedule")
    assert changed is not None and changed >= since == runs.planned_since("03:00 schedule crawl 03:00")
    assert runs.planned_since("02:30 schedule") is None


def plan_yesterday(engine: Engine, appointments: list[Appointment]) -> float:
    """The plan of two days ago; the last time that it names for all."""
    day_ago = RunTable(engine.store.runs._database, lambda: now() - 2 * DAY)
    day_ago.save_plans([appointment.plan for appointment in appointments])
    return appointments[0].trigger.period(now())[0]


def note_start(engine: Engine, command: str, started_at: float) -> None:
    table = RunTable(engine.store.runs._database, lambda: started_at)
    table.finish(table.start(command), [])


# -- runs on it


@contextmanager
def scheduler(engine: Engine, said: list[str], first_pages: int = 0) -> Iterator[Scheduler]:
    made = Scheduler(lambda: engine.settings, lambda: nullcontext(engine), said.append, first_pages)
    with closing(made):
        yield made


def is_run_due(schedule: Scheduler) -> bool:
    """A run that is due now is executed."""
    said: list[str] = []
    schedule._report_progress = said.append
    schedule.wait(0.3)
    return bool(said)


def test_a_run_that_fails_does_not_end_the_timetable_and_its_night_is_over(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def fails(engine: Engine, **how: Any) -> list[StageReport]:
        with RunRecord(engine.store, how["command"]) as record:
            record.run_stage(Stage.CRAWL, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
        return []

    monkeypatch.setattr(stages, "run", fails)
    monkeypatch.setattr(pipeline.runs.scheduler, "RETRY_SECONDS", 0.0)
    plan_yesterday(engine, configured_appointments(engine.settings))
    with scheduler(engine, said) as schedule:
        schedule.start()
        schedule.wait(PATIENCE)
        assert any("run failed: an internal error (ZeroDivisionError" in line for line in said), said
        assert not is_run_due(schedule)
    assert [one.key.kind for one in engine.store.alerts.firing()] == ["run_failed"]


@pytest.mark.parametrize("prevented", ["run", "index"])
def test_a_run_that_another_process_prevents_is_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, prevented: str
) -> None:
    """Also if it began: it is no failure, and the night is not lost."""
    said: list[str] = []
    monkeypatch.setattr(pipeline.runs.scheduler, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(stages, "crawl_with_index_opening", lambda *_: StageReport(Stage.CRAWL))
    monkeypatch.setitem(stages.STAGES, "embed", lambda engine: StageReport(Stage.EMBED))
    monkeypatch.setattr(stages, "wait_for_solr", lambda engine: StageReport(Stage.SOLR))
    monkeypatch.setattr(stages, "index", partial(run_index_stage, wait=0.0))
    plan_yesterday(engine, configured_appointments(engine.settings))
    with scheduler(engine, said) as schedule:
        schedule.start()
        with engine.lock(prevented):
            schedule.wait(PATIENCE)
            schedule.wait(PATIENCE)
        assert sum("run postponed: Another process" in line for line in said) == 2, said
        ran: list[str] = []
        monkeypatch.setattr(stages, "run", lambda engine, **how: ran.append(how["command"]) or [])
        schedule.wait(PATIENCE)
    assert ran == ["schedule"]


def test_a_store_that_cannot_be_opened_at_the_time_is_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pipeline.runs.scheduler, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(stages, "run", lambda engine, **how: [StageReport(Stage.CRAWL)])
    plan_yesterday(engine, configured_appointments(engine.settings))
    with scheduler(engine, said) as schedule:
        schedule.start()
        schedule._open_engine = lambda: Engine(
            build_settings({"store": {"url": "sqlite:////"}}, Path()), NullProgress()
        )
        schedule.wait(PATIENCE)
        schedule._open_engine = lambda: nullcontext(engine)
        schedule.wait(PATIENCE)
    assert said[0].startswith("run failed: The store") and said[-1] == "crawl 0"


@pytest.mark.parametrize(
    "changed",
    [
        {"at": "HH:MM"},
        {"stages": {"extract": "HH:MM"}},
        {"sites": [{"host": "a.example", "schedule": "HH:MM"}]},
    ],
)
def test_a_changed_or_new_time_begins_with_its_next_occurrence(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    """Nor does it alert, nor is it made up for after a restart."""
    monkeypatch.setattr(stages, "run", lambda engine, **how: [])
    hours_ago = f"{datetime.fromtimestamp(now() - 5 * HOUR):%H:%M}"
    changed = json.loads(json.dumps(changed).replace("HH:MM", hours_ago))
    scheduled_at = plan_yesterday(engine, configured_appointments(engine.settings))
    note_start(engine, "schedule", scheduled_at)
    with scheduler(engine, []) as schedule:
        schedule.start()
        assert not is_run_due(schedule)
        if "sites" in changed:
            crawl = replace(engine.settings.crawl, sites=Sites.parse(changed["sites"]))
            engine.settings = replace(engine.settings, crawl=crawl)
        else:
            engine.settings = replace(engine.settings, schedule=replace(engine.settings.schedule, **changed))
        assert not is_run_due(schedule)
        assert missed_run_time(engine, now()) is None
    with scheduler(engine, []) as schedule:
        schedule.start()
        assert not is_run_due(schedule)
    assert load_run_history(engine, 9).last_failed_run is None


def test_a_missed_run_is_made_up_for_once_and_not_after_the_grace_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def run_once(engine: Engine, **how: Any) -> list[StageReport]:
        engine.store.runs.finish(engine.store.runs.start(how["command"]), [])
        return []

    monkeypatch.setattr(stages, "run", run_once)
    hours_ago = f"{datetime.fromtimestamp(now() - 5 * HOUR):%H:%M}"
    for grace_hours, is_made in ((4.0, False), (6.0, True), (6.0, False)):
        engine.settings = replace(engine.settings, schedule=ScheduleSettings(hours_ago, grace_hours))
        plan_yesterday(engine, configured_appointments(engine.settings))
        with scheduler(engine, said) as schedule:
            schedule.start()
            assert is_run_due(schedule) is is_made
    assert [run.command for run in engine.store.runs.list_newest()] == ["schedule"]


def test_a_first_run_is_not_waited_for_until_the_night(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `plumb up` begins it; a run that failed does not count, one that succeeded does."""
    ran: list[tuple[str, int]] = []
    monkeypatch.setattr(stages, "run", lambda engine, **how: ran.append((how["command"], how["first_pages"])) or [])
    note_run(engine, RunState.FAILED)
    said: list[str] = []
    for first_pages in (0, 20):
        with scheduler(engine, said, first_pages) as schedule:
            schedule.start()
    assert ran == [("schedule", 20)] and said[0] == "no run has ended yet: running now"
    note_run(engine, RunState.DONE)
    with scheduler(engine, said, 20) as schedule:
        schedule.start()
    assert len(ran) == 1


def test_an_appointment_of_a_stage_or_of_some_sites_is_no_night(engine: Engine) -> None:
    """It runs what it names, and a night that failed stays one that failed."""
    note_run(engine, RunState.FAILED)
    [_, extract] = configured_appointments(planned(ScheduleSettings(stages={"extract": "08:00"})))
    assert [report.stage for report in run_appointment(engine, extract)] == [Stage.EXTRACT]
    found = load_run_history(engine, 5)
    assert [run.state for run in found.runs] == [RunState.DONE, RunState.FAILED]
    assert found.failing_since == found.runs[1].started_at and found.last_success_at is None
    assert engine.store.runs.list_newest(1)[0].command == "schedule extract 08:00"


def test_a_scheduled_embed_stage_has_no_time_limit_and_does_not_index(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[object, ...]] = []

    def embed(*arguments: object) -> StageReport:
        calls.append(arguments)
        return StageReport(Stage.EMBED, {Reason.EMBEDDED: 1})

    monkeypatch.setattr(stages, "embed_if_possible", embed)
    [_, appointment] = configured_appointments(planned(ScheduleSettings(stages={"embed": "08:00"})))
    assert [report.stage for report in run_appointment(engine, appointment)] == [Stage.EMBED]
    assert calls == [(engine,)]


def test_a_run_until_the_lexicon_ends_there_if_no_article_changed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "crawl_with_index_opening", lambda *_: StageReport(Stage.CRAWL))
    monkeypatch.setitem(stages.STAGES, "embed", lambda engine: StageReport(Stage.EMBED))
    monkeypatch.setattr(stages, "wait_for_solr", pytest.fail)
    reports = stages.run(engine, last_stage="lexicon")
    assert [report.stage for report in reports] == [Stage.CRAWL, Stage.EXTRACT, Stage.EMBED]


def test_solr_does_not_start_without_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "open_index_in_background", pytest.fail)
    with Engine(build_settings({}, tmp_path), NullProgress()) as engine:
        with pytest.raises(SettingsError, match="No site has a start URL"):
            stages.run(engine)
        [run] = engine.store.runs.list_newest()
        assert [stage.stage for stage in run.stages] == [Stage.CRAWL]


def test_the_scheduler_wakes_at_the_time_and_the_run_is_in_the_main_thread_where_a_stop_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real scheduler and a time that is just ahead; a run that ends with a Ctrl-C ends the timetable."""
    settings, threads = build_settings({}, tmp_path), list[threading.Thread]()
    monkeypatch.setattr(pipeline.runs.scheduler, "POLL_SECONDS", PATIENCE)
    soon = Appointment("schedule", DailyTrigger(datetime.fromtimestamp(now() + 2).time()))
    monkeypatch.setattr(pipeline.runs.scheduler, "configured_appointments", lambda settings: [soon])

    def run_once(engine: Engine, **how: Any) -> list[StageReport]:
        threads.append(threading.current_thread())
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "run", run_once)
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run_scheduler(lambda: settings, lambda: Engine(settings, NullProgress()), said.append)
    assert threads == [threading.main_thread()]
    assert said[0].startswith("next run ") and said[1].startswith("run started")


@pytest.mark.postgres
def test_a_shared_store_has_one_scheduler_that_all_machines_see(
    postgres_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (build_settings({"store": {"url": postgres_store}}, tmp_path / name) for name in ("one", "other"))

    def look_from_the_other(engine: Engine, **how: Any) -> list[StageReport]:
        with pytest.raises(BusyError, match="is in the “schedule” stage"):
            run_scheduler(lambda: other, lambda: Engine(other, NullProgress()), print)
        with Engine(other, NullProgress()) as opened:
            assert load_run_history(opened, 1).next_run_at is not None
        [found] = [result for result in check_schedule_and_backup(other) if result.name == "schedule"]
        assert found.is_well and found.text.startswith("next run ")
        [processes] = [result for result in check_safety(other, None) if result.name == "processes"]
        assert processes.text == f"active: schedule (pid {os.getpid()})"
        with engine.lock("run"), pytest.raises(BusyError, match="is in the “run” stage"):
            next(repair_vertical(other, lambda: Engine(other, NullProgress()), [], []))
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "run", look_from_the_other)
    with pytest.raises(KeyboardInterrupt):
        run_scheduler(lambda: one, lambda: Engine(one, NullProgress()), print, first_pages=1)
    with Engine(other, NullProgress()) as opened:
        assert load_run_history(opened, 1).next_run_at is None


def test_each_run_uses_the_settings_file_as_it_is_then_and_the_last_valid_one_if_it_is_invalid(tmp_path: Path) -> None:
    path, reports = tmp_path / "v.toml", list[str]()
    path.write_text("[schedule]\nat = '02:30'\n")
    current = partial(SettingsSource(path).effective, reports.append)
    assert current().schedule.at == "02:30"
    path.write_text("[schedule]\nat = '04:00'\n")
    assert current().schedule.at == "04:00"
    path.write_text("[schedule]\nat = '25:00'\n")
    assert [current().schedule.at, current().schedule.at] == ["04:00", "04:00"]
    assert len(reports) == 1 and "using the last valid settings: schedule.at = '25:00'" in reports[0]


# -- how runs are


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(build_settings({"schedule": {"at": "02:30"}}, tmp_path), NullProgress()) as opened:
        yield opened


def note_run(engine: Engine, state: RunState, command: str = "schedule") -> None:
    """A run that ended so, as it leaves it."""
    runs = engine.store.runs
    run_id = runs.start(command)
    stage = StageRun("crawl", state=RunState.RUNNING if state is RunState.KILLED else state)
    runs.save_progress(run_id, [stage]) if state is RunState.KILLED else runs.finish(run_id, [stage])


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
    assert should_resume(engine) is takes_up


def test_a_run_by_hand_that_was_killed_is_left_to_the_hand(engine: Engine) -> None:
    note_run(engine, RunState.KILLED, command="run")
    assert not should_resume(engine)


def test_a_run_goes_on_as_long_as_its_lock_is_held_and_not_a_moment_longer(engine: Engine) -> None:
    note_run(engine, RunState.DONE)
    note_run(engine, RunState.FAILED)
    note_run(engine, RunState.KILLED)
    with engine.lock("run"):
        engine.store.runs.start("schedule")
        found = load_run_history(engine, 8)
        assert [run.state.value for run in found.runs] == ["running", "killed", "failed", "done"]
    found = load_run_history(engine, 8)
    assert [run.state.value for run in found.runs] == ["killed", "killed", "failed", "done"]
    assert (found.last_success_at, found.failing_since) == (found.runs[3].started_at, found.runs[2].started_at)
    assert found.last_failed_run == found.runs[0]
    assert found.next_run_at is None
    with engine.lock("schedule"):
        assert load_run_history(engine, 1).next_run_at == next_planned_time(engine.settings, now())


# -- the real program


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PausableSites]:
    folder = tmp_path_factory.mktemp("schedule")
    write_sites(folder / "sites")
    with PausableSites(folder / "sites") as running:
        yield running


NO_SOLR = {"solr_url": "http://127.0.0.1:9/solr"}


@pytest.fixture
def vertical(site: PausableSites, tmp_path: Path) -> Iterator[Vertical]:
    """A vertical whose Solr does not answer: its runs are about the stages before."""
    made = Vertical(tmp_path / "vertical").write({**site.sections(max_pages=40), "index": NO_SOLR})
    yield made
    made.end()


def status(vertical: Vertical) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(vertical.call("status", "--json").out)
    return answer


def wait_for_finished_runs(vertical: Vertical, running: "subprocess.Popen[str]", count: int) -> None:
    until(lambda: vertical.number("SELECT COUNT(*) FROM runs WHERE finished_at IS NOT NULL") == count, running)


@pytest.mark.slow
@pytest.mark.solr
@pytest.mark.process
def test_a_killed_nightly_run_is_shown_as_killed_and_taken_up_when_the_scheduler_starts(
    site: PausableSites, vertical: Vertical, solr_node: RunningSolr
) -> None:
    """The scheduler finds that the last run is long ago and runs; kill -9 in its crawl; the next scheduler goes on."""
    index = {"solr_url": solr_node.url, "collection": "nightly"}
    vertical.write({**site.sections(max_pages=40), "index": index})
    table = ["-s", f"schedule.at={datetime.now():%H:%M}"]
    with open_sqlite_store(vertical.data) as store:
        store.runs.finish(store.runs.start("schedule"), [])
    change_runs(vertical, "UPDATE runs SET started_at = started_at - 86400 * 3")
    with site.paused_after(responses=20):
        running = vertical.start(*table, "schedule")
        until(lambda: vertical.number("SELECT COUNT(*) FROM pages") > 3, running)
        found = status(vertical)
        assert [(run["state"], run["stage"]) for run in found["runs"]] == [("running", "crawl"), ("done", "")]
        assert found["next_run"] and not found["failed_since"]
        vertical.kill()
    found = status(vertical)
    assert [(run["state"], run["stage"]) for run in found["runs"]] == [("killed", "crawl"), ("done", "")]
    assert found["failed_since"] == found["runs"][0]["started"] and found["next_run"] is None
    lines = vertical.call("status").out
    assert "killed in crawl" in lines and "no successful run since" in lines

    again = vertical.start(*table, "schedule")
    wait_for_finished_runs(vertical, again, 2)
    assert [run["state"] for run in status(vertical)["runs"]] == ["done", "killed", "done"]
    assert vertical.number("SELECT COUNT(*) FROM indexed") > 20
    assert status(vertical)["failed_since"] is None
    again.send_signal(signal.SIGINT)
    said = vertical.finished(again)
    assert "the last run was interrupted: running now" in said.err and said.status == 130
    with vertical.solr() as opened:
        opened.delete_all()


def change_runs(vertical: Vertical, statement: str) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        assert connection.execute(statement).rowcount > 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        (["schedule"], signal.SIGINT),
        pytest.param(["up", "--port", "0"], signal.SIGTERM, marks=pytest.mark.exhaustive),
    ],
)
def test_a_stop_of_the_machine_ends_a_run_in_good_order(
    site: PausableSites, vertical: Vertical, arguments: list[str], number: signal.Signals
) -> None:
    """It is taken up at the next start; a signal ends the program at once, though a run goes on and both signals were
    ignored when it started."""
    with open_sqlite_store(vertical.data) as store:
        store.runs.start("schedule")  # of which nobody holds the lock: killed
    with site.paused_after(responses=20):
        running = vertical.start(*arguments, ignored_signals="INT TERM")
        until(lambda: vertical.number("SELECT COUNT(*) FROM pages") > 3, running)
        os.kill(running.pid, number)
        said = vertical.finished(running)
    assert said.status == 130 and "Traceback" not in said.err and not vertical.processes()
    assert [(run["state"], run["stage"]) for run in status(vertical)["runs"]] == [("stopped", "crawl"), ("killed", "")]


def test_runs_that_fail_are_told_with_stage_and_reason_where_people_look(vertical: Vertical) -> None:
    """`plumb status`, and the log: also of a run that a timer started, whose standard error nobody reads."""
    crawl = {"seeds": ["http://127.0.0.1:9/"], "inside_hosts": ["127.0.0.1:9"]}
    vertical.write({"crawl": crawl, "index": NO_SOLR})
    failed = [vertical.call("run") for _ in range(3)]
    assert all(said.status == 1 and "None of the seeds" in said.complaint for said in failed), failed
    found = status(vertical)
    assert [(run["state"], run["stage"]) for run in found["runs"]] == [("failed", "crawl")] * 3
    assert all("None of the seeds could be fetched" in run["error"] for run in found["runs"])
    assert found["failed_since"] == found["runs"][2]["started"]
    assert (found["last_good_run"], found["next_run"]) == (None, None)
    lines = vertical.call("status").out.splitlines()
    assert (
        "next run not scheduled (neither plumb up nor plumb schedule is running)" in lines
        and "last successful run never" in lines
    )
    assert sum("failed in crawl after" in line and "Connection refused" in line for line in lines) == 3
    assert vertical.log().count("None of the seeds could be fetched") == 3


@pytest.mark.process
def test_only_one_scheduler_at_a_time(vertical: Vertical) -> None:
    running = vertical.start("schedule")
    lock = vertical.data / "locks" / "schedule"
    until(lambda: lock.exists() and lock.read_text() == f"{running.pid}\n", running)
    assert status(vertical)["next_run"] is not None
    said = vertical.call("schedule")
    assert said.status == 1 and f"Another process (pid {running.pid}) is in the “schedule” stage" in said.complaint


# -- quiet hours


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({"crawl.quiet_hours": "01:00-06:00"}, "02:30"),
        ({"crawl.quiet_hours": "22:00-06:00", "schedule.at": "23:00"}, "23:00"),
        ({"crawl.quiet_hours": "08:00-18:00", "schedule.stages": {"index": "08:00", "crawl": "07:00 08:00"}}, "08:00"),
        ({"crawl.quiet_hours": "01:00-02:30", "schedule.stages": {"index": "01:30"}}, ""),
        ({"crawl.quiet_hours": "03:00-02:30"}, ""),
    ],
)
def test_a_start_in_the_quiet_hours_is_refused(tmp_path: Path, changes: dict[str, object], start: str) -> None:
    file = tmp_path / "v.toml"
    file.write_text("")
    source = SettingsSource(file)
    if not start:
        assert source.edit(lambda _: changes).changes.keys() == changes.keys()
        return
    with pytest.raises(SettingsError, match=f"The run at {start} starts in the quiet hours"):
        source.edit(lambda _: changes)
    assert not file.read_text()
    file.write_text('[crawl]\nquiet_hours = "01:00-06:00"\n[[sites]]\nurls = ["http://a.test/"]\n')
    assert source.edit(lambda _: {"crawl.depth": 3}).changes, "what does not concern the times is saved"
    assert [check.is_well for check in check_schedule_and_backup(source.load())][:2] == [False, False]


def test_a_run_that_fetched_none_of_the_due_pages_is_not_successful_and_says_why(tmp_path: Path) -> None:
    soon = datetime.now() + timedelta(hours=2)
    hours = f"{soon - timedelta(hours=4):%H:%M}-{soon:%H:%M}"
    with Site({"/": page("/1.html"), "/1.html": "text"}) as site:
        crawl = {"seeds": [site.url()], "inside_hosts": [site.host], "delay": 0.0, "sitemaps": False}
        with Engine(build_settings({"crawl": crawl | {"quiet_hours": hours}}, tmp_path), NullProgress()) as engine:
            with pytest.raises(PlumblineError, match=f"of 1 that was due: Stopped for the quiet hours {hours}"):
                stages.run(engine, last_stage="crawl")
            [bad] = load_run_history(engine, 5).runs
            assert bad.state is RunState.FAILED and "quiet hours" in bad.error
            assert hours in EngineRunControl(engine).status().failure
            assert f"run of {local_time(bad.started_at)[:19]}: failed in crawl" in "\n".join(
                format_status(collect_status(engine))
            )
        with Engine(build_settings({"crawl": crawl}, tmp_path), NullProgress()) as engine:
            stages.run(engine, last_stage="crawl")
            engine.store.frontier.admin.requeue_urls("*/1.html")
        paused = crawl | {"paused_sites": [site.host]}
        with Engine(build_settings({"crawl": paused}, tmp_path), NullProgress()) as engine:
            stages.run(engine, last_stage="crawl")  # nothing is due of sites that are not paused
        with Engine(build_settings({"crawl": crawl}, tmp_path), NullProgress()) as engine:
            site.pages.clear()
            engine.store.frontier.admin.block_urls(site.url())
            stages.run(engine, last_stage="crawl")  # a page that is gone was requested: the site has answered
