"""Supervisor process of the embedded Solr: stops Java when no process uses it any more.

`indexer.embedded_solr` starts it in a session of its own, so that it outlives the process that started it:

    python -m indexer.solr_supervisor USERS_LOCK GUARD_LOCK_FD COMMAND...

Every process that uses the node holds a shared lock on the file USERS_LOCK. The lock ends with its process, however
that
ends, so there is no list of users that could be stale. The supervisor polls for the exclusive lock. When it gets the
lock, there are no users left. It keeps the lock until Java has ended, so that a new user waits before it starts Java.
GUARD_LOCK_FD is a descriptor with the lock that marks a running supervisor.
"""

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import IO

POLL_SECONDS = 0.5
STOP_TIMEOUT_SECONDS = 20.0
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def supervise(users_lock_path: str, command: Sequence[str]) -> int:
    """Run `command` until it ends (returns its exit status) or no process locks `users_lock_path` (returns 0)."""
    with open(users_lock_path, "a") as users_lock_file:
        end_with_parent = _KillWithParent() if sys.platform == "linux" else None
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        try:
            while process.poll() is None:
                if _try_exclusive_lock(users_lock_file):
                    return 0
                time.sleep(POLL_SECONDS)
            return int(process.returncode)
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _try_exclusive_lock(users: IO[str]) -> bool:
    """Try to get the exclusive lock, and keep it; return True on success."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _KillWithParent:
    """Makes the kernel send SIGKILL to this process when the supervisor ends. A graceful end would not be awaited."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)  # loaded before the fork
        self._parent_pid = os.getpid()

    def __call__(self) -> None:
        self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._parent_pid:  # the supervisor ended before prctl
            os._exit(1)


def main(arguments: Sequence[str]) -> int:
    """Run the command line described in the module; return the exit status."""
    users_lock, lock_fd, *command = arguments
    os.set_inheritable(int(lock_fd), False)  # otherwise Java would hold the supervisor's lock as well
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    return supervise(users_lock, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
