"""Flags articles whose body may be incomplete. The article is stored; the flag is recorded as Reason.INCOMPLETE_BODY.

sentences   sentences outside the body are many times its size, and it contains a small share of the readable text
links       links outside the body are larger than it, and the page does not declare an article
nothing     the page shows no text: the body comes from JSON-LD or meta tags
"""

from domain.article import PageType
from domain.coded_message import CodedMessage
from domain.outcome import Outcome, Reason
from extractor.body_methods.base import Body
from extractor.page.layout import MAX_TEXT_LINK_SHARE
from extractor.page.parsed_page import ParsedPage, with_complete_layout
from extractor.page_types.body_coverage import MIN_SENTENCE_SIZE, BodyCoverage, measure_coverage
from extractor.page_types.classifier import ClassifiedPage
from extractor.page_types.list_page import is_declared_article, position_score

# A body is suspect if it contains less than this share of the readable text ...
MAX_SUSPECT_COVERAGE = 0.2
# ... and the sentences outside it have at least this size (in Chinese characters) and this ratio to its size.
MIN_MISSED_SIZE = 60.0
MIN_MISSED_TO_BODY_RATIO = 3.0
# It is also suspect if the links outside it have at least this ratio to its size, and this size.
MIN_LINK_TO_BODY_RATIO = 1.0
MIN_LINK_SIZE = 150.0
ROUNDING_MARGIN = 0.01  # of a sum of sizes
MIN_VISIBLE_SIZE = 30.0  # a page with less readable text shows no text


def find_suspicion(classified_page: ClassifiedPage, body: Body) -> Outcome | None:
    """Return the warning for an incomplete body of a page that is not a thread, or None."""
    if classified_page.coverage is None and not may_miss_text(classified_page.page, body):
        return None
    is_confirmed = classified_page.page_type is PageType.ARTICLE and is_confirmed_article(classified_page, body)
    if classified_page.coverage is None and not may_be_suspect(classified_page.page, body, is_confirmed):
        return None
    coverage = classified_page.coverage or measure_coverage(with_complete_layout(classified_page.page), body)
    reason = suspicion_reason(coverage, body, is_confirmed)
    return Outcome(Reason.INCOMPLETE_BODY, reason) if reason else None


def may_miss_text(page: ParsedPage, body: Body) -> bool:
    """Return whether the page has more text outside the body, links included, than a complete body may leave out."""
    if not body.line_indices:
        return True
    lines = page.layout.lines
    body_size = sum(lines[index].size for index in body.line_indices)
    return sum(line.size for line in lines) - body_size > max(
        MIN_MISSED_SIZE, min(MIN_MISSED_TO_BODY_RATIO, MIN_LINK_TO_BODY_RATIO) * body_size
    )


def may_be_suspect(page: ParsedPage, body: Body, is_confirmed: bool) -> bool:
    """Return whether `suspicion_reason` can find a reason; decides most pages without the complete layout.

    Compares its thresholds with upper limits: all sentences and links outside the body, skipped elements included.
    """
    if not body.line_indices:
        return True
    body_texts = set(body.text.split("\n"))
    body_size, missed_link_size = 0.0, page.layout.skipped.link_size
    # At most half of a sentence is links.
    missed_sentence_size = 2 * (page.layout.skipped.size - page.layout.skipped.link_size)
    for line in page.layout.lines:
        if line.text in body_texts:
            body_size += line.size
            continue
        missed_link_size += line.link_size
        if line.size >= MIN_SENTENCE_SIZE and line.link_share <= MAX_TEXT_LINK_SHARE and line.has_punctuation:
            missed_sentence_size += line.size
    if missed_sentence_size + ROUNDING_MARGIN >= max(MIN_MISSED_SIZE, MIN_MISSED_TO_BODY_RATIO * body_size):
        return True
    return not is_confirmed and missed_link_size + ROUNDING_MARGIN >= max(
        MIN_LINK_SIZE, MIN_LINK_TO_BODY_RATIO * body_size
    )


def is_confirmed_article(classified_page: ClassifiedPage, body: Body) -> bool:
    """Return whether the page declares an article or has its title above the text."""
    return is_declared_article(classified_page.page) or position_score(classified_page.page, body) > 0


def suspicion_reason(coverage: BodyCoverage, body: Body, is_confirmed: bool) -> str:
    """Return why a body may be incomplete, with the measured sizes, or an empty string."""
    share, size = f"{coverage.covered_share:.0%}", f"{coverage.body_size:.0f}"
    coverage_text = f"{share} of the readable text is in the body of {size} characters"
    if not body.line_indices and coverage.readable_size < MIN_VISIBLE_SIZE:
        return CodedMessage("no visible text: the body comes from JSON-LD or meta tags", "no_visible_text")
    if (
        coverage.missed_sentence_size >= max(MIN_MISSED_SIZE, MIN_MISSED_TO_BODY_RATIO * coverage.body_size)
        and coverage.covered_share < MAX_SUSPECT_COVERAGE
    ):
        missed_size = f"{coverage.missed_sentence_size:.0f}"
        message = f"{coverage_text}; {missed_size} of sentences outside the body"
        return CodedMessage(message, "missed_sentences", share=share, size=size, missed=missed_size)
    if not is_confirmed and coverage.missed_link_size >= max(
        MIN_LINK_SIZE, MIN_LINK_TO_BODY_RATIO * coverage.body_size
    ):
        missed_size = f"{coverage.missed_link_size:.0f}"
        message = f"{coverage_text}; {missed_size} of link text outside the body"
        return CodedMessage(message, "missed_links", share=share, size=size, missed=missed_size)
    return ""
