"""The lines of printed pages (PDF, OFD) as paragraphs and headings, without what every page repeats. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from docstore.model import Block, BlockKind
from extractor.documents.content import MAX_OPENING, BlockList, Content, OpeningLine, Properties, one_line
from text.scripts import HAN


@dataclass(frozen=True)
class PageLine:
    """A line of a page: its place in points from the lower left corner, the size of its letters in points.

    `height` is the page's; `turn` in which direction it runs: 0 to the right, 1 upwards, 2 to the left, 3 downwards.
    """

    text: str
    page: int
    left: float
    right: float
    top: float
    bottom: float
    size: float
    height: float
    turn: int = 0
    bold: bool = False


@dataclass(frozen=True)
class PrintedPage:
    """One page: its size in points, its lines in the order of the file."""

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]


DENSE = re.compile(f"[{HAN}\u3000-\u30ff\uff00-\uffef，。、；：？！“”‘’（）《》]")
MARK = re.compile(
    r"^(?:[•·●○■□◆◇▪▫➢➤►▶✓✔❖–—−*]\s*|[-o]\s+|(?:\(?\d{1,3}[.)、．]|[（(][一二三四五六七八九十\d]{1,3}[)）]"
    r"|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十百\d]{1,5}[条章节])\s*)(?=\S)"
)
BULLET = re.compile(r"^(?:[•●○■□◆◇▪▫➢➤►▶✓✔❖]\s*|[·*]\s+)(?=\S)")
HYPHENATED = re.compile("([^\\W\\d_])[\x02\ufffe]\\s*(?=([^\\W\\d_])?)")
NUMBER = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
PAGE_NUMBER = re.compile(
    r"[-–—·\s]*(?:page|seite|页|第)?\s*#(?:\s*(?:/|of|von|de|sur)\s*#)?\s*页?(?:\s*[,，]?\s*共\s*#\s*页)?[-–—·\s]*",
    re.I,
)
EDGE_LINES = 3  # at the top, and at the bottom of a page, that may be repeated on others
EDGE = 0.12  # of the page's height: where heads and feet stand
MIN_REPEATED = 3  # pages, and the share of all pages, that show a line at one place
MIN_SHARE = 0.4  # books have one heading on left pages and another on right ones
PLACE = 4.0  # points
MAX_HEADING = 200  # characters
HEADING_SIZE = 1.15  # of the size of the text
SAME_SIZE = 0.08
MAX_LEADING = 1.9  # from line to line, in sizes of its letters
MARGIN = 3.0  # a line that ends so many sizes before the margin ends its paragraph
INDENT = 0.9
BIN = 12.0  # points: lines that begin within them stand in one column


def lay_out(
    pages: Sequence[PrintedPage], properties: Properties, cut: str, first: PrintedPage | None = None
) -> Content:
    """Paragraphs of lines. `first` is the first page with text again, in finer pieces, where there is such a one."""
    repeated = repeated_lines(pages)
    body = body_size(line for page in pages for line in page.lines)
    levels = heading_levels(pages, body)
    found, seen = BlockList(), set[str]()
    for page in pages:
        lines = [line for line in page.lines if keeps(line, repeated, seen)]
        for run in paragraphs(lines):
            found.add(block_of(run, levels))
    first = first or next((page for page in pages if page.lines), None)
    opening = opening_of(first) if first else ()
    return Content(tuple(found.blocks), opening, properties, body, cut or found.cut)


def turned(page: PrintedPage) -> PrintedPage:
    """A page as it is read: turned so that most of its text runs to the right, its lines with the page's height."""
    counts = Counter[int]()
    for line in page.lines:
        counts[line.turn] += len(line.text)
    turn = counts.most_common(1)[0][0] if counts else 0
    if not turn:
        return page
    width, height = (page.height, page.width) if turn % 2 else (page.width, page.height)
    lines = tuple(turned_line(line, turn, page.width, page.height) for line in page.lines)
    return PrintedPage(page.number, width, height, lines)


def turned_line(line: PageLine, turn: int, width: float, height: float) -> PageLine:
    """A line of a page of this width and height that is turned by so many quarters."""
    left, right, top, bottom = line.left, line.right, line.top, line.bottom
    if turn == 1:
        left, right, top, bottom = bottom, top, width - left, width - right
    elif turn == 2:
        left, right, top, bottom = width - right, width - left, height - bottom, height - top
    elif turn == 3:
        left, right, top, bottom = height - top, height - bottom, right, left
    tall = width if turn % 2 else height
    return replace(line, left=left, right=right, top=top, bottom=bottom, height=tall, turn=(line.turn - turn) % 4)


# -- what every page repeats


def repeated_lines(pages: Sequence[PrintedPage]) -> frozenset[tuple[str, int]]:
    """The keys of lines at the edges of pages that so many pages show at the same place."""
    counts = Counter(key for page in pages for key in {edge_key(line) for line in edges(page.lines)})
    least = max(MIN_REPEATED, MIN_SHARE * len(pages))
    return frozenset(key for key, count in counts.items() if count >= least)


def edges(lines: Sequence[PageLine]) -> list[PageLine]:
    """The highest and the lowest lines of a page, as far as they stand in its margins."""
    ordered = sorted(lines, key=lambda line: line.bottom)
    outer = ordered[:EDGE_LINES] + ordered[-EDGE_LINES:]
    return [line for line in outer if not EDGE * line.height < line.bottom < (1 - EDGE) * line.height]


def edge_key(line: PageLine) -> tuple[str, int]:
    """What is the same on all pages: the text without its numbers, and how high it stands."""
    return NUMBER.sub("#", line.text.casefold()), round(line.bottom / PLACE)


def keeps(line: PageLine, repeated: frozenset[tuple[str, int]], seen: set[str]) -> bool:
    """The line is text: no running head but where it stands for the first time, no number of a page."""
    key = edge_key(line)
    if key not in repeated:
        return True
    if PAGE_NUMBER.fullmatch(key[0]) or key[0] in seen:
        return False
    seen.add(key[0])
    return True


# -- paragraphs


def paragraphs(lines: Sequence[PageLine]) -> list[list[PageLine]]:
    """The lines of one page, those of one paragraph together."""
    margins = right_margins(lines)
    runs: list[list[PageLine]] = []
    for line in lines:
        if runs and continues(runs[-1][-1], line, margins):
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def right_margins(lines: Iterable[PageLine]) -> dict[int, float]:
    """For the places where lines begin, how far lines that begin there reach."""
    margins: dict[int, float] = {}
    for line in lines:
        for place in range(int(line.left // BIN) - 2, int(line.left // BIN) + 3):
            margins[place] = max(margins.get(place, 0.0), line.right)
    return margins


def continues(before: PageLine, line: PageLine, margins: dict[int, float]) -> bool:
    """`line` goes on with the paragraph of the line `before` it."""
    size = max(before.size, line.size)
    if not same_size(before, line) or before.bold != line.bold or before.turn or MARK.match(line.text):
        return False
    step = before.bottom - line.bottom
    if not 0.3 * size < step < MAX_LEADING * size:
        return False
    if line.left > before.left + INDENT * size and not MARK.match(before.text):
        return False
    return before.right > margins.get(int(before.left // BIN), 0.0) - MARGIN * size


def same_size(one: PageLine, other: PageLine) -> bool:
    """Their letters have one size."""
    return abs(one.size - other.size) <= SAME_SIZE * max(one.size, other.size)


def joined(texts: Iterable[str]) -> str:
    """Lines as one text; Chinese ones without a blank between."""
    text = ""
    for part in texts:
        dense = text and DENSE.match(text[-1]) and DENSE.match(part[:1])
        text += part if not text or dense or text[-1] in "\x02\ufffe" else " " + part
    return one_line(HYPHENATED.sub(mended, text).replace("\x02", "-").replace("\ufffe", "-"))


def mended(match: re.Match[str]) -> str:
    """A word that a line's end broke, whole again; a capital or a number behind small letters keeps the hyphen."""
    both = (match[1], match[2] or "")
    whole = both[1].islower() if both[0].islower() else both[0].isupper() and both[1].isupper()
    return match[1] if whole else match[1] + "-"


def block_of(run: Sequence[PageLine], levels: dict[float, int]) -> Block:
    """One paragraph."""
    text = joined(line.text for line in run)
    level = levels.get(round(run[0].size), 0)
    if level and len(text) <= MAX_HEADING and any(map(str.isalpha, text)):
        return Block(BlockKind.HEADING, text, level, page=run[0].page)
    if bullet := BULLET.match(text):
        return Block(BlockKind.ITEM, text[bullet.end() :], 1, page=run[0].page)
    return Block(BlockKind.PARAGRAPH, text, page=run[0].page)


def body_size(lines: Iterable[PageLine]) -> float:
    """The size of letters that most of the text has."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def heading_levels(pages: Sequence[PrintedPage], body: float) -> dict[float, int]:
    """The sizes of headings, largest first, with their level."""
    sizes = {round(line.size) for page in pages for line in page.lines if line.size > HEADING_SIZE * body}
    return {size: min(rank, 6) for rank, size in enumerate(sorted(sizes, reverse=True), 1)}


# -- the first page, for the title


def opening_of(page: PrintedPage) -> tuple[OpeningLine, ...]:
    """The upright lines of a page, those of one paragraph with one `place`."""
    lines = [line for line in page.lines if not line.turn][:MAX_OPENING]
    places = [0]
    for before, line in pairwise(lines):
        places.append(places[-1] + (not belongs(before, line)))
    return tuple(opening_line(line, place, page) for line, place in zip(lines, places, strict=False))


def belongs(before: PageLine, line: PageLine) -> bool:
    """A title that was wrapped: the next line has the same letters and stands right below, or beside."""
    step = before.bottom - line.bottom
    near = -0.5 * line.size < step < MAX_LEADING * max(before.size, line.size)
    return near and same_size(before, line) and before.bold == line.bold


def opening_line(line: PageLine, place: int, page: PrintedPage) -> OpeningLine:
    """A line as the title's rules see it."""
    middle = (line.left + line.right) / 2
    centred = bool(page.width) and abs(middle - page.width / 2) < 0.06 * page.width and line.left > 0.15 * page.width
    top = 1 - line.top / line.height if line.height else -1.0
    text = joined([line.text])
    return OpeningLine(text, line.size, "", min(max(top, 0.0), 1.0), line.bold, centred, place)
