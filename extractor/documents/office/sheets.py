"""Spreadsheets of Excel (XLSX, XLSB, XLS) by calamine: a sheet is a page, its rows are rows.

calamine lays a sheet out as a full rectangle, so that one cell in the last corner would cost gigabytes: the corners are
looked at first.
"""

import datetime
import io
import re
import struct
from collections.abc import Iterable

import python_calamine
from python_calamine import CalamineWorkbook, SheetTypeEnum

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import (
    MAX_OPENING,
    BlockList,
    Content,
    OpeningLine,
    Properties,
    UnreadableError,
    one_line,
)
from extractor.documents.office.compound_file import workbook_of
from extractor.documents.office_properties import read_properties
from extractor.documents.package import Package

MAX_CELLS = 10_000_000  # of the rectangle around a sheet's cells: 32 bytes each
MAX_SHEETS = 500
MAX_CELL = 32_767  # characters, as Excel has it
CELL = re.compile(rb'<(?:\w+:)?c\s[^>]{0,60}?r="([A-Z]{1,3})(\d{1,7})"')
FILEPASS, BEGINNINGS = 0x2F, (0x0809, 0x0409, 0x0209)
CELLS = frozenset((0x06, 0x27E, 0x203, 0x204, 0xD6, 0xFD, 0xBD, 0x205, 0x02, 0x03, 0x04, 0x05, 0x7E))  # with a value
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def read(data: bytes) -> Content:
    """The text of a spreadsheet. Raises UnreadableError."""
    properties = Properties()
    if data.startswith(OLE):
        refuse_records(workbook_of(data))
    if data.startswith(ZIP):
        package = Package(data)
        refuse_large(package)
        properties = read_properties(package)
    try:
        return read_workbook(CalamineWorkbook.from_filelike(io.BytesIO(data)), properties)
    except python_calamine.PasswordError:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only") from None
    except python_calamine.CalamineError as error:
        if "password" in str(error).lower() or "encrypt" in str(error).lower():
            raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only") from None
        raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a fault in calamine's Rust becomes is no Exception
            raise
        raise UnreadableError(Reason.UNPARSABLE, f"the reader of spreadsheets failed: {error}"[:200]) from None


def refuse_large(package: Package) -> None:
    """Raise where a sheet's cells lie too far apart, or where a part unpacks to too much."""
    for name in package.names:
        part = package.read(name) if name.endswith((".xml", ".bin")) else b""
        if b"sheetData" not in part:
            continue
        columns, row = set[bytes](), 0
        for match in CELL.finditer(part):
            columns.add(match[1])
            row = max(row, int(match[2]))
        if row * max(map(column_number, columns), default=0) > MAX_CELLS:
            raise UnreadableError(Reason.TOO_LARGE, f"{name} has cells {row:,} rows below the first")


def refuse_records(book: bytes) -> None:
    """Raise where an old workbook is locked, or its cells lie too far apart [MS-XLS 2.1.4]."""
    at = row = column = 0
    while at + 8 <= len(book):
        kind, size = struct.unpack_from("<HH", book, at)
        if kind == FILEPASS:
            raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
        if kind in BEGINNINGS:
            row = column = 0
        elif kind in CELLS:
            place = struct.unpack_from("<HH", book, at + 4)
            row, column = max(row, place[0] + 1), max(column, place[1] + 1)
        if row * column > MAX_CELLS:
            raise UnreadableError(Reason.TOO_LARGE, f"a sheet has cells {row:,} rows below the first")
        at += 4 + size


def column_number(letters: bytes) -> int:
    """1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def read_workbook(workbook: CalamineWorkbook, properties: Properties) -> Content:
    """The rows of all sheets."""
    found, opening = BlockList(), list[OpeningLine]()
    names = [one.name for one in workbook.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
    for number, name in enumerate(names[:MAX_SHEETS], 1):
        if found.full:
            break
        before = len(found.blocks)
        found.add(Block(BlockKind.HEADING, name, 2, page=number))
        for row in workbook.get_sheet_by_name(name).iter_rows():
            cells = row_texts(row)
            if len(opening) < MAX_OPENING and number == 1 and any(cells):
                opening.append(opening_line(row, len(opening)))
            found.add(Block(BlockKind.ROW, "\t".join(cells), page=number))
            if found.full:
                break
        if len(found.blocks) == before + 1:  # an empty sheet
            found.blocks.pop()
    return Content(tuple(found.blocks), tuple(opening), properties, 0.0, found.cut)


def opening_line(row: Iterable[object], place: int) -> OpeningLine:
    """A row that has one cell of text may be the title above the table, its first line; the others are the table."""
    filled = [str(value).strip() for value in row if value not in (None, "")]
    return OpeningLine(one_line(filled[0].split("\n")[0][:500]) if len(filled) == 1 else "", place=place)


def row_texts(row: Iterable[object]) -> list[str]:
    """The texts of a row's cells, without the empty ones at its end."""
    cells = [cell_text(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def cell_text(value: object) -> str:
    """A cell as a person writes it."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return " ".join(str(value)[:MAX_CELL].split())
