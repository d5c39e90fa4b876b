"""Has a list a text of its own? Then it is a collection that a reader may want, and kept; without one it is a list."""

from extractor.body_methods.inclusive import readable_line_mask
from extractor.fields.title_anchor import find_title_line
from extractor.page.parsed_page import ParsedPage
from extractor.page_types.list_page import is_headline_line

MIN_OWN_PARAGRAPH_SIZE = 40.0  # size of the paragraph that a collection has of its own
MAX_OWN_PARAGRAPH_DISTANCE = 12  # lines below the title in which it begins


def has_own_paragraph(page: ParsedPage) -> bool:
    """A paragraph stands between the title of a page and the first thing that it lists."""
    lines, title_line = page.layout.lines, find_title_line(page)
    if title_line < 0:
        title_line = next((line_index for line_index, line in enumerate(lines) if line.tag == "h1"), -1)
    if title_line < 0:
        return False
    is_readable = readable_line_mask(page)
    for line_index in range(title_line + 1, min(len(lines), title_line + 1 + MAX_OWN_PARAGRAPH_DISTANCE)):
        line = lines[line_index]
        if is_headline_line(line):
            return False
        if is_readable[line_index] and line.size >= MIN_OWN_PARAGRAPH_SIZE and line.has_punctuation:
            return True
    return False
