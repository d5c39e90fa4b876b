"""The scheduler: starts the daily run and the other scheduled runs, one at a time.

APScheduler wakes the program at each scheduled time. timetable.py decides from the clock and the stored runs whether a
run is due, at each wake-up and every POLL_SECONDS. A clock change, a sleeping machine or a stopped scheduler therefore
causes neither a duplicate nor a lost run. Runs execute in the main thread, where a signal can interrupt them. A killed
run is resumed at the next start.
"""

import logging
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from domain.errors import BusyError, PlumblineError, SettingsError
from domain.outcome import StageReport
from locks.file_locks import stage_lock
from pipeline import stages
from pipeline.alerts.service import notify_operator
from pipeline.engine import Engine, OpenEngine
from pipeline.runs.run_history import should_resume
from pipeline.runs.run_output import write_error
from pipeline.runs.run_stop import RunStopRequest, StopRequests
from pipeline.runs.systemd_notify import Liveness, WatchdogFeeder, notify_systemd
from pipeline.runs.timetable import SCHEDULE_COMMAND, Appointment, configured_appointments
from pipeline.settings import ScheduleSettings, Settings

log = logging.getLogger(__name__)

ReportProgress = Callable[[str], None]
POLL_SECONDS = 20.0
RETRY_SECONDS = 300.0  # before a run that could not start is retried
LATE_AFTER_SECONDS = 900.0  # a run that starts later than this is reported as a missed run
MAX_RUNS_READ = 500  # newest runs that are searched for starts
IDLE_STATUS = "STATUS=waiting for the next run"

RESUME_REASON = "the last run was interrupted"
MISSED_REASON = "the last scheduled run was missed"
FIRST_RUN_REASON = "no run has ended yet"


@dataclass(frozen=True)
class DueRun:
    """An appointment that is due; `reason` explains a start outside its scheduled time, otherwise ""."""

    appointment: Appointment
    reason: str = ""


def find_due_run(
    appointments: Iterable[Appointment], now: float, starts: Mapping[str, Sequence[float]], program_started_at: float
) -> DueRun | None:
    """Return the first appointment that is due, or None. Times are epoch seconds.

    Args:
        appointments: Candidates, by priority.
        now: Current time.
        starts: Command -> start times of earlier runs.
        program_started_at: Start time of this program.
    """
    for appointment in appointments:
        scheduled_at = appointment.timetable.due_since(now, starts_for(appointment, starts), program_started_at)
        if scheduled_at is not None:
            return DueRun(appointment, MISSED_REASON if now - scheduled_at > LATE_AFTER_SECONDS else "")
    return None


def starts_for(appointment: Appointment, starts: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the start times of runs that satisfy the appointment.

    After the first daily run, runs of `plumb run` count as daily runs too.
    """
    command_starts = list(starts.get(appointment.command, ()))
    return (
        [*command_starts, *starts.get("run", ())]
        if command_starts and appointment.command == SCHEDULE_COMMAND
        else command_starts
    )


class Scheduler:
    """Starts the scheduled runs of one vertical.

    Args:
        settings: The settings of the vertical.
        open_engine: Opens the vertical; called for each run.
        report_progress: Receives one line about each start and end of a run.
        now: Returns epoch seconds.
        first_pages: If not 0, a vertical without a successful run is run at the start, and makes this many pages per
            seed searchable before the complete crawl.

    Attributes:
        stop_requests: Ends a run on request of another process while its context is open.
    """

    def __init__(
        self,
        settings: Settings,
        open_engine: OpenEngine,
        report_progress: ReportProgress,
        now: Callable[[], float] = time.time,
        first_pages: int = 0,
    ) -> None:
        self.liveness = Liveness()
        self.stop_requests = StopRequests()
        self._open_engine = open_engine
        self._report_progress = report_progress
        self._now = now
        self._first_pages = first_pages
        self._data_dir = settings.data_dir
        self._appointments = configured_appointments(settings.schedule)
        self._started_at = now()
        self._retry_after: dict[str, float] = {}  # command -> monotonic seconds
        self._starts: Mapping[str, Sequence[float]] = {}

    def start(self) -> None:
        """Send alerts, then resume an interrupted run, or start the first run or a missed one."""
        with self._open_engine() as engine:
            notify_operator(engine)
            self._read_starts(engine)
            is_unfinished = should_resume(engine)
            is_first = bool(self._first_pages) and engine.store.runs.since_last_success()[0] is None
        if is_unfinished or is_first:
            self._run(DueRun(self._appointments[0], RESUME_REASON if is_unfinished else FIRST_RUN_REASON))
        else:
            self.run_if_due()

    def set_timetable(self, settings: ScheduleSettings) -> None:
        """Use other scheduled times instead of the present ones."""
        self._appointments = configured_appointments(settings)

    def run_if_due(self) -> bool:
        """Start the run that is due, if any; returns True if a run was started."""
        if self._find_due() is None:  # by the run history of the last read: avoids opening the store
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
        """Execute a run and report it. Errors are logged and reported, not raised."""
        if due.reason:
            log.warning("%s: running now", due.reason)
            self._report_progress(f"{due.reason}: running now")
        self._report_progress(f"run started {time.strftime('%Y-%m-%d %H:%M:%S')}")
        notify_systemd(f"STATUS={due.appointment.command} since {time.strftime('%H:%M')}")
        self._retry_after[due.appointment.command] = time.monotonic() + RETRY_SECONDS
        self._report_progress(self._run_and_describe(due.appointment))
        notify_systemd(IDLE_STATUS)

    def _run_and_describe(self, appointment: Appointment) -> str:
        """Execute a run; returns one line about its result."""
        try:
            with self._open_engine() as engine:
                engine.progress = self.liveness.wrap(engine.progress)
                try:
                    with self.stop_requests.during_run():
                        reports = run_appointment(engine, appointment, self._first_pages)
                except (Exception, RunStopRequest):
                    self._after_run(engine)
                    raise
                self._after_run(engine)
            return "; ".join(f"{report.stage} {report.total}" for report in reports)
        except RunStopRequest:
            log.warning("scheduled run stopped by an operator")
            return "run stopped by an operator"
        except BusyError as error:
            log.warning("scheduled run postponed: %s", error)
            return f"run postponed: {error}; retrying in {RETRY_SECONDS:.0f} s"
        except PlumblineError as error:
            log.error("scheduled run failed: %s", error)
            self._write_error(str(error))
            return f"run failed: {error}"
        except Exception as error:  # the scheduler must survive any error of a run
            log.exception("scheduled run failed")
            message = f"run failed with an internal error ({type(error).__name__}: {error}): see logs/plumb.log"
            self._write_error(message)
            return message

    def _write_error(self, message: str) -> None:
        """Write why a run failed to the file that `/admin/run` reads if the run has no record in the store."""
        try:
            write_error(self._data_dir, message)
        except OSError as error:
            log.error("cannot write the output of the run: %s", error)

    def _after_run(self, engine: Engine) -> None:
        """Reload the run history and send alerts, after a run that ended by itself. Not called after Ctrl-C."""
        self._read_starts(engine)
        notify_operator(engine)


def run_appointment(engine: Engine, appointment: Appointment, first_pages: int = 0) -> list[StageReport]:
    """Run the stages of an appointment; returns their reports. Arguments and errors are those of `stages.run`."""
    if appointment.hosts:
        engine.store.frontier.restrict_to_hosts(appointment.hosts)
    first_pages = 0 if appointment.stage else first_pages
    return stages.run(engine, command=appointment.command, only_stage=appointment.stage, first_pages=first_pages)


class CurrentSettings:
    """The settings as they are now in their file; the last valid ones while the file is invalid.

    Args:
        load: Loads the settings; the first call raises SettingsError if they are invalid.
        report_progress: Receives each new error once.
    """

    def __init__(self, load: Callable[[], Settings], report_progress: ReportProgress) -> None:
        self._load = load
        self._report_progress = report_progress
        self._settings = load()
        self._last_error = ""

    def __call__(self) -> Settings:
        try:
            self._settings, self._last_error = self._load(), ""
        except SettingsError as error:
            if str(error) != self._last_error:
                self._last_error = str(error)
                log.warning("using the last valid settings: %s", error)
                self._report_progress(f"using the last valid settings: {error}")
        return self._settings


def run_scheduler(
    current_settings: Callable[[], Settings],
    open_engine: OpenEngine,
    report_progress: ReportProgress,
    now: Callable[[], float] = time.time,
    first_pages: int = 0,
) -> None:
    """Start runs at their scheduled times until interrupted, and the first run at once if `first_pages` is not 0.

    A failed run is logged, recorded in the store and reported; the scheduler continues. A changed timetable applies
    within POLL_SECONDS. Raises BusyError if another scheduler of the vertical is running.
    """
    settings = current_settings()
    with (
        stage_lock(settings.data_dir, SCHEDULE_COMMAND),
        wake_queue(configured_appointments(settings.schedule)) as wakeups,
    ):
        schedule = Scheduler(settings, open_engine, report_progress, now, first_pages)
        notify_systemd("READY=1", IDLE_STATUS)
        with schedule.stop_requests, WatchdogFeeder(schedule.liveness.is_alive):
            schedule.start()
            report_progress(f"next run daily at {settings.schedule.at}; Ctrl-C stops")
            while True:
                schedule.liveness.touch()
                with suppress(queue.Empty):
                    wakeups.get(timeout=POLL_SECONDS)
                schedule.set_timetable(current_settings().schedule)
                schedule.run_if_due()


def daily_trigger(appointment: Appointment) -> CronTrigger:
    """Create the APScheduler trigger for the scheduled time of each day."""
    return CronTrigger(hour=appointment.timetable.time_of_day.hour, minute=appointment.timetable.time_of_day.minute)


@contextmanager
def wake_queue(appointments: Iterable[Appointment]) -> Iterator["queue.SimpleQueue[None]"]:
    """Yield a queue that receives an entry at each scheduled time."""
    wakeups: queue.SimpleQueue[None] = queue.SimpleQueue()
    scheduler = BackgroundScheduler()
    for appointment in appointments:
        scheduler.add_job(lambda: wakeups.put(None), daily_trigger(appointment), misfire_grace_time=None, coalesce=True)
    scheduler.start()
    try:
        yield wakeups
    finally:
        scheduler.shutdown(wait=False)
