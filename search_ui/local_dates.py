"""Dates for people, in the server's time zone: one page must not show another day than the next."""

from datetime import date


def local_day(seconds: float) -> date:
    """Return the day of a time in epoch seconds."""
    return date.fromtimestamp(seconds)


def format_day(seconds: float) -> str:
    """Return the day of a time in epoch seconds as `2026-11-28`."""
    return local_day(seconds).isoformat()


def last_day(end: float | None) -> str:
    """Return the last day before a time in epoch seconds, "" for None."""
    return "" if end is None else format_day(end - 1)
