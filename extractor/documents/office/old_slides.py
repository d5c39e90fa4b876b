"""PowerPoint 97 to 2003 (PPT), by its records [MS-PPT 2.1]: a slide is a page."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

import olefile

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import MAX_OPENING, BlockList, Content, OpeningLine, UnreadableError, one_line
from extractor.documents.office.compound_file import read_compound, stream

SLIDES, PERSIST, HEADER, CHARS, BYTES, OUTLINE = 4080, 1011, 3999, 4000, 4008, 3998
USER_EDIT = 4085
TITLE_KINDS = (0, 6)
LOCKED_USER = 0xF3D1C4DF
MAX_DEPTH = 40
MAX_EDITS = 10_000


class Record(NamedTuple):
    """A record of a PowerPoint stream: its kind, its instance, where what it holds begins and ends."""

    kind: int
    instance: int
    start: int
    end: int
    holds_records: bool


def read(data: bytes) -> Content:
    """The text of a PPT file. Raises UnreadableError."""
    return read_compound(data, read_slides)


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
