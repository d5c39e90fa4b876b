"""OFD (GB/T 33190), the page format of China's offices: lines of text with their place, as in a PDF."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from docstore.model import Reason
from extractor.documents.content import MAX_PAGES, Content, Properties, UnreadableError
from extractor.documents.office_properties import text_of
from extractor.documents.package import Package, resolved
from extractor.documents.page_layout import PageLine, PrintedPage, lay_out, same_size
from extractor.fields.dates.date_text import date_in_text

OFD = "{http://www.ofdspec.org/2016}"
POINTS = 72 / 25.4  # in a millimetre
MAX_LINES = 5_000
SAME_LINE = 0.5  # of the size of letters, up or down
MAX_GAP = 2.5  # of that size: what stands further away is another line
GAP = 0.3  # of that size: letters further apart are words


def read(data: bytes) -> Content:
    """The text of an OFD file. Raises UnreadableError."""
    package = Package(data)
    main = package.needed("OFD.xml")
    if any(name.lower().endswith("encryptions.xml") for name in package.names):
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password or a key only")
    root_name = text_of(main, f"{OFD}DocRoot").lstrip("/")
    root = package.needed(root_name)
    folder = root_name.rpartition("/")[0]
    default = box_of(text_of(root, f"{OFD}PhysicalBox"))
    names = [resolved(folder, one.get("BaseLoc", "")) for one in root.iter(f"{OFD}Page")]
    templates = {one.get("ID", ""): resolved(folder, one.get("BaseLoc", "")) for one in root.iter(f"{OFD}TemplatePage")}
    pages = [read_page(package, name, templates, number, default) for number, name in enumerate(names[:MAX_PAGES], 1)]
    if not any(page.lines for page in pages):
        raise UnreadableError(Reason.NO_TEXT_LAYER, f"no text on {len(names):,} pages")
    properties = Properties(
        text_of(main, f"{OFD}Title"), text_of(main, f"{OFD}Author"), date_in_text(text_of(main, f"{OFD}CreationDate"))
    )
    return lay_out(pages, properties, f"{MAX_PAGES:,} of {len(names):,} pages" if len(names) > MAX_PAGES else "")


def read_page(
    package: Package, name: str, templates: dict[str, str], number: int, default: tuple[float, ...]
) -> PrintedPage:
    """One page, its template's text first."""
    root = package.tree(name)
    if root is None:
        return PrintedPage(number, 0.0, 0.0, ())
    own = box_of(text_of(root, f"{OFD}PhysicalBox"))
    _, _, width, height = own if own[3] else default
    below = [package.tree(templates.get(one.get("TemplateID", ""), "")) for one in root.iter(f"{OFD}Template")]
    lines = [line for layer in (*below, root) if layer is not None for line in text_lines(layer, number, height)]
    return PrintedPage(number, width * POINTS, height * POINTS, tuple(lines[:MAX_LINES]))


def text_lines(root: Element, number: int, height: float) -> Iterator[PageLine]:
    """The lines of a page: pieces of text that stand at one height, one after the other."""
    line: PageLine | None = None
    for element in root.iter(f"{OFD}TextObject"):
        piece = text_piece(element, number, height)
        if piece is None:
            continue
        if line is not None and goes_on(line, piece):
            blank = " " if piece.left - line.right > GAP * piece.size else ""
            text = line.text + blank + piece.text
            line = PageLine(text, number, line.left, piece.right, line.top, line.bottom, line.size, line.height)
            continue
        if line is not None:
            yield line
        line = piece
    if line is not None:
        yield line


def goes_on(line: PageLine, piece: PageLine) -> bool:
    """The piece stands behind the line, near it and in letters of its size."""
    at_one_height = abs(line.bottom - piece.bottom) <= SAME_LINE * piece.size
    return at_one_height and same_size(line, piece) and line.left < piece.left < line.right + MAX_GAP * piece.size


def text_piece(element: Element, number: int, height: float) -> PageLine | None:
    """The text of one object: what its codes say, in points from the lower left corner."""
    text = "".join(code.text or "" for code in element.iter(f"{OFD}TextCode")).strip("\n")
    left, top, width, tall = box_of(element.get("Boundary", ""))
    size = number_of(element.get("Size", ""))
    matrix = [number_of(one) for one in element.get("CTM", "").split()]
    if len(matrix) == 6 and matrix[3]:
        size *= abs(matrix[3])
    if not text.strip():
        return None
    bottom = height - top - tall
    places = (left, left + width, height - top, bottom, size, height)
    start, end, up, down, points, tallest = (place * POINTS for place in places)
    return PageLine(text, number, start, end, up, down, points, tallest)


def box_of(text: str) -> tuple[float, float, float, float]:
    """Left, top, width and height in millimetres; zeros where they are not stated."""
    numbers = [number_of(one) for one in text.split()]
    return (numbers[0], numbers[1], numbers[2], numbers[3]) if len(numbers) == 4 else (0.0, 0.0, 0.0, 0.0)


def number_of(text: str) -> float:
    """A number within the bounds that pages have, 0 for what is none."""
    try:
        value = float(text[:30])
    except ValueError:
        return 0.0
    return value if abs(value) < 1e6 else 0.0
