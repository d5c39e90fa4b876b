"""Reader for Excel (XLSX, XLSB, XLS) with calamine. Each sheet is a page.

calamine allocates the bounding rectangle of the cells of a sheet, so one cell in the last corner would take gigabytes.
Therefore the extent of each sheet is checked first.
"""

import datetime
import io
import re
import struct
from collections.abc import Iterable, Iterator

import python_calamine
from python_calamine import CalamineWorkbook, SheetTypeEnum

from domain.article import Block, BlockKind
from domain.coded_message import CodedMessage
from domain.outcome import Reason
from extractor.documents.content import (
    PASSWORD_PROTECTED_MESSAGE,
    DocumentBuilder,
    DocumentContent,
    FileProperties,
    UnreadableError,
    damaged_error,
    to_one_line,
)
from extractor.documents.office.ole_file import read_workbook_stream
from extractor.documents.office_properties import read_properties
from extractor.documents.zip_package import ZipPackage

UNSUPPORTED_XLSB_MESSAGE = CodedMessage(
    "unsupported variant of the binary Excel format (xlsb): save the file as xlsx", "unsupported_xlsb"
)
MAX_CELLS = 10_000_000  # cells in the bounding rectangle of a sheet, 32 bytes each
MAX_SHEETS = 500
MAX_CELL_CHARS = 32_767  # the limit of Excel
CELL_REFERENCE_RE = re.compile(rb'<(?:\w+:)?c\s[^>]{0,60}?r="([A-Z]{1,3})(\d{1,7})"')
RECORD_FILEPASS, RECORDS_BOF = 0x2F, (0x0809, 0x0409, 0x0209)
RECORDS_CELL = frozenset(
    (0x06, 0x27E, 0x203, 0x204, 0xD6, 0xFD, 0xBD, 0x205, 0x02, 0x03, 0x04, 0x05, 0x7E)
)  # record kinds of cells with a value
ROW_RECORD, SHEET_DATA_RECORD, SHEET_DATA_END_RECORD = 0, 145, 146  # of XLSB
XLSB_CELL_RECORDS = range(2, 12)  # record kinds of cells with a value
ZIP_MAGIC, OLE_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def read(data: bytes) -> DocumentContent:
    """Read a spreadsheet. Raises UnreadableError."""
    properties = FileProperties()
    if data.startswith(OLE_MAGIC):
        reject_oversized_or_locked(read_workbook_stream(data))
    if data.startswith(ZIP_MAGIC):
        package = ZipPackage(data)
        reject_oversized_sheets(package)
        properties = read_properties(package)
    try:
        return read_workbook(CalamineWorkbook.from_filelike(io.BytesIO(data)), properties)
    except python_calamine.PasswordError:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE) from None
    except python_calamine.CalamineError as error:
        if "password" in str(error).lower() or "encrypt" in str(error).lower():
            raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE) from None
        raise damaged_error(error) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a Rust panic in calamine is not a subclass of Exception
            raise
        if b"xl/workbook.bin" in data:  # calamine expects the records of the released Excel 2007
            raise UnreadableError(Reason.UNPARSABLE, UNSUPPORTED_XLSB_MESSAGE) from None
        raise damaged_error(f"the spreadsheet reader failed: {error}") from None


def reject_oversized_sheets(package: ZipPackage) -> None:
    """Raise UnreadableError if the cells of a sheet are too far apart, or a part is too large."""
    for name in package.part_names:
        if name.endswith(".xml"):
            row_count, column_count = measure_xml_sheet(package.read(name))
        elif name.endswith(".bin"):
            row_count, column_count = measure_binary_sheet(package.read(name))
        else:
            continue
        if row_count * column_count > MAX_CELLS:
            message = f"{name} has cells {row_count:,} rows below the first"
            raise UnreadableError(Reason.TOO_LARGE, CodedMessage(message, "sheet_too_large", n=row_count))


def measure_xml_sheet(part: bytes) -> tuple[int, int]:
    """Return the number of rows and columns up to the last cells of an XLSX sheet; zeros for other parts."""
    if b"sheetData" not in part:
        return 0, 0
    columns, row = set[bytes](), 0
    for match in CELL_REFERENCE_RE.finditer(part):
        columns.add(match[1])
        row = max(row, int(match[2]))
    return row, max(map(column_number, columns), default=0)


def measure_binary_sheet(part: bytes) -> tuple[int, int]:
    """Return the number of rows and columns up to the last cells of an XLSB sheet; zeros for other parts.

    Cells follow the record of their row [MS-XLSB 2.2.1].
    """
    row = row_count = column_count = 0
    is_sheet_data = False
    for kind, position, size in iter_binary_records(part):
        if kind in (SHEET_DATA_RECORD, SHEET_DATA_END_RECORD):
            is_sheet_data = kind == SHEET_DATA_RECORD
        elif is_sheet_data and size >= 4 and (kind == ROW_RECORD or kind in XLSB_CELL_RECORDS):
            (index,) = struct.unpack_from("<I", part, position)
            if kind == ROW_RECORD:
                row = index
            else:
                row_count, column_count = max(row_count, row + 1), max(column_count, index + 1)
    return row_count, column_count


def iter_binary_records(part: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield kind, position and size in bytes of the content of each complete record of an XLSB part [MS-XLSB 2.1.4]."""
    position = 0
    while position < len(part):
        numbers = []
        for max_bytes in (2, 4):  # kind and size, seven bits a byte, the lowest first
            number = 0
            for shift in range(0, 7 * max_bytes, 7):
                if position >= len(part):
                    return
                byte = part[position]
                position += 1
                number |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
            numbers.append(number)
        kind, size = numbers
        if position + size > len(part):
            return
        yield kind, position, size
        position += size


def reject_oversized_or_locked(workbook: bytes) -> None:
    """Raise UnreadableError if an XLS workbook is encrypted, or its cells are too far apart [MS-XLS 2.1.4]."""
    position = row_count = column_count = 0
    while position + 8 <= len(workbook):
        kind, size = struct.unpack_from("<HH", workbook, position)
        if kind == RECORD_FILEPASS:
            raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
        if kind in RECORDS_BOF:
            row_count = column_count = 0
        elif kind in RECORDS_CELL:
            cell = struct.unpack_from("<HH", workbook, position + 4)
            row_count, column_count = max(row_count, cell[0] + 1), max(column_count, cell[1] + 1)
        if row_count * column_count > MAX_CELLS:
            message = f"a sheet has cells {row_count:,} rows below the first"
            raise UnreadableError(Reason.TOO_LARGE, CodedMessage(message, "sheet_too_large", n=row_count))
        position += 4 + size


def column_number(letters: bytes) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def read_workbook(workbook: CalamineWorkbook, properties: FileProperties) -> DocumentContent:
    """Read the rows of all sheets."""
    builder = DocumentBuilder()
    names = [sheet.name for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    for number, name in enumerate(names[:MAX_SHEETS], 1):
        if builder.is_full:
            break
        block_count = len(builder.blocks)
        builder.add(Block(BlockKind.HEADING, name, 2, page=number))
        for row in workbook.get_sheet_by_name(name).iter_rows():
            cells = row_texts(row)
            if number == 1 and any(cells) and builder.needs_opening:
                builder.add_opening(row_title(row))
            builder.add(Block(BlockKind.TABLE_ROW, "\t".join(cells), page=number))
            if builder.is_full:
                break
        if len(builder.blocks) == block_count + 1:  # an empty sheet
            builder.blocks.pop()
    return builder.build(properties)


def row_title(row: Iterable[object]) -> str:
    """Return the first line of the only filled cell of a row, an empty string for other rows.

    It may be the title above the table.
    """
    cell_texts = [str(value).strip() for value in row if value not in (None, "")]
    return to_one_line(cell_texts[0].split("\n")[0][:500]) if len(cell_texts) == 1 else ""


def row_texts(row: Iterable[object]) -> list[str]:
    """Return the texts of the cells of a row, without empty cells at its end."""
    cells = [cell_text(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def cell_text(value: object) -> str:
    """Format the value of a cell."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return " ".join(str(value)[:MAX_CELL_CHARS].split())
