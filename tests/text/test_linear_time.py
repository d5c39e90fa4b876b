"""No text makes a pattern take more than linear time. `make faults` tries the functions that scan text."""

import re
from collections.abc import Callable

import pytest

from tests.linear_time import attack_texts, find_patterns, is_superlinear, run_pattern, superlinear_patterns

pytestmark = pytest.mark.slow

TEXTS_PER_PATTERN = 24


def test_no_pattern_takes_more_than_linear_time() -> None:
    count, complaints = superlinear_patterns(TEXTS_PER_PATTERN)
    assert complaints == []
    assert count > 600


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*(?:<!--.*?-->\s*)*<(?:html|body)\b", "match"),
        (r"(<!\[CDATA\[.*?\]\]>)", "sub"),
        (r"[\w.+-]+@[\w-]+", "findall"),
        (r"^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$", "match"),
        (r"(?:a|a)*b", "fullmatch"),
    ],
)
def test_patterns_that_begin_again_are_found(pattern: str, method: str) -> None:
    compiled = re.compile(pattern, re.S)
    assert any(is_superlinear(run_pattern(compiled, method), text) for text in attack_texts(compiled, 60))


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?>\s+|<!--.*?-->)*+<html", "match"),
        (r"(?<![\w.+-])[\w.+-]++@[\w-]+", "findall"),
        (r"\d{1,6} days ago", "search"),
    ],
)
def test_linear_patterns_are_accepted(pattern: str, method: str) -> None:
    compiled = re.compile(pattern, re.S)
    assert not any(is_superlinear(run_pattern(compiled, method), text) for text in attack_texts(compiled, 60))


@pytest.mark.parametrize(
    ("scan", "piece", "expected"),
    [
        (lambda text: [text[:at].count("a") for at in range(len(text))], "a", True),
        (lambda text: [text.count("a")] * len(text), "a", False),
    ],
)
def test_a_prefix_that_is_scanned_for_each_element_is_found(
    scan: Callable[[str], object], piece: str, expected: bool
) -> None:
    assert is_superlinear(scan, ("", piece, "")) is expected


def test_patterns_in_variables_containers_and_calls_are_found() -> None:
    names = {name for names, _ in find_patterns().values() for name in names}
    assert "crawler.http.fetch._HTML_START" in names  # a variable
    assert "extractor.documents.rtf.WIDE_TOKEN_RE" in names  # of bytes
    assert any(name.startswith("lexicon.definitions.") for name in names)  # in dictionaries
    assert any(name.startswith("crawler.http.content_type:") for name in names)  # `re.sub` in a function
