"""The planned runs: the daily run, single stages and single sites, each at one time of the day.

Times are epoch seconds. In a repeated hour (end of daylight saving time) the first one counts; a time in a skipped hour
is shifted by the length of the gap. If a time zone skips a whole day, two days share one scheduled time and one run.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zlib import crc32

from apscheduler.triggers.base import BaseTrigger

from pipeline.settings import ScheduleSettings, parse_hosts, parse_times_of_day

SCHEDULE_COMMAND = "schedule"  # lock of `plumb schedule`, and command in the records of daily runs
LATE_AFTER_SECONDS = 900.0  # a run that starts later than this counts as missed
FIRST_PAGES_PER_SEED = 20  # searchable early in a first run
MAX_COMMAND_LENGTH = 64  # characters


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


def configured_appointments(settings: ScheduleSettings) -> list[Appointment]:
    """Return all appointments of the settings, the daily run first."""
    [daily] = parse_times_of_day(settings.at, "schedule.at")
    appointments = [Appointment(SCHEDULE_COMMAND, DailyTrigger(daily))]
    for stage, text in settings.stages.items():
        for start_time in parse_times_of_day(text, stage):
            command = f"{SCHEDULE_COMMAND} {stage} {start_time:%H:%M}"
            appointments.append(Appointment(command, DailyTrigger(start_time), stage))
    for names, text in settings.sites.items():
        hosts = parse_hosts(names)
        for start_time in parse_times_of_day(text, names):
            command = shorten_command(f"{SCHEDULE_COMMAND} {start_time:%H:%M} {' '.join(hosts)}")
            appointments.append(Appointment(command, DailyTrigger(start_time), hosts=hosts))
    return appointments


def next_planned_time(settings: ScheduleSettings, now: float) -> float:
    """Return the earliest scheduled time after `now`."""
    return min(appointment.trigger.period(now)[1] for appointment in configured_appointments(settings))


def shorten_command(command: str) -> str:
    """Shorten a command to MAX_COMMAND_LENGTH for the `runs` table; a long one ends with its CRC32."""
    return (
        command
        if len(command) <= MAX_COMMAND_LENGTH
        else f"{command[: MAX_COMMAND_LENGTH - 9]} {crc32(command.encode()):08x}"
    )
