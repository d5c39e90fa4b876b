"""Title and date by Wang Du 2019 (WD-A3 and WD-A4), shared by its body methods."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lxml.etree import _Element as Element

from extractor.body_methods.element_counts import PUNCTUATION_RE, ElementCounts
from extractor.fields.dates.date_parsing import find_date_in_text, find_date_in_url
from extractor.fields.dates.publication_date import PublicationDate
from extractor.fields.title_matching import TextComparer, find_title_line, strip_site_names
from extractor.page.dom import HEADING_TAGS, element_text, serialize
from extractor.page.layout import join_lines
from extractor.page.layout_builder import build_layout
from extractor.page.parsed_page import Body, ParsedPage

MIN_TITLE_SIMILARITY = 0.5  # headings at least this similar to <title> are the title [D]
MAX_HEADINGS = 200  # headings examined on one page
MAX_TITLE_CHARS = 300  # longer titles are cut
NAMED_TITLE_LENGTHS = range(6, 40)  # length in characters of an element with class "title" that is used [X]
MAX_DATE_DISTANCE_LINES = 60  # lines before and after the body's start that are searched for a date


class WangDuMethod:
    """WD-A3 and WD-A4, for the methods that choose a body as in the paper."""

    needs_complete_layout: ClassVar[bool] = True
    uses_declared_body: ClassVar[bool] = False

    def find_title(self, page: ParsedPage, body: Body) -> str:
        """WD-A3: the heading before the body most similar to <title>, else <title>.

        Without <title>: the element with the class or id "title".
        """
        if not page.title:
            return title_by_class(page.root)
        target_title = strip_site_names(page.title)
        start = page.layout.spans[body.span_index].element_index
        return (
            most_similar_heading(heading_texts_before(page.root, start), target_title) or target_title[:MAX_TITLE_CHARS]
        )

    def find_published(self, page: ParsedPage, body: Body, latest_date: str) -> PublicationDate:
        """WD-A4: the date in the URL, else the date on the page nearest to the start of the body."""
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
    """Return a chosen element as a body: its text by paragraphs, and the layout span that contains it."""
    text = join_lines(build_layout(serialize(block.element))[0].lines)
    element_index = next((position for position, other in enumerate(page.root.iter()) if other is block.element), 0)
    spans = page.layout.spans
    span_index = max((index for index, span in enumerate(spans) if span.element_index <= element_index), default=0)
    return Body(
        span_index,
        tuple(range(spans[span_index].start_line, spans[span_index].end_line)) if spans else (),
        text,
        find_title_line(page),
    )


def heading_texts_before(root: Element, body_element: int) -> Iterator[str]:
    """Yield the texts of h1 to h6 in document order, up to the first text with punctuation in the body.

    An element that is chosen as the body often encloses the heading, too.
    """
    count = 0
    for element_index, element in enumerate(root.iter()):
        is_heading = element.tag in HEADING_TAGS
        if is_heading:
            count += 1
            yield element_text(element, MAX_TITLE_CHARS)
        text = ("" if is_heading else element.text or "") + ("" if len(element) else element.tail or "")
        if (element_index >= body_element and PUNCTUATION_RE.search(text)) or count >= MAX_HEADINGS:
            return


def most_similar_heading(headings: Iterator[str] | Sequence[str], title: str) -> str:
    """Return the heading most similar to a title, the first of equals; an empty string if none is similar enough."""
    best_similarity, best_heading, comparer = 0.0, "", TextComparer(title)
    for text in headings:
        score = comparer.similarity(text, MIN_TITLE_SIMILARITY)
        if score >= MIN_TITLE_SIMILARITY and score > best_similarity:
            best_similarity, best_heading = score, text
    return best_heading


def title_by_class(root: Element) -> str:
    """Return the text of the first element with id or class "title" (case 2 of WD-A3), 6 to 39 characters long [X]."""
    for element in root.iter():
        if "title" in ((element.get("id") or "").lower(), *(element.get("class") or "").lower().split()):
            text = element_text(element, MAX_TITLE_CHARS)
            if len(text) in NAMED_TITLE_LENGTHS:
                return text
    return ""
