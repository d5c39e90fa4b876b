"""Dates for people, in the server's time zone: one page must not show another day than the next."""

from datetime import date


def local_day(seconds: float) -> date:
    """Return the day of a time in epoch seconds."""
    return date.fromtimestamp(seconds)


def format_day(seconds: float) -> str:
    """Return the day of a time in epoch seconds as `2026-11-28`."""
    return local_day(seconds).isoformat()
