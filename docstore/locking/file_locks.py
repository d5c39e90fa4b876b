"""One run at a time per stage and vertical.

A lock is an flock on a file in the data folder: the kernel gives it back when its process ends, however it ends, so
none is ever left in the way.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from docstore.errors import BusyError, StoreError

POLL_SECONDS = 0.2  # seconds


@contextmanager
def stage_lock(
    folder: Path, stage: str, wait_seconds: float = 0.0, report_wait: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the lock of `stage` in `folder`. BusyError if another process has it for longer than `wait_seconds` seconds.

    `report_wait` hears it where there is somebody to wait for.
    """
    path = folder / "locks" / stage
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        raise StoreError(
            f"cannot make the lock file {path}: {error.strerror}; see that its folder can be written"
        ) from error
    with file:
        acquire_lock(file.fileno(), stage, wait_seconds, path, report_wait)
        with suppress(OSError):  # who holds it is a courtesy that a full disk may refuse
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield


def stage_lock_holder(folder: Path, stage: str) -> int | None:
    """The process that is in `stage` now, 0 if it has not said its id yet; None if nobody is."""
    path = folder / "locks" / stage
    try:
        with path.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = path.read_text().strip()
        return int(owner) if owner.isdecimal() else 0
    except OSError:
        return None
    return None


def acquire_lock(
    descriptor: int, stage: str, wait_seconds: float, path: Path, report_wait: Callable[[str], None]
) -> None:
    """Wait `wait_seconds` seconds for the lock. It is always tried twice: somebody may only have looked whether it is held."""
    deadline, has_reported = time.monotonic() + max(wait_seconds, POLL_SECONDS), False
    while not try_lock(descriptor):
        held_by = f"another process (pid {path.read_text().strip() or 'unknown'}) is in the {stage} stage"
        if time.monotonic() >= deadline:
            raise BusyError(f"{held_by} of this vertical: wait for it, or stop it")
        if not has_reported and wait_seconds > POLL_SECONDS:
            report_wait(f"{held_by}: waiting for it")
        has_reported = True
        time.sleep(POLL_SECONDS)


def try_lock(descriptor: int) -> bool:
    """Try to take the lock once."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
