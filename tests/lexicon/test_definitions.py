"""Which sentence defines a term."""

import pytest

from domain.term import MIN_PUBLIC_SCORE
from lexicon.definitions import choose_definition, score_definition
from lexicon.sentences import iter_sentences, match_sentences
from text.folding import word_key
from text.mixed_terms import MixedTermMatcher


@pytest.mark.parametrize(
    ("term", "definition", "other"),
    [
        ("页岩气", "页岩气是指赋存于富有机质泥页岩中的非常规天然气。", "今年第一口页岩气井在川南投产，日产量创新高。"),
        ("危险废物", "本法所称危险废物，是指列入国家危险废物名录的固体废物。", "转移危险废物的，应当填写转移联单。"),
        (
            "重大事故",
            "本条例第三条规定的“重大事故”，是指造成十人以上死亡的事故。",
            "重大事故由国务院组织事故调查组调查。",
        ),
        ("重大事故", "前款中的重大事故，指死亡十人以上的事故。", "重大事故由国务院组织调查。"),
        ("重大事故", "本条所指重大事故是指死亡十人以上的事故。", "重大事故由国务院组织调查。"),
        ("vessel", "As used in this Act, the term “vessel” means any craft used on water.", "The vessel left in May."),
        ("驱油", "驱油是指把油层中的原油推向油井的过程。", "驱油（flooding）是其中的一种利用方式。"),
        ("聚集索引", "聚集索引是一种按键值存储数据行的索引。", "非聚集索引是一种与数据行分开存储的索引结构。"),
        (
            "isotope",
            "An isotope is a form of an element with a certain mass number.",
            "This isotope was found in 1934.",
        ),
        (
            "polyphony",
            "Polyphony (multiple simultaneous tones, which enables chords) came with electronic organs.",
            "Gregorian chant played a role in the development of polyphony (Smith 1990).",
        ),
        ("erosion", "Erosion refers to the removal of soil by wind and water.", "They studied soil erosion in Spain."),
    ],
)
def test_definition_is_chosen_among_sentences(term: str, definition: str, other: str) -> None:
    choice = choose_definition(term, [(other, ""), (definition, "")])
    assert choice is not None and choice[0] == 1


def test_a_term_in_brackets_is_defined_before_them() -> None:
    gloss = "Brightness depends on size and on the share of light that it reflects (its albedo)."
    mention = "Brightness depends on size and on the albedo of the ice that it has on its surface."
    assert score_definition("albedo", gloss) > 2 * score_definition("albedo", mention)


def test_term_without_a_definition_has_none() -> None:
    sentences = ["什么是页岩气？", "页岩气产量连续三年增长。", "", "天然气是指一种气体。"]
    assert choose_definition("页岩气", [(sentence, "") for sentence in sentences]) is None
    assert score_definition("gas", "Gasoline is a fuel for engines.") == 0


@pytest.mark.parametrize(
    ("term", "sentence"),
    [
        ("开发者", "开发者指出，新版本修复了三个漏洞。"),
        ("开发者", "开发者表示：新版本会在下月发布。"),
        ("开发者", "开发者表示新版本会在下月发布。"),
        ("虚拟机大小调整", "虚拟机大小调整指南"),
        ("管理员", "管理员指派三种角色给每一个用户。"),
        ("developer", "The developer said that the new version is a fix for three faults."),
        ("developers", "Developers say it is the best version."),
    ],
)
def test_reported_speech_is_no_definition(term: str, sentence: str) -> None:
    assert choose_definition(term, [(sentence, "")]) is None


@pytest.mark.parametrize(
    ("term", "sentence"),
    [
        ("分段控件", "分段控件是一种允许用户选择少量选项的界面元素。"),
        (
            "semiconductor",
            "A semiconductor is a solid whose electrical conductivity can be controlled over a wide range.",
        ),
    ],
)
def test_the_first_sentence_under_the_term_as_a_heading_is_nearly_certain(term: str, sentence: str) -> None:
    scores = [
        score_definition(term, sentence, text) for text in ("This is new.", f"On {term} in general", term.upper())
    ]
    assert scores[0] == scores[1] < MIN_PUBLIC_SCORE <= scores[2]
    scan = match_sentences(f"Preface.\n{sentence}\n{term}\n{sentence}", MixedTermMatcher([word_key(term)]), title=term)
    assert [text.previous_text for text in scan] == [term, "Preface.", sentence, term]


def test_term_with_syntax_and_long_text_is_harmless() -> None:
    assert score_definition("C++ (lang", "C++ (lang is a language that is used for programs.") > 0
    assert score_definition("页岩气", "页岩气" * 1000) == 0


def test_sentences_end_at_lines_and_full_stops() -> None:
    text = "页岩气是气。它很多！\nIn the U.S. it is used. See p. 3 (map). End"
    assert list(iter_sentences(text)) == [
        "页岩气是气。",
        "它很多！",
        "In the U.S. it is used.",
        "See p. 3 (map).",
        "End",
    ]
