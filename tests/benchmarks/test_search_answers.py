"""The figures of answers: what counts as correct, and near misses."""

import pytest

from benchmarks.search_answers import Case, Question, holds_answer, measure_cases
from search_ui.query.semantic.answer_extraction import QuoteEvidence, SourceQuote

EVIDENCE = QuoteEvidence(*[0.5] * 8)


def quote(text: str, confidence: float) -> SourceQuote:
    return SourceQuote("doc", text, 0, len(text), 1, confidence, EVIDENCE)


def case(answers: list[str], shown: SourceQuote | None, near: SourceQuote | None = None) -> Case:
    certainty = shown.confidence if shown else 0.0
    return Case(Question("q", "?", answers, "doc", "", 0), shown, certainty, bool(answers), near, True, 0.001)


@pytest.mark.parametrize(
    ("text", "is_correct"),
    [("总投资８６ 亿元。", True), ("总投资68亿元。", False), (f"{'长' * 200}86亿元", False)],
)
def test_an_answer_is_compared_without_width_and_blanks(text: str, is_correct: bool) -> None:
    assert holds_answer(text, ["86亿元"]) == is_correct
    assert not holds_answer(text, [])


def test_near_misses_count_as_wrong() -> None:
    right, wrong = quote("总投资86亿元。", 0.9), quote("总投资不多。", 0.8)
    cases = [
        case(["86"], right, near=quote("投资很多。", 0.95)),
        case(["86"], wrong, near=None),
        case(["86"], None, near=None),
        case([], quote("总投资86亿元。", 0.1)),
    ]
    figures = measure_cases(cases)
    assert figures["precision_at_half"] == pytest.approx(1 / 2)  # two of three answers are as certain as the median
    assert figures["near_precision_at_half"] == pytest.approx(1 / 3)
    assert figures["shown"] == pytest.approx(2 / 3) and figures["precision"] == pytest.approx(1 / 2)
    assert figures["shown_to_others"] == 0 and figures["near_shown"] == pytest.approx(1 / 3)
    assert figures["auroc"] == pytest.approx(2.0 / 3) and figures["verbatim"] == 1
