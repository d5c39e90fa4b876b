"""Scripts: Chinese characters wherever Unicode keeps them, and letters of one script that pass for those of another."""

import re

import pytest

from extractor.fields.byline import HAN_NAME_PATTERN
from extractor.fields.language import detect_language
from text.pinyin import has_han
from text.scripts import HAN, UNSPACED_SCRIPTS, char_script, mixed_script_reason

EXTENSION_I = "\U0002ebf0"  # assigned in Unicode 15.1, which Python 3.11 does not know


@pytest.mark.parametrize(
    ("char", "script"),
    [
        ("岩", "Han"),
        ("〇", "Han"),
        ("々", "Han"),
        ("㐂", "Han"),
        ("𬭼", "Han"),
        ("\U00030000", "Han"),
        (EXTENSION_I, "Han"),
        ("豈", "Han"),
        ("a", "Latin"),
        ("é", "Latin"),
        ("а", "Cyrillic"),
        ("β", "Greek"),
        ("エ", "Katakana"),
        ("ー", ""),
        ("한", "Hangul"),
        ("3", ""),
        ("-", ""),
        ("。", ""),
        ("😀", ""),
    ],
    ids=ascii,
)
def test_the_script_of_a_character(char: str, script: str) -> None:
    assert char_script(char) == script
    assert bool(re.fullmatch(f"[{HAN}]", char)) == (script == "Han")
    assert script not in ("Han", "Katakana", "Hangul") or re.fullmatch(f"[{UNSPACED_SCRIPTS}]", char)


@pytest.mark.parametrize(
    "text",
    [
        "β-内酰胺", "α粒子", "T细胞", "Wi-Fi", "pH值", "Москва", "Ελλάδα", "TNFα", "IκBα", "NF-κB", "PPARγ", "μm级",
        "Σ-Δ调制器", "Ω定理", "エネルギー管理", "한국어AI", "LED照明", "naïve", "3D打印", "𬭼合金", "100%",
    ],
    ids=ascii,
)  # fmt: skip
def test_letters_that_may_stand_together(text: str) -> None:
    assert mixed_script_reason(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Рetroleum", "the Cyrillic letter Р (U+0420) among Latin ones"),
        ("petrоleum", "the Cyrillic letter о (U+043E) among Latin ones"),
        ("Т细胞", "the Cyrillic letter Т (U+0422) among Han ones"),
        ("Mосква", "the Cyrillic letter о (U+043E) among Latin ones"),
        ("ՍԱ标准", "the Armenian letter Ս (U+054D) among Han ones"),
        ("petrοleum", "the Greek letter ο (U+03BF), which looks like the Latin o"),
        ("pΗ值", "the Greek letter Η (U+0397), which looks like the Latin H"),
        ("Τ细胞", "the Greek letter Τ (U+03A4), which looks like the Latin T"),
        ("pαyment", "the Greek letter α (U+03B1), which looks like the Latin a"),
    ],
    ids=ascii,
)
def test_letters_in_disguise(text: str, why: str) -> None:
    assert mixed_script_reason(text) == why


def test_rare_characters_count_wherever_chinese_ones_do() -> None:
    assert detect_language("𬭼𬭊𬬻𫟷𫓧" * 8, "") == "zh"
    assert has_han("𬭼") and not has_han("Fl")
    assert re.fullmatch(HAN_NAME_PATTERN, "冯𬭼")
