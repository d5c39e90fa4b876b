"""Work done by the workers of a Dask cluster (`distributed`), which an operator has started.

Dask computes, tries again where a worker was lost, and shows (its dashboard). It is asked for few pieces at a time, so
that a scheduler holds next to nothing, and one that is lost costs a restart: what was under way is pending still.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any

from docstore.errors import PlumblineError, SettingsError
from pipeline.engines.contract import P, R

log = logging.getLogger(__name__)

CONNECT_SECONDS = 20.0
AHEAD = 2  # pieces a thread of a worker, waiting or under way
LOOK = 5.0  # seconds after which is looked whether the scheduler lives


class WorkersGoneError(PlumblineError):
    """Nobody is there to work."""


class DaskEngine:
    """See `pipeline.engines.contract.WorkEngine`, here and below. Connects when it is first asked for something."""

    is_spread = True

    def __init__(self, scheduler: str, patience: float = CONNECT_SECONDS) -> None:
        self._scheduler, self._patience = scheduler, patience
        self._client: Any = None

    def each(self, work: Callable[[P], R], pieces: Iterable[P]) -> Iterator[tuple[P, R]]:
        waiting, running = iter(pieces), dict[Any, P]()
        try:
            while True:
                while len(running) < self._ahead() and (piece := next(waiting, None)) is not None:
                    running[self._submit(work, piece)] = piece
                if not running:
                    return
                for future in self._finished(running):
                    piece = running.pop(future)
                    result = self._result(future)
                    if not isinstance(result, Exception):
                        yield piece, result
                    elif not is_passing(result):
                        raise result
                    else:
                        log.warning("a piece of work has failed and waits for the next turn: %s", result)
        finally:
            self._cancel(running)

    def in_order(self, work: Callable[[P], R], pieces: Iterable[P]) -> Iterator[R]:
        running: deque[Any] = deque()
        waiting = iter(pieces)
        try:
            while True:
                while len(running) < self._ahead() and (piece := next(waiting, None)) is not None:
                    running.append(self._submit(work, piece))
                if not running:
                    return
                while not self._finished({running[0]: None}):
                    pass
                result = self._result(running.popleft())
                if isinstance(result, Exception):
                    raise result if isinstance(result, PlumblineError) else PlumblineError(f"a worker failed: {result}")
                yield result
        finally:
            self._cancel(running)

    def close(self) -> None:
        if self._client is not None:
            self._client.close(timeout=2)
            self._client = None

    # -- Dask

    def _connected(self) -> Any:
        if self._client is None:
            self._client = connect(self._scheduler, self._patience)
        return self._client

    def _ahead(self) -> int:
        """How many pieces are given away at once."""
        threads = sum(self._connected().nthreads().values())
        return max(1, int(threads)) * AHEAD

    def _submit(self, work: Callable[[P], R], piece: P) -> Any:
        return self._connected().submit(work, piece, pure=False)

    def _finished(self, running: Iterable[Any]) -> list[Any]:
        """Those that are done now; none after a while. WorkersGoneError where the scheduler is gone."""
        wait = import_module("distributed").wait

        try:
            with self._connected().as_current():
                return list(wait(list(running), timeout=LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            if self._connected().status != "running":
                raise self._gone() from None
            return []
        except CancelledError:
            raise self._gone() from None

    def _result(self, future: Any) -> Any:
        """What the work has returned, or the exception that it ended with."""
        try:
            return future.result(timeout=CONNECT_SECONDS)
        except CancelledError:
            raise self._gone() from None
        except Exception as error:  # noqa: BLE001 (judged by who asked)
            return error

    def _gone(self) -> WorkersGoneError:
        return WorkersGoneError(
            f"the Dask scheduler at {self._scheduler} is gone: start it, then run the same command again; "
            "nothing was lost"
        )

    def _cancel(self, running: Iterable[Any]) -> None:
        left = list(running)
        if left and self._client is not None and self._client.status == "running":
            self._client.cancel(left, asynchronous=False)


def is_passing(error: Exception) -> bool:
    """May the same piece be done by the next one who tries: was a worker lost, or the store away?"""
    from distributed.scheduler import KilledWorker

    from docstore.errors import StoreError

    return isinstance(error, KilledWorker | StoreError)


def connect(scheduler: str, patience: float) -> Any:
    """A client of the scheduler. SettingsError where there is none, or its library is not here."""
    try:
        client = import_module("distributed").Client
    except ModuleNotFoundError:
        raise SettingsError(
            "cluster.engine is dask, and its library is not here: install the extra cluster (pip install '.[cluster]')"
        ) from None
    try:
        return client(scheduler, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkersGoneError(
            f"no Dask scheduler answers at {scheduler} ({error}): start one (dask scheduler), correct "
            "cluster.scheduler, or set cluster.engine to local"
        ) from error
