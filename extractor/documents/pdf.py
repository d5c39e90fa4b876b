"""Reader for PDF with PDFium: pages as lines of text with position and font size.

PDFium keeps the order in which the file draws its text. That is the reading order, columns included, in nearly all
files written by programs. Protection against hostile files: stacked filters, which expand two kilobytes to gigabytes,
are rejected before PDFium reads them, and the number of pages is limited.
"""

import ctypes
import math
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from domain.message import Message
from domain.outcome import Reason
from domain.recognized_page import RecognizedPage
from extractor.documents.content import (
    MAX_CHARACTERS,
    MAX_PAGES,
    MIN_SCAN_AREA_SHARE,
    PASSWORD_PROTECTED_MESSAGE,
    DocumentContent,
    FileProperties,
    UnreadableError,
    damaged_error,
    no_text_error,
    rights_managed_error,
    scan_error,
    to_one_line,
)
from extractor.documents.printed_layout import (
    PageFault,
    PrintedLine,
    PrintedPage,
    build_content,
    from_recognized_page,
    rotate_page,
    without_garbled_text,
)
from extractor.fields.dates.date_parsing import to_iso_date

MAX_PAGE_LINES = 5_000
MAX_PAGE_CHARS = 200_000
MAX_CPU_SECONDS = 30.0  # CPU time after which no further page is read
MAX_UNPACKED_BYTES = 64 * 1024 * 1024  # decompressed size of a stream with several filters
CHUNK_BYTES = 256  # compressed bytes per step, so that the data before an error is read
ERR_PASSWORD, ERR_SECURITY = 4, 5  # FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
FILTER_ARRAY_RE = re.compile(rb"/(?:Filter|F)\s{0,9}\[([^\]]{0,400})\]")
FLATE_RE = re.compile(rb"/(?:FlateDecode|Fl)(?![A-Za-z])")
DECOMPRESS_FILTER_RE = re.compile(rb"/(?:FlateDecode|Fl|LZWDecode|LZW|RunLengthDecode|RL)(?![A-Za-z])")
STREAM_START_RE = re.compile(rb"stream\r?\n")
PDF_DATE_RE = re.compile(r"D?:?(\d{4})(\d\d)(\d\d)")
FIRST_PDF_DATE = "1993-01-01"  # PDF 1.0 was published in 1993
HAN_NAMES_RE = re.compile("[\u3400-\u9fff·]{2,40}(?:[,，、;； ][\u3400-\u9fff·]{2,40})*")
LATIN_NAMES_RE = re.compile(r"[^\W\d_][^\d_:/\\@<>{}\[\]]* [^\d_:/\\@<>{}\[\]]+")
PLACEHOLDER_AUTHOR_RE = re.compile(
    r"\b(?:admin\w*|users?|owner|guest|default|unknown|unspecified|anonymous|author|untitled|microsoft|windows|adobe|"
    r"acrobat|preview|print(?:er)?|scan(?:ner)?|lenovo|dell|hp|pc|test|sample|none|null)\b"
    "|用户|管理员|匿名|作者|未知|默认|测试",
    re.IGNORECASE,
)
BLANKS_RE = re.compile(r"(?<=\S)[ \t]+(?=\S)")
MIN_SIZE_DIFFERENCE = 0.1  # relative difference of two font sizes
MAX_WORD_GAP = 2.5  # gap between two words of a line, relative to the font size
MIN_BOLD_WEIGHT = 600  # font weight
MAX_PAGES_OF_IMAGES = 5  # that are searched for an image in a file without text
MAX_TEXT_OBJECTS = 20_000  # of a page
MAX_PAGE_OBJECTS = 1_000  # that are searched for images
MIN_LETTER_SHARE = 0.5  # maximum share of unmapped characters on a readable page
UNMAPPED_CHAR_RE = re.compile("[\x00-\x1f\ufffd\ue000-\uf8ff]")


def read(data: bytes, recognized_pages: Sequence[RecognizedPage] = ()) -> DocumentContent:
    """Read a PDF, with the text of recognized pages where the file has no readable text. Raises UnreadableError."""
    reject_stacked_filters(data)
    with closing(open_pdf(data)) as document:
        count = len(document)
        pages, truncation = read_pages(document, count)
        page_by_number = {page.number: from_recognized_page(page) for page in recognized_pages if page.lines}
        pages = [page if page.lines else page_by_number.get(page.number, page) for page in pages]
        if not any(page.lines or page.fault is PageFault.GARBLED for page in pages):
            is_scan = any(page_has_image(document, index) for index in range(min(count, MAX_PAGES_OF_IMAGES)))
            raise scan_error(count) if is_scan else no_text_error(count)
        first_page = next((page for page in pages if page.lines), None)
        if first_page and not first_page.is_recognized:
            first_page = read_page(document, first_page.number - 1, in_pieces=True)
        return build_content(pages, read_properties(document), truncation, first_page)


def find_unreadable_pages(data: bytes) -> list[int]:
    """Return the numbers of the garbled and scanned pages; in a file without any text, also of pages with an image.

    Raises UnreadableError.
    """
    reject_stacked_filters(data)
    with closing(open_pdf(data)) as document:
        pages, _ = read_pages(document, len(document))
        has_text = any(page.lines for page in pages)
        return [
            page.number
            for page in pages
            if page.fault or (not has_text and not page.lines and page_has_image(document, page.number - 1))
        ]


def open_pdf(data: bytes) -> pypdfium2.PdfDocument:
    """Open the document, with the empty password if it has one. Raises UnreadableError."""
    try:
        document = pypdfium2.PdfDocument(data)
        with suppress(pypdfium2.PdfiumError):  # a damaged form
            document.init_forms()
        return document
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", 0)
        if code == ERR_PASSWORD:
            raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE) from None
        if code == ERR_SECURITY:
            raise rights_managed_error("security handler") from None
        raise damaged_error(error) from None


def reject_stacked_filters(data: bytes) -> None:
    """Raise UnreadableError if a stream with several filters expands to more than MAX_UNPACKED_BYTES."""
    for match in FILTER_ARRAY_RE.finditer(data):
        if len(DECOMPRESS_FILTER_RE.findall(match[1])) < 2:
            continue
        if len(FLATE_RE.findall(match[1])) != len(DECOMPRESS_FILTER_RE.findall(match[1])):
            continue  # PDFium limits the other filters by their input
        begin = STREAM_START_RE.search(data, match.end(), match.end() + 4_096)
        if begin and decompressed_size(data, begin.end(), len(FLATE_RE.findall(match[1]))) > MAX_UNPACKED_BYTES:
            megabytes = MAX_UNPACKED_BYTES >> 20
            raise UnreadableError(Reason.TOO_LARGE, Message("A stream unpacks to more than {n} MB", n=megabytes))


def decompressed_size(data: bytes, start: int, times: int) -> int:
    """Return the size in bytes after `times` decompressions; stops shortly above MAX_UNPACKED_BYTES."""
    piece = data[start:]
    for _ in range(times):
        piece = decompress(piece)
        if len(piece) > MAX_UNPACKED_BYTES:
            break
    return len(piece)


def decompress(data: bytes) -> bytes:
    """Decompress the intact part of a Flate stream, as PDFium does; stops shortly above MAX_UNPACKED_BYTES."""
    unpacker, pieces, size = zlib.decompressobj(), list[bytes](), 0
    for offset in range(0, len(data), CHUNK_BYTES):
        try:
            pieces.append(unpacker.decompress(data[offset : offset + CHUNK_BYTES], MAX_UNPACKED_BYTES + 1))
        except zlib.error:
            break
        size += len(pieces[-1])
        if size > MAX_UNPACKED_BYTES or unpacker.eof:
            break
    return b"".join(pieces)


def read_pages(document: pypdfium2.PdfDocument, count: int) -> tuple[list[PrintedPage], str]:
    """Read the pages up to the limits; returns them and a description of the cut."""
    pages: list[PrintedPage] = []
    characters, started = 0, time.process_time()
    for index in range(count):
        is_late = time.process_time() - started > MAX_CPU_SECONDS
        if index >= MAX_PAGES or characters >= MAX_CHARACTERS or is_late:
            return pages, f"{index:,} of {count:,} pages"
        page = read_page(document, index)
        pages.append(page)
        characters += sum(len(line.text) for line in page.lines)
    return pages, ""


def read_page(document: pypdfium2.PdfDocument, index: int, in_pieces: bool = False) -> PrintedPage:
    """Read one page; a page that PDFium cannot read is empty. For `in_pieces` see `iter_page_lines`."""
    page = load_page(document, index)
    if page is None:
        return PrintedPage(index + 1, 0.0, 0.0, ())
    try:
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        text = pdfium.FPDFText_LoadPage(page)
        if not text:
            return PrintedPage(index + 1, width, height, ())
        try:
            if pdfium.FPDFPage_GetRotation(page) % 2:
                width, height = height, width
            lines = list(iter_page_lines(text, index + 1, height, in_pieces))
        finally:
            pdfium.FPDFText_ClosePage(text)
        if not lines and is_scanned(page, width * height):
            return PrintedPage(index + 1, width, height, (), PageFault.SCANNED)
        return without_garbled_text(rotate_page(PrintedPage(index + 1, width, height, tuple(lines))))
    finally:
        page.close()


def load_page(document: pypdfium2.PdfDocument, index: int) -> pypdfium2.PdfPage | None:
    """Load a page with the text of its form fields and notes; returns None if PDFium cannot read it."""
    try:
        page = document[index]
        if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            page.close()
            page = document[index]
    except pypdfium2.PdfiumError:
        return None
    # PDFium ignores text without width: single letters in fonts that it does not have. The outline of a letter has one.
    bounds = x_min, _, x_max, _ = tuple(ctypes.c_float() for _ in range(4))
    for position in range(min(pdfium.FPDFPage_CountObjects(page), MAX_TEXT_OBJECTS)):
        text = pdfium.FPDFPage_GetObject(page, position)
        is_text = pdfium.FPDFPageObj_GetType(text) == pdfium.FPDF_PAGEOBJ_TEXT
        if is_text and pdfium.FPDFPageObj_GetBounds(text, *bounds) and x_min.value == x_max.value:
            pdfium.FPDFTextObj_SetTextRenderMode(text, pdfium.FPDF_TEXTRENDERMODE_STROKE)
            pdfium.FPDFPageObj_Transform(text, 1, 0, 0, 1, 0, 0)
    return page


def iter_page_lines(text_page: Any, number: int, height: float, in_pieces: bool) -> Iterator[PrintedLine]:
    """Yield the lines of a page in the order of the file; none if most of its characters are unmapped.

    If `in_pieces`, a line also ends at a change of the font size and at a wide gap.
    """
    text = page_text(text_page)
    if len(UNMAPPED_CHAR_RE.findall(text.replace("\r\n", ""))) > MIN_LETTER_SHARE * len(text):
        return
    offset = 0
    for line in text.split("\r\n", MAX_PAGE_LINES)[:MAX_PAGE_LINES]:
        for start, end in split_line(text_page, line, offset) if in_pieces else [(0, len(line))]:
            piece = line[start:end]
            if stripped_piece := piece.strip():
                first = offset + start + piece.index(stripped_piece[0])
                yield build_line(
                    text_page, stripped_piece, first, offset + start + len(piece.rstrip()) - 1, number, height
                )
        offset += len(line) + 2


def split_line(text_page: Any, line: str, offset: int) -> list[tuple[int, int]]:
    """Return start and end of the pieces of a line; `offset` is its position in the text of the page."""
    starts = [0]
    for blank in BLANKS_RE.finditer(line):
        previous_char, next_char = (
            pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, offset + position)
            for position in (blank.start() - 1, blank.end())
        )
        sizes = pdfium.FPDFText_GetFontSize(text_page, previous_char), pdfium.FPDFText_GetFontSize(text_page, next_char)
        gap = char_box(text_page, next_char)[0] - char_box(text_page, previous_char)[1]
        if abs(sizes[0] - sizes[1]) > MIN_SIZE_DIFFERENCE * max(sizes) or gap > MAX_WORD_GAP * abs(
            letter_size(text_page, previous_char)
        ):
            starts.append(blank.end())
    return list(zip(starts, [*starts[1:], len(line)], strict=True))


def page_text(text_page: Any) -> str:
    """Return the text of a page from PDFium: lines end with CR LF; a hyphen at a line break is U+0002 or U+FFFE."""
    count = min(pdfium.FPDFText_CountChars(text_page), MAX_PAGE_CHARS)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written_count = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
    return bytes(buffer)[: max(0, 2 * (written_count - 1))].decode("utf-16-le", "replace")


def build_line(text_page: Any, text: str, first: int, last: int, number: int, height: float) -> PrintedLine:
    """Build a line with its position, from the boxes of its first and last character, before the page is rotated."""
    first_char, last_char = (pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, offset) for offset in (first, last))
    first_box, last_box = char_box(text_page, first_char), char_box(text_page, last_char)
    turn = round(math.degrees(pdfium.FPDFText_GetCharAngle(text_page, first_char)) / 90) % 4
    weight = pdfium.FPDFText_GetFontWeight(text_page, first_char)
    left, right = min(first_box[0], last_box[0]), max(first_box[1], last_box[1])
    top, bottom = (
        (first_box[2], first_box[3])
        if turn % 2 == 0
        else (max(first_box[2], last_box[2]), min(first_box[3], last_box[3]))
    )
    return PrintedLine(
        text,
        number,
        left,
        right,
        top,
        bottom,
        letter_size(text_page, first_char),
        height,
        turn,
        weight >= MIN_BOLD_WEIGHT,
    )


def letter_size(text_page: Any, index: int) -> float:
    """Return the font size of a character as drawn, in points."""
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text_page, index, matrix)
    return round(float(pdfium.FPDFText_GetFontSize(text_page, index)) * (math.hypot(matrix.c, matrix.d) or 1.0), 1)


def char_box(text_page: Any, index: int) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of a character, in points from the lower left corner of the page."""
    box = pdfium.FS_RECTF()
    if index < 0 or not pdfium.FPDFText_GetLooseCharBox(text_page, index, box):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, box.top, box.bottom


def page_has_image(document: pypdfium2.PdfDocument, index: int) -> bool:
    """Return True if the page contains an image."""
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        return False
    try:
        return any(True for _ in iter_images(page))
    finally:
        pdfium.FPDF_ClosePage(page)


def is_scanned(page: Any, page_area: float) -> bool:
    """Return True if images cover most of a page without text. `page_area` is in square points."""
    area = 0.0
    x_min, y_min, x_max, y_max = (ctypes.c_float() for _ in range(4))
    for image in iter_images(page):
        if pdfium.FPDFPageObj_GetBounds(image, x_min, y_min, x_max, y_max):
            area += max(0.0, x_max.value - x_min.value) * max(0.0, y_max.value - y_min.value)
    return area >= MIN_SCAN_AREA_SHARE * page_area > 0


def iter_images(page: Any) -> Iterator[Any]:
    """Yield the image objects among the first objects of a page."""
    for object_index in range(min(pdfium.FPDFPage_CountObjects(page), MAX_PAGE_OBJECTS)):
        page_object = pdfium.FPDFPage_GetObject(page, object_index)
        if pdfium.FPDFPageObj_GetType(page_object) == pdfium.FPDF_PAGEOBJ_IMAGE:
            yield page_object


def read_properties(document: pypdfium2.PdfDocument) -> FileProperties:
    """Return the metadata of the file."""
    metadata: dict[str, str] = {}
    with suppress(pypdfium2.PdfiumError, UnicodeError, ValueError):
        metadata = document.get_metadata_dict()
    created, modified = (
        to_iso_date(*match.groups()) if (match := PDF_DATE_RE.match(metadata.get(key, ""))) else ""
        for key in ("CreationDate", "ModDate")
    )
    author = to_one_line(metadata.get("Author", "")[:200])
    programs = [to_one_line(metadata.get(key, "")[:200]) for key in ("Creator", "Producer")]
    return FileProperties(
        to_one_line(metadata.get("Title", "")[:500]),
        author,
        created,
        fallback_author=author if is_plausible_author(author, programs) else "",
        fallback_date=next((date for date in (created, modified) if date >= FIRST_PDF_DATE), ""),
    )


def is_plausible_author(author: str, programs: Sequence[str]) -> bool:
    """Return True if the author property can be the name of a person or an organisation.

    Rejects account names (`admin`, `jenki300`, `mary`), placeholders (`anonymous`) and names of programs. `programs`
    are the properties Creator and Producer.
    """
    if not (HAN_NAMES_RE.fullmatch(author) or (LATIN_NAMES_RE.fullmatch(author) and not author.islower())):
        return False
    if PLACEHOLDER_AUTHOR_RE.search(author):
        return False
    name = author.casefold()
    return not any(program and (name in program.casefold() or program.casefold() in name) for program in programs)
