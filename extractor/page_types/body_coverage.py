"""Measures how much readable text a body leaves out, which separates incomplete bodies from complete ones.

Readable text is every line outside links, navigation, notices and the site template. `readable_size` counts all such
lines. `missed_sentence_size` counts only sentences outside the body that do not follow a headline within
MAX_TEASER_DISTANCE_LINES lines: those are teasers of other articles.

An article whose body may be incomplete is flagged, for one of these reasons. It is stored; the flag is recorded as
Reason.INCOMPLETE_BODY.

    nothing     the page shows no text: the body comes from JSON-LD or meta tags
    sentences   sentences outside the body are many times its size, and it contains a small share of the readable text
    links       links outside the body are larger than it, and the page does not declare an article
"""

from dataclasses import dataclass
from typing import NamedTuple

from domain.article import PageType
from domain.message import Message
from domain.outcome import Outcome, Reason
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import Hint
from extractor.page_types.list_page import position_score
from extractor.page_types.page_signals import PageSignals, is_headline_line

MIN_SENTENCE_SIZE = 15.0  # shorter lines are not counted as sentences; in Chinese characters
# Text in elements with these hints may be missing in a body, unless the element covers at least half of the page.
DISCARDED_HINTS = (Hint.HIDDEN, Hint.ASIDE, Hint.FOOTER_OR_COMMENTS)
DISCARDED_TAGS = ("footer", "nav", "aside")
MAX_TEASER_DISTANCE_LINES = 3  # maximum distance of a teaser from its headline
# A body is suspect if it contains less than this share of the readable text ...
MAX_SUSPECT_COVERAGE = 0.2
# ... and the sentences outside it have at least this size (in Chinese characters) and this ratio to its size.
MIN_MISSED_SIZE = 60.0
MIN_MISSED_TO_BODY_RATIO = 3.0
# It is also suspect if the links outside it have at least this ratio to its size, and this size.
MIN_LINK_TO_BODY_RATIO = 1.0
MIN_LINK_SIZE = 150.0
ROUNDING_MARGIN = 0.01  # of a sum of sizes
MIN_READABLE_SIZE = 30.0  # a page with less readable text shows no text


@dataclass(frozen=True, slots=True)
class BodyCoverage:
    """Sizes of a body and of the text around it, in Chinese characters.

    Attributes:
        body_size: Size of the body.
        readable_size: Size of all readable text.
        covered_size: Size of the readable text inside the body.
        missed_sentence_size: Size of sentences outside the body.
        missed_link_size: Size of links outside the body and outside boilerplate.
    """

    body_size: float
    readable_size: float
    covered_size: float
    missed_sentence_size: float
    missed_link_size: float = 0.0

    @property
    def covered_share(self) -> float:
        """Share of the readable text that is in the body, 0 to 1; 1 if there is no readable text."""
        return self.covered_size / self.readable_size if self.readable_size else 1.0


def measure_coverage(signals: PageSignals, body: Body | None) -> BodyCoverage:
    """Measure the coverage of a body. The page must have a complete layout."""
    lines = signals.page.layout.lines
    body_texts = set(body.text.split("\n")) if body is not None else set()
    body_size = sum(line.size for line in lines if line.text in body_texts)
    readable_size = covered_size = missed_sentence_size = missed_link_size = 0.0
    last_headline = -MAX_TEASER_DISTANCE_LINES - 1
    is_discarded = [False] * len(signals.page.layout.lines)  # hidden, comments, or boilerplate
    for span in signals.page.layout.spans:
        if span.tag_info.tag in DISCARDED_TAGS or (
            span.tag_info.hint in DISCARDED_HINTS and 2 * (span.end_line - span.start_line) < len(is_discarded)
        ):
            is_discarded[span.start_line : span.end_line] = [True] * (span.end_line - span.start_line)
    counted_texts: set[str] = set()
    is_boilerplate = signals.boilerplate_mask
    for index, (line, is_text) in enumerate(zip(lines, signals.readable_mask, strict=True)):
        if is_headline_line(line):
            last_headline = index
        if line.text in counted_texts:
            continue
        if not is_text:
            if not is_boilerplate[index] and line.text not in body_texts:
                missed_link_size += min(line.link_size, line.size)
            continue
        counted_texts.add(line.text)
        readable_size += line.size
        if line.text in body_texts:
            covered_size += line.size
        elif (
            line.size >= MIN_SENTENCE_SIZE
            and line.has_punctuation
            and not is_discarded[index]
            and index - last_headline > MAX_TEASER_DISTANCE_LINES
        ):
            missed_sentence_size += line.size
    return BodyCoverage(body_size, readable_size, covered_size, missed_sentence_size, missed_link_size)


def find_suspicion(
    signals: PageSignals, body: Body, page_type: PageType | None, coverage: BodyCoverage | None
) -> Outcome | None:
    """Return the warning for an incomplete body of a page that is not a thread, or None.

    `coverage` is that of the body, None if it was not measured.
    """
    if coverage is None and not may_miss_text(signals.page, body):
        return None
    is_confirmed = page_type is PageType.ARTICLE and is_confirmed_article(signals, body)
    if coverage is None and not may_be_suspect(signals.page, body, is_confirmed):
        return None
    suspect = SuspectBody(body, coverage or measure_coverage(signals.complete, body), is_confirmed)
    reason = next((reason for rule in SUSPICION_RULES if (reason := rule(suspect))), "")
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
        if line.size >= MIN_SENTENCE_SIZE and not line.is_link and line.has_punctuation:
            missed_sentence_size += line.size
    if missed_sentence_size + ROUNDING_MARGIN >= max(MIN_MISSED_SIZE, MIN_MISSED_TO_BODY_RATIO * body_size):
        return True
    return not is_confirmed and missed_link_size + ROUNDING_MARGIN >= max(
        MIN_LINK_SIZE, MIN_LINK_TO_BODY_RATIO * body_size
    )


def is_confirmed_article(signals: PageSignals, body: Body) -> bool:
    """Return whether the page declares an article or has its title above the text."""
    return signals.declared_article_score > 0 or position_score(signals, body) > 0


class SuspectBody(NamedTuple):
    """A body with its coverage. `is_confirmed`: the page is an article by its declaration or its title."""

    body: Body
    coverage: BodyCoverage
    is_confirmed: bool

    def describe(self, template: str, missed_size: float) -> Message:
        """Return a message about share and size of the body and the size of what it misses."""
        share, size = f"{self.coverage.covered_share:.0%}", f"{self.coverage.body_size:.0f}"
        return Message(template, share=share, size=size, missed=f"{missed_size:.0f}")


def no_text_suspicion(suspect: SuspectBody) -> str:
    """Return the reason for a page that shows no text, or an empty string."""
    if suspect.body.line_indices or suspect.coverage.readable_size >= MIN_READABLE_SIZE:
        return ""
    return Message("No visible text: the body comes from JSON-LD or meta tags")


def sentences_suspicion(suspect: SuspectBody) -> str:
    """Return the reason for many sentences outside the body, or an empty string."""
    coverage = suspect.coverage
    min_size = max(MIN_MISSED_SIZE, MIN_MISSED_TO_BODY_RATIO * coverage.body_size)
    if coverage.missed_sentence_size < min_size or coverage.covered_share >= MAX_SUSPECT_COVERAGE:
        return ""
    return suspect.describe(
        "{share} of the readable text is in the body of {size} characters; {missed} of sentences outside the body",
        coverage.missed_sentence_size,
    )


def links_suspicion(suspect: SuspectBody) -> str:
    """Return the reason for many links outside the body of a page that may be no article, or an empty string."""
    coverage = suspect.coverage
    min_size = max(MIN_LINK_SIZE, MIN_LINK_TO_BODY_RATIO * coverage.body_size)
    if suspect.is_confirmed or coverage.missed_link_size < min_size:
        return ""
    return suspect.describe(
        "{share} of the readable text is in the body of {size} characters; {missed} of link text outside the body",
        coverage.missed_link_size,
    )


SUSPICION_RULES = (no_text_suspicion, sentences_suspicion, links_suspicion)  # the first reason decides
