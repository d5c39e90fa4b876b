"""Moments as sitemaps, feeds and headers write them."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_MAX_CHARS = 64
_ISO_8601 = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)"
    r"(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?\s*(Z|z|UTC|GMT|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)


def parse_timestamp(text: str) -> float | None:
    """Seconds since 1970 UTC of a W3C or mail date; without a zone it is UTC, without a time midnight.

    None for what is no date.
    """
    short = text.strip()[: _MAX_CHARS + 1]
    if not short or len(short) > _MAX_CHARS:
        return None
    match = _ISO_8601.fullmatch(short)
    try:
        date_time = _iso_datetime(match) if match is not None else parsedate_to_datetime(short)
        return (date_time if date_time.tzinfo else date_time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _iso_datetime(match: re.Match[str]) -> datetime:
    month, day = int(match[2] or 1), int(match[3] or 1)
    hour, minute, second = (int(match[group] or 0) for group in (4, 5, 6))
    return datetime(int(match[1]), month, day, hour, minute, min(second, 59), tzinfo=_parse_timezone(match[7] or "Z"))


def _parse_timezone(text: str) -> timezone:
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
