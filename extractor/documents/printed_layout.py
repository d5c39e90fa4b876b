"""Groups the lines of printed pages (PDF, OFD) to paragraphs and headings, without headers and footers. No I/O."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from statistics import median

from domain.article import Block, BlockKind, TextSource
from domain.recognized_page import RecognizedPage
from extractor.documents.content import (
    MAX_OPENING_LINES,
    DocumentBuilder,
    DocumentContent,
    FileProperties,
    OpeningLine,
    garbled_text_error,
    to_one_line,
)
from extractor.documents.garbled_text import is_garbled
from text.scripts import HAN


@dataclass(frozen=True)
class PrintedLine:
    """A line of a page; positions in points from the lower left corner, font size in points.

    `rotation` is the direction of the text: 0 to the right, 1 upwards, 2 to the left, 3 downwards.
    """

    text: str
    page_number: int
    left: float
    right: float
    top: float
    bottom: float
    font_size: float
    page_height: float
    rotation: int = 0
    is_bold: bool = False


class PageFault(Enum):
    """Why the text of a page cannot be read."""

    GARBLED = auto()
    SCANNED = auto()


@dataclass(frozen=True)
class PrintedPage:
    """One page: its size in points, its lines in the order of the file. A page with a `fault` has no lines.

    `is_recognized`: OCR has read the lines from the picture of the page.
    """

    number: int
    width: float
    height: float
    lines: tuple[PrintedLine, ...]
    fault: PageFault | None = None
    is_recognized: bool = False


CJK_CHAR_RE = re.compile(f"[{HAN}\u3000-\u30ff\uff00-\uffef，。、；：？！“”‘’（）《》]")
LIST_MARK_RE = re.compile(
    r"^(?:[•·●○■□◆◇▪▫➢➤►▶✓✔❖–—−*]\s*|[-o]\s+|(?:\(?\d{1,3}[.)、．]|[（(][一二三四五六七八九十\d]{1,3}[)）]"
    r"|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十百\d]{1,5}[条章节])\s*)(?=\S)"
)
BULLET_RE = re.compile(r"^(?:[•●○■□◆◇▪▫➢➤►▶✓✔❖]\s*|[·*]\s+)(?=\S)")
LINE_END_HYPHEN_RE = re.compile("([^\\W\\d_])[\x02\ufffe]\\s*(?=([^\\W\\d_])?)")
NUMBER_RE = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
PAGE_NUMBER_RE = re.compile(
    r"[-–—·\s]*+(?:page|seite|页|第)?\s*+#(?:\s*+(?:/|of|von|de|sur)\s*+#)?+\s*+页?+"
    r"(?:\s*+[,，]?+\s*+共\s*+#\s*+页)?+[-–—·\s]*+",
    re.I,
)
MAX_EDGE_LINES = 3  # lines at the top and at the bottom of a page that can be headers and footers
EDGE_SHARE = 0.12  # share of the page height used for headers, and for footers
MIN_REPEATED_PAGES = 3  # minimum number of pages with a header or footer
MIN_REPEATED_SHARE = 0.4  # below 0.5: books have different headers on left and right pages
POSITION_BIN_POINTS = 4.0
MAX_HEADING_CHARS = 200
MIN_HEADING_SIZE_RATIO = 1.15  # relative to the font size of the text
MAX_SIZE_DIFFERENCE = 0.08
MAX_LEADING = 1.9  # distance of two lines, relative to the font size
MAX_MARGIN_GAP = 3.0  # relative to the font size; a larger gap to the margin ends a paragraph
MIN_INDENT = 0.9
MAX_RECOGNIZED_SIZE_DIFFERENCE = 0.3  # of line heights in one font: not all letters have the same height
MIN_READABLE_CHARS = 50  # of the other pages of a document with garbled pages
COLUMN_BIN_POINTS = 12.0  # lines whose start differs by less are in one column


def build_content(
    pages: Sequence[PrintedPage], properties: FileProperties, truncation: str, first_page: PrintedPage | None = None
) -> DocumentContent:
    """Build the content of a document from its pages.

    `first_page` is the first page with text again, split into finer pieces for the title, if the reader provides it.
    Raises UnreadableError if pages are garbled and the others have too little text for an article.
    """
    garbled_pages, scanned_pages = (
        tuple(page.number for page in pages if page.fault is fault) for fault in (PageFault.GARBLED, PageFault.SCANNED)
    )
    if garbled_pages and sum(len(line.text) for page in pages for line in page.lines) < MIN_READABLE_CHARS:
        raise garbled_text_error(len(garbled_pages), len(pages))
    running_line_keys = find_running_lines(pages)
    body = body_font_size(line for page in pages for line in page.lines)
    levels = heading_levels(pages, body)
    builder, seen_texts = DocumentBuilder(), set[str]()
    for page in pages:
        lines = [line for line in page.lines if is_text_line(line, running_line_keys, seen_texts)]
        for run in group_paragraphs(lines):
            builder.add(build_block(run, levels))
    first_page = first_page or next((page for page in pages if page.lines), None)
    opening = build_opening(first_page) if first_page else ()
    return DocumentContent(
        tuple(builder.blocks),
        opening,
        properties,
        body,
        truncation or builder.truncation,
        len(pages),
        garbled_pages,
        scanned_pages,
        find_text_source(pages),
    )


def find_text_source(pages: Sequence[PrintedPage]) -> str:
    """Return the `TextSource` of the pages with text, or an empty string."""
    is_recognized = [page.is_recognized for page in pages if page.lines]
    if not any(is_recognized):
        return ""
    return TextSource.OCR if all(is_recognized) else TextSource.PARTLY_OCR


def from_recognized_page(page: RecognizedPage) -> PrintedPage:
    """Return a recognized page as a printed page. Font sizes are estimated from the heights of the lines."""
    sizes = [line.top - line.bottom for line in page.lines]
    usual_size = median(sizes) if sizes else 0.0
    lines = tuple(
        PrintedLine(
            line.text,
            page.number,
            line.left,
            line.right,
            line.top,
            line.bottom,
            usual_size if abs(size - usual_size) < MAX_RECOGNIZED_SIZE_DIFFERENCE * usual_size else size,
            page.height,
        )
        for line, size in zip(page.lines, sizes, strict=True)
    )
    return PrintedPage(page.number, page.width, page.height, lines, is_recognized=True)


def without_garbled_text(page: PrintedPage) -> PrintedPage:
    """Return the page; without its lines and with a fault if they are garbled."""
    is_page_garbled = is_garbled("\n".join(line.text for line in page.lines))
    return replace(page, lines=(), fault=PageFault.GARBLED) if is_page_garbled else page


def rotate_page(page: PrintedPage) -> PrintedPage:
    """Rotate a page so that most of its text runs to the right, with the page height of its lines adjusted."""
    counts = Counter[int]()
    for line in page.lines:
        counts[line.rotation] += len(line.text)
    rotation = counts.most_common(1)[0][0] if counts else 0
    if not rotation:
        return page
    width, height = (page.height, page.width) if rotation % 2 else (page.width, page.height)
    lines = tuple(rotate_line(line, rotation, page.width, page.height) for line in page.lines)
    return PrintedPage(page.number, width, height, lines)


def rotate_line(line: PrintedLine, rotation: int, width: float, height: float) -> PrintedLine:
    """Rotate a line by `rotation` quarter turns; `width` and `height` are those of the unrotated page."""
    left, right, top, bottom = line.left, line.right, line.top, line.bottom
    if rotation == 1:
        left, right, top, bottom = bottom, top, width - left, width - right
    elif rotation == 2:
        left, right, top, bottom = width - right, width - left, height - bottom, height - top
    elif rotation == 3:
        left, right, top, bottom = height - top, height - bottom, right, left
    page_height = width if rotation % 2 else height
    return replace(
        line,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        page_height=page_height,
        rotation=(line.rotation - rotation) % 4,
    )


# -- headers and footers


def find_running_lines(pages: Sequence[PrintedPage]) -> frozenset[tuple[str, int]]:
    """Return the keys of headers and footers: edge lines that enough pages repeat at the same height."""
    counts = Counter(key for page in pages for key in {running_line_key(line) for line in edge_lines(page.lines)})
    min_pages = max(MIN_REPEATED_PAGES, MIN_REPEATED_SHARE * len(pages))
    return frozenset(key for key, count in counts.items() if count >= min_pages)


def edge_lines(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the top and bottom lines of a page that are in its margins."""
    sorted_lines = sorted(lines, key=lambda line: line.bottom)
    outer = sorted_lines[:MAX_EDGE_LINES] + sorted_lines[-MAX_EDGE_LINES:]
    return [
        line for line in outer if not EDGE_SHARE * line.page_height < line.bottom < (1 - EDGE_SHARE) * line.page_height
    ]


def running_line_key(line: PrintedLine) -> tuple[str, int]:
    """Return the text without its numbers, and the binned height: equal for a header on all pages."""
    return NUMBER_RE.sub("#", line.text.casefold()), round(line.bottom / POSITION_BIN_POINTS)


def is_text_line(line: PrintedLine, running_line_keys: frozenset[tuple[str, int]], seen_texts: set[str]) -> bool:
    """Return False for page numbers and for headers that occurred before (recorded in `seen_texts`)."""
    key = running_line_key(line)
    if key not in running_line_keys:
        return True
    if PAGE_NUMBER_RE.fullmatch(key[0]) or key[0] in seen_texts:
        return False
    seen_texts.add(key[0])
    return True


# -- paragraphs


def group_paragraphs(lines: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    """Group the lines of one page by paragraph."""
    margins = right_margins(lines)
    paragraphs: list[list[PrintedLine]] = []
    for line in lines:
        if paragraphs and continues_paragraph(paragraphs[-1][-1], line, margins):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    return paragraphs


def right_margins(lines: Iterable[PrintedLine]) -> dict[int, float]:
    """Return for each column bin the right end of the longest line that starts near it, in points."""
    margins: dict[int, float] = {}
    for line in lines:
        for bin_index in range(int(line.left // COLUMN_BIN_POINTS) - 2, int(line.left // COLUMN_BIN_POINTS) + 3):
            margins[bin_index] = max(margins.get(bin_index, 0.0), line.right)
    return margins


def continues_paragraph(previous: PrintedLine, line: PrintedLine, margins: dict[int, float]) -> bool:
    """Return True if `line` continues the paragraph of the line before it."""
    size = max(previous.font_size, line.font_size)
    if (
        not has_same_font_size(previous, line)
        or previous.is_bold != line.is_bold
        or previous.rotation
        or LIST_MARK_RE.match(line.text)
    ):
        return False
    step = previous.bottom - line.bottom
    if not 0.3 * size < step < MAX_LEADING * size:
        return False
    if line.left > previous.left + MIN_INDENT * size and not LIST_MARK_RE.match(previous.text):
        return False
    return previous.right > margins.get(int(previous.left // COLUMN_BIN_POINTS), 0.0) - MAX_MARGIN_GAP * size


def has_same_font_size(first: PrintedLine, second: PrintedLine) -> bool:
    """Return True if two lines have the same font size, within MAX_SIZE_DIFFERENCE."""
    return abs(first.font_size - second.font_size) <= MAX_SIZE_DIFFERENCE * max(first.font_size, second.font_size)


def join_lines(texts: Iterable[str]) -> str:
    """Join lines to one text, without a blank between Chinese lines, and rejoin hyphenated words."""
    text = ""
    for part in texts:
        dense = text and CJK_CHAR_RE.match(text[-1]) and CJK_CHAR_RE.match(part[:1])
        text += part if not text or dense or text[-1] in "\x02\ufffe" else " " + part
    return to_one_line(LINE_END_HYPHEN_RE.sub(rejoin_hyphen, text).replace("\x02", "-").replace("\ufffe", "-"))


def rejoin_hyphen(match: re.Match[str]) -> str:
    """Rejoin a word that a line break split. A capital or digit after lower case keeps the hyphen."""
    word_parts = (match[1], match[2] or "")
    is_one_word = (
        word_parts[1].islower() if word_parts[0].islower() else word_parts[0].isupper() and word_parts[1].isupper()
    )
    return match[1] if is_one_word else match[1] + "-"


def build_block(paragraph_lines: Sequence[PrintedLine], levels: dict[float, int]) -> Block:
    """Build the block of one paragraph: a heading by its font size, a list item by its bullet, else a paragraph."""
    text = join_lines(line.text for line in paragraph_lines)
    level = levels.get(round(paragraph_lines[0].font_size), 0)
    if level and len(text) <= MAX_HEADING_CHARS and any(map(str.isalpha, text)):
        return Block(BlockKind.HEADING, text, level, page=paragraph_lines[0].page_number)
    if bullet := BULLET_RE.match(text):
        return Block(BlockKind.LIST_ITEM, text[bullet.end() :], 1, page=paragraph_lines[0].page_number)
    return Block(BlockKind.PARAGRAPH, text, page=paragraph_lines[0].page_number)


def body_font_size(lines: Iterable[PrintedLine]) -> float:
    """Return the font size of most of the text, rounded to points; 0.0 without text."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.font_size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def heading_levels(pages: Sequence[PrintedPage], body: float) -> dict[float, int]:
    """Return the heading level of each font size that is larger than the text, largest first."""
    sizes = {
        round(line.font_size) for page in pages for line in page.lines if line.font_size > MIN_HEADING_SIZE_RATIO * body
    }
    return {size: min(rank, 6) for rank, size in enumerate(sorted(sizes, reverse=True), 1)}


# -- opening lines, for the title


def build_opening(page: PrintedPage) -> tuple[OpeningLine, ...]:
    """Return the upright lines of a page as opening lines; lines of one paragraph share their number."""
    lines = [line for line in page.lines if not line.rotation][:MAX_OPENING_LINES]
    paragraph_numbers = [0]
    for previous, line in pairwise(lines):
        paragraph_numbers.append(paragraph_numbers[-1] + (not continues_opening_line(previous, line)))
    return tuple(
        opening_line(line, paragraph_number, page)
        for line, paragraph_number in zip(lines, paragraph_numbers, strict=False)
    )


def continues_opening_line(previous: PrintedLine, line: PrintedLine) -> bool:
    """Return True for the next line of a wrapped title: same font, directly below or next to the previous line."""
    step = previous.bottom - line.bottom
    is_adjacent = -0.5 * line.font_size < step < MAX_LEADING * max(previous.font_size, line.font_size)
    return is_adjacent and has_same_font_size(previous, line) and previous.is_bold == line.is_bold


def opening_line(line: PrintedLine, paragraph_number: int, page: PrintedPage) -> OpeningLine:
    """Return a printed line as an opening line."""
    middle = (line.left + line.right) / 2
    is_centred = bool(page.width) and abs(middle - page.width / 2) < 0.06 * page.width and line.left > 0.15 * page.width
    return OpeningLine(join_lines([line.text]), line.font_size, "", line.is_bold, is_centred, paragraph_number)
