"""PDF by PDFium: its pages as lines of text with their place and the size of their letters.

PDFium keeps the order in which the file draws its text, which is the order of reading, columns included, in nearly all
files that programs make. What is hostile: filters laid over one another, which turn two kilobytes into gigabytes
(refused before PDFium sees them), and pages without end (bounded here).
"""

import ctypes
import math
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from docstore.model import Reason
from extractor.documents.content import MAX_CHARACTERS, MAX_PAGES, Content, Properties, UnreadableError, one_line
from extractor.documents.page_layout import PageLine, PrintedPage, lay_out, turned
from extractor.fields.dates.date_text import as_day

MAX_LINES = 5_000  # of one page
MAX_PAGE = 200_000  # characters of one page
MAX_SECONDS = 30.0  # of CPU: after these no further page is begun
MAX_UNPACKED = 64 * 1024 * 1024  # bytes of a stream with filters over filters
PIECE = 256  # bytes that are unpacked at a time: what stands before a fault is read
PASSWORD, SECURITY = 4, 5  # FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
CHAINED = re.compile(rb"/(?:Filter|F)\s{0,9}\[([^\]]{0,400})\]")
FLATE = re.compile(rb"/(?:FlateDecode|Fl)(?![A-Za-z])")
UNPACKING = re.compile(rb"/(?:FlateDecode|Fl|LZWDecode|LZW|RunLengthDecode|RL)(?![A-Za-z])")
STREAM = re.compile(rb"stream\r?\n")
CREATED = re.compile(r"D?:?(\d{4})(\d\d)(\d\d)")
HYPHEN = re.compile("[\x02\ufffe](?:\r\n)?")
BLANKS = re.compile(r"(?<=\S)[ \t]+(?=\S)")
OTHER_SIZE = 0.1  # letters differ by more than this
MAX_GAP = 2.5  # sizes of its letters between two words of a line
BOLD = 600  # weight of letters
MIN_MEANING = 0.5  # of a page's characters that must be letters of some script
NO_LETTER = re.compile("[\x00-\x1f\ufffd\ue000-\uf8ff]")


def read(data: bytes) -> Content:
    """The text of a PDF. Raises UnreadableError."""
    refuse_stacked_filters(data)
    with closing(opened(data)) as document:
        count = len(document)
        pages, cut = read_pages(document, count)
        if not any(page.lines for page in pages):
            raise no_text(document, count)
        first = next(page.number for page in pages if page.lines)
        return lay_out(pages, read_properties(document), cut, read_page(document, first - 1, in_pieces=True))


def opened(data: bytes) -> pypdfium2.PdfDocument:
    """The document, by the empty password where it has one."""
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", 0)
        if code in (PASSWORD, SECURITY):
            what = "a password" if code == PASSWORD else "rights that its security handler gives"
            raise UnreadableError(Reason.ENCRYPTED, f"it opens with {what} only") from None
        raise UnreadableError(Reason.UNPARSABLE, f"damaged: {one_line(str(error))}"[:200]) from None


def refuse_stacked_filters(data: bytes) -> None:
    """Raise where a stream that is packed several times becomes larger than any page is."""
    for match in CHAINED.finditer(data):
        if len(UNPACKING.findall(match[1])) < 2:
            continue
        if len(FLATE.findall(match[1])) != len(UNPACKING.findall(match[1])):
            continue  # PDFium bounds the others by what it has read
        begin = STREAM.search(data, match.end(), match.end() + 4_096)
        if begin and unpacked_size(data, begin.end(), len(FLATE.findall(match[1]))) > MAX_UNPACKED:
            raise UnreadableError(Reason.TOO_LARGE, f"a stream unpacks to more than {MAX_UNPACKED >> 20} MB")


def unpacked_size(data: bytes, start: int, times: int) -> int:
    """How many bytes come out, up to somewhat more than MAX_UNPACKED."""
    piece = data[start:]
    for _ in range(times):
        piece = unpacked(piece)
        if len(piece) > MAX_UNPACKED:
            break
    return len(piece)


def unpacked(data: bytes) -> bytes:
    """What a packed stream holds, as far as it is whole, as PDFium reads it; not much more than MAX_UNPACKED."""
    unpacker, pieces, size = zlib.decompressobj(), list[bytes](), 0
    for at in range(0, len(data), PIECE):
        try:
            pieces.append(unpacker.decompress(data[at : at + PIECE], MAX_UNPACKED + 1))
        except zlib.error:
            break
        size += len(pieces[-1])
        if size > MAX_UNPACKED or unpacker.eof:
            break
    return b"".join(pieces)


def read_pages(document: pypdfium2.PdfDocument, count: int) -> tuple[list[PrintedPage], str]:
    """The pages up to the caps, and what was cut."""
    pages: list[PrintedPage] = []
    characters, started = 0, time.process_time()
    for index in range(count):
        is_late = time.process_time() - started > MAX_SECONDS
        if index >= MAX_PAGES or characters >= MAX_CHARACTERS or is_late:
            return pages, f"{index:,} of {count:,} pages"
        page = read_page(document, index)
        pages.append(page)
        characters += sum(len(line.text) for line in page.lines)
    return pages, ""


def read_page(document: pypdfium2.PdfDocument, index: int, in_pieces: bool = False) -> PrintedPage:
    """One page; one that PDFium cannot read is empty. `in_pieces`: see `page_lines`."""
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        return PrintedPage(index + 1, 0.0, 0.0, ())
    try:
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        text = pdfium.FPDFText_LoadPage(page)
        if not text:
            return PrintedPage(index + 1, width, height, ())
        try:
            if pdfium.FPDFPage_GetRotation(page) % 2:
                width, height = height, width
            lines = list(page_lines(text, index + 1, height, in_pieces))
        finally:
            pdfium.FPDFText_ClosePage(text)
        return turned(PrintedPage(index + 1, width, height, tuple(lines)))
    finally:
        pdfium.FPDF_ClosePage(page)


def page_lines(page: Any, number: int, height: float, in_pieces: bool) -> Iterator[PageLine]:
    """The lines of a page in the file's order, none of a page whose letters have no meaning.

    `in_pieces`: where letters of another size begin or a gap stands, a line ends.
    """
    text = page_text(page)
    if len(NO_LETTER.findall(text.replace("\r\n", ""))) > MIN_MEANING * len(text):
        return
    at = 0
    for line in text.split("\r\n", MAX_LINES)[:MAX_LINES]:
        for start, end in line_pieces(page, line, at) if in_pieces else [(0, len(line))]:
            piece = line[start:end]
            if bare := piece.strip():
                first = at + start + piece.index(bare[0])
                yield placed(page, bare, first, at + start + len(piece.rstrip()) - 1, number, height)
        at += len(line) + 2


def line_pieces(page: Any, line: str, at: int) -> list[tuple[int, int]]:
    """Where the pieces of a line begin and end; `at` is its place in the text of the page."""
    starts = [0]
    for blank in BLANKS.finditer(line):
        before, behind = (
            pdfium.FPDFText_GetCharIndexFromTextIndex(page, at + place) for place in (blank.start() - 1, blank.end())
        )
        sizes = pdfium.FPDFText_GetFontSize(page, before), pdfium.FPDFText_GetFontSize(page, behind)
        gap = loose_box(page, behind)[0] - loose_box(page, before)[1]
        if abs(sizes[0] - sizes[1]) > OTHER_SIZE * max(sizes) or gap > MAX_GAP * abs(letter_size(page, before)):
            starts.append(blank.end())
    return list(zip(starts, [*starts[1:], len(line)], strict=True))


def page_text(page: Any) -> str:
    """The text of a page as PDFium has it: lines end with CR LF, hyphens that broke a word are U+0002 or U+FFFE."""
    count = min(pdfium.FPDFText_CountChars(page), MAX_PAGE)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written = pdfium.FPDFText_GetText(page, 0, count, buffer)
    return bytes(buffer)[: max(0, 2 * (written - 1))].decode("utf-16-le", "replace")


def placed(page: Any, text: str, first: int, last: int, number: int, height: float) -> PageLine:
    """A line with its place, by the boxes of its first and last letter, as the page is before it is turned."""
    head, tail = (pdfium.FPDFText_GetCharIndexFromTextIndex(page, at) for at in (first, last))
    one, other = loose_box(page, head), loose_box(page, tail)
    turn = round(math.degrees(pdfium.FPDFText_GetCharAngle(page, head)) / 90) % 4
    weight = pdfium.FPDFText_GetFontWeight(page, head)
    left, right = min(one[0], other[0]), max(one[1], other[1])
    top, bottom = (one[2], one[3]) if turn % 2 == 0 else (max(one[2], other[2]), min(one[3], other[3]))
    return PageLine(text, number, left, right, top, bottom, letter_size(page, head), height, turn, weight >= BOLD)


def letter_size(page: Any, index: int) -> float:
    """The size in points of a letter as it is drawn."""
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(page, index, matrix)
    return round(float(pdfium.FPDFText_GetFontSize(page, index)) * (math.hypot(matrix.c, matrix.d) or 1.0), 1)


def loose_box(page: Any, index: int) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a letter, in points from the page's lower left corner."""
    box = pdfium.FS_RECTF()
    if index < 0 or not pdfium.FPDFText_GetLooseCharBox(page, index, box):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, box.top, box.bottom


def no_text(document: pypdfium2.PdfDocument, count: int) -> UnreadableError:
    """Why there is no text: pictures of pages, or nothing at all."""
    pictures = any(has_picture(document, index) for index in range(min(count, 5)))
    if pictures:
        return UnreadableError(Reason.NO_TEXT_LAYER, f"{count:,} pages of pictures: a scan, read it by OCR first")
    return UnreadableError(Reason.NO_TEXT_LAYER if count else Reason.UNPARSABLE, f"no text on {count:,} pages")


def has_picture(document: pypdfium2.PdfDocument, index: int) -> bool:
    """The page shows a picture."""
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        return False
    try:
        objects = (pdfium.FPDFPage_GetObject(page, at) for at in range(min(pdfium.FPDFPage_CountObjects(page), 1_000)))
        return any(pdfium.FPDFPageObj_GetType(one) == pdfium.FPDF_PAGEOBJ_IMAGE for one in objects)
    finally:
        pdfium.FPDF_ClosePage(page)


def read_properties(document: pypdfium2.PdfDocument) -> Properties:
    """What the file says of itself."""
    found: dict[str, str] = {}
    with suppress(pypdfium2.PdfiumError, UnicodeError, ValueError):
        found = document.get_metadata_dict()
    match = CREATED.match(found.get("CreationDate", ""))
    created = as_day(*match.groups()) if match else ""
    return Properties(one_line(found.get("Title", "")[:500]), one_line(found.get("Author", "")[:200]), created)
