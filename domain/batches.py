"""Split iterables into batches, to bound memory, transactions and requests.

Replaces itertools.batched of Python 3.12.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield `items` as lists of `size` elements; the last list may be shorter.

    Reads `items` lazily, one list at a time.
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
