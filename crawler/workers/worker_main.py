"""Main program of the child of crawler/workers/worker_process.py: handles one request after another until EOF.

    worker_main FD SECONDS MEGABYTES [MODULE ...]

A request is a pickled (function, args, kwargs). The reply is a pickled (status, value), see the STATUS constants:
(STATUS_DONE, result), (STATUS_ERROR, PlumblineError), (STATUS_RAISED, (message, traceback)) or (STATUS_OUT_OF_MEMORY,
None). Every worker loads this module, so its imports are kept small.
"""

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

from crawler.memory_budget import release_free_memory, return_large_blocks
from domain.errors import PlumblineError

STATUS_DONE, STATUS_ERROR, STATUS_RAISED, STATUS_OUT_OF_MEMORY = "done", "refused", "raised", "over memory"
ORPHAN_GRACE_SECONDS = 10.0  # after the deadline SIGALRM ends the child if its parent is dead and cannot kill it
# A page creates many objects and few cycles: the default thresholds of the collector cost 5% of the extraction time.
GC_THRESHOLDS = (50_000, 20, 100)
OUT_OF_MEMORY_REPLY = pickle.dumps((STATUS_OUT_OF_MEMORY, None))  # pickled in advance, while memory is available
MEGABYTE = 1024 * 1024
LARGE_MESSAGE_BYTES = MEGABYTE  # `release_free_memory` follows a call with such a request, and such a reply
PROC_STATUS = Path("/proc/self/status")


def main(arguments: list[str]) -> None:
    """Handle requests until the pipe is closed."""
    fd, seconds, megabytes, *modules = arguments
    return_large_blocks()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
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
            requests = [connection.recv_bytes()]
            signal.setitimer(signal.ITIMER_REAL, float(seconds) + ORPHAN_GRACE_SECONDS)
            reply = handle_request(requests)
            is_large = len(reply) > LARGE_MESSAGE_BYTES
            connection.send_bytes(reply)
            signal.setitimer(signal.ITIMER_REAL, 0)
            del reply
            if is_large:
                release_free_memory()


def handle_request(requests: list[bytes]) -> bytes:
    """Call the function of a pickled request and return the pickled reply.

    Removes the request from the list: its bytes are not needed during the call.
    """
    try:
        is_large = len(requests[0]) > LARGE_MESSAGE_BYTES
        function, args, kwargs = pickle.loads(requests.pop())  # noqa: S301 (bytes from our own process)
        result = function(*args, **kwargs)
        if is_large:  # before the reply, which needs memory here and in the calling process
            del args, kwargs
            release_free_memory()
        return pickle.dumps((STATUS_DONE, result))
    except MemoryError:
        return OUT_OF_MEMORY_REPLY
    except PlumblineError as error:
        return pickle.dumps((STATUS_ERROR, error))
    except Exception as error:  # noqa: BLE001 (raised again in the calling process)
        return pickle.dumps((STATUS_RAISED, (f"{type(error).__name__}: {error}", format_exc())))


def limit_memory(extra_bytes: int) -> None:
    """Limit the data segment of this process to `extra_bytes` more than its current size.

    On systems without /proc, the limit is `extra_bytes`.
    """
    current_bytes = 0
    if PROC_STATUS.exists():
        fields = dict(line.split(":", 1) for line in PROC_STATUS.read_text().splitlines())
        current_bytes = int(fields["VmData"].split()[0]) * 1024
    hard_limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit_bytes = current_bytes + extra_bytes
    resource.setrlimit(
        resource.RLIMIT_DATA, (limit_bytes if hard_limit < 0 else min(limit_bytes, hard_limit), hard_limit)
    )


if __name__ == "__main__":
    main(sys.argv[1:])
