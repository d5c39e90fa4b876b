"""Compute backend on a Dask cluster (`distributed`) that an administrator has started.

Dask executes tasks, retries them after the loss of a worker, and shows them in its dashboard. Only few tasks are
submitted at a time. The scheduler therefore keeps almost no state, and losing it costs only a restart: tasks in flight
are still pending in the store.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any

from domain.errors import PlumblineError, SettingsError
from pipeline.compute.backend import P, R

log = logging.getLogger(__name__)

CONNECT_SECONDS = 20.0
TASKS_PER_THREAD = 2  # tasks per worker thread, queued or running
WAIT_TIMEOUT_SECONDS = 5.0  # interval of the check that scheduler and workers are alive
NO_WORKER_SECONDS = 60.0  # maximum wait for a worker, for example after a restart of the scheduler


class ClusterUnavailableError(PlumblineError):
    """The Dask scheduler is not responding, or has no worker."""


class DaskBackend:
    """Implements `pipeline.compute.backend.ComputeBackend` with Dask. Connects on first use.

    Args:
        scheduler: Address of the scheduler.
        connect_timeout: Maximum seconds to connect to it.
        report_wait: Called with a message when waiting for workers begins.
    """

    is_distributed = True

    def __init__(
        self,
        scheduler: str,
        connect_timeout: float = CONNECT_SECONDS,
        report_wait: Callable[[str], None] = log.warning,
    ) -> None:
        self._scheduler, self._connect_timeout, self._report_wait = scheduler, connect_timeout, report_wait
        self._client: Any = None
        self._wait_message = ""  # the last reported one, "" if the workers are running our tasks
        self._no_worker_since = 0.0  # monotonic seconds; 0 while there are workers

    def map_unordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[tuple[P, R]]:
        pending, in_flight = iter(items), dict[Any, P]()
        try:
            while True:
                while len(in_flight) < self._max_in_flight() and (item := next(pending, None)) is not None:
                    in_flight[self._submit(function, item)] = item
                if not in_flight:
                    return
                for future in self._wait_finished(in_flight):
                    item = in_flight.pop(future)
                    result = self._result(future)
                    if not isinstance(result, Exception):
                        yield item, result
                    elif not is_transient(result):
                        raise result
                    else:
                        log.warning("task failed and will be retried on the next run: %s", result)
        finally:
            self._cancel(in_flight)

    def map_ordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[R]:
        in_flight: deque[Any] = deque()
        pending = iter(items)
        try:
            while True:
                while len(in_flight) < self._max_in_flight() and (item := next(pending, None)) is not None:
                    in_flight.append(self._submit(function, item))
                if not in_flight:
                    return
                while not self._wait_finished({in_flight[0]: None}):
                    pass
                result = self._result(in_flight.popleft())
                if isinstance(result, Exception):
                    raise result if isinstance(result, PlumblineError) else PlumblineError(f"a worker failed: {result}")
                yield result
        finally:
            self._cancel(in_flight)

    def close(self) -> None:
        if self._client is not None:
            self._client.close(timeout=2)
            self._client = None

    # -- Dask

    def _get_client(self) -> Any:
        if self._client is None:
            self._client = connect_client(self._scheduler, self._connect_timeout)
        return self._client

    def _max_in_flight(self) -> int:
        """Maximum number of submitted tasks."""
        threads = sum(self._get_client().nthreads().values())
        return max(1, int(threads)) * TASKS_PER_THREAD

    def _submit(self, function: Callable[[P], R], item: P) -> Any:
        return self._get_client().submit(function, item, pure=False)

    def _wait_finished(self, in_flight: Iterable[Any]) -> list[Any]:
        """Return the futures that are done, an empty list on timeout.

        Raises ClusterUnavailableError if the scheduler is gone, or has no worker for NO_WORKER_SECONDS.
        """
        wait = import_module("distributed").wait

        try:
            with self._get_client().as_current():
                done = list(wait(list(in_flight), timeout=WAIT_TIMEOUT_SECONDS, return_when="FIRST_COMPLETED").done)
                self._wait_message, self._no_worker_since = "", 0.0
                return done
        except TimeoutError:
            if self._get_client().status != "running":
                raise self._scheduler_lost_error() from None
            try:
                self._check_workers()
            except OSError:  # the connection was lost meanwhile
                raise self._scheduler_lost_error() from None
            return []
        except CancelledError:
            raise self._scheduler_lost_error() from None

    def _check_workers(self) -> None:
        """Report once why no task is running. Raises ClusterUnavailableError if no worker appears in time."""
        client = self._get_client()
        if not client.nthreads():
            now = time.monotonic()
            self._no_worker_since = self._no_worker_since or now
            problem = f"the Dask scheduler at {self._scheduler} has no worker"
            advice = f"start workers (dask worker {self._scheduler})"
            if now - self._no_worker_since >= NO_WORKER_SECONDS:
                raise ClusterUnavailableError(
                    f"{problem}: {advice}, then run the same command again; no saved work is lost"
                )
            message = f"{problem}: waiting up to {NO_WORKER_SECONDS:g} s for one; {advice}"
        else:
            self._no_worker_since = 0.0
            are_busy = any(client.processing().values())
            message = "" if are_busy else f"the workers of {self._scheduler} have not started yet: waiting for them"
        if message and message != self._wait_message:
            self._report_wait(message)
        self._wait_message = message

    def _result(self, future: Any) -> Any:
        """Return the result of the task, or the exception that it raised."""
        try:
            return future.result(timeout=CONNECT_SECONDS)
        except CancelledError:
            raise self._scheduler_lost_error() from None
        except Exception as error:  # noqa: BLE001 (the caller decides)
            return error

    def _scheduler_lost_error(self) -> ClusterUnavailableError:
        return ClusterUnavailableError(
            f"the Dask scheduler at {self._scheduler} is not responding: start it, then run the same command again; "
            "no saved work is lost"
        )

    def _cancel(self, in_flight: Iterable[Any]) -> None:
        futures = list(in_flight)
        if futures and self._client is not None and self._client.status == "running":
            self._client.cancel(futures, asynchronous=False)


def is_transient(exc: Exception) -> bool:
    """True if a retry of the same item can succeed: a worker was lost, or the store was not available."""
    from distributed.scheduler import KilledWorker

    from domain.errors import StoreError

    return isinstance(exc, KilledWorker | StoreError)


def connect_client(scheduler: str, connect_timeout: float) -> Any:
    """Return a Dask client of the scheduler.

    Args:
        scheduler: address, such as tcp://scheduler.example.org:8786
        connect_timeout: seconds

    Raises:
        SettingsError: the library `distributed` is not installed
        ClusterUnavailableError: no scheduler responds
    """
    try:
        client = import_module("distributed").Client
    except ModuleNotFoundError:
        raise SettingsError(
            "cluster.engine is dask, but the library is not installed: install the extra cluster "
            "(pip install '.[cluster]')"
        ) from None
    try:
        return client(scheduler, timeout=connect_timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterUnavailableError(
            f"no Dask scheduler responds at {scheduler} ({error}): start one (dask scheduler), correct "
            "cluster.scheduler, or set cluster.engine to local"
        ) from error
