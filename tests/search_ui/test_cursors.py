"""Pages behind the numbered ones."""

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient

from search_ui.query.cursors import CursorCodec, CursorPosition
from search_ui.query.search_request import BadSearchRequestError, SearchRequest
from search_ui.settings import SearchSettings
from tests.search_ui_fakes import FakeSearch, OneVector, document, site_app

SETTINGS = SearchSettings(page_size=2, deepest_result=26)
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
    with pytest.raises(BadSearchRequestError, match=r"^error\.cursor$"):
        CURSORS.decode(asked)


def following(page: BeautifulSoup) -> str:
    link = page.select_one("nav.pages a[rel=next]")
    return str(link["href"]) if isinstance(link, Tag) else ""


def shown(client: FlaskClient, address: str) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == 200, response.text
    return BeautifulSoup(response.text, "lxml")


def test_one_can_page_from_the_first_to_the_deepest_result() -> None:
    documents = [document(n, f"页岩气之{n}", "页岩气") for n in range(40)]
    client = site_app(FakeSearch(documents), settings=SETTINGS).test_client()
    address, titles, pages = "/search?q=页岩气", list[str](), 0
    while address:
        page = shown(client, address)
        titles += [title.text.strip() for title in page.select("#hits h2")]
        address, pages = following(page), pages + 1
    assert (pages, len(titles), len(set(titles))) == (13, 26, 26)
    assert page.select_one("#end") is not None
    assert page.select_one("#hits")["start"] == "25"  # type: ignore[index]


def test_the_last_result_is_not_followed_by_an_empty_page() -> None:
    documents = [document(n, f"页岩气之{n}", "页岩气") for n in range(22)]
    client = site_app(FakeSearch(documents), settings=SETTINGS).test_client()
    tenth = shown(client, "/search?q=页岩气&page=10")
    eleventh = shown(client, following(tenth))
    assert len(eleventh.select("#hits > li")) == 2 and following(eleventh) == ""
    assert eleventh.select_one("#end") is None


@pytest.mark.parametrize(
    "more", [pytest.param({}, id="words"), pytest.param({"query_vectors": OneVector()}, id="both")]
)
def test_related_results_without_a_full_match_can_be_paged_to_the_last(more: dict[str, OneVector]) -> None:
    settings = SearchSettings(page_size=2)
    search = FakeSearch([document(n, f"页岩气之{n}", "开发") for n in range(45)], cosines={"doc3": 0.9})
    client = site_app(search, settings=settings, **more).test_client()
    address, titles = "/search?q=页岩气 量子纠缠", list[str]()
    while address:
        page = shown(client, address)
        titles += [title.text.strip() for title in page.select("#hits h2")]
        address = following(page)
    assert (len(titles), len(set(titles))) == (45, 45)
