"""Definitions in the text of an article and on term pages: underlined terms, cards, the switch, and sources."""

from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient

from domain.article import document_id
from domain.term import MIN_PUBLIC_SCORE, Definition, DefinitionSource, Lexicon, LexiconEntry, TermStatus
from search_ui.glossary import Glossary, GlossaryTerm
from search_ui.interfaces import OriginalDocument
from search_ui.services.definitions import MAX_DEFINITIONS, MAX_SEARCHED_CHARS, find_defined_terms
from tests.builders import page_at
from tests.site_fixture import FakeSearch, MemorySite, document, site_app, term
from text.segment import RjiebaSegmenter

TERMS = (
    GlossaryTerm("页岩气", ("shale gas", "LNG-X", "IT")), GlossaryTerm("页岩气藏"), GlossaryTerm("水平井"),
    GlossaryTerm("pdc钻头"), GlossaryTerm("well log"), GlossaryTerm("气"),
)  # fmt: skip
SEGMENTER = RjiebaSegmenter([(one.text, 0, "n") for one in TERMS])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("四川页岩气藏有页岩气。", ["页岩气藏", "页岩气"], id="longest"),
        pytest.param("用水平井和 PDC 钻头。", ["水平井", "PDC 钻头"], id="blank-between-scripts"),
        pytest.param("頁岩氣与ＰＤＣ钻头", ["頁岩氣", "ＰＤＣ钻头"], id="traditional-and-full-width"),
        pytest.param("Shale  Gas, a WELL LOG and welllog", ["Shale  Gas", "WELL LOG"], id="english"),
        pytest.param("It is IT.", ["IT"], id="a-word-is-no-abbreviation"),
        pytest.param("气，氢气。", [], id="one-character"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_names_are_found_at_word_boundaries(text: str, expected: list[str]) -> None:
    occurrences = list(Glossary(TERMS).iter_occurrences(text, SEGMENTER))
    assert [text[one.start : one.end] for one in occurrences] == expected


def test_a_longer_term_without_a_definition_hides_its_parts() -> None:
    texts = ["页岩气藏很大。", "页岩气是气。页岩气。"]
    [(index, occurrence)] = find_defined_terms(texts, Glossary(TERMS), {"页岩气": 3}, SEGMENTER)
    assert (index, occurrence.start, occurrence.term.text) == (1, 0, "页岩气")


def test_the_rarest_terms_are_underlined() -> None:
    names = [f"termone{n:02}x" for n in range(MAX_DEFINITIONS + 5)]
    counts = {name: 100 - n for n, name in enumerate(names)}
    glossary = Glossary(tuple(map(GlossaryTerm, names)))
    found = find_defined_terms([" ".join(names)], glossary, counts, RjiebaSegmenter([(n, 0, "n") for n in names]))
    assert [occurrence.term.text for _, occurrence in found] == names[5:]
    long_text = ["x" * MAX_SEARCHED_CHARS, names[0]]
    assert find_defined_terms(long_text, glossary, counts, SEGMENTER) == []


GAS = LexiconEntry("页岩气", synonyms=("shale gas",))
LEXICON = Lexicon(1, (GAS, LexiconEntry("水平井")), published_at=1.0)
ARTICLE = document(1, "页岩气开发", "四川盆地页岩气产量上升。\n第二段说水平井和页岩气。")


@pytest.fixture
def actions() -> MemorySite:
    accepted = [term(entry.text, status=TermStatus.ACCEPTED) for entry in LEXICON.entries]
    backend = MemorySite(accepted, published=LEXICON)
    save_definition(backend, "页岩气", "页岩气是<b>天然气</b>。", 0.9)
    return backend


def save_definition(backend: MemorySite, name: str, sentence: str, score: float, version: int = 1) -> None:
    url = f"https://news.example/{score}.html"
    definition = Definition(name, "zh", sentence, int(1000 * score), url, "<i>来源</i>", "2015-03-02", score, 1.0)
    backend.store.definitions.save([definition], ())
    backend.store.relations.save((), (), version, 1.0)


@pytest.fixture
def client(actions: MemorySite) -> FlaskClient:
    return site_app(FakeSearch([ARTICLE]), actions).test_client()


def test_the_first_occurrence_is_a_link_with_a_card(client: FlaskClient) -> None:
    page = page_at(client, "/article/doc1?lang=en")
    [link] = page.select("a.defined")
    assert link["href"] == f"/term/{quote('页岩气')}" and link.parent["id"] == "paragraph-1"
    card = page.find(id=link["data-card"])
    assert card.has_attr("hidden") and card.select_one(".sentence").text == "页岩气是<b>天然气</b>。"
    assert [one["href"] for one in card.select("a")] == ["https://news.example/0.9.html", link["href"]]
    assert "<i>来源</i>" in card.text and card.time["datetime"] == "2015-03-02" and card.select("b, i") == []
    assert [one.text for one in page.select("#text p")] == ["四川盆地页岩气产量上升。", "第二段说水平井和页岩气。"]
    assert page.select_one('script[src*="definition_cards.js"]')


def test_a_match_of_the_query_stays_marked_inside_a_term(client: FlaskClient) -> None:
    page = page_at(client, "/article/doc1?q=岩气产")
    assert page.select_one("a.defined").decode_contents() == "页<mark>岩气</mark>"
    assert page.select_one("#paragraph-1").decode_contents().endswith("</a><mark>产</mark>量上升。")
    assert page.select_one("#text p").text == "四川盆地页岩气产量上升。"


def test_a_new_definition_is_shown_and_a_withdrawn_term_is_not(client: FlaskClient, actions: MemorySite) -> None:
    save_definition(actions, "水平井", "水平井是井。", 0.95, version=2)
    assert [link.text for link in page_at(client, "/article/doc1").select("a.defined")] == ["页岩气", "水平井"]
    actions.review.decide(["页岩气"], TermStatus.REJECTED, "operator")
    assert [link.text for link in page_at(client, "/article/doc1").select("a.defined")] == ["水平井"]


PUBLIC_PAGES = ("/article/doc1", "/term/水平井", "/terms/print", "/api/v1/terms/水平井", "/search?q=水平井")


def test_readers_see_an_uncertain_definition_only_after_a_reviewer_chose_it(
    client: FlaskClient, actions: MemorySite
) -> None:
    sentence = "水平井是井身水平的井。"

    def places() -> list[str]:
        places = [url for url in PUBLIC_PAGES if sentence in client.get(url).get_data(as_text=True)]
        return places + ["export"] * (sentence in actions.review.export_concepts("tbx").decode())

    save_definition(actions, "水平井", sentence, MIN_PUBLIC_SCORE - 0.01, version=2)
    assert places() == []
    actions.review.choose_definition("水平井", sentence, "operator", None)
    assert places() == [*PUBLIC_PAGES, "export"]


def test_the_choice_of_a_reviewer_decides(client: FlaskClient, actions: MemorySite) -> None:
    actions.review.write_definition("水平井", "井身水平的井。", "operator", None)
    page = page_at(client, "/article/doc1?lang=en")
    assert [link.text for link in page.select("a.defined")] == ["页岩气", "水平井"]
    card = page.select_one("#definition-2")
    assert card.select_one(".sentence").text == "井身水平的井。" and [a["href"] for a in card.select("a")] == [
        f"/term/{quote('水平井')}"
    ]
    actions.review.choose_definition("页岩气", "", "operator", None)
    assert [link.text for link in page_at(client, "/article/doc1").select("a.defined")] == ["水平井"]


def test_the_switch_is_remembered(client: FlaskClient) -> None:
    assert page_at(client, "/article/doc1?q=四川").select_one("#definitions-switch button")["value"] == "off"
    off = page_at(client, "/article/doc1?q=四川&definitions=off")
    assert off.select("a.defined, .definition-card, script[src*='definition_cards.js']") == []
    fields = {field["name"]: field["value"] for field in off.select("#definitions-switch input")}
    assert fields == {"q": "四川"} and off.select_one("#definitions-switch button")["value"] == "on"
    assert page_at(client, "/article/doc1").select("a.defined") == []
    assert page_at(client, "/article/doc1?definitions=on").select("a.defined")
    assert page_at(client, "/article/doc1?definitions=x").select("a.defined")


def test_without_definitions_there_is_no_switch() -> None:
    page = page_at(site_app(FakeSearch([ARTICLE])).test_client(), "/article/doc1")
    assert page.select("#definitions-switch, a.defined, script[src*='definition_cards.js']") == []


def test_a_term_that_is_an_abbreviation_is_no_ordinary_word() -> None:
    glossary = Glossary(tuple(GlossaryTerm(text) for text in ("IT", "WHO", "ACT", "US")))
    text = "It is IT, and it will act for us. Who can? The WHO."
    assert [text[one.start : one.end] for one in glossary.iter_occurrences(text, SEGMENTER)] == ["IT", "WHO"]


# -- The notes on the source of a definition whose page is gone.


URL = "http://a.test/1"


@pytest.fixture
def held() -> MemorySite:
    held = MemorySite([term("页岩气", status=TermStatus.ACCEPTED)], published=Lexicon(1, (LexiconEntry("页岩气"),)))
    definition = Definition("页岩气", "zh", "页岩气是气。", 1, URL, "甲", "2014-05-01", 0.9, 1.0)
    held.store.definitions.save([definition], ())
    return held


@pytest.fixture
def held_client(held: MemorySite) -> FlaskClient:
    return site_app(FakeSearch([]), held).test_client()


def source_of(held_client: FlaskClient) -> Tag:
    return BeautifulSoup(held_client.get("/term/页岩气?lang=en").text, "lxml").select_one("#definition .source")


def test_a_gone_page_is_linked_to_its_saved_copy(held_client: FlaskClient, held: MemorySite) -> None:
    held.review.choose_definition("页岩气", "页岩气是气。", "ann", None)
    held.store.definitions.save_sources({"页岩气": DefinitionSource.GONE})
    assert source_of(held_client).select_one(".source-state").text == "This page no longer exists."
    held.originals.kept[document_id(URL)] = OriginalDocument(URL, 1_700_000_000.0, "html", "")
    [link] = source_of(held_client).select(".source-state a")
    assert link["href"] == f"/article/{document_id(URL)}/original" and link.text == "Saved copy of 2023-11-14"
