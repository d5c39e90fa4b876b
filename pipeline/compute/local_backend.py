"""Work done by this process, one piece after another: what needs several processors starts processes of its own."""

from collections.abc import Callable, Iterable, Iterator

from pipeline.compute.backend import P, R


class LocalBackend:
    """See `pipeline.compute.backend.ComputeBackend`, here and below."""

    is_distributed = False

    def map_unordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[tuple[P, R]]:
        return ((item, function(item)) for item in items)

    def map_ordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[R]:
        return map(function, items)

    def close(self) -> None:
        return
