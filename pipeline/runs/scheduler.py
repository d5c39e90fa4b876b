"""The timetable at work: the whole flow once a night, and what else the settings ask for, never twice at once.

APScheduler wakes this program at each scheduled time. Whether a run is due is decided by timetable.py from the
clock and the runs in the store, then and every few seconds beside: so a clock that jumps, a machine that slept or a
program that was not there neither doubles nor loses a night. The run itself is done here, in the main thread, where a
stop reaches it; one that was killed is taken up again at the next start.
"""

import logging
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from docstore.errors import BusyError, PlumblineError
from docstore.locking.file_locks import stage_lock
from docstore.model import StageReport
from pipeline import stages
from pipeline.alerts.service import notify_operator
from pipeline.engine import Engine
from pipeline.runs.run_history import should_resume
from pipeline.runs.systemd_notify import Liveness, WatchdogFeeder, notify_systemd
from pipeline.runs.timetable import SCHEDULE_COMMAND, Appointment, configured_appointments
from pipeline.settings import Settings

log = logging.getLogger(__name__)

ReportProgress = Callable[[str], None]
OpenEngine = Callable[[], AbstractContextManager[Engine]]
POLL_SECONDS = 20.0
RETRY_SECONDS = 300.0  # until a run that could not begin is tried again
LATE_AFTER_SECONDS = 900.0  # a run that begins so much later than it should is said to be made up
MAX_RUNS_READ = 500  # runs that are looked at for whether one has begun
IDLE_STATUS = "STATUS=waiting for the next run"

RESUME_REASON = "the last run did not come to its end"
MISSED_REASON = "the last scheduled run did not take place"


@dataclass(frozen=True)
class DueRun:
    """An appointment whose run is to begin; `reason` says so where it is not its time."""

    appointment: Appointment
    reason: str = ""


def find_due_run(
    appointments: Iterable[Appointment], now: float, starts: Mapping[str, Sequence[float]], program_started_at: float
) -> DueRun | None:
    """The run to begin `now`. `starts`: when earlier runs began, by command; `program_started_at`: when this program did."""
    for appointment in appointments:
        scheduled_at = appointment.timetable.due_since(now, starts_for(appointment, starts), program_started_at)
        if scheduled_at is not None:
            return DueRun(appointment, MISSED_REASON if now - scheduled_at > LATE_AFTER_SECONDS else "")
    return None


def starts_for(appointment: Appointment, starts: Mapping[str, Sequence[float]]) -> list[float]:
    """When runs began that count as this appointment's: one by hand is as good as the nightly one, once that was."""
    command_starts = list(starts.get(appointment.command, ()))
    return (
        [*command_starts, *starts.get("run", ())]
        if command_starts and appointment.command == SCHEDULE_COMMAND
        else command_starts
    )


class Scheduler:
    """The runs of one vertical, on its timetable. `opened` opens it anew for each run; `now` tells epoch seconds."""

    def __init__(
        self,
        settings: Settings,
        open_engine: OpenEngine,
        report_progress: ReportProgress,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.liveness = Liveness()
        self._open_engine = open_engine
        self._report_progress = report_progress
        self._now = now
        self._appointments = configured_appointments(settings.schedule)
        self._started_at = now()
        self._retry_after: dict[str, float] = {}  # command -> monotonic seconds
        self._starts: Mapping[str, Sequence[float]] = {}

    def start(self) -> None:
        """What was killed is taken up, what was missed is made up; before either, the operator is told."""
        with self._open_engine() as engine:
            notify_operator(engine)
            self._read_starts(engine)
            is_unfinished = should_resume(engine)
        if is_unfinished:
            self._run(DueRun(self._appointments[0], RESUME_REASON))
        else:
            self.run_if_due()

    def run_if_due(self) -> bool:
        """Run what is due now, if anything is: was it tried?"""
        if self._find_due() is None:  # by what was in the store when it was last read
            return False
        with self._open_engine() as engine:
            self._read_starts(engine)
        due = self._find_due()
        if due is not None:
            self._run(due)
        return due is not None

    def _find_due(self) -> DueRun | None:
        now = time.monotonic()
        retryable = (
            appointment for appointment in self._appointments if now >= self._retry_after.get(appointment.command, 0.0)
        )
        return find_due_run(retryable, self._now(), self._starts, self._started_at)

    def _read_starts(self, engine: Engine) -> None:
        starts_by_command: dict[str, list[float]] = {}
        for run in engine.store.runs.list_newest(MAX_RUNS_READ):
            starts_by_command.setdefault(run.command, []).append(run.started_at)
        self._starts = starts_by_command

    def _run(self, due: DueRun) -> None:
        """One run; its errors end here, and the operator is told of them."""
        if due.reason:
            log.warning("%s: running now", due.reason)
            self._report_progress(f"{due.reason}: running now")
        self._report_progress(f"run started {time.strftime('%Y-%m-%d %H:%M:%S')}")
        notify_systemd(f"STATUS={due.appointment.command} since {time.strftime('%H:%M')}")
        self._retry_after[due.appointment.command] = time.monotonic() + RETRY_SECONDS
        self._report_progress(self._run_and_describe(due.appointment))
        notify_systemd(IDLE_STATUS)

    def _run_and_describe(self, appointment: Appointment) -> str:
        """Do a run; what is said of it."""
        try:
            with self._open_engine() as engine:
                engine.progress = self.liveness.wrap(engine.progress)
                try:
                    reports = run_appointment(engine, appointment)
                except Exception:
                    self._after_run(engine)
                    raise
                self._after_run(engine)
            return "; ".join(f"{report.stage} {report.total}" for report in reports)
        except BusyError as error:
            log.warning("the scheduled run waits: %s", error)
            return f"the run waits: {error}"
        except PlumblineError as error:
            log.error("the scheduled run failed: %s", error)
            return f"the run failed: {error}"
        except Exception as error:  # the timetable outlives whatever one run meets
            log.exception("the scheduled run failed")
            return f"the run failed unexpectedly ({type(error).__name__}: {error}): see logs/plumb.log"

    def _after_run(self, engine: Engine) -> None:
        """A run has ended, well or not, but for one that was told to stop: that does not wait for a mail server."""
        self._read_starts(engine)
        notify_operator(engine)


def run_appointment(engine: Engine, appointment: Appointment) -> list[StageReport]:
    """The stages of an appointment."""
    if appointment.hosts:
        engine.store.frontier.restrict_to_hosts(appointment.hosts)
    return stages.run(engine, command=appointment.command, only_stage=appointment.stage)


def run_scheduler(
    settings: Settings, open_engine: OpenEngine, report_progress: ReportProgress, now: Callable[[], float] = time.time
) -> None:
    """Run on the timetable until interrupted. A run that fails is logged, noted in the store, told and said; the next
    one is tried all the same."""
    with (
        stage_lock(settings.data_dir, SCHEDULE_COMMAND),
        wake_queue(configured_appointments(settings.schedule)) as wakeups,
    ):
        schedule = Scheduler(settings, open_engine, report_progress, now)
        notify_systemd("READY=1", IDLE_STATUS)
        with WatchdogFeeder(schedule.liveness.is_alive):
            schedule.start()
            report_progress(f"next run daily at {settings.schedule.at}; Ctrl-C stops")
            while True:
                schedule.liveness.touch()
                with suppress(queue.Empty):
                    wakeups.get(timeout=POLL_SECONDS)
                schedule.run_if_due()


def daily_trigger(appointment: Appointment) -> CronTrigger:
    """Make the APScheduler trigger that fires at the scheduled time of each day."""
    return CronTrigger(hour=appointment.timetable.time_of_day.hour, minute=appointment.timetable.time_of_day.minute)


@contextmanager
def wake_queue(appointments: Iterable[Appointment]) -> Iterator["queue.SimpleQueue[None]"]:
    """A queue that gets an entry at each scheduled time."""
    wakeups: queue.SimpleQueue[None] = queue.SimpleQueue()
    scheduler = BackgroundScheduler()
    for appointment in appointments:
        scheduler.add_job(lambda: wakeups.put(None), daily_trigger(appointment), misfire_grace_time=None, coalesce=True)
    scheduler.start()
    try:
        yield wakeups
    finally:
        scheduler.shutdown(wait=False)
