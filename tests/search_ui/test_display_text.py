"""Normalizing, cleaning, linking and highlighting of text."""

import pytest

from search_ui.query.display_text import (
    Segment,
    clean_text,
    has_word,
    mark_occurrences,
    normalize_query,
    safe_url,
    split_highlights,
    truncate_segments,
)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        pytest.param("  页岩气  开发 ", "页岩气 开发", id="blanks"),
        pytest.param("页\u200b岩\u200c气", "页岩气", id="zero-width"),
        pytest.param("１２３ＰＤＣ", "123PDC", id="full-width"),
        pytest.param("a\x00b\u2028c", "a b c", id="controls"),
        pytest.param("*", "", id="star-is-no-query"),
        pytest.param("?!。，\u3000", "", id="punctuation"),
        pytest.param("\ufffe", "", id="noncharacter"),
        pytest.param("😀", "😀", id="emoji"),
        pytest.param("\U00020bb7野家", "\U00020bb7野家", id="beyond-the-BMP"),
        pytest.param("\u202e页岩气", "页岩气", id="direction-override"),
    ],
)
def test_searchable(typed: str, expected: str) -> None:
    assert normalize_query(typed, 50) == expected


def test_searchable_is_cut_even_where_normal_form_grows() -> None:
    assert len(normalize_query("\ufdfa" * 50, 50).split()) <= 50


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        pytest.param("页岩气勘探", "页岩气", id="chinese-characters"),
        pytest.param("what similarity laws must be obeyed", "what similarity laws", id="latin-words"),
        pytest.param("well PDC钻头", "well PDC钻", id="mixed"),
        pytest.param("a" * 100, "a" * 72, id="an-endless-word-is-several"),
        pytest.param("12号 井", "12号 井", id="blanks-are-none"),
        pytest.param("  \t " * 9, "", id="nothing"),
    ],
)
def test_a_latin_word_counts_as_much_as_a_chinese_character(typed: str, expected: str) -> None:
    assert normalize_query(typed, 3) == expected


def test_has_word_knows_chinese_latin_and_marks() -> None:
    assert has_word("页") and has_word("a") and has_word("7")
    assert not has_word("，") and not has_word(" ") and not has_word("")


def test_shown_drops_what_reorders_or_controls() -> None:
    assert clean_text("页\u200b岩\u200b气 \u202egnp.exe\x07\x00!") == "页岩气 gnp.exe !"


@pytest.mark.parametrize(
    ("url", "is_linked"),
    [
        ("https://news.example/a?b=c&d", True),
        ("http://[::1]:80/", True),
        ("HTTP://news.example/", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt://news.example/%0aalert(1)", False),
        ("data:text/html,<script>", False),
        ("//news.example/", False),
        ("http:///path", False),
        ("http://[bad/", False),
        ("ht\ntp://news.example/", False),
        (" https://news.example/", False),
        ("", False),
    ],
)
def test_link_to(url: str, is_linked: bool) -> None:
    assert safe_url(url) == (url if is_linked else "")


def test_marked_segments_join_neighbours_and_keep_the_blank_between() -> None:
    assert split_highlights("wells were\u200b \u200b[drilled]\u200b.", "[", "]") == (
        Segment("wells were "),
        Segment("drilled", True),
        Segment("."),
    )
    assert split_highlights("[页岩]\u200b[气]井", "[", "]") == (Segment("页岩气", True), Segment("井"))


def test_marked_segments_survive_stray_marks() -> None:
    assert split_highlights("]a[b", "[", "]") == (Segment("a"), Segment("b", True))


def test_mark_all_takes_the_term_literally_and_ignores_case() -> None:
    assert mark_occurrences("PDC(x) pdc(X)", "pdc(x)") == (
        Segment("PDC(x)", True),
        Segment(" "),
        Segment("pdc(X)", True),
    )
    assert mark_occurrences("text", "") == (Segment("text"),)


def test_shortened_keeps_the_first_match_in_sight() -> None:
    long = (Segment("前" * 300), Segment("页岩气", True), Segment("后" * 300))
    short = truncate_segments(long, 100)
    assert sum(len(segment.text) for segment in short) == 102  # two ellipses
    assert Segment("页岩气", True) in short
    assert short[0].text.startswith("…") and short[-1].text.endswith("…")
    assert truncate_segments(short, 200) == short


def test_shortened_cuts_between_words_where_a_script_has_blanks() -> None:
    long = (Segment("before " * 30), Segment("drilling", True), Segment(" rotary" * 30))
    text = "".join(segment.text for segment in truncate_segments(long, 100))
    assert set(text.split()) <= {"…before", "before", "…", "drilling", "rotary", "rotary…"}
    unbroken = truncate_segments((Segment("x" * 300),), 100)
    assert unbroken == (Segment("x" * 100 + "…"),)
