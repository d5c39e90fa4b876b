"""Has a list a text of its own? Then it is a collection that a reader may want, and kept; without one it is a list."""

from extractor.list_page import is_headline
from extractor.methods.anchor import title_place
from extractor.page.document import Document
from extractor.types.inclusive import readable_lines

OWN_TEXT = 40.0  # size of the paragraph that a collection has of its own
OWN_WITHIN = 12  # lines below the title in which it begins


def own_paragraph(document: Document) -> bool:
    """A paragraph stands between the title of a page and the first thing that it lists."""
    lines, title = document.layout.lines, title_place(document)
    if title < 0:
        title = next((place for place, line in enumerate(lines) if line.tag == "h1"), -1)
    if title < 0:
        return False
    readable = readable_lines(document)
    for place in range(title + 1, min(len(lines), title + 1 + OWN_WITHIN)):
        line = lines[place]
        if is_headline(line):
            return False
        if readable[place] and line.size >= OWN_TEXT and line.punctuated:
            return True
    return False
