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

from extractor.page.boilerplate import is_left_out, may_be_left_out, scan
from extractor.page.layout import CODE_TAG, Layout, Line, Note, Picture, Span, size_of
from extractor.page.markup_hints import TagInfo, facts_of, plain, value_of
from extractor.page.permalinks import is_permalink
from extractor.page.tokens import BLOCK_ENDS, BLOCK_TAGS, odd_start, tokens_of
from text.scripts import HAN

STRONG_TAGS = frozenset(("b", "strong"))
HEAD_TAGS = frozenset(("meta", "link", "title", "base"))
PASSED_OVER = HEAD_TAGS | {"br", "img"}
NO_ANCHORS: tuple[tuple[int, int, str], ...] = ()
MAX_AROUND = 60  # elements that are told what was left out inside them
MAX_SCANS = 3  # times that a page is looked through for what may be left out, against endless nesting
LONGEST_CELL = 25.0  # of a cell in a table of data; longer ones lay out the page
LONGEST_META = 2_000
# Of a note, which is the text of a small element: unclosed ones hold the page, each of them.
LONGEST_NOTE = 2_000
MAX_NOTED = 200  # lines
# A line break inside Chinese text is layout, not a space between words.
WIDE = f"\u3001-\u9fff{HAN}\uff00-\uffef"
HAN_BREAK = re.compile(rf"(?<=[{WIDE}])[ \t]*[\r\n]\s*(?=[{WIDE}])")


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
        self.inline: list[tuple[TagInfo, int, int] | None] = []  # open elements since the outermost note
        self.elements = -1
        self.may_scan = 0
        self.blank = 0  # so many of the first parts are white space, as far as somebody looked
        self.code = -1  # the span of the outermost open `pre`

    def read(self, markup: str, whole: bool) -> None:
        """The pass."""
        parts, tokens = self.parts, tokens_of(markup)
        self.may_scan = 0 if whole else MAX_SCANS * len(tokens)
        at, end = 0, len(tokens)
        while at < end:
            head, _, text = tokens[at].partition(">")
            at += 1
            if head[:1] == "/":
                if head in BLOCK_ENDS:
                    if parts:
                        self.flush()
                    self.close_span(head[1:])
                else:
                    self.leave(head[1:])
            else:
                name, _, attributes = head.partition(" ")
                if not name.isalnum():
                    name, attributes = odd_start(head)
                if name in BLOCK_TAGS:
                    if parts:
                        self.flush()
                    if behind := self.enter_block(name, attributes, tokens, at):
                        at = behind
                        continue
                elif name == "title":
                    self.elements += 1
                    self.read_title(text)
                    continue
                else:
                    self.enter(name, attributes)
            if text and (parts or not text.isspace()):
                parts.append(plain(text) if "&" in text else text)
                if self.code >= 0 and "\n" in text:
                    self.flush_code()
        self.finish()

    def finish(self) -> None:
        """End the last line and the spans that are still open."""
        if self.parts:
            self.flush()
        while self.open:
            self.layout.spans[self.open.pop()].end = len(self.layout.lines)

    def enter_block(self, tag: str, attributes: str, tokens: list[str], at: int) -> int:
        """A block. Where it ends, if it is left out unread; else 0. Its first token is `at`."""
        self.elements += 1
        if attributes[-1:] == "/":
            self.open_span(tag, attributes[:-1])
            self.close_span(tag)
            return 0
        facts = self.open_span(tag, attributes)
        return self.collapse(tokens, at, facts) if self.may_scan > 0 and may_be_left_out(facts) else 0

    def collapse(self, tokens: list[str], at: int, facts: TagInfo) -> int:
        """Where the element opened just before token `at` ends, if it may be left out unread; else 0."""
        found = scan(tokens, at, facts, self.may_scan)
        self.may_scan -= found.tokens
        if not is_left_out(facts, found):
            return 0
        self.elements += found.elements
        self.layout.left_out.add(found)
        for place in self.open[-MAX_AROUND:]:
            self.layout.spans[place].loss += found.loss
        return found.end

    def enter(self, tag: str, attributes: str) -> None:
        """An element that is no block of HTML; custom elements are blocks."""
        self.elements += 1
        empty = attributes[-1:] == "/"
        if empty:
            attributes = attributes[:-1]
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
        if empty and tag not in PASSED_OVER:
            self.leave(tag)

    def leave(self, tag: str) -> None:
        """The end of an element that is no block of HTML."""
        if tag == "a":
            self.leave_link()
        elif tag in STRONG_TAGS:
            if 0 <= self.strong_start < len(self.parts):
                self.strong.append((self.strong_start, len(self.parts)))
            self.strong_start = -1
        elif "-" in tag:
            if self.parts:
                self.flush()
            self.close_span(tag)
        elif self.inline and tag not in PASSED_OVER:
            self.leave_inline()

    def open_span(self, tag: str, attributes: str) -> TagInfo:
        layout, opened = self.layout, self.open
        spans, start, facts = layout.spans, len(layout.lines), facts_of(tag, attributes)
        if self.code < 0 and tag == "pre":
            self.code = len(spans)
        parent = opened[-1] if opened else -1
        opened.append(len(spans))
        spans.append(Span(facts, start, parent, self.elements, start + layout.left_out.rows))
        return facts

    def close_span(self, tag: str) -> None:
        if not self.open or self.layout.spans[self.open[-1]].facts.tag != tag:
            return  # an attribute with an odd name has broken the markup
        place = self.open.pop()
        span = self.layout.spans[place]
        if tag == "tr" and len(self.layout.lines) - span.start > 1:
            self.join_cells(place)
        elif place == self.code:
            self.code = -1
            keep_code(self.layout.lines[span.start :])
        span.end = len(self.layout.lines)

    def leave_link(self) -> None:
        """The end of a link; a permalink is taken out, but in code any sign may be one that counts."""
        if self.link is not None:
            start, attributes = self.link
            if start < len(self.parts):
                if "#" in attributes and self.code < 0 and is_permalink(attributes, "".join(self.parts[start:])):
                    del self.parts[start:]
                else:
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
        lines = self.layout.lines[line : line + MAX_NOTED]
        whole = "".join(self.parts[part:] if not lines else self.parts)
        text = " ".join((*(line.text[:LONGEST_NOTE] for line in lines), " ".join(whole[: 2 * LONGEST_NOTE].split())))
        self.layout.notes.append(Note(facts, line, text.strip()[:LONGEST_NOTE]))

    def read_title(self, text: str) -> None:
        if not self.head.title:
            self.head.title = " ".join(plain(text[: 2 * LONGEST_META]).split())[:LONGEST_META]

    def read_head(self, tag: str, attributes: str) -> None:
        if len(attributes) > 2 * LONGEST_META:  # a whole site's keywords, a picture as data
            return
        if tag == "meta":
            content = " ".join(plain(value_of("content", attributes)).split())[:LONGEST_META]
            for key in ("name", "property", "itemprop") if content else ():
                if name := plain(value_of(key, attributes)).strip().lower():
                    self.head.metas.setdefault(name, content)
        elif href := plain(value_of("href", attributes)).strip():
            for rel in (value_of("rel", attributes) or tag).lower().split():
                self.head.links.setdefault(rel, href)

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

    def flush_code(self) -> None:
        """End a line at each line break; empty ones stay with the line behind them."""
        *whole, rest = self.parts.pop().split("\n")
        for line in whole:
            self.parts.append(line)
            if self.shows_text():
                self.flush()
            else:
                self.parts[-1] += "\n"
        self.parts.append(rest)

    def shows_text(self) -> bool:
        """A part of the line is more than white space."""
        parts, here = self.parts, min(self.blank, len(self.parts) - 1)
        while here < len(parts) and (not parts[here] or parts[here].isspace()):
            here += 1
        self.blank = here
        return here < len(parts)

    def flush(self) -> None:
        """End a line. A link or strong text that is open goes on in the next."""
        parts, link, strong_open = self.parts, self.link, self.strong_start >= 0
        if link is not None:
            self.leave_link()
            self.link = (0, link[1])
        raw = parts[0] if len(parts) == 1 else "".join(parts)
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
        self.blank = 0

    def add_line(self, text: str) -> None:
        layout, parts, anchors = self.layout, self.parts, self.anchors
        place = self.open[-1] if self.open else -1
        tag = layout.spans[place].facts.tag if place >= 0 else ""
        size = (len(text if text.isascii() else text.encode("utf-8", "replace")) - text.count(" ")) / 3
        link = self.size_within([(start, end) for start, end, _ in anchors], size) if anchors else 0.0
        strong = self.size_within(self.strong, size) if self.strong else 0.0
        row = len(layout.lines) + layout.left_out.rows
        layout.lines.append(Line(text, size, link, strong, place, tag, tuple(parts), anchors or NO_ANCHORS, row))

    def size_within(self, ranges: Sequence[tuple[int, int]], whole: float) -> float:
        """The size of some ranges of parts of the line, whose own is `whole`."""
        parts = self.parts
        if len(ranges) == 1 and ranges[0] == (0, len(parts)):
            return whole
        return sum(size_of("".join(parts[start:end])) for start, end in ranges)
