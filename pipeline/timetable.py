"""When the daily run is. Decides; reads no clock and no store."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.settings import ScheduleSettings


@dataclass(frozen=True)
class Timetable:
    """One run a day, and how much later than that it may begin."""

    hour: int
    minute: int
    grace: timedelta

    def last_before(self, now: datetime) -> datetime:
        """The newest scheduled time that is not after `now`."""
        today = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        return today if today <= now else today - timedelta(days=1)

    def next_after(self, now: datetime) -> datetime:
        """The first scheduled time after `now`."""
        return self.last_before(now) + timedelta(days=1)

    def is_same_time(self, begun: datetime | None, now: datetime) -> bool:
        """Did a run that began at `begun` do so at the scheduled time of `now`? Both are what the clock on the wall
        shows, which goes back an hour in autumn: 02:30 comes twice then, and the second is the first.
        """
        return begun is not None and self.last_before(begun) == self.last_before(now) and begun >= self.last_before(now)

    def is_missed(self, last_start: datetime | None, now: datetime) -> bool:
        """Should a run start now because the last scheduled one did not?"""
        scheduled = self.last_before(now)
        within_grace = now - scheduled <= self.grace
        return within_grace and last_start is not None and last_start < scheduled


def timetable(settings: ScheduleSettings) -> Timetable:
    """The timetable that the settings describe."""
    hour, _, minute = settings.at.partition(":")
    return Timetable(int(hour), int(minute), timedelta(hours=settings.grace_hours))
