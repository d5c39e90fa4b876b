"""One run at a time per stage and vertical.

A lock is an flock on a file in the data folder: the kernel gives it back when its process ends, however it ends, so
none is ever left in the way.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from docstore.errors import BusyError, StoreError

POLL = 0.2  # seconds


@contextmanager
def stage_lock(folder: Path, stage: str, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of `stage` in `folder`. BusyError if another process has it for longer than `wait` seconds."""
    path = folder / "locks" / stage
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        raise StoreError(
            f"cannot make the lock file {path}: {error.strerror}; see that its folder can be written"
        ) from error
    with file:
        take(file.fileno(), stage, time.monotonic() + wait, path)
        with suppress(OSError):  # who holds it is a courtesy that a full disk may refuse
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield


def take(descriptor: int, stage: str, deadline: float, path: Path) -> None:
    """Wait for the lock until `deadline` (monotonic seconds)."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                owner = path.read_text().strip() or "unknown"
                raise BusyError(
                    f"another process (pid {owner}) is in the {stage} stage of this vertical: wait for it, or stop it"
                ) from None
            time.sleep(POLL)
        else:
            return
