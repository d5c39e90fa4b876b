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
from pipeline.alerts.service import alert
from pipeline.engine import Engine
from pipeline.runs.run_states import is_to_take_up
from pipeline.runs.service_manager import Heartbeat, Signs, tell_service_manager
from pipeline.runs.timetable import SCHEDULE, Appointment, appointments
from pipeline.settings import Settings

log = logging.getLogger(__name__)

Note = Callable[[str], None]
OpenEngine = Callable[[], AbstractContextManager[Engine]]
POLL_SECONDS = 20.0
AGAIN_SECONDS = 300.0  # until a run that could not begin is tried again
LATE_SECONDS = 900.0  # a run that begins so much later than it should is said to be made up
STARTS_READ = 500  # runs that are looked at for whether one has begun
WAITING = "STATUS=waiting for the next run"

TAKEN_UP = "the last run did not come to its end"
MISSED = "the last scheduled run did not take place"


@dataclass(frozen=True)
class Due:
    """An appointment whose run is to begin; `why` says so where it is not its time."""

    appointment: Appointment
    why: str = ""


def first_due(
    wanted: Iterable[Appointment], now: float, starts: Mapping[str, Sequence[float]], since: float
) -> Due | None:
    """The run to begin `now`. `starts`: when earlier runs began, by command; `since`: when this program did."""
    for one in wanted:
        moment = one.table.due(now, begun(one, starts), since)
        if moment is not None:
            return Due(one, MISSED if now - moment > LATE_SECONDS else "")
    return None


def begun(one: Appointment, starts: Mapping[str, Sequence[float]]) -> list[float]:
    """When runs began that count as this appointment's: one by hand is as good as the nightly one, once that was."""
    own = list(starts.get(one.command, ()))
    return [*own, *starts.get("run", ())] if own and one.command == SCHEDULE else own


class Schedule:
    """The runs of one vertical, on its timetable. `opened` opens it anew for each run; `now` tells epoch seconds."""

    def __init__(
        self, settings: Settings, opened: OpenEngine, note: Note, now: Callable[[], float] = time.time
    ) -> None:
        self.signs = Signs()
        self._opened = opened
        self._note = note
        self._now = now
        self._wanted = appointments(settings.schedule)
        self._since = now()
        self._not_before: dict[str, float] = {}  # command -> monotonic seconds
        self._starts: Mapping[str, Sequence[float]] = {}

    def start(self) -> None:
        """What was killed is taken up, what was missed is made up; before either, the operator is told."""
        with self._opened() as engine:
            alert(engine)
            self._read_starts(engine)
            is_unfinished = is_to_take_up(engine)
        if is_unfinished:
            self._run(Due(self._wanted[0], TAKEN_UP))
        else:
            self.step()

    def step(self) -> bool:
        """Run what is due now, if anything is: was it tried?"""
        if self._due() is None:  # by what was in the store when it was last read
            return False
        with self._opened() as engine:
            self._read_starts(engine)
        due = self._due()
        if due is not None:
            self._run(due)
        return due is not None

    def _due(self) -> Due | None:
        now = time.monotonic()
        ready = (one for one in self._wanted if now >= self._not_before.get(one.command, 0.0))
        return first_due(ready, self._now(), self._starts, self._since)

    def _read_starts(self, engine: Engine) -> None:
        found: dict[str, list[float]] = {}
        for run in engine.store.runs.newest(STARTS_READ):
            found.setdefault(run.command, []).append(run.started_at)
        self._starts = found

    def _run(self, due: Due) -> None:
        """One run; its errors end here, and the operator is told of them."""
        if due.why:
            log.warning("%s: running now", due.why)
            self._note(f"{due.why}: running now")
        self._note(f"run started {time.strftime('%Y-%m-%d %H:%M:%S')}")
        tell_service_manager(f"STATUS={due.appointment.command} since {time.strftime('%H:%M')}")
        self._not_before[due.appointment.command] = time.monotonic() + AGAIN_SECONDS
        self._note(self._outcome(due.appointment))
        tell_service_manager(WAITING)

    def _outcome(self, one: Appointment) -> str:
        """Do a run; what is said of it."""
        try:
            with self._opened() as engine:
                engine.progress = self.signs.of(engine.progress)
                try:
                    reports = work(engine, one)
                except Exception:
                    self._after(engine)
                    raise
                self._after(engine)
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

    def _after(self, engine: Engine) -> None:
        """A run has ended, well or not, but for one that was told to stop: that does not wait for a mail server."""
        self._read_starts(engine)
        alert(engine)


def work(engine: Engine, one: Appointment) -> list[StageReport]:
    """The stages of an appointment."""
    if one.hosts:
        engine.store.frontier.ask_only(one.hosts)
    return stages.run(engine, command=one.command, only=one.stage)


def run_on_timetable(settings: Settings, opened: OpenEngine, note: Note, now: Callable[[], float] = time.time) -> None:
    """Run on the timetable until interrupted. A run that fails is logged, noted in the store, told and said; the next
    one is tried all the same."""
    with stage_lock(settings.data_dir, SCHEDULE), woken_at(appointments(settings.schedule)) as woken:
        schedule = Schedule(settings, opened, note, now)
        tell_service_manager("READY=1", WAITING)
        with Heartbeat(schedule.signs.is_well):
            schedule.start()
            note(f"next run daily at {settings.schedule.at}; Ctrl-C stops")
            while True:
                schedule.signs.seen()
                with suppress(queue.Empty):
                    woken.get(timeout=POLL_SECONDS)
                schedule.step()


def daily_trigger(appointment: Appointment) -> CronTrigger:
    """Make the APScheduler trigger that fires at the scheduled time of each day."""
    return CronTrigger(hour=appointment.table.at.hour, minute=appointment.table.at.minute)


@contextmanager
def woken_at(wanted: Iterable[Appointment]) -> Iterator["queue.SimpleQueue[None]"]:
    """A queue that gets an entry at each scheduled time."""
    woken: queue.SimpleQueue[None] = queue.SimpleQueue()
    scheduler = BackgroundScheduler()
    for one in wanted:
        scheduler.add_job(lambda: woken.put(None), daily_trigger(one), misfire_grace_time=None, coalesce=True)
    scheduler.start()
    try:
        yield woken
    finally:
        scheduler.shutdown(wait=False)
