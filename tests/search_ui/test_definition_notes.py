"""The notes on the source of a definition whose page is gone."""

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient

from domain.article import document_id
from domain.term import Definition, DefinitionSource, Lexicon, LexiconEntry, TermStatus
from search_ui.interfaces import OriginalDocument
from tests.site_fixture import FakeSearch, MemorySite, site_app, term

URL = "http://a.test/1"


@pytest.fixture
def held() -> MemorySite:
    held = MemorySite([term("页岩气", status=TermStatus.ACCEPTED)], published=Lexicon(1, (LexiconEntry("页岩气"),)))
    definition = Definition("页岩气", "zh", "页岩气是气。", 1, URL, "甲", "2014-05-01", 0.9, 1.0)
    held.store.definitions.save([definition], ())
    return held


@pytest.fixture
def client(held: MemorySite) -> FlaskClient:
    return site_app(FakeSearch([]), held).test_client()


def source_of(client: FlaskClient) -> Tag:
    return BeautifulSoup(client.get("/term/页岩气?lang=en").text, "lxml").select_one("#definition .source")


def test_a_gone_page_is_linked_to_its_saved_copy(client: FlaskClient, held: MemorySite) -> None:
    held.review.choose_definition("页岩气", "页岩气是气。", "ann", None)
    held.store.definitions.save_sources({"页岩气": DefinitionSource.GONE})
    assert source_of(client).select_one(".source-state").text == "This page no longer exists."
    held.originals.kept[document_id(URL)] = OriginalDocument(URL, 1_700_000_000.0, "html", "")
    [link] = source_of(client).select(".source-state a")
    assert link["href"] == f"/article/{document_id(URL)}/original" and link.text == "Saved copy of 2023-11-14"
