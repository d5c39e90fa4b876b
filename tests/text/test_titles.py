"""What identifies a title."""

import pytest

from text.titles import MAX_KEY_CHARS, MAX_NUMBER_CHARS, MAX_NUMBERS, extract_numbers, title_key, title_lookup_keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("《油气周报》 第 3 期", "油气周报第3期"),
        ("ＰＤＣ 鑽頭：选型", "pdc钻头 选型"),
        ("What's new in 3.11?", "whats new in 311"),
    ],
)
def test_two_forms_of_a_title_have_one_key(one: str, other: str) -> None:
    assert title_key(one) == title_key(other) != ""


def test_other_titles_have_other_keys() -> None:
    assert len({title_key(title) for title in ("周报 第3期", "周报 第4期", "年报 2023", "年报 2024")}) == 4
    assert title_lookup_keys(" HTML  5？") == ["html5", "=HTML 5?"] and title_lookup_keys("？") == []
    assert title_key("…！") == "" and len(title_key("长" * 999)) == MAX_KEY_CHARS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("油气周报（2024）第三期", "2024 3"),
        ("周报 第03期", "3"),
        ("第二十一届世界石油大会", "21"),
        ("二〇二三年年报", "2023"),
        ("第一百零五回", "105"),
        ("十月价格", "10"),
        ("Python 3.11.02", "3.11.2"),
        ("Redis v7.2 与 neo4j、hp1010、x86_64", "7.2"),
        ("版本2的2024年度", "2 2024"),
        ("第１３３条", "133"),
        ("三中全会", ""),
        ("0", "0"),
    ],
)
def test_numbers(text: str, found: str) -> None:
    assert extract_numbers(text) == tuple(found.split())


def test_a_text_of_numbers_gives_a_bounded_answer() -> None:
    assert len(extract_numbers(" ".join(map(str, range(999))))) == MAX_NUMBERS
    assert len(extract_numbers("7" * 9999)[0]) == MAX_NUMBER_CHARS
