"""Reader for OpenDocument: texts (ODT), presentations (ODP) and spreadsheets (ODS)."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from domain.article import Block, BlockKind
from domain.outcome import Reason
from extractor.documents.content import (
    PASSWORD_PROTECTED_MESSAGE,
    DocumentBuilder,
    DocumentContent,
    UnreadableError,
    to_one_line,
)
from extractor.documents.office_properties import read_properties
from extractor.documents.zip_package import ZipPackage

NAMESPACE_PREFIX = "{urn:oasis:names:tc:opendocument:xmlns:"
TEXT_NS, TABLE_NS, DRAW_NS, OFFICE_NS = (
    f"{NAMESPACE_PREFIX}text:1.0}}",
    f"{NAMESPACE_PREFIX}table:1.0}}",
    f"{NAMESPACE_PREFIX}drawing:1.0}}",
    f"{NAMESPACE_PREFIX}office:1.0}}",
)
PRESENTATION_NS, STYLE_NS, FO_NS = (
    f"{NAMESPACE_PREFIX}presentation:1.0}}",
    f"{NAMESPACE_PREFIX}style:1.0}}",
    f"{NAMESPACE_PREFIX}xsl-fo-compatible:1.0}}",
)
ENCRYPTION_DATA_TAG = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}encryption-data"
SKIPPED_TAGS = frozenset(
    (f"{TEXT_NS}tracked-changes", f"{OFFICE_NS}annotation", f"{TEXT_NS}sequence-decls", f"{OFFICE_NS}forms")
)
MAX_BLANKS = 100
MAX_REPEATS = 50  # repetitions of a cell or a row; empty cells and rows are never repeated
MAX_ROW_CELLS = 1_000


class OdfReader:
    """Converts the XML of one document to blocks and opening lines. `sizes`: font size in points by style name."""

    def __init__(self, sizes: dict[str, float]) -> None:
        self.font_size_by_style = sizes
        self.builder = DocumentBuilder()
        self.page_number = 0

    def walk(self, parent: Element, depth: int = 0, role: str = "") -> None:
        """Read all text in an element; `depth` is the depth of the enclosing list."""
        for child in parent:
            if self.builder.is_full:
                return
            tag = child.tag
            if tag in (f"{TEXT_NS}p", f"{TEXT_NS}h"):
                self.read_paragraph(child, depth, role)
            elif tag == f"{TABLE_NS}table":
                self.page_number += parent.tag == f"{OFFICE_NS}spreadsheet"
                self.read_table(child)
            elif tag == f"{PRESENTATION_NS}notes":
                self.walk(child, depth, "notes")
            elif tag not in SKIPPED_TAGS:
                self.page_number += tag == f"{DRAW_NS}page"
                child_role = child.get(f"{PRESENTATION_NS}class", "") or role
                self.walk(child, depth + (tag == f"{TEXT_NS}list-item"), child_role)

    def read_paragraph(self, element: Element, depth: int, role: str) -> None:
        """Read a paragraph or heading, then the frames anchored in it."""
        frames: list[Element] = []
        text = to_one_line("".join(iter_text(element, frames)))
        style = element.get(f"{TEXT_NS}style-name", "")
        kind = "title" if role == "title" or style.lower() == "title" else ""
        level = element.get(f"{TEXT_NS}outline-level", "1") if element.tag == f"{TEXT_NS}h" else ""
        if level or kind:
            block = Block(
                BlockKind.HEADING, text, min(int(level), 6) if level.isdecimal() else 2, page=self.page_number
            )
        else:
            block = Block(
                BlockKind.LIST_ITEM if depth else BlockKind.PARAGRAPH, text, min(depth, 9), page=self.page_number
            )
        self.builder.add(block)
        if text and self.page_number <= 1 and role != "notes":
            size = self.font_size_by_style.get(style, 0.0)
            self.builder.add_opening(text, size, kind or ("heading" if level else ""))
        for frame in frames:
            self.walk(frame, depth, role)

    def read_table(self, table: Element) -> None:
        """Read the rows of a table."""
        for row in table.iter(f"{TABLE_NS}table-row"):
            if self.builder.is_full:
                return
            cells = list(iter_cell_texts(row))
            while cells and not cells[-1]:
                cells.pop()
            if len(cells) == 1 and cells[0]:
                self.builder.add_opening(cells[0])
            for _ in range(repeat_count(row, f"{TABLE_NS}number-rows-repeated") if cells else 0):
                self.builder.add(Block(BlockKind.TABLE_ROW, "\t".join(cells), page=self.page_number))


def iter_cell_texts(row: Element) -> Iterator[str]:
    """Yield the texts of the cells of a row, repeated cells included."""
    count = 0
    for cell in row.iterchildren(f"{TABLE_NS}table-cell", f"{TABLE_NS}covered-table-cell"):
        text = to_one_line(
            " ".join("".join(iter_text(paragraph, [])) for paragraph in cell.iter(f"{TEXT_NS}p", f"{TEXT_NS}h"))
        )
        times = repeat_count(cell, f"{TABLE_NS}number-columns-repeated") if text else 1
        count += times
        if count > MAX_ROW_CELLS:
            return
        yield from [text] * times


def repeat_count(element: Element, name: str) -> int:
    """Return the number of repetitions of a row or cell, at most MAX_REPEATS."""
    value = element.get(name, "1")
    return min(int(value), MAX_REPEATS) if value.isdecimal() and len(value) < 9 else 1


def iter_text(element: Element, frames: list[Element]) -> Iterator[str]:
    """Yield the text of a paragraph; append its frames to `frames`."""
    yield element.text or ""
    for child in element:
        if child.tag == f"{TEXT_NS}s":
            count = child.get(f"{TEXT_NS}c", "1")
            yield " " * (min(int(count), MAX_BLANKS) if count.isdecimal() else 1)
        elif child.tag in (f"{TEXT_NS}tab", f"{TEXT_NS}line-break"):
            yield " "
        elif child.tag == f"{DRAW_NS}frame":
            frames.append(child)
        elif child.tag not in SKIPPED_TAGS:
            yield from iter_text(child, frames)
        yield child.tail or ""


def read(data: bytes) -> DocumentContent:
    """Read an ODF file. Raises UnreadableError."""
    package = ZipPackage(data)
    manifest = package.parse_part("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter(ENCRYPTION_DATA_TAG), None) is not None:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
    root = package.require_part("content.xml")
    body = root.find(f"{OFFICE_NS}body")
    sizes = read_font_sizes(package.parse_part("styles.xml")) | read_font_sizes(root)
    reader = OdfReader(sizes)
    reader.walk(body if body is not None else root)
    return reader.builder.build(read_properties(package, "meta.xml"))


def read_font_sizes(root: Element | None) -> dict[str, float]:
    """Return the font size in points of each style that states one."""
    sizes: dict[str, float] = {}
    for style in root.iter(f"{STYLE_NS}style") if root is not None else ():
        text_properties = style.find(f"{STYLE_NS}text-properties")
        value = text_properties.get(f"{FO_NS}font-size", "") if text_properties is not None else ""
        number = value.removesuffix("pt")
        if value.endswith("pt") and number.replace(".", "", 1).isdecimal():
            sizes[style.get(f"{STYLE_NS}name", "")] = float(number)
    return sizes
