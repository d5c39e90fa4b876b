"""When runs are. Decides; reads no clock and no store.

Times are epoch seconds. A scheduled time is one moment a day: an hour that comes twice in autumn counts when it comes
first, one that spring leaves out is as much later; where a zone skips a whole day, two days share a moment and a run.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from zlib import crc32

from pipeline.settings import ScheduleSettings, hosts_in, times_of_day

SCHEDULE = "schedule"  # the lock of `plumb schedule`, and the command that its nightly runs are noted with
MAX_COMMAND = 64  # characters


@dataclass(frozen=True)
class Timetable:
    """One moment a day in a `zone` (None: the machine's), and how many seconds later a run may still begin."""

    at: time
    grace: float
    zone: tzinfo | None = None

    def moment(self, day: date) -> float:
        """The scheduled time of a day."""
        return datetime.combine(day, self.at, tzinfo=self.zone).timestamp()

    def night(self, now: float) -> tuple[float, float]:
        """The scheduled time that `now` belongs to, and the one after it."""
        today = datetime.fromtimestamp(now, self.zone).date()
        moments = [self.moment(today + timedelta(days=days)) for days in range(-2, 4)]
        return max(one for one in moments if one <= now), min(one for one in moments if one > now)

    def has_begun(self, now: float, starts: Collection[float]) -> bool:
        """Has one of the runs that began at `starts` done so in the night that `now` belongs to?

        Starts of other nights, before or (by a clock that was ahead) after, count for nothing.
        """
        first, end = self.night(now)
        return any(first <= start < end for start in starts)

    def due(self, now: float, starts: Collection[float], since: float) -> float | None:
        """The scheduled time at which a run should have begun and has not; None if there is none, or it is too late.

        `starts` are those of earlier runs. Without any, nothing was missed before `since`, when the program was there.
        """
        moment, _ = self.night(now)
        if (not starts and moment < since) or now - moment > self.grace or self.has_begun(now, starts):
            return None
        return moment

    def missed(self, now: float, starts: Collection[float], patience: float) -> float | None:
        """The scheduled time that passed more than `patience` seconds ago without a run; None if there is none."""
        moment, _ = self.night(now)
        is_late = now - moment > patience and any(start < moment for start in starts)
        return moment if is_late and not self.has_begun(now, starts) else None


@dataclass(frozen=True)
class Appointment:
    """What is run at a time of the day. `command` is what its runs are noted with; `stage` one stage alone ("": all);
    `hosts` those that the crawl asks (none: all)."""

    command: str
    table: Timetable
    stage: str = ""
    hosts: tuple[str, ...] = ()


def timetable(settings: ScheduleSettings) -> Timetable:
    """The timetable of the nightly run."""
    [at] = times_of_day(settings.at, "schedule.at")
    return Timetable(at, settings.grace_hours * 3600)


def appointments(settings: ScheduleSettings) -> list[Appointment]:
    """All that the settings ask for, the nightly run first."""
    nightly = timetable(settings)
    found = [Appointment(SCHEDULE, nightly)]
    for stage, text in settings.stages.items():
        for at in times_of_day(text, stage):
            found.append(Appointment(f"{SCHEDULE} {stage} {at:%H:%M}", replace(nightly, at=at), stage))
    for names, text in settings.sites.items():
        for at in times_of_day(text, names):
            command = f"{SCHEDULE} {at:%H:%M} {' '.join(hosts_in(names))}"
            found.append(Appointment(shortened(command), replace(nightly, at=at), hosts=hosts_in(names)))
    return found


def shortened(command: str) -> str:
    """A command as a row of `runs` can hold it: a long one ends with a number of its own."""
    return command if len(command) <= MAX_COMMAND else f"{command[: MAX_COMMAND - 9]} {crc32(command.encode()):08x}"
