"""Reader for OFD (GB/T 33190), the page format of Chinese offices: positioned lines of text, as in a PDF."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from domain.coded_message import CodedMessage
from domain.outcome import Reason
from extractor.documents.content import MAX_PAGES, DocumentContent, FileProperties, UnreadableError, no_text_error
from extractor.documents.office_properties import first_element_text
from extractor.documents.printed_layout import (
    PrintedLine,
    PrintedPage,
    build_content,
    has_same_font_size,
    without_garbled_text,
)
from extractor.documents.zip_package import ZipPackage, resolve_part_name
from extractor.fields.dates.date_parsing import find_date_in_text

OFD_NAMESPACE = "{http://www.ofdspec.org/2016}"
POINTS_PER_MM = 72 / 25.4
MAX_LINES = 5_000
MAX_BASELINE_SHIFT = 0.5  # between pieces of one line, relative to the font size
MAX_LINE_GAP = 2.5  # relative to the font size; a wider gap begins a new line
MIN_WORD_GAP = 0.3  # relative to the font size; a wider gap separates words


def read(data: bytes) -> DocumentContent:
    """Read an OFD file. Raises UnreadableError."""
    package = ZipPackage(data)
    root_document = package.require_part("OFD.xml")
    if any(name.lower().endswith("encryptions.xml") for name in package.part_names):
        raise UnreadableError(
            Reason.PASSWORD_PROTECTED, CodedMessage("encrypted: requires a password or key", "password_or_key")
        )
    root_name = first_element_text(root_document, f"{OFD_NAMESPACE}DocRoot").lstrip("/")
    root = package.require_part(root_name)
    folder = root_name.rpartition("/")[0]
    default_box = parse_box(first_element_text(root, f"{OFD_NAMESPACE}PhysicalBox"))
    names = [resolve_part_name(folder, element.get("BaseLoc", "")) for element in root.iter(f"{OFD_NAMESPACE}Page")]
    templates = {
        element.get("ID", ""): resolve_part_name(folder, element.get("BaseLoc", ""))
        for element in root.iter(f"{OFD_NAMESPACE}TemplatePage")
    }
    pages = [
        read_page(package, name, templates, number, default_box) for number, name in enumerate(names[:MAX_PAGES], 1)
    ]
    if not any(page.lines or page.fault for page in pages):
        raise no_text_error(len(names))
    properties = FileProperties(
        first_element_text(root_document, f"{OFD_NAMESPACE}Title"),
        first_element_text(root_document, f"{OFD_NAMESPACE}Author"),
        find_date_in_text(first_element_text(root_document, f"{OFD_NAMESPACE}CreationDate")),
    )
    return build_content(pages, properties, f"{MAX_PAGES:,} of {len(names):,} pages" if len(names) > MAX_PAGES else "")


def read_page(
    package: ZipPackage, name: str, templates: dict[str, str], number: int, default: tuple[float, ...]
) -> PrintedPage:
    """Read one page; the text of its templates comes first."""
    root = package.parse_part(name)
    if root is None:
        return PrintedPage(number, 0.0, 0.0, ())
    page_box = parse_box(first_element_text(root, f"{OFD_NAMESPACE}PhysicalBox"))
    _, _, width, height = page_box if page_box[3] else default
    template_layers = [
        package.parse_part(templates.get(element.get("TemplateID", ""), ""))
        for element in root.iter(f"{OFD_NAMESPACE}Template")
    ]
    lines = [
        line for layer in (*template_layers, root) if layer is not None for line in text_lines(layer, number, height)
    ]
    return without_garbled_text(
        PrintedPage(number, width * POINTS_PER_MM, height * POINTS_PER_MM, tuple(lines[:MAX_LINES]))
    )


def text_lines(root: Element, number: int, height: float) -> Iterator[PrintedLine]:
    """Yield the lines of a page: adjacent pieces of text at the same height are joined."""
    line: PrintedLine | None = None
    for element in root.iter(f"{OFD_NAMESPACE}TextObject"):
        piece = text_piece(element, number, height)
        if piece is None:
            continue
        if line is not None and continues_line(line, piece):
            blank = " " if piece.left - line.right > MIN_WORD_GAP * piece.font_size else ""
            text = line.text + blank + piece.text
            line = PrintedLine(
                text, number, line.left, piece.right, line.top, line.bottom, line.font_size, line.page_height
            )
            continue
        if line is not None:
            yield line
        line = piece
    if line is not None:
        yield line


def continues_line(line: PrintedLine, piece: PrintedLine) -> bool:
    """Return True if the piece follows the line closely, at the same height and font size."""
    is_same_height = abs(line.bottom - piece.bottom) <= MAX_BASELINE_SHIFT * piece.font_size
    return (
        is_same_height
        and has_same_font_size(line, piece)
        and line.left < piece.left < line.right + MAX_LINE_GAP * piece.font_size
    )


def text_piece(element: Element, number: int, height: float) -> PrintedLine | None:
    """Return the text of one text object, with coordinates in points from the lower left corner."""
    text = "".join(code.text or "" for code in element.iter(f"{OFD_NAMESPACE}TextCode")).strip("\n")
    box_left, box_top, box_width, box_height = parse_box(element.get("Boundary", ""))
    size = parse_number(element.get("Size", ""))
    matrix = [parse_number(number_text) for number_text in element.get("CTM", "").split()]
    if len(matrix) == 6 and matrix[3]:
        size *= abs(matrix[3])
    if not text.strip():
        return None
    box_bottom = height - box_top - box_height
    lengths_mm = (box_left, box_left + box_width, height - box_top, box_bottom, size, height)
    left, right, top, bottom, font_size, page_height = (length * POINTS_PER_MM for length in lengths_mm)
    return PrintedLine(text, number, left, right, top, bottom, font_size, page_height)


def parse_box(text: str) -> tuple[float, float, float, float]:
    """Parse left, top, width and height in millimetres; zeros if they are missing."""
    numbers = [parse_number(number_text) for number_text in text.split()]
    return (numbers[0], numbers[1], numbers[2], numbers[3]) if len(numbers) == 4 else (0.0, 0.0, 0.0, 0.0)


def parse_number(text: str) -> float:
    """Parse a number; 0.0 if it is invalid or larger than any page (1e6)."""
    try:
        value = float(text[:30])
    except ValueError:
        return 0.0
    return value if abs(value) < 1e6 else 0.0
