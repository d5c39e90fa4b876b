"""Compute backend that runs in this process, one item after another. CPU-bound functions start their own processes."""

from collections.abc import Callable, Iterable, Iterator

from pipeline.compute.backend import P, R


class LocalBackend:
    """Implements `pipeline.compute.backend.ComputeBackend` in this process."""

    is_distributed = False

    def map_unordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[tuple[P, R]]:
        return ((item, function(item)) for item in items)

    def map_ordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[R]:
        return map(function, items)

    def close(self) -> None:
        return
