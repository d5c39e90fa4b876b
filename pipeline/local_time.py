"""Format times for people."""

import time


def local_time(seconds: float) -> str:
    """Format epoch seconds as local time with milliseconds: `2026-11-24 02:30:00.000`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}"


def local_second(seconds: float) -> str:
    """Format epoch seconds as local time to the second: `2026-11-24 02:30:00`."""
    return local_time(seconds)[:19]


def local_minute(seconds: float) -> str:
    """Format epoch seconds as local time to the minute: `2026-11-24 02:30`."""
    return local_time(seconds)[:16]
