"""Divides a ranked list of hits into pages.

Pages have the same length, with two exceptions. If full matches are listed first, the page with the last of them has
one page length of related results as well, and the following pages have related results only. The last page with a
number ends where the list that was fetched for the numbered pages ends.
"""

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import NamedTuple


class PageSpan(NamedTuple):
    """The hits of one page: offsets in the ranked list, `end` exclusive."""

    start: int
    end: int


def iter_page_spans(page_size: int, fetched_hits: int, full_matches: int) -> Iterator[PageSpan]:
    """Yield the spans of all pages, from the first, without end.

    Args:
        page_size: Number of hits of an ordinary page.
        fetched_hits: Number of hits that are fetched for the numbered pages, a multiple of `page_size`.
        full_matches: Number of full matches at the start of the list; 0 if they are not listed first.
    """
    start = 0
    while True:
        remaining = max(0, full_matches - start)
        end = start + (remaining + page_size if 0 < remaining <= page_size else page_size)
        if start < fetched_hits < end + page_size and end != fetched_hits:
            end = fetched_hits
        yield PageSpan(start, end)
        start = end


def page_span(page: int, page_size: int, fetched_hits: int, full_matches: int) -> PageSpan:
    """Return the span of page `page`, from 1. See `iter_page_spans`."""
    return next(islice(iter_page_spans(page_size, fetched_hits, full_matches), page - 1, None))


def count_numbered_pages(hits: int, page_size: int, fetched_hits: int, full_matches: int) -> int:
    """Return the number of pages with a number of a list with `hits` hits; at least 1. See `iter_page_spans`."""
    listed_hits = min(hits, fetched_hits)
    spans = takewhile(lambda span: span.start < listed_hits, iter_page_spans(page_size, fetched_hits, full_matches))
    return max(1, sum(1 for _ in spans))
