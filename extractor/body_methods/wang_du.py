"""Title and date as Wang Du 2019 finds them (WD-A3 and WD-A4, METHODS 1.5 and 1.6), and what its body methods share."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lxml.etree import _Element as Element

from extractor.body_methods.base import Body
from extractor.body_methods.element_counts import ElementCounts
from extractor.fields.dates.date_parsing import find_date_in_text, find_date_in_url
from extractor.fields.dates.publication_date import PublicationDate
from extractor.fields.site_name import strip_site_names
from extractor.fields.title_anchor import find_title_line
from extractor.fields.title_similarity import similarity
from extractor.page.dom import HEADING_TAGS, element_text, serialize
from extractor.page.layout import join_lines
from extractor.page.layout_builder import build_layout
from extractor.page.parsed_page import ParsedPage

MIN_TITLE_SIMILARITY = 0.5  # headings at least this similar to <title> are the title [D]
MAX_HEADINGS = 200  # headings looked at on one page
MAX_TITLE_CHARS = 300  # characters of a title that are kept
NAMED_TITLE_LENGTHS = range(6, 40)  # characters of an element named "title" that is one [X]
MAX_DATE_DISTANCE_LINES = 60  # lines before and behind the body's start in which a date is looked for


class WangDuMethod:
    """WD-A3 and WD-A4 for the methods that choose a body as the paper does."""

    needs_complete_layout: ClassVar[bool] = True
    uses_declared_body: ClassVar[bool] = False

    def find_title(self, page: ParsedPage, body: Body) -> str:
        """WD-A3: the heading before the body that is most like <title>, else <title>, else the element "title"."""
        if not page.title:
            return title_by_class(page.root)
        target_title = strip_site_names(page.title)
        start = page.layout.spans[body.span_index].element_index
        return (
            most_similar_heading(heading_texts_before(page.root, start), target_title) or target_title[:MAX_TITLE_CHARS]
        )

    def find_published(self, page: ParsedPage, body: Body, latest_date: str) -> PublicationDate:
        """WD-A4: year, month and (if there) day in the URL, else the date on the page that is nearest to the body."""
        url_date = find_date_in_url(page.url)
        if url_date and url_date <= latest_date:
            return PublicationDate(url_date, "url")
        start = page.layout.spans[body.span_index].start_line
        lines = page.layout.lines
        nearby_lines = (
            *reversed(lines[max(0, start - MAX_DATE_DISTANCE_LINES) : start]),
            *lines[start : start + MAX_DATE_DISTANCE_LINES],
        )
        dates = (find_date_in_text(line.text) for line in nearby_lines)
        return next(
            (PublicationDate(date, "text") for date in dates if date and date <= latest_date), PublicationDate()
        )


def body_from_element(page: ParsedPage, block: ElementCounts) -> Body:
    """A chosen block as a body: its text with a line for each paragraph, and the block element it is or stands in."""
    text = join_lines(build_layout(serialize(block.element))[0].lines)
    element_index = element_position(page.root, block.element)
    spans = page.layout.spans
    span_index = max(
        (index for index, span_index in enumerate(spans) if span_index.element_index <= element_index), default=0
    )
    return Body(
        span_index,
        tuple(range(spans[span_index].start_line, spans[span_index].end_line)) if spans else (),
        text,
        find_title_line(page),
    )


def element_position(root: Element, element: Element) -> int:
    """How many elements stand before this one in its tree."""
    return next((position for position, other in enumerate(root.iter()) if other is element), 0)


def heading_texts_before(root: Element, body_element: int) -> Iterator[str]:
    """Texts of h1 to h6 in document order, up to the element at which the body starts."""
    count = 0
    for element_index, element in enumerate(root.iter()):
        if element_index > body_element or count >= MAX_HEADINGS:
            return
        if element.tag in HEADING_TAGS:
            count += 1
            yield element_text(element, MAX_TITLE_CHARS)


def most_similar_heading(headings: Iterator[str] | Sequence[str], title: str) -> str:
    """The heading most similar to a title, or "" where none is similar enough; the first of equals."""
    best_similarity, best_heading = 0.0, ""
    for text in headings:
        score = similarity(text, title, MIN_TITLE_SIMILARITY)
        if score >= MIN_TITLE_SIMILARITY and score > best_similarity:
            best_similarity, best_heading = score, text
    return best_heading


def title_by_class(root: Element) -> str:
    """Text of the first element whose id or class is "title" (case 2 of WD-A3), 6 to 39 characters long [X]."""
    for element in root.iter():
        if "title" in ((element.get("id") or "").lower(), *(element.get("class") or "").lower().split()):
            text = element_text(element, MAX_TITLE_CHARS)
            if len(text) in NAMED_TITLE_LENGTHS:
                return text
    return ""
