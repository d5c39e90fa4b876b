"""OpenDocument: texts (ODT), presentations (ODP) and spreadsheets (ODS)."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import MAX_OPENING, BlockList, Content, OpeningLine, UnreadableError, one_line
from extractor.documents.office_properties import read_properties
from extractor.documents.package import Package

NAMES = "{urn:oasis:names:tc:opendocument:xmlns:"
TEXT, TABLE, DRAW, OFFICE = f"{NAMES}text:1.0}}", f"{NAMES}table:1.0}}", f"{NAMES}drawing:1.0}}", f"{NAMES}office:1.0}}"
PRESENTATION, STYLE, FO = (
    f"{NAMES}presentation:1.0}}",
    f"{NAMES}style:1.0}}",
    f"{NAMES}xsl-fo-compatible:1.0}}",
)
MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}encryption-data"
SKIPPED = frozenset((f"{TEXT}tracked-changes", f"{OFFICE}annotation", f"{TEXT}sequence-decls", f"{OFFICE}forms"))
MAX_BLANKS = 100
MAX_REPEATED = 50  # times that a cell or a row is repeated; empty ones, as spreadsheets fill their rest, never are
MAX_CELLS = 1_000


class Reader:
    """Walks one document."""

    def __init__(self, sizes: dict[str, float]) -> None:
        self.sizes = sizes
        self.found = BlockList()
        self.opening: list[OpeningLine] = []
        self.page = 0

    def walk(self, parent: Element, depth: int = 0, role: str = "") -> None:
        """All text below an element; `depth` of the list that it stands in."""
        for child in parent:
            if self.found.full:
                return
            tag = child.tag
            if tag in (f"{TEXT}p", f"{TEXT}h"):
                self.paragraph(child, depth, role)
            elif tag == f"{TABLE}table":
                self.page += parent.tag == f"{OFFICE}spreadsheet"
                self.table(child)
            elif tag == f"{PRESENTATION}notes":
                self.walk(child, depth, "notes")
            elif tag not in SKIPPED:
                self.page += tag == f"{DRAW}page"
                kind = child.get(f"{PRESENTATION}class", "") or role
                self.walk(child, depth + (tag == f"{TEXT}list-item"), kind)

    def paragraph(self, element: Element, depth: int, role: str) -> None:
        """A paragraph or a heading; frames within it come behind it."""
        frames: list[Element] = []
        text = one_line("".join(pieces(element, frames)))
        style = element.get(f"{TEXT}style-name", "")
        kind = "title" if role == "title" or style.lower() == "title" else ""
        level = element.get(f"{TEXT}outline-level", "1") if element.tag == f"{TEXT}h" else ""
        if level or kind:
            block = Block(BlockKind.HEADING, text, min(int(level), 6) if level.isdecimal() else 2, page=self.page)
        else:
            block = Block(BlockKind.ITEM if depth else BlockKind.PARAGRAPH, text, min(depth, 9), page=self.page)
        self.found.add(block)
        if text and len(self.opening) < MAX_OPENING and self.page <= 1 and role != "notes":
            role = kind or ("heading" if level else "")
            size = self.sizes.get(style, 0.0)
            self.opening.append(OpeningLine(text[:500], size, role, place=len(self.opening)))
        for frame in frames:
            self.walk(frame, depth, role)

    def table(self, table: Element) -> None:
        """The rows of a table."""
        for row in table.iter(f"{TABLE}table-row"):
            if self.found.full:
                return
            cells = list(row_cells(row))
            while cells and not cells[-1]:
                cells.pop()
            if len(cells) == 1 and cells[0] and len(self.opening) < MAX_OPENING:
                self.opening.append(OpeningLine(cells[0][:500], place=len(self.opening)))
            for _ in range(repeated(row, f"{TABLE}number-rows-repeated") if cells else 0):
                self.found.add(Block(BlockKind.ROW, "\t".join(cells), page=self.page))


def row_cells(row: Element) -> Iterator[str]:
    """The texts of a row's cells."""
    count = 0
    for cell in row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
        text = one_line(" ".join("".join(pieces(one, [])) for one in cell.iter(f"{TEXT}p", f"{TEXT}h")))
        times = repeated(cell, f"{TABLE}number-columns-repeated") if text else 1
        count += times
        if count > MAX_CELLS:
            return
        yield from [text] * times


def repeated(element: Element, name: str) -> int:
    """How often a row or a cell stands there."""
    value = element.get(name, "1")
    return min(int(value), MAX_REPEATED) if value.isdecimal() and len(value) < 9 else 1


def pieces(element: Element, frames: list[Element]) -> Iterator[str]:
    """The text of a paragraph; frames are put aside."""
    yield element.text or ""
    for child in element:
        if child.tag == f"{TEXT}s":
            count = child.get(f"{TEXT}c", "1")
            yield " " * (min(int(count), MAX_BLANKS) if count.isdecimal() else 1)
        elif child.tag in (f"{TEXT}tab", f"{TEXT}line-break"):
            yield " "
        elif child.tag == f"{DRAW}frame":
            frames.append(child)
        elif child.tag not in SKIPPED:
            yield from pieces(child, frames)
        yield child.tail or ""


def read(data: bytes) -> Content:
    """The text of an ODF file. Raises UnreadableError."""
    package = Package(data)
    manifest = package.tree("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter(MANIFEST), None) is not None:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
    root = package.needed("content.xml")
    body = root.find(f"{OFFICE}body")
    sizes = read_sizes(package.tree("styles.xml")) | read_sizes(root)
    reader = Reader(sizes)
    reader.walk(body if body is not None else root)
    properties = read_properties(package, "meta.xml")
    return Content(tuple(reader.found.blocks), tuple(reader.opening), properties, 0.0, reader.found.cut)


def read_sizes(root: Element | None) -> dict[str, float]:
    """The size of letters, in points, of the styles that state one."""
    sizes: dict[str, float] = {}
    for style in root.iter(f"{STYLE}style") if root is not None else ():
        found = style.find(f"{STYLE}text-properties")
        value = found.get(f"{FO}font-size", "") if found is not None else ""
        number = value.removesuffix("pt")
        if value.endswith("pt") and number.replace(".", "", 1).isdecimal():
            sizes[style.get(f"{STYLE}name", "")] = float(number)
    return sizes
