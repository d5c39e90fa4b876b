"""The terms of a query: the card of a term, related searches, and ways on if there is no result."""

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.term import Definition, Lexicon, LexiconEntry, TermStatus
from domain.term_relation import RelationKind, RelationProposal, TermRelation
from search_ui.pages import public_views
from search_ui.spelling.vocabulary import Vocabulary
from search_ui.vocabulary_cache import VocabularyCache
from tests.builders import operate, page_at
from tests.site_fixture import FakeSearch, MemorySite, document, site_app, term

URL = "https://a.example/1"
GAS = LexiconEntry("液化天然气", synonyms=("LNG",), broader_terms=("天然气",))
SHIP = LexiconEntry("LNG船", broader_terms=("液化天然气",))
LEXICON = Lexicon(1, (GAS, LexiconEntry("天然气"), SHIP, LexiconEntry("储罐"), LexiconEntry("气化站")))
COUNTS = {"液化天然气": 9, "天然气": 20, "LNG船": 3, "储罐": 2, "气化站": 0}
ARTICLES = [document(n, f"液化天然气价格{n}", "LNG接收站的液化天然气价格上升。") for n in range(3)]


@pytest.fixture
def backend() -> MemorySite:
    backend = MemorySite([term(entry.text, status=TermStatus.ACCEPTED) for entry in LEXICON.entries], published=LEXICON)
    sentence = "液化天然气是液态的天然气。"
    backend.store.definitions.save([Definition(GAS.text, "zh", sentence, 1, URL, "甲", "2014", 0.9, 1.0)], ())
    for other in ("储罐", "气化站"):
        relation = TermRelation(RelationKind.RELATED, *sorted([other, GAS.text]), "together", 0.5, "")
        backend.store.relations.add_related([RelationProposal(relation, 1, URL, "题", 0.0)], "")
        operate(backend.store, "relation_accept", kind=relation.kind, term=relation.term, other=relation.other)
    return backend


@pytest.fixture
def search() -> FakeSearch:
    return FakeSearch(ARTICLES)


@pytest.fixture
def reader(backend: MemorySite, search: FakeSearch, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setattr(VocabularyCache, "get_vocabulary", lambda *_: Vocabulary(terms=COUNTS))
    return site_app(search, backend).test_client()


def links(page: BeautifulSoup, place: str) -> list[str]:
    return [link.bdi.text for link in page.select(f"{place} a")]


@pytest.mark.parametrize("query", ["LNG是什么", "什么是LNG？", "what is LNG", "LNG"])
def test_a_question_by_abbreviation_is_answered_by_the_definition_of_the_full_form(
    reader: FlaskClient, query: str
) -> None:
    card = page_at(reader, "/search", q=query).select_one("#term-card")
    assert card.h2.text.strip() == "液化天然气" and card.p.text == "液化天然气是液态的天然气。"


@pytest.mark.parametrize("query", ["LNG价格", "谁运输LNG", '"LNG"是什么'])
def test_other_questions_have_no_card(reader: FlaskClient, query: str) -> None:
    assert page_at(reader, "/search", q=query).select_one("#term-card") is None


@pytest.mark.parametrize(("language", "heading"), [("zh", "相关搜索"), ("en", "Related searches")])
@pytest.mark.parametrize("query", ["LNG", "液化天然气价格"])
def test_related_searches_are_terms_of_the_lexicon_that_occur_in_articles(
    reader: FlaskClient, query: str, language: str, heading: str
) -> None:
    page = page_at(reader, "/search", q=query, lang=language)
    assert page.select_one("#related-searches h2").text == heading
    assert links(page, "#related-searches") == ["天然气", "LNG船", "储罐"]  # no article has 气化站


def test_related_searches_need_no_request_and_stand_on_the_first_page_only(
    reader: FlaskClient, search: FakeSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_counts = []
    for expected in (1, 1, 0):  # the first search also learns the size of the index
        search.asked.clear()
        assert len(page_at(reader, "/search", q="液化天然气价格").select("#related-searches")) == expected
        request_counts.append(len(search.asked))
        if expected and len(request_counts) == 2:
            monkeypatch.setattr(public_views, "find_related_searches", lambda *_: ())
    assert request_counts[1] == request_counts[2]
    monkeypatch.undo()
    assert page_at(reader, "/search", q="液化天然气价格", page="2").select_one("#related-searches") is None


def test_without_a_result_similar_terms_are_named(reader: FlaskClient) -> None:
    page = page_at(reader, "/search", q="液化天燃气", site="none.example")
    assert links(page, "#similar-terms + ul") == ["液化天然气"]


def test_without_a_full_match_each_word_can_be_left_out(reader: FlaskClient) -> None:
    page = page_at(reader, "/search", q="接收站 价格 量子", lang="en")
    offers = {link.text: link for link in page.select("#offers ul:not(.chips) a")}
    assert set(offers) == {"Leave out 量子"}  # without another word there is no result
    assert "3 results" in offers["Leave out 量子"].parent.text
    assert "3 results" in page_at(reader, offers["Leave out 量子"]["href"]).select_one("#total").text
