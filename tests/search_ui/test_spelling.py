"""Spelling corrections of a query."""

from typing import Any

import pytest

from search_ui.query.query_parser import parse_query
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_query import Params, QueryVariant
from search_ui.spelling.corrections import (
    ExternalCorrections,
    QueryTiers,
    correct_query,
    find_corrections,
    parse_spellcheck,
    phonetic_candidates,
    spellcheck_params,
)
from search_ui.spelling.did_you_mean import find_suggestions
from search_ui.spelling.vocabulary import Vocabulary
from tests.search_ui_fakes import BASE

NOTHING_FOUND = ExternalCorrections()
KNOWN = Vocabulary(
    terms={"页岩气": 120, "水力压裂": 40, "油田": 80, "由天": 1, "烃源岩": 30}, title_words={"开发": 300, "特征": 200}
)


def corrected(typed: str, external: ExternalCorrections = NOTHING_FOUND) -> QueryTiers:
    query = parse_query(typed)
    return correct_query(query, find_corrections(query, KNOWN, external))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("叶岩气", ["页岩气"]),
        ("叶岩气 开发", ["页岩气 开发"]),
        ("页岩气开发", []),
        ("烃原岩特怔", ["烃源岩特征"]),
        ("yeyanqi", ["页岩气"]),
        ("ye yan qi", ["页岩气"]),
        ("YeYanQi kaifa", ["页岩气开发"]),
        ("yeyanqishuiliyalie", ["页岩气水力压裂"]),
        ("油添", ["油田", "由天"]),
        ('"叶岩气" -叶岩气', ['"页岩气" -叶岩气']),
        ("title:叶岩气 site:叶岩气.cn", ["title:页岩气 site:叶岩气.cn"]),
        ("qi", []),
        ("shale gas", []),
        ("", []),
    ],
)
def test_what_may_be_meant(typed: str, meant: list[str]) -> None:
    assert list(map(str, corrected(typed)[0])) == meant


def test_several_mistakes_are_corrected_together_first_then_one_alone() -> None:
    together, alone = corrected("supersonc 叶岩气", ExternalCorrections({"supersonc": "supersonic"}))
    assert list(map(str, together)) == ["supersonic 页岩气"]
    assert list(map(str, alone)) == ["supersonic 叶岩气", "supersonc 页岩气"]


def test_what_can_be_read_as_pinyin_is_not_edited() -> None:
    together, _ = corrected("kaifa supersonc", ExternalCorrections({"kaifa": "kafka", "supersonc": "supersonic"}))
    assert list(map(str, together)) == ["开发 supersonic"]


def test_latin_words_are_changed_as_whole_words() -> None:
    together, alone = corrected("flwo flwos", ExternalCorrections({"flwo": "flow"}))
    assert list(map(str, together)) == ["flow flwos"] and alone == []


def test_a_long_query_is_looked_up_in_part() -> None:
    assert corrected("叶" * 160) == [[], []]


def test_solr_is_asked_about_the_text_and_says_what_it_does_not_know() -> None:
    assert ("spellcheck.q", "supersonc flow") in spellcheck_params(parse_query("supersonc -x flow"))
    answer = {
        "spellcheck": {
            "suggestions": [
                "supersonc", {"origFreq": 0, "suggestion": [{"word": "supersonic", "freq": 267}]},
                "flow", {"origFreq": 12, "suggestion": [{"word": "flown", "freq": 1}]},
            ]
        }
    }  # fmt: skip
    assert parse_spellcheck(answer) == {"supersonc": "supersonic"}
    assert parse_spellcheck({}) == {}


@pytest.mark.parametrize(
    ("typed", "word", "documents", "is_offered"),
    [
        ("supersonc", "supersonic", 1, True),  # long, and one letter away
        ("spjyl", "spell", 1, False),  # one odd document
        ("spjyl", "spell", 400, False),  # two letters of five are another word, however frequent
        ("flwo", "flow", 1, False),
        ("flwo", "flow", 3, True),
        ("kubenrets", "kubernetes", 2, False),
        ("kubenrets", "kubernetes", 3, True),
        ("xeroxworkcentre", "xerox workcentre", 1, True),  # two words of the index
    ],
)
def test_latin_words_are_offered_that_people_know(typed: str, word: str, documents: int, is_offered: bool) -> None:
    of = {"origFreq": 0, "suggestion": [{"word": word, "freq": documents}]}
    assert parse_spellcheck({"spellcheck": {"suggestions": [typed, of]}}) == ({typed: word} if is_offered else {})


@pytest.mark.parametrize(
    ("typed", "sounding", "meant"),
    [
        ("meicengqi", {"meicengqi": ["煤层气"]}, ["煤层气"]),  # no word that is known, a run in titles
        ("mei ceng qi", {"mei ceng qi": ["煤层气"]}, ["煤层气"]),
        ("没层气", {"没层气": ["煤层气"]}, ["煤层气"]),
        ("yeyanqi", {"yeyanqi": ["夜宴起"]}, ["页岩气", "夜宴起"]),  # what is known goes first
        ("slyl", {}, ["水力压裂"]),  # first letters
        ("sly", {}, []),
    ],
)
def test_what_sounds_like_it_in_titles(typed: str, sounding: dict[str, list[str]], meant: list[str]) -> None:
    assert list(map(str, corrected(typed, ExternalCorrections(homophones=sounding))[0])) == meant


def test_letters_and_unknown_words_are_looked_for_in_titles() -> None:
    heard = phonetic_candidates(parse_query("ye yan qi 波罗蜜 开发 go"), ["波罗蜜", "开发", "go"], KNOWN)
    assert heard == ["ye yan qi", "波罗蜜"]


class Counts:
    """Counts `typed` documents with what was typed, and three with each correction."""

    def __init__(self, typed: int) -> None:
        self.typed = typed

    def select(self, params: Params) -> dict[str, Any]:
        return {"facets": {"typed0": {"count": self.typed}, "o0": {"total": 3, "whole": {"count": 3}}}}


@pytest.mark.parametrize("typed", ["页岩汽", "dcoker", "kubenetes", "postgersql", "pyhton"])
def test_many_results_do_not_hide_a_correction_of_what_no_document_contains(typed: str) -> None:
    words = {"docker": 9, "kubernetes": 9, "postgresql": 9, "python": 9}
    known = Vocabulary(terms={"页岩气": 120}, title_words=words)

    def labels(documents: int) -> list[str]:
        request = SearchRequest(raw_query=typed, text=typed)
        offers = find_suggestions(
            Counts(documents), request, known, lambda asked: {QueryVariant.DOMAIN: (asked.text,)}, BASE, 40, {}
        )
        return [offer.label for offer in offers]

    assert labels(0)[0] in {"页岩气", *words} and labels(1) == []
