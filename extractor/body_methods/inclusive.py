"""The more inclusive rule: all that a page has for its readers, but for what stands on every page of its kind.

An article is one element of a page; a page that offers a service, a product or a collection is laid out in many, of
which the best holds a part. Here the text is every line outside of navigation, notices and footers.
"""

import re
from collections.abc import Sequence

from docstore.model import text_hash64
from extractor.body_methods.base import Body
from extractor.body_methods.line_scoring import MIN_SENTENCE_SIZE, is_notice_or_label, weigh_line
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import MAX_TEXT_LINK_SHARE, Layout, Line, Span, join_lines
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import attribute_value

MAX_BOILERPLATE_SHARE = 0.5  # of the page's text: an element that holds more of it is no aside, whatever its name
MIN_MAIN_SHARE = 0.5  # of the text outside asides that <main> must hold to be believed
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


def extract_inclusive_body(page: ParsedPage, title_line: int) -> Body | None:
    """The body by the more inclusive rule; None where nothing is left. `title_line` is the line of the title, -1: none."""
    layout = page.layout
    is_readable = readable_line_mask(page)
    if not any(is_readable):
        return None
    span_index = find_main_span(layout, is_readable)
    span = layout.spans[span_index]
    start = title_line + 1 if span.start_line <= title_line < span.end_line else span.start_line
    line_indices = [index for index in range(start, span.end_line) if is_readable[index]]
    line_indices = drop_trailing_headings(layout, line_indices)
    if not line_indices:
        return None
    return Body(
        span_index, tuple(line_indices), join_lines(layout.lines[index] for index in line_indices), title_line, False
    )


def readable_line_mask(page: ParsedPage) -> list[bool]:
    """Which lines are for readers: outside of navigation and the like, neither links nor what the site shows on every
    page.
    """
    return readable_line_mask_outside(page, boilerplate_line_mask(page.layout))


def readable_line_mask_outside(page: ParsedPage, boilerplate_mask: Sequence[bool]) -> list[bool]:
    """The same where the `boilerplate_line_mask` are known."""
    layout, template_line_hashes = page.layout, page.site_template.template_line_hashes
    return [
        not boilerplate_mask[index]
        and is_readable_line(line)
        and not (template_line_hashes and text_hash64(line.text) in template_line_hashes)
        for index, line in enumerate(layout.lines)
    ]


def is_readable_line(line: Line) -> bool:
    """The line is text: a heading, or more than a link, a notice or a label."""
    if line.link_share > MAX_TEXT_LINK_SHARE:
        return False
    return not is_notice_or_label(line.text, line.size) and any(map(str.isalpha, line.text))


def boilerplate_line_mask(layout: Layout) -> list[bool]:
    """Which lines stand in what is called navigation, footer, notice ..., if that does not hold most of the page."""
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
    """The element is called no part of what the page is about."""
    tag_info = span.tag_info
    if tag_info.tag in BOILERPLATE_TAGS:
        return True
    if tag_info.tag in ("html", "body", "main", "article"):
        return False
    return (
        attribute_value("role", tag_info.attribute_text) in BOILERPLATE_ROLES
        or BOILERPLATE_CLASS_RE.search(tag_info.identifiers) is not None
    )


def line_gain(line: Line) -> float:
    """What a line of text weighs, 0 for others."""
    return max(0.0, weigh_line(line))


def find_main_span(layout: Layout, is_readable: Sequence[bool]) -> int:
    """The element that holds what is readable: <main> where that holds most, else the smallest around all of it."""
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
    """The lines without the headings and labels at the end, below which nothing stands."""
    end = len(line_indices)
    while (
        end
        and layout.lines[line_indices[end - 1]].tag in HEADING_TAGS
        and layout.lines[line_indices[end - 1]].size < MIN_SENTENCE_SIZE
    ):
        end -= 1
    return list(line_indices[:end])
