"""Title substrings that sound like a part of the query."""

import pytest

from search_ui.spelling.title_phonetics import find_homophones, pinyin_readings
from solr_client import solr_fields
from tests.search_ui_fakes import BASE


def heard(typed: str, *titles: str) -> list[str]:
    answer = {"response": {"docs": [{solr_fields.TITLE: title} for title in titles]}}
    return find_homophones(answer, pinyin_readings([typed]), BASE).get(typed, [])


@pytest.mark.parametrize(
    ("typed", "titles", "meant"),
    [
        ("yeyanqi", ["四川盆地页岩气开发"], ["页岩气"]),
        ("叶岩气", ["页岩气", "论页岩气"], ["页岩气"]),
        ("波罗蜜", ["菠萝蜜的种植"], ["菠萝蜜"]),
        ("spjyl", ["水平井压裂"], []),
    ],
)
def test_a_run_of_a_title_that_sounds_so(typed: str, titles: list[str], meant: list[str]) -> None:
    assert heard(typed, *titles) == meant


@pytest.mark.parametrize("title", ["今年只打一口井", "2024年只打一口井"])
def test_what_is_cut_out_of_two_words_is_no_word(title: str) -> None:
    """年只 sounds like 量子 with l and n confused, but is part of two words."""
    assert heard("量子", title) == []
