"""Where an article stands among the lines of its page: below which title, from which line to which."""

from dataclasses import dataclass

from extractor.document import Document

LONG = 40.0  # size of a line from which on it is text, in Chinese characters
HEAD = 30  # lines at the beginning of an element in which its first line of text is looked for
ABOVE = 60  # lines above the text in which its title is looked for
LINK_LINE = 0.5


@dataclass(frozen=True, slots=True)
class Frame:
    """Places of lines: the title (-1: not found), the first line of text, and the end (exclusive).

    `around` are the spans around the body: they hold the article, whatever their names say.
    """

    title: int
    first: int
    end: int
    around: frozenset[int]


def frame_of(document: Document, body: int) -> Frame:
    """The frame of the article whose body is the span `body`."""
    lines, span = document.layout.lines, document.layout.spans[body]
    begin = range(span.start, min(span.end, span.start + HEAD))
    first = next((place for place in begin if lines[place].size > LONG), span.start)
    return Frame(title_above(document, first), first, span.end, frozenset(document.layout.above(body)))


def title_above(document: Document, first: int) -> int:
    """The line nearest above the text that is an h1 or a part of <title>; -1 for none."""
    lines = document.layout.lines
    for place in range(min(first + 3, len(lines)) - 1, max(-1, first - ABOVE), -1):
        line = lines[place]
        if line.tag == "h1" or (line.size >= 4 and line.text in document.title and line.link_share <= LINK_LINE):
            return place
    return -1
