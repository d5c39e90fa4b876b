"""Word 6 to 2003 (DOC), by its piece table [MS-DOC 2.4.1]: its text, and what its styles call title and heading."""

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import olefile

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import (
    MAX_CHARACTERS,
    MAX_OPENING,
    BlockList,
    Content,
    OpeningLine,
    UnreadableError,
    one_line,
)
from extractor.documents.office.compound_file import NOT_OURS, read_compound, stream

MAGICS = (0xA5EC, 0xA5DC)
WORD_97 = 0x00C1
ENCRYPTED, TABLE_1 = 0x0100, 0x0200  # flags of the head
CODE_PAGES = {0x04: "gbk", 0x11: "cp932", 0x12: "cp949", 0x19: "cp1251", 0x08: "cp1253", 0x15: "cp1250", 0x05: "cp1250"}
TAIWAN = (0x0404, 0x0C04, 0x1404)
MAX_PIECES = 200_000
MAX_STYLES = 5_000
MAX_RUNS = 200_000
FIELD, RESULT, END = "\x13", "\x14", "\x15"
COUNTS, PIECES, STYLES, PARAGRAPHS = 0x4C, 0x01A2, 0xA2, 0x0102  # where the head says where they are
PAGE = 512  # bytes of a page of formats
TITLE_STYLE, HEADINGS = 62, range(1, 10)
# What a paragraph's author called it, put before its text: a letter for private use, a title or a level.
MARK = 0xE000


@dataclass(frozen=True)
class Piece:
    """A piece of the text: where it stands in the main stream, and how many bytes a letter has."""

    text: str
    place: int
    width: int


def read(data: bytes) -> Content:
    """The text of a DOC file. Raises UnreadableError."""
    return read_compound(data, read_word)


def read_word(container: olefile.OleFileIO) -> Content:
    """The paragraphs and rows of a Word file."""
    main = stream(container, "WordDocument")
    magic, version = struct.unpack_from("<HH", main)
    flags = struct.unpack_from("<H", main, 0x0A)[0]
    if magic not in MAGICS:
        raise UnreadableError(Reason.UNPARSABLE, "its main stream is not Word's")
    if flags & ENCRYPTED:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
    if version >= WORD_97:
        table = stream(container, "1Table" if flags & TABLE_1 else "0Table")
        pieces = list(read_pieces(main, table))
        text = marked(main_text(main, pieces), pieces, main, table)
    else:
        text = old_text(main)
    found, opening = BlockList(), list[OpeningLine]()
    for block, is_title in word_blocks(without_fields(text)):
        found.add(block)
        if block.text and len(opening) < MAX_OPENING:
            opening.append(opening_line(block, is_title, len(opening)))
    return Content(tuple(found.blocks), tuple(opening), cut=found.cut)


def main_text(main: bytes, pieces: list[Piece]) -> str:
    """The text of the document, its notes and its boxes; no heads, feet, comments."""
    counts = struct.unpack_from("<8i", main, COUNTS)
    text = "".join(piece.text for piece in pieces)
    parts, at = [], 0
    for place, count in enumerate(counts):
        if place in (0, 1, 5, 6):  # text, footnotes, endnotes, boxes
            parts.append(text[at : at + max(0, count)])
        at += max(0, count)
    return "\r".join(parts) if parts[0].strip() else text


def read_pieces(main: bytes, table: bytes) -> Iterator[Piece]:
    """The pieces of the text, in order [MS-DOC 2.9.38, 2.9.177]."""
    start, size = struct.unpack_from("<II", main, PIECES)
    table = table[start : start + size]
    at = 0
    while at < len(table) and table[at] == 1:
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    if at >= len(table) or table[at] != 2:
        raise ValueError("no piece table")
    count = (struct.unpack_from("<I", table, at + 1)[0] - 4) // 12
    at += 5
    if count > MAX_PIECES:
        raise UnreadableError(Reason.TOO_LARGE, f"its text is in {count:,} pieces")
    places = struct.unpack_from(f"<{count + 1}I", table, at)
    read = 0
    for number in range(count):
        place = struct.unpack_from("<I", table, at + 4 * (count + 1) + 8 * number + 2)[0]
        length = min(places[number + 1] - places[number], MAX_CHARACTERS - read)
        if length <= 0:
            continue
        read += length
        is_narrow = bool(place & 0x40000000)
        place, width = ((place & 0x3FFFFFFF) // 2, 1) if is_narrow else (place, 2)
        codes = main[place : place + width * length]
        yield Piece(codes.decode("cp1252" if is_narrow else "utf-16-le", "replace"), place, width)


# -- what paragraphs are called


def marked(text: str, pieces: list[Piece], main: bytes, table: bytes) -> str:
    """The text with a mark before titles and headings; that of a file whose styles cannot be read as it is."""
    try:
        kinds = style_kinds(table, *struct.unpack_from("<II", main, STYLES))
        runs = style_runs(main, table)
    except NOT_OURS:
        return text
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece.text))
    parts, at = [], 0
    for line in text.split("\r"):
        number = bisect_right(starts, at) - 1
        kind = 0
        if line.strip() and number < len(pieces):
            place = pieces[number].place + pieces[number].width * (at - starts[number])
            kind = kinds.get(style_at(runs, place), 0)
        parts.append(chr(MARK + kind) + line if kind else line)
        at += len(line) + 1
    return "\r".join(parts)


def style_kinds(table: bytes, start: int, size: int) -> dict[int, int]:
    """The styles that are Word's own title (TITLE_STYLE) or headings (1 to 9), by number [MS-DOC 2.9.271]."""
    kinds: dict[int, int] = {}
    at = start + 2 + struct.unpack_from("<H", table, start)[0]
    for number in range(MAX_STYLES):
        if at + 4 > start + size:
            break
        length = struct.unpack_from("<H", table, at)[0]
        kind = struct.unpack_from("<H", table, at + 2)[0] & 0xFFF if length else 0
        if kind == TITLE_STYLE or kind in HEADINGS:
            kinds[number] = kind
        at += 2 + length + length % 2
    return kinds


def style_runs(main: bytes, table: bytes) -> tuple[list[int], list[int]]:
    """Where runs of paragraphs begin in the main stream, and the style of each, by number [MS-DOC 2.8.6, 2.9.174]."""
    start, size = struct.unpack_from("<II", main, PARAGRAPHS)
    count = (size - 4) // 8
    pages = struct.unpack_from(f"<{count}I", table, start + 4 * (count + 1)) if 0 < count <= MAX_RUNS else ()
    places: list[int] = []
    styles: list[int] = []
    for number in pages:
        page = main[(number & 0x3FFFFF) * PAGE : ((number & 0x3FFFFF) + 1) * PAGE]
        runs = page[PAGE - 1]
        places += struct.unpack_from(f"<{runs}I", page)
        for run in range(runs):
            at = 2 * page[4 * (runs + 1) + 13 * run]
            styles.append(struct.unpack_from("<H", page, at + (1 if page[at] else 2))[0] if at else 0)
    return places, styles


def style_at(runs: tuple[list[int], list[int]], place: int) -> int:
    """The number of the style of the paragraph at a place."""
    number = bisect_right(runs[0], place) - 1
    return runs[1][number] if number >= 0 else 0


def opening_line(block: Block, is_title: bool, place: int) -> OpeningLine:
    """A paragraph as the title's rules see it."""
    role = "title" if is_title else "heading" if block.kind is BlockKind.HEADING else ""
    return OpeningLine(block.text[:500], role=role, place=place)


# -- its text


def old_text(main: bytes) -> str:
    """The text of Word 6 and 95, one byte a letter in the code page of its language."""
    language = struct.unpack_from("<H", main, 0x06)[0]
    start, end = struct.unpack_from("<II", main, 0x18)
    encoding = "big5" if language in TAIWAN else CODE_PAGES.get(language & 0xFF, "cp1252")
    return main[start : min(end, start + MAX_CHARACTERS)].decode(encoding, "replace")


def without_fields(text: str) -> str:
    """The text with the results of fields, without what they compute them from."""
    parts, hidden = [], list[bool]()
    at = 0
    for place, sign in enumerate(text):
        if sign not in (FIELD, RESULT, END):
            continue
        if not any(hidden):
            parts.append(text[at:place])
        at = place + 1
        if sign == FIELD:
            hidden.append(True)
        elif hidden:
            hidden[-1] = False
            if sign == END:
                hidden.pop()
    return "".join(parts) + text[at:]


def word_blocks(text: str) -> Iterator[tuple[Block, bool]]:
    """Paragraphs end with CR, cells with BEL, rows with another BEL; True beside what has the title's style."""
    text = text.replace("\x07\x07", "\r").replace("\x07", "\t").replace("\x1e", "-").replace("\x1f", "")
    for line in text.replace("\x0b", "\r").replace("\x0c", "\r").replace("\x0e", "\r").split("\r"):
        kind = ord(line[0]) - MARK if line else 0
        if kind == TITLE_STYLE or kind in HEADINGS:
            level = 1 if kind == TITLE_STYLE else min(kind, 6)
            yield Block(BlockKind.HEADING, one_line(line[1:]), level), kind == TITLE_STYLE
        elif "\t" in line.strip("\t "):
            yield Block(BlockKind.ROW, "\t".join(one_line(cell) for cell in line.split("\t")).rstrip("\t")), False
        else:
            yield Block(BlockKind.PARAGRAPH, one_line(line)), False
