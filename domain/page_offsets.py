"""Page numbers of documents: on which page a character of the text is. Pure functions.

    "1:0 2:1830 3:3999"     page 2 begins at character 1,830 of the body

The indexer writes this format to the index. The search site reads it to name the page of a matching passage.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from domain.article import Block

PageOffsets = Sequence[tuple[int, int]]
"""(page, offset in code points) of each page that has text, by rising offsets."""

_MATCHED_CHARS = 60  # characters of a block that are searched in the body
_MATCH_TERMINATOR = re.compile(r"[\t\n]")
_PAGE_OFFSET_PAIR = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def find_page_offsets(body: str, blocks: Iterable[Block]) -> tuple[tuple[int, int], ...]:
    """Return where in `body` the pages begin that `blocks` name; () for a text without pages."""
    offsets: list[tuple[int, int]] = []
    search_from, page = 0, 0
    for block in blocks:
        match_text = _MATCH_TERMINATOR.split(block.text.strip(), maxsplit=1)[0][:_MATCHED_CHARS]
        offset = body.find(match_text, search_from) if match_text else -1
        if offset < 0:
            continue
        if block.page and block.page != page:
            page = block.page
            offsets.append((page, offset))
        search_from = offset + len(match_text)
    return tuple(offsets)


def format_page_offsets(page_offsets: PageOffsets) -> str:
    """Format page offsets for the index."""
    return " ".join(f"{page}:{offset}" for page, offset in page_offsets)


def parse_page_offsets(text: str) -> tuple[tuple[int, int], ...]:
    """Parse the result of `format_page_offsets`. Text in another format gives ()."""
    return tuple((int(page), int(offset)) for page, offset in _PAGE_OFFSET_PAIR.findall(text))


def page_number_at(page_offsets: PageOffsets, offset: int) -> int:
    """Return the page that contains the character at `offset`; 0 if no page is known."""
    next_index = bisect_right([begin for _, begin in page_offsets], offset)
    return page_offsets[next_index - 1][0] if next_index else 0
