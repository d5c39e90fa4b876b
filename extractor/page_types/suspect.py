"""Does a body look like a fragment: was much text that can be read left out? The article is kept, and said to be one.

sentences   many times the body stand outside of it, and it holds a small share of what can be read
links       more text stands in links beside it, on a page that does not say that it is an article
nothing     the page shows no text at all: the body is what it tells machines
"""

from docstore.model import Outcome, PageType, Reason
from extractor.body_methods.base import Body
from extractor.page.parsed_page import ParsedPage, with_complete_layout
from extractor.page_types.body_coverage import BodyCoverage, measure_coverage
from extractor.page_types.classifier import ClassifiedPage
from extractor.page_types.list_page import is_declared_article, position_score

MAX_SUSPECT_COVERAGE = 0.2  # of the readable text: a body that holds less is in doubt ...
MIN_MISSED_SIZE = 60.0  # ... if so much text was left out, in Chinese characters, as sentences ...
MIN_MISSED_TO_BODY_RATIO = 3.0  # ... and so many times the body
MIN_LINK_TO_BODY_RATIO = 1.0  # of the body: links that leave it in doubt
MIN_LINK_SIZE = 150.0
MIN_VISIBLE_SIZE = 30.0  # a page with less text than this shows none


def find_suspicion(classified_page: ClassifiedPage, body: Body) -> Outcome | None:
    """Why the body of a page that is no thread is in doubt, None where it is not."""
    if classified_page.coverage is None and not may_miss_text(classified_page.page, body):
        return None
    coverage = classified_page.coverage or measure_coverage(with_complete_layout(classified_page.page), body)
    reason = suspicion_reason(
        coverage, body, classified_page.page_type is PageType.ARTICLE and is_confirmed_article(classified_page, body)
    )
    return Outcome(Reason.INCOMPLETE_BODY, reason) if reason else None


def may_miss_text(page: ParsedPage, body: Body) -> bool:
    """More text stands on the page than a body that is not in doubt may leave out; links count as text."""
    if not body.line_indices:
        return True
    lines = page.layout.lines
    body_size = sum(lines[index].size for index in body.line_indices)
    return sum(line.size for line in lines) - body_size > max(
        MIN_MISSED_SIZE, min(MIN_MISSED_TO_BODY_RATIO, MIN_LINK_TO_BODY_RATIO) * body_size
    )


def is_confirmed_article(classified_page: ClassifiedPage, body: Body) -> bool:
    """The page says that it is an article, or its title stands above the text."""
    return is_declared_article(classified_page.page) or position_score(classified_page.page, body) > 0


def suspicion_reason(coverage: BodyCoverage, body: Body, is_confirmed: bool) -> str:
    """What speaks against a body, with the shares; "" for nothing."""
    coverage_text = (
        f"{coverage.covered_share:.0%} of the readable text is in the body of {coverage.body_size:.0f} characters"
    )
    if not body.line_indices and coverage.readable_size < MIN_VISIBLE_SIZE:
        return "the page shows no text: the body is what it tells machines"
    if (
        coverage.missed_sentence_size >= max(MIN_MISSED_SIZE, MIN_MISSED_TO_BODY_RATIO * coverage.body_size)
        and coverage.covered_share < MAX_SUSPECT_COVERAGE
    ):
        return f"{coverage_text}; {coverage.missed_sentence_size:.0f} of sentences were left out"
    if not is_confirmed and coverage.missed_link_size >= max(
        MIN_LINK_SIZE, MIN_LINK_TO_BODY_RATIO * coverage.body_size
    ):
        return f"{coverage_text}; {coverage.missed_link_size:.0f} of links stand beside it"
    return ""
