"""Chinese by its sound."""

import pytest
from pypinyin import lazy_pinyin

from text.pinyin import MAX_PINYIN_LETTERS, MAX_READINGS, pinyin_syllables, split_pinyin


@pytest.mark.parametrize(
    ("letters", "readings"),
    [
        ("yeyanqi", {"ye yan qi"}),
        ("xian", {"xian", "xi an"}),
        ("fangan", {"fang an", "fan gan"}),
        ("zhuangzhi", {"zhuang zhi"}),
        ("hello", set()),
        ("spjyl", set()),
        ("", set()),
    ],
)
def test_letters_are_read_as_pinyin(letters: str, readings: set[str]) -> None:
    assert {" ".join(reading) for reading in split_pinyin(letters)} >= readings
    assert bool(split_pinyin(letters)) is bool(readings)


def test_many_readings_cost_little() -> None:
    assert len(split_pinyin("xian" * (MAX_PINYIN_LETTERS // 4))) == MAX_READINGS
    assert split_pinyin("xian" * 14 + "xq") == ()  # thousands of ways, and none to the end
    assert split_pinyin("a" * (MAX_PINYIN_LETTERS + 1)) == ()


@pytest.mark.parametrize(
    "text", ["重庆银行行长长大了", "绿略吕女", "7月20日，pdc钻头", "〇嗯呣", "一行人，\U00020000\x00😀", "", "鑽頭"]
)
def test_syllables_are_those_of_pypinyin(text: str) -> None:
    simplified = text.replace("鑽頭", "钻头")
    assert pinyin_syllables(text) == tuple(lazy_pinyin(simplified, errors=list))  # type: ignore[arg-type]
