"""Body method `two_pass`: WD-F3 and WD-A2 of Wang Du 2019."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from extractor.body_methods.base import Explanation
from extractor.body_methods.element_counts import ElementCounts, count_elements
from extractor.body_methods.explanation import explain_element_counts
from extractor.body_methods.wang_du import WangDuMethod, body_from_element
from extractor.page.parsed_page import Body, ParsedPage
from extractor.settings import ExtractSettings

MAX_SHORT_BLOCK_CHARS = 200  # the second pass of the authors' code adds its terms only to shorter elements [X]


def paper_score1(element_counts: ElementCounts) -> float:
    """WD-F3, first pass: ln V * DS * ln(T - L + 1)."""
    return math.log(element_counts.leaf_length_deviation) * fallback_score(element_counts)


def paper_score2(element_counts: ElementCounts) -> float:
    """WD-F3, second pass: score1 * log10(P + 2) * (S + 1)."""
    return (
        paper_score1(element_counts)
        * math.log10(element_counts.paragraph_count + 2)
        * (element_counts.strong_count + 1)
    )


def code_score1(element_counts: ElementCounts) -> float:
    """Score1 of the authors' code [X]: it includes the paragraph term of the second pass."""
    return paper_score1(element_counts) * math.log10(element_counts.paragraph_count + 2)


def code_score2(element_counts: ElementCounts) -> float:
    """Score2 of the authors' code [X]: images, punctuation and strong count only in short elements."""
    if element_counts.text_chars >= MAX_SHORT_BLOCK_CHARS:
        return code_score1(element_counts)
    return (
        code_score1(element_counts)
        * (element_counts.image_count + 1)
        * element_counts.punctuation_count
        * (element_counts.strong_count + 1)
    )


def fallback_score(element_counts: ElementCounts) -> float:
    """DS * ln(T - L + 1): used if all leaves have the same length, so that every ln V is 0 [C]."""
    return element_counts.density_sum * math.log(max(0, element_counts.text_chars - element_counts.link_chars) + 1)


SCORE_FORMULAS = {"paper": (paper_score1, paper_score2), "code": (code_score1, code_score2)}


def body_candidates(elements: Sequence[ElementCounts]) -> list[ElementCounts]:
    """Return all elements except `html`, `body` and `a`."""
    return [block for block in elements if block.element.tag not in ("html", "body", "a")]


def rank_elements(elements: Sequence[ElementCounts], formula: str, second_pass: bool) -> list[ElementCounts]:
    """Return the elements, best first, by score1 or (if `second_pass`) score2; ties keep document order.

    If all scores are 0, `fallback_score` decides.
    """
    score = SCORE_FORMULAS[formula][second_pass]
    scores = {id(block): score(block) for block in elements}
    if not any(scores.values()):
        scores = {id(block): fallback_score(block) for block in elements}
    return sorted(elements, key=lambda element_counts: -scores[id(element_counts)])


def descend_to_text(element_counts: ElementCounts) -> ElementCounts:
    """Descend while one child contains all punctuation of the element and is not `p` or `strong` [D]."""
    while element_counts.punctuation_count:
        only_child = next(
            (child for child in element_counts.children if child.punctuation_count == element_counts.punctuation_count),
            None,
        )
        if only_child is None or only_child.element.tag in ("p", "strong"):
            break
        element_counts = only_child
    return element_counts


@dataclass(frozen=True)
class TwoPass(WangDuMethod):
    """WD-A2: take the best element of the first pass if it satisfies the body rules, else rank by the second score.

    Raises:
        KeyError: `settings.score_terms` is not a key of SCORE_FORMULAS.
    """

    settings: ExtractSettings

    def __post_init__(self) -> None:
        SCORE_FORMULAS[self.settings.score_terms]

    def choose_body(self, page: ParsedPage) -> Body | None:
        """Return the body by WD-A2, or None if no element satisfies both rules."""
        block = self.choose_element(count_elements(page.root))
        return body_from_element(page, block) if block is not None else None

    def explain(self, page: ParsedPage) -> Explanation:
        """Explain the choice: candidates ranked by the pass that decided, and whether they satisfy the rules."""
        candidates, formula = body_candidates(count_elements(page.root)), self.settings.score_terms
        second_pass = not any(
            self.satisfies_body_rules(block) for block in rank_elements(candidates, formula, second_pass=False)[:1]
        )
        return explain_element_counts(
            page,
            rank_elements(candidates, formula, second_pass),
            SCORE_FORMULAS[formula][second_pass],
            self.choose_body(page),
            lambda element_counts: {"rules": "kept" if self.satisfies_body_rules(element_counts) else "broken"},
        )

    def choose_element(self, elements: Sequence[ElementCounts]) -> ElementCounts | None:
        """Choose an element by WD-A2; `elements` are in document order, the root first."""
        candidates = body_candidates(elements)
        first_choice = rank_elements(candidates, self.settings.score_terms, second_pass=False)[:1]
        second_choices = rank_elements(candidates, self.settings.score_terms, second_pass=True)[
            : self.settings.candidates
        ]
        chosen_element = next(
            (block for block in [*first_choice, *second_choices] if self.satisfies_body_rules(block)), None
        )
        return (
            descend_to_text(chosen_element) if chosen_element is not None and self.settings.tighten else chosen_element
        )

    def satisfies_body_rules(self, element_counts: ElementCounts) -> bool:
        """Return True if an element has more than `alpha` punctuation marks and fewer than `beta` link characters."""
        return element_counts.punctuation_count > self.settings.alpha and element_counts.link_chars < self.settings.beta
