"""Finds links that are text of the article: words of a sentence, cells of a data table, items of a list in the text.

    <p><a>Shale</a>, <a>sandstone</a> and <a>coal</a> contain <a>gas</a>.</p>               a sentence
    <tr><th>No.<th>Company   <tr><td>1<td><a>Northern Oil</a>                               a table with a heading row
    <p>These companies passed:</p> <ul><li><a>Northern Oil</a> ...                          a list with an introduction
    <p>Sentence.</p> <ul><li><a> (4 items or more) </ul> <p>Sentence.</p>                   a list between sentences
    <h2>History</h2><p>Sentence.</p> ... <h2>See also</h2><ul><li><a>Coal</a> ...           a section of short names

Everything else that consists of links is navigation, or leads to other articles.
"""

import re
from collections import Counter
from itertools import islice

from extractor.page.boilerplate_phrases import is_article_end, is_template_label
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line

SENTENCE_END_RE = re.compile(r"[.。!！?？;；…][\"'”’」』)）\]】]?$")
CLAUSE_MARK_RE = re.compile("[,，、;；:：]")
INTRODUCTION_END = (":", "：")
MIN_INTRODUCTION_SIZE = 6.0  # a shorter one is a label; in Chinese characters
DATE_RE = re.compile(r"\d{1,2}[-/.月:]\d{1,2}")  # in most items of a list of other articles
LIST_TAGS = frozenset(("ul", "ol", "dl"))
LIST_PART_TAGS = LIST_TAGS | {"li", "dd", "dt"}
MIN_ENCLOSED_ITEMS = 4  # of a list between sentences; fewer are often links to other articles
MIN_SENTENCE_SIZE = 8.0
MAX_NAME_SIZE = 8.0  # mean size of the items of a section; headlines of other articles are longer
MIN_SECTIONS = 2  # sections with text before a section of names


def mark_linked_text(layout: Layout) -> None:
    """Mark the lines of a layout that consist of links and are text: sets `link_size` or `is_linked_text`."""
    lines, section_counts, position = layout.lines, Counter[tuple[str, str]](), 0
    for index, line in enumerate(lines):
        if line.tag in HEADING_TAGS and index + 1 < len(lines) and is_text_sentence(lines[index + 1]):
            section_counts[heading_key(layout, line)] += 1
        if not line.link_size or index < position or not line.is_link:
            continue
        if is_linked_sentence(line):
            line.link_size = 0.0
            continue
        container = find_container(layout, line.span_index)
        if container < 0:
            continue
        span = layout.spans[container]
        position = span.end_line
        if is_text_table(layout, container, index) or is_text_list(layout, container, section_counts):
            for other in lines[span.start_line : span.end_line]:
                other.is_linked_text = other.is_link


def is_linked_sentence(line: Line) -> bool:
    """Return whether the links of a line are words of a sentence, with an end and a clause mark outside the links."""
    if len(line.links) < 2 or SENTENCE_END_RE.search(line.text[-3:]) is None:
        return False
    position, outside = 0, list[str]()
    for start, end, _ in line.links:
        outside += line.text_pieces[position:start]
        position = max(position, end)
    return CLAUSE_MARK_RE.search("".join(outside)) is not None


def find_container(layout: Layout, span_index: int) -> int:
    """Return the span of the outermost list around a line, or of the innermost table; -1 if there is none."""
    container = -1
    for enclosing in layout.iter_enclosing(span_index):
        tag = layout.spans[enclosing].tag_info.tag
        if container < 0 and tag == "table":
            return enclosing
        if tag in LIST_TAGS:
            container = enclosing
        elif container >= 0 and tag not in LIST_PART_TAGS:
            break
    return container


def is_text_table(layout: Layout, container: int, first_link: int) -> bool:
    """Return whether a table is one of data: rows with several cells below a heading row without links."""
    span = layout.spans[container]
    heading, row = layout.lines[span.start_line], layout.lines[first_link]
    return span.start_line < first_link and 1 < len(row.cells) == len(heading.cells) and not heading.is_link


def is_text_list(layout: Layout, container: int, section_counts: Counter[tuple[str, str]]) -> bool:
    """Return whether a list or table belongs to the text before it, or is a section of short names.

    `section_counts` are the numbers of sections before it by the key of their headings.
    """
    lines, span = layout.lines, layout.spans[container]
    before, after = span.start_line - 1, span.end_line
    if before < 0 or not are_siblings(layout, container, before):
        return False
    line, item_count = lines[before], span.end_line - span.start_line
    items = lines[span.start_line : after]
    attribute_texts = [attribute_text for item in items for _, _, attribute_text in item.links]
    if attribute_texts and all('href="#' in attribute_text for attribute_text in attribute_texts):
        return False  # a table of contents
    if line.is_link or is_template_label(line.text) or is_article_end(line.text):
        return False
    if line.tag in HEADING_TAGS:
        size = sum(item.size for item in items)
        return section_counts[heading_key(layout, line)] >= MIN_SECTIONS and size < MAX_NAME_SIZE * item_count
    dated_count = sum(DATE_RE.search(item.text) is not None for item in items)
    if line.text.endswith(INTRODUCTION_END) and line.size >= MIN_INTRODUCTION_SIZE and 2 * dated_count < item_count:
        return True
    is_enclosed = after < len(lines) and is_text_sentence(lines[after]) and are_siblings(layout, container, after)
    return item_count >= MIN_ENCLOSED_ITEMS and is_text_sentence(line) and is_enclosed


def are_siblings(layout: Layout, container: int, line_index: int) -> bool:
    """Return whether a line is in the element around a list or table, at most one block deep. Wrappers do not count."""
    spans, parent = layout.spans, layout.spans[container].parent_index
    lines_of_container = (spans[container].start_line, spans[container].end_line)
    while parent >= 0 and (spans[parent].start_line, spans[parent].end_line) == lines_of_container:
        parent = spans[parent].parent_index
    return parent in islice(layout.iter_enclosing(layout.lines[line_index].span_index), 3)


def heading_key(layout: Layout, line: Line) -> tuple[str, str]:
    """Return tag and names of a heading; headings with equal keys have the same rank."""
    return line.tag, layout.spans[line.span_index].tag_info.identifiers


def is_text_sentence(line: Line) -> bool:
    """Return whether a line is a sentence outside links."""
    return line.size >= MIN_SENTENCE_SIZE and not line.is_link and line.has_punctuation
