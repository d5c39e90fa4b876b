"""Detects lists with an introduction of their own, which are kept as collections. Lists without one are rejected."""

from extractor.body_methods.inclusive import readable_line_mask
from extractor.fields.title_anchor import find_title_line
from extractor.page.parsed_page import ParsedPage
from extractor.page_types.list_page import is_headline_line

MIN_OWN_PARAGRAPH_SIZE = 40.0  # of the introduction, in Chinese characters
MAX_OWN_PARAGRAPH_DISTANCE_LINES = 12  # of the introduction from the title


def has_own_paragraph(page: ParsedPage) -> bool:
    """Return whether a page has a paragraph of text between its title and the first listed headline."""
    lines, title_line = page.layout.lines, find_title_line(page)
    if title_line < 0:
        title_line = next((line_index for line_index, line in enumerate(lines) if line.tag == "h1"), -1)
    if title_line < 0:
        return False
    is_readable = readable_line_mask(page)
    for line_index in range(title_line + 1, min(len(lines), title_line + 1 + MAX_OWN_PARAGRAPH_DISTANCE_LINES)):
        line = lines[line_index]
        if is_headline_line(line):
            return False
        if is_readable[line_index] and line.size >= MIN_OWN_PARAGRAPH_SIZE and line.has_punctuation:
            return True
    return False
