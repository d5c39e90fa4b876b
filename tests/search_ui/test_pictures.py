"""Pictures of articles on pages, and their endpoint."""

import pytest
from bs4 import BeautifulSoup

from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.site_fixture import FakeSearch, MemorySite, document, site_app

PICTURE = "https://news.example/p.png"
WEBP = b"RIFF....WEBP"


def with_picture(number: int, url: str = PICTURE) -> dict[str, object]:
    return document(number, f"页岩气{number}", "页岩气") | {solr_fields.PICTURE: url}


def test_a_picture_is_served_by_this_site_alone() -> None:
    client = site_app(FakeSearch([with_picture(1)]), MemorySite(pictures={PICTURE: WEBP})).test_client()
    served = client.get("/picture/doc1")
    assert (served.status_code, served.mimetype, served.data) == (200, "image/webp", WEBP)
    assert served.cache_control.private and served.cache_control.max_age
    page = BeautifulSoup(client.get("/search?q=页岩气").text, "lxml")
    image = page.select_one("#hits img")
    assert image is not None
    assert (image["src"], image["alt"], image["loading"]) == ("/picture/doc1", "", "lazy")
    assert PICTURE not in str(page)


@pytest.mark.parametrize("doc_id", ["doc2", "doc9", "{!func}x", "..", "https:%2F%2Fnews.example%2Fp.png"])
def test_only_the_picture_of_an_article_can_be_asked_for(doc_id: str) -> None:
    search = FakeSearch([with_picture(1), document(2, "无图", "页岩气")])
    client = site_app(search, MemorySite(pictures={PICTURE: WEBP})).test_client()
    assert client.get(f"/picture/{doc_id}?url={PICTURE}").status_code == 404


def test_a_picture_that_cannot_be_had_is_not_shown() -> None:
    client = site_app(FakeSearch([with_picture(1)]), MemorySite()).test_client()
    assert client.get("/picture/doc1").status_code == 404
    assert BeautifulSoup(client.get("/search?q=页岩气").text, "lxml").select("img, .pictured") == []


def test_a_picture_that_many_have_is_the_sites() -> None:
    own = "https://news.example/own.png"
    hits = [with_picture(1), with_picture(2), with_picture(3), with_picture(4, own)]
    client = site_app(FakeSearch(hits), MemorySite(pictures={PICTURE: WEBP, own: WEBP})).test_client()
    page = BeautifulSoup(client.get("/search?q=页岩气").text, "lxml")
    assert [image["src"] for image in page.select("#hits img")] == ["/picture/doc4"]


def test_pictures_can_be_switched_off() -> None:
    actions = MemorySite(pictures={PICTURE: WEBP})
    client = site_app(FakeSearch([with_picture(1)]), actions, SearchSettings(pictures=False)).test_client()
    assert client.get("/picture/doc1").status_code == 404
    for address in ("/", "/search?q=页岩气"):
        assert BeautifulSoup(client.get(address).text, "lxml").select("img") == []
