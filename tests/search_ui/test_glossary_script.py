"""The definitions for the pages of other sites."""

import pytest
from flask.testing import FlaskClient

from domain.term import Definition, Lexicon, LexiconEntry
from search_ui.pages.glossary_script import MAX_TEXT_CHARS
from search_ui.settings import SearchSettings
from tests.search_ui_fakes import FakeActions, site_app

ORIGIN = "https://www.other.example"


@pytest.fixture
def client() -> FlaskClient:
    backend = FakeActions(published=Lexicon(1, (LexiconEntry("页岩气"), LexiconEntry("well log")), published_at=1.0))
    definitions = [
        Definition(name, language, f"{name} <b>", 1, "javascript:x", "来源", "", 0.9, 1.0)
        for name, language in (("页岩气", "zh"), ("well log", "en"))
    ]
    backend.review_service.store.definitions.save(definitions, (), 1, 1.0)
    return site_app(actions=backend, settings=SearchSettings(glossary_origins=(ORIGIN,))).test_client()


def test_offsets_are_those_of_javascript(client: FlaskClient) -> None:
    text = "𠮷𠮷 x\n\n产页岩气。A Well Log, 页岩气"
    found = client.post("/glossary.json?lang=en", data=text.encode()).json["definitions"]
    units = text.encode("utf-16-le")
    assert [units[2 * one["start"] : 2 * one["end"]].decode("utf-16-le") for one in found] == ["页岩气", "Well Log"]
    assert found[0]["url"].startswith("http://localhost/term/") and found[0]["text"] == "页岩气 <b>"
    assert [one["source"] for one in found] == ["", ""] and found[0]["label"] == "Definition of 页岩气"


@pytest.mark.parametrize("origin", [ORIGIN, "https://evil.example", "null", ""])
def test_only_configured_sites_can_read_the_response(client: FlaskClient, origin: str) -> None:
    headers = {"Origin": origin} if origin else {}
    response = client.post("/glossary.json", data="页岩气".encode(), headers=headers)
    assert response.status_code == 200 and "Origin" in response.headers["Vary"]
    assert response.headers.get("Access-Control-Allow-Origin") == (ORIGIN if origin == ORIGIN else None)
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"x\n" * 9000])
def test_odd_texts_have_no_terms(client: FlaskClient, data: bytes) -> None:
    assert client.post("/glossary.json", data=data).json["definitions"] == []


def test_text_behind_the_limit_is_not_searched(client: FlaskClient) -> None:
    data = ("x" * (MAX_TEXT_CHARS - 1) + " 页岩气").encode()
    assert client.post("/glossary.json", data=data).json["definitions"] == []
    assert client.post("/glossary.json", data=b"x" * 300_000).status_code == 413


def test_the_script_is_served(client: FlaskClient) -> None:
    response = client.get("/glossary.js")
    assert response.mimetype == "text/javascript" and "innerHTML" not in response.text
