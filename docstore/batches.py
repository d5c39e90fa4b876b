"""Items in batches: what bounds memory, transactions and requests everywhere (itertools has it from Python 3.12 on)."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """`items` in lists of `size`, the last one shorter; takes from `items` only what the next list needs."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
