"""Division of the results into pages."""

import itertools

import pytest

from search_ui.query.search_request import RANKED_HITS, PageSpan, count_numbered_pages, page_at, page_span


@pytest.mark.parametrize("page_size", [1, 4, 6, 10, 30, 100, 200])
def test_pages_list_each_result_once_and_are_found_by_its_rank(page_size: int) -> None:
    numbered_pages = count_numbered_pages(1_000, page_size)
    spans = [page_span(page, page_size) for page in range(1, numbered_pages + 3)]
    assert spans[0].start == 0 and spans[numbered_pages - 1].end == RANKED_HITS
    assert all(before.end == after.start for before, after in itertools.pairwise(spans))
    assert all(span.end - span.start <= page_size for span in spans)
    for page, span in enumerate(spans, start=1):
        assert {page_at(index + 1, page_size) for index in range(*span)} == {page}


@pytest.mark.parametrize(
    ("page", "page_size", "span"),
    [
        pytest.param(1, 10, PageSpan(0, 10), id="first page"),
        pytest.param(3, 10, PageSpan(20, 30), id="third page"),
        pytest.param(17, 6, PageSpan(96, 100), id="the last page with a number"),
        pytest.param(12, 10, PageSpan(110, 120), id="by cursor"),
    ],
)
def test_span_of_a_page(page: int, page_size: int, span: PageSpan) -> None:
    assert page_span(page, page_size) == span


@pytest.mark.parametrize(("hits", "pages"), [(0, 1), (10, 1), (11, 2), (1_000, 10)])
def test_number_of_pages(hits: int, pages: int) -> None:
    assert count_numbered_pages(hits, 10) == pages
