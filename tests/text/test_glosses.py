"""What texts say to be the same in Chinese and English."""

import pytest

from text.folding import word_key
from text.glosses import MAX_GLOSSES, Gloss, iter_glosses, rank_translations


def said(term: str, *texts: str, known: tuple[str, ...] = ()) -> list[str]:
    found = [(number, gloss) for number, text in enumerate(texts) for gloss in iter_glosses(text)]
    return rank_translations(term, found, frozenset(map(word_key, known)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("四川页岩气 (shale gas) 开发", [Gloss("四川页岩气", "shale gas", False)]),
        ("页岩气（Shale Gas，简称SG）", [Gloss("页岩气", "Shale Gas", False), Gloss("页岩气", "SG", False)]),
        ("The shale gas（页岩气）wells", [Gloss("页岩气", "The shale gas", True)]),
        ("见图(a)、页岩气(2016年)、http://a.test (页岩)", []),
        ("The wells (in Sichuan) are deep", []),
        ("页岩气（shale gas，一种天然气）", []),  # a remark
        ("数据挖掘（如 BigTable）、Linux内核（以及一些其它系统软件）、PDC钻头（PDC bit）", []),
        ("开发shale gas（页岩气）", [Gloss("页岩气", "shale gas", True)]),
    ],
)
def test_glosses_in_a_text(text: str, expected: list[Gloss]) -> None:
    assert list(iter_glosses(text)) == expected


def test_the_whole_side_is_offered_for_the_term_that_the_run_ends_with() -> None:
    assert said("页岩气", "开发页岩气（shale gas）", "勘探页岩气（shale gas）") == ["shale gas"]
    assert said("shale gas", "开发页岩气（shale gas）", "勘探页岩气（shale gas）") == ["页岩气"]  # what both end with
    assert said("shale gas", *["开发页岩气（shale gas）"] * 2, known=("页岩气",)) == ["页岩气"]
    assert said("shale gas", *["开发页岩气（shale gas）"] * 2) == []  # nobody says where it begins
    assert said("页岩气", *["of the shale gas（页岩气）"] * 2, known=("shale gas",)) == ["shale gas"]


def test_a_translation_is_offered_if_most_texts_agree() -> None:
    assert said("页岩气", "页岩气（shale gas）") == []
    assert said("页岩气", *["页岩气（shale gas，简称SG）"] * 2, "页岩气（BigTable）") == ["SG", "shale gas"]
    assert said("页岩气", *["页岩气（shale gas）"] * 2, "页岩气（BigTable）", "页岩气（GFS）") == []


def test_a_longer_term_keeps_its_translation_for_itself() -> None:
    assert said("天然气", "液化天然气（LNG）", known=("液化天然气", "天然气")) == []
    assert said("液化天然气", *["液化天然气（LNG）"] * 2, known=("液化天然气", "天然气")) == ["LNG"]


def test_a_text_full_of_brackets_costs_little_and_gives_few() -> None:
    assert len(list(iter_glosses("".join(f"某某词{n}号词（word a{n}）" for n in range(1000))))) <= MAX_GLOSSES
    assert list(iter_glosses("（" * 100_000)) == [] and list(iter_glosses("a " * 200_000)) == []
