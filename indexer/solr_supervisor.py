"""The process between the program and the embedded Solr's Java: it ends Java when nobody uses it any more.

Started by `indexer.embedded_solr` in a session of its own, so that it outlives the process that started it:

    python -m indexer.solr_supervisor USERS_LOCK GUARD_LOCK_FD COMMAND...

Every process that uses the node holds a shared lock on the file USERS_LOCK. Such a lock ends with its process,
however that ends, so no list of users can be stale. The guard keeps asking for the exclusive lock: once it gets it,
nobody is left, and it keeps it until Java is gone, so that a new user waits for the end before starting afresh.
GUARD_LOCK_FD is a descriptor on which the starter has taken the lock that says "a guard lives".
"""

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import IO, NoReturn

POLL_SECONDS = 0.5
STOP_TIMEOUT_SECONDS = 20.0
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def supervise(users_lock_path: str, command: Sequence[str]) -> int:
    """Run `command` until it ends by itself (its status is returned) or nobody holds `users_lock_path` (0)."""
    with open(users_lock_path, "a") as users_lock_file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_parent_death_hook())
        try:
            while process.poll() is None:
                if _try_exclusive_lock(users_lock_file):
                    return 0
                time.sleep(POLL_SECONDS)
            return int(process.returncode)
        finally:
            _stop_process(process)


def _try_exclusive_lock(users: IO[str]) -> bool:
    """Whether the exclusive lock was got; it is kept then."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stop_process(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _parent_death_hook() -> "_KillWithParent | None":
    """What the child runs before Java, where the system can tie its life to the guard's (Linux)."""
    return _KillWithParent() if sys.platform == "linux" else None


class _KillWithParent:
    """Let the kernel kill this process when the guard ends. SIGKILL: nobody would wait for a graceful end."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)  # loaded before the fork
        self._parent_pid = os.getpid()

    def __call__(self) -> None:
        self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._parent_pid:  # it ended before the kernel knew
            os._exit(1)


def _exit_on_sigterm(_signal: int, _frame: object) -> NoReturn:
    sys.exit(0)


def main(arguments: Sequence[str]) -> int:
    """The guard's command line, see the module."""
    users_lock, lock_fd, *command = arguments
    os.set_inheritable(int(lock_fd), False)  # else Java would hold the guard's lock as well
    signal.signal(signal.SIGTERM, _exit_on_sigterm)
    return supervise(users_lock, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
