"""What a stage asks of who computes: `work` done with each of many pieces.

    local   in this process, which has its own workers where it needs them      pipeline/compute/local_backend.py
    dask    on the workers of a Dask cluster                                     pipeline/compute/dask_backend.py

The store alone says what is pending. An engine computes and tries again; it keeps nothing that the next run could miss,
so that whatever dies costs the pieces that were under way, and they are pending still. `work` is a function of a module
that workers can import, or a `partial` of one; it and the pieces can be pickled. It may be called twice with a piece,
also while the first call goes on elsewhere, and sees to it by a lease that this does no harm.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class ComputeBackend(Protocol):
    """Does the work of stages."""

    is_distributed: bool
    """Is it done on other machines, so that it has to be cut into blocks?"""

    def map_unordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[tuple[P, R]]:
        """Each piece with its result, as they come; few pieces are held at once. A piece that has failed for good is
        left out: who asks the store finds it pending. WorkersGoneError where nobody is there to work."""

    def map_ordered(self, function: Callable[[P], R], items: Iterable[P]) -> Iterator[R]:
        """The results in the order of the pieces, of which few are held at once. Raises what `function` raises."""

    def close(self) -> None:
        """Let go of what was opened."""
