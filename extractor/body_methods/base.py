"""Interface of the body methods, and the results they return."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from extractor.fields.dates.publication_date import PublicationDate
from extractor.page.parsed_page import Body, ParsedPage


@dataclass(frozen=True)
class BodyCandidate:
    """An element that was scored as a possible body: its span index, score, and features by name."""

    span: int
    score: float
    features: Mapping[str, float | str]


@dataclass(frozen=True)
class LineVerdict:
    """The decision about one line: its index, its weight in the choice, and the reason why it was kept or dropped.

    The field names are those of the JSON of `plumb explain`.
    """

    line: int
    weight: float
    kept: bool  # public name: `plumb explain --json`
    why: str


@dataclass(frozen=True)
class Explanation:
    """How a body was chosen: candidates, best first; one verdict for each line; the chosen span, or -1."""

    candidates: tuple[BodyCandidate, ...]
    verdicts: tuple[LineVerdict, ...]
    chosen_span: int


class BodyMethod(Protocol):
    """Finds body, title and date of a page.

    If `needs_complete_layout`, the layout must include navigation and footers (see page.layout.Layout). If
    `uses_declared_body`, a page without visible body can get the body declared in JSON-LD or meta tags
    (declared_body.py).
    """

    needs_complete_layout: ClassVar[bool]
    uses_declared_body: ClassVar[bool]

    def choose_body(self, page: ParsedPage) -> Body | None:
        """Return the body of the page, or None."""

    def find_title(self, page: ParsedPage, body: Body) -> str:
        """Return the title of the page, or an empty string."""

    def find_published(self, page: ParsedPage, body: Body, latest_date: str) -> PublicationDate:
        """Return the publication date, not after `latest_date` (`YYYY-MM-DD`); an empty PublicationDate if unknown."""

    def explain(self, page: ParsedPage) -> Explanation:
        """Explain the choice of the body, for `plumb explain`. May be slow."""
