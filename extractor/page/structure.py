"""The structure of an article: its lines as blocks, with links, pictures and captions (docstore.model.Block).

    <h2>产量</h2><ul><li>原油<ol><li><a href="/a">大庆</a></ol></ul><img src="1.jpg">

    HEADING 产量 (level 2)   ITEM 原油 (level 1)   ITEM 大庆 (level 2, ordered, one link)   PICTURE 1.jpg

What a line is, the innermost element around it that says something decides. `rendering.to_text` of the blocks is the
text of the body again, line by line.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from urllib.parse import urljoin

from docstore.model import Block, BlockKind
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import CODE_TAG, Layout, Line, Picture
from extractor.page.markup_hints import Hint, attributes_of, plain

CAPTION_DEPTH = 3  # elements between a caption's text and the element that is named as one
LAYOUT_ITEM = 5  # an item of more lines than this, that holds most of the body, lays out the page
SMALLEST_PICTURE = 50  # stated width or height, in pixels, below which a picture is an icon or a tracking pixel
LONGEST_URL = 2_000
HREF = re.compile(r'(?:^|\s)href="([^"]+)"')
HTTP = re.compile(r"https?://(?:[^\s/?#\\\[]|\[[0-9a-f:.]{2,45}\][/:?#]?)", re.I)
CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
# In order of trust: where the picture is loaded late, src is a placeholder.
PICTURE_SOURCES = (
    "data-original", "data-src", "data-lazy-src", "data-lazyload", "data-actualsrc", "data-echo", "src",
    "data-srcset", "srcset",
)  # fmt: skip
SRCSET = re.compile(r"([^\s,]\S*[^\s,])(?:\s+([\d.]{1,9})[wx])?")
# Of a picture's class or file name: it is no picture of the article.
NO_PICTURE = re.compile(
    r"(?<![a-z])(?:icons?|ico|logos?|avatar|emoji|smil(?:ey|ies)|spacer|blank|transparent|pixel|loading|placeholder|"
    r"qrcode|ewm|erweima|beacon|btn|button|captcha|share|sprite)(?![a-z])"
)
NUMBER = re.compile(r"\s*(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Setting:
    """What the elements around a line make of it; `holder` is the span of an item."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    ordered: bool = False
    holder: int = -1


PLAIN = Setting()
NO_LIST = (0, "")


def blocks_of(document: Document, body: Body) -> tuple[Block, ...]:
    """The blocks of a body in reading order, pictures between them.

    A caption that is no part of the body's text has level 1. Links and pictures have absolute http(s) URLs; what
    has none is left out. An item of several lines is one block, and so is code.
    """
    return tuple(_Builder(document, body).build())


class _Builder:
    """Walks the lines of one body."""

    def __init__(self, document: Document, body: Body) -> None:
        self.layout = document.layout
        self.body = body
        self.base = absolute(document.links.get("base", ""), document.url) or document.url
        self.settings = {body.span: PLAIN}
        self.lists = {body.span: self.list_at(body.span, NO_LIST)}
        self.blocks: list[Block] = []
        self.pieces: list[Block] = []  # what becomes one block: the lines of an item, of code
        self.holder = -1  # item or code to which they belong
        self.tables = data_tables(document.layout, body)

    def build(self) -> list[Block]:
        """The pass."""
        pictures = self.pictures()
        for index in self.body.lines:
            while pictures and pictures[0][0] <= index:
                self.add_picture(pictures)
            self.add_line(index)
        while pictures:
            self.add_picture(pictures)
        self.close_block()
        return self.blocks

    def add_line(self, index: int) -> None:
        line = self.layout.lines[index]
        if line.tag == CODE_TAG:
            self.add_code(line)
        elif line.cells:
            self.add(Block(BlockKind.ROW, "\t".join(line.cells), int(is_heading_row(self.layout, line.span))))
        else:
            setting = self.setting(line.span)
            links = self.links(line) if line.anchors else ()
            self.add(Block(setting.kind, line.text, setting.level, setting.ordered, "", links), setting.holder)

    def add(self, block: Block, holder: int = -1) -> None:
        """One more block, or one more piece of the last where both have the same holder."""
        if holder < 0 or holder != self.holder:
            self.close_block()
        self.pieces.append(block)
        self.holder = holder

    def close_block(self) -> None:
        """Nothing more belongs to the last block."""
        if self.pieces:
            self.blocks.append(self.pieces[0] if len(self.pieces) == 1 else joined(self.pieces))
            self.pieces = []

    def add_code(self, line: Line) -> None:
        """Lines of one `pre` are one block; the empty lines between them stand in their pieces."""
        whole = next((span for span in self.layout.above(line.span) if self.tag(span) == "pre"), -1)
        more = 0 <= whole == self.holder
        self.add(Block(BlockKind.CODE, "".join(line.parts).rstrip() if more else line.text), whole)

    def add_picture(self, pictures: deque[tuple[int, Block]]) -> None:
        """The next picture and, behind the last at its place, the captions that the body's text leaves out."""
        position, block = pictures.popleft()
        self.add(block)
        end = pictures[0][0] if pictures else len(self.layout.lines)
        for index in range(position, end):
            line = self.layout.lines[index]
            if is_in(index, self.body.lines) or self.setting(line.span).kind is not BlockKind.CAPTION:
                break
            self.add(Block(BlockKind.CAPTION, line.text, 1, False, "", self.links(line)))

    def setting(self, span: int) -> Setting:
        """What the elements from `span` up to the body's make of a line; below a plain one, only its own can."""
        found = self.settings.get(span)
        if found is None:
            around = self.layout.spans[span].parent
            if around not in self.settings:
                self.settings[around] = self.find_setting(self.around(around))
            plain = self.settings[around].kind is BlockKind.PARAGRAPH
            found = self.settings[span] = self.find_setting((span,) if plain else self.around(span))
        return found

    def around(self, span: int) -> Iterator[int]:
        """The spans from one up to the body's, without that."""
        return takewhile(lambda place: place != self.body.span, self.layout.above(span))

    def find_setting(self, within: Iterable[int]) -> Setting:
        """What the first of these spans that says something makes of a line."""
        spans = self.layout.spans
        for depth, place in enumerate(within):
            facts = spans[place].facts
            tag = facts.tag
            if tag in HEADINGS:
                return Setting(BlockKind.HEADING, HEADINGS.index(tag) + 1)
            if tag == "li" and not self.lays_out(place):
                return self.item(place)
            if tag == "blockquote":
                return Setting(BlockKind.QUOTE)
            if tag == "tr" and self.is_row(place):
                return Setting(BlockKind.ROW)
            if facts.caption and depth < CAPTION_DEPTH:
                return Setting(BlockKind.CAPTION)
        return PLAIN

    def item(self, place: int) -> Setting:
        """An item by the lists around it, as far as the body goes."""
        depth, tag = self.lists_around(place)
        return Setting(BlockKind.ITEM, max(1, depth), tag == "ol", place)

    def lists_around(self, place: int) -> tuple[int, str]:
        """How many lists are around a span, as far as the body goes, and the tag of the innermost; itself counts."""
        unknown = list(takewhile(lambda span: span not in self.lists, self.layout.above(place)))
        found = self.lists.get(self.layout.spans[unknown[-1]].parent, NO_LIST) if unknown else self.lists[place]
        for span in reversed(unknown):
            found = self.lists[span] = self.list_at(span, found)
        return found

    def list_at(self, span: int, around: tuple[int, str]) -> tuple[int, str]:
        """The lists around a span and itself, where `around` are those around the one above it."""
        tag = self.tag(span)
        return (around[0] + 1, tag) if tag in ("ul", "ol") else around

    def lays_out(self, item: int) -> bool:
        """An li around most of the body is no item of a list."""
        span, body = self.layout.spans[item], self.layout.spans[self.body.span]
        size = span.end - span.start
        return size > LAYOUT_ITEM and 2 * size > body.end - body.start

    def is_row(self, row: int) -> bool:
        """A row with one cell in a table of data."""
        span = self.layout.spans[row]
        return bool(self.tables) and span.end - span.start == 1 and table_of(self.layout, row) in self.tables

    def tag(self, span: int) -> str:
        return self.layout.spans[span].facts.tag

    def links(self, line: Line) -> tuple[tuple[int, int, str], ...]:
        """The links of a line, by their places in its text."""
        if line.tag == CODE_TAG:
            return ()
        found = []
        ends: list[int] = []
        for start, end, attributes in line.anchors:
            href = HREF.search(attributes)
            url = absolute(plain(href[1]), self.base) if href else ""
            if not url:
                continue
            # Text and pieces differ in white space only: the same letters stand in both.
            ends = ends or list(accumulate(map(len, line.text.split())))
            first = letters(line.parts[:start])
            behind = first + letters(line.parts[start:end])
            if behind > first:
                found.append((place_of(first, ends), place_of(behind - 1, ends) + 1, url))
        return tuple(found)

    def pictures(self) -> deque[tuple[int, Block]]:
        """The article's pictures, each with the line before which it stands."""
        if not self.body.lines:
            return deque()
        first, last = self.reach()
        found: list[tuple[int, Block]] = []
        known: dict[int, bool] = {}
        seen: set[str] = set()
        for picture in self.layout.pictures:
            if not first <= picture.line or picture.span < 0:
                continue
            position = min(picture.line, self.layout.spans[picture.span].end)  # cells may have become one line
            if position > last + 1:
                continue
            if picture.span not in known:
                known[picture.span] = self.is_inside(picture.span)
            block = picture_block(picture, self.base) if known[picture.span] else None
            if block is not None and block.url not in seen:
                seen.add(block.url)
                found.append((position, block))
        return deque(sorted(found, key=lambda pair: pair[0]))

    def reach(self) -> tuple[int, int]:
        """First and last line of the body, captions directly before the first counted in."""
        lines, start = self.layout.lines, self.layout.spans[self.body.span].start
        first = self.body.lines[0]
        while first > start and self.setting(lines[first - 1].span).kind is BlockKind.CAPTION:
            first -= 1
        return first, self.body.lines[-1]

    def is_inside(self, span: int) -> bool:
        """In the body's element, and in none inside it that is named as something else."""
        for place in self.layout.above(span):
            if place == self.body.span:
                return True
            if self.layout.spans[place].facts.hint in (Hint.ASIDE, Hint.HIDDEN, Hint.AFTER):
                return False
        return False


def joined(pieces: Sequence[Block]) -> Block:
    """One block of several, a line each."""
    shifts = accumulate((len(piece.text) + 1 for piece in pieces), initial=0)
    links = tuple(
        (start + shift, end + shift, url)
        for piece, shift in zip(pieces, shifts, strict=False)
        for start, end, url in piece.links
    )
    return replace(pieces[0], text="\n".join(piece.text for piece in pieces), links=links)


def data_tables(layout: Layout, body: Body) -> frozenset[int]:
    """Spans of the tables that have rows of data in the body."""
    lines = layout.lines
    return frozenset(table_of(layout, lines[index].span) for index in body.lines if lines[index].cells)


def table_of(layout: Layout, span: int) -> int:
    """The table around a span, -1 for none."""
    return next((place for place in layout.above(span) if layout.spans[place].facts.tag == "table"), -1)


def is_heading_row(layout: Layout, row: int) -> bool:
    """All cells of a row are th."""
    behind = (layout.spans[place] for place in range(row + 1, len(layout.spans)))
    cells = takewhile(lambda span: span.parent >= row, behind)
    tags = [span.facts.tag for span in cells if span.parent == row]
    return bool(tags) and all(tag == "th" for tag in tags)


def is_in(index: int, ordered: tuple[int, ...]) -> bool:
    """Is a number among these, that are in order?"""
    place = bisect_right(ordered, index)
    return place > 0 and ordered[place - 1] == index


def letters(parts: Sequence[str]) -> int:
    """How many characters are no white space."""
    return len("".join("".join(parts).split()))


def place_of(letter: int, ends: list[int]) -> int:
    """Place in a text of a letter, counted without white space; `ends` are the letters up to the end of each word."""
    return letter + bisect_right(ends, letter)


def absolute(href: str, base: str) -> str:
    """The absolute http(s) URL of a link, or "" where it has none, or leads to a place on the same page."""
    href = CONTROL.sub("", href.strip()).replace(" ", "%20")  # as browsers do
    if not href or href[0] == "#" or len(href) > LONGEST_URL:
        return ""
    if href.lower().startswith(("http:", "https:")):
        return href if HTTP.match(href) else ""
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url if HTTP.match(url) else ""


def picture_block(picture: Picture, base: str) -> Block | None:
    """A picture as a block, or None for icons, tracking pixels, and pictures without a URL."""
    attributes = attributes_of(picture.attributes)
    if any(too_small(attributes.get(name, "")) for name in ("width", "height")):
        return None
    url = next((url for url in addresses(attributes, base) if url), "")
    if not url or NO_PICTURE.search(
        f"{attributes.get('class', '')} {url.partition('?')[0].rpartition('/')[2]}".lower()
    ):
        return None
    return Block(BlockKind.PICTURE, " ".join(attributes.get("alt", "").split()), url=url)


def addresses(attributes: Mapping[str, str], base: str) -> Iterator[str]:
    """Where a picture may be had, best first."""
    for name in PICTURE_SOURCES:
        value = attributes.get(name, "").strip()
        if name.endswith("srcset"):
            value = largest(value)
        if value and not value.startswith("data:"):
            yield absolute(value, base)


def largest(srcset: str) -> str:
    """The URL of the largest picture in a srcset."""
    found = SRCSET.findall(srcset[: 10 * LONGEST_URL])
    return max(found, key=lambda pair: number(pair[1]))[0] if found else ""


def number(text: str) -> float:
    """A number as srcset has it, 1 where there is none."""
    try:
        return float(text)
    except ValueError:
        return 1.0


def too_small(text: str) -> bool:
    """A width or height in pixels that no picture of an article has."""
    stated = NUMBER.match(text)
    return stated is not None and "%" not in text and int(stated[1]) < SMALLEST_PICTURE
