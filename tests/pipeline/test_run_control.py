"""Stop requests reach the process that runs, and no other; the scheduler survives them."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from domain.errors import BusyError, PlumblineError
from domain.run import RunState, StageRun
from locks.file_locks import signal_stage_holder, stage_lock, stage_lock_holder
from pipeline.engine import Engine
from pipeline.operations import run_command
from pipeline.progress import NullProgress
from pipeline.runs import scheduler
from pipeline.runs.run_output import read_error, run_output_path
from pipeline.runs.run_stop import STOP_RUN_SIGNAL, RunStopRequest, StopRequests
from pipeline.runs.scheduler import Scheduler
from pipeline.settings import Settings, load_settings
from pipeline.site_admin.run_control import EngineRunControl
from tests.pipeline.test_locks import hold
from tests.web_fixture import PATIENCE

pytestmark = pytest.mark.process


def test_a_signal_reaches_the_process_that_holds_the_lock(tmp_path: Path) -> None:
    child = hold(tmp_path)
    assert signal_stage_holder(tmp_path, "crawl", signal.SIGTERM)
    assert child.wait(PATIENCE) == -signal.SIGTERM
    assert not signal_stage_holder(tmp_path, "crawl", signal.SIGTERM)
    assert not signal_stage_holder(tmp_path, "never", signal.SIGTERM)


def test_a_process_with_a_stale_id_gets_no_signal(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        with stage_lock(tmp_path, "run"):
            (tmp_path / "locks" / "run").write_text(f"{bystander.pid}\n")  # an id that the kernel has reused
            assert stage_lock_holder(tmp_path, "run") == bystander.pid
            assert not signal_stage_holder(tmp_path, "run", signal.SIGKILL)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_request_ends_a_run_and_is_ignored_between_runs() -> None:
    with StopRequests() as requests:
        os.kill(os.getpid(), STOP_RUN_SIGNAL)
        with pytest.raises(RunStopRequest), requests.during_run():
            os.kill(os.getpid(), STOP_RUN_SIGNAL)
            time.sleep(PATIENCE)
        os.kill(os.getpid(), STOP_RUN_SIGNAL)


def test_the_scheduler_reports_a_stopped_run_and_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, messages = Settings(tmp_path), list[str]()

    def stopped_run(engine: Engine, appointment: object, first_pages: int) -> None:
        os.kill(os.getpid(), STOP_RUN_SIGNAL)
        time.sleep(PATIENCE)

    monkeypatch.setattr(scheduler, "run_appointment", stopped_run)
    schedule = Scheduler(lambda: settings, lambda: Engine(settings, NullProgress()), messages.append, first_pages=20)
    with closing(schedule), schedule.stop_requests:
        schedule.start()
    assert messages[-1] == "run stopped by an operator"


def test_the_status_follows_the_locks(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    with Engine(settings, NullProgress()) as engine:
        control = EngineRunControl(engine)
        assert not control.status().is_running
        assert engine.store.operations.run(control.operations[1], "anna", {}) is None
        assert engine.store.operations.find() == []
        with engine.lock("run"), engine.lock("schedule"):
            status = control.status()
            assert status.is_running and status.can_stop and status.is_scheduler_running
            assert status.next_run_at is not None and status.daily_at == "02:30"


def test_a_changed_time_of_the_daily_run_applies_without_a_restart(tmp_path: Path) -> None:
    config_file = tmp_path / "vertical.toml"
    config_file.write_text('[schedule]\nat = "03:00"\n')
    with Engine(load_settings(config_file), NullProgress()) as engine:
        control = EngineRunControl(engine)
        assert control.status().daily_at == "03:00"
        config_file.write_text('[schedule]\nat = "04:30"\n')
        assert control.status().daily_at == "04:30"
        config_file.write_text("[schedule\n")
        assert control.status().daily_at == "04:30"


def test_a_run_has_the_flags_of_the_site(tmp_path: Path) -> None:
    config_file = tmp_path / "vertical.toml"
    config_file.write_text("")
    settings = load_settings(config_file, {"crawl.user_agent": "Prüfung"})
    with Engine(settings, NullProgress()) as engine, pytest.raises(PlumblineError, match="must be a product name"):
        run_command(engine, "run_start", "anna")


def test_the_last_line_of_a_failed_run_is_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("starting Solr ...\nplumb: crawl.seeds is empty: enter at least one start URL.\n\n")
    assert read_error(path) == "crawl.seeds is empty: enter at least one start URL."


def test_a_scheduled_run_without_a_record_says_why_it_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PlumblineError("the disk is full")

    settings = Settings(tmp_path)
    monkeypatch.setattr("pipeline.maintenance.preflight.check_before_run", fail)
    schedule = Scheduler(lambda: settings, lambda: Engine(settings, NullProgress()), lambda line: None, first_pages=20)
    with closing(schedule):
        schedule.start()
    with Engine(settings, NullProgress()) as engine:
        assert engine.store.runs.list_newest(1) == []
        assert EngineRunControl(engine).status().failure == "the disk is full"


def test_the_first_run_starts_or_has_failed(tmp_path: Path) -> None:
    with Engine(Settings(tmp_path), NullProgress()) as engine:
        control, output = EngineRunControl(engine), run_output_path(engine.settings.data_dir)
        assert not control.status().is_starting
        engine.store.operations.record("anna", "run_start", "")
        output.parent.mkdir(exist_ok=True)
        output.write_text("starting Solr ...\n")
        assert (control.status().is_starting, control.status().failure) == (True, "")
        output.write_text("starting Solr ...\nplumb: no space left\n")
        assert (control.status().is_starting, control.status().failure) == (False, "no space left")
        run_id = engine.store.runs.start("run")
        assert control.status().failure == ""
        failed_stage = StageRun("crawl", state=RunState.FAILED, error="no seed could be fetched")
        engine.store.runs.finish(run_id, [failed_stage])
        assert control.status().failure == "no seed could be fetched"


def test_an_output_that_is_newer_than_the_last_record_says_why_no_run_began(tmp_path: Path) -> None:
    with Engine(Settings(tmp_path), NullProgress()) as engine:
        control, output = EngineRunControl(engine), run_output_path(engine.settings.data_dir)
        output.parent.mkdir(exist_ok=True)
        output.write_text("plumb: the disk is full\n")
        os.utime(output, (1000.0, 1000.0))
        engine.store.runs.finish(engine.store.runs.start("run"), [])
        assert control.status().failure == ""
        os.utime(output, (time.time() + 5, time.time() + 5))
        assert control.status().failure == "the disk is full"


def test_of_two_clicks_at_once_one_starts_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config_file, started = tmp_path / "vertical.toml", list[Path]()
    config_file.write_text("")
    with ExitStack() as run, Engine(load_settings(config_file), NullProgress()) as engine:

        def start(_: object, data_dir: Path) -> SimpleNamespace:
            started.append(data_dir)
            time.sleep(0.2)  # while the other click looks for a run
            run.enter_context(stage_lock(data_dir, "run"))
            return SimpleNamespace(poll=lambda: None)

        monkeypatch.setattr("pipeline.site_admin.run_control.start_run", start)
        with ThreadPoolExecutor(2) as clicks:
            results = [clicks.submit(run_command, engine, "run_start", "anna") for _ in range(2)]
            errors = [result.exception(PATIENCE) for result in results]
        assert len(started) == 1 and [type(error) for error in errors if error] == [BusyError], errors
        assert len(engine.store.operations.find(name="run_start")) == 1
