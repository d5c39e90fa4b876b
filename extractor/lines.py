"""The page as a reader sees it: lines of text, and for every block element the range of lines it holds.

    <div><h1>标题</h1><p>正文<br>第二行</p></div>

    lines   0 标题 (h1)   1 正文 (p)   2 第二行 (p)
    spans   div 0-3   h1 0-1   p 1-3

One pass over the markup of the cleaned tree, as text: asking lxml for every element costs four times as much.
Sizes are in Chinese characters: one Chinese character counts 1, a Latin letter a third, white space nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from extractor.dom import HEADINGS
from extractor.names import Facts, attributes_of, facts_of, plain

BLOCK_TAGS = frozenset(
    (
        "html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend",
        "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
        "thead", "tr", "ul", "caption", *HEADINGS,
    )
)  # fmt: skip
STRONG_TAGS = frozenset(("b", "strong"))
HEAD_TAGS = frozenset(("meta", "link", "title", "base"))
PASSED_OVER = HEAD_TAGS | {"br", "img"}
NO_ANCHORS: tuple[tuple[int, int, str], ...] = ()
SENTENCE_MARKS = re.compile(r"[，。！？；：、…]|[,.!?;:](?=\s|$|[\"'”’)])")
LONGEST_CELL = 25.0  # of a cell in a table of data; longer ones lay out the page
LONGEST_META = 2_000
CODE_TAG = "code"  # of lines of code, whatever block they stand in
# A line break inside Chinese text is layout, not a space between words.
HAN_BREAK = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef])[ \t]*[\r\n]\s*(?=[\u3001-\u9fff\uff00-\uffef])")


@dataclass(slots=True)
class Line:
    """One line: its text, sizes of all text, of link text and of strong text, and the index of its block's span.

    `anchors` are the links in it, as (first piece, last piece + 1, attributes), and `parts` the pieces of the text as
    it stood. `cells` are the texts of a row of data. Code keeps its indentation: its `tag` is CODE_TAG, and empty
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
    cells: tuple[str, ...] = ()
    _marks: int = -1

    @property
    def link_share(self) -> float:
        """Link text in all text, 0 to 1."""
        return min(1.0, self.link_size / self.size) if self.link_size and self.size else 0.0

    @property
    def marks(self) -> int:
        """Sentence marks."""
        if self._marks < 0:
            self._marks = len(SENTENCE_MARKS.findall(self.text))
        return self._marks


@dataclass(slots=True)
class Span:
    """A block element and the lines below it: `start` inclusive, `end` exclusive.

    `parent` is the index of the span around it (-1: none), `element` how many elements stand before it in the tree.
    """

    facts: Facts
    start: int
    parent: int
    element: int
    end: int = -1


@dataclass(slots=True)
class Note:
    """The text of a small element that says what it is (`Facts.marked`), and the line in which it begins."""

    facts: Facts
    line: int
    text: str


@dataclass(slots=True)
class Picture:
    """An img element: its attributes as markup, the line before which it stands, and its block's span."""

    attributes: str
    line: int
    span: int


@dataclass(slots=True)
class Layout:
    """Lines and spans in document order; a span comes before the spans inside it."""

    lines: list[Line] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)

    def above(self, span: int) -> Iterator[int]:
        """Indices of a span and of those around it, innermost first."""
        while span >= 0:
            yield span
            span = self.spans[span].parent


@dataclass(slots=True)
class Head:
    """What a page says of itself: see `Document`."""

    title: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)


def size_of(text: str) -> float:
    """Length in Chinese characters: UTF-8 spends three bytes on each, and one on a Latin letter."""
    return len("".join(text.split()).encode("utf-8", "replace")) / 3


def read_lines(markup: str) -> tuple[Layout, Head]:
    """Lay well-formed markup out (see `dom.markup_of`), and read the head elements, wherever they stand."""
    reader = _Reader()
    reader.read(markup)
    return reader.layout, reader.head


def keep_code(lines: Sequence[Line]) -> None:
    """Give the lines of a `pre` their indentation back, unless it is prose: code is written in ASCII mostly."""
    whole = "".join(line.text for line in lines)
    if sum(char > "\x7f" for char in whole) > 0.5 * len(whole):
        return
    for line in lines:
        line.text = "".join(line.parts).rstrip().rpartition("\n")[2]
        line.tag = CODE_TAG


def render(lines: Iterable[Line]) -> str:
    """Plain text, one paragraph a line."""
    return "\n".join(line.text for line in lines)


class _Reader:
    """Gathers text between block boundaries."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.head = Head()
        self.open: list[int] = []  # indices of the open spans
        self.parts: list[str] = []
        self.anchors: list[tuple[int, int, str]] = []  # finished links of the line
        self.link: tuple[int, str] | None = None  # first piece and attributes of the open link
        self.strong: list[tuple[int, int]] = []
        self.strong_start = -1
        self.inline: list[tuple[Facts, int, int] | None] = []  # open elements since the outermost note
        self.elements = -1

    def read(self, markup: str) -> None:
        """The pass. A piece is a tag and the text behind it."""
        parts, open_spans = self.parts, self.open
        for piece in markup.split("<")[1:]:
            tag, _, text = piece.partition(">")
            if tag[:1] == "/":
                name = tag[1:]
                if name in BLOCK_TAGS:
                    if parts:
                        self.flush()
                    self.close_span(name)
                elif name == "a":
                    self.leave_link()
                elif self.inline or name in STRONG_TAGS or "-" in name:
                    self.leave(name)
            else:
                self.elements += 1
                empty = tag[-1:] == "/"
                name, _, attributes = (tag[:-1] if empty else tag).partition(" ")
                if name in BLOCK_TAGS:
                    if parts:
                        self.flush()
                    self.open_span(name, attributes)
                elif name == "title":
                    self.read_title(text)
                    continue
                else:
                    self.enter(name, attributes)
                if empty:
                    self.leave(name)
            if text and (parts or not text.isspace()):
                parts.append(plain(text) if "&" in text else text)
                if "\n" in text and self.is_code():
                    self.flush_code()
        if parts:
            self.flush()
        while open_spans:
            self.layout.spans[open_spans.pop()].end = len(self.layout.lines)

    def enter(self, tag: str, attributes: str) -> None:
        """An element that is no block of HTML; custom elements are blocks."""
        if tag == "a":
            self.leave_link()
            if "href=" in attributes:
                self.link = len(self.parts), attributes
        elif tag == "br":
            if self.parts:
                self.flush()
        elif tag == "img":
            self.layout.pictures.append(Picture(attributes, len(self.layout.lines), self.open[-1] if self.open else -1))
        elif tag in STRONG_TAGS:
            self.strong_start = len(self.parts)
        elif tag in HEAD_TAGS:
            self.read_head(tag, attributes)
        elif "-" in tag:
            if self.parts:
                self.flush()
            self.open_span(tag, attributes)
        elif self.inline or attributes:
            self.enter_inline(tag, attributes)

    def leave(self, tag: str) -> None:
        """The end of an element."""
        if tag in BLOCK_TAGS or "-" in tag:
            if self.parts:
                self.flush()
            self.close_span(tag)
        elif tag in STRONG_TAGS:
            if 0 <= self.strong_start < len(self.parts):
                self.strong.append((self.strong_start, len(self.parts)))
            self.strong_start = -1
        elif tag == "a":
            self.leave_link()
        elif self.inline and tag not in PASSED_OVER:
            self.leave_inline()

    def open_span(self, tag: str, attributes: str) -> None:
        spans = self.layout.spans
        parent = self.open[-1] if self.open else -1
        self.open.append(len(spans))
        spans.append(Span(facts_of(tag, attributes), len(self.layout.lines), parent, self.elements))

    def close_span(self, tag: str) -> None:
        if not self.open or self.layout.spans[self.open[-1]].facts.tag != tag:
            return  # an attribute with an odd name has broken the markup
        place = self.open.pop()
        span = self.layout.spans[place]
        if tag == "tr" and len(self.layout.lines) - span.start > 1:
            self.join_cells(place)
        elif tag == "pre":
            keep_code(self.layout.lines[span.start :])
        span.end = len(self.layout.lines)

    def leave_link(self) -> None:
        if self.link is not None:
            start, attributes = self.link
            if start < len(self.parts):
                self.anchors.append((start, len(self.parts), attributes))
            self.link = None

    def enter_inline(self, tag: str, attributes: str) -> None:
        """Open a note, or count an element inside one."""
        facts = facts_of(tag, attributes) if attributes or tag == "time" else None
        if facts is not None and facts.marked:
            self.inline.append((facts, len(self.parts), len(self.layout.lines)))
        elif self.inline:
            self.inline.append(None)

    def leave_inline(self) -> None:
        note = self.inline.pop()
        if note is None:
            return
        facts, part, line = note
        lines = self.layout.lines[line:]
        whole = "".join(self.parts[part:] if not lines else self.parts)
        text = " ".join((*(line.text for line in lines), " ".join(whole.split())))
        self.layout.notes.append(Note(facts, line, text.strip()))

    def read_title(self, text: str) -> None:
        if not self.head.title:
            self.head.title = " ".join(plain(text[: 2 * LONGEST_META]).split())[:LONGEST_META]

    def read_head(self, tag: str, attributes: str) -> None:
        found = attributes_of(attributes[: 2 * LONGEST_META])
        if tag == "meta":
            content = " ".join(found.get("content", "")[:LONGEST_META].split())
            for key in ("name", "property", "itemprop"):
                name = found.get(key, "").strip().lower()
                if name and content:
                    self.head.metas.setdefault(name, content)
        elif tag in ("link", "base") and found.get("href"):
            for rel in found.get("rel", tag).lower().split():
                self.head.links.setdefault(rel, found["href"].strip())

    def join_cells(self, place: int) -> None:
        """Make a row of short cells one line: it is a row of data, not of layout."""
        lines, spans = self.layout.lines, self.layout.spans
        row = spans[place]
        cells = lines[row.start :]
        if any(cell.tag not in ("td", "th") or cell.size > LONGEST_CELL for cell in cells):
            return
        text = " ".join(cell.text for cell in cells)
        sizes = (sum(cell.size for cell in cells), sum(cell.link_size for cell in cells))
        strong = sum(cell.strong_size for cell in cells)
        texts = tuple(cell.text for cell in cells)
        lines[row.start :] = [Line(text, *sizes, strong, place, "tr", (text,), NO_ANCHORS, texts)]
        for span in spans[place + 1 :]:
            span.start, span.end = row.start, row.start + 1

    def is_code(self) -> bool:
        """The innermost block is preformatted text: its line breaks are lines."""
        return bool(self.open) and self.layout.spans[self.open[-1]].facts.tag == "pre"

    def flush_code(self) -> None:
        """End a line at each line break; empty ones stay with the line behind them."""
        *whole, rest = self.parts.pop().split("\n")
        for line in whole:
            self.parts.append(line)
            if any(part and not part.isspace() for part in self.parts):
                self.flush()
            else:
                self.parts[-1] += "\n"
        self.parts.append(rest)

    def flush(self) -> None:
        """End a line. A link or strong text that is open goes on in the next."""
        parts, link, strong_open = self.parts, self.link, self.strong_start >= 0
        raw = parts[0] if len(parts) == 1 else "".join(parts)
        if link is not None:
            self.leave_link()
            self.link = (0, link[1])
        if strong_open and self.strong_start < len(parts):
            self.strong.append((self.strong_start, len(parts)))
        if "\n" in raw and not raw.isascii():
            raw = HAN_BREAK.sub("", raw.strip())
        text = " ".join(raw.split())
        if text:
            self.add_line(text)
        if self.anchors:
            self.anchors = []
        if self.strong:
            self.strong.clear()
        self.strong_start = 0 if strong_open else -1
        parts.clear()

    def add_line(self, text: str) -> None:
        place = self.open[-1] if self.open else -1
        tag = self.layout.spans[place].facts.tag if place >= 0 else ""
        parts, anchors, link, strong = self.parts, self.anchors, 0.0, 0.0
        if anchors:
            link = sum(size_of("".join(parts[start:end])) for start, end, _ in anchors)
        if self.strong:
            strong = sum(size_of("".join(parts[start:end])) for start, end in self.strong)
        size = (len(text if text.isascii() else text.encode("utf-8", "replace")) - text.count(" ")) / 3
        self.layout.lines.append(Line(text, size, link, strong, place, tag, tuple(parts), anchors or NO_ANCHORS))
