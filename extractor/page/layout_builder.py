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

from extractor.page.boilerplate_skip import may_skip, scan_element, should_skip
from extractor.page.layout import CODE_TAG, InlineElement, Layout, Line, Picture, Span, text_size
from extractor.page.permalinks import is_permalink
from extractor.page.tag_info import TagInfo, attribute_value, parse_tag, unescape_markup
from extractor.page.tokenizer import BLOCK_END_TAGS, BLOCK_TAGS, parse_odd_start_tag, tokenize
from text.scripts import HAN

STRONG_TAGS = frozenset(("b", "strong"))
HEAD_TAGS = frozenset(("meta", "link", "title", "base"))
VOID_OR_HEAD_TAGS = HEAD_TAGS | {"br", "img"}
NO_LINKS: tuple[tuple[int, int, str], ...] = ()
MAX_ENCLOSING_SPANS = 60  # elements that are told what was left out inside them
MAX_SCAN_PASSES = 3  # times that a page is looked through for what may be left out, against endless nesting
MAX_DATA_CELL_SIZE = 25.0  # of a cell in a table of data; longer ones lay out the page
MAX_META_CHARS = 2_000
# Of a note, which is the text of a small element: unclosed ones hold the page, each of them.
MAX_INLINE_ELEMENT_CHARS = 2_000
MAX_INLINE_ELEMENT_LINES = 200  # lines
# A line break inside Chinese text is layout, not a space between words.
CJK_CHARS = f"\u3001-\u9fff{HAN}\uff00-\uffef"
CJK_LINE_BREAK_RE = re.compile(rf"(?<=[{CJK_CHARS}])[ \t]*[\r\n]\s*(?=[{CJK_CHARS}])")


@dataclass(slots=True)
class HeadData:
    """What a page says of itself: see `Document`."""

    title: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    head_links: dict[str, str] = field(default_factory=dict)


def build_layout(markup: str, complete: bool = True) -> tuple[Layout, HeadData]:
    """Lay well-formed markup out (see `dom.serialize`), and read the head elements, wherever they stand.

    Unless the `complete` page is asked for, navigation and the like are left out (see `Layout`), which is half of a page.
    """
    reader = _LayoutBuilder()
    reader.run(markup, complete)
    return reader.layout, reader.head


def restore_code_lines(lines: Sequence[Line]) -> None:
    """Give the lines of a `pre` their indentation back, unless it is prose: code is written in ASCII mostly."""
    text = "".join(line.text for line in lines)
    if sum(char > "\x7f" for char in text) > 0.5 * len(text):
        return
    for line in lines:
        line.text = "".join(line.text_pieces).rstrip().rpartition("\n")[2]
        line.tag = CODE_TAG


class _LayoutBuilder:
    """Gathers text between block boundaries."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.head = HeadData()
        self.open_spans: list[int] = []  # indices of the open spans
        self.text_pieces: list[str] = []
        self.links: list[tuple[int, int, str]] = []  # finished links of the line
        self.open_link: tuple[int, str] | None = None  # first piece and attributes of the open link
        self.strong_ranges: list[tuple[int, int]] = []
        self.strong_start = -1
        self.open_inline: list[tuple[TagInfo, int, int] | None] = []  # open elements since the outermost note
        self.element_index = -1
        self.scan_budget = 0
        self.blank_pieces = 0  # so many of the first parts are white space, as far as somebody looked
        self.open_pre_span = -1  # the span of the outermost open `pre`

    def run(self, markup: str, complete: bool) -> None:
        """The pass."""
        parts, tokens = self.text_pieces, tokenize(markup)
        self.scan_budget = 0 if complete else MAX_SCAN_PASSES * len(tokens)
        at, end = 0, len(tokens)
        while at < end:
            tag_text, _, text = tokens[at].partition(">")
            at += 1
            if tag_text[:1] == "/":
                if tag_text in BLOCK_END_TAGS:
                    if parts:
                        self.flush_line()
                    self.close_span(tag_text[1:])
                else:
                    self.end_element(tag_text[1:])
            else:
                name, _, attributes = tag_text.partition(" ")
                if not name.isalnum():
                    name, attributes = parse_odd_start_tag(tag_text)
                if name in BLOCK_TAGS:
                    if parts:
                        self.flush_line()
                    if next_position := self.start_block(name, attributes, tokens, at):
                        at = next_position
                        continue
                elif name == "title":
                    self.element_index += 1
                    self.read_title(text)
                    continue
                else:
                    self.start_element(name, attributes)
            if text and (parts or not text.isspace()):
                parts.append(unescape_markup(text) if "&" in text else text)
                if self.open_pre_span >= 0 and "\n" in text:
                    self.flush_code()
        self.finish()

    def finish(self) -> None:
        """End the last line and the spans that are still open."""
        if self.text_pieces:
            self.flush_line()
        while self.open_spans:
            self.layout.spans[self.open_spans.pop()].end_line = len(self.layout.lines)

    def start_block(self, tag: str, attribute_text: str, tokens: list[str], position: int) -> int:
        """A block. Where it ends, if it is left out unread; else 0. Its first token is `position`."""
        self.element_index += 1
        if attribute_text[-1:] == "/":
            self.open_span(tag, attribute_text[:-1])
            self.close_span(tag)
            return 0
        facts = self.open_span(tag, attribute_text)
        return self.skip_boilerplate(tokens, position, facts) if self.scan_budget > 0 and may_skip(facts) else 0

    def skip_boilerplate(self, tokens: list[str], position: int, tag_info: TagInfo) -> int:
        """Where the element opened just before token `position` ends, if it may be left out unread; else 0."""
        scan = scan_element(tokens, position, tag_info, self.scan_budget)
        self.scan_budget -= scan.token_count
        if not should_skip(tag_info, scan):
            return 0
        self.element_index += scan.element_count
        self.layout.skipped.add(scan)
        for span_index in self.open_spans[-MAX_ENCLOSING_SPANS:]:
            self.layout.spans[span_index].skipped_link_size += scan.skipped_link_size
        return scan.end_token

    def start_element(self, tag: str, attribute_text: str) -> None:
        """An element that is no block of HTML; custom elements are blocks."""
        self.element_index += 1
        empty = attribute_text[-1:] == "/"
        if empty:
            attribute_text = attribute_text[:-1]
        if tag == "a":
            self.end_link()
            if "href=" in attribute_text:
                self.open_link = len(self.text_pieces), attribute_text
        elif tag == "br":
            if self.text_pieces:
                self.flush_line()
        elif tag == "img":
            self.layout.pictures.append(
                Picture(attribute_text, len(self.layout.lines), self.open_spans[-1] if self.open_spans else -1)
            )
        elif tag in STRONG_TAGS:
            self.strong_start = len(self.text_pieces)
        elif tag in HEAD_TAGS:
            self.read_head(tag, attribute_text)
        elif "-" in tag:
            if self.text_pieces:
                self.flush_line()
            self.open_span(tag, attribute_text)
        elif self.open_inline or attribute_text:
            self.start_inline(tag, attribute_text)
        if empty and tag not in VOID_OR_HEAD_TAGS:
            self.end_element(tag)

    def end_element(self, tag: str) -> None:
        """The end of an element that is no block of HTML."""
        if tag == "a":
            self.end_link()
        elif tag in STRONG_TAGS:
            if 0 <= self.strong_start < len(self.text_pieces):
                self.strong_ranges.append((self.strong_start, len(self.text_pieces)))
            self.strong_start = -1
        elif "-" in tag:
            if self.text_pieces:
                self.flush_line()
            self.close_span(tag)
        elif self.open_inline and tag not in VOID_OR_HEAD_TAGS:
            self.end_inline()

    def open_span(self, tag: str, attribute_text: str) -> TagInfo:
        layout, open_spans = self.layout, self.open_spans
        spans, start, facts = layout.spans, len(layout.lines), parse_tag(tag, attribute_text)
        if self.open_pre_span < 0 and tag == "pre":
            self.open_pre_span = len(spans)
        parent = open_spans[-1] if open_spans else -1
        open_spans.append(len(spans))
        spans.append(Span(facts, start, parent, self.element_index, start + layout.skipped.line_count))
        return facts

    def close_span(self, tag: str) -> None:
        if not self.open_spans or self.layout.spans[self.open_spans[-1]].tag_info.tag != tag:
            return  # an attribute with an odd name has broken the markup
        span_index = self.open_spans.pop()
        span = self.layout.spans[span_index]
        if tag == "tr" and len(self.layout.lines) - span.start_line > 1:
            self.merge_row_cells(span_index)
        elif span_index == self.open_pre_span:
            self.open_pre_span = -1
            restore_code_lines(self.layout.lines[span.start_line :])
        span.end_line = len(self.layout.lines)

    def end_link(self) -> None:
        """The end of a link; a permalink is taken out, but in code any sign may be one that counts."""
        if self.open_link is not None:
            start, attributes = self.open_link
            if start < len(self.text_pieces):
                if (
                    "#" in attributes
                    and self.open_pre_span < 0
                    and is_permalink(attributes, "".join(self.text_pieces[start:]))
                ):
                    del self.text_pieces[start:]
                else:
                    self.links.append((start, len(self.text_pieces), attributes))
            self.open_link = None

    def start_inline(self, tag: str, attribute_text: str) -> None:
        """Open a note, or count an element inside one."""
        facts = parse_tag(tag, attribute_text) if attribute_text or tag == "time" else None
        if facts is not None and facts.is_metadata:
            self.open_inline.append((facts, len(self.text_pieces), len(self.layout.lines)))
        elif self.open_inline:
            self.open_inline.append(None)

    def end_inline(self) -> None:
        inline_element = self.open_inline.pop()
        if inline_element is None:
            return
        facts, first_piece, line = inline_element
        lines = self.layout.lines[line : line + MAX_INLINE_ELEMENT_LINES]
        tail_text = "".join(self.text_pieces[first_piece:] if not lines else self.text_pieces)
        text = " ".join(
            (
                *(line.text[:MAX_INLINE_ELEMENT_CHARS] for line in lines),
                " ".join(tail_text[: 2 * MAX_INLINE_ELEMENT_CHARS].split()),
            )
        )
        self.layout.inline_elements.append(InlineElement(facts, line, text.strip()[:MAX_INLINE_ELEMENT_CHARS]))

    def read_title(self, text: str) -> None:
        if not self.head.title:
            self.head.title = " ".join(unescape_markup(text[: 2 * MAX_META_CHARS]).split())[:MAX_META_CHARS]

    def read_head(self, tag: str, attribute_text: str) -> None:
        if len(attribute_text) > 2 * MAX_META_CHARS:  # a whole site's keywords, a picture as data
            return
        if tag == "meta":
            content = " ".join(unescape_markup(attribute_value("content", attribute_text)).split())[:MAX_META_CHARS]
            for key in ("name", "property", "itemprop") if content else ():
                if name := unescape_markup(attribute_value(key, attribute_text)).strip().lower():
                    self.head.metas.setdefault(name, content)
        elif href := unescape_markup(attribute_value("href", attribute_text)).strip():
            for rel in (attribute_value("rel", attribute_text) or tag).lower().split():
                self.head.head_links.setdefault(rel, href)

    def merge_row_cells(self, row_span: int) -> None:
        """Make a row of short cells one line: it is a row of data, not of layout."""
        lines, spans = self.layout.lines, self.layout.spans
        row = spans[row_span]
        cells = lines[row.start_line :]
        if any(cell.tag not in ("td", "th") or cell.size > MAX_DATA_CELL_SIZE for cell in cells):
            return
        text = " ".join(cell.text for cell in cells)
        sizes = (sum(cell.size for cell in cells), sum(cell.link_size for cell in cells))
        strong = sum(cell.strong_size for cell in cells)
        texts = tuple(cell.text for cell in cells)
        lines[row.start_line :] = [
            Line(text, *sizes, strong, row_span, "tr", (text,), NO_LINKS, cells[0].line_number, texts)
        ]
        for span in spans[row_span + 1 :]:
            span.start_line, span.end_line = row.start_line, row.start_line + 1

    def flush_code(self) -> None:
        """End a line at each line break; empty ones stay with the line behind them."""
        *complete_lines, unfinished_line = self.text_pieces.pop().split("\n")
        for line in complete_lines:
            self.text_pieces.append(line)
            if self.has_text():
                self.flush_line()
            else:
                self.text_pieces[-1] += "\n"
        self.text_pieces.append(unfinished_line)

    def has_text(self) -> bool:
        """A part of the line is more than white space."""
        parts, piece_index = self.text_pieces, min(self.blank_pieces, len(self.text_pieces) - 1)
        while piece_index < len(parts) and (not parts[piece_index] or parts[piece_index].isspace()):
            piece_index += 1
        self.blank_pieces = piece_index
        return piece_index < len(parts)

    def flush_line(self) -> None:
        """End a line. A link or strong text that is open goes on in the next."""
        parts, link, strong_open = self.text_pieces, self.open_link, self.strong_start >= 0
        if link is not None:
            self.end_link()
            self.open_link = (0, link[1])
        raw = parts[0] if len(parts) == 1 else "".join(parts)
        if strong_open and self.strong_start < len(parts):
            self.strong_ranges.append((self.strong_start, len(parts)))
        if "\n" in raw and not raw.isascii():
            raw = CJK_LINE_BREAK_RE.sub("", raw.strip())
        text = " ".join(raw.split())
        if text:
            self.add_line(text)
        if self.links:
            self.links = []
        if self.strong_ranges:
            self.strong_ranges.clear()
        self.strong_start = 0 if strong_open else -1
        parts.clear()
        self.blank_pieces = 0

    def add_line(self, text: str) -> None:
        layout, parts, anchors = self.layout, self.text_pieces, self.links
        span_index = self.open_spans[-1] if self.open_spans else -1
        tag = layout.spans[span_index].tag_info.tag if span_index >= 0 else ""
        size = (len(text if text.isascii() else text.encode("utf-8", "replace")) - text.count(" ")) / 3
        link = self.size_of_ranges([(start, end) for start, end, _ in anchors], size) if anchors else 0.0
        strong = self.size_of_ranges(self.strong_ranges, size) if self.strong_ranges else 0.0
        row = len(layout.lines) + layout.skipped.line_count
        layout.lines.append(Line(text, size, link, strong, span_index, tag, tuple(parts), anchors or NO_LINKS, row))

    def size_of_ranges(self, ranges: Sequence[tuple[int, int]], line_size: float) -> float:
        """The size of some ranges of parts of the line, whose own is `line_size`."""
        parts = self.text_pieces
        if len(ranges) == 1 and ranges[0] == (0, len(parts)):
            return line_size
        return sum(text_size("".join(parts[start:end])) for start, end in ranges)
