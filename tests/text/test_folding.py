"""Folding: what is made equal, and that nothing moves."""

import pytest

from benchmarks.training.solr_characters import render_solr_mapping
from text.folding import SIMPLIFIED_BY_TRADITIONAL, fold_term, fold_to_key, fold_width, word_key
from text.segment import RjiebaSegmenter


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("石油勘探與鑽頭", "石油勘探与钻头"),
        ("世界石油大會", "世界石油大会"),
        ("ＰＤＣ鑽頭", "PDC钻头"),
        ("乾燥、乾隆", "干燥、干隆"),
        ("，。「」", "，。「」"),
        ("𠀀\ud800", "𠀀\ufffd"),
        ("", ""),
    ],
)
def test_folding_keeps_every_character_in_its_place(text: str, folded: str) -> None:
    assert fold_width(text) == folded
    assert len(fold_term(text)) == len(text)


def test_folding_twice_is_folding_once() -> None:
    every = "".join(SIMPLIFIED_BY_TRADITIONAL)
    assert len(SIMPLIFIED_BY_TRADITIONAL) > 2500
    assert fold_width(fold_width(every)) == fold_width(every) == "".join(SIMPLIFIED_BY_TRADITIONAL.values())


def test_a_text_without_anything_to_fold_is_itself() -> None:
    text = "世界石油大会在北京召开"
    assert fold_width(text) is text


@pytest.mark.parametrize(("one", "other"), [("頁岩氣", "页岩气"), ("PDC 鑽頭", "pdc钻头"), ("ＧＢ標準", "gb标准")])
def test_two_spellings_have_one_key(one: str, other: str) -> None:
    assert word_key(one) == word_key(other)


@pytest.mark.parametrize("term", ["世界石油大会", "世界石油大會"])
def test_a_term_is_found_in_either_script_and_spelt_as_it_stands(term: str) -> None:
    segmenter = RjiebaSegmenter([(term, 0, "n")])
    for text in ("世界石油大会召开", "世界石油大會召開"):
        assert segmenter.cut(text) == [text[:6], text[6:]]
        assert segmenter.tag(text)[0] == (text[:6], "n")


def test_solr_reads_one_pair_a_line() -> None:
    comment, *lines = render_solr_mapping().splitlines()
    assert comment.startswith("#") and len(lines) == len({*lines}) > len(SIMPLIFIED_BY_TRADITIONAL)
    assert {'"鑽" => "钻"', '"’" => "\'"', r'"\u00ad" => ""', r'"\udb40\udd00" => ""'} < {*lines}


@pytest.mark.parametrize("text", ["用 PDC  钻头 钻井", "Shale  Gas", "页 岩 气", "a   中", "頁岩\u3000氣", "PDC钻头"])
def test_a_folded_line_consists_of_keys(text: str) -> None:
    folded, left_out = fold_to_key(text)
    assert folded == word_key(text)
    assert len(folded) == len(text) - len(left_out) and all(text[offset].isspace() for offset in left_out)
