"""Data structures of a page layout: lines and spans, which layout_builder.py builds from markup and all rules read.

Sizes are in Chinese characters: a Chinese character counts 1, a Latin letter 1/3, white space 0.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from extractor.page.tag_info import TagInfo

# Begins with a character set: the re module finds a set much faster than alternatives.
PUNCTUATION_RE = re.compile(r"[，。！？；：、…,.!?;:](?:(?<=[，。！？；：、…])|(?=\s|$|[\"'”’)]))")
MAX_TEXT_LINK_SHARE = 0.5  # lines with a larger share of link text count as links
MIN_STORY_PARAGRAPHS = 3  # of an article, above the teasers of others
CODE_TAG = "code"  # tag of all lines of code, no matter which block contains them


@dataclass(slots=True)
class Line:
    """One line of text.

    Attributes:
        text: The text with white space collapsed; code keeps its indentation.
        size: Size of all text. `link_size` and `strong_size` are the sizes of its link text and of its strong text.
        span_index: Index of the span of the block that contains the line.
        tag: Tag of that block; CODE_TAG for code.
        text_pieces: The text in pieces as in the markup. The first piece of a line of code includes the empty lines
            before it.
        links: The links of the line, as (first piece, last piece + 1, attributes as markup).
        line_number: Line number in the complete page, skipped boilerplate included.
        cells: Cell texts, if the line is a row of a data table.
        is_linked_text: True if its links are part of the text around it (linked_text.py).
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
    is_linked_text: bool = False
    _punctuation_count: int = -1

    @property
    def link_share(self) -> float:
        """Share of link text in all text, 0 to 1."""
        return min(1.0, self.link_size / self.size) if self.link_size and self.size else 0.0

    @property
    def is_link(self) -> bool:
        """Whether more than MAX_TEXT_LINK_SHARE of the text is link text, and it is no linked text."""
        return self.link_size > MAX_TEXT_LINK_SHARE * self.size and not self.is_linked_text

    @property
    def has_punctuation(self) -> bool:
        """Whether the line contains a sentence mark."""
        return PUNCTUATION_RE.search(self.text) is not None

    @property
    def punctuation_count(self) -> int:
        """Number of sentence marks in the line, counted at the first access."""
        if self._punctuation_count < 0:
            self._punctuation_count = len(PUNCTUATION_RE.findall(self.text))
        return self._punctuation_count


@dataclass(slots=True)
class Span:
    """A block element and its lines: `start_line` inclusive, `end_line` exclusive.

    Attributes:
        parent_index: Index of the enclosing span, -1 for none.
        element_index: Number of elements before this element in the tree.
        start_line_number: Line number of its first line in the complete page, skipped boilerplate included.
        skipped_link_size: Size of skipped link text inside the element, at most MAX_LOSS_PER_LINK for each link.
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
    """An inline element with metadata (`TagInfo.is_metadata`): its text and the index of its first line."""

    tag_info: TagInfo
    line_index: int
    text: str


@dataclass(slots=True)
class Picture:
    """An img element: its attributes as markup, the index of the line after it, and the index of its block's span."""

    attribute_text: str
    line_index: int
    span_index: int


@dataclass(slots=True)
class SkippedContent:
    """Totals of the elements that were not laid out: size of text, size of link text, headlines and lines."""

    size: float = 0.0
    link_size: float = 0.0
    headline_count: int = 0
    line_count: int = 0

    def add(self, other: "SkippedContent") -> None:
        """Add the totals of another skipped element."""
        self.size += other.size
        self.link_size += other.link_size
        self.headline_count += other.headline_count
        self.line_count += other.line_count


@dataclass(slots=True)
class SkippedElement:
    """One element that was not laid out, for `layout_completion.complete_layout`.

    Attributes:
        span_index: Index of its span, which has no lines.
        first_token: Index of the first token after its start tag.
        end_token: Index of the token of its end tag.
        line_index: Number of lines before it. `picture_count` and `inline_count` are those of the other lists.
        element_index: Number of elements before it in the tree.
        line_count: Number of skipped lines before it.
        open_inline_count: Number of open inline elements around it.
    """

    span_index: int
    first_token: int
    end_token: int
    line_index: int
    picture_count: int
    inline_count: int
    element_index: int
    line_count: int
    open_inline_count: int


@dataclass(slots=True)
class Layout:
    """Lines and spans of a page in document order. A span precedes the spans inside it.

    A boilerplate element (navigation, footer ...) with almost no text outside links may be skipped. It has a span
    without lines, and `skipped` includes its totals. `skipped_elements` and `tokens` (of the page) are what
    `layout_completion.complete_layout` needs to lay them out as well; `can_complete` is False if the elements around a
    skipped one depend on its content.
    """

    lines: list[Line] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    inline_elements: list[InlineElement] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    skipped: SkippedContent = field(default_factory=SkippedContent)
    skipped_elements: list[SkippedElement] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    can_complete: bool = True

    def iter_enclosing(self, span_index: int) -> Iterator[int]:
        """Yield the index of a span and those of the spans around it, innermost first."""
        while span_index >= 0:
            yield span_index
            span_index = self.spans[span_index].parent_index


def text_size(text: str) -> float:
    """Return the size of a text in Chinese characters: UTF-8 needs three bytes for one, and one for a Latin letter."""
    compact = "".join(text.split())
    return len(compact if compact.isascii() else compact.encode("utf-8", "replace")) / 3


def join_lines(lines: Iterable[Line]) -> str:
    """Join the texts of the lines to plain text, one line per paragraph."""
    return "\n".join(line.text for line in lines)
