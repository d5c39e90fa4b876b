"""Division of the results into pages, and the pages behind the numbered ones."""

import itertools
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from search_ui.query import search_request
from search_ui.query.search_request import (
    RANKED_HITS,
    BadSearchRequestError,
    CursorCodec,
    CursorPosition,
    PageSpan,
    SearchRequest,
    count_numbered_pages,
    page_span,
)
from search_ui.query.solr_query import Params
from search_ui.query.solr_requests import FULL_MATCH_FIELD
from search_ui.settings import SearchSettings
from tests.builders import page_at
from tests.site_fixture import FakeSearch, OneVector, document, site_app

SETTINGS = SearchSettings(page_size=20, deepest_result=260)
ASKED = SearchRequest(raw_query="页岩气", text="页岩气")
CURSORS = CursorCodec(b"secret", SETTINGS)


def test_a_cursor_opens_where_it_was_sealed() -> None:
    sealed = CURSORS.encode(ASKED, CursorPosition(11, "AoE"))
    assert CURSORS.decode(ASKED.with_changes(cursor=sealed)) == CursorPosition(11, "AoE")


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(ASKED.with_changes(cursor="*"), id="a-mark-of-ones-own"),
        pytest.param(ASKED.with_changes(cursor=""), id="none"),
        pytest.param(
            ASKED.with_changes(raw_query="压裂", cursor=CURSORS.encode(ASKED, CursorPosition(11, "AoE"))),
            id="another-search",
        ),
        pytest.param(ASKED.with_changes(cursor=CURSORS.encode(ASKED, CursorPosition(14, "AoE"))), id="too-deep"),
        pytest.param(
            ASKED.with_changes(cursor=CursorCodec(b"x", SETTINGS).encode(ASKED, CursorPosition(11, "A"))), id="forged"
        ),
    ],
)
def test_other_cursors_are_refused(asked: SearchRequest) -> None:
    with pytest.raises(BadSearchRequestError, match=r"^cursor$"):
        CURSORS.decode(asked)


def following(page: BeautifulSoup) -> str:
    link = page.select_one("nav.pages a[rel=next]")
    return str(link["href"]) if isinstance(link, Tag) else ""


def test_one_can_page_from_the_first_to_the_deepest_result() -> None:
    documents = [document(n, f"页岩气之{n}", "页岩气") for n in range(400)]
    client = site_app(FakeSearch(documents), settings=SETTINGS).test_client()
    address, titles, pages = "/search?q=页岩气", list[str](), 0
    while address:
        page = page_at(client, address)
        titles += [title.text.strip() for title in page.select("#hits h2")]
        address, pages = following(page), pages + 1
    assert (pages, len(titles), len(set(titles))) == (13, 260, 260)
    assert page.select_one("#end") is not None
    assert page.select_one("#hits")["start"] == "241"  # type: ignore[index]


def test_the_last_result_is_not_followed_by_an_empty_page() -> None:
    documents = [document(n, f"页岩气之{n}", "页岩气") for n in range(102)]
    client = site_app(FakeSearch(documents), settings=SETTINGS).test_client()
    last_numbered = page_at(client, "/search?q=页岩气&page=5")
    by_cursor = page_at(client, following(last_numbered))
    assert len(by_cursor.select("#hits > li")) == 2 and following(by_cursor) == ""
    assert by_cursor.select_one("#end") is None


@pytest.mark.parametrize(
    "more", [pytest.param({}, id="words"), pytest.param({"query_vectors": OneVector()}, id="both")]
)
def test_related_results_without_a_full_match_can_be_paged_to_the_last(more: dict[str, OneVector]) -> None:
    settings = SearchSettings(page_size=20)
    search = FakeSearch([document(n, f"页岩气之{n}", "开发") for n in range(245)], cosines={"doc3": 0.9})
    client = site_app(search, settings=settings, **more).test_client()
    address, titles = "/search?q=页岩气 量子纠缠", list[str]()
    while address:
        page = page_at(client, address)
        titles += [title.text.strip() for title in page.select("#hits h2")]
        address = following(page)
    assert (len(titles), len(set(titles))) == (245, 245)


class RelatedToo(FakeSearch):
    """A search whose documents all match, the full matches first."""

    def select(self, params: Params) -> dict[str, Any]:
        named = dict(params)
        if FULL_MATCH_FIELD not in named.get("fl", ""):
            return super().select(params)
        response = super().select([*params, ("any_part", "")])
        for doc in response["response"]["docs"]:
            doc[FULL_MATCH_FIELD] = float("压裂" in doc["body"])
        return response


@pytest.mark.parametrize("full", [1, 99, 100, 230])
@pytest.mark.parametrize(
    "more", [pytest.param({}, id="words"), pytest.param({"query_vectors": OneVector()}, id="both")]
)
def test_related_results_behind_the_full_matches_can_be_paged_to_the_last(
    full: int, more: dict[str, OneVector]
) -> None:
    documents = [document(n, f"页岩气之{n}", "压裂" if n < full else "开发") for n in range(245)]
    search = RelatedToo(documents, cosines={"doc0": 0.9})
    client = site_app(search, settings=SearchSettings(page_size=20), **more).test_client()
    address, titles, related_headings = "/search?q=页岩气 压裂", list[str](), list[str]()
    while address:
        page = page_at(client, address)
        assert page.select_one("#total").text.split()[0] == str(full)  # type: ignore[union-attr]
        titles += [title.text.strip() for title in page.select("#hits h2")]
        assert not related_headings or not page.select("#hits h2")  # no full match follows a related result
        related_headings += [title.text.strip() for title in page.select("#related-hits h2")]
        assert len(page.select("nav.pages a[rel=next]")) <= 1
        address = following(page)
    assert len(titles) == full and len(related_headings) == 245 - full
    assert len({*titles, *related_headings}) == 245


# -- Division of the results into pages.


@pytest.mark.parametrize("page_size", [1, 4, 6, 10, 30, 100, 200])
def test_pages_list_each_result_once_and_are_found_by_its_rank(page_size: int) -> None:
    numbered_pages = count_numbered_pages(1_000, page_size)
    spans = [page_span(page, page_size) for page in range(1, numbered_pages + 3)]
    assert spans[0].start == 0 and spans[numbered_pages - 1].end == RANKED_HITS
    assert all(before.end == after.start for before, after in itertools.pairwise(spans))
    assert all(span.end - span.start <= page_size for span in spans)
    for page, span in enumerate(spans, start=1):
        assert {search_request.page_at(index + 1, page_size) for index in range(*span)} == {page}


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
