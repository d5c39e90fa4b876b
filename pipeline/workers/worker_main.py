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

DONE, REFUSED, RAISED, OVER_MEMORY = "done", "refused", "raised", "over memory"
ORPHAN_SECONDS = 10.0  # beyond the deadline: who would have killed at the deadline was killed himself
# A page makes very many objects and hardly any cycle: to look for cycles as often as usual is a twentieth of its time.
GC_THRESHOLDS = (50_000, 20, 100)
OUT_OF_MEMORY = pickle.dumps((OVER_MEMORY, None))  # made while there is some
MEGABYTE = 1024 * 1024
LARGE = MEGABYTE  # bytes of a question
STATUS = Path("/proc/self/status")


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
        connection.send(DONE)
        while True:
            question = connection.recv_bytes()
            signal.setitimer(signal.ITIMER_REAL, float(seconds) + ORPHAN_SECONDS)
            connection.send_bytes(answer(question))
            signal.setitimer(signal.ITIMER_REAL, 0)
            if len(question) > LARGE:
                give_back()


def answer(question: bytes) -> bytes:
    """The pickled answer to a pickled question."""
    try:
        work, args, kwargs = pickle.loads(question)
        return pickle.dumps((DONE, work(*args, **kwargs)))
    except MemoryError:
        return OUT_OF_MEMORY
    except PlumblineError as error:
        return pickle.dumps((REFUSED, error))
    except Exception as error:  # noqa: BLE001 (raised again in the process that asked)
        return pickle.dumps((RAISED, (f"{type(error).__name__}: {error}", format_exc())))


def give_back() -> None:
    """Give the system what is no longer used: after a large page that would stay as it was at its worst."""
    with suppress(OSError, AttributeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)


def limit_memory(more: int) -> None:
    """Let this process allocate `more` bytes than it has now. On systems without /proc: that many in all."""
    now = 0
    if STATUS.exists():
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        now = int(fields["VmData"].split()[0]) * 1024
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = now + more
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


if __name__ == "__main__":
    main(sys.argv[1:])
