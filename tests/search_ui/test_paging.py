"""Division of the results into pages."""

import itertools

import pytest

from search_ui.query.paging import PageSpan, count_numbered_pages, page_span

SIZE, FETCHED = 10, 100


@pytest.mark.parametrize("full_matches", [0, 1, 9, 10, 11, 20, 85, 90, 95, 100, 101, 110, 250])
def test_numbered_pages_list_each_fetched_hit_once(full_matches: int) -> None:
    pages = count_numbered_pages(1_000, SIZE, FETCHED, full_matches)
    spans = [page_span(page, SIZE, FETCHED, full_matches) for page in range(1, pages + 1)]
    assert spans[0].start == 0 and spans[-1].end == FETCHED and pages in (9, 10)
    assert all(before.end == after.start for before, after in itertools.pairwise(spans))
    assert all(SIZE <= span.end - span.start < 3 * SIZE for span in spans)


@pytest.mark.parametrize(
    ("page", "full_matches", "span"),
    [
        pytest.param(1, 0, PageSpan(0, 10), id="all hits"),
        pytest.param(3, 0, PageSpan(20, 30), id="all hits, third page"),
        pytest.param(1, 2, PageSpan(0, 12), id="two full matches, then related results"),
        pytest.param(2, 2, PageSpan(12, 22), id="related results"),
        pytest.param(1, 25, PageSpan(0, 10), id="full matches only"),
        pytest.param(3, 25, PageSpan(20, 35), id="the last full matches"),
        pytest.param(9, 2, PageSpan(82, 100), id="the last page with a number"),
        pytest.param(12, 115, PageSpan(110, 125), id="the last full matches, by cursor"),
    ],
)
def test_span_of_a_page(page: int, full_matches: int, span: PageSpan) -> None:
    assert page_span(page, SIZE, FETCHED, full_matches) == span


@pytest.mark.parametrize(
    ("hits", "full_matches", "pages"),
    [(0, 0, 1), (10, 0, 1), (11, 0, 2), (1_000, 0, 10), (12, 2, 1), (13, 2, 2), (25, 25, 3), (36, 25, 4)],
)
def test_number_of_pages(hits: int, full_matches: int, pages: int) -> None:
    assert count_numbered_pages(hits, SIZE, FETCHED, full_matches) == pages
