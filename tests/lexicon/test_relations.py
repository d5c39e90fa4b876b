"""Relations between terms from head words, phrases and glosses."""

import pytest

from domain.term_relation import RelationKind, TermRelation
from lexicon.relations import RelationFinder
from lexicon.sentences import match_sentences
from text.glosses import Gloss
from text.mixed_terms import MixedTermMatcher

TERMS = (
    *("页岩气", "煤层气", "天然气", "非常规天然气", "致密砂岩气藏", "气藏", "大气层", "气层", "发动机", "动机"),
    *("甲烷", "乙烷", "烃类", "烷烃", "烯烃", "非金属", "金属", "勘探与开发", "开发"),
    *("shale gas", "gas", "methane", "ethane", "hydrocarbon", "periodic table", "lead"),
    *("degree of freedom", "freedom", "degree", "oil and gas"),
)
FINDER = RelationFinder(TERMS)
MATCHER = MixedTermMatcher(FINDER.term_by_key)


def find(text: str) -> list[TermRelation]:
    return [relation for sentence in match_sentences(text, MATCHER) for relation in FINDER.find(sentence)]


def broader_terms(sentence: str) -> set[tuple[str, str, str]]:
    return {
        (relation.pattern, relation.term, relation.other)
        for relation in find(sentence)
        if relation.kind is RelationKind.BROADER
    }


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("甲烷、乙烷等烃类的用途很广。", {("and_other", "甲烷", "烃类"), ("and_other", "乙烷", "烃类")}),
        ("烃类（如甲烷、乙烷等）很多。", {("such_as", "甲烷", "烃类"), ("such_as", "乙烷", "烃类")}),
        ("甲烷是一种简单的烃类。", {("kind_of", "甲烷", "烃类")}),
        ("甲烷属于烃类。", {("kind_of", "甲烷", "烃类")}),
        ("烃类分为烷烃和烯烃。", {("divided", "烷烃", "烃类"), ("divided", "烯烃", "烃类")}),
        (
            "Hydrocarbons, such as methane and ethane, burn.",
            {("such_as", "methane", "hydrocarbon"), ("such_as", "ethane", "hydrocarbon")},
        ),
        (
            "They burn methane, ethane and other hydrocarbons.",
            {("and_other", "methane", "hydrocarbon"), ("and_other", "ethane", "hydrocarbon")},
        ),
        ("Methane is a kind of light hydrocarbon.", {("kind_of", "methane", "hydrocarbon")}),
        ("Methane is a colourless gas that burns.", {("kind_of", "methane", "gas")}),
    ],
)
def test_phrases_name_a_broader_term(sentence: str, expected: set[tuple[str, str, str]]) -> None:
    assert broader_terms(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "甲烷、乙烷等烃类开发项目。",  # the list explains 项目
        "甲烷在乙烷、烃类之后。",
        "Other metals in the periodic table such as lead are heavy.",
        "Methane is the source of gas.",
        "Degrees of freedom such as methane count.",
        "They work with Natural Gases such as methane.",
        "甲烷并不是一种烃类。",
        "按照烃类分为甲烷和乙烷。",
        "开发烃类，包括甲烷、乙烷在内的气体。",
        "甲烷是开发的一种烃类。",
        "甲烷是一种烃类气体。",
        "甲烷\ue000属于烃类。",
    ],
)
def test_other_sentences_name_none(sentence: str) -> None:
    assert broader_terms(sentence) == set()


def test_head_words_are_whole_words() -> None:
    assert broader_terms("致密砂岩气藏") == {("head", "致密砂岩气藏", "气藏")}
    assert broader_terms("Shale gas and degrees of freedom.") == {("head", "shale gas", "gas")}
    assert broader_terms("A degree of freedom.") == {("head", "degree of freedom", "degree")}
    for term in ("大气层", "发动机", "非金属", "勘探与开发", "oil and gas"):
        assert broader_terms(term) == set()


def test_glosses_name_equivalents_in_both_directions() -> None:
    relations = [*find("川南页岩气（shale gas）增产。"), *find("the shale gas（页岩气） boom")]
    equivalents = [relation for relation in relations if relation.kind is RelationKind.EQUIVALENT]
    assert [(relation.term, relation.other) for relation in equivalents] == [
        ("页岩气", "shale gas"),
        ("shale gas", "页岩气"),
    ]
    assert equivalents[0].evidence == "川南页岩气（shale gas）增产。"


@pytest.mark.parametrize(
    ("glosses", "sentences", "expected"),
    [
        ([], ["页岩气（shale gas）增产。"], set()),  # once: it can be a remark
        ([], ["页岩气（shale gas）增产。", "开发页岩气 (Shale Gas)。"], {"shale gas", "Shale Gas"}),
        ([], ["页岩气（shale gas，简称SG）增产。", "开发页岩气（shale gas，SG）。"], {"shale gas", "SG"}),
        ([], ["页岩气（shale gas）。", "页岩气（shale gas）。", "页岩气（methane）。"], {"shale gas"}),
        (
            [],
            ["methane（用于发电）", "methane（用于供暖）", "methane（甲烷）", "methane（甲烷）"],
            set(),
        ),  # no majority
        ([Gloss("川南页岩气", "shale gas", False)], ["页岩气（shale gas）增产。"], {"shale gas"}),  # of an earlier run
        ([Gloss("川南页岩气", "shale gas", False)], ["页岩气增产。"], set()),  # no new evidence
    ],
)
def test_brackets_translate_if_articles_agree(glosses: list[Gloss], sentences: list[str], expected: set[str]) -> None:
    finder = RelationFinder(TERMS, frozenset(range(len(sentences))), [(-1, gloss) for gloss in glosses])
    for url_id, sentence in enumerate(sentences):
        finder.read(url_id, match_sentences(sentence, MATCHER))
    assert {item.relation.other for item in finder.best if item.relation.kind is RelationKind.EQUIVALENT} == expected
