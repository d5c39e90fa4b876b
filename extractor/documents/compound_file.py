"""The compound files (OLE) of old Office: Word 6 to 2003 (DOC), PowerPoint 97 to 2003 (PPT), the lock on XLS.

olefile takes the container apart; the text is read by Word's piece table [MS-DOC 2.4.1] and by PowerPoint's records
[MS-PPT 2.1]. No macro, no object within is looked at.
"""

import io
import struct
from collections.abc import Iterator
from typing import NamedTuple

import olefile

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import (
    MAX_CHARACTERS,
    MAX_OPENING,
    BlockList,
    Content,
    OpeningLine,
    Properties,
    UnreadableError,
    one_line,
)

WORD_MAGICS = (0xA5EC, 0xA5DC)
WORD_97 = 0x00C1
ENCRYPTED, TABLE_1 = 0x0100, 0x0200  # flags of Word's head
CODE_PAGES = {0x04: "gbk", 0x11: "cp932", 0x12: "cp949", 0x19: "cp1251", 0x08: "cp1253", 0x15: "cp1250", 0x05: "cp1250"}
TAIWAN = (0x0404, 0x0C04, 0x1404)
MAX_PIECES = 200_000
MAX_STREAM = 100_000_000
FIELD, RESULT, END = "\x13", "\x14", "\x15"
# Records of PowerPoint
SLIDE, SLIDES, PERSIST, HEADER, CHARS, BYTES, OUTLINE = 1006, 4080, 1011, 3999, 4000, 4008, 3998
USER_EDIT, DIRECTORY = 4085, 6002
TITLE_KINDS = (0, 6)
LOCKED_USER = 0xF3D1C4DF
MAX_DEPTH = 40
MAX_EDITS = 10_000
FILEPASS, BOF = 0x2F, 0x0809
NOT_OURS = struct.error, IndexError, ValueError, KeyError


class Record(NamedTuple):
    """A record of a PowerPoint stream: its kind, its instance, where what it holds begins and ends."""

    kind: int
    instance: int
    start: int
    end: int
    holds_records: bool


def read(data: bytes, name: str) -> Content:
    """The text of a DOC or PPT file. Raises UnreadableError."""
    with opened(data) as container:
        try:
            content = read_word(container) if name == "doc" else read_slides(container)
        except NOT_OURS as error:
            raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None
        return Content(content.blocks, content.opening, properties_of(container), cut=content.cut)


def opened(data: bytes) -> olefile.OleFileIO:
    """The container. Raises UnreadableError."""
    if not olefile.isOleFile(data=data):
        raise UnreadableError(Reason.UNPARSABLE, "it is no compound file, and no older form that is read")
    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except (OSError, *NOT_OURS) as error:
        raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None


def stream(container: olefile.OleFileIO, name: str) -> bytes:
    """The bytes of a stream, none where it is not there."""
    if not container.exists(name):
        return b""
    if container.get_size(name) > MAX_STREAM:
        raise UnreadableError(Reason.TOO_LARGE, f"{name} has more than {MAX_STREAM >> 20} MB")
    found: bytes = container.openstream(name).read()
    return found


def refuse_locked(data: bytes) -> None:
    """Raise where a compound file is an encrypted container of new Office, or a locked workbook."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
    with opened(data) as container:
        book = stream(container, "Workbook") or stream(container, "Book")
    at = 0
    for _ in range(20):
        if at + 4 > len(book):
            return
        kind, size = struct.unpack_from("<HH", book, at)
        if kind == FILEPASS:
            raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
        at += 4 + size


def properties_of(container: olefile.OleFileIO) -> Properties:
    """What the file says of itself."""
    try:
        found = container.get_metadata()
    except (OSError, *NOT_OURS, AttributeError, TypeError):
        return Properties()
    encoding = f"cp{found.codepage}" if found.codepage and 0 < found.codepage < 65_000 else "utf-8"
    created = found.create_time.date().isoformat() if hasattr(found.create_time, "date") else ""
    return Properties(text_of(found.title, encoding), text_of(found.author, encoding), created)


def text_of(value: object, encoding: str) -> str:
    """A property as text."""
    if not isinstance(value, bytes):
        return ""
    try:
        return one_line(value.decode(encoding, "replace")[:500])
    except LookupError:
        return one_line(value.decode("utf-8", "replace")[:500])


# -- Word


def read_word(container: olefile.OleFileIO) -> Content:
    """The paragraphs and rows of a Word file."""
    main = stream(container, "WordDocument")
    magic, version = struct.unpack_from("<HH", main)
    flags = struct.unpack_from("<H", main, 0x0A)[0]
    if magic not in WORD_MAGICS:
        raise UnreadableError(Reason.UNPARSABLE, "its main stream is not Word's")
    if flags & ENCRYPTED:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
    if version >= WORD_97:
        text = new_text(main, stream(container, "1Table" if flags & TABLE_1 else "0Table"))
    else:
        text = old_text(main)
    found = BlockList()
    for block in word_blocks(without_fields(text)):
        found.add(block)
    opening = [OpeningLine(one.text[:500], place=at) for at, one in enumerate(found.blocks[:MAX_OPENING])]
    return Content(tuple(found.blocks), tuple(opening), cut=found.cut)


def new_text(main: bytes, table: bytes) -> str:
    """The text of Word 97 and later: that of the document, its notes and its boxes; no heads, feet, comments."""
    counts = struct.unpack_from("<8i", main, 0x4C)
    start, size = struct.unpack_from("<II", main, 0x01A2)
    text = "".join(pieces(main, table[start : start + size]))
    parts, at = [], 0
    for place, count in enumerate(counts):
        if place in (0, 1, 5, 6):  # text, footnotes, endnotes, boxes
            parts.append(text[at : at + max(0, count)])
        at += max(0, count)
    return "\r".join(parts) if parts[0].strip() else text


def pieces(main: bytes, table: bytes) -> Iterator[str]:
    """The pieces of the text, in order [MS-DOC 2.9.38, 2.9.177]."""
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
        if place & 0x40000000:
            start = (place & 0x3FFFFFFF) // 2
            yield main[start : start + length].decode("cp1252", "replace")
        else:
            yield main[place : place + 2 * length].decode("utf-16-le", "replace")


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


def word_blocks(text: str) -> Iterator[Block]:
    """Paragraphs end with CR, cells with BEL, rows with another BEL."""
    text = text.replace("\x07\x07", "\r").replace("\x07", "\t").replace("\x1e", "-").replace("\x1f", "")
    for line in text.replace("\x0b", "\r").replace("\x0c", "\r").replace("\x0e", "\r").split("\r"):
        if "\t" in line.strip("\t "):
            yield Block(BlockKind.ROW, "\t".join(one_line(cell) for cell in line.split("\t")).rstrip("\t"))
        else:
            yield Block(BlockKind.PARAGRAPH, one_line(line))


# -- PowerPoint


def read_slides(container: olefile.OleFileIO) -> Content:
    """The text of a presentation, a slide a page."""
    user = stream(container, "Current User")
    data = stream(container, "PowerPoint Document")
    token, edit = struct.unpack_from("<II", user, 12)
    if token == LOCKED_USER:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
    offsets, document = persist_directory(data, edit)
    found, opening = BlockList(), list[OpeningLine]()
    for number, (reference, outline) in enumerate(slides_of(data, offsets[document]), 1):
        place = offsets.get(reference)
        for kind, text in slide_texts(data, place, outline) if place is not None else outline:
            for line in filter(None, map(one_line, text.replace("\x0b", "\r").split("\r"))):
                is_title = kind in TITLE_KINDS
                found.add(
                    Block(BlockKind.HEADING if is_title else BlockKind.PARAGRAPH, line, 2 * is_title, page=number)
                )
                if number == 1 and len(opening) < MAX_OPENING:
                    opening.append(
                        OpeningLine(line[:500], 0.0, "title" if is_title else "", place=0 if is_title else 1)
                    )
        if found.full:
            break
    return Content(tuple(found.blocks), tuple(opening), cut=found.cut)


def records(data: bytes, start: int, end: int) -> Iterator[Record]:
    """The records between two places of a stream."""
    while start + 8 <= end:
        head, kind, size = struct.unpack_from("<HHI", data, start)
        begin = start + 8
        yield Record(kind, head >> 4, begin, min(begin + size, end), head & 0xF == 0xF)
        start = begin + size


def record_at(data: bytes, place: int) -> Record:
    """The record at a place. Raises ValueError where there is none."""
    found = next(records(data, place, len(data)), None)
    if found is None:
        raise ValueError("a record is missing")
    return found


def persist_directory(data: bytes, edit: int) -> tuple[dict[int, int], int]:
    """Where the current objects stand, by their number; and the number of the document."""
    offsets: dict[int, int] = {}
    document, seen = 0, set[int]()
    while edit and edit not in seen and len(seen) < MAX_EDITS:
        seen.add(edit)
        atom = record_at(data, edit)
        if atom.kind != USER_EDIT:
            raise ValueError("no record of its last edit")
        _, _, before, directory, number = struct.unpack_from("<IIIII", data, atom.start)
        document = document or number
        table = record_at(data, directory)
        at = table.start
        while at + 4 <= table.end:
            entry = struct.unpack_from("<I", data, at)[0]
            first, count = entry & 0xFFFFF, entry >> 20
            for place, offset in enumerate(struct.unpack_from(f"<{count}I", data, at + 4)):
                offsets.setdefault(first + place, offset)
            at += 4 + 4 * count
        edit = before
    return offsets, document


def slides_of(data: bytes, place: int) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """The slides: the number of each, and what its outline holds as (kind of text, text)."""
    document = record_at(data, place)
    lists = (one for one in records(data, document.start, document.end) if one.kind == SLIDES and one.instance == 0)
    for found in lists:
        reference, outline, kind = -1, list[tuple[int, str]](), 4
        for record in records(data, found.start, found.end):
            if record.kind == PERSIST:
                if reference >= 0:
                    yield reference, outline
                reference, outline = struct.unpack_from("<I", data, record.start)[0], []
            elif record.kind == HEADER:
                kind = struct.unpack_from("<I", data, record.start)[0]
            elif record.kind in (CHARS, BYTES):
                outline.append((kind, record_text(data, record)))
        if reference >= 0:
            yield reference, outline


def slide_texts(data: bytes, place: int, outline: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The texts of a slide in the order of its shapes; those of the outline that no shape shows come first."""
    shown: list[tuple[int, str]] = []
    used: set[int] = set()
    kind = 4
    for record in leaves(data, record_at(data, place), 0):
        if record.kind == OUTLINE:
            index = struct.unpack_from("<I", data, record.start)[0]
            if index < len(outline) and index not in used:
                used.add(index)
                shown.append(outline[index])
        elif record.kind == HEADER:
            kind = struct.unpack_from("<I", data, record.start)[0]
        elif record.kind in (CHARS, BYTES):
            shown.append((kind, record_text(data, record)))
    return [one for at, one in enumerate(outline) if at not in used] + shown


def leaves(data: bytes, record: Record, depth: int) -> Iterator[Record]:
    """The records within a record that hold no others."""
    if not record.holds_records:
        yield record
    elif depth < MAX_DEPTH:
        for one in records(data, record.start, record.end):
            yield from leaves(data, one, depth + 1)


def record_text(data: bytes, record: Record) -> str:
    """The text of a record."""
    encoding = "utf-16-le" if record.kind == CHARS else "latin-1"
    return data[record.start : record.end].decode(encoding, "replace")
