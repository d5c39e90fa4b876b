"""Hours of the day in which a crawl asks nobody."""

import re
import time

_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)")
_DAY = 24 * 60


def quiet_hours(text: str) -> tuple[int, int] | None:
    """Minutes of the day at which quiet begins and ends; None for no quiet. ValueError for what names none."""
    if not text.strip():
        return None
    match = _HOURS.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    begin, end = (int(match[one]) * 60 + int(match[one + 1]) for one in (1, 3))
    return begin, end


def seconds_of_quiet(hours: tuple[int, int] | None, now: float) -> float:
    """How long quiet lasts on from `now` (epoch seconds; the hours are local); 0 if there is none."""
    if hours is None:
        return 0.0
    local = time.localtime(now)
    minute = local.tm_hour * 60 + local.tm_min
    begin, end = hours
    if (minute - begin) % _DAY >= (end - begin) % _DAY:
        return 0.0
    return float((end - minute) % _DAY * 60 - local.tm_sec)
