"""Inclusive body rule: all readable text of a page, without navigation, notices, footers and template lines.

An article is one element of a page. A page of a service, product or collection is laid out in many elements, of which
the best contains only a part.
"""

import re
from collections.abc import Sequence

from domain.article import text_hash64
from extractor.body_methods.aside_lines import find_screen_copies
from extractor.body_methods.line_scoring import (
    MIN_SENTENCE_SIZE,
    drop_page_navigation,
    is_notice_or_label,
    weigh_line,
)
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line, Span, join_lines
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import FOOTNOTE_RE, attribute_value

MAX_BOILERPLATE_SHARE = 0.5  # an element with more than half of the page's text is not boilerplate, whatever its class
MIN_MAIN_SHARE = 0.5  # minimum share of the readable text for <main> to be used
BOILERPLATE_TAGS = frozenset(("nav", "footer", "aside", "dialog", "form", "header"))
BOILERPLATE_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search")
)
BOILERPLATE_CLASS_RE = re.compile(
    r"(?:^|[\s_-])(?:nav|navi|navbar|navigation|menu|megamenu|breadcrumbs?|footer|foot|sidebar|cookies?|consent|gdpr|"
    r"newsletter|subscribe|popup|modal|overlay|share|sharing|social|login|signup|skip|search|pagination|pager|toc|"
    r"minicart|basket|drawer|offcanvas|related|recommend\w*|comments?)(?:$|[\s_-])|"
    r"onetrust|cookie|consent|breadcrumb|sidebar|newsletter"
)


def extract_inclusive_body(layout: Layout, title_line: int, is_readable: Sequence[bool]) -> Body | None:
    """Return the body by the inclusive rule, None if no line is readable.

    `title_line` is the index of the title or -1, `is_readable` the mask of `readable_line_mask`.
    """
    if not any(is_readable):
        return None
    span_index = find_main_span(layout, is_readable)
    span = layout.spans[span_index]
    start = title_line + 1 if span.start_line <= title_line < span.end_line else span.start_line
    line_indices = [index for index in range(start, span.end_line) if is_readable[index]]
    line_indices = drop_trailing_headings(layout, drop_page_navigation(layout.lines, line_indices))
    if not line_indices:
        return None
    return Body(
        span_index, tuple(line_indices), join_lines(layout.lines[index] for index in line_indices), title_line, False
    )


def readable_line_mask(page: ParsedPage, boilerplate_mask: Sequence[bool]) -> list[bool]:
    """Return for each line whether it is readable: not boilerplate, not link text, not a template line of the site."""
    layout, template_line_hashes = page.layout, page.site_template.template_line_hashes
    copies = find_screen_copies(layout)
    return [
        not boilerplate_mask[index]
        and index not in copies
        and is_readable_line(line)
        and not (template_line_hashes and text_hash64(line.text) in template_line_hashes)
        for index, line in enumerate(layout.lines)
    ]


def is_readable_line(line: Line) -> bool:
    """Return True if a line is text: not mostly links, not a notice, not a label."""
    if line.is_link:
        return False
    return not is_notice_or_label(line.text, line.size) and any(map(str.isalpha, line.text))


def boilerplate_line_mask(layout: Layout) -> list[bool]:
    """Return for each line whether it is in navigation, a footer or another boilerplate element.

    An element with more than MAX_BOILERPLATE_SHARE of the page's gain, or with an h1, is not boilerplate.
    """
    mask = [False] * len(layout.lines)
    total = sum(line_gain(line) for line in layout.lines)
    covered_until = 0
    for span in layout.spans:
        if span.end_line <= max(covered_until, span.start_line) or not is_boilerplate_element(span):
            continue
        lines = layout.lines[span.start_line : span.end_line]
        if sum(map(line_gain, lines)) <= MAX_BOILERPLATE_SHARE * total and not any(line.tag == "h1" for line in lines):
            mask[span.start_line : span.end_line] = [True] * (span.end_line - span.start_line)
            covered_until = span.end_line
    return mask


def is_boilerplate_element(span: Span) -> bool:
    """Return True if tag, role or class name marks the element as boilerplate."""
    tag_info = span.tag_info
    if tag_info.tag in BOILERPLATE_TAGS:
        return FOOTNOTE_RE.search(tag_info.identifiers) is None
    if tag_info.tag in ("html", "body", "main", "article"):
        return False
    return (
        attribute_value("role", tag_info.attribute_text) in BOILERPLATE_ROLES
        or BOILERPLATE_CLASS_RE.search(tag_info.identifiers) is not None
    )


def line_gain(line: Line) -> float:
    """Return the weight of a line, at least 0."""
    return max(0.0, weigh_line(line))


def find_main_span(layout: Layout, is_readable: Sequence[bool]) -> int:
    """Return the span of the readable text: <main> if it contains enough of it, else the smallest span with all."""
    cumulative_size = [0.0]
    for line, is_text in zip(layout.lines, is_readable, strict=True):
        cumulative_size.append(cumulative_size[-1] + (line.size if is_text else 0.0))
    enclosing_index = 0
    for span_index, span in enumerate(layout.spans):
        size_inside = cumulative_size[span.end_line] - cumulative_size[span.start_line]
        if size_inside >= 0.999 * cumulative_size[-1]:
            enclosing_index = span_index
        is_main = span.tag_info.tag == "main" or attribute_value("role", span.tag_info.attribute_text) == "main"
        if is_main and size_inside >= MIN_MAIN_SHARE * cumulative_size[-1]:
            return span_index
    return enclosing_index


def drop_trailing_headings(layout: Layout, line_indices: Sequence[int]) -> list[int]:
    """Remove short headings and labels at the end, which have no text below them."""
    end = len(line_indices)
    while (
        end
        and layout.lines[line_indices[end - 1]].tag in HEADING_TAGS
        and layout.lines[line_indices[end - 1]].size < MIN_SENTENCE_SIZE
    ):
        end -= 1
    return list(line_indices[:end])
