"""Interface for parallel execution: apply a picklable function to many items, locally or on a Dask cluster.

    local   in this process, which starts worker processes if needed             `LocalBackend`
    dask    on the workers of a Dask cluster                                     pipeline/compute/dask_backend.py

Only the store records which items are pending. A backend executes and retries, and keeps no state that the next run
needs. If a process dies, the items in flight stay pending. `function` is a module-level function that workers can
import, or a `partial` of one. The function and the items are picklable. A backend may call the function twice for one
item, even while the first call still runs. The function uses a lease to make this harmless.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class ComputeBackend(Protocol):
    """Executes the work of the pipeline stages."""

    is_distributed: bool
    """True if other machines do the work, so that the caller must split it into blocks."""

    def map_unordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[tuple[P, R]]:
        """Yield (item, result) pairs in order of completion, with a bounded number of items in flight.

        An item that fails permanently is omitted and stays pending in the store. Raises ClusterUnavailableError if no
        worker is available.
        """

    def map_ordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[R]:
        """Yield the results in the order of the items, with a bounded number in flight.

        Raises the errors of `function`.
        """

    def close(self) -> None:
        """Release the connections and processes of the backend."""


class LocalBackend:
    """Runs in this process, one item after another. CPU-bound functions start their own processes."""

    is_distributed = False

    def map_unordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[tuple[P, R]]:
        return ((item, function(item)) for item in items)

    def map_ordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[R]:
        return map(function, items)

    def close(self) -> None:
        return
