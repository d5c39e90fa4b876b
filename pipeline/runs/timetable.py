"""When runs are. Decides; reads no clock and no store.

Times are epoch seconds. A scheduled time is one moment a day: an hour that comes twice in autumn counts when it comes
first, one that spring leaves out is as much later; where a zone skips a whole day, two days share a moment and a run.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from zlib import crc32

from pipeline.settings import ScheduleSettings, parse_hosts, parse_times_of_day

SCHEDULE_COMMAND = "schedule"  # the lock of `plumb schedule`, and the command that its nightly runs are noted with
MAX_COMMAND_LENGTH = 64  # characters


@dataclass(frozen=True)
class Timetable:
    """One moment a day in a `zone` (None: the machine's), and how many seconds later a run may still begin."""

    time_of_day: time
    grace_seconds: float
    zone: tzinfo | None = None

    def timestamp_on(self, day: date) -> float:
        """The scheduled time of a day."""
        return datetime.combine(day, self.time_of_day, tzinfo=self.zone).timestamp()

    def period(self, now: float) -> tuple[float, float]:
        """The scheduled time that `now` belongs to, and the one after it."""
        today = datetime.fromtimestamp(now, self.zone).date()
        timestamps = [self.timestamp_on(today + timedelta(days=days)) for days in range(-2, 4)]
        return max(timestamp for timestamp in timestamps if timestamp <= now), min(
            timestamp for timestamp in timestamps if timestamp > now
        )

    def has_run(self, now: float, starts: Collection[float]) -> bool:
        """Has one of the runs that began at `starts` done so in the night that `now` belongs to?

        Starts of other nights, before or (by a clock that was ahead) after, count for nothing.
        """
        first, end = self.period(now)
        return any(first <= start < end for start in starts)

    def due_since(self, now: float, starts: Collection[float], program_started_at: float) -> float | None:
        """The scheduled time at which a run should have begun and has not; None if there is none, or it is too late.

        `starts` are those of earlier runs. Without any, nothing was missed before `program_started_at`, when the program was there.
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
        """The scheduled time that passed more than `grace_seconds` seconds ago without a run; None if there is none."""
        scheduled_at, _ = self.period(now)
        is_late = now - scheduled_at > grace_seconds and any(start < scheduled_at for start in starts)
        return scheduled_at if is_late and not self.has_run(now, starts) else None


@dataclass(frozen=True)
class Appointment:
    """What is run at a time of the day. `command` is what its runs are noted with; `stage` one stage alone ("": all);
    `hosts` those that the crawl asks (none: all)."""

    command: str
    timetable: Timetable
    stage: str = ""
    hosts: tuple[str, ...] = ()


def nightly_timetable(settings: ScheduleSettings) -> Timetable:
    """The timetable of the nightly run."""
    [at] = parse_times_of_day(settings.at, "schedule.at")
    return Timetable(at, settings.grace_hours * 3600)


def configured_appointments(settings: ScheduleSettings) -> list[Appointment]:
    """All that the settings ask for, the nightly run first."""
    nightly = nightly_timetable(settings)
    appointments = [Appointment(SCHEDULE_COMMAND, nightly)]
    for stage, text in settings.stages.items():
        for at in parse_times_of_day(text, stage):
            appointments.append(
                Appointment(f"{SCHEDULE_COMMAND} {stage} {at:%H:%M}", replace(nightly, time_of_day=at), stage)
            )
    for names, text in settings.sites.items():
        for at in parse_times_of_day(text, names):
            command = f"{SCHEDULE_COMMAND} {at:%H:%M} {' '.join(parse_hosts(names))}"
            appointments.append(
                Appointment(shorten_command(command), replace(nightly, time_of_day=at), hosts=parse_hosts(names))
            )
    return appointments


def shorten_command(command: str) -> str:
    """A command as a row of `runs` can hold it: a long one ends with a number of its own."""
    return (
        command
        if len(command) <= MAX_COMMAND_LENGTH
        else f"{command[: MAX_COMMAND_LENGTH - 9]} {crc32(command.encode()):08x}"
    )
