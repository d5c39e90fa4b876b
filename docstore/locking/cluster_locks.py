"""One process per stage on all machines that share a store: a local file lock, then a lease.

The file lock (locks/file_locks.py) guarantees that no other process of this machine runs the stage. A lease
left by a killed process of this machine is therefore taken over immediately. A lease left by another machine expires.
The lease fences the commits and the requests of all threads and processes of the stage (locks/fences.py).
"""

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from docstore.locking.leases import LeaseFence, LeaseHeartbeat, LeaseTable
from domain.errors import StoreError
from domain.lease import Lease
from locks.fences import hold_fence
from locks.file_locks import busy_error, stage_lock
from locks.private_files import open_private

STAGE_LEASE_KIND = "stage"
POLL_SECONDS = 0.2
ALLOWED_MISSED_BEATS = 3  # missed heartbeats after which a lease expires


def machine_id(folder: Path) -> str:
    """Return the id of this machine in the data folder (16 hex digits). The first call creates it.

    Raises:
        StoreError: The id cannot be written, or the file contains none.
    """
    path = folder / "locks" / "machine"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Atomic: on a full disk there is no file rather than an empty one.
            temporary_file = path.with_name(f"{path.name}-{uuid.uuid4().hex}")
            try:
                with open(temporary_file, "x", opener=open_private) as file:
                    file.write(uuid.uuid4().hex[:16])
                temporary_file.rename(path)
            finally:
                temporary_file.unlink(missing_ok=True)
        text = path.read_text()
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check that its folder is writable") from error
    if not text:  # an empty prefix would match the leases of all machines
        raise StoreError(f"{path} is empty: delete it, then run the same command again")
    return text


def holder_name(folder: Path) -> str:
    """Return the name of this process among all processes of all machines: machine id, host name and process id."""
    return f"{machine_id(folder)} {socket.gethostname()[:60]} {os.getpid()}"


@contextmanager
def cluster_stage_lock(
    folder: Path,
    leases: LeaseTable,
    stage: str,
    interval_seconds: float,
    wait_seconds: float = 0.0,
    report_wait: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Lock a stage on all machines that share the store. Arguments as for `stage_lock`.

    Args:
        folder: The data folder.
        leases: Leases of the store.
        stage: Name of the stage.
        interval_seconds: Seconds between two renewals of the lease.
        wait_seconds: Maximum time to wait for the lock.
        report_wait: Called with a message when waiting begins.

    Raises:
        BusyError: Another process runs the stage.
        LeaseLostError: At a commit or a request after the lease was lost.
    """
    process_leases = leases.with_holder(holder_name(folder))
    with (
        stage_lock(folder, stage, wait_seconds, report_wait),
        closing(LeaseHeartbeat(process_leases, ALLOWED_MISSED_BEATS * interval_seconds, interval_seconds)) as heartbeat,
    ):
        lease = _acquire_stage_lease(heartbeat, stage, wait_seconds, report_wait, machine_id(folder))
        with hold_fence(LeaseFence(heartbeat, [lease])):
            yield


def cluster_stage_holder(leases: LeaseTable, stage: str) -> int | None:
    """Return the process id that runs `stage` on any machine, or None."""
    holder = leases.holders_by_key(STAGE_LEASE_KIND).get(stage)
    return int(holder.split()[-1]) if holder else None


def _acquire_stage_lease(
    heartbeat: LeaseHeartbeat, stage: str, wait_seconds: float, report_wait: Callable[[str], None], machine_prefix: str
) -> Lease:
    deadline, has_reported = time.monotonic() + wait_seconds, False
    while True:
        requested_at = time.monotonic()
        acquired_leases = heartbeat.acquire(STAGE_LEASE_KIND, [stage])
        if not acquired_leases and (
            abandoned_lease := heartbeat.lease_table.take_over(
                STAGE_LEASE_KIND, stage, heartbeat.lease_seconds, machine_prefix
            )
        ):
            acquired_leases = [abandoned_lease]
            heartbeat.track(acquired_leases, requested_at)
        if acquired_leases:
            return acquired_leases[0]
        name = heartbeat.lease_table.holders_by_key(STAGE_LEASE_KIND).get(stage, "")
        _, host, pid = name.split() if name else ("", "of another machine", "unknown")
        error = busy_error(stage, f"{host}, pid {pid}")
        if time.monotonic() >= deadline:
            raise error
        if not has_reported:
            report_wait(str(error))
        has_reported = True
        time.sleep(POLL_SECONDS)
