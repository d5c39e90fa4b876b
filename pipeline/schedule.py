"""The timetable at work: the whole flow once a day, in one process, never twice at once.

APScheduler says when; the run itself is done here, in the main thread, where a stop reaches it. A run that could not
start in time (the machine slept, the run before took long) starts up to `schedule.grace_hours` later, and several
missed ones become one. At the start a run that was missed because this program was not there is made up for, by the
same grace, and one that was killed is taken up again.
"""

import logging
import queue
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from docstore.errors import PlumblineError
from docstore.locks import stage_lock
from docstore.model import StageReport
from docstore.store import Store
from pipeline import stages
from pipeline.engine import Engine
from pipeline.run_states import SCHEDULE, is_to_take_up
from pipeline.settings import Settings
from pipeline.timetable import Timetable, timetable

log = logging.getLogger(__name__)

RunOnce = Callable[[], list[StageReport]]
Note = Callable[[str], None]
OpenEngine = Callable[[], AbstractContextManager[Engine]]


def last_start(store: Store) -> datetime | None:
    """When the pipeline last began to run, in local time."""
    newest = store.runs.newest(1)
    return datetime.fromtimestamp(newest[0].started_at) if newest else None


def run_on_timetable(settings: Settings, opened: OpenEngine, note: Note) -> None:
    """Run daily until interrupted; `opened` opens the vertical anew for each run.

    A run that fails is logged, noted in the store and said; the next one is tried all the same.
    """

    def run_once() -> list[StageReport]:
        with opened() as engine:
            return stages.run(engine, command=SCHEDULE)

    table = timetable(settings.schedule)
    with stage_lock(settings.data_dir, SCHEDULE):
        with opened() as engine:
            why, before = why_now(engine, table, datetime.now()), last_start(engine.store)
        if why:
            note(f"{why}: running now")
            run_and_say(run_once, note)
        note(f"next run daily at {settings.schedule.at}; Ctrl-C stops")
        run_when_due(table, run_once, note, datetime.now() if why else before)


def why_now(engine: Engine, table: Timetable, now: datetime) -> str:
    """Why a run begins as soon as the scheduler does; "" if none does."""
    if is_to_take_up(engine):
        return "the last run did not come to its end"
    return "the last scheduled run did not take place" if table.is_missed(last_start(engine.store), now) else ""


def run_when_due(table: Timetable, run_once: RunOnce, note: Note, begun: datetime | None = None) -> None:
    """For ever: a run at each scheduled time. What fell due during a run is one run after it, if that is in time.

    `begun` is when the newest run did, in local time: an hour that comes twice in autumn has one run.
    """
    due: queue.SimpleQueue[float] = queue.SimpleQueue()
    scheduler = BackgroundScheduler()
    grace = max(1.0, table.grace.total_seconds())
    scheduler.add_job(
        lambda: due.put(time.time()),
        CronTrigger(hour=table.hour, minute=table.minute),
        misfire_grace_time=int(grace),
        coalesce=True,
    )
    scheduler.start()
    try:
        while True:
            since = due.get()
            while not due.empty():
                since = due.get()
            moment = datetime.fromtimestamp(since)
            if time.time() - since <= grace and not table.is_same_time(begun, moment):
                begun = moment
                run_and_say(run_once, note)
    finally:
        scheduler.shutdown(wait=False)


def run_and_say(run_once: RunOnce, note: Note) -> None:
    """One run; its errors end here."""
    note(f"run started {time.strftime('%Y-%m-%d %H:%M:%S')}")
    try:
        reports = run_once()
    except PlumblineError as error:
        log.error("the scheduled run failed: %s", error)
        note(f"the run failed: {error}")
    except Exception as error:  # the timetable outlives whatever one run meets
        log.exception("the scheduled run failed")
        note(f"the run failed unexpectedly ({type(error).__name__}: {error}): see logs/plumb.log")
    else:
        note("; ".join(f"{report.stage} {report.total}" for report in reports))
