"""The timetable: decides which runs are due. Pure functions that read neither clock nor store.

Times are epoch seconds. There is one scheduled time per day. In a repeated hour (end of daylight saving time) the first
one counts; a time in a skipped hour is shifted by the length of the gap. If a time zone skips a whole day, two days
share one scheduled time and one run.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from zlib import crc32

from pipeline.settings import ScheduleSettings, parse_hosts, parse_times_of_day

SCHEDULE_COMMAND = "schedule"  # lock of `plumb schedule`, and command in the records of daily runs
FIRST_PAGES_PER_SEED = 20  # searchable early in a first run
MAX_COMMAND_LENGTH = 64  # characters


@dataclass(frozen=True)
class Timetable:
    """One scheduled time per day.

    Attributes:
        time_of_day: Local time.
        grace_seconds: A missed run may start this many seconds after the scheduled time.
        zone: Time zone; None: that of the machine.
    """

    time_of_day: time
    grace_seconds: float
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

    def has_run(self, now: float, starts: Collection[float]) -> bool:
        """True if one of `starts` is in the period of `now`. Later starts (after a clock change) do not count."""
        first, end = self.period(now)
        return any(first <= start < end for start in starts)

    def due_since(self, now: float, starts: Collection[float], program_started_at: float) -> float | None:
        """Return the scheduled time whose run has not started; None if there is none or the grace time is over.

        Args:
            now: Current time.
            starts: Start times of earlier runs.
            program_started_at: Without earlier runs, scheduled times before this one do not count.
        """
        scheduled_at, _ = self.period(now)
        if (
            (not starts and scheduled_at < program_started_at)
            or now - scheduled_at > self.grace_seconds
            or self.has_run(now, starts)
        ):
            return None
        return scheduled_at

    def missed_since(self, now: float, starts: Collection[float], grace_seconds: float) -> float | None:
        """Return the last scheduled time if it passed more than `grace_seconds` ago without a run; otherwise None.

        Without a start before the scheduled time nothing counts as missed.
        """
        scheduled_at, _ = self.period(now)
        is_late = now - scheduled_at > grace_seconds and any(start < scheduled_at for start in starts)
        return scheduled_at if is_late and not self.has_run(now, starts) else None


@dataclass(frozen=True)
class Appointment:
    """A run at a time of the day.

    Attributes:
        command: Command in the records of its runs.
        timetable: Its scheduled time.
        stage: The only stage to run; "" for all.
        hosts: The only hosts to crawl; empty for all.
    """

    command: str
    timetable: Timetable
    stage: str = ""
    hosts: tuple[str, ...] = ()


def nightly_timetable(settings: ScheduleSettings) -> Timetable:
    """Return the timetable of the daily run (`schedule.at`)."""
    [time_of_day] = parse_times_of_day(settings.at, "schedule.at")
    return Timetable(time_of_day, settings.grace_hours * 3600)


def configured_appointments(settings: ScheduleSettings) -> list[Appointment]:
    """Return all appointments of the settings, the daily run first."""
    nightly = nightly_timetable(settings)
    appointments = [Appointment(SCHEDULE_COMMAND, nightly)]
    for stage, text in settings.stages.items():
        for start_time in parse_times_of_day(text, stage):
            appointments.append(
                Appointment(
                    f"{SCHEDULE_COMMAND} {stage} {start_time:%H:%M}", replace(nightly, time_of_day=start_time), stage
                )
            )
    for names, text in settings.sites.items():
        for start_time in parse_times_of_day(text, names):
            command = f"{SCHEDULE_COMMAND} {start_time:%H:%M} {' '.join(parse_hosts(names))}"
            appointments.append(
                Appointment(
                    shorten_command(command), replace(nightly, time_of_day=start_time), hosts=parse_hosts(names)
                )
            )
    return appointments


def shorten_command(command: str) -> str:
    """Shorten a command to MAX_COMMAND_LENGTH for the `runs` table; a long one ends with its CRC32."""
    return (
        command
        if len(command) <= MAX_COMMAND_LENGTH
        else f"{command[: MAX_COMMAND_LENGTH - 9]} {crc32(command.encode()):08x}"
    )
