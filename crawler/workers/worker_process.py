"""Child process for work on untrusted input: killed at its deadline, bounded in memory, reused for later calls.

    process = WorkerProcess(preload=PRELOAD)
    process.call(extract_page, html, ...)   returns the result of the function or raises a WorkerError

A parser that hangs in C code holds the interpreter lock, so neither a signal handler nor another thread can stop it.
Therefore the parent waits for the reply and kills the child. The child is a new interpreter that runs worker_main.py
and imports the modules of `preload`; unlike with multiprocessing it does not import the caller's main module. It starts
with the first call, restarts after each kill, and ends with its parent.
"""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import LifoQueue
from typing import Any, ParamSpec, TypeVar

from crawler.workers.worker_main import STATUS_ERROR, STATUS_OUT_OF_MEMORY, STATUS_RAISED
from domain.errors import PlumblineError
from domain.message import Message

P = ParamSpec("P")
T = TypeVar("T")
J = TypeVar("J")

IDLE_NICENESS = 19
START_TIMEOUT_SECONDS = 120.0  # start of an interpreter with its imports on a busy machine
# There are as many workers as cores, so more threads of numerical libraries would only compete.
WORKER_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class WorkerError(PlumblineError):
    """A call in a worker process has no result."""


class WorkerTimeoutError(WorkerError):
    """The call exceeded its time limit, and the process was killed."""


class WorkerMemoryError(WorkerError):
    """The call exceeded its memory limit."""


class WorkerDiedError(WorkerError):
    """The worker process ended by itself or was killed. `cause_name` is the name of the signal or the exit code."""

    def __init__(self, cause_name: str) -> None:
        super().__init__(Message("The worker process died: {cause}", cause=cause_name))
        self.cause_name = cause_name


class WorkerClosedError(WorkerDiedError):
    """The worker was closed before the call or while it ran. No other call will succeed."""


class WorkerExceptionError(WorkerError):
    """The function raised an exception, which is the message; `traceback` is for the log."""

    def __init__(self, message: str, traceback: str) -> None:
        super().__init__(message)
        self.traceback = traceback


@dataclass(frozen=True)
class Limits:
    """Limits of one call: wall-clock seconds, and megabytes on top of the memory of an idle worker."""

    seconds: float = 60.0
    megabytes: int = 1024


@dataclass(frozen=True)
class WorkerChild:
    """A started interpreter and the pipe to it."""

    process: subprocess.Popen[bytes]
    connection: Connection

    def request(self, request: object, seconds: float) -> Any:
        """Send a request and return the reply.

        Raises WorkerTimeoutError if no reply arrives within `seconds`, EOFError or OSError if the child is dead.
        """
        self.connection.send(request)
        if not self.connection.poll(seconds):
            raise WorkerTimeoutError("it took more than {seconds} s", seconds=f"{seconds:g}")
        return self.connection.recv()

    def kill(self) -> str:
        """Kill the child if it is alive. Returns the signal name or "exit code N"."""
        self.process.kill()
        code = self.process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def wait_until_ready(self) -> None:
        """Wait until the child has imported its modules.

        Raises WorkerDiedError if a signal killed it, PlumblineError if it cannot start.
        """
        try:
            ready = self.connection.poll(START_TIMEOUT_SECONDS) and self.connection.recv()
        except (EOFError, OSError):
            ready = None
        if not ready:
            cause_name = self.kill()
            self.connection.close()
            if cause_name.startswith("SIG") and ready is None:
                raise WorkerDiedError(cause_name)
            raise PlumblineError(f"cannot start a worker process ({cause_name}): see its output above")


class WorkerProcess:
    """A worker for one call at a time. Another thread may call `close`, which aborts the running call."""

    def __init__(self, limits: Limits | None = None, preload: Sequence[str] = (), niceness: int = 0) -> None:
        self.limits = limits or Limits()
        self._preload, self._niceness = tuple(preload), niceness
        self._child: WorkerChild | None = None
        self._is_closed = False

    @property
    def pid(self) -> int:
        """Process id of the child; 0 if no child is running."""
        return self._child.process.pid if self._child else 0

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function(*args, **kwargs)` in the child and return its result; arguments and result must be picklable.

        Raises a WorkerError. A PlumblineError of the function itself is raised unchanged.
        """
        if self._is_closed:
            raise WorkerClosedError(signal.SIGKILL.name)
        child = self._child = self._child or self._start()
        if self._is_closed:  # `close` was called during the start and found no child to kill
            raise WorkerClosedError(self._end(child))
        try:
            status, value = child.request((function, args, kwargs), self.limits.seconds)
        except BaseException as error:  # end the child: the next reply would belong to this request
            cause_name = self._end(child)
            if isinstance(error, EOFError | OSError):
                died = WorkerClosedError if self._is_closed else WorkerDiedError
                raise died(cause_name) from error
            raise
        if status == STATUS_OUT_OF_MEMORY:
            self._end(child)
            raise WorkerMemoryError("it needs more than {n} MB of memory", n=self.limits.megabytes)
        if status == STATUS_ERROR:
            raise value
        if status == STATUS_RAISED:
            raise WorkerExceptionError(*value)
        result: T = value
        return result

    def close(self) -> None:
        """Kill the child, even while it starts. `call` must not be used afterwards."""
        self._is_closed = True
        if (child := self._child) is not None:
            child.kill()

    def _end(self, child: WorkerChild) -> str:
        """Kill a child and forget it; the next call starts a new child. Returns how it ended."""
        self._child = None
        cause_name = child.kill()
        child.connection.close()
        return cause_name

    def _start(self) -> WorkerChild:
        """Start a child and wait until it is ready."""
        parent_end, child_end = Pipe()
        limits = (str(child_end.fileno()), str(self.limits.seconds), str(self.limits.megabytes))
        command = [sys.executable, "-P", "-m", "crawler.workers.worker_main", *limits, *self._preload]
        with child_end:
            process = subprocess.Popen(
                command, pass_fds=(child_end.fileno(),), env={**os.environ, **WORKER_ENVIRONMENT}
            )
        child = WorkerChild(process, parent_end)
        child.wait_until_ready()
        os.setpriority(os.PRIO_PROCESS, process.pid, max(self._niceness, os.nice(0)))  # a busy machine would starve it
        return child


class WorkerPool:
    """Worker processes, each with a thread that waits for it, so that a failed worker does not affect the others.

    With a `niceness`, the first process has it, and the others, which start when that one is busy, use idle cores.
    """

    def __init__(
        self, workers: int, limits: Limits | None = None, preload: Sequence[str] = (), niceness: int = 0
    ) -> None:
        niceness_by_process = [niceness and IDLE_NICENESS] * (workers - 1) + [niceness]
        self._processes = [WorkerProcess(limits, preload, value) for value in niceness_by_process]
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
        self._idle: LifoQueue[WorkerProcess] = LifoQueue()  # LIFO: started processes are reused first
        for process in self._processes:
            self._idle.put(process)

    def submit(self, task: Callable[[WorkerProcess], T]) -> Future[T]:
        """Run `task` with an idle worker. A new process starts only if no started process is idle."""
        return self._threads.submit(self._run_with_worker, task)

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function as `WorkerProcess.call` does, in the first idle worker."""
        return self._run_with_worker(lambda process: process.call(function, *args, **kwargs))

    def close(self) -> None:
        """Kill all workers immediately and abort their tasks."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.close()
        self._threads.shutdown()
        for process in self._processes:  # a task may have started a process meanwhile
            process.close()

    def _run_with_worker(self, task: Callable[[WorkerProcess], T]) -> T:
        process = self._idle.get()
        try:
            return task(process)
        finally:
            self._idle.put(process)


def iter_results(
    jobs: Iterable[J],
    submit: Callable[[J], Future[T]],
    max_jobs: int,
    estimate_cost: Callable[[J], int] = lambda job: 0,
    max_cost: int = 0,
) -> Iterator[T]:
    """Submit jobs and yield their results in the order of the jobs, so that what is saved does not depend on timing.

    Reads a job only when there is room for it. Cancels the submitted jobs if the caller stops the iteration, or if a
    job raises.

    Args:
        max_jobs: maximum number of jobs in flight
        estimate_cost: returns the cost of a job, such as its memory
        max_cost: maximum total cost of the jobs in flight; a job that exceeds it is processed by itself
    """
    futures: deque[Future[T]] = deque()
    costs: deque[int] = deque()
    try:
        for job in jobs:
            cost = estimate_cost(job)
            while costs and sum(costs) + cost > max_cost:
                costs.popleft()
                yield futures.popleft().result()
            futures.append(submit(job))
            costs.append(cost)
            del job  # it may be large, and the next one is read before it would be replaced
            while len(costs) >= max_jobs or sum(costs) > max_cost:
                costs.popleft()
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()
    finally:
        for future in futures:
            future.cancel()
