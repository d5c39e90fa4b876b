"""Quiet hours: hours of the day without requests."""

import re
import time

_HOUR_RANGE = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)")
_MINUTES_PER_DAY = 24 * 60

QuietHours = tuple[int, int]
"""Begin and end in minutes of the day (local time)."""


def parse_quiet_hours(text: str) -> QuietHours | None:
    """Parse quiet hours such as `22:00-06:00`.

    Returns None for blank text. Raises ValueError if invalid.
    """
    if not text.strip():
        return None
    match = _HOUR_RANGE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    begin, end = (int(match[group]) * 60 + int(match[group + 1]) for group in (1, 3))
    return begin, end


def contains_minute(hours: QuietHours | None, minute: int) -> bool:
    """True if a minute of the day is in the quiet hours; the minute of their end is not."""
    return hours is not None and (minute - hours[0]) % _MINUTES_PER_DAY < (hours[1] - hours[0]) % _MINUTES_PER_DAY


def quiet_seconds_left(hours: QuietHours | None, now: float) -> float:
    """Return the seconds until the quiet hours end, or 0 outside them.

    `now` is epoch seconds; the hours are local time.
    """
    local = time.localtime(now)
    minute = local.tm_hour * 60 + local.tm_min
    if hours is None or not contains_minute(hours, minute):
        return 0.0
    return float((hours[1] - minute) % _MINUTES_PER_DAY * 60 - local.tm_sec)
