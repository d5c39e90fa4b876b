"""A page as lines and spans: the values that lines.py makes of its markup, and all decisions read.

Sizes are in Chinese characters: one Chinese character counts 1, a Latin letter a third, white space nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from extractor.page.tag_info import TagInfo

# Begins with one set of characters: the re module finds those much faster than alternatives.
PUNCTUATION_RE = re.compile(r"[，。！？；：、…,.!?;:](?:(?<=[，。！？；：、…])|(?=\s|$|[\"'”’)]))")
MAX_TEXT_LINK_SHARE = 0.5  # lines with a larger share of link text are links
CODE_TAG = "code"  # of lines of code, whatever block they stand in


@dataclass(slots=True)
class Line:
    """One line: its text, sizes of all text, of link text and of strong text, and the index of its block's span.

    `links` are the links in it, as (first piece, last piece + 1, attributes), and `text_pieces` the pieces of the text as
    it stood. `line_number` is its place among the lines of the whole page. `cells` are the texts
    of a row of data. Code keeps its indentation: its `tag` is CODE_TAG, and empty
    lines before it stand in its first piece.
    """

    text: str
    size: float
    link_size: float
    strong_size: float
    span_index: int
    tag: str
    text_pieces: tuple[str, ...]
    links: Sequence[tuple[int, int, str]]
    line_number: int = 0
    cells: tuple[str, ...] = ()
    _punctuation_count: int = -1

    @property
    def link_share(self) -> float:
        """Link text in all text, 0 to 1."""
        return min(1.0, self.link_size / self.size) if self.link_size and self.size else 0.0

    @property
    def has_punctuation(self) -> bool:
        """It has a sentence mark."""
        return PUNCTUATION_RE.search(self.text) is not None

    @property
    def punctuation_count(self) -> int:
        """Sentence marks."""
        if self._punctuation_count < 0:
            self._punctuation_count = len(PUNCTUATION_RE.findall(self.text))
        return self._punctuation_count


@dataclass(slots=True)
class Span:
    """A block element and the lines below it: `start_line` inclusive, `end_line` exclusive.

    `parent_index` is the index of the span around it (-1: none), `element_index` how many elements stand before it in the tree,
    `start_line_number` the line of the whole page at which it begins, `skipped_link_size` how much text of links was left out inside it, of each
    link LONGEST_LOSS at most.
    """

    tag_info: TagInfo
    start_line: int
    parent_index: int
    element_index: int
    start_line_number: int = 0
    skipped_link_size: float = 0.0
    end_line: int = -1


@dataclass(slots=True)
class InlineElement:
    """The text of a small element that says what it is (`TagInfo.is_metadata`), and the line in which it begins."""

    tag_info: TagInfo
    line_index: int
    text: str


@dataclass(slots=True)
class Picture:
    """An img element: its attributes as markup, the line before which it stands, and its block's span."""

    attribute_text: str
    line_index: int
    span_index: int


@dataclass(slots=True)
class SkippedContent:
    """What elements that were not laid out hold: sizes of their text and of its links, headlines, and lines."""

    size: float = 0.0
    link_size: float = 0.0
    headline_count: int = 0
    line_count: int = 0

    def add(self, other: "SkippedContent") -> None:
        """Count what another element holds."""
        self.size += other.size
        self.link_size += other.link_size
        self.headline_count += other.headline_count
        self.line_count += other.line_count


@dataclass(slots=True)
class Layout:
    """Lines and spans in document order; a span comes before the spans inside it.

    Elements that are called navigation, footer ... and hold next to no text but links have a span without lines; what
    is `skipped` with them is counted.
    """

    lines: list[Line] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    inline_elements: list[InlineElement] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    skipped: SkippedContent = field(default_factory=SkippedContent)

    def iter_enclosing(self, span_index: int) -> Iterator[int]:
        """Indices of a span and of those around it, innermost first."""
        while span_index >= 0:
            yield span_index
            span_index = self.spans[span_index].parent_index


def text_size(text: str) -> float:
    """Length in Chinese characters: UTF-8 spends three bytes on each, and one on a Latin letter."""
    compact = "".join(text.split())
    return len(compact if compact.isascii() else compact.encode("utf-8", "replace")) / 3


def join_lines(lines: Iterable[Line]) -> str:
    """Plain text, one paragraph a line."""
    return "\n".join(line.text for line in lines)
