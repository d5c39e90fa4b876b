"""Reader for OpenDocument: texts (ODT), presentations (ODP) and spreadsheets (ODS).

Hidden text, comments, deleted text and phonetic guides are left out. Formulas and charts are files in the package.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import cast

from lxml import etree
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
from extractor.documents.office.counting import ListCounter, ListLevel, parse_count
from extractor.documents.office.formulas import formula_text
from extractor.documents.office_properties import read_properties
from extractor.documents.zip_package import ZipPackage, resolve_part_name

NAMES = ("text", "table", "drawing", "office", "presentation", "style", "xsl-fo-compatible")
TEXT_NS, TABLE_NS, DRAW_NS, OFFICE_NS, PRESENTATION_NS, STYLE_NS, FO_NS = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in NAMES
)
ENCRYPTION_DATA_TAG = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}encryption-data"
REMOVED_TAGS = (
    *(f"{TEXT_NS}{name}" for name in ("tracked-changes", "ruby-text", "sequence-decls", "number")),
    *(f"{OFFICE_NS}{name}" for name in ("annotation", "forms")),
)
HREF, XML_ID = "{http://www.w3.org/1999/xlink}href", "{http://www.w3.org/XML/1998/namespace}id"
MATH_TAG = "{http://www.w3.org/1998/Math/MathML}math"
TABLE_GROUP_TAGS = frozenset(
    f"{TABLE_NS}table-{name}"
    for name in ("header-rows", "rows", "row-group", "header-columns", "columns", "column-group")
)
STYLE_NAMES = (f"{TEXT_NS}style-name", f"{TABLE_NS}style-name", f"{DRAW_NS}style-name")
# Properties of a hidden text, section, sheet, row, slide or shape; of an element or of its style.
HIDDEN_VALUES = {
    f"{TEXT_NS}display": ("none",),
    f"{TEXT_NS}is-hidden": ("true",),
    f"{TABLE_NS}display": ("false",),
    f"{TABLE_NS}visibility": ("collapse", "filter"),
    f"{DRAW_NS}display": ("none", "printer"),
    f"{PRESENTATION_NS}visibility": ("hidden",),
}
# First character of a number format -> counting system.
SYSTEMS = {
    "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "一": "chineseCounting",
    "壹": "chineseLegalSimplified", "甲": "ideographTraditional", "子": "ideographZodiac",
    "①": "decimalEnclosedCircle", "１": "decimalFullWidth",
}  # fmt: skip
LEVEL_PLACEHOLDER_RE = re.compile(r"%(\d)%")
MAX_BLANKS = 100
MAX_REPEATS = 50  # repetitions of a cell or a row; empty cells and rows are never repeated
MAX_ROW_CELLS = 1_000
MAX_COLUMNS = 16_384
MAX_STYLE_CHAIN = 20
MAX_OBJECTS = 1_000  # embedded formulas, charts and documents


class OdfStyles:
    """The styles of a document, from the roots of its parts `styles.xml` and `content.xml`."""

    def __init__(self, *roots: Element | None) -> None:
        self.elements: dict[str, Element] = {}
        self.levels_by_list: dict[str, dict[int, ListLevel]] = {}
        self.outline_levels: dict[int, ListLevel] = {}
        self.has_hidden_properties = cache(self._has_hidden_properties)
        for root in roots:
            for element in root.iter(f"{STYLE_NS}style") if root is not None else ():
                self.elements[element.get(f"{STYLE_NS}name", "")] = element
            for element in root.iter(f"{TEXT_NS}list-style", f"{TEXT_NS}outline-style") if root is not None else ():
                if element.tag == f"{TEXT_NS}outline-style":
                    self.outline_levels = read_levels(element)
                else:
                    self.levels_by_list[element.get(f"{STYLE_NS}name", "")] = read_levels(element)

    def font_size(self, style: str) -> float:
        """Return the font size in points that a style states, or 0.0."""
        sizes = (properties.get(f"{FO_NS}font-size", "") for properties in self.elements.get(style, ()))
        size = next(filter(None, sizes), "")
        number = size.removesuffix("pt")
        return float(number) if number != size and number.replace(".", "", 1).isdecimal() else 0.0

    def is_hidden(self, element: Element) -> bool:
        """Return True if an element or its style hides its content."""
        return any(
            value in HIDDEN_VALUES.get(name, ()) or (name in STYLE_NAMES and self.has_hidden_properties(value))
            for name, value in cast("Mapping[str, str]", element.attrib).items()
        )

    def _has_hidden_properties(self, style: str) -> bool:
        for _ in range(MAX_STYLE_CHAIN):
            element = self.elements.get(style)
            if element is None:
                return False
            if any(map(has_hidden_value, element)):
                return True
            style = element.get(f"{STYLE_NS}parent-style-name", "")
        return False


def has_hidden_value(element: Element) -> bool:
    """Return True if an attribute of an element hides it."""
    return any(
        value in HIDDEN_VALUES.get(name, ()) for name, value in cast("Mapping[str, str]", element.attrib).items()
    )


def read_levels(style: Element) -> dict[int, ListLevel]:
    """Read the levels of a list style that have a number."""
    levels: dict[int, ListLevel] = {}
    for element in style:
        index, level_count, start = (
            parse_count(element.get(f"{TEXT_NS}{name}", ""), 1) for name in ("level", "display-levels", "start-value")
        )
        code = element.get(f"{STYLE_NS}num-format", "")
        upper = [
            f"%{level}." for level in range(max(index - level_count, 0) + 1, min(index, 10)) if level - 1 in levels
        ]
        template = f"{''.join(upper)}%{index}"
        template = element.get(f"{STYLE_NS}num-prefix", "") + template + element.get(f"{STYLE_NS}num-suffix", "")
        for name, value in cast("Mapping[str, str]", element.attrib).items():  # of LibreOffice and ODF 1.4
            if str(name).endswith("}num-list-format"):
                template = LEVEL_PLACEHOLDER_RE.sub(r"%\1", str(value))
        if code:
            levels[index - 1] = ListLevel(template + " ", SYSTEMS.get(code[0], code), start)
    return levels


class OdfReader:
    """Converts the XML of one document to blocks and opening lines."""

    def __init__(self, package: ZipPackage, styles: OdfStyles) -> None:
        self.package = package
        self.styles = styles
        self.builder = DocumentBuilder()
        self.page_number = 0
        self.outline = ListCounter(styles.outline_levels)
        self.counter_by_list: dict[str, ListCounter] = {}  # by the id and by the style of a list
        self.item: tuple[ListCounter, int, int | None] | None = None  # whose first paragraph gets a number
        self.object_count = 0

    def walk(self, parent: Element, depth: int = 0, role: str = "", list_style: str = "") -> None:
        """Read all text in an element; `depth` and `list_style` are those of the enclosing list."""
        for child in parent:
            tag = child.tag
            if self.builder.is_full:
                return
            self.page_number += tag == f"{DRAW_NS}page" or (
                tag == f"{TABLE_NS}table" and parent.tag == f"{OFFICE_NS}spreadsheet"
            )
            if self.styles.is_hidden(child):
                continue
            if tag in (f"{TEXT_NS}p", f"{TEXT_NS}h"):
                self.read_paragraph(child, depth, role)
            elif tag == f"{TABLE_NS}table":
                self.read_table(child)
            elif tag == f"{DRAW_NS}object":
                self.read_object(child)
            elif tag == f"{TEXT_NS}list":
                self.read_list(child, depth, role, child.get(f"{TEXT_NS}style-name", list_style))
            elif tag == f"{PRESENTATION_NS}notes":
                self.walk(child, depth, "notes")
            else:
                self.walk(child, depth, child.get(f"{PRESENTATION_NS}class", "") or role, list_style)

    def read_list(self, element: Element, depth: int, role: str, style: str) -> None:
        """Read the items of a list; it continues the list of the same style or id if it says so."""
        list_key = element.get(f"{TEXT_NS}continue-list", "")
        if depth or element.get(f"{TEXT_NS}continue-numbering") == "true":
            list_key = list_key or style
        counter = self.counter_by_list.get(list_key) or ListCounter(self.styles.levels_by_list.get(style, {}))
        self.counter_by_list |= dict.fromkeys(filter(None, (style, element.get(XML_ID, ""))), counter)
        for item in element:
            start = parse_count(item.get(f"{TEXT_NS}start-value", ""), -1)
            is_item = item.tag == f"{TEXT_NS}list-item"
            self.item = (counter, min(depth, 8), start if start >= 0 else None) if is_item else None
            if not self.styles.is_hidden(item):
                self.walk(item, depth + 1, role, style)
        self.item = None

    def next_label(self, element: Element) -> str:
        """Return the automatic number of a paragraph: that of its list item, or of a heading."""
        if self.item is not None:
            (counter, level, start), self.item = self.item, None
            return counter.next_label(level, start)
        level = parse_count(element.get(f"{TEXT_NS}outline-level", ""), 0)
        style = self.styles.elements.get(element.get(f"{TEXT_NS}style-name", ""))
        is_unnumbered = style is not None and style.get(f"{STYLE_NS}list-style-name") == ""
        if not 0 < level < 10 or element.get(f"{TEXT_NS}is-list-header") == "true" or is_unnumbered:
            return ""
        start = parse_count(element.get(f"{TEXT_NS}start-value", ""), -1)
        return self.outline.next_label(level - 1, start if start >= 0 else None)

    def read_paragraph(self, element: Element, depth: int, role: str) -> None:
        """Read a paragraph or heading, then the notes and frames anchored_elements in it."""
        anchored_elements: list[Element] = []
        label, text = self.next_label(element), to_one_line("".join(self.iter_text(element, anchored_elements)))
        if any(map(has_hidden_value, element.iter(f"{TEXT_NS}hidden-paragraph"))):
            return
        style = element.get(f"{TEXT_NS}style-name", "")
        kind = "title" if role == "title" or style.lower() == "title" else ""
        level = element.get(f"{TEXT_NS}outline-level", "1") if element.tag == f"{TEXT_NS}h" else ""
        block = Block(BlockKind.PARAGRAPH, label + text if text else "", page=self.page_number)
        if level or kind:
            block = replace(block, kind=BlockKind.HEADING, level=min(parse_count(level, 2), 6))
        elif depth and not label:
            block = replace(block, kind=BlockKind.LIST_ITEM, level=min(depth, 9))
        self.builder.add(block)
        if text and self.page_number <= 1 and role != "notes":
            self.builder.add_opening(text, self.styles.font_size(style), kind or ("heading" if level else ""))
        for child in anchored_elements:
            self.walk(child, depth if child.tag == f"{DRAW_NS}frame" else 0, role)

    def iter_text(self, element: Element, anchored_elements: list[Element]) -> Iterator[str]:
        """Yield the displayed text of a paragraph; append its notes and frames to `anchored_elements`."""
        yield element.text or ""
        for child in element:
            if self.styles.is_hidden(child):
                pass
            elif child.tag == f"{TEXT_NS}s":
                yield " " * min(parse_count(child.get(f"{TEXT_NS}c", ""), 1), MAX_BLANKS)
            elif child.tag in (f"{TEXT_NS}tab", f"{TEXT_NS}line-break"):
                yield " "
            elif child.tag == f"{DRAW_NS}frame":
                root = self.object_root(child.find(f"{DRAW_NS}object"))
                if root is not None and root.tag == MATH_TAG:
                    yield formula_text(root)
                else:
                    anchored_elements.append(child)
            elif child.tag == f"{TEXT_NS}note":
                anchored_elements.append(child)
            else:
                yield from self.iter_text(child, anchored_elements)
            yield child.tail or ""

    def object_root(self, element: Element | None) -> Element | None:
        """Return the root of an embedded formula, chart or document; None if there is none, or no room for more."""
        name = resolve_part_name("", element.get(HREF, "") + "/content.xml") if element is not None else ""
        self.object_count += bool(name)
        return self.package.parse_part(name) if name and self.object_count <= MAX_OBJECTS else None

    def read_object(self, element: Element) -> None:
        """Read an embedded formula, chart or document."""
        root = self.object_root(element)
        if root is not None and root.tag == MATH_TAG:
            self.builder.add(Block(BlockKind.PARAGRAPH, formula_text(root), page=self.page_number))
        elif root is not None:
            page_number = self.page_number
            etree.strip_elements(root, *REMOVED_TAGS, with_tail=False)
            self.walk(root)
            self.page_number = page_number

    def read_table(self, table: Element) -> None:
        """Read the shown rows and columns of a table."""
        hidden_columns = bytearray()
        for column in iter_own(table, f"{TABLE_NS}table-column"):
            repeats = parse_count(column.get(f"{TABLE_NS}number-columns-repeated", ""), 1)
            hidden_columns += bytes([has_hidden_value(column)]) * min(repeats, MAX_COLUMNS - len(hidden_columns))
        for row in iter_own(table, f"{TABLE_NS}table-row"):
            if self.builder.is_full:
                return
            if self.styles.is_hidden(row):
                continue
            cells = list(self.iter_cell_texts(row, hidden_columns))
            while cells and not cells[-1]:
                cells.pop()
            if len(cells) == 1 and cells[0]:
                self.builder.add_opening(cells[0])
            count = parse_count(row.get(f"{TABLE_NS}number-rows-repeated", ""), 1) if cells else 0
            for _ in range(min(count, MAX_REPEATS)):
                self.builder.add(Block(BlockKind.TABLE_ROW, "\t".join(cells), page=self.page_number))

    def iter_cell_texts(self, row: Element, hidden_columns: bytearray) -> Iterator[str]:
        """Yield the texts of the cells of a row in shown columns, repeated cells included."""
        column = count = 0
        for cell in row.iterchildren(f"{TABLE_NS}table-cell", f"{TABLE_NS}covered-table-cell"):
            text = self.cell_text(cell)
            repeats = parse_count(cell.get(f"{TABLE_NS}number-columns-repeated", ""), 1)
            visible_count = repeats - hidden_columns.count(1, column, column + repeats)
            column += repeats
            times = min(visible_count, MAX_REPEATS if text else 1)
            count += times
            if count > MAX_ROW_CELLS:
                return
            yield from [text] * times

    def cell_text(self, cell: Element) -> str:
        """Return the text of a cell on one line, with its lists, frames and nested tables."""
        if len(cell) == 1 and not len(cell[0]) and cell[0].tag == f"{TEXT_NS}p":  # nearly all cells
            return to_one_line(cell[0].text or "")
        builder, self.builder = self.builder, DocumentBuilder()
        self.walk(cell)
        text = " ".join(block.text for block in self.builder.blocks)
        self.builder = builder
        value = cell.get(f"{OFFICE_NS}value", "") if not len(cell) else ""
        return to_one_line(text or cell.get(f"{OFFICE_NS}string-value", value))


def iter_own(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows or columns of a table, without those of nested tables."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in TABLE_GROUP_TAGS:
            yield from iter_own(child, tag)


def read(data: bytes) -> DocumentContent:
    """Read an ODF file. Raises UnreadableError."""
    package = ZipPackage(data)
    manifest = package.parse_part("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter(ENCRYPTION_DATA_TAG), None) is not None:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
    root = package.require_part("content.xml")
    reader = OdfReader(package, OdfStyles(package.parse_part("styles.xml"), root))
    etree.strip_elements(root, *REMOVED_TAGS, with_tail=False)
    body = root.find(f"{OFFICE_NS}body")
    reader.walk(body if body is not None else root)
    return reader.builder.build(read_properties(package, "meta.xml"), damaged_parts=package.damaged_parts)
