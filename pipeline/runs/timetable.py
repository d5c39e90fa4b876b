"""The planned runs: the daily run, single stages and single sites, each at one time of the day.

Times are epoch seconds. In a repeated hour (end of daylight saving time) the first one counts; a time in a skipped hour
is shifted by the length of the gap. If a time zone skips a whole day, two days share one scheduled time and one run.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from apscheduler.triggers.base import BaseTrigger

from crawler.crawl_plan import parse_quiet_setting
from crawler.schedule.quiet_hours import contains_minute
from domain.errors import SettingsError
from pipeline.settings import Settings, parse_times_of_day

SCHEDULE_COMMAND = "schedule"  # lock of `plumb schedule`, and command in the records of daily runs
LATE_AFTER_SECONDS = 900.0  # a run that starts later than this counts as missed
FIRST_PAGES_PER_SEED = 20  # searchable early in a first run


@dataclass(frozen=True)
class DailyTrigger(BaseTrigger):  # type: ignore[misc]  # untyped library
    """A trigger of APScheduler for each day. Its `CronTrigger` repeats a run in autumn, and skips one in spring.

    Attributes:
        time_of_day: Local time.
        zone: Time zone; None: that of the machine.
    """

    time_of_day: time
    zone: tzinfo | None = None

    def timestamp_on(self, day: date) -> float:
        """Return the scheduled time on a day."""
        return datetime.combine(day, self.time_of_day, tzinfo=self.zone).timestamp()

    def period(self, now: float) -> tuple[float, float]:
        """Return the last scheduled time at or before `now`, and the next one."""
        today = datetime.fromtimestamp(now, self.zone).date()
        timestamps = [self.timestamp_on(today + timedelta(days=days)) for days in range(-2, 4)]
        return max(timestamp for timestamp in timestamps if timestamp <= now), min(
            timestamp for timestamp in timestamps if timestamp > now
        )

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the next scheduled time after the previous one, or after `now`."""
        return datetime.fromtimestamp(self.period((previous_fire_time or now).timestamp())[1], UTC)


@dataclass(frozen=True)
class Appointment:
    """A run at a time of the day.

    Attributes:
        command: Command in the records of its runs.
        trigger: Its scheduled time.
        stage: The only stage to run; "" for all.
        hosts: The only hosts to crawl; empty for all.
    """

    command: str
    trigger: DailyTrigger
    stage: str = ""
    hosts: tuple[str, ...] = ()

    @property
    def plan(self) -> str:
        """The daily time and the command: what the store says to be planned."""
        return f"{self.trigger.time_of_day:%H:%M} {self.command}"


def configured_appointments(settings: Settings) -> list[Appointment]:
    """Return all appointments of the settings, the daily run first. Sites with one time share a run."""
    [daily] = parse_times_of_day(settings.schedule.at, "schedule.at")
    appointments = [Appointment(SCHEDULE_COMMAND, DailyTrigger(daily))]
    for stage, text in settings.schedule.stages.items():
        for start_time in parse_times_of_day(text, stage):
            command = f"{SCHEDULE_COMMAND} {stage} {start_time:%H:%M}"
            appointments.append(Appointment(command, DailyTrigger(start_time), stage))
    hosts_by_time: dict[time, list[str]] = {}
    for site in settings.crawl.sites.records:
        for start_time in parse_times_of_day(site.schedule, site.host) if site.schedule else ():
            hosts_by_time.setdefault(start_time, []).append(site.host)
    for start_time, hosts in hosts_by_time.items():
        command = f"{SCHEDULE_COMMAND} sites {start_time:%H:%M}"
        appointments.append(Appointment(command, DailyTrigger(start_time), hosts=tuple(hosts)))
    return appointments


def check_start_times(settings: Settings) -> None:
    """Raise SettingsError if a run that crawls starts in the quiet hours of all sites, where it ends at once."""
    quiet = parse_quiet_setting(settings.crawl)
    for appointment in configured_appointments(settings):
        start = appointment.trigger.time_of_day
        if appointment.stage in ("", "crawl") and contains_minute(quiet, 60 * start.hour + start.minute):
            raise SettingsError(
                "The run at {time} starts in the quiet hours {hours} and would fetch no page. Choose another time.",
                time=f"{start:%H:%M}",
                hours=settings.crawl.quiet_hours,
            )


def next_planned_time(settings: Settings, now: float) -> float:
    """Return the earliest scheduled time after `now`."""
    return min(appointment.trigger.period(now)[1] for appointment in configured_appointments(settings))
