"""Reader for PowerPoint 97 to 2003 (PPT) by its records [MS-PPT 2.1]. Each slide is a page."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

import olefile

from domain.article import Block, BlockKind
from domain.outcome import Reason
from extractor.documents.content import (
    PASSWORD_PROTECTED_MESSAGE,
    DocumentBuilder,
    DocumentContent,
    UnreadableError,
    to_one_line,
)
from extractor.documents.office.ole_file import read_compound, read_stream

RT_SLIDE_LIST, RT_SLIDE_PERSIST, RT_TEXT_HEADER, RT_TEXT_CHARS, RT_TEXT_BYTES, RT_OUTLINE_TEXT_REF = (
    4080,
    1011,
    3999,
    4000,
    4008,
    3998,
)
RT_USER_EDIT, RT_SLIDE_SHOW_INFO = 4085, 1017
HIDDEN_SLIDE_FLAG = 4
TITLE_TEXT_TYPES = (0, 6)
ENCRYPTED_USER_TOKEN = 0xF3D1C4DF
MAX_DEPTH = 40
MAX_EDITS = 10_000


class Record(NamedTuple):
    """A record of a PowerPoint stream: its kind and instance, and the start and end offset of its data."""

    kind: int
    instance: int
    start: int
    end: int
    is_container: bool


def read(data: bytes) -> DocumentContent:
    """Read a PPT file. Raises UnreadableError."""
    return read_compound(data, read_slides)


def read_slides(container: olefile.OleFileIO) -> DocumentContent:
    """Read the text of a presentation, one page per slide."""
    user = read_stream(container, "Current User")
    data = read_stream(container, "PowerPoint Document")
    token, edit = struct.unpack_from("<II", user, 12)
    if token == ENCRYPTED_USER_TOKEN:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
    offsets, document = read_persist_directory(data, edit)
    builder = DocumentBuilder()
    for number, (reference, outline) in enumerate(iter_slides(data, offsets[document]), 1):
        offset = offsets.get(reference)
        if offset is not None and is_hidden_slide(data, offset):
            continue
        for kind, text in slide_texts(data, offset, outline) if offset is not None else outline:
            for line in filter(None, map(to_one_line, text.replace("\x0b", "\r").split("\r"))):
                is_title = kind in TITLE_TEXT_TYPES
                builder.add(
                    Block(BlockKind.HEADING if is_title else BlockKind.PARAGRAPH, line, 2 * is_title, page=number)
                )
                if number == 1:
                    builder.add_opening(line, role="title" if is_title else "", paragraph_number=int(not is_title))
        if builder.is_full:
            break
    return builder.build()


def iter_records(data: bytes, start: int, end: int) -> Iterator[Record]:
    """Yield the records between two offsets of a stream."""
    while start + 8 <= end:
        head, kind, size = struct.unpack_from("<HHI", data, start)
        begin = start + 8
        yield Record(kind, head >> 4, begin, min(begin + size, end), head & 0xF == 0xF)
        start = begin + size


def read_record(data: bytes, offset: int) -> Record:
    """Return the record at an offset. Raises ValueError if there is no record."""
    record = next(iter_records(data, offset, len(data)), None)
    if record is None:
        raise ValueError("a record is missing")
    return record


def read_persist_directory(data: bytes, edit: int) -> tuple[dict[int, int], int]:
    """Return the offsets of the current objects by their number, and the number of the document."""
    offsets: dict[int, int] = {}
    document, seen_edits = 0, set[int]()
    while edit and edit not in seen_edits and len(seen_edits) < MAX_EDITS:
        seen_edits.add(edit)
        atom = read_record(data, edit)
        if atom.kind != RT_USER_EDIT:
            raise ValueError("no record of its last edit")
        _, _, previous_edit, directory, number = struct.unpack_from("<IIIII", data, atom.start)
        document = document or number
        table = read_record(data, directory)
        position = table.start
        while position + 4 <= table.end:
            entry = struct.unpack_from("<I", data, position)[0]
            first, count = entry & 0xFFFFF, entry >> 20
            for index, offset in enumerate(struct.unpack_from(f"<{count}I", data, position + 4)):
                offsets.setdefault(first + index, offset)
            position += 4 + 4 * count
        edit = previous_edit
    return offsets, document


def iter_slides(data: bytes, offset: int) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Yield for each slide its object number and its outline texts as (kind of text, text)."""
    document = read_record(data, offset)
    lists = (
        candidate
        for candidate in iter_records(data, document.start, document.end)
        if candidate.kind == RT_SLIDE_LIST and candidate.instance == 0
    )
    for slide_list in lists:
        reference, outline, kind = -1, list[tuple[int, str]](), 4
        for record in iter_records(data, slide_list.start, slide_list.end):
            if record.kind == RT_SLIDE_PERSIST:
                if reference >= 0:
                    yield reference, outline
                reference, outline = struct.unpack_from("<I", data, record.start)[0], []
            elif record.kind == RT_TEXT_HEADER:
                kind = struct.unpack_from("<I", data, record.start)[0]
            elif record.kind in (RT_TEXT_CHARS, RT_TEXT_BYTES):
                outline.append((kind, record_text(data, record)))
        if reference >= 0:
            yield reference, outline


def is_hidden_slide(data: bytes, offset: int) -> bool:
    """Return True if a slide is not shown in a presentation [MS-PPT 2.6.3]."""
    slide = read_record(data, offset)
    return any(
        record.kind == RT_SLIDE_SHOW_INFO and struct.unpack_from("<H", data, record.start + 10)[0] & HIDDEN_SLIDE_FLAG
        for record in iter_records(data, slide.start, slide.end)
    )


def slide_texts(data: bytes, offset: int, outline: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the texts of a slide in the order of its shapes, as (kind of text, text).

    Outline texts that no shape shows come first.
    """
    texts: list[tuple[int, str]] = []
    used_indices: set[int] = set()
    kind = 4
    for record in iter_leaf_records(data, read_record(data, offset), 0):
        if record.kind == RT_OUTLINE_TEXT_REF:
            index = struct.unpack_from("<I", data, record.start)[0]
            if index < len(outline) and index not in used_indices:
                used_indices.add(index)
                texts.append(outline[index])
        elif record.kind == RT_TEXT_HEADER:
            kind = struct.unpack_from("<I", data, record.start)[0]
        elif record.kind in (RT_TEXT_CHARS, RT_TEXT_BYTES):
            texts.append((kind, record_text(data, record)))
    return [entry for position, entry in enumerate(outline) if position not in used_indices] + texts


def iter_leaf_records(data: bytes, record: Record, depth: int) -> Iterator[Record]:
    """Yield the records in a record that contain no other records."""
    if not record.is_container:
        yield record
    elif depth < MAX_DEPTH:
        for child in iter_records(data, record.start, record.end):
            yield from iter_leaf_records(data, child, depth + 1)


def record_text(data: bytes, record: Record) -> str:
    """Return the text of a record."""
    encoding = "utf-16-le" if record.kind == RT_TEXT_CHARS else "latin-1"
    return data[record.start : record.end].decode(encoding, "replace")
