"""Parse the date formats of sitemaps, feeds and headers."""

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
    """Parse a W3C or mail date to epoch seconds. The default time zone is UTC, the default time midnight.

    Returns None if the text is not a date.
    """
    date_text = text.strip()[: _MAX_CHARS + 1]
    if not date_text or len(date_text) > _MAX_CHARS:
        return None
    match = _ISO_8601.fullmatch(date_text)
    try:
        date_time = _iso_datetime(match) if match is not None else parsedate_to_datetime(date_text)
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
