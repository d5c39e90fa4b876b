"""Glued letters and digits, taken apart alike by Python and by Solr."""

import xml.etree.ElementTree as ET

import pytest

from search_ui.query.compound_words import WORD_PART, split_compounds
from solr_conf import CONFIGSET_DIR


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hp1010win7", "hp 1010 win 7"),
        ("xeroxworkcentre7428", "xeroxworkcentre 7428"),
        ("WorkCentre7428", "Work Centre 7428"),
        ("main_mark", "main mark"),
        ("getHTMLParser", "get HTML Parser"),
        ("v1.2.3", "1.2.3"),
        ("café2go", "café 2 go"),
        ("hp1010 win7 hp1010", "hp 1010 win 7"),  # each once
        ("安装hp1010驱动", "hp 1010"),
        ("3.14 PDFs plain k-means don't 页岩气 _ x", ""),
    ],
)
def test_pieces(text: str, found: str) -> None:
    assert split_compounds(text) == tuple(found.split())


def test_solr_takes_apart_by_the_same_rule() -> None:
    filters = ET.parse(CONFIGSET_DIR / "schema.xml").getroot().iter("filter")
    patterns = [
        one.attrib["pattern"] for one in filters if one.attrib["class"].endswith("PatternCaptureGroupFilterFactory")
    ]
    assert patterns == [f"({WORD_PART})"] * 2


def test_a_long_word_takes_no_longer_than_its_length_says() -> None:
    assert (
        len(split_compounds("a1" * 50_000)) == 1
        and split_compounds("A" * 100_000) == ()
        and split_compounds("_" * 100_000) == ()
    )
