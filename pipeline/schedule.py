"""The timetable: the whole flow once a day, in one process, never twice at once.

APScheduler fires the job; a run that could not start in time (the machine slept, the run before took long) starts up
to `schedule.grace_hours` later, and several missed ones become one. A run that was missed because this program was
not running is made up for at the start, by the same grace.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.cron import CronTrigger

from docstore.errors import PlumblineError
from docstore.model import StageReport
from docstore.store import Store
from pipeline.settings import ScheduleSettings, Settings

log = logging.getLogger(__name__)

RunOnce = Callable[[], list[StageReport]]


@dataclass(frozen=True)
class Timetable:
    """When the daily run is. Reads no clock and no store."""

    hour: int
    minute: int
    grace: timedelta

    def last_before(self, now: datetime) -> datetime:
        """The newest scheduled time that is not after `now`."""
        today = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        return today if today <= now else today - timedelta(days=1)

    def is_missed(self, last_start: datetime | None, now: datetime) -> bool:
        """Should a run start now because the last scheduled one did not?"""
        scheduled = self.last_before(now)
        within_grace = now - scheduled <= self.grace
        return within_grace and last_start is not None and last_start < scheduled


def timetable(settings: ScheduleSettings) -> Timetable:
    """The timetable that the settings describe."""
    hour, _, minute = settings.at.partition(":")
    return Timetable(int(hour), int(minute), timedelta(hours=settings.grace_hours))


def last_start(store: Store) -> datetime | None:
    """When the pipeline last began to run, in local time."""
    runs = store.status.runs(1)
    return datetime.fromtimestamp(runs[0].started_at) if runs else None


def run_on_timetable(
    settings: Settings, run_once: RunOnce, previous: datetime | None, note: Callable[[str], None]
) -> None:
    """Run daily until interrupted. A run that fails is logged and said; the next one is tried all the same."""
    table = timetable(settings.schedule)
    scheduler = BlockingScheduler()
    scheduler.add_job(
        run_and_say,
        CronTrigger(hour=table.hour, minute=table.minute),
        args=(run_once, note),
        misfire_grace_time=max(1, int(table.grace.total_seconds())),
        coalesce=True,
        max_instances=1,
    )
    if table.is_missed(previous, datetime.now()):
        note("the last scheduled run did not take place: running now")
        run_and_say(run_once, note)
    note(f"next run daily at {settings.schedule.at}; Ctrl-C stops")
    scheduler.start()


def run_and_say(run_once: RunOnce, note: Callable[[str], None]) -> None:
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
