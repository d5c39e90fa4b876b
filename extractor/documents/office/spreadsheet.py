"""Reader for Excel: XLSX by its XML, XLS and XLSB with calamine. Each sheet is a page.

Cells are written as they are displayed. Hidden sheets, rows and columns are left out. calamine allocates the bounding
rectangle of the cells of a sheet, so one cell in the last corner would take gigabytes. Therefore the extent of each
sheet is checked first.
"""

import datetime
import io
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import python_calamine
from lxml import etree
from lxml.etree import _Element as Element
from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from domain.article import Block, BlockKind
from domain.message import Message
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
from extractor.documents.office.counting import parse_count
from extractor.documents.office.drawing import drawing_texts
from extractor.documents.office.number_format import BUILTIN_FORMATS, EPOCH, format_cell_value
from extractor.documents.office.ole_file import read_workbook_stream
from extractor.documents.office_properties import read_properties
from extractor.documents.zip_package import RELATIONSHIP_ID, ZipPackage

UNSUPPORTED_XLSB_MESSAGE = Message("unsupported variant of the binary Excel format (xlsb): save the file as xlsx")
MAX_CELLS = 10_000_000  # cells in the bounding rectangle of a sheet, 32 bytes each
MAX_FORMATTED_CELLS = 500_000  # cells of an XLS file that are written with their formats
MAX_COLUMNS = 16_384
MAX_SHEETS = 500
MAX_CELL_CHARS = 32_767  # the limit of Excel
COLUMN_RE = re.compile(r"[A-Z]{1,3}(?=\d)")
TRUE_VALUES = ("1", "true")
RECORD_FILEPASS, RECORDS_BOF, RECORD_EOF = 0x2F, (0x0809, 0x0409, 0x0209), 0x0A
RECORD_SHEET, RECORD_FORMAT, RECORD_XF, RECORD_ROW, RECORD_COLUMNS = 0x85, 0x41E, 0xE0, 0x208, 0x7D
RECORD_MANY_NUMBERS, RECORD_CHART_TEXT = 0xBD, 0x100D
EXCEL_97_VERSION, HIDDEN_ROW_FLAG = 0x0600, 0x20
RECORDS_CELL = frozenset(
    (0x06, 0x27E, 0x203, 0x204, 0xD6, 0xFD, 0xBD, 0x205, 0x02, 0x03, 0x04, 0x05, 0x7E)
)  # record kinds of cells with a value
ROW_RECORD, SHEET_DATA_RECORD, SHEET_DATA_END_RECORD = 0, 145, 146  # of XLSB
XLSB_CELL_RECORDS = range(2, 12)  # record kinds of cells with a value
ZIP_MAGIC, OLE_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


@dataclass
class SheetLayout:
    """Display of a sheet of an XLS file: formats by (row, column), hidden rows and columns, and texts of its charts."""

    formats: dict[tuple[int, int], str] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: int = 0  # as of `column_bits`
    chart_texts: list[str] = field(default_factory=list)


Sheet = tuple[str, Iterable[list[str]], Iterable[str]]  # name, texts of the cells of each row, texts of drawings


def read(data: bytes) -> DocumentContent:
    """Read a spreadsheet. Raises UnreadableError."""
    properties, layouts = FileProperties(), list[SheetLayout]()
    if data.startswith(OLE_MAGIC):
        layouts = read_layouts(read_workbook_stream(data))
    if data.startswith(ZIP_MAGIC):
        package = ZipPackage(data)
        properties = read_properties(package)
        main_part = package.main_part_name("xl/workbook.xml")
        if main_part in package and not main_part.endswith(".bin"):
            sheets = iter_xlsx_sheets(package, main_part)
            return build_content(sheets, properties, package.damaged_parts)
        for name in package.part_names:
            row_count, column_count = measure_binary_sheet(package.read(name)) if name.endswith(".bin") else (0, 0)
            if row_count * column_count > MAX_CELLS:
                raise UnreadableError(
                    Reason.TOO_LARGE, Message("A sheet has cells {n} rows below the first", n=row_count)
                )
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        return build_content(iter_calamine_sheets(workbook, layouts), properties, {})
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


def build_content(
    sheets: Iterable[Sheet], properties: FileProperties, damaged_parts: Mapping[str, UnreadableError]
) -> DocumentContent:
    """Build the content from the shown sheets. `damaged_parts` may grow while they are read."""
    builder = DocumentBuilder()
    for number, (name, rows, drawings) in enumerate(sheets, 1):
        if builder.is_full or number > MAX_SHEETS:
            break
        block_count = len(builder.blocks)
        builder.add(Block(BlockKind.HEADING, name, 2, page=number))
        for row in rows:
            filled_cells = [text for text in row if text]
            if (
                number == 1 and filled_cells and builder.needs_opening
            ):  # a single filled cell may be the title of the table
                builder.add_opening(
                    to_one_line(filled_cells[0].strip().split("\n")[0][:500]) if len(filled_cells) == 1 else ""
                )
            texts = [" ".join(text[:MAX_CELL_CHARS].split()) for text in row]
            builder.add(Block(BlockKind.TABLE_ROW, "\t".join(texts).rstrip("\t"), page=number))
            if builder.is_full:
                break
        for text in drawings:
            builder.add(Block(BlockKind.PARAGRAPH, text, page=number))
        if len(builder.blocks) == block_count + 1:  # an empty sheet
            builder.blocks.pop()
    return builder.build(properties, damaged_parts=damaged_parts)


# -- XLSX


def iter_xlsx_sheets(package: ZipPackage, main_part: str) -> Iterator[Sheet]:
    """Yield the shown sheets of an XLSX file."""
    root = package.require_part(main_part)
    targets = package.relationships(main_part)
    parts = dict(targets.values())
    strings = [rich_text(element) for element in package.iter_elements(parts.get("sharedStrings", ""), "si")]
    formats = read_formats(package.parse_part(parts.get("styles", "")))
    is_1904 = any(element.get("date1904") in TRUE_VALUES for element in root.iter("{*}workbookPr"))
    for sheet in root.iter("{*}sheet"):
        name = targets.get(sheet.get(RELATIONSHIP_ID, ""), ("", ""))[1]
        if sheet.get("state", "visible") == "visible":
            rows = iter_xlsx_rows(package, name, strings, formats, is_1904)
            yield sheet.get("name", ""), rows, drawing_texts(package, name)


def iter_xlsx_rows(
    package: ZipPackage, part: str, strings: list[str], formats: list[str], is_1904: bool
) -> Iterator[list[str]]:
    """Yield the texts of the cells of each shown row of a sheet."""
    hidden_columns = 0
    package.check_reference(part)
    for element in package.iter_elements(part, "col", "row"):
        is_hidden = element.get("hidden") in TRUE_VALUES
        if etree.QName(element).localname == "col":
            first, last = (parse_count(element.get(name, ""), 0) for name in ("min", "max"))
            hidden_columns |= column_bits(first, last) if is_hidden else 0
        elif not is_hidden:
            texts, column = dict[int, str](), 0
            for cell in element.iterchildren("{*}c"):
                reference = COLUMN_RE.match(cell.get("r", ""))
                column = column_number(reference[0]) if reference else column + 1
                text = "" if hidden_columns >> column & 1 else xlsx_cell_text(cell, strings, formats, is_1904)
                if text and column <= MAX_COLUMNS:
                    texts[column] = text
            yield [texts.get(number, "") for number in range(1, max(texts, default=0) + 1)]


def xlsx_cell_text(cell: Element, strings: list[str], formats: list[str], is_1904: bool) -> str:
    """Return the text of a cell as displayed; nothing for an error."""
    kind, value, style = cell.get("t", "n"), cell.findtext("{*}v") or "", parse_count(cell.get("s", ""), 0)
    code = formats[style] if style < len(formats) else "General"
    if kind == "b":
        return "TRUE" if value in TRUE_VALUES else "FALSE"
    if kind == "d":
        return value.removesuffix("T00:00:00")
    if kind in ("s", "inlineStr", "str"):
        index = parse_count(value, len(strings))
        shared = strings[index] if index < len(strings) else ""
        return format_cell_value(shared if kind == "s" else rich_text(cell) if kind == "inlineStr" else value, code)
    try:
        number = float(value) if kind == "n" else None
    except ValueError:
        number = None
    return "" if number is None or number - number else format_cell_value(number, code, is_1904)


def rich_text(element: Element) -> str:
    """Return the text of a string, without its phonetic guide."""
    return "".join(
        text.text or ""
        for text in element.iter("{*}t")
        if not str(getattr(text.getparent(), "tag", "")).endswith("rPh")
    )


def read_formats(root: Element | None) -> list[str]:
    """Return the number format of each cell style."""
    if root is None:
        return []
    custom_codes = {element.get("numFmtId", ""): element.get("formatCode", "") for element in root.iter("{*}numFmt")}
    codes = {str(number): code for number, code in BUILTIN_FORMATS.items()} | custom_codes
    return [codes.get(style.get("numFmtId", "0")) or "General" for style in root.iterfind("{*}cellXfs/{*}xf")]


def column_number(letters: str) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def column_bits(first: int, last: int) -> int:
    """Return the columns from `first` to `last` as bits of a number: cheap to unite, however many ranges overlap."""
    return (1 << min(last, MAX_COLUMNS) + 1) - (1 << first) if first <= min(last, MAX_COLUMNS) else 0


# -- XLS and XLSB


def iter_calamine_sheets(workbook: CalamineWorkbook, layouts: list[SheetLayout]) -> Iterator[Sheet]:
    """Yield the shown sheets of an XLS or XLSB file. A sheet without a layout has unknown formats."""
    for index, sheet in enumerate(workbook.sheets_metadata):
        layout = layouts[index] if index < len(layouts) else SheetLayout()
        if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible:
            yield sheet.name, iter_calamine_rows(workbook, sheet.name, layout), layout.chart_texts


def iter_calamine_rows(workbook: CalamineWorkbook, name: str, layout: SheetLayout) -> Iterator[list[str]]:
    """Yield the texts of the cells of each shown row of a sheet."""
    sheet = workbook.get_sheet_by_name(name)
    first_column = (sheet.start or (0, 0))[1]
    for row_number, row in enumerate(sheet.iter_rows()):
        if row_number not in layout.hidden_rows:
            yield [
                format_cell(value, layout.formats.get((row_number, column), ""))
                for column, value in enumerate(row, first_column)
                if not layout.hidden_columns >> column & 1
            ]


def format_cell(value: object, code: str) -> str:
    """Return a value of calamine as displayed. Without a format, a date is written as YYYY-MM-DD."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        days = (value - EPOCH) / datetime.timedelta(1)
        return format_cell_value(days, code or ("yyyy-mm-dd" if days.is_integer() else "yyyy-mm-dd hh:mm:ss"))
    if isinstance(value, datetime.date):
        return format_cell_value(float((value - EPOCH.date()).days), code or "yyyy-mm-dd")
    if isinstance(value, datetime.time):
        value = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
    if isinstance(value, datetime.timedelta):
        return format_cell_value(value / datetime.timedelta(1), code or "[h]:mm:ss")
    if isinstance(value, int | float):
        return format_cell_value(float(value), code or "General")
    return format_cell_value(str(value), code or "General") if value else ""


def read_layouts(workbook: bytes) -> list[SheetLayout]:
    """Read the layouts of the sheets of an XLS workbook, in their order [MS-XLS 2.1.4].

    Raises UnreadableError if the workbook is encrypted, or the cells of a sheet are too far apart.
    """
    codes, styles, starts = dict(BUILTIN_FORMATS), list[int](), list[int]()
    layouts, layout = dict[int, SheetLayout](), SheetLayout()
    position = depth = row_count = column_count = cell_count = 0
    has_unicode = True
    while position + 8 <= len(workbook):
        kind, size = struct.unpack_from("<HH", workbook, position)
        record = workbook[position + 4 : position + 4 + size]
        numbers = struct.unpack_from("<7H", record.ljust(14, b"\0"))
        if kind == RECORD_FILEPASS:
            raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
        if kind in RECORDS_BOF:
            if depth == 0:
                layout = layouts[position] = SheetLayout()
                row_count = column_count = 0
                has_unicode = numbers[0] >= EXCEL_97_VERSION
            depth += 1
        elif kind == RECORD_EOF:
            depth -= 1
        elif kind == RECORD_SHEET:
            starts.append(numbers[0] + (numbers[1] << 16))
        elif kind == RECORD_FORMAT:
            codes[numbers[0]] = decode_string(record[2:], 2) if has_unicode else record[3:].decode("latin-1")
        elif kind == RECORD_XF:
            styles.append(numbers[1])
        elif kind == RECORD_CHART_TEXT:
            layout.chart_texts.append(decode_string(record[2:], 1))
        elif kind == RECORD_ROW and numbers[6] & HIDDEN_ROW_FLAG:
            layout.hidden_rows.add(numbers[0])
        elif kind == RECORD_COLUMNS and numbers[4] & 1:
            layout.hidden_columns |= column_bits(numbers[0], numbers[1])
        elif kind in RECORDS_CELL and depth < 2:
            row_count, column_count = max(row_count, numbers[0] + 1), max(column_count, numbers[1] + 1)
            # A record of several numbers contains a style and four bytes for each.
            count = (size - 6) // 6 if kind == RECORD_MANY_NUMBERS else 1
            cell_count += count
            for index in range(count if cell_count <= MAX_FORMATTED_CELLS else 0):
                style = int.from_bytes(record[4 + 6 * index : 6 + 6 * index], "little")
                if style < len(styles):
                    layout.formats[numbers[0], numbers[1] + index] = codes.get(styles[style], "")
        if row_count * column_count > MAX_CELLS:
            raise UnreadableError(Reason.TOO_LARGE, Message("A sheet has cells {n} rows below the first", n=row_count))
        position += 4 + size
    return [layouts.get(start, SheetLayout()) for start in starts]


def decode_string(data: bytes, count_bytes: int) -> str:
    """Return a string that begins with its length, in `count_bytes` bytes, and a byte for its encoding."""
    count, text = int.from_bytes(data[:count_bytes], "little"), data[count_bytes + 1 :]
    is_wide = data[count_bytes : count_bytes + 1] == b"\1"
    return text[: 2 * count].decode("utf-16-le", "replace") if is_wide else text[:count].decode("latin-1")


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
