"""Builds the blocks of an article: its lines with links, pictures and captions (domain.article.Block).

    <h2>产量</h2><ul><li>原油<ol><li><a href="/a">大庆</a></ol></ul><img src="1.jpg">

    HEADING 产量 (level 2)   ITEM 原油 (level 1)   ITEM 大庆 (level 2, ordered, one link)   PICTURE 1.jpg

The innermost enclosing element with a meaning decides the kind of a line. `rendering.to_text` of the blocks returns the
text of the body again, line by line.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from urllib.parse import urljoin

from domain.article import Block, BlockKind
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG, Layout, Line, Picture
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import Hint, parse_attributes, unescape_markup

CAPTION_DEPTH = 3  # maximum number of elements between the text of a caption and its caption element
MAX_ITEM_LINES = 5  # an item with more lines that contains most of the body is layout, not a list item
MIN_PICTURE_PIXELS = 50  # stated width or height, in pixels, below which a picture is an icon or a tracking pixel
MAX_URL_CHARS = 2_000
HREF_RE = re.compile(r'(?:^|\s)href="([^"]+)"')
HTTP_RE = re.compile(r"https?://(?:[^\s/?#\\\[]|\[[0-9a-f:.]{2,45}\][/:?#]?)", re.I)
CONTROL_RE = re.compile(r"[\x00-\x1f\x7f]+")
# In order of preference: if the picture is loaded lazily, `src` is a placeholder.
PICTURE_URL_ATTRIBUTES = (
    "zoomfile", "file", "data-original", "data-src", "data-lazy-src", "data-lazyload", "data-actualsrc", "data-echo",
    "data-url", "src", "data-srcset", "srcset", "source-srcset",
)  # fmt: skip
SRCSET_RE = re.compile(r"([^\s,]\S*[^\s,])(?:\s+(\d{1,6}(?:\.\d{1,9})?|\.\d{1,9})[wx])?")
# Class or file name of a decorative picture, which is not part of the article.
DECORATIVE_PICTURE_RE = re.compile(
    r"(?<![a-z])(?:icons?|ico|logos?|avatar|emoji|smil(?:ey|ies)|spacer|blank|transparent|pixel|loading|placeholder|"
    r"qrcode|ewm|erweima|beacon|btn|button|captcha|share|sprite)(?![a-z])"
)
LEADING_INTEGER_RE = re.compile(r"\s*(\d{1,5})")


@dataclass(frozen=True, slots=True)
class BlockContext:
    """Kind and level of a line, derived from its enclosing elements.

    `item_span` is the span index of the list item that contains the line, -1 outside lists.
    """

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    ordered: bool = False
    item_span: int = -1


PARAGRAPH_CONTEXT = BlockContext()
NO_ENCLOSING_LIST = (0, "")


def build_blocks(page: ParsedPage, body: Body) -> tuple[Block, ...]:
    """Build the blocks of a body in reading order, with the pictures between them.

    A caption outside the body text has level 1. Links and pictures have absolute http(s) URLs; those without such a
    URL are
    left out. A list item of several lines is one block, and so is code.
    """
    return tuple(_BlockBuilder(page, body).build())


class _BlockBuilder:
    """Converts the lines of one body to blocks."""

    def __init__(self, page: ParsedPage, body: Body) -> None:
        self.layout = page.layout
        self.body = body
        self.base_url = absolute_url(page.head_links.get("base", ""), page.url) or page.url
        self.context_by_span = {body.span_index: PARAGRAPH_CONTEXT}
        self.list_by_span = {body.span_index: self.extend_list(body.span_index, NO_ENCLOSING_LIST)}
        self.blocks: list[Block] = []
        self.open_pieces: list[Block] = []  # lines of the block being built: of one item, or of code
        self.open_span = -1  # span of the item or code to which they belong
        lines = page.layout.lines
        self.data_table_spans = frozenset(
            enclosing_table(page.layout, lines[index].span_index) for index in body.line_indices if lines[index].cells
        )

    def build(self) -> list[Block]:
        """Return the blocks of all lines and pictures of the body."""
        pictures = self.collect_pictures()
        for index in self.body.line_indices:
            while pictures and pictures[0][0] <= index:
                self.add_picture(pictures)
            self.add_line(index)
        while pictures:
            self.add_picture(pictures)
        self.close_block()
        return self.blocks

    def add_line(self, index: int) -> None:
        """Add one line as a code, table or text block."""
        line = self.layout.lines[index]
        if line.tag == CODE_TAG:
            # The lines of one `pre` are one block; its pieces contain the empty lines.
            pre_span = next(
                (span for span in self.layout.iter_enclosing(line.span_index) if self.tag_name(span) == "pre"), -1
            )
            continues = 0 <= pre_span == self.open_span
            self.add(Block(BlockKind.CODE, "".join(line.text_pieces).rstrip() if continues else line.text), pre_span)
        elif line.cells:
            self.add(
                Block(BlockKind.TABLE_ROW, "\t".join(line.cells), int(is_heading_row(self.layout, line.span_index)))
            )
        else:
            context = self.resolve_context(line.span_index)
            links = self.line_links(line) if line.links else ()
            self.add(Block(context.kind, line.text, context.level, context.ordered, "", links), context.item_span)

    def add(self, block: Block, owner_span: int = -1) -> None:
        """Add a block, or append it to the open block if both belong to the same item or code (`owner_span`)."""
        if owner_span < 0 or owner_span != self.open_span:
            self.close_block()
        self.open_pieces.append(block)
        self.open_span = owner_span

    def close_block(self) -> None:
        """Merge the open pieces into one block."""
        if self.open_pieces:
            self.blocks.append(self.open_pieces[0] if len(self.open_pieces) == 1 else merge_blocks(self.open_pieces))
            self.open_pieces = []

    def add_picture(self, pictures: deque[tuple[int, Block]]) -> None:
        """Add the next picture. After the last picture at its position, also add the captions outside the body text."""
        position, block = pictures.popleft()
        self.add(block)
        end = pictures[0][0] if pictures else len(self.layout.lines)
        for index in range(position, end):
            line = self.layout.lines[index]
            if (
                contains_sorted(index, self.body.line_indices)
                or self.resolve_context(line.span_index).kind is not BlockKind.CAPTION
            ):
                break
            self.add(Block(BlockKind.CAPTION, line.text, 1, False, "", self.line_links(line)))

    def resolve_context(self, span: int) -> BlockContext:
        """Return the context of a line in `span`, from its elements up to the body's element (cached).

        If the parent's context is a plain paragraph, only the span itself can change it.
        """
        context = self.context_by_span.get(span)
        if context is None:
            parent = self.layout.spans[span].parent_index
            if parent not in self.context_by_span:
                self.context_by_span[parent] = self.derive_context(self.iter_spans_to_body(parent))
            parent_is_plain = self.context_by_span[parent].kind is BlockKind.PARAGRAPH
            context = self.context_by_span[span] = self.derive_context(
                (span,) if parent_is_plain else self.iter_spans_to_body(span)
            )
        return context

    def iter_spans_to_body(self, span: int) -> Iterator[int]:
        """Yield `span` and its ancestors up to, but without, the span of the body."""
        return takewhile(lambda span_index: span_index != self.body.span_index, self.layout.iter_enclosing(span))

    def derive_context(self, span_indices: Iterable[int]) -> BlockContext:
        """Return the context given by the first of these spans that has a meaning."""
        spans = self.layout.spans
        for depth, span_index in enumerate(span_indices):
            tag_info = spans[span_index].tag_info
            tag = tag_info.tag
            if tag in HEADING_TAGS:
                return BlockContext(BlockKind.HEADING, HEADING_TAGS.index(tag) + 1)
            if tag == "li" and not self.is_layout_item(span_index):
                return self.item_context(span_index)
            if tag == "blockquote":
                return BlockContext(BlockKind.QUOTE)
            if tag == "tr" and self.is_single_cell_row(span_index):
                return BlockContext(BlockKind.TABLE_ROW)
            if tag_info.is_caption and depth < CAPTION_DEPTH:
                return BlockContext(BlockKind.CAPTION)
        return PARAGRAPH_CONTEXT

    def item_context(self, span_index: int) -> BlockContext:
        """Return the context of a list item, from the lists around it inside the body."""
        depth, tag = self.enclosing_lists(span_index)
        return BlockContext(BlockKind.LIST_ITEM, max(1, depth), tag == "ol", span_index)

    def enclosing_lists(self, span_index: int) -> tuple[int, str]:
        """Return the number of lists around a span inside the body, and the tag of the innermost list.

        The span itself counts if it is a list.
        """
        uncached_spans = list(
            takewhile(lambda span: span not in self.list_by_span, self.layout.iter_enclosing(span_index))
        )
        lists = (
            self.list_by_span.get(self.layout.spans[uncached_spans[-1]].parent_index, NO_ENCLOSING_LIST)
            if uncached_spans
            else self.list_by_span[span_index]
        )
        for span in reversed(uncached_spans):
            lists = self.list_by_span[span] = self.extend_list(span, lists)
        return lists

    def extend_list(self, span: int, enclosing: tuple[int, str]) -> tuple[int, str]:
        """Return the lists around and including `span`; `enclosing` are the lists around its parent."""
        tag = self.tag_name(span)
        return (enclosing[0] + 1, tag) if tag in ("ul", "ol") else enclosing

    def is_layout_item(self, item: int) -> bool:
        """Return True for an `li` that contains most of the body, so that it is not a list item."""
        span, body = self.layout.spans[item], self.layout.spans[self.body.span_index]
        size = span.end_line - span.start_line
        return size > MAX_ITEM_LINES and 2 * size > body.end_line - body.start_line

    def is_single_cell_row(self, row: int) -> bool:
        """Return True for a row with one cell in a data table."""
        span = self.layout.spans[row]
        return (
            bool(self.data_table_spans)
            and span.end_line - span.start_line == 1
            and enclosing_table(self.layout, row) in self.data_table_spans
        )

    def tag_name(self, span: int) -> str:
        """Return the tag name of a span."""
        return self.layout.spans[span].tag_info.tag

    def line_links(self, line: Line) -> tuple[tuple[int, int, str], ...]:
        """Return the links of a line as (start, end, URL), with character offsets in its text."""
        if line.tag == CODE_TAG:
            return ()
        links = []
        word_ends: list[int] = []
        letters_before: list[int] = []  # each text piece
        for start, end, attribute_text in line.links:
            href = HREF_RE.search(attribute_text)
            url = absolute_url(unescape_markup(href[1]), self.base_url) if href else ""
            if not url:
                continue
            # Text and pieces differ only in white space: both contain the same letters.
            word_ends = word_ends or list(accumulate(map(len, line.text.split())))
            letters_before = letters_before or list(accumulate(map(count_letters, line.text_pieces), initial=0))
            first, end_letter = letters_before[start], letters_before[end]
            if end_letter > first:
                links.append((text_position(first, word_ends), text_position(end_letter - 1, word_ends) + 1, url))
        return tuple(links)

    def collect_pictures(self) -> deque[tuple[int, Block]]:
        """Return the pictures of the article, each with the index of the line that follows it."""
        if not self.body.line_indices:
            return deque()
        lines, start = self.layout.lines, self.layout.spans[self.body.span_index].start_line
        first = self.body.line_indices[0]
        # Captions directly before the body belong to its pictures.
        while first > start and self.resolve_context(lines[first - 1].span_index).kind is BlockKind.CAPTION:
            first -= 1
        last = self.body.line_indices[-1]
        pictures: list[tuple[int, Block]] = []
        is_inside_by_span: dict[int, bool] = {}
        seen_urls: set[str] = set()
        for picture in self.layout.pictures:
            if not first <= picture.line_index or picture.span_index < 0:
                continue
            position = min(
                picture.line_index, self.layout.spans[picture.span_index].end_line
            )  # cells may have become one line
            if position > last + 1:
                continue
            if picture.span_index not in is_inside_by_span:
                is_inside_by_span[picture.span_index] = self.is_inside_body(picture.span_index)
            block = build_picture_block(picture, self.base_url) if is_inside_by_span[picture.span_index] else None
            if block is not None and block.url not in seen_urls:
                seen_urls.add(block.url)
                pictures.append((position, block))
        return deque(sorted(pictures, key=lambda pair: pair[0]))

    def is_inside_body(self, span: int) -> bool:
        """Return True if a span is inside the body's element and not inside an aside, hidden or footer element."""
        for span_index in self.layout.iter_enclosing(span):
            if span_index == self.body.span_index:
                return True
            if self.layout.spans[span_index].tag_info.hint in (Hint.ASIDE, Hint.HIDDEN, Hint.FOOTER_OR_COMMENTS):
                return False
        return False


def merge_blocks(pieces: Sequence[Block]) -> Block:
    """Merge several blocks into one, one line each, and shift their links."""
    shifts = accumulate((len(piece.text) + 1 for piece in pieces), initial=0)
    links = tuple(
        (start + shift, end + shift, url)
        for piece, shift in zip(pieces, shifts, strict=False)
        for start, end, url in piece.links
    )
    return replace(pieces[0], text="\n".join(piece.text for piece in pieces), links=links)


def enclosing_table(layout: Layout, span: int) -> int:
    """Return the span of the table around `span`, or -1."""
    return next(
        (span_index for span_index in layout.iter_enclosing(span) if layout.spans[span_index].tag_info.tag == "table"),
        -1,
    )


def is_heading_row(layout: Layout, row: int) -> bool:
    """Return True if all cells of a row are `th`."""
    following_spans = (layout.spans[span_index] for span_index in range(row + 1, len(layout.spans)))
    cells = takewhile(lambda span: span.parent_index >= row, following_spans)
    tags = [span.tag_info.tag for span in cells if span.parent_index == row]
    return bool(tags) and all(tag == "th" for tag in tags)


def contains_sorted(index: int, sorted_indices: tuple[int, ...]) -> bool:
    """Return True if the sorted indices contain `index`."""
    position = bisect_right(sorted_indices, index)
    return position > 0 and sorted_indices[position - 1] == index


def count_letters(text: str) -> int:
    """Count the characters that are not white space."""
    return len("".join(text.split()))


def text_position(letter: int, word_ends: list[int]) -> int:
    """Return the position in a text of a letter that is counted without white space.

    `word_ends[i]` is the number of letters up to the end of word i.
    """
    return letter + bisect_right(word_ends, letter)


def absolute_url(href: str, base: str) -> str:
    """Return the absolute http(s) URL of a link; an empty string for another scheme or a fragment of the same page."""
    href = CONTROL_RE.sub("", href.strip()).replace(" ", "%20")  # as browsers do
    if not href or href[0] == "#" or len(href) > MAX_URL_CHARS:
        return ""
    if href.lower().startswith(("http:", "https:")):
        return href if HTTP_RE.match(href) else ""
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url if HTTP_RE.match(url) else ""


def build_picture_block(picture: Picture, base_url: str) -> Block | None:
    """Return a picture as a block; None for icons, tracking pixels and pictures without a URL."""
    attributes = parse_attributes(picture.attribute_text)
    if any(is_too_small(attributes.get(name, "")) for name in ("width", "height")):
        return None
    url = next(iter_picture_urls(attributes, base_url), "")
    if not url or DECORATIVE_PICTURE_RE.search(attributes.get("class", "").lower()):
        return None
    return Block(BlockKind.PICTURE, " ".join(attributes.get("alt", "").split()), url=url)


def iter_picture_urls(attributes: Mapping[str, str], base: str) -> Iterator[str]:
    """Yield the candidate URLs of a picture without those of placeholders, best first."""
    for name in PICTURE_URL_ATTRIBUTES:
        candidate_url = attributes.get(name, "").strip()
        if name.endswith("srcset"):
            candidates = SRCSET_RE.findall(candidate_url[: 10 * MAX_URL_CHARS])
            candidate_url = max(candidates, key=lambda pair: float(pair[1] or 1))[0] if candidates else ""
        url = absolute_url(candidate_url, base)
        if url and not DECORATIVE_PICTURE_RE.search(url.partition("?")[0].rpartition("/")[2].lower()):
            yield url


def is_too_small(text: str) -> bool:
    """Return True if a width or height in pixels is too small for a picture of an article."""
    match = LEADING_INTEGER_RE.match(text)
    return match is not None and "%" not in text and int(match[1]) < MIN_PICTURE_PIXELS
