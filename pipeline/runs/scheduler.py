"""The scheduler: starts the daily run and the other planned runs, one at a time.

APScheduler decides when: a trigger for each planned time, with one start for all times that passed during a run
(coalescing) and none later than `schedule.grace_hours` (misfire). It only queues a run. The main thread executes it,
where a signal can interrupt it, unless the store shows that it was made. When planning, the store also shows which runs
were missed before; APScheduler then starts them. A killed run is resumed at the next start.
"""

import logging
import queue
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime

from apscheduler.schedulers.background import BackgroundScheduler

from domain.errors import BusyError, PlumblineError
from domain.outcome import StageReport
from pipeline import stages
from pipeline.engine import Engine, OpenEngine, lock_stage
from pipeline.local_time import local_minute
from pipeline.runs.notifications import send_notifications
from pipeline.runs.run_history import missed_time, should_resume
from pipeline.runs.run_output import write_error
from pipeline.runs.run_stop import RunStopRequest, StopRequests
from pipeline.runs.systemd_notify import Liveness, WatchdogFeeder, notify_systemd
from pipeline.runs.timetable import (
    LATE_AFTER_SECONDS,
    SCHEDULE_COMMAND,
    Appointment,
    configured_appointments,
    next_planned_time,
)
from pipeline.settings import Settings

log = logging.getLogger(__name__)

ReportProgress = Callable[[str], None]
POLL_SECONDS = 20.0
RETRY_SECONDS = 300.0  # before a run that could not start is retried
MAX_GRACE_HOURS = 72.0  # the last scheduled time is never older
IDLE_STATUS = "STATUS=waiting for the next run"

RESUME_REASON = "the last run was interrupted"
MISSED_REASON = "the last scheduled run was missed"
FIRST_RUN_REASON = "no run has ended yet"


class Scheduler:
    """Starts the planned runs of one vertical.

    Args:
        current_settings: Returns the settings as they are now.
        open_engine: Opens the vertical; called for each run.
        report_progress: Receives one line about each start and end of a run.
        first_pages: If not 0, a vertical without a successful run is run at the start, and makes this many pages per
            seed searchable before the complete crawl.

    Attributes:
        stop_requests: Ends a run on request of another process while its context is open.
    """

    def __init__(
        self,
        current_settings: Callable[[], Settings],
        open_engine: OpenEngine,
        report_progress: ReportProgress,
        first_pages: int = 0,
    ) -> None:
        self.liveness = Liveness()
        self.stop_requests = StopRequests()
        self._current_settings = current_settings
        self._open_engine = open_engine
        self._report_progress = report_progress
        self._first_pages = first_pages
        self._plan_settings = current_settings()
        self._last_wait = 0.0
        self._postponed_at: dict[str, float] = {}  # command -> last time at which another process prevented its run
        self._retry_reasons: dict[str, str] = {}  # command -> why its postponed run starts though none was missed
        self._due: queue.SimpleQueue[Appointment] = queue.SimpleQueue()
        self._timer = BackgroundScheduler(timezone=UTC)
        self._timer.start(paused=True)  # it only works while `wait` waits

    def close(self) -> None:
        """End the timer; no further run becomes due."""
        self._timer.shutdown(wait=False)

    def start(self) -> None:
        """Plan and send alerts, then resume an interrupted run or start the first one. A missed one is due at once."""
        with self._open_engine() as engine:
            self._plan(engine)
            send_notifications(engine)
            is_unfinished = should_resume(engine)
            is_first = bool(self._first_pages) and engine.store.runs.since_last_success()[0] is None
        if is_unfinished or is_first:
            [daily, *_] = configured_appointments(self._current_settings())
            self._run(daily, RESUME_REASON if is_unfinished else FIRST_RUN_REASON)

    def wait(self, seconds: float = POLL_SECONDS) -> None:
        """Execute the next run that is due within `seconds`. Changed times apply before."""
        self.liveness.touch()
        settings, old_settings, started_at = self._current_settings(), self._plan_settings, time.time()
        is_changed = settings.schedule != old_settings.schedule or settings.crawl.sites != old_settings.crawl.sites
        if started_at < self._last_wait or is_changed:  # earlier than before: the clock was set back
            try:
                with self._open_engine() as engine:
                    self._plan(engine)
            except PlumblineError as error:
                log.error("changed times apply later: %s", error)
        self._timer.resume()  # it reads the clock again, which may have been set
        try:
            appointment = self._due.get(timeout=seconds)
        except queue.Empty:
            return
        finally:
            self._timer.pause()
            self._last_wait = max(started_at, time.time())
        self._run(appointment)

    def _plan(self, engine: Engine) -> None:
        """Plan all runs of the settings, and only these. One that was missed is due at once."""
        settings = self._current_settings()
        appointments = configured_appointments(settings)
        engine.store.runs.save_plans([appointment.plan for appointment in appointments])
        missed_times = [self._missed_time(engine, appointment) for appointment in appointments]
        self._plan_settings = settings
        self._timer.remove_all_jobs()
        for appointment, missed_at in zip(appointments, missed_times, strict=True):
            self._add_job(appointment, missed_at or appointment.trigger.period(time.time())[1])

    def _add_job(self, appointment: Appointment, start_at: float) -> None:
        """Plan the next start of a run; the later ones follow from its trigger."""
        self._timer.add_job(
            self._due.put,
            appointment.trigger,
            [appointment],
            id=appointment.command,
            next_run_time=datetime.fromtimestamp(start_at, UTC),
            misfire_grace_time=round(self._grace_seconds()) or 1,
            coalesce=True,
            replace_existing=True,
        )

    def _grace_seconds(self) -> float:
        return min(self._plan_settings.schedule.grace_hours, MAX_GRACE_HOURS) * 3600

    def _missed_time(self, engine: Engine, appointment: Appointment) -> float | None:
        return missed_time(engine, appointment, time.time(), self._postponed_at.get(appointment.command, 0.0))

    def _run(self, appointment: Appointment, reason: str = "") -> None:
        """Execute a run and report it; without a `reason` only if it was not made. Errors are reported, not raised."""
        reason = forced_reason = reason or self._retry_reasons.pop(appointment.command, "")
        try:
            with self._open_engine() as engine:
                if not reason:
                    missed_at = self._missed_time(engine, appointment)
                    late_seconds = 0.0 if missed_at is None else time.time() - missed_at
                    if missed_at is None or late_seconds > max(self._grace_seconds(), LATE_AFTER_SECONDS):
                        return
                    reason = MISSED_REASON if late_seconds > LATE_AFTER_SECONDS else ""
                if reason:
                    log.warning("%s: running now", reason)
                    self._report_progress(f"{reason}: running now")
                self._report_progress(f"run started {time.strftime('%Y-%m-%d %H:%M:%S')}")
                notify_systemd(f"STATUS={appointment.command} since {time.strftime('%H:%M')}")
                engine.touch = self.liveness.touch
                try:
                    with self.stop_requests.during_run():
                        reports = run_appointment(engine, appointment, self._first_pages)
                except (Exception, RunStopRequest):
                    send_notifications(engine)  # not after Ctrl-C
                    raise
                send_notifications(engine)
            self._report_progress("; ".join(f"{report.stage} {report.total}" for report in reports))
        except RunStopRequest:
            log.warning("scheduled run stopped by an operator")
            self._report_progress("run stopped by an operator")
        except BusyError as error:
            log.warning("scheduled run postponed: %s", error)
            self._report_progress(f"run postponed: {error}; retrying in {RETRY_SECONDS:.0f} s")
            self._postponed_at[appointment.command] = time.time()
            self._retry_reasons[appointment.command] = forced_reason
            self._add_job(appointment, time.time() + RETRY_SECONDS)
        except Exception as error:  # the scheduler must survive any error of a run
            is_expected = isinstance(error, PlumblineError)
            log.error("scheduled run failed: %s", error, exc_info=not is_expected)
            internal = f"an internal error ({type(error).__name__}: {error}): see logs/plumb.log"
            message = str(error) if is_expected else internal
            self._report_progress(f"run failed: {message}")
            with suppress(OSError):  # `/admin/run` has nothing else if the store has no record of the run
                write_error(self._current_settings().data_dir, message)
            self._add_job(appointment, time.time() + RETRY_SECONDS)  # only executed if this one has no record
        notify_systemd(IDLE_STATUS)


def run_appointment(engine: Engine, appointment: Appointment, first_pages: int = 0) -> list[StageReport]:
    """Run the stages of an appointment; returns their reports. Arguments and errors are those of `stages.run`."""
    if appointment.hosts:
        engine.store.frontier.restrict_to_hosts(appointment.hosts)
    first_pages = 0 if appointment.stage else first_pages
    return stages.run(engine, command=appointment.command, only_stage=appointment.stage, first_pages=first_pages)


def run_scheduler(
    current_settings: Callable[[], Settings],
    open_engine: OpenEngine,
    report_progress: ReportProgress,
    first_pages: int = 0,
) -> None:
    """Start runs at their scheduled times until interrupted, and the first run at once if `first_pages` is not 0.

    A failed run is logged, recorded in the store and reported; the scheduler continues. Changed times apply within
    POLL_SECONDS. Raises BusyError if another scheduler of the vertical is running, on any machine.
    """
    with (
        lock_stage(current_settings(), SCHEDULE_COMMAND),
        closing(Scheduler(current_settings, open_engine, report_progress, first_pages)) as scheduler,
    ):
        notify_systemd("READY=1", IDLE_STATUS)
        with scheduler.stop_requests, WatchdogFeeder(scheduler.liveness.is_alive):
            scheduler.start()
            next_at = next_planned_time(current_settings(), time.time())
            report_progress(f"next run {local_minute(next_at)}; Ctrl-C stops")
            while True:
                scheduler.wait()
