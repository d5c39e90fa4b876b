"""One run at a time per stage, where several machines share a store: the lock of this machine, then a lease.

The flock (docstore/locking/file_locks.py) says that no other process of this machine is in the stage, so a lease that
one of them left when it was killed is taken over at once; that of a machine that died runs out. Every writing
transaction of the thread that is in the stage is fenced by the lease.
"""

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from docstore.database import guarded
from docstore.errors import BusyError, StoreError
from docstore.locking.file_locks import stage_lock
from docstore.locking.leases import Heartbeat, Lease, LeaseTable, fence

STAGE = "stage"
POLL = 0.2  # seconds
BEATS = 3  # that may be missed before a lease has run out


def machine_id(folder: Path) -> str:
    """Which machine's locks the data folder holds (16 hex digits); made with the first lock."""
    path = folder / "locks" / "machine"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x") as file:
            file.write(uuid.uuid4().hex[:16])
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; see that its folder can be written") from error
    return path.read_text()


def holder_name(folder: Path) -> str:
    """This process among all of all machines."""
    return f"{machine_id(folder)} {socket.gethostname()[:60]} {os.getpid()}"


@contextmanager
def shared_lock(
    folder: Path,
    leases: LeaseTable,
    stage: str,
    beat: float,
    wait: float = 0.0,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """As `stage_lock`, on all machines that share the store. LeaseLostError at a commit after the lease was lost."""
    mine = leases.named(holder_name(folder))
    with stage_lock(folder, stage, wait, note), closing(Heartbeat(mine, BEATS * beat, beat)) as heartbeat:
        lease = _taken(heartbeat, stage, wait, note, machine_id(folder))
        with guarded(partial(fence, held=[lease])):
            yield


def shared_holder(leases: LeaseTable, stage: str) -> int | None:
    """The process that is in `stage` now, on whichever machine; None if nobody is."""
    holder = leases.holders(STAGE).get(stage)
    return int(holder.split()[-1]) if holder else None


def _taken(heartbeat: Heartbeat, stage: str, wait: float, note: Callable[[str], None], machine: str) -> Lease:
    deadline, told = time.monotonic() + wait, False
    while True:
        asked = time.monotonic()
        taken = heartbeat.take(STAGE, [stage])
        if not taken and (left := heartbeat.table.take_over(STAGE, stage, heartbeat.seconds, machine)):
            taken = [left]
            heartbeat.hold(taken, asked)
        if taken:
            return taken[0]
        name = heartbeat.table.holders(STAGE).get(stage, "")
        _, host, pid = name.split() if name else ("", "of another machine", "unknown")
        held_by = f"another process ({host}, pid {pid}) is in the {stage} stage"
        if time.monotonic() >= deadline:
            raise BusyError(f"{held_by} of this vertical: wait for it, or stop it")
        if not told:
            note(f"{held_by}: waiting for it")
        told = True
        time.sleep(POLL)
