"""Where on the page the title stands: the body starts below it."""

import math
from collections.abc import Sequence

from extractor.fields.site_name import cut_site_name, is_first_part, letters_of, tidy
from extractor.fields.title_similarity import LONGEST as COMPARED
from extractor.fields.title_similarity import Original
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import LINK_LINE, Line, Span

LONGEST = 90.0  # of a line that may be a title, in Chinese characters
SHORTEST = 2.0
NAMING = ("h1", "h2")  # headings that may be <title> without the site's name, however short
LINKED = ("h1", "h2", "h3")
NEAR = 15  # lines below the title in which a body is expected to start
# Bonus and least likeness to <title> of a line that is the title.
RANK = {"h1": (0.5, 0.5)} | dict.fromkeys(HEADINGS[1:], (0.2, 0.75))
PLAIN_RANK = (0.0, 0.9)
BEGINS = 0.95  # likeness of a heading with which <title> begins, site and channel names behind it
HOLDS = 0.8  # ... of one that stands within it, and is most of it
MOST = 0.5


def title_place(document: Document) -> int:
    """Index of the line that is the title, -1 for none: the first best, h1 before other headings before any line."""
    titles = {document.title, document.metas.get("og:title", "")} - {""}
    wanted = [(letters_of(title), Original(cut_site_name(title))) for title in sorted(titles)]
    shortest, longest = lengths_of_plain([len(cut.text) for _, cut in wanted])
    stated = tidy(document.title)
    best, place = 0.0, -1
    for index, line in enumerate(document.layout.lines):
        if line.tag in NAMING and line.link_share <= LINK_LINE and is_first_part(tidy(line.text), stated):
            likeness, bonus = BEGINS, RANK[line.tag][0]
            if likeness + bonus > best:
                best, place = likeness + bonus, index
            continue
        if (not shortest <= len(line.text) <= longest and line.tag not in RANK) or not may_be_title(line):
            continue
        bonus, least = RANK.get(line.tag, PLAIN_RANK)
        likeness = max((likeness_to(line, whole, cut, least) for whole, cut in wanted), default=0.0)
        if likeness >= least and likeness + bonus > best:
            best, place = likeness + bonus, index
    return place


def lengths_of_plain(wanted: Sequence[int]) -> tuple[float, float]:
    """Between which lengths a line that is no heading may be like enough to a title of one of these lengths."""
    least = PLAIN_RANK[1]
    longest = max(wanted, default=0) / least
    return least * min(wanted, default=0), longest if longest < COMPARED else math.inf


def may_be_title(line: Line) -> bool:
    """Of a title's size; a line of links only where it is a heading."""
    if not SHORTEST <= line.size <= LONGEST:
        return False
    return line.link_share <= LINK_LINE or line.tag in LINKED


def likeness_to(line: Line, whole: str, cut: Original, least: float) -> float:
    """How much a line is like a page's <title> (its letters, and the text without site name), 0 to 1."""
    if line.tag in HEADINGS:
        text = letters_of(line.text)
        if text and text in whole:
            return contained(text, whole, line.size)
    return cut.likeness(line.text, least)


def contained(text: str, whole: str, size: float) -> float:
    """Likeness of a heading that stands in <title> as it is: at its beginning the title, elsewhere perhaps the site."""
    share = len(text) / len(whole)
    if whole.startswith(text) and (size >= 4 or share > MOST):
        return BEGINS
    return HOLDS if share > MOST else share


def is_near(span: Span, title: int, lines: Sequence[Line]) -> bool:
    """The element holds the title, or starts shortly below it."""
    return title < span.end and span.row <= last_row_near(title, lines)


def last_row_near(title: int, lines: Sequence[Line]) -> int:
    """The last row in which an element may start that is near the title; -1 where there is no title."""
    return lines[title].row + NEAR if title >= 0 else -1
