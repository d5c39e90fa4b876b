"""Renamings of known terms in sentences."""

import pytest

from domain.term_relation import RelationKind, TermRelation
from lexicon.relations import RelationFinder
from lexicon.sentences import match_sentences
from text.mixed_terms import MixedTermMatcher

FINDER = RelationFinder(["新冠肺炎", "新冠病毒感染", "猴痘", "页岩气", "monkeypox", "mpox", "planet", "Pluto", "gas"])
MATCHER = MixedTermMatcher(FINDER.term_by_key)
FORMER, RENAMED = RelationKind.FORMER, RelationKind.RENAMED


def find(text: str) -> list[TermRelation]:
    found = [relation for sentence in match_sentences(text, MATCHER) for relation in FINDER.find(sentence)]
    return [relation for relation in found if relation.pattern == "renaming"]


@pytest.mark.parametrize(
    ("sentence", "kind", "term", "other"),
    [
        ("国家卫健委将新冠肺炎正式更名为“新冠病毒感染”。", FORMER, "新冠病毒感染", "新冠肺炎"),
        ("自2023年起，新冠肺炎更名为新冠病毒感染，纳入乙类管理。", FORMER, "新冠病毒感染", "新冠肺炎"),
        ("新冠病毒感染（原名新型肺炎）纳入乙类管理。", FORMER, "新冠病毒感染", "新型肺炎"),
        ("新冠病毒感染（原新冠肺炎）纳入乙类管理。", FORMER, "新冠病毒感染", "新冠肺炎"),
        ("猴痘已于2024年改称“M痘”。", RENAMED, "猴痘", "M痘"),
        ("猴痘，现称M痘，由病毒引起。", RENAMED, "猴痘", "M痘"),
        ("Mpox (formerly known as monkeypox) is a disease.", FORMER, "mpox", "monkeypox"),
        ("Mpox, formerly monkeypox, is a disease.", FORMER, "mpox", "monkeypox"),
        ("The WHO changed the name of monkeypox to mpox in 2022.", FORMER, "mpox", "monkeypox"),
        ("Monkeypox was officially renamed mpox in 2022.", FORMER, "mpox", "monkeypox"),
        ("Monkeypox, now known as M pox, is a disease.", RENAMED, "monkeypox", "M pox"),
    ],
)
def test_renamings_are_found(sentence: str, kind: RelationKind, term: str, other: str) -> None:
    [found] = find(sentence)
    assert (found.kind, found.term, found.other, found.evidence) == (kind, term, other, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "中国页岩气公司更名为某公司。",
        "公司更名为页岩气集团。",
        "Pluto, formerly a planet, is a dwarf planet.",
        "He renamed the file to backup.",
        "猴痘现在很少见，原因不明。",
        "Gas is now known to be toxic.",
        "Rock gas (formerly known as shale gas) is burned.",
        "The Science of Pluto was renamed The Science of Planets.",
        "The planet was renamed Pluto.",
        "The government renamed the planet Pluto.",
        "新冠肺炎更名为新冠肺炎。",
        "页岩气（原文为shale gas）产量增长。",
    ],
)
def test_other_sentences_state_no_renaming(sentence: str) -> None:
    assert find(sentence) == []
