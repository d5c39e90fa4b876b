"""Divides the list of results into pages of one length.

The first `RANKED_HITS` results are one ranked list, whatever the page length; its pages have numbers. Further pages
continue in the order of the words and are reached by cursor. The last page with a number ends where the ranked list
ends.
"""

from typing import NamedTuple

RANKED_HITS = 100
"""Results that are ranked together, by words and meaning."""


class PageSpan(NamedTuple):
    """The hits of one page: offsets in the list of results, `end` exclusive."""

    start: int
    end: int


def page_span(page: int, page_size: int) -> PageSpan:
    """Return the span of page `page`, from 1."""
    last_numbered_page = count_numbered_pages(RANKED_HITS, page_size)
    if page > last_numbered_page:
        start = RANKED_HITS + (page - last_numbered_page - 1) * page_size
        return PageSpan(start, start + page_size)
    return PageSpan((page - 1) * page_size, min(page * page_size, RANKED_HITS))


def page_at(rank: int, page_size: int) -> int:
    """Return the page that lists the result with this rank, from 1."""
    if rank <= RANKED_HITS:
        return -(-rank // page_size)
    return count_numbered_pages(RANKED_HITS, page_size) - (RANKED_HITS - rank) // page_size


def count_numbered_pages(hits: int, page_size: int) -> int:
    """Return the number of pages with a number of a list with `hits` hits; at least 1."""
    return max(1, -(-min(hits, RANKED_HITS) // page_size))
