"""Locates an article among the lines of its page: title line, first line of text and end."""

from collections.abc import Sequence
from dataclasses import dataclass

from extractor.page.layout import CODE_TAG, Line
from extractor.page.parsed_page import ParsedPage

MIN_TEXT_LINE_SIZE = 40.0  # larger lines are body text; in Chinese characters
MAX_FIRST_LINE_OFFSET = 30  # search range for the first line of text, from the start of the body element
MAX_TITLE_LOOKBACK_LINES = 60  # search range for the title, above the first line of text


@dataclass(frozen=True, slots=True)
class BylineZone:
    """Line indices of an article: title (-1: not found), first line of text, and end (exclusive).

    `ancestor_spans` are the indices of the body's span and of all spans around it: they contain the article, no matter
    what their class names say. `is_preformatted` is True if most of the text is preformatted, as in letters and old
    news; then preformatted lines are not treated as examples.
    """

    title_line: int
    first_text_line: int
    end_line: int
    ancestor_spans: frozenset[int]
    is_preformatted: bool = False


def find_byline_zone(page: ParsedPage, body_span: int) -> BylineZone:
    """Return the byline zone of the article whose body is the span `body_span`."""
    lines, span = page.layout.lines, page.layout.spans[body_span]
    first_lines = range(span.start_line, min(span.end_line, span.start_line + MAX_FIRST_LINE_OFFSET))
    first = next(
        (line_index for line_index in first_lines if lines[line_index].size > MIN_TEXT_LINE_SIZE), span.start_line
    )
    ancestor_spans = frozenset(page.layout.iter_enclosing(body_span))
    return BylineZone(
        find_title_line_above(page, first),
        first,
        span.end_line,
        ancestor_spans,
        is_mostly_code(lines[span.start_line : span.end_line]),
    )


def is_mostly_code(lines: Sequence[Line]) -> bool:
    """Return whether more than half of the text of the lines is preformatted."""
    return 2 * sum(line.size for line in lines if line.tag == CODE_TAG) > sum(line.size for line in lines)


def find_title_line_above(page: ParsedPage, first: int) -> int:
    """Return the index of the nearest line above the text that is an h1 or part of <title>; -1 if not found."""
    lines = page.layout.lines
    for line_index in range(min(first + 3, len(lines)) - 1, max(-1, first - MAX_TITLE_LOOKBACK_LINES), -1):
        line = lines[line_index]
        if line.tag == "h1" or (line.size >= 4 and line.text in page.title and not line.is_link):
            return line_index
    return -1
