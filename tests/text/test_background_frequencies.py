"""How often words are used, whatever a text is about."""

import math

import pytest

from text.background_frequencies import (
    WORDS_PER_PAGE,
    is_english_word,
    iter_jieba_dictionary,
    page_share,
    page_shares,
    shares_from_counts,
)


def test_a_page_holds_a_word_as_if_words_came_one_by_one() -> None:
    """One word in a thousand: 1 - 1/e of the pages; what is rarer than RAREST is not held."""
    found = shares_from_counts({"a": 1_000_000, "b": 999_999_999, "c": 1}, 1000 * 1_000_000 + 1)
    assert set(found) == {"a", "b"}
    assert found["a"] == pytest.approx(1 - math.exp(-WORDS_PER_PAGE / 1000), rel=1e-6)


@pytest.mark.parametrize(
    ("common", "special"), [("的", "岩石"), ("可以", "服务器"), ("the", "storm"), ("about", "rock")]
)
def test_chinese_and_english_words_are_known(common: str, special: str) -> None:
    assert page_share(common) > 0.5 > page_share(special) > 0.005


@pytest.mark.parametrize("word", ["", "页岩气压裂", "xqzzv", "/", "Ω", "The"])
def test_other_words_are_on_no_page(word: str) -> None:
    assert page_share(word) == 0.0


def test_english_words_are_known_however_rare() -> None:
    assert all(map(is_english_word, ("the", "purgation", "jansen", "aaron")))
    assert not any(map(is_english_word, ("", "teh", "the\n", "The", "岩石")))


def test_few_words_are_held() -> None:
    assert 50_000 < len(page_shares()) < 150_000
    assert all(0 < share <= 1 for share in page_shares().values())


def test_the_dictionary_of_jieba_is_read_one_by_one() -> None:
    assert next(iter_jieba_dictionary()) == ("AT&T", 3, "nz")
