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

POLL = 0.2  # seconds


@contextmanager
def stage_lock(
    folder: Path, stage: str, wait: float = 0.0, note: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the lock of `stage` in `folder`. BusyError if another process has it for longer than `wait` seconds.

    `note` hears it where there is somebody to wait for.
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
        take(file.fileno(), stage, wait, path, note)
        with suppress(OSError):  # who holds it is a courtesy that a full disk may refuse
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield


def holder(folder: Path, stage: str) -> int | None:
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


def take(descriptor: int, stage: str, wait: float, path: Path, note: Callable[[str], None]) -> None:
    """Wait `wait` seconds for the lock. It is always tried twice: somebody may only have looked whether it is held."""
    deadline, told = time.monotonic() + max(wait, POLL), False
    while not taken(descriptor):
        held_by = f"another process (pid {path.read_text().strip() or 'unknown'}) is in the {stage} stage"
        if time.monotonic() >= deadline:
            raise BusyError(f"{held_by} of this vertical: wait for it, or stop it")
        if not told and wait > POLL:
            note(f"{held_by}: waiting for it")
        told = True
        time.sleep(POLL)


def taken(descriptor: int) -> bool:
    """Try to take the lock once."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
