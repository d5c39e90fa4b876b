"""Builds the layout of a page: lines of text, and for every block element the range of its lines.

    <div><h1>标题</h1><p>正文<br>第二行</p></div>

    lines   0 标题 (h1)   1 正文 (p)   2 第二行 (p)
    spans   div 0-3   h1 0-1   p 1-3

One pass over the serialized markup of the cleaned tree: visiting every element with lxml takes four times as long.
Sizes are in Chinese characters: a Chinese character counts 1, a Latin letter 1/3, white space 0.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG, InlineElement, Layout, Line, Picture, SkippedElement, Span, text_size
from extractor.page.linked_text import is_text_sentence
from extractor.page.tag_info import Hint, TagInfo, attribute_value, is_invisible, parse_tag, unescape_markup
from extractor.page.tokenizer import (
    BLOCK_TAGS,
    LIST_TAGS,
    parse_odd_start_tag,
    scan_element,
    should_skip,
    tokenize_markup,
)
from text.scripts import HAN

STRONG_TAGS = frozenset(("b", "strong"))
PICTURE_TAGS = frozenset(("img", "amp-img", "amp-anim"))
HEAD_TAGS = frozenset(("meta", "link", "title", "base"))
VOID_OR_HEAD_TAGS = HEAD_TAGS | {"br", "img", "source"}
SRCSET_ATTRIBUTE_RE = re.compile(r'srcset="([^"]*)"')
NO_LINKS: tuple[tuple[int, int, str], ...] = ()
MAX_ENCLOSING_SPANS = 60  # enclosing spans whose `skipped_link_size` is updated
MAX_SCAN_PASSES = 3  # scan budget in passes over the page; bounds the time for deeply nested boilerplate
MAX_DATA_CELL_SIZE = 25.0  # tables with larger cells are used for page layout, not for data
MAX_META_CHARS = 2_000
AUTHOR_META_ENDS = ("author", "creator")
# Limits for the text of an inline element: an unclosed one contains the rest of the page.
MAX_INLINE_ELEMENT_CHARS = 2_000
MAX_INLINE_ELEMENT_LINES = 200
# A line break inside Chinese text is formatting, not a space between words.
CJK_CHARS = f"\u3001-\u9fff{HAN}\uff00-\uffef"
CJK_LINE_BREAK_RE = re.compile(rf"(?<=[{CJK_CHARS}])[ \t]*[\r\n]\s*(?=[{CJK_CHARS}])")


@dataclass(slots=True)
class HeadData:
    """Data of the head elements: <title>, metas by name and link elements by rel (see `ParsedPage`)."""

    title: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    head_links: dict[str, str] = field(default_factory=dict)


def build_layout(markup: str, complete: bool = True) -> tuple[Layout, HeadData]:
    """Lay out well-formed markup (see `dom.serialize`) and read its head elements, wherever they occur.

    Args:
        markup: The serialized tree.
        complete: False to skip navigation and other boilerplate (see `Layout`), which is half of a typical page.
    """
    builder = _LayoutBuilder()
    builder.run(tokenize_markup(markup), complete)
    return builder.layout, builder.head


def build_skipped_element(layout: Layout, element: SkippedElement) -> Layout | None:
    """Lay out an element that was skipped in `layout`; returns None if its content does not end with it."""
    return _LayoutBuilder().run_skipped(layout, element)


def restore_code_lines(lines: Sequence[Line]) -> None:
    """Restore the indentation of the lines of a `pre` and tag them as code.

    Does nothing if more than half of the characters are not ASCII: code is mostly ASCII, so this text is prose.
    """
    text = "".join(line.text for line in lines)
    if sum(char > "\x7f" for char in text) > 0.5 * len(text):
        return
    for line in lines:
        line.text = "".join(line.text_pieces).rstrip().rpartition("\n")[2]
        line.tag = CODE_TAG


def is_data_row(cells: Sequence[Line]) -> bool:
    """Return whether a table row has only short cells: it is a row of data, not of page layout."""
    return not any(cell.tag not in ("td", "th") or cell.size > MAX_DATA_CELL_SIZE for cell in cells)


class _LayoutBuilder:
    """Collects text between block boundaries into the lines of a layout."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.head = HeadData()
        self.open_spans: list[int] = []  # indices of the open spans, outermost first
        self.text_pieces: list[str] = []
        self.links: list[tuple[int, int, str]] = []  # closed links of the line
        self.open_link: tuple[int, str] | None = None  # first piece and attributes of the open link
        self.strong_ranges: list[tuple[int, int]] = []
        self.strong_start = -1
        self.open_inline: list[tuple[TagInfo, int, int] | None] = []  # open inline elements; None: without metadata
        self.element_index = -1
        self.scan_budget = 0
        self.blank_pieces = 0  # number of leading pieces known to be white space
        self.open_pre_span = -1  # the span of the outermost open `pre`
        self.picture_source = ""  # srcset of the first <source> before the next img

    def run(self, tokens: list[str], complete: bool) -> None:
        """Read all tokens of a page and fill `layout` and `head`; for `complete` see `build_layout`."""
        self.scan_budget = 0 if complete else MAX_SCAN_PASSES * len(tokens)
        self.read_tokens(tokens, 0, len(tokens))
        self.finish()
        if self.layout.skipped_elements:
            self.layout.tokens = tokens

    def run_skipped(self, layout: Layout, element: SkippedElement) -> Layout | None:
        """Lay out an element that was skipped in `layout`; returns None if its content does not end with it."""
        span = layout.spans[element.span_index]
        self.element_index = element.element_index
        self.open_inline = [None] * element.open_inline_count
        self.open_spans.append(0)
        self.layout.spans.append(Span(span.tag_info, 0, -1, span.element_index))
        self.add_text(layout.tokens[element.first_token - 1].partition(">")[2])
        self.read_tokens(layout.tokens, element.first_token, element.end_token)
        if self.text_pieces:
            self.flush_line()
        is_closed = (
            len(self.open_spans) == 1
            and self.open_link is None
            and self.strong_start < 0
            and self.open_inline == [None] * element.open_inline_count
        )
        self.finish()
        return self.layout if is_closed else None

    def read_tokens(self, tokens: list[str], position: int, end: int) -> None:
        """Read the tokens from `position` to `end` (exclusive). Contains the frequent cases, without further calls."""
        parts, open_spans, layout = self.text_pieces, self.open_spans, self.layout
        spans, lines = layout.spans, layout.lines
        while position < end:
            tag_text, _, text = tokens[position].partition(">")
            position += 1
            if tag_text[:1] == "/":
                name = tag_text[1:]
                if name in BLOCK_TAGS:
                    if parts:
                        self.flush_line()
                    if open_spans:
                        span = spans[open_spans[-1]]
                        if span.tag_info.tag == name:
                            if name == "tr" or name == "pre":
                                self.close_span(name)
                            else:
                                del open_spans[-1]
                                span.end_line = len(lines)
                elif name == "a":
                    if self.open_link is not None:
                        self.end_link()
                elif self.open_inline or name in STRONG_TAGS or "-" in name:
                    self.end_element(name)
            else:
                name, _, attributes = tag_text.partition(" ")
                if not name.isalnum():
                    name, attributes = parse_odd_start_tag(tag_text)
                if name in BLOCK_TAGS:
                    if parts:
                        self.flush_line()
                    self.element_index += 1
                    if attributes[-1:] == "/":
                        self.open_span(name, attributes[:-1])
                        self.close_span(name)
                    else:
                        tag_info = self.open_span(name, attributes)
                        may_skip = tag_info.is_boilerplate or (name in LIST_TAGS and not self.follows_text())
                        if may_skip and self.scan_budget > 0:
                            end_position = self.skip_boilerplate(tokens, position, tag_info)
                            if end_position:
                                position = end_position
                                continue
                elif name == "a":
                    self.element_index += 1
                    if self.open_link is not None:
                        self.end_link()
                    if "href=" in attributes and attributes[-1:] != "/":
                        self.open_link = len(parts), attributes
                elif name == "title":
                    self.element_index += 1
                    if not self.head.title:
                        self.head.title = " ".join(unescape_markup(text[: 2 * MAX_META_CHARS]).split())[:MAX_META_CHARS]
                    continue
                else:
                    self.start_element(name, attributes)
            if text and (parts or not text.isspace()):
                parts.append(unescape_markup(text) if "&" in text else text)
                if self.open_pre_span >= 0 and "\n" in text:
                    self.flush_code()

    def follows_text(self) -> bool:
        """Return whether the last line is text that a list of links may belong to (see linked_text.py)."""
        lines = self.layout.lines[-2:]
        if lines and lines[-1].tag in HEADING_TAGS:
            del lines[-1]
        return bool(lines) and is_text_sentence(lines[-1])

    def add_text(self, text: str) -> None:
        """Add a run of text to the line. White space at its start is ignored."""
        if text and (self.text_pieces or not text.isspace()):
            self.text_pieces.append(unescape_markup(text) if "&" in text else text)
            if self.open_pre_span >= 0 and "\n" in text:
                self.flush_code()

    def finish(self) -> None:
        """Flush the last line and close the spans that are still open."""
        if self.text_pieces:
            self.flush_line()
        while self.open_spans:
            self.layout.spans[self.open_spans.pop()].end_line = len(self.layout.lines)

    def skip_boilerplate(self, tokens: list[str], position: int, tag_info: TagInfo) -> int:
        """Skip the element opened just before token `position` if it contains nothing to lay out.

        Returns:
            Index of the token of its end tag if the element was skipped, otherwise 0.
        """
        scan = scan_element(tokens, position, tag_info, self.scan_budget)
        self.scan_budget -= scan.token_count
        if not should_skip(tag_info, scan):
            return 0
        self.record_skipped(position, scan.end_token)
        self.element_index += scan.element_count
        self.layout.skipped.add(scan)
        for span_index in self.open_spans[-MAX_ENCLOSING_SPANS:]:
            self.layout.spans[span_index].skipped_link_size += scan.skipped_link_size
        return scan.end_token

    def record_skipped(self, first_token: int, end_token: int) -> None:
        """Record that the element opened last is skipped."""
        layout = self.layout
        if self.open_link is not None or self.strong_start >= 0 or self.open_pre_span >= 0 or any(self.open_inline):
            layout.can_complete = False
        layout.skipped_elements.append(
            SkippedElement(
                len(layout.spans) - 1,
                first_token,
                end_token,
                len(layout.lines),
                len(layout.pictures),
                len(layout.inline_elements),
                self.element_index,
                layout.skipped.line_count,
                len(self.open_inline),
            )
        )

    def start_element(self, tag: str, attribute_text: str) -> None:
        """Start an element that is neither a link nor one of HTML's block elements.

        Custom elements (`<my-card>`) start a block like `div`.
        """
        self.element_index += 1
        is_empty = attribute_text[-1:] == "/"
        if is_empty:
            attribute_text = attribute_text[:-1]
        if tag == "br":
            if self.text_pieces:
                self.flush_line()
        elif tag in PICTURE_TAGS:
            attribute_text, self.picture_source = f"{attribute_text} {self.picture_source}", ""
            self.layout.pictures.append(
                Picture(attribute_text, len(self.layout.lines), self.open_spans[-1] if self.open_spans else -1)
            )
        elif tag == "source":
            if not self.picture_source and (srcset := SRCSET_ATTRIBUTE_RE.search(attribute_text)):
                self.picture_source = f'source-srcset="{srcset[1]}"'
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
        if is_empty and tag not in VOID_OR_HEAD_TAGS:
            self.end_element(tag)

    def end_element(self, tag: str) -> None:
        """End an element that is neither a block element of HTML nor a link."""
        if tag in STRONG_TAGS:
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
        """Append the span of a block element; returns the data of its start tag."""
        layout, open_spans = self.layout, self.open_spans
        spans, start, tag_info = layout.spans, len(layout.lines), parse_tag(tag, attribute_text)
        if tag == "pre" and self.open_pre_span < 0:
            self.open_pre_span = len(spans)
        parent = open_spans[-1] if open_spans else -1
        open_spans.append(len(spans))
        spans.append(Span(tag_info, start, parent, self.element_index, start + layout.skipped.line_count))
        return tag_info

    def close_span(self, tag: str) -> None:
        """Close the innermost span if it has this tag.

        The cells of a closed row of a data table become one line; a closed `pre` gets its line breaks back.
        """
        if not self.open_spans or self.layout.spans[self.open_spans[-1]].tag_info.tag != tag:
            return  # an end tag without a start tag: an attribute that the tokenizer cannot read hid the start tag
        span_index = self.open_spans.pop()
        span = self.layout.spans[span_index]
        if tag == "tr":
            self.end_row(span_index)
        elif span_index == self.open_pre_span:
            self.open_pre_span = -1
            restore_code_lines(self.layout.lines[span.start_line :])
        span.end_line = len(self.layout.lines)

    def end_link(self) -> None:
        """Close the open link. The text of a link that is not visible is removed.

        So is that of a permalink, except in code, where every character may matter.
        """
        if self.open_link is not None:
            start, attributes = self.open_link
            if start < len(self.text_pieces):
                if (
                    "#" in attributes
                    and self.open_pre_span < 0
                    and is_permalink(attributes, "".join(self.text_pieces[start:]))
                ) or is_invisible(attributes):
                    del self.text_pieces[start:]
                else:
                    self.links.append((start, len(self.text_pieces), attributes))
            self.open_link = None

    def start_inline(self, tag: str, attribute_text: str) -> None:
        """Open an inline element with metadata or one that may be invisible, or count an element inside one."""
        tag_info = parse_tag(tag, attribute_text) if attribute_text or tag == "time" else None
        if tag_info is not None and (tag_info.is_metadata or tag_info.hint is Hint.HIDDEN):
            self.open_inline.append((tag_info, len(self.text_pieces), len(self.layout.lines)))
        elif self.open_inline:
            self.open_inline.append(None)

    def end_inline(self) -> None:
        """Close the innermost inline element and record its text if it has metadata. Invisible text leaves the line."""
        inline_element = self.open_inline.pop()
        if inline_element is None:
            return
        tag_info, first_piece, line_index = inline_element
        lines = self.layout.lines[line_index : line_index + MAX_INLINE_ELEMENT_LINES]
        tail_text = "".join(self.text_pieces[first_piece:] if not lines else self.text_pieces)
        text = " ".join(
            (
                *(line.text[:MAX_INLINE_ELEMENT_CHARS] for line in lines),
                " ".join(tail_text[: 2 * MAX_INLINE_ELEMENT_CHARS].split()),
            )
        )
        if tag_info.is_metadata:
            text = text.strip()[:MAX_INLINE_ELEMENT_CHARS]
            self.layout.inline_elements.append(InlineElement(tag_info, line_index, text))
        if not lines and is_invisible(tag_info.attribute_text):
            del self.text_pieces[first_piece:]
            self.links = [link for link in self.links if link[1] <= first_piece]
            self.strong_ranges = [strong for strong in self.strong_ranges if strong[1] <= first_piece]

    def read_head(self, tag: str, attribute_text: str) -> None:
        """Record a meta or link element; the first value of a name or rel wins, except that all authors are kept."""
        if len(attribute_text) > 2 * MAX_META_CHARS:  # the keywords of the complete site, a picture as a data URL
            return
        if tag == "meta":
            content = " ".join(unescape_markup(attribute_value("content", attribute_text)).split())[:MAX_META_CHARS]
            for key in ("name", "property", "itemprop") if content else ():
                if name := unescape_markup(attribute_value(key, attribute_text)).strip().lower():
                    first_content = self.head.metas.setdefault(name, content)
                    if first_content != content and name.endswith(AUTHOR_META_ENDS):  # one meta for each author
                        self.head.metas[name] = f"{first_content}; {content}"[:MAX_META_CHARS]
        elif href := unescape_markup(attribute_value("href", attribute_text)).strip():
            for rel in (attribute_value("rel", attribute_text) or tag).lower().split():
                self.head.head_links.setdefault(rel, href)

    def end_row(self, row_span_index: int) -> None:
        """Merge the cells of a table row if it is a row of data."""
        lines = self.layout.lines[self.layout.spans[row_span_index].start_line :]
        skipped_elements = self.layout.skipped_elements
        has_skipped = bool(skipped_elements) and skipped_elements[-1].span_index > row_span_index
        if is_data_row(lines) and (len(lines) > 1 or has_skipped):
            if has_skipped:  # its content may make it another row
                self.layout.can_complete = False
            if len(lines) > 1:
                self.merge_row_cells(row_span_index)

    def merge_row_cells(self, row_span_index: int) -> None:
        """Merge the lines of a row of data into one line."""
        lines, spans = self.layout.lines, self.layout.spans
        row = spans[row_span_index]
        cells = lines[row.start_line :]
        text = " ".join(cell.text for cell in cells)
        sizes = (sum(cell.size for cell in cells), sum(cell.link_size for cell in cells))
        strong_size = sum(cell.strong_size for cell in cells)
        texts = tuple(cell.text for cell in cells)
        lines[row.start_line :] = [
            Line(text, *sizes, strong_size, row_span_index, "tr", (text,), NO_LINKS, cells[0].line_number, texts)
        ]
        for span in spans[row_span_index + 1 :]:
            span.start_line, span.end_line = row.start_line, row.start_line + 1

    def flush_code(self) -> None:
        """Flush a line at each line break of code. Empty lines join the line after them."""
        *complete_lines, unfinished_line = self.text_pieces.pop().split("\n")
        for line in complete_lines:
            self.text_pieces.append(line)
            if self.has_text():
                self.flush_line()
            else:
                self.text_pieces[-1] += "\n"
        self.text_pieces.append(unfinished_line)

    def has_text(self) -> bool:
        """Return whether any piece of the line contains more than white space."""
        parts, piece_index = self.text_pieces, min(self.blank_pieces, len(self.text_pieces) - 1)
        while piece_index < len(parts) and (not parts[piece_index] or parts[piece_index].isspace()):
            piece_index += 1
        self.blank_pieces = piece_index
        return piece_index < len(parts)

    def flush_line(self) -> None:
        """End the current line. An open link or open strong text continues in the next line."""
        parts, link, strong_open = self.text_pieces, self.open_link, self.strong_start >= 0
        if link is not None:
            self.end_link()
            self.open_link = (0, link[1])
        if strong_open and self.strong_start < len(parts):
            self.strong_ranges.append((self.strong_start, len(parts)))
        raw = parts[0] if len(parts) == 1 else "".join(parts)
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
        """Append a line with this text and the collected pieces and links to the layout."""
        layout, parts, links = self.layout, self.text_pieces, self.links
        span_index = self.open_spans[-1] if self.open_spans else -1
        tag = layout.spans[span_index].tag_info.tag if span_index >= 0 else ""
        size = (len(text if text.isascii() else text.encode("utf-8", "replace")) - text.count(" ")) / 3
        link_size = self.measure_ranges([(start, end) for start, end, _ in links], size) if links else 0.0
        strong_size = self.measure_ranges(self.strong_ranges, size) if self.strong_ranges else 0.0
        line_number = len(layout.lines) + layout.skipped.line_count
        layout.lines.append(
            Line(text, size, link_size, strong_size, span_index, tag, tuple(parts), links or NO_LINKS, line_number)
        )

    def measure_ranges(self, ranges: Sequence[tuple[int, int]], line_size: float) -> float:
        """Return the total size of ranges of pieces of the current line, whose own size is `line_size`."""
        parts = self.text_pieces
        if len(ranges) == 1 and ranges[0] == (0, len(parts)):
            return line_size
        return sum(text_size("".join(parts[start:end])) for start, end in ranges)


MAX_PERMALINK_CHARS = 60
# Texts for screen readers instead of the symbol.
PERMALINK_TEXT_RE = re.compile(
    r"\W*(?:permalink|permanent link|(?:direct )?link)(?: to (?:this |the )?(?:\w{1,12} )?"
    r"(?:headline|heading|header|section|title|definition|term|image|table|code|equation|toctree|method|class|attribute))?\W*|"
    r"\W*(?:固定链接|永久链接|固定連結|永久連結|(?:本节|標題|标题|章节)的?(?:链接|連結))\W*",
    re.I,
)


def is_permalink(attribute_text: str, text: str) -> bool:
    """Return whether a link leads to a fragment and shows only a symbol or a text such as "Permalink to this headline".

    `attribute_text` contains the attributes of the link as markup; `text` is the text of the link.

    >>> is_permalink('class="headerlink" href="#install"', "¶"), is_permalink('href="#install"', "Install")
    (True, False)
    """
    if len(text) > MAX_PERMALINK_CHARS or "#" not in attribute_value("href", attribute_text):
        return False
    return not any(map(str.isalnum, text)) or PERMALINK_TEXT_RE.fullmatch(text) is not None
