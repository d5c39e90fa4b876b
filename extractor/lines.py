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
from extractor.names import Facts, Hint, attributes_of, facts_of, plain

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
# What may be left out holds no text outside links that is longer than a label, in Chinese characters, nor a year ...
LONGEST_LABEL = 12.0
YEAR = re.compile(r"(?:19|20)\d\d")
# ... and none of these elements.
TELLING = ("h1", "main", "article", "time")
LISTS = ("ul", "ol")
SHORTEST_LIST = 3  # links that make a list of links
LONGEST_LOSS = 20.0
HEADLINE = 6.0  # shortest link that may be a headline
MOST_SCANS = 3  # times that a page is looked through for what may be left out, against endless nesting
LONGEST_CELL = 25.0  # of a cell in a table of data; longer ones lay out the page
LONGEST_META = 2_000
CODE_TAG = "code"  # of lines of code, whatever block they stand in
# A line break inside Chinese text is layout, not a space between words.
HAN_BREAK = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef])[ \t]*[\r\n]\s*(?=[\u3001-\u9fff\uff00-\uffef])")


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

    facts: Facts
    start: int
    parent: int
    element: int
    row: int = 0
    loss: float = 0.0
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
class Scan:
    """An element looked through: the piece of its end tag (0: it must be read), and what it holds."""

    end: int = 0
    pieces: int = 0
    elements: int = 0
    size: float = 0.0
    link_size: float = 0.0
    headlines: int = 0
    rows: int = 0
    links: int = 0
    loss: float = 0.0


@dataclass(slots=True)
class LeftOut:
    """What elements that were not laid out hold: sizes of their text and of its links, headlines, and lines."""

    size: float = 0.0
    link_size: float = 0.0
    headlines: int = 0
    rows: int = 0

    def add(self, found: Scan) -> None:
        """Count one more element."""
        self.size += found.size
        self.link_size += found.link_size
        self.headlines += found.headlines
        self.rows += found.rows


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
    left_out: LeftOut = field(default_factory=LeftOut)

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
    bare = "".join(text.split())
    return len(bare if bare.isascii() else bare.encode("utf-8", "replace")) / 3


def read_lines(markup: str, whole: bool = True) -> tuple[Layout, Head]:
    """Lay well-formed markup out (see `dom.markup_of`), and read the head elements, wherever they stand.

    Unless the `whole` page is asked for, navigation and the like are left out (see `Layout`), which is half of a page.
    """
    reader = _Reader()
    reader.read(markup, whole)
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


def scan(pieces: Sequence[str], at: int, name: str, most: int, dated: bool) -> Scan:
    """Look through the element `name` whose first piece is `at`, at most `most` pieces far; `dated`: a year tells."""
    close, opens = f"/{name}>", (f"{name} ", f"{name}>")
    found, depth, in_link = Scan(), 1, False
    for place in range(at, min(len(pieces), at + most)):
        piece = pieces[place]
        if piece[:1] == "/":
            if piece.startswith(close):
                depth -= 1
                if depth == 0:
                    found.end = place
                    break
            elif piece[:3] == "/a>":
                in_link = False
        else:
            found.elements += 1
            if piece.startswith(opens):
                depth += piece[piece.find(">") - 1] != "/"
            elif piece[:2] == "a ":
                in_link = True
            elif piece.startswith(TELLING):
                break
        text = piece[piece.find(">") + 1 :] if piece[-1:] != ">" else ""
        if text and not text.isspace():
            size = size_of(text)
            found.size += size
            found.rows += 1
            if in_link:
                found.link_size += size
                found.links += 1
                found.headlines += size >= HEADLINE
                found.loss += min(size, LONGEST_LOSS)
            elif size >= LONGEST_LABEL or (dated and YEAR.search(text)):
                break
    found.pieces = place - at + 1 if at < len(pieces) else 0
    return found


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
        self.may_scan = 0

    def read(self, markup: str, whole: bool) -> None:
        """The pass. A piece is a tag and the text behind it."""
        parts, pieces = self.parts, markup.split("<")
        self.may_scan = 0 if whole else MOST_SCANS * len(pieces)
        at, end = 1, len(pieces)
        while at < end:
            tag, _, text = pieces[at].partition(">")
            at += 1
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
                    facts = self.open_span(name, attributes)
                    if (facts.apart or name in LISTS) and self.may_scan > 0:
                        behind = self.collapse(pieces, at, facts)
                        if behind:
                            at = behind
                            continue
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
        self.finish()

    def finish(self) -> None:
        """End the last line and the spans that are still open."""
        if self.parts:
            self.flush()
        while self.open:
            self.layout.spans[self.open.pop()].end = len(self.layout.lines)

    def collapse(self, pieces: list[str], at: int, facts: Facts) -> int:
        """Where the element opened just before piece `at` ends, if it may be left out unread; else 0.

        It may, where it has no text outside links but labels, and no element that speaks of the article; a list only
        where it is one of links.
        """
        if pieces[at - 1].partition(">")[0].endswith("/"):
            return 0
        found = scan(pieces, at, facts.tag, self.may_scan, facts.hint is not Hint.AFTER)
        self.may_scan -= found.pieces
        if not found.end or (not facts.apart and (found.links < SHORTEST_LIST or found.links < found.rows)):
            return 0
        self.elements += found.elements
        self.layout.left_out.add(found)
        for place in self.open:
            self.layout.spans[place].loss += found.loss
        return found.end

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

    def open_span(self, tag: str, attributes: str) -> Facts:
        spans = self.layout.spans
        parent = self.open[-1] if self.open else -1
        self.open.append(len(spans))
        facts = facts_of(tag, attributes)
        row = len(self.layout.lines) + self.layout.left_out.rows
        spans.append(Span(facts, len(self.layout.lines), parent, self.elements, row))
        return facts

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
        lines[row.start :] = [Line(text, *sizes, strong, place, "tr", (text,), NO_ANCHORS, cells[0].row, texts)]
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
        row = len(self.layout.lines) + self.layout.left_out.rows
        line = Line(text, size, link, strong, place, tag, tuple(parts), anchors or NO_ANCHORS, row)
        self.layout.lines.append(line)
