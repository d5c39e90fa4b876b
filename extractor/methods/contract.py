"""What a method is: how the body, the title and the date of a page are found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from extractor.fields.dates.date import Published
from extractor.page.document import Document


@dataclass(frozen=True)
class Body:
    """A chosen body: the span it was read from, its lines, the text, and the line that is the title (-1: none).

    Not `sure`: only what is called navigation, comments ... could be found.
    """

    span: int
    lines: tuple[int, ...]
    text: str
    title: int = -1
    sure: bool = True


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
    chosen: int


class Method(Protocol):
    """Reads a page. Where it `reads_whole`, nothing is left out of the layout (see layout.Layout).

    Where it `reads_stated`, a page that shows no body may still tell one to machines (structured_body.py).
    """

    reads_whole: ClassVar[bool]
    reads_stated: ClassVar[bool]

    def choose(self, document: Document) -> Body | None:
        """The body, or None where the page has none."""

    def title(self, document: Document, body: Body) -> str:
        """The title, or ""."""

    def published(self, document: Document, body: Body, latest: str) -> Published:
        """The date of publication; none after the day `latest` (`YYYY-MM-DD`)."""

    def explain(self, document: Document) -> Explanation:
        """Why the body was chosen; for a person, and as slow as it likes."""
