"""The more inclusive rule: all that a page has for its readers, but for what stands on every page of its kind.

An article is one element of a page; a page that offers a service, a product or a collection is laid out in many, of
which the best holds a part. Here the text is every line outside of navigation, notices and footers.
"""

import re
from collections.abc import Sequence

from docstore.model import line_hash
from extractor.methods.contract import Body
from extractor.methods.line_scoring import SENTENCE, is_notice_or_label, weigh
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import LINK_LINE, Layout, Line, Span, render
from extractor.page.markup_hints import value_of

MOST = 0.5  # of the page's text: an element that holds more of it is no aside, whatever its name
MIN_MAIN = 0.5  # of the text outside asides that <main> must hold to be believed
APART_TAGS = frozenset(("nav", "footer", "aside", "dialog", "form", "header"))
APART_ROLES = frozenset(("navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search"))
APART_NAME = re.compile(
    r"(?:^|[\s_-])(?:nav|navi|navbar|navigation|menu|megamenu|breadcrumbs?|footer|foot|sidebar|cookies?|consent|gdpr|"
    r"newsletter|subscribe|popup|modal|overlay|share|sharing|social|login|signup|skip|search|pagination|pager|toc|"
    r"minicart|basket|drawer|offcanvas|related|recommend\w*|comments?)(?:$|[\s_-])|"
    r"onetrust|cookie|consent|breadcrumb|sidebar|newsletter"
)


def inclusive_body(document: Document, title: int) -> Body | None:
    """The body by the more inclusive rule; None where nothing is left. `title` is the line of the title, -1: none."""
    layout = document.layout
    readable = readable_lines(document)
    if not any(readable):
        return None
    place = main_span(layout, readable)
    span = layout.spans[place]
    start = title + 1 if span.start <= title < span.end else span.start
    kept = [index for index in range(start, span.end) if readable[index]]
    kept = without_headings_alone(layout, kept)
    if not kept:
        return None
    return Body(place, tuple(kept), render(layout.lines[index] for index in kept), title, False)


def readable_lines(document: Document) -> list[bool]:
    """Which lines are for readers: outside of navigation and the like, neither links nor what the site shows on every
    page.
    """
    return readable_beside(document, apart_lines(document.layout))


def readable_beside(document: Document, apart: Sequence[bool]) -> list[bool]:
    """The same where the `apart_lines` are known."""
    layout, repeated = document.layout, document.site.repeated
    return [
        not apart[index] and is_readable(line) and not (repeated and line_hash(line.text) in repeated)
        for index, line in enumerate(layout.lines)
    ]


def is_readable(line: Line) -> bool:
    """The line is text: a heading, or more than a link, a notice or a label."""
    if line.link_share > LINK_LINE:
        return False
    return not is_notice_or_label(line.text, line.size) and any(map(str.isalpha, line.text))


def apart_lines(layout: Layout) -> list[bool]:
    """Which lines stand in what is called navigation, footer, notice ..., if that does not hold most of the page."""
    apart = [False] * len(layout.lines)
    total = sum(gain_of(line) for line in layout.lines)
    covered = 0
    for span in layout.spans:
        if span.end <= max(covered, span.start) or not is_apart(span):
            continue
        lines = layout.lines[span.start : span.end]
        if sum(map(gain_of, lines)) <= MOST * total and not any(line.tag == "h1" for line in lines):
            apart[span.start : span.end] = [True] * (span.end - span.start)
            covered = span.end
    return apart


def is_apart(span: Span) -> bool:
    """The element is called no part of what the page is about."""
    facts = span.facts
    if facts.tag in APART_TAGS:
        return True
    if facts.tag in ("html", "body", "main", "article"):
        return False
    return value_of("role", facts.markup) in APART_ROLES or APART_NAME.search(facts.name) is not None


def gain_of(line: Line) -> float:
    """What a line of text weighs, 0 for others."""
    return max(0.0, weigh(line))


def main_span(layout: Layout, readable: Sequence[bool]) -> int:
    """The element that holds what is readable: <main> where that holds most, else the smallest around all of it."""
    sums = [0.0]
    for line, is_text in zip(layout.lines, readable, strict=True):
        sums.append(sums[-1] + (line.size if is_text else 0.0))
    whole = 0
    for place, span in enumerate(layout.spans):
        inside = sums[span.end] - sums[span.start]
        if inside >= 0.999 * sums[-1]:
            whole = place
        is_main = span.facts.tag == "main" or value_of("role", span.facts.markup) == "main"
        if is_main and inside >= MIN_MAIN * sums[-1]:
            return place
    return whole


def without_headings_alone(layout: Layout, kept: Sequence[int]) -> list[int]:
    """The lines without the headings and labels at the end, below which nothing stands."""
    end = len(kept)
    while end and layout.lines[kept[end - 1]].tag in HEADINGS and layout.lines[kept[end - 1]].size < SENTENCE:
        end -= 1
    return list(kept[:end])
