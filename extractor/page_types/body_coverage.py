"""How much readable text a body leaves out: what tells a fragment from an article.

Readable are lines of text outside of links, navigation, notices, and of what many pages of the site show. Of these,
`wide` counts all, and `decode_strictly` only sentences that stand on no card beside a headline: teasers of other articles are
left out for good.
"""

from dataclasses import dataclass

from extractor.body_methods.base import Body
from extractor.body_methods.inclusive import boilerplate_line_mask, readable_line_mask_outside
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import Hint
from extractor.page_types.list_page import is_headline_line

MIN_SENTENCE_SIZE = 15.0  # shortest line that is a sentence
DISCARDED_HINTS = (
    Hint.HIDDEN,
    Hint.ASIDE,
    Hint.FOOTER_OR_COMMENTS,
)  # of what is left out for good, unless it is most of the page
DISCARDED_TAGS = ("footer", "nav", "aside")
MAX_TEASER_DISTANCE_LINES = 3  # lines below a headline in which its teaser stands


@dataclass(frozen=True, slots=True)
class BodyCoverage:
    """Sizes, in Chinese characters: of the body, of the readable text, of that in the body, and of sentences and links
    that were left out (links of navigation apart).
    """

    body_size: float
    readable_size: float
    covered_size: float
    missed_sentence_size: float
    missed_link_size: float = 0.0

    @property
    def covered_share(self) -> float:
        """Of the readable text, what stands in the body, 0 to 1."""
        return self.covered_size / self.readable_size if self.readable_size else 1.0


def measure_coverage(page: ParsedPage, body: Body | None) -> BodyCoverage:
    """What a body leaves out; `page` is the page with all lines."""
    lines = page.layout.lines
    body_texts = set(body.text.split("\n")) if body is not None else set()
    body_size = sum(line.size for line in lines if line.text in body_texts)
    readable_size = covered_size = sentences = links = 0.0
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
            links += 0.0 if is_boilerplate[index] or line.text in body_texts else min(line.link_size, line.size)
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
            sentences += line.size
    return BodyCoverage(body_size, readable_size, covered_size, sentences, links)


def discarded_line_mask(page: ParsedPage) -> list[bool]:
    """Which lines stand in elements that are hidden, comments, or called no part of the text."""
    layout = page.layout
    mask = [False] * len(layout.lines)
    for span in layout.spans:
        if span.tag_info.tag in DISCARDED_TAGS or (
            span.tag_info.hint in DISCARDED_HINTS and 2 * (span.end_line - span.start_line) < len(mask)
        ):
            mask[span.start_line : span.end_line] = [True] * (span.end_line - span.start_line)
    return mask
