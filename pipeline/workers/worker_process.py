"""A process of its own for work on what others wrote: killed at its deadline, bounded in memory, warm for what follows.

    process = WorkerProcess(preload=PRELOAD)
    process.call(read_page, html, ...)      what the function returns, or a WorkerError that says why it does not

A parser that hangs in C holds the interpreter lock, so that neither the handler of a signal nor a thread beside it can
end it: here the caller waits, and kills. The child is a bare interpreter that runs worker_main.py and loads
`preload`; unlike multiprocessing's it does not load the caller's main module. It starts with the first call, anew after
each kill, and ends with its caller.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import LifoQueue
from typing import Any, ParamSpec, TypeVar

from docstore.errors import PlumblineError
from pipeline.workers.worker_main import STATUS_ERROR, STATUS_OUT_OF_MEMORY, STATUS_RAISED

P = ParamSpec("P")
T = TypeVar("T")

START_TIMEOUT_SECONDS = 120.0  # for an interpreter and its imports on a busy machine
# There are as many workers as processors: threads of numerical libraries would take each other's.
WORKER_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class WorkerError(PlumblineError):
    """The work has no result."""


class WorkerTimeoutError(WorkerError):
    """It took too long, and its process was killed."""


class WorkerMemoryError(WorkerError):
    """It needed more memory than it may have."""


class WorkerDiedError(WorkerError):
    """Its process ended: by a fault of a parser in C, or because somebody killed it. `cause_name` names the signal."""

    def __init__(self, message: str, cause_name: str) -> None:
        super().__init__(f"{message}: {cause_name}")
        self.cause_name = cause_name


class WorkerExceptionError(WorkerError):
    """It raised an exception, which is the message; `traceback` is for the log."""

    def __init__(self, message: str, traceback: str) -> None:
        super().__init__(message)
        self.traceback = traceback


@dataclass(frozen=True)
class Limits:
    """What one call may take: seconds by the clock, megabytes above what an idle worker has."""

    seconds: float = 60.0
    megabytes: int = 1024


@dataclass(frozen=True)
class WorkerChild:
    """A started interpreter and the pipe to it."""

    process: subprocess.Popen[bytes]
    connection: Connection

    def request(self, request: object, seconds: float) -> Any:
        """The answer; OverDeadlineError if none has begun to come by then. EOFError or OSError: the child is dead."""
        self.connection.send(request)
        if not self.connection.poll(seconds):
            raise WorkerTimeoutError(f"it took more than {seconds:g} s")
        return self.connection.recv()

    def kill(self) -> str:
        """Kill it if it lives. Returns how it ended."""
        self.process.kill()
        code = self.process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def wait_until_ready(self) -> None:
        """Until it has loaded what it needs. WorkerDiedError if somebody killed it, PlumblineError if it cannot."""
        try:
            ready = self.connection.poll(START_TIMEOUT_SECONDS) and self.connection.recv()
        except (EOFError, OSError):
            ready = None
        if not ready:
            cause_name = self.kill()
            self.connection.close()
            if cause_name.startswith("SIG") and ready is None:
                raise WorkerDiedError("the process that should read it died", cause_name)
            raise PlumblineError(f"no worker process can be started ({cause_name}): what it said stands above")


class WorkerProcess:
    """One worker, for one call at a time. `close` may come from another thread, and ends the call under way."""

    def __init__(self, limits: Limits | None = None, preload: Sequence[str] = ()) -> None:
        self.limits = limits or Limits()
        self._preload = tuple(preload)
        self._child: WorkerChild | None = None
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The process id of the child, 0 while there is none."""
        return self._child.process.pid if self._child else 0

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(*args, **kwargs)` as the child does it; all of it must be picklable. Raises a WorkerError.

        A PlumblineError of the work itself is raised as it is.
        """
        child = self._child = self._child or self._start()
        if self._is_closed:  # while it started: then `close` has seen no child
            raise WorkerDiedError("the process that should read it was closed", self._end(child))
        try:
            status, value = child.request((function, args, kwargs), self.limits.seconds)
        except BaseException as error:  # whatever it was: the next answer would be to this question
            cause_name = self._end(child)
            if isinstance(error, EOFError | OSError):
                raise WorkerDiedError("the process that read it died", cause_name) from error
            raise
        if status == STATUS_OUT_OF_MEMORY:
            self._end(child)
            raise WorkerMemoryError(f"it needs more than {self.limits.megabytes} MB of memory")
        if status == STATUS_ERROR:
            raise value
        if status == STATUS_RAISED:
            raise WorkerExceptionError(*value)
        result: T = value
        return result

    def close(self) -> None:
        """End the child, also one that is being started; no call comes after this."""
        self._is_closed = True
        if (child := self._child) is not None:
            child.kill()

    def _end(self, child: WorkerChild) -> str:
        """End a child for good, so that the next call begins with a new one."""
        self._child = None
        cause_name = child.kill()
        child.connection.close()
        return cause_name

    def _start(self) -> WorkerChild:
        """A child that has loaded what it needs."""
        parent_end, child_end = Pipe()
        limits = (str(child_end.fileno()), str(self.limits.seconds), str(self.limits.megabytes))
        command = [sys.executable, "-P", "-m", "pipeline.workers.worker_main", *limits, *self._preload]
        with child_end:
            process = subprocess.Popen(
                command, pass_fds=(child_end.fileno(),), env={**os.environ, **WORKER_ENVIRONMENT}
            )
        child = WorkerChild(process, parent_end)
        child.wait_until_ready()
        return child


class WorkerPool:
    """Workers that each have a thread of ours to wait for them: no worker's end, and no page, concerns another's."""

    def __init__(self, workers: int, limits: Limits | None = None, preload: Sequence[str] = ()) -> None:
        self._processes = [WorkerProcess(limits, preload) for _ in range(workers)]
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
        self._idle: LifoQueue[WorkerProcess] = LifoQueue()  # those that have started are taken first
        for process in self._processes:
            self._idle.put(process)

    def submit(self, task: Callable[[WorkerProcess], T]) -> Future[T]:
        """Have `task` done with a worker that is free. One is started only where none that has started is."""
        return self._threads.submit(self._run_with_worker, task)

    def close(self) -> None:
        """End all workers at once, and with them what they do."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.close()
        self._threads.shutdown()
        for process in self._processes:  # one may just have been started
            process.close()

    def _run_with_worker(self, task: Callable[[WorkerProcess], T]) -> T:
        process = self._idle.get()
        try:
            return task(process)
        finally:
            self._idle.put(process)
