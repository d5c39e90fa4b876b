"""Which candidates are accepted without a reviewer, and the check on known items."""

from dataclasses import replace

import pytest

from domain.concept import Concept
from domain.term import AUTOMATIC_ACTOR, Lexicon, LexiconEntry, Term, TermStatus
from lexicon.automatic_acceptance import MIN_DOCUMENTS, MIN_PROBABILITY, select_confident_terms
from lexicon.concepts.formats import format_concept_file
from lexicon.known_item_check import KnownItemComparison, compare_versions
from lexicon.publishing import add_terms
from lexicon.word_lists import FORMATTERS, parse_word_list
from text.segment import base_segmenter

SHALE_GAS = Term("页岩气", 0.9, 20, 10)


def selected(*candidates: Term) -> list[str]:
    return [term.text for term in select_confident_terms(candidates, base_segmenter())]


def test_a_confident_candidate_is_selected() -> None:
    assert selected(SHALE_GAS, Term("shale gas", MIN_PROBABILITY["en"], 9, MIN_DOCUMENTS)) == ["页岩气", "shale gas"]


@pytest.mark.parametrize(
    "candidate",
    [
        replace(SHALE_GAS, score=MIN_PROBABILITY["zh"] - 0.01),
        replace(SHALE_GAS, document_count=MIN_DOCUMENTS - 1),
        replace(SHALE_GAS, status=TermStatus.DEFERRED),
        replace(SHALE_GAS, version=1),  # a reviewer has taken it back
        Term("赵国栋", 0.9, 20, 10),
        Term("Feng Zhiyuan", 0.9, 20, 10),
        Term("立方米", 0.9, 20, 10),
        Term("billion cubic metres", 0.9, 20, 10),
        Term("实验结果显示", 0.9, 20, 10),
        Term("王进喜", 0.9, 20, 10),
        Term("million years ago", 0.9, 20, 10),
        Term("屏幕截图所示", 0.9, 20, 10),
        Term("创建供应商", 0.9, 20, 10),
        Term("依法承担民事责任", 0.9, 20, 10),
        Term("第八十七条", 0.9, 20, 10),
        Term("Controls for Configuration", 0.9, 20, 10),
        Term("rapid growth", 0.9, 12, 10),
        Term("verbose", 0.9, 20, 10),
        Term("Rows", 0.9, 20, 10),
        Term("OK", 0.9, 20, 10),
        Term("Christopher Wren", 0.9, 20, 10),
        Term("21st century", 0.9, 20, 10),
        Term("three standards", 0.9, 20, 10),
        Term("environmental conditions", 0.9, 20, 10),
    ],
)
def test_other_candidates_wait_for_a_reviewer(candidate: Term) -> None:
    assert selected(candidate) == []


def test_a_fragment_of_a_longer_candidate_is_not_selected() -> None:
    deep, network = Term("deep neural network", 0.9, 20, 10), Term("neural network", 0.9, 24, 10)
    assert selected(Term("粒子群", 0.9, 10, 9), Term("粒子群优化", 0.9, 9, 9)) == ["粒子群优化"]
    assert selected(deep, network) == [deep.text]
    assert selected(deep, replace(network, frequency=80)) == [deep.text, network.text]


def test_words_that_resemble_phrases_are_selected() -> None:
    terms = [
        Term(text, 0.9, 20, 10)
        for text in ("添加剂", "未成年子女", "第四纪", "TCP/IP", "PowerShell", "提高采收率", "thomas process")
    ]
    assert selected(*terms) == [term.text for term in terms]


def test_a_fragment_of_an_accepted_term_is_not_selected() -> None:
    accepted = Term("粒子群优化", 0.9, 9, 9, status=TermStatus.ACCEPTED)
    assert select_confident_terms([Term("粒子群", 0.9, 10, 9)], base_segmenter(), [accepted]) == []


def test_terms_are_added_to_the_latest_version() -> None:
    latest = Lexicon(3, (LexiconEntry("钻井", 7, "v", ("drilling",)),))
    assert add_terms(latest, [Term("钻井", 0.9, 9, 9)]) is latest
    added = add_terms(latest, [SHALE_GAS])
    assert added.version == 4 and [entry.text for entry in added.entries] == ["钻井", "页岩气"]
    assert added.entries[0] == latest.entries[0]


def test_exports_name_the_origin() -> None:
    entries = [LexiconEntry("页岩气", is_automatic=True), LexiconEntry("钻井")]
    csv = FORMATTERS["csv"](entries)
    assert csv.splitlines()[1:] == ["页岩气,,n,,,,automatic", "钻井,,n,,,,"]
    assert parse_word_list(csv, "csv") == [LexiconEntry("页岩气"), LexiconEntry("钻井")]
    concepts = [Concept(f"c{n}", (), is_automatic=entry.is_automatic) for n, entry in enumerate(entries)]
    assert format_concept_file(concepts, "skos").count(b'skos:editorialNote "accepted automatically"@en') == 1
    assert Term("a", 1, 1, 1, status=TermStatus.ACCEPTED, decided_by=AUTOMATIC_ACTOR).is_automatic


def test_words_that_hide_articles_are_harmful() -> None:
    titles = [f"井{n}号 压裂" for n in range(20)]
    bodies = [f"井{n}号压裂完成" for n in range(20)]

    def split(text: str) -> list[str]:
        return [text[start : start + 2] for start in range(len(text) - 1)]

    def hide(text: str) -> list[str]:
        return ["压裂"] if "压裂" in text else []

    harm = compare_versions(titles, bodies, split, hide)
    assert harm.lost_count > 10 and harm.is_harmful
    assert not compare_versions(titles, bodies, hide, split).is_harmful
    assert compare_versions(titles, bodies, split, split) == KnownItemComparison(20, 0, 0)
    assert compare_versions([], [], split, split) == KnownItemComparison(0, 0, 0)
    assert compare_versions(titles, [""] * 20, split, split) == KnownItemComparison(20, 0, 0)


def test_a_small_difference_may_be_chance() -> None:
    assert not KnownItemComparison(200, 4, 1).is_harmful
    assert KnownItemComparison(200, 5, 0).is_harmful
    assert not KnownItemComparison(200, 0, 0).is_harmful
