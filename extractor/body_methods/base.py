"""What a method is: how the body, the title and the date of a page are found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from extractor.fields.dates.publication_date import PublicationDate
from extractor.page.parsed_page import ParsedPage


@dataclass(frozen=True)
class Body:
    """A chosen body: the span it was read from, its lines, the text, and the line that is the title (-1: none).

    Not `is_confident`: only what is called navigation, comments ... could be found.
    """

    span_index: int
    line_indices: tuple[int, ...]
    text: str
    title_line: int = -1
    is_confident: bool = True


@dataclass(frozen=True)
class BodyCandidate:
    """An element that was weighed as the body: its span, its score, and what was counted in it."""

    span: int
    score: float
    features: Mapping[str, float | str]


@dataclass(frozen=True)
class LineVerdict:
    """What became of a line: its index, what it weighed in the choice, and why it was kept or dropped."""

    line: int
    weight: float
    kept: bool
    why: str


@dataclass(frozen=True)
class Explanation:
    """How a body was chosen: candidates, best first; a verdict for every line; the chosen span, -1 for none."""

    candidates: tuple[BodyCandidate, ...]
    verdicts: tuple[LineVerdict, ...]
    chosen_span: int


class BodyMethod(Protocol):
    """Reads a page. Where it `needs_complete_layout`, nothing is left out of the layout (see layout.Layout).

    Where it `uses_declared_body`, a page that shows no body may still tell one to machines (structured_body.py).
    """

    needs_complete_layout: ClassVar[bool]
    uses_declared_body: ClassVar[bool]

    def choose_body(self, page: ParsedPage) -> Body | None:
        """The body, or None where the page has none."""

    def find_title(self, page: ParsedPage, body: Body) -> str:
        """The title, or ""."""

    def find_published(self, page: ParsedPage, body: Body, latest_date: str) -> PublicationDate:
        """The date of publication; none after the day `latest_date` (`YYYY-MM-DD`)."""

    def explain(self, page: ParsedPage) -> Explanation:
        """Why the body was chosen; for a person, and as slow as it likes."""
