"""Where an article stands among the lines of its page: below which title, from which line to which."""

from collections.abc import Sequence
from dataclasses import dataclass

from extractor.page.document import Document
from extractor.page.layout import CODE_TAG, LINK_LINE, Line

LONG = 40.0  # size of a line from which on it is text, in Chinese characters
HEAD = 30  # lines at the beginning of an element in which its first line of text is looked for
ABOVE = 60  # lines above the text in which its title is looked for


@dataclass(frozen=True, slots=True)
class BylineZone:
    """Places of lines: the title (-1: not found), the first line of text, and the end (exclusive).

    `around` are the spans around the body: they hold the article, whatever their names say. `is_code`: most of the text
    is preformatted, as letters and old news are; nothing in it is an example then.
    """

    title: int
    first: int
    end: int
    around: frozenset[int]
    is_code: bool = False


def byline_zone_of(document: Document, body: int) -> BylineZone:
    """The frame of the article whose body is the span `body`."""
    lines, span = document.layout.lines, document.layout.spans[body]
    begin = range(span.start, min(span.end, span.start + HEAD))
    first = next((place for place in begin if lines[place].size > LONG), span.start)
    around = frozenset(document.layout.above(body))
    return BylineZone(title_above(document, first), first, span.end, around, is_code(lines[span.start : span.end]))


def is_code(lines: Sequence[Line]) -> bool:
    """More than half of the text of some lines is preformatted."""
    return 2 * sum(line.size for line in lines if line.tag == CODE_TAG) > sum(line.size for line in lines)


def title_above(document: Document, first: int) -> int:
    """The line nearest above the text that is an h1 or a part of <title>; -1 for none."""
    lines = document.layout.lines
    for place in range(min(first + 3, len(lines)) - 1, max(-1, first - ABOVE), -1):
        line = lines[place]
        if line.tag == "h1" or (line.size >= 4 and line.text in document.title and line.link_share <= LINK_LINE):
            return place
    return -1
