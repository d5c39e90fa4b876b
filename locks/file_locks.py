"""One process per stage and vertical on one machine.

A lock is an flock on a file in the data folder. The kernel releases it when the process ends for any reason, so stale
locks cannot remain.
"""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from domain.errors import BusyError, StoreError
from locks.private_files import open_private

POLL_SECONDS = 0.2


@contextmanager
def stage_lock(
    folder: Path, stage: str, wait_seconds: float = 0.0, report_wait: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Lock `stage` in the data folder `folder` during the `with` block.

    Args:
        folder: The data folder.
        stage: Name of the stage.
        wait_seconds: Maximum time to wait for the lock.
        report_wait: Called with a message when waiting begins.

    Raises:
        BusyError: Another process still runs the stage after `wait_seconds`.
        StoreError: The lock file cannot be created.
    """
    path = folder / "locks" / stage
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+", opener=open_private)  # noqa: SIM115 (entered below)
    except OSError as error:
        raise StoreError(
            f"cannot create the lock file {path}: {error.strerror}; check that its folder is writable"
        ) from error
    with file:
        acquire_lock(file.fileno(), stage, wait_seconds, path, report_wait)
        with suppress(OSError):  # the process id is informative only; writing it may fail on a full disk
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield


def stage_lock_holder(folder: Path, stage: str) -> int | None:
    """Return the process id that runs `stage`, 0 if it has not written its id yet, or None if no process runs it."""
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


def signal_stage_holder(folder: Path, stage: str, signal_number: int) -> bool:
    """Send a signal to the process of this machine that runs `stage`. Returns False if there is no such process.

    The process id in the lock file can be that of a process that ended long ago. The signal therefore goes to a
    descriptor of the process, and only if that process has the lock file open.
    """
    pid = stage_lock_holder(folder, stage)
    if not pid:
        return False
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not has_open_file(pid, folder / "locks" / stage):
            return False
        signal.pidfd_send_signal(process, signal_number)
    except OSError:  # it has just ended, or belongs to another user
        return False
    finally:
        os.close(process)
    return True


def has_open_file(pid: int, path: Path) -> bool:
    """Return True if the process has the file open. Raises OSError if the process ended or belongs to another user."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if os.path.samestat(link.stat(), path.stat()):
                return True
    return False


def acquire_lock(
    descriptor: int, stage: str, wait_seconds: float, path: Path, report_wait: Callable[[str], None]
) -> None:
    """Acquire the lock within `wait_seconds`.

    Tries at least twice, because `stage_lock_holder` locks the file for a moment to test it.
    """
    deadline, has_reported = time.monotonic() + max(wait_seconds, POLL_SECONDS), False
    while not try_lock(descriptor):
        error = busy_error(stage, f"pid {path.read_text().strip() or 'unknown'}")
        if time.monotonic() >= deadline:
            raise error
        if not has_reported and wait_seconds > POLL_SECONDS:
            report_wait(str(error))
        has_reported = True
        time.sleep(POLL_SECONDS)


def busy_error(stage: str, holder: str) -> BusyError:
    """Return the error for a stage that `holder` (`pid 12`) is in."""
    return BusyError(
        "Another process ({holder}) is in the “{stage}” stage of this vertical: wait for it, or stop it",
        holder=holder,
        stage=stage,
    )


def try_lock(descriptor: int) -> bool:
    """Try to acquire the lock once. Returns False if another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
