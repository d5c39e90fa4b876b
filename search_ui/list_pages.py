"""Pages of lists, counted from 1, and the numbers in URLs and forms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list; `number` and `last` count from 1, `total` is the number of all items."""

    number: int
    last: int
    total: int
    items: Sequence[Item]


def load_page(find: Callable[[int, int], tuple[int, Sequence[Item]]], number_text: str, size: int) -> Page[Item]:
    """Load the requested page of a list: the last one if there are fewer, the first one if the text is no number.

    `find` returns the number of all items and those from an offset, up to a limit.
    """
    number = max(1, parse_number(number_text))
    total, items = find((number - 1) * size, size)
    last = max(1, -(-total // size))
    if number > last:
        number, (total, items) = last, find((last - 1) * size, size)
    return Page(number, last, total, items)


def slice_page(items: Sequence[Item], number_text: str, size: int) -> Page[Item]:
    """Return the requested page of a list in memory. Otherwise like `load_page`."""
    return load_page(lambda offset, limit: (len(items), items[offset : offset + limit]), number_text, size)


def parse_number(text: str, default: int = 0) -> int:
    """Parse a number of a URL or a form; `default` if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
