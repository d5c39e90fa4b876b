"""Moments as sitemaps, feeds and headers write them."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_LONGEST = 64
_ISO = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)"
    r"(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?\s*(Z|z|UTC|GMT|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)


def moment_of(text: str) -> float | None:
    """Seconds since 1970 UTC of a W3C or mail date; without a zone it is UTC, without a time midnight.

    None for what is no date.
    """
    short = text.strip()[: _LONGEST + 1]
    if not short or len(short) > _LONGEST:
        return None
    match = _ISO.fullmatch(short)
    try:
        found = _iso(match) if match is not None else parsedate_to_datetime(short)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _iso(match: re.Match[str]) -> datetime:
    month, day = int(match[2] or 1), int(match[3] or 1)
    hour, minute, second = (int(match[number] or 0) for number in (4, 5, 6))
    return datetime(int(match[1]), month, day, hour, minute, min(second, 59), tzinfo=_zone(match[7] or "Z"))


def _zone(text: str) -> timezone:
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
