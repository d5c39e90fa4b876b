"""A page as lines and spans: the values that lines.py makes of its markup, and all decisions read.

Sizes are in Chinese characters: one Chinese character counts 1, a Latin letter a third, white space nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from extractor.page.markup_hints import TagInfo

# Begins with one set of characters: the re module finds those much faster than alternatives.
SENTENCE_MARKS = re.compile(r"[，。！？；：、…,.!?;:](?:(?<=[，。！？；：、…])|(?=\s|$|[\"'”’)]))")
LINK_LINE = 0.5  # lines with a larger share of link text are links
CODE_TAG = "code"  # of lines of code, whatever block they stand in


@dataclass(slots=True)
class Line:
    """One line: its text, sizes of all text, of link text and of strong text, and the index of its block's span.

    `anchors` are the links in it, as (first piece, last piece + 1, attributes), and `parts` the pieces of the text as
    it stood. `row` is its place among the lines of the whole page. `cells` are the texts
    of a row of data. Code keeps its indentation: its `tag` is CODE_TAG, and empty
    lines before it stand in its first piece.
    """

    text: str
    size: float
    link_size: float
    strong_size: float
    span: int
    tag: str
    parts: tuple[str, ...]
    anchors: Sequence[tuple[int, int, str]]
    row: int = 0
    cells: tuple[str, ...] = ()
    _marks: int = -1

    @property
    def link_share(self) -> float:
        """Link text in all text, 0 to 1."""
        return min(1.0, self.link_size / self.size) if self.link_size and self.size else 0.0

    @property
    def punctuated(self) -> bool:
        """It has a sentence mark."""
        return SENTENCE_MARKS.search(self.text) is not None

    @property
    def marks(self) -> int:
        """Sentence marks."""
        if self._marks < 0:
            self._marks = len(SENTENCE_MARKS.findall(self.text))
        return self._marks


@dataclass(slots=True)
class Span:
    """A block element and the lines below it: `start` inclusive, `end` exclusive.

    `parent` is the index of the span around it (-1: none), `element` how many elements stand before it in the tree,
    `row` the line of the whole page at which it begins, `loss` how much text of links was left out inside it, of each
    link LONGEST_LOSS at most.
    """

    facts: TagInfo
    start: int
    parent: int
    element: int
    row: int = 0
    loss: float = 0.0
    end: int = -1


@dataclass(slots=True)
class Note:
    """The text of a small element that says what it is (`TagInfo.marked`), and the line in which it begins."""

    facts: TagInfo
    line: int
    text: str


@dataclass(slots=True)
class Picture:
    """An img element: its attributes as markup, the line before which it stands, and its block's span."""

    attributes: str
    line: int
    span: int


@dataclass(slots=True)
class BoilerplateSkip:
    """What elements that were not laid out hold: sizes of their text and of its links, headlines, and lines."""

    size: float = 0.0
    link_size: float = 0.0
    headlines: int = 0
    rows: int = 0

    def add(self, other: "BoilerplateSkip") -> None:
        """Count what another element holds."""
        self.size += other.size
        self.link_size += other.link_size
        self.headlines += other.headlines
        self.rows += other.rows


@dataclass(slots=True)
class Layout:
    """Lines and spans in document order; a span comes before the spans inside it.

    Elements that are called navigation, footer ... and hold next to no text but links have a span without lines; what
    is `left_out` with them is counted.
    """

    lines: list[Line] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    left_out: BoilerplateSkip = field(default_factory=BoilerplateSkip)

    def above(self, span: int) -> Iterator[int]:
        """Indices of a span and of those around it, innermost first."""
        while span >= 0:
            yield span
            span = self.spans[span].parent


def size_of(text: str) -> float:
    """Length in Chinese characters: UTF-8 spends three bytes on each, and one on a Latin letter."""
    bare = "".join(text.split())
    return len(bare if bare.isascii() else bare.encode("utf-8", "replace")) / 3


def render(lines: Iterable[Line]) -> str:
    """Plain text, one paragraph a line."""
    return "\n".join(line.text for line in lines)
