"""What runs in the child of pipeline/workers/worker_process.py: one question after another, until the caller is gone.

    worker_main FD SECONDS MEGABYTES [MODULE ...]

A question is a pickled (function, args, kwargs), its answer a pickled (DONE, result), (REFUSED, PlumblineError),
(RAISED, (message, traceback)) or (OVER_MEMORY, None). Every worker pays for what this module loads: next to nothing.
"""

import ctypes
import gc
import pickle
import resource
import signal
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from traceback import format_exc

from docstore.errors import PlumblineError

STATUS_DONE, STATUS_ERROR, STATUS_RAISED, STATUS_OUT_OF_MEMORY = "done", "refused", "raised", "over memory"
ORPHAN_GRACE_SECONDS = 10.0  # beyond the deadline: who would have killed at the deadline was killed himself
# A page makes very many objects and hardly any cycle: to look for cycles as often as usual is a twentieth of its time.
GC_THRESHOLDS = (50_000, 20, 100)
OUT_OF_MEMORY_REPLY = pickle.dumps((STATUS_OUT_OF_MEMORY, None))  # made while there is some
MEGABYTE = 1024 * 1024
LARGE_REQUEST_BYTES = MEGABYTE  # bytes of a question
PROC_STATUS = Path("/proc/self/status")


def main(arguments: list[str]) -> None:
    """Answer until the pipe ends."""
    fd, seconds, megabytes, *modules = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's business
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for name in modules:
        import_module(name)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(int(megabytes) * MEGABYTE)
    with suppress(EOFError, OSError), Connection(int(fd)) as connection:
        connection.send(STATUS_DONE)
        while True:
            request = connection.recv_bytes()
            signal.setitimer(signal.ITIMER_REAL, float(seconds) + ORPHAN_GRACE_SECONDS)
            connection.send_bytes(handle_request(request))
            signal.setitimer(signal.ITIMER_REAL, 0)
            if len(request) > LARGE_REQUEST_BYTES:
                release_memory()


def handle_request(request: bytes) -> bytes:
    """The pickled answer to a pickled question."""
    try:
        function, args, kwargs = pickle.loads(request)
        return pickle.dumps((STATUS_DONE, function(*args, **kwargs)))
    except MemoryError:
        return OUT_OF_MEMORY_REPLY
    except PlumblineError as error:
        return pickle.dumps((STATUS_ERROR, error))
    except Exception as error:  # noqa: BLE001 (raised again in the process that asked)
        return pickle.dumps((STATUS_RAISED, (f"{type(error).__name__}: {error}", format_exc())))


def release_memory() -> None:
    """Give the system what is no longer used: after a large page that would stay as it was at its worst."""
    with suppress(OSError, AttributeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)


def limit_memory(extra_bytes: int) -> None:
    """Let this process allocate `extra_bytes` bytes than it has now. On systems without /proc: that many in all."""
    current_bytes = 0
    if PROC_STATUS.exists():
        fields = dict(line.split(":", 1) for line in PROC_STATUS.read_text().splitlines())
        current_bytes = int(fields["VmData"].split()[0]) * 1024
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit_bytes = current_bytes + extra_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes if hard < 0 else min(limit_bytes, hard), hard))


if __name__ == "__main__":
    main(sys.argv[1:])
