"""The page as a reader sees it: lines of text, and for every block element the range of lines it holds.

    <div><h1>标题</h1><p>正文<br>第二行</p></div>

    lines   0 标题 (h1)   1 正文 (p)   2 第二行 (p)
    spans   div 0-3   h1 0-1   p 1-3

Sizes are in Chinese characters: one Chinese character counts 1, a Latin letter a third, white space nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element as Element

from extractor.dom import HEADINGS

BLOCK_TAGS = frozenset(
    (
        "html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend",
        "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
        "thead", "tr", "ul", "caption", *HEADINGS,
    )
)  # fmt: skip
SENTENCE_MARKS = re.compile(r"[，。！？；：、…]|[,.!?;:](?=\s|$|[\"'”’)])")
LONGEST_CELL = 25.0  # of a cell in a table of data; longer ones lay out the page
# A line break inside Chinese text is layout, not a space between words.
HAN_BREAK = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef])[ \t]*[\r\n]\s*(?=[\u3001-\u9fff\uff00-\uffef])")


@dataclass(slots=True)
class Line:
    """One line: its text, sizes of all text and of link text, sentence marks, and the block element it stands in."""

    text: str
    size: float
    link_size: float
    marks: int
    element: Element

    @property
    def link_share(self) -> float:
        """Link text in all text, 0 to 1."""
        return min(1.0, self.link_size / self.size) if self.size else 0.0


@dataclass(slots=True)
class Span:
    """A block element and the lines below it: `start` inclusive, `end` exclusive."""

    element: Element
    start: int
    end: int = -1


@dataclass(slots=True)
class Layout:
    """Lines and spans in document order; a span comes before the spans inside it."""

    lines: list[Line] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


def size_of(text: str) -> float:
    """Length in Chinese characters: UTF-8 spends three bytes on each, and one on a Latin letter."""
    return len("".join(text.split()).encode("utf-8", "replace")) / 3


def read_lines(root: Element) -> Layout:
    """Lay a tree out. Walks without recursion; text order is document order."""
    reader = _Reader(root)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            reader.enter(element)
        else:
            reader.leave(element, is_root=element is root)
    reader.flush()
    return reader.layout


def render(lines: Iterable[Line]) -> str:
    """Plain text, one paragraph a line."""
    return "\n".join(line.text for line in lines)


class _Reader:
    """Gathers text between block boundaries."""

    def __init__(self, root: Element) -> None:
        self.layout = Layout()
        self.open: list[Span] = [Span(root, 0)]  # stands for text outside any block
        self.parts: list[str] = []
        self.link_size = 0.0
        self.links = 0

    def enter(self, element: Element) -> None:
        tag = element.tag
        if tag in BLOCK_TAGS or "-" in tag:
            self.flush()
            span = Span(element, len(self.layout.lines))
            self.layout.spans.append(span)
            self.open.append(span)
        elif tag == "br":
            self.flush()
        elif tag == "a" and element.get("href"):
            self.links += 1
        if element.text:
            self.add(element.text)

    def leave(self, element: Element, is_root: bool) -> None:
        tag = element.tag
        if tag in BLOCK_TAGS or "-" in tag:
            self.flush()
            span = self.open.pop()
            if tag == "tr":
                self.join_cells(span)
            span.end = len(self.layout.lines)
        elif tag == "a" and element.get("href"):
            self.links -= 1
        if element.tail and not is_root:
            self.add(element.tail)

    def join_cells(self, row: Span) -> None:
        """Make a row of short cells one line: it is a row of data, not of layout."""
        cells = self.layout.lines[row.start :]
        if len(cells) < 2 or any(cell.element.tag not in ("td", "th") or cell.size > LONGEST_CELL for cell in cells):
            return
        text = " ".join(cell.text for cell in cells)
        sizes = sum(cell.size for cell in cells), sum(cell.link_size for cell in cells)
        self.layout.lines[row.start :] = [Line(text, *sizes, sum(cell.marks for cell in cells), row.element)]
        for span in reversed(self.layout.spans):
            if span is row:
                break
            span.start, span.end = row.start, row.start + 1

    def add(self, text: str) -> None:
        if "\n" in text and self.open[-1].element.tag == "pre":
            *whole, text = text.split("\n")
            for line in whole:
                self.parts.append(line)
                self.flush()
        self.parts.append(text)
        if self.links:
            self.link_size += size_of(text)

    def flush(self) -> None:
        if not self.parts:
            return
        raw = "".join(self.parts)
        if "\n" in raw:
            raw = HAN_BREAK.sub("", raw.strip())
        text = " ".join(raw.split())
        if text:
            marks = len(SENTENCE_MARKS.findall(text))
            line = Line(text, size_of(text), self.link_size, marks, self.open[-1].element)
            self.layout.lines.append(line)
        self.parts.clear()
        self.link_size = 0.0
