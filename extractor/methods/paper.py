"""Title and date as Wang Du 2019 finds them (WD-A3 and WD-A4, METHODS 1.5 and 1.6), and what its body methods share."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lxml.etree import _Element as Element

from extractor.fields.dates.date import Published
from extractor.fields.dates.date_text import date_in_text, date_in_url
from extractor.fields.site_name import cut_site_name
from extractor.fields.title_similarity import similarity
from extractor.methods.anchor import title_place
from extractor.methods.blocks import CountedBlock
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.dom import HEADINGS, markup_of, text_of
from extractor.page.layout import render
from extractor.page.lines import read_lines

SIMILAR = 0.5  # headings at least this similar to <title> are the title [D]
MAX_HEADINGS = 200  # headings looked at on one page
LONGEST = 300  # characters of a title that are kept
NAMED_LENGTH = range(6, 40)  # characters of an element named "title" that is one [X]
NEAR = 60  # lines before and behind the body's start in which a date is looked for


class PaperMethod:
    """WD-A3 and WD-A4 for the methods that choose a body as the paper does."""

    reads_whole: ClassVar[bool] = True
    reads_stated: ClassVar[bool] = False

    def title(self, document: Document, body: Body) -> str:
        """WD-A3: the heading before the body that is most like <title>, else <title>, else the element "title"."""
        if not document.title:
            return named_title(document.root)
        wanted = cut_site_name(document.title)
        start = document.layout.spans[body.span].element
        return most_similar(headings_before(document.root, start), wanted) or wanted[:LONGEST]

    def published(self, document: Document, body: Body, latest: str) -> Published:
        """WD-A4: year, month and (if there) day in the URL, else the date on the page that is nearest to the body."""
        found = date_in_url(document.url)
        if found and found <= latest:
            return Published(found, "url")
        start = document.layout.spans[body.span].start
        lines = document.layout.lines
        near = (*reversed(lines[max(0, start - NEAR) : start]), *lines[start : start + NEAR])
        days = (date_in_text(line.text) for line in near)
        return next((Published(day, "text") for day in days if day and day <= latest), Published())


def body_of(document: Document, block: CountedBlock) -> Body:
    """A chosen block as a body: its text with a line for each paragraph, and the block element it is or stands in."""
    text = render(read_lines(markup_of(block.element))[0].lines)
    order = place_of(document.root, block.element)
    spans = document.layout.spans
    span = max((place for place, span in enumerate(spans) if span.element <= order), default=0)
    return Body(span, tuple(range(spans[span].start, spans[span].end)) if spans else (), text, title_place(document))


def place_of(root: Element, element: Element) -> int:
    """How many elements stand before this one in its tree."""
    return next((place for place, other in enumerate(root.iter()) if other is element), 0)


def headings_before(root: Element, start: int) -> Iterator[str]:
    """Texts of h1 to h6 in document order, up to the element at which the body starts."""
    count = 0
    for place, element in enumerate(root.iter()):
        if place > start or count >= MAX_HEADINGS:
            return
        if element.tag in HEADINGS:
            count += 1
            yield text_of(element, LONGEST)


def most_similar(headings: Iterator[str] | Sequence[str], title: str) -> str:
    """The heading most similar to a title, or "" where none is similar enough; the first of equals."""
    best, chosen = 0.0, ""
    for text in headings:
        likeness = similarity(text, title, SIMILAR)
        if likeness >= SIMILAR and likeness > best:
            best, chosen = likeness, text
    return chosen


def named_title(root: Element) -> str:
    """Text of the first element whose id or class is "title" (case 2 of WD-A3), 6 to 39 characters long [X]."""
    for element in root.iter():
        if "title" in ((element.get("id") or "").lower(), *(element.get("class") or "").lower().split()):
            text = text_of(element, LONGEST)
            if len(text) in NAMED_LENGTH:
                return text
    return ""
