"""Times as people read them."""

import time


def local_time(seconds: float) -> str:
    """Epoch seconds in local time, to the millisecond."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}"
