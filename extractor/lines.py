"""The page as a reader sees it: lines of text, and for every block element the range of lines it holds.

    <div><h1>标题</h1><p>正文<br>第二行</p></div>

    lines   0 标题 (h1)   1 正文 (p)   2 第二行 (p)
    spans   div 0-3   h1 0-1   p 1-3

One pass over the markup of the cleaned tree, as text: asking lxml for every element costs four times as much.
Sizes are in Chinese characters: one Chinese character counts 1, a Latin letter a third, white space nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from extractor.dom import HEADINGS
from extractor.layout import CODE_TAG, Layout, Line, Note, Picture, Span, size_of
from extractor.left_out import is_left_out, may_be_left_out, scan
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
MOST_AROUND = 60  # elements that are told what was left out inside them
MOST_SCANS = 3  # times that a page is looked through for what may be left out, against endless nesting
LONGEST_CELL = 25.0  # of a cell in a table of data; longer ones lay out the page
LONGEST_META = 2_000
# Of a note, which is the text of a small element: unclosed ones hold the page, each of them.
LONGEST_NOTE = 2_000
MOST_NOTED = 200  # lines
# A line break inside Chinese text is layout, not a space between words.
HAN_BREAK = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef])[ \t]*[\r\n]\s*(?=[\u3001-\u9fff\uff00-\uffef])")


@dataclass(slots=True)
class Head:
    """What a page says of itself: see `Document`."""

    title: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)


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
                    if self.may_scan > 0 and may_be_left_out(facts):
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
        """Where the element opened just before piece `at` ends, if it may be left out unread; else 0."""
        if pieces[at - 1].partition(">")[0].endswith("/"):
            return 0
        found = scan(pieces, at, facts, self.may_scan)
        self.may_scan -= found.pieces
        if not is_left_out(facts, found):
            return 0
        self.elements += found.elements
        self.layout.left_out.add(found)
        for place in self.open[-MOST_AROUND:]:
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
        lines = self.layout.lines[line : line + MOST_NOTED]
        whole = "".join(self.parts[part:] if not lines else self.parts)
        text = " ".join((*(line.text[:LONGEST_NOTE] for line in lines), " ".join(whole[: 2 * LONGEST_NOTE].split())))
        self.layout.notes.append(Note(facts, line, text.strip()[:LONGEST_NOTE]))

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
