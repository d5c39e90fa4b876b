"""Terms with Latin letters in any text: the rule of a match, and the work that many terms cost."""

import random
import re

import pytest

from lexicon.sentences import Sentence
from text import mixed_terms
from text.folding import INSIDE_WORD_RE, fold_term, word_key
from text.mixed_terms import MixedTermMatcher, TermFinder, term_keys
from text.scripts import HAN, is_unspaced

ALPHABET = "aab1页岩气- -.  _ \nβカ한éА\u0301İ\u3000/"


def spans_by_rule(text: str, terms: list[str]) -> set[tuple[int, int]]:
    """The spans of all terms in a folded text, each term by a regular expression of its own."""
    spans = set()
    for pattern in [re.compile(term_pattern(key)) for key in {word_key(term) for term in terms} - {""}]:
        matches = filter(None, (pattern.match(text, start) for start in range(len(text))))
        spans |= {match.span() for match in matches if not {match.start(), match.end()} & inside_words(text)}
    return spans


def inside_words(text: str) -> set[int]:
    return {match.start() for match in INSIDE_WORD_RE.finditer(text)}


def term_pattern(key: str) -> str:
    parts: list[str] = []
    for left, char in zip(" " + key, key, strict=False):
        may_have_blank = bool(parts) and any(map(is_unspaced, left + char))
        parts.append(" {1,3}" if char == " " else " {0,3}" * may_have_blank + re.escape(char))
    return "".join(parts)


def leftmost_longest(spans: set[tuple[int, int]]) -> list[tuple[int, int]]:
    chosen: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not chosen or start >= chosen[-1][1]:
            chosen.append((start, end))
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_the_spans_are_those_of_one_expression_for_each_term(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        terms = ["".join(rng.choices(ALPHABET, k=rng.randint(0, 6))) for _ in range(8)]
        pieces = [rng.choice([*terms, "".join(rng.choices(ALPHABET, k=3)), "  "]) for _ in range(10)]
        text = fold_term("".join(pieces))
        expected = spans_by_rule(text, terms)
        matcher = MixedTermMatcher(terms)
        assert [match[:2] for match in matcher.iter_matches(text, overlapping=True)] == sorted(expected)
        assert [match[:2] for match in matcher.iter_matches(text)] == leftmost_longest(expected)
        some_terms = MixedTermMatcher(terms[:4])
        sentence = Sentence(text, list(matcher.iter_matches(text, overlapping=True)))
        assert sentence.find_terms(set(map(word_key, terms[:4]))) == list(some_terms.iter_matches(text))


def test_terms_with_a_common_beginning_are_matched() -> None:
    matcher = MixedTermMatcher(["a" * n for n in range(2, 65)] + ["b" + " c" * n for n in range(1, 31)])
    assert list(matcher.iter_spans("a" * 64 + "," + "a" * 65 + " b c c")) == [(0, 64), (131, 136)]
    assert list(MixedTermMatcher([]).iter_spans("abc")) == []


def test_many_terms_cost_no_more_compilation_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regular expressions of 12,000 terms with one first letter took half a minute to compile."""
    pattern_lengths = []
    compile_pattern = re.compile

    def count(pattern: str) -> re.Pattern[str]:
        pattern_lengths.append(len(pattern))
        return compile_pattern(pattern)

    monkeypatch.setattr(mixed_terms.re, "compile", count)
    MixedTermMatcher(["c0 drill"])
    matcher = MixedTermMatcher([f"c{n} drill" for n in range(12_000)])
    assert len(pattern_lengths) == 2 and pattern_lengths[0] == pattern_lengths[1]
    assert list(matcher.iter_spans("a c11999 drill")) == [(2, 14)]


@pytest.mark.parametrize("seed", range(3))
def test_the_terms_of_a_text_are_those_of_one_expression_for_each_term(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        terms = ["".join(rng.choices(ALPHABET + "页岩气井", k=rng.randint(0, 6))) for _ in range(20)]
        text = "".join(rng.choice([*terms, *ALPHABET]) for _ in range(30))
        folded = re.sub(f"(?<=[{HAN}])[ \n]{{1,3}}(?=[{HAN}])", "", fold_term(text))
        by_key = {key: term for term in terms for key in term_keys(term)}
        expected = {by_key[key] for key in by_key if spans_by_rule(folded, [key])}
        assert sorted(TermFinder(terms).find_terms(text)) == sorted(expected)


def test_terms_inside_and_across_others_are_found_once() -> None:
    finder = TermFinder(["页岩气", "气井", "页岩气井", "油", "shale gas", "gas well", "ＰＤＣ钻头"])
    assert finder.find_terms("頁岩氣井。页岩\n气 井，石油。Shale gas well") == [
        "页岩气", "页岩气井", "气井", "油", "shale gas", "gas well",
    ]  # fmt: skip
    assert finder.find_terms("页岩、气，井。shale gasoline pdc 钻\n\n\n\n头") == []
    assert TermFinder([]).find_terms("页岩气") == []
