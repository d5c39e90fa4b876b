"""Measures how much readable text a body leaves out, which separates incomplete bodies from complete ones.

Readable text is every line outside links, navigation, notices and the site template. `readable_size` counts all such
lines. `missed_sentence_size` counts only sentences outside the body that do not follow a headline within
MAX_TEASER_DISTANCE_LINES lines: those are teasers of other articles.
"""

from dataclasses import dataclass

from extractor.body_methods.base import Body
from extractor.body_methods.inclusive import boilerplate_line_mask, readable_line_mask_outside
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import Hint
from extractor.page_types.list_page import is_headline_line

MIN_SENTENCE_SIZE = 15.0  # shorter lines are not counted as sentences; in Chinese characters
# Text in elements with these hints may be missing in a body, unless the element covers at least half of the page.
DISCARDED_HINTS = (Hint.HIDDEN, Hint.ASIDE, Hint.FOOTER_OR_COMMENTS)
DISCARDED_TAGS = ("footer", "nav", "aside")
MAX_TEASER_DISTANCE_LINES = 3  # maximum distance of a teaser from its headline


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


def measure_coverage(page: ParsedPage, body: Body | None) -> BodyCoverage:
    """Measure the coverage of a body. `page` must have a complete layout."""
    lines = page.layout.lines
    body_texts = set(body.text.split("\n")) if body is not None else set()
    body_size = sum(line.size for line in lines if line.text in body_texts)
    readable_size = covered_size = missed_sentence_size = missed_link_size = 0.0
    last_headline = -MAX_TEASER_DISTANCE_LINES - 1
    is_discarded = discarded_line_mask(page)
    counted_texts: set[str] = set()
    is_boilerplate = boilerplate_line_mask(page.layout)
    for index, (line, is_text) in enumerate(zip(lines, readable_line_mask_outside(page, is_boilerplate), strict=True)):
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


def discarded_line_mask(page: ParsedPage) -> list[bool]:
    """Return for each line whether it is in an element that is hidden, comments, or boilerplate."""
    layout = page.layout
    mask = [False] * len(layout.lines)
    for span in layout.spans:
        if span.tag_info.tag in DISCARDED_TAGS or (
            span.tag_info.hint in DISCARDED_HINTS and 2 * (span.end_line - span.start_line) < len(mask)
        ):
            mask[span.start_line : span.end_line] = [True] * (span.end_line - span.start_line)
    return mask
