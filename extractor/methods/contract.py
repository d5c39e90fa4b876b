"""What a body method is."""

from dataclasses import dataclass
from typing import Protocol

from lxml.etree import _Element as Element

from extractor.document import Document
from extractor.lines import Layout


@dataclass(frozen=True)
class Body:
    """A chosen body: `text` with one paragraph a line, and the element it was read from."""

    element: Element
    text: str


class BodyMethod(Protocol):
    """Finds the news body of a page."""

    def choose(self, document: Document, layout: Layout) -> Body | None:
        """The body, or None where the page has none. `layout` is the document's, laid out once for all."""
