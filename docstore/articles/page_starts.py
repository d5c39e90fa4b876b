"""On which page of a document a place of its text stands. Pure.

    "1:0 2:1830 3:3999"     page 2 begins at character 1,830 of the body: what the index keeps of it

The indexer writes it, the search site reads it: a hit names the page that its passage is on.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from docstore.model import Block

PageStarts = Sequence[tuple[int, int]]
"""(page, offset in code points) of each page that has text, by rising offsets."""

_HEAD = 60  # characters of a block by which it is found in the body
_END_OF_HEAD = re.compile(r"[\t\n]")
_PAIR = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def page_starts(body: str, blocks: Iterable[Block]) -> tuple[tuple[int, int], ...]:
    """Where in `body` the pages begin that its `blocks` name; () for a text without pages."""
    starts: list[tuple[int, int]] = []
    place, page = 0, 0
    for block in blocks:
        head = _END_OF_HEAD.split(block.text.strip(), maxsplit=1)[0][:_HEAD]
        at = body.find(head, place) if head else -1
        if at < 0:
            continue
        if block.page and block.page != page:
            page = block.page
            starts.append((page, at))
        place = at + len(head)
    return tuple(starts)


def packed(starts: PageStarts) -> str:
    """As the index keeps it."""
    return " ".join(f"{page}:{offset}" for page, offset in starts)


def unpacked(text: str) -> tuple[tuple[int, int], ...]:
    """What `packed` made a text of; () for another."""
    return tuple((int(page), int(offset)) for page, offset in _PAIR.findall(text))


def page_at(starts: PageStarts, offset: int) -> int:
    """The page that the character at `offset` stands on; 0 where no page is known."""
    after = bisect_right([begin for _, begin in starts], offset)
    return starts[after - 1][0] if after else 0
