"""What texts say to be the same in Chinese and English."""

import pytest

from text.folding import word_key
from text.glosses import MAX_GLOSSES, Gloss, iter_glosses, rank_translations


def said(term: str, *texts: str, known: tuple[str, ...] = ()) -> list[str]:
    found = [gloss for text in texts for gloss in iter_glosses(text)]
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
    ],
)
def test_glosses_in_a_text(text: str, expected: list[Gloss]) -> None:
    assert list(iter_glosses(text)) == expected


def test_the_whole_side_is_offered_for_the_term_that_the_run_ends_with() -> None:
    assert said("页岩气", "开发页岩气（shale gas）", "勘探页岩气（shale gas）") == ["shale gas"]
    assert said("shale gas", "开发页岩气（shale gas）", "勘探页岩气（shale gas）") == ["页岩气"]  # what both end with
    assert said("shale gas", "开发页岩气（shale gas）", known=("页岩气",)) == ["页岩气"]
    assert said("shale gas", "开发页岩气（shale gas）") == []  # nobody says where it begins
    assert said("页岩气", "of the shale gas（页岩气）", known=("shale gas",)) == ["shale gas"]


def test_a_longer_term_keeps_its_translation_for_itself() -> None:
    assert said("天然气", "液化天然气（LNG）", known=("液化天然气", "天然气")) == []
    assert said("液化天然气", "液化天然气（LNG）", known=("液化天然气", "天然气")) == ["LNG"]


def test_a_text_full_of_brackets_costs_little_and_gives_few() -> None:
    assert len(list(iter_glosses("".join(f"某某词{n}号词（word a{n}）" for n in range(1000))))) <= MAX_GLOSSES
    assert list(iter_glosses("（" * 100_000)) == [] and list(iter_glosses("a " * 200_000)) == []
