"""Work done by this process, one piece after another: what needs several processors starts processes of its own."""

from collections.abc import Callable, Iterable, Iterator

from pipeline.engines.contract import P, R


class LocalEngine:
    """See `pipeline.engines.contract.WorkEngine`, here and below."""

    is_spread = False

    def each(self, work: Callable[[P], R], pieces: Iterable[P]) -> Iterator[tuple[P, R]]:
        return ((piece, work(piece)) for piece in pieces)

    def in_order(self, work: Callable[[P], R], pieces: Iterable[P]) -> Iterator[R]:
        return map(work, pieces)

    def close(self) -> None:
        return
