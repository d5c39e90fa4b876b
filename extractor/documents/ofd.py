"""Reader for OFD (GB/T 33190), the page format of Chinese offices: positioned lines of text, as in a PDF.

A scan is a page of images without text. The stage `ocr` reads such a page from its images.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from domain.message import Message
from domain.outcome import Reason
from domain.recognized_page import RecognizedPage
from extractor.documents.content import (
    MAX_PAGES,
    MIN_SCAN_AREA_SHARE,
    DocumentContent,
    FileProperties,
    UnreadableError,
    no_text_error,
    scan_error,
)
from extractor.documents.office_properties import first_element_text
from extractor.documents.printed_layout import (
    PageFault,
    PrintedLine,
    PrintedPage,
    build_content,
    from_recognized_page,
    has_same_font_size,
    without_garbled_text,
)
from extractor.documents.zip_package import ZipPackage, resolve_part_name
from extractor.fields.dates.date_parsing import find_date_in_text

OFD_NAMESPACE = "{http://www.ofdspec.org/2016}"
HIDDEN_TAG = "hidden"
POINTS_PER_MM = 72 / 25.4
MAX_LINES = 5_000
MAX_IMAGES = 1_000  # of a page
MAX_PAGES_OF_IMAGES = 5  # that are searched for an image in a file without text
MAX_BASELINE_SHIFT = 0.5  # between pieces of one line, relative to the font size
MAX_LINE_GAP = 2.5  # relative to the font size; a wider gap begins a new line
MIN_WORD_GAP = 0.3  # relative to the font size; a wider gap separates words


@dataclass(frozen=True)
class PageImage:
    """An image on a page: its file, and its box in points from the upper left corner (`x`, `y`) of the page."""

    data: bytes
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class OfdDocument:
    """An opened file: its parts, those of annotations by page, of templates and images by id; `page_box` in mm."""

    package: ZipPackage
    root_document: Element
    page_names: tuple[str, ...]
    annotation_names: Mapping[int, str]
    template_names: Mapping[str, str]
    image_names: Mapping[str, str]
    page_box: tuple[float, ...]


def read(data: bytes, recognized_pages: Sequence[RecognizedPage] = ()) -> DocumentContent:
    """Read an OFD file, with the text of recognized pages where it has no readable text. Raises UnreadableError."""
    document = open_document(data)
    page_by_number = {page.number: from_recognized_page(page) for page in recognized_pages if page.lines}
    pages = [page if page.lines else page_by_number.get(page.number, page) for page in read_pages(document)]
    count = len(document.page_names)
    if not any(page.lines or page.fault is PageFault.GARBLED for page in pages):
        numbers = range(1, min(count, MAX_PAGES_OF_IMAGES) + 1)
        raise scan_error(count) if any(has_image(document, number) for number in numbers) else no_text_error(count)
    properties = FileProperties(
        first_element_text(document.root_document, f"{OFD_NAMESPACE}Title"),
        first_element_text(document.root_document, f"{OFD_NAMESPACE}Author"),
        find_date_in_text(first_element_text(document.root_document, f"{OFD_NAMESPACE}CreationDate")),
    )
    content = build_content(pages, properties, f"{MAX_PAGES:,} of {count:,} pages" if count > MAX_PAGES else "")
    return replace(content, damaged_parts=tuple(document.package.damaged_parts))


def find_unreadable_pages(data: bytes) -> list[int]:
    """Return the numbers of the garbled and scanned pages; in a file without any text, also of pages with an image.

    Raises UnreadableError.
    """
    document = open_document(data)
    pages = read_pages(document)
    has_text = any(page.lines for page in pages)
    return [
        page.number
        for page in pages
        if page.fault or (not has_text and not page.lines and has_image(document, page.number))
    ]


def read_images(data: bytes, number: int) -> tuple[float, float, tuple[PageImage, ...]]:
    """Return width and height of a page in points, and its images. Raises UnreadableError."""
    document = open_document(data)
    width, height, layers = page_layers(document, number)
    images = tuple(
        PageImage(document.package.read(name), *(length * POINTS_PER_MM for length in box))
        for name, box in image_boxes(document, layers)
    )
    return width * POINTS_PER_MM, height * POINTS_PER_MM, images


def open_document(data: bytes) -> OfdDocument:
    """Open an OFD file. Raises UnreadableError."""
    package = ZipPackage(data)
    root_document = package.require_part("OFD.xml")
    if any(name.lower().endswith("encryptions.xml") for name in package.part_names):
        raise UnreadableError(Reason.PASSWORD_PROTECTED, Message("Encrypted: it needs a password or a key"))
    root_name = first_element_text(root_document, f"{OFD_NAMESPACE}DocRoot").lstrip("/")
    root = package.require_part(root_name)
    folder = root_name.rpartition("/")[0]
    return OfdDocument(
        package,
        root_document,
        tuple(resolve_part_name(folder, element.get("BaseLoc", "")) for element in root.iter(f"{OFD_NAMESPACE}Page")),
        dict(iter_annotation_names(package, root, folder)),
        {
            element.get("ID", ""): resolve_part_name(folder, element.get("BaseLoc", ""))
            for element in root.iter(f"{OFD_NAMESPACE}TemplatePage")
        },
        dict(iter_image_names(package, root, folder)),
        parse_box(first_element_text(root, f"{OFD_NAMESPACE}PhysicalBox")),
    )


def iter_annotation_names(package: ZipPackage, root: Element, folder: str) -> Iterator[tuple[int, str]]:
    """Yield page number and part of the annotations of each page."""
    numbers = {page.get("ID", ""): number for number, page in enumerate(root.iter(f"{OFD_NAMESPACE}Page"), 1)}
    name = resolve_part_name(folder, first_element_text(root, f"{OFD_NAMESPACE}Annotations"))
    annotations = package.parse_part(name)
    for page in annotations.iter(f"{OFD_NAMESPACE}Page") if annotations is not None else ():
        file = first_element_text(page, f"{OFD_NAMESPACE}FileLoc")
        yield numbers.get(page.get("PageID", ""), 0), resolve_part_name(name.rpartition("/")[0], file)


def iter_image_names(package: ZipPackage, root: Element, folder: str) -> Iterator[tuple[str, str]]:
    """Yield id and part of each image in the resources of the document."""
    for resource in root.iter(f"{OFD_NAMESPACE}PublicRes", f"{OFD_NAMESPACE}DocumentRes"):
        name = resolve_part_name(folder, (resource.text or "").strip())
        resources = package.parse_part(name)
        if resources is None:
            continue
        image_folder = resolve_part_name(name.rpartition("/")[0], resources.get("BaseLoc", ""))
        for media in resources.iter(f"{OFD_NAMESPACE}MultiMedia"):
            file = first_element_text(media, f"{OFD_NAMESPACE}MediaFile")
            yield media.get("ID", ""), resolve_part_name(image_folder, file)


def read_pages(document: OfdDocument) -> list[PrintedPage]:
    """Read the pages up to the limit."""
    return [read_page(document, number) for number in range(1, min(len(document.page_names), MAX_PAGES) + 1)]


def page_layers(document: OfdDocument, number: int) -> tuple[float, float, list[Element]]:
    """Return width and height of a page in millimetres, and the roots of its templates and of itself."""
    name = document.page_names[number - 1]
    root = document.package.parse_part(name)
    if root is None:
        document.package.check_reference(name)
        return 0.0, 0.0, []
    page_box = parse_box(first_element_text(root, f"{OFD_NAMESPACE}PhysicalBox"))
    _, _, width, height = page_box if page_box[3] else document.page_box
    templates = [
        document.package.parse_part(document.template_names.get(element.get("TemplateID", ""), ""))
        for element in root.iter(f"{OFD_NAMESPACE}Template")
    ]
    return width, height, [without_hidden_objects(layer) for layer in (*templates, root) if layer is not None]


def without_hidden_objects(layer: Element) -> Element:
    """Remove the objects of a layer that are not shown."""
    for element in layer.iter():
        if element.get("Visible") == "false":
            element.tag = HIDDEN_TAG
    etree.strip_elements(layer, HIDDEN_TAG)
    return layer


def has_image(document: OfdDocument, number: int) -> bool:
    """Return True if a page contains an image."""
    return bool(image_boxes(document, page_layers(document, number)[2]))


def image_boxes(document: OfdDocument, layers: Sequence[Element]) -> list[tuple[str, tuple[float, ...]]]:
    """Return part and box (left, top, width and height in millimetres) of each image of a page."""
    elements = (element for layer in layers for element in layer.iter(f"{OFD_NAMESPACE}ImageObject"))
    boxes = (
        (document.image_names.get(element.get("ResourceID", ""), ""), parse_box(element.get("Boundary", "")))
        for element in islice(elements, MAX_IMAGES)
    )
    return [(name, box) for name, box in boxes if name in document.package and box[2] > 0 and box[3] > 0]


def read_page(document: OfdDocument, number: int) -> PrintedPage:
    """Read one page; the text of its templates comes first, that of its annotations last."""
    width, height, layers = page_layers(document, number)
    lines = [line for layer in layers for line in text_lines(layer, number, height)]
    annotations = document.package.parse_part(document.annotation_names.get(number, ""))
    if lines and annotations is not None:  # a stamp on a scan is not its text
        lines += text_lines(without_hidden_objects(annotations), number, height)
    page = PrintedPage(number, width * POINTS_PER_MM, height * POINTS_PER_MM, tuple(lines[:MAX_LINES]))
    image_area = sum(box[2] * box[3] for _, box in image_boxes(document, layers)) if not lines else 0.0
    is_scanned = image_area >= MIN_SCAN_AREA_SHARE * width * height > 0
    return replace(page, fault=PageFault.SCANNED) if is_scanned else without_garbled_text(page)


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
    for appearance in element.iterancestors(f"{OFD_NAMESPACE}Appearance"):  # of an annotation
        x, y, _, _ = parse_box(appearance.get("Boundary", ""))
        box_left, box_top = box_left + x, box_top + y
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
