"""Equivalents from pages in two languages."""

import pytest

from lexicon.parallel_pages import Equivalent, find_equivalents, language_free_url


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://www.a.test/en/news/1.html", "http://www.a.test/news/1.html"),
        ("https://a.test/en-us/x", "https://a.test/zh_CN/x"),
        ("https://en.a.test/x/", "https://www.a.test/x/"),
        ("https://a.test/x_en.html", "https://a.test/x.html"),
        ("https://a.test/x?id=1&lang=en", "https://a.test/x?lang=zh&id=1"),
    ],
)
def test_parallel_pages_have_the_same_url_without_language(url: str, other: str) -> None:
    assert language_free_url(url) == language_free_url(other)


@pytest.mark.parametrize("other", ["https://a.test/news/2", "https://b.test/news/1", "https://a.test/energy/news/1"])
def test_other_pages_have_another_one(other: str) -> None:
    assert language_free_url("https://a.test/en/news/1") != language_free_url(other)


def test_terms_of_the_same_pairs_are_equivalent() -> None:
    pairs = [(frozenset({"页岩气", "井"}), frozenset({"shale gas", "well"}))] * 3
    pairs += [(frozenset({"井"}), frozenset({"well", "bit"}))] * 3 + [(frozenset({"泵"}), frozenset({"pump"}))] * 2
    assert sorted(find_equivalents(pairs)) == [Equivalent("井", "well", 1.0), Equivalent("页岩气", "shale gas", 1.0)]


def test_a_term_with_two_equal_matches_has_no_equivalent() -> None:
    assert find_equivalents([(frozenset({"页岩气"}), frozenset({"shale gas", "gas"}))] * 3) == []
