"""Reader for Word (DOCX): paragraphs, headings, items, tables and notes. Ignores macros, field codes and pictures."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element as Element

from domain.article import Block, BlockKind
from domain.coded_message import CodedMessage
from domain.outcome import Reason
from extractor.documents.content import (
    DocumentBuilder,
    DocumentContent,
    UnreadableError,
    to_one_line,
)
from extractor.documents.office_properties import read_properties
from extractor.documents.zip_package import ZipPackage

WORD_NS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FALLBACK_TAG = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
SKIPPED_TAGS = frozenset(
    (
        f"{WORD_NS}del",
        f"{WORD_NS}moveFrom",
        f"{WORD_NS}pPr",
        f"{WORD_NS}rPr",
        FALLBACK_TAG,
        f"{WORD_NS}instrText",
        f"{WORD_NS}sectPr",
    )
)
CHAR_BY_TAG = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
MAX_STYLES = 5_000
MAX_STYLE_CHAIN = 20  # length of a chain of inherited styles
NOTE_PARTS = ("footnotes", "endnotes")


@dataclass(frozen=True)
class ParagraphStyle:
    """A paragraph style: `name` in lower case, font size in points (0: unknown), heading level (0: none)."""

    name: str = ""
    font_size: float = 0.0
    heading_level: int = 0
    is_bold: bool = False
    is_centred: bool = False


class DocxReader:
    """Converts the XML of one document to blocks and opening lines."""

    def __init__(self, styles: dict[str, ParagraphStyle], default: str, has_pages: bool) -> None:
        self.styles = styles
        self.default_style = default
        self.page_number = int(has_pages)
        self.builder = DocumentBuilder()

    def walk(self, parent: Element) -> None:
        """Read all paragraphs and tables in an element."""
        for child in parent:
            if self.builder.is_full:
                return
            if child.tag == f"{WORD_NS}p":
                if len(child):
                    self.read_paragraph(child)
                else:
                    self.builder.count_paragraph()
            elif child.tag == f"{WORD_NS}tbl":
                self.read_table(child)
            elif child.tag not in SKIPPED_TAGS:
                self.walk(child)

    def read_paragraph(self, element: Element) -> None:
        """Read one paragraph, then the text boxes anchored in it."""
        boxes: list[Element] = []
        text = "".join(self.iter_text(element, boxes))
        style = self.paragraph_style(element)
        depth = list_depth(element)
        for line in text.split("\n") if style.heading_level == 0 and style.name != "title" else [text]:
            self.builder.add(build_block(" ".join(line.split()), style, depth, self.page_number))
        if self.builder.needs_opening and text.strip():
            add_opening_paragraph(self.builder, text, element, style)
        for box in boxes:
            self.walk(box)

    def iter_text(self, element: Element, boxes: list[Element]) -> Iterator[str]:
        """Yield the text of the runs of a paragraph; append its text boxes to `boxes`."""
        for child in element:
            name = str(child.tag).removeprefix(WORD_NS)
            if name == "t":
                yield child.text or ""
            elif name in CHAR_BY_TAG:
                yield CHAR_BY_TAG[name]
            elif name == "lastRenderedPageBreak":
                self.page_number += 1
            elif name == "txbxContent":
                boxes.append(child)
            elif child.tag not in SKIPPED_TAGS:
                yield from self.iter_text(child, boxes)

    def read_table(self, element: Element) -> None:
        """Read the rows of a table; a row of one cell is framed text and read as paragraphs."""
        for row in element.iter(f"{WORD_NS}tr"):
            cells = list(row.iterchildren(f"{WORD_NS}tc", f"{WORD_NS}sdt"))
            if len(cells) == 1:
                self.walk(cells[0])
            elif next(row.iterancestors(f"{WORD_NS}tr"), None) is None or not is_nested_row(row, element):
                texts = [self.cell_text(cell) for cell in cells]
                if any(texts):
                    self.builder.add(Block(BlockKind.TABLE_ROW, "\t".join(texts), page=self.page_number))
                    self.add_opening_row(texts)

    def cell_text(self, cell: Element) -> str:
        """Return the text of a cell on one line."""
        boxes: list[Element] = []
        return to_one_line(
            " ".join("".join(self.iter_text(paragraph, boxes)) for paragraph in cell.iter(f"{WORD_NS}p"))
        )

    def add_opening_row(self, texts: list[str]) -> None:
        """Add a first row with one filled cell to the opening lines: forms have their title there."""
        if sum(map(bool, texts)) == 1:
            self.builder.add_opening("".join(texts))

    def paragraph_style(self, element: Element) -> ParagraphStyle:
        """Return the style of a paragraph, or the default style."""
        style_element = element.find(f"{WORD_NS}pPr/{WORD_NS}pStyle")
        name = style_element.get(f"{WORD_NS}val", "") if style_element is not None else self.default_style
        return self.styles.get(name, ParagraphStyle())


def is_nested_row(row: Element, table: Element) -> bool:
    """Return True if the row belongs to a table nested in `table`; the outer cell already contains its text."""
    return next(row.iterancestors(f"{WORD_NS}tbl"), None) is not table


def read(data: bytes) -> DocumentContent:
    """Read a DOCX file. Raises UnreadableError."""
    package = ZipPackage(data)
    main_part = package.main_part_name("word/document.xml")
    root = package.require_part(main_part)
    if not root.tag.startswith(WORD_NS):
        message = "unsupported: the main part is not a transitional Word document"
        raise UnreadableError(Reason.UNPARSABLE, CodedMessage(message, "no_transitional_word"))
    parts = dict(package.relationships(main_part).values())
    styles, default = read_styles(package.parse_part(parts.get("styles", "")))
    reader = DocxReader(styles, default, next(root.iter(f"{WORD_NS}lastRenderedPageBreak"), None) is not None)
    body = root.find(f"{WORD_NS}body")
    reader.walk(body if body is not None else root)
    for kind in NOTE_PARTS:
        notes = package.parse_part(parts.get(kind, ""))
        if notes is not None:
            reader.page_number = 0
            reader.walk(notes)
    return reader.builder.build(read_properties(package))


def build_block(text: str, style: ParagraphStyle, depth: int, page: int) -> Block:
    """Build the block of one line of a paragraph."""
    if style.heading_level or style.name == "title":
        return Block(BlockKind.HEADING, text, style.heading_level or 1, page=page)
    if depth:
        return Block(BlockKind.LIST_ITEM, text, depth, page=page)
    if style.name in ("quote", "intense quote"):
        return Block(BlockKind.QUOTE, text, page=page)
    return Block(BlockKind.PARAGRAPH, text, page=page)


def list_depth(element: Element) -> int:
    """Return the depth of a list item, 1 to 9; 0 for other paragraphs."""
    number = element.find(f"{WORD_NS}pPr/{WORD_NS}numPr")
    if number is None:
        return 0
    level = number.find(f"{WORD_NS}ilvl")
    value = level.get(f"{WORD_NS}val", "0") if level is not None else "0"
    return min(int(value), 8) + 1 if value.isdecimal() else 1


def add_opening_paragraph(builder: DocumentBuilder, text: str, element: Element, style: ParagraphStyle) -> None:
    """Add a paragraph as an opening line, with the font size of its first runs or of its style."""
    runs = [run for run in element.iter(f"{WORD_NS}r") if run.find(f"{WORD_NS}t") is not None]
    size = max((font_size(run.find(f"{WORD_NS}rPr")) for run in runs[:5]), default=0.0) or style.font_size
    bold = style.is_bold or any(is_property_on(run.find(f"{WORD_NS}rPr"), "b") for run in runs[:1])
    alignment = element.find(f"{WORD_NS}pPr/{WORD_NS}jc")
    is_centred = alignment.get(f"{WORD_NS}val") == "center" if alignment is not None else style.is_centred
    role = style.name if style.name in ("title", "subtitle") else "heading" if style.heading_level else ""
    builder.add_opening(to_one_line(text[:500]), size, role, bold, is_centred)


def font_size(properties: Element | None) -> float:
    """Return the font size in points that run properties state, 0.0 if none."""
    size = properties.find(f"{WORD_NS}sz") if properties is not None else None
    value = size.get(f"{WORD_NS}val", "") if size is not None else ""
    return int(value) / 2 if value.isdecimal() and len(value) < 5 else 0.0


def is_property_on(properties: Element | None, name: str) -> bool:
    """Return True if the properties switch on a toggle such as `b` (bold)."""
    toggle = properties.find(f"{WORD_NS}{name}") if properties is not None else None
    return toggle is not None and toggle.get(f"{WORD_NS}val", "1") not in ("0", "false", "none")


def read_styles(root: Element | None) -> tuple[dict[str, ParagraphStyle], str]:
    """Return the paragraph styles by id, with inherited values, and the id of the default style."""
    if root is None:
        return {}, ""
    elements = {
        style_element.get(f"{WORD_NS}styleId", ""): style_element
        for style_element in islice(root.iter(f"{WORD_NS}style"), MAX_STYLES)
        if style_element.get(f"{WORD_NS}type", "paragraph") == "paragraph"
    }
    default = next(
        (name for name, style_element in elements.items() if style_element.get(f"{WORD_NS}default") in ("1", "true")),
        "",
    )
    common = font_size(root.find(f"{WORD_NS}docDefaults/{WORD_NS}rPrDefault/{WORD_NS}rPr")) or 10.0
    return {name: resolve_style(name, elements, common) for name in elements}, default


def resolve_style(name: str, elements: dict[str, Element], default_size: float) -> ParagraphStyle:
    """Return a style with the values it inherits from its base styles."""
    chain: list[Element] = []
    while name in elements and elements[name] not in chain and len(chain) < MAX_STYLE_CHAIN:
        chain.append(elements[name])
        base = chain[-1].find(f"{WORD_NS}basedOn")
        name = base.get(f"{WORD_NS}val", "") if base is not None else ""
    names = [style_element.find(f"{WORD_NS}name") for style_element in chain]
    titles = [element.get(f"{WORD_NS}val", "").lower() if element is not None else "" for element in names]
    size = next(
        (size for style_element in chain if (size := font_size(style_element.find(f"{WORD_NS}rPr")))), default_size
    )
    level = next(
        (
            level
            for title, style_element in zip(titles, chain, strict=True)
            if (level := style_heading_level(title, style_element))
        ),
        0,
    )
    alignments = [
        element.get(f"{WORD_NS}val")
        for style_element in chain
        if (element := style_element.find(f"{WORD_NS}pPr/{WORD_NS}jc")) is not None
    ]
    bold = any(is_property_on(style_element.find(f"{WORD_NS}rPr"), "b") for style_element in chain)
    style_name = "title" if "title" in titles[:2] else titles[0]
    return ParagraphStyle(
        style_name, size, 0 if style_name in ("title", "subtitle") else level, bold, alignments[:1] == ["center"]
    )


def style_heading_level(title: str, style: Element) -> int:
    """Return the heading level of a style, 0 if it is not a heading style."""
    if title.startswith("heading ") and title[8:].isdecimal():
        return min(int(title[8:]), 6)
    outline = style.find(f"{WORD_NS}pPr/{WORD_NS}outlineLvl")
    value = outline.get(f"{WORD_NS}val", "") if outline is not None else ""
    return int(value) + 1 if value.isdecimal() and int(value) < 6 else 0
