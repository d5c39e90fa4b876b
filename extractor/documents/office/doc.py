"""Reader for Word 6 to 2003 (DOC) by its piece table [MS-DOC 2.4.1]: text, and the styles title and heading."""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import olefile

from domain.article import Block, BlockKind
from domain.message import Message
from domain.outcome import Reason
from extractor.documents.content import (
    MAX_CHARACTERS,
    PASSWORD_PROTECTED_MESSAGE,
    DocumentBuilder,
    DocumentContent,
    UnreadableError,
    damaged_error,
    to_one_line,
)
from extractor.documents.office.formulas import eq_field_text
from extractor.documents.office.ole_file import MALFORMED_ERRORS, read_compound, read_stream

WORD_MAGICS = (0xA5EC, 0xA5DC)
WORD_97_VERSION = 0x00C1
FLAG_ENCRYPTED, FLAG_TABLE_1 = 0x0100, 0x0200  # flags of the file information block (FIB)
CODE_PAGES = {0x04: "gbk", 0x11: "cp932", 0x12: "cp949", 0x19: "cp1251", 0x08: "cp1253", 0x15: "cp1250", 0x05: "cp1250"}
TRADITIONAL_CHINESE_LANGUAGES = (0x0404, 0x0C04, 0x1404)
MAX_PIECES = 200_000
MAX_STYLES = 5_000
MAX_RUNS = 200_000
FIELD_BEGIN, FIELD_END = "\x13", "\x15"
FIELD_MARK_RE = re.compile("[\x13-\x15]")
# Offsets in the FIB.
OFFSET_CHAR_COUNTS, OFFSET_PIECE_TABLE, OFFSET_STYLE_SHEET = 0x4C, 0x01A2, 0xA2
OFFSET_CHAR_FORMATS, OFFSET_PARAGRAPH_FORMATS = 0xFA, 0x0102
HIDDEN_PROPERTY = b"\x3c\x08\x01"  # sprmCFVanish, on
VISIBLE_MARK_RE = re.compile("[^\r\x07]")  # all but the ends of paragraphs and cells
FORMAT_PAGE_BYTES = 512  # size of a formatted disk page (FKP)
TITLE_STYLE, HEADING_STYLES = 62, range(1, 10)
# Style of a paragraph, put before its text: a private-use character, STYLE_MARK + title style or heading level.
STYLE_MARK = 0xE000


@dataclass(frozen=True)
class TextPiece:
    """A piece of the text: its offset in the main stream, and its bytes per character."""

    text: str
    offset: int
    bytes_per_char: int


def read(data: bytes) -> DocumentContent:
    """Read a DOC file. Raises UnreadableError."""
    return read_compound(data, read_word)


def read_word(container: olefile.OleFileIO) -> DocumentContent:
    """Read the paragraphs and table rows of a Word file."""
    main = read_stream(container, "WordDocument")
    magic, version = struct.unpack_from("<HH", main)
    flags = struct.unpack_from("<H", main, 0x0A)[0]
    if magic not in WORD_MAGICS:
        raise damaged_error(Message("its main stream is not a Word stream"))
    if flags & FLAG_ENCRYPTED:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
    if version >= WORD_97_VERSION:
        table = read_stream(container, "1Table" if flags & FLAG_TABLE_1 else "0Table")
        hidden_runs = find_hidden_runs(main, table)
        pieces = [without_hidden_text(piece, hidden_runs) for piece in iter_pieces(main, table)]
        text = mark_styled_paragraphs(visible_parts(main, pieces), pieces, main, table)
    else:  # Word 6 and 95: one byte per character, in the code page of its language
        language = struct.unpack_from("<H", main, 0x06)[0]
        start, end = struct.unpack_from("<II", main, 0x18)
        encoding = "big5" if language in TRADITIONAL_CHINESE_LANGUAGES else CODE_PAGES.get(language & 0xFF, "cp1252")
        text = main[start : min(end, start + MAX_CHARACTERS)].decode(encoding, "replace")
    builder = DocumentBuilder()
    for block, is_title in iter_blocks(strip_field_codes(text)):
        builder.add(block)
        if block.text:
            role = "title" if is_title else "heading" if block.kind is BlockKind.HEADING else ""
            builder.add_opening(block.text, role=role)
    return builder.build()


def visible_parts(main: bytes, pieces: list[TextPiece]) -> list[tuple[int, str]]:
    """Return (start, text) of the document text, its notes and text boxes, without headers, footers and comments.

    `start` is the index of the first character in the text of all pieces.
    """
    counts = struct.unpack_from("<8i", main, OFFSET_CHAR_COUNTS)
    text = "".join(piece.text for piece in pieces)
    parts, position = [], 0
    for index, count in enumerate(counts):
        if index in (0, 1, 5, 6):  # text, footnotes, endnotes, boxes
            parts.append((position, text[position : position + max(0, count)]))
        position += max(0, count)
    return parts if parts[0][1].strip() else [(0, text)]


def iter_pieces(main: bytes, table: bytes) -> Iterator[TextPiece]:
    """Yield the pieces of the text in order [MS-DOC 2.9.38, 2.9.177]."""
    start, size = struct.unpack_from("<II", main, OFFSET_PIECE_TABLE)
    table = table[start : start + size]
    position = 0
    while position < len(table) and table[position] == 1:
        position += 3 + struct.unpack_from("<H", table, position + 1)[0]
    if position >= len(table) or table[position] != 2:
        raise ValueError("no piece table")
    count = (struct.unpack_from("<I", table, position + 1)[0] - 4) // 12
    position += 5
    if count > MAX_PIECES:
        raise UnreadableError(Reason.TOO_LARGE, Message("Its text is in {n} pieces", n=count))
    char_positions = struct.unpack_from(f"<{count + 1}I", table, position)
    chars_read = 0
    for number in range(count):
        offset = struct.unpack_from("<I", table, position + 4 * (count + 1) + 8 * number + 2)[0]
        length = min(char_positions[number + 1] - char_positions[number], MAX_CHARACTERS - chars_read)
        if length <= 0:
            continue
        chars_read += length
        is_narrow = bool(offset & 0x40000000)
        offset, width = ((offset & 0x3FFFFFFF) // 2, 1) if is_narrow else (offset, 2)
        codes = main[offset : offset + width * length]
        yield TextPiece(codes.decode("cp1252" if is_narrow else "utf-16-le", "replace"), offset, width)


# -- paragraph styles


def mark_styled_paragraphs(parts: list[tuple[int, str]], pieces: list[TextPiece], main: bytes, table: bytes) -> str:
    """Join the parts (start, text) of the text, with a style mark before each title and heading.

    There are no marks if the styles cannot be read.
    """
    try:
        kinds = read_heading_styles(table, *struct.unpack_from("<II", main, OFFSET_STYLE_SHEET))
        runs = read_style_runs(main, table)
    except MALFORMED_ERRORS:
        return "\r".join(text for _, text in parts)
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece.text))
    lines = []
    for position, text in parts:
        for line in text.split("\r"):
            number = bisect_right(starts, position) - 1
            kind = 0
            if line.strip() and number < len(pieces):
                offset = pieces[number].offset + pieces[number].bytes_per_char * (position - starts[number])
                kind = kinds.get(style_at_offset(runs, offset), 0)
            lines.append(chr(STYLE_MARK + kind) + line if kind else line)
            position += len(line) + 1
    return "\r".join(lines)


def read_heading_styles(table: bytes, start: int, size: int) -> dict[int, int]:
    """Return the built-in title style (TITLE_STYLE) and heading styles (1 to 9) by style number [MS-DOC 2.9.271]."""
    kinds: dict[int, int] = {}
    position = start + 2 + struct.unpack_from("<H", table, start)[0]
    for number in range(MAX_STYLES):
        if position + 4 > start + size:
            break
        length = struct.unpack_from("<H", table, position)[0]
        kind = struct.unpack_from("<H", table, position + 2)[0] & 0xFFF if length else 0
        if kind == TITLE_STYLE or kind in HEADING_STYLES:
            kinds[number] = kind
        position += 2 + length + length % 2
    return kinds


def read_style_runs(main: bytes, table: bytes) -> tuple[list[int], list[int]]:
    """Return the start offsets of paragraph runs in the main stream, and the style number of each.

    Source: [MS-DOC 2.8.6, 2.9.174].
    """
    offsets: list[int] = []
    styles: list[int] = []
    for page in iter_format_pages(main, table, OFFSET_PARAGRAPH_FORMATS):
        runs = page[FORMAT_PAGE_BYTES - 1]
        offsets += struct.unpack_from(f"<{runs}I", page)
        for run in range(runs):
            position = 2 * page[4 * (runs + 1) + 13 * run]
            styles.append(struct.unpack_from("<H", page, position + (1 if page[position] else 2))[0] if position else 0)
    return offsets, styles


def iter_format_pages(main: bytes, table: bytes, fib_offset: int) -> Iterator[bytes]:
    """Yield the formatted disk pages of paragraphs or characters, whose table is at an offset of the FIB."""
    start, size = struct.unpack_from("<II", main, fib_offset)
    count = (size - 4) // 8
    for number in struct.unpack_from(f"<{count}I", table, start + 4 * (count + 1)) if 0 < count <= MAX_RUNS else ():
        yield main[(number & 0x3FFFFF) * FORMAT_PAGE_BYTES : ((number & 0x3FFFFF) + 1) * FORMAT_PAGE_BYTES]


def find_hidden_runs(main: bytes, table: bytes) -> list[tuple[int, int]]:
    """Return start and end offset of each run of hidden characters in the main stream [MS-DOC 2.9.33]."""
    hidden_runs: list[tuple[int, int]] = []
    with suppress(*MALFORMED_ERRORS):
        for page in iter_format_pages(main, table, OFFSET_CHAR_FORMATS):
            count = page[FORMAT_PAGE_BYTES - 1]
            offsets = struct.unpack_from(f"<{count + 1}I", page)
            for run in range(count):
                position = 2 * page[4 * (count + 1) + run]
                if position and HIDDEN_PROPERTY in page[position + 1 : position + 1 + page[position]]:
                    hidden_runs.append(offsets[run : run + 2])
    return sorted(hidden_runs)


def without_hidden_text(piece: TextPiece, hidden_runs: list[tuple[int, int]]) -> TextPiece:
    """Replace the hidden characters of a piece by control characters, which no block contains."""
    text, parts, position = piece.text, list[str](), 0
    for run in hidden_runs[max(bisect_right(hidden_runs, (piece.offset, 0)) - 1, 0) :]:
        first, last = (max((offset - piece.offset) // piece.bytes_per_char, position) for offset in run)
        if first >= len(text):
            break
        parts += [text[position:first], VISIBLE_MARK_RE.sub("\0", text[first:last])]
        position = last
    return replace(piece, text="".join(parts) + text[position:])


def style_at_offset(runs: tuple[list[int], list[int]], offset: int) -> int:
    """Return the style number of the paragraph at an offset, 0 before the first run."""
    number = bisect_right(runs[0], offset) - 1
    return runs[1][number] if number >= 0 else 0


# -- text


def strip_field_codes(text: str) -> str:
    """Replace fields by their results, and formulas (EQ) by their text."""
    parts, is_code_stack = [], list[bool]()
    start = 0
    for mark in FIELD_MARK_RE.finditer(text):
        piece, start = text[start : mark.start()], mark.end()
        if not any(is_code_stack):
            parts.append(piece)
        elif is_code_stack[-1] and not any(is_code_stack[:-1]):
            parts.append(eq_field_text(piece))
        if mark[0] == FIELD_BEGIN:
            is_code_stack.append(True)
        elif is_code_stack:
            is_code_stack[-1] = False
            if mark[0] == FIELD_END:
                is_code_stack.pop()
    return "".join(parts) + text[start:]


def iter_blocks(text: str) -> Iterator[tuple[Block, bool]]:
    """Yield (block, has the title style). Paragraphs end with CR, cells with BEL, rows with a second BEL."""
    text = text.replace("\x07\x07", "\r").replace("\x07", "\t").replace("\x1e", "-").replace("\x1f", "")
    for line in text.replace("\x0b", "\r").replace("\x0c", "\r").replace("\x0e", "\r").split("\r"):
        kind = ord(line[0]) - STYLE_MARK if line else 0
        if kind == TITLE_STYLE or kind in HEADING_STYLES:
            level = 1 if kind == TITLE_STYLE else min(kind, 6)
            yield Block(BlockKind.HEADING, to_one_line(line[1:]), level), kind == TITLE_STYLE
        elif "\t" in line.strip("\t "):
            yield (
                Block(BlockKind.TABLE_ROW, "\t".join(to_one_line(cell) for cell in line.split("\t")).rstrip("\t")),
                False,
            )
        else:
            yield Block(BlockKind.PARAGRAPH, to_one_line(line)), False
