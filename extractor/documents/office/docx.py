"""Reader for Word (DOCX): paragraphs with their numbers, headings, items, tables, formulas and notes.

Ignores macros, field codes, comments, hidden text and pictures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from domain.article import Block, BlockKind
from extractor.documents.content import DocumentBuilder, DocumentContent, to_one_line
from extractor.documents.epub import chapter_blocks
from extractor.documents.format_detection import detect_format
from extractor.documents.office.counting import parse_count
from extractor.documents.office.drawing import MATH_NS, drawing_texts, remove_hidden_shapes
from extractor.documents.office.formulas import eq_field_text, formula_text
from extractor.documents.office.word_numbering import PREFIXES, WORD_NS, WordNumbering, word_value
from extractor.documents.office_properties import read_properties
from extractor.documents.reader import read_content
from extractor.documents.zip_package import RELATIONSHIP_ID, ZipPackage

# Removed before reading: deleted text, phonetic guides (`rt`), earlier properties.
REMOVED_TAGS = tuple(
    f"{WORD_NS}{name}" for name in ("del", "moveFrom", "rt", "sectPr", "pPrChange", "rPrChange", "numberingChange")
)
SKIPPED_TAGS = frozenset((f"{WORD_NS}pPr", f"{WORD_NS}rPr"))
CHAR_BY_TAG = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
MAX_STYLES = 5_000
MAX_STYLE_CHAIN = 20  # length of a chain of inherited styles
MAX_INSTRUCTION_CHARS = 5_000  # of a field
MAX_CHUNK_DEPTH = 2  # of Word files inside Word files
CHUNK_TEXT_FORMATS = ("rtf", "txt", "md")
NOTE_PARTS = ("footnotes", "endnotes")


@dataclass(frozen=True)
class Style:
    """A style: `name` in lower case, font size in points (0: unknown), heading level (0: none), list and level."""

    name: str = ""
    font_size: float = 0.0
    heading_level: int = 0
    is_bold: bool = False
    is_centred: bool = False
    is_hidden: bool = False
    list_name: str = ""
    list_level: str = ""


@dataclass
class DocxReader:
    """Converts the XML of one document to blocks and opening lines. `page_number` is 0 in a document without pages."""

    package: ZipPackage
    styles: dict[str, Style]
    default_style: str
    numbering: WordNumbering
    parts: dict[str, tuple[str, str]]  # relationships of the main part
    chunk_depth: int
    page_number: int = 0
    is_in_cell: bool = False
    instruction: str = ""  # of the current field
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)

    def walk(self, parent: Element) -> None:
        """Read all paragraphs, tables and embedded files in an element."""
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
            elif child.tag == f"{WORD_NS}altChunk":
                self.read_chunk(child.get(RELATIONSHIP_ID, ""))
            elif child.tag not in SKIPPED_TAGS:
                self.walk(child)

    def read_paragraph(self, element: Element) -> None:
        """Read one paragraph, then the text boxes anchored in it."""
        boxes: list[Element] = []
        label, text = self.paragraph_text(element, boxes)
        style = self.styles.get(self.style_name(element), Style())
        depth = 0 if label else list_depth(element)
        for line in text.split("\n") if style.heading_level == 0 and style.name != "title" else [text]:
            line = " ".join(line.split())
            # Of paragraphs without text, only those in cells are read: they number the rows.
            self.builder.add(
                build_block(label + line if line or self.is_in_cell else "", style, depth, self.page_number)
            )
            label = "" if line else label
        if self.builder.needs_opening and text.strip():
            runs = [run for run in element.iter(f"{WORD_NS}r") if run.find(f"{WORD_NS}t") is not None]
            size = max((font_size(run) for run in runs[:5]), default=0.0) or style.font_size
            bold = style.is_bold or any(is_property_on(run.find(f"{WORD_NS}rPr"), "b") for run in runs[:1])
            alignment = word_value(element, "w:pPr/w:jc")
            is_centred = alignment == "center" if alignment else style.is_centred
            role = style.name if style.name in ("title", "subtitle") else "heading" if style.heading_level else ""
            self.builder.add_opening(to_one_line(text[:500]), size, role, bold, is_centred)
        for box in boxes:
            self.walk(box)

    def paragraph_text(self, element: Element, boxes: list[Element]) -> tuple[str, str]:
        """Return the automatic number and the text of a paragraph; append its text boxes to `boxes`."""
        style_name = self.style_name(element)
        style = self.styles.get(style_name, Style())
        own_list, own_level = (word_value(element, f"w:pPr/w:numPr/w:{name}") for name in ("numId", "ilvl"))
        text = "".join(self.iter_text(element, boxes, style.is_hidden))
        if not text.strip() and is_property_on(element.find("w:pPr/w:rPr", PREFIXES), "vanish", style.is_hidden):
            return "", ""  # neither shown nor counted
        label = self.numbering.next_label(own_list or style.list_name, own_level or style.list_level, style_name)
        return label, text

    def iter_text(self, element: Element, boxes: list[Element], is_hidden: bool) -> Iterator[str]:
        """Yield the displayed text of the runs of a paragraph; append its text boxes to `boxes`."""
        for child in element:
            name = str(child.tag).removeprefix(WORD_NS)
            if name == "r":
                properties = child.find(f"{WORD_NS}rPr")
                style = self.styles.get(word_value(properties, "w:rStyle"), Style())
                if not is_property_on(properties, "vanish", is_hidden != style.is_hidden):
                    yield from self.iter_text(child, boxes, is_hidden)
            elif name == "t":
                yield child.text or ""
            elif name in CHAR_BY_TAG:
                yield CHAR_BY_TAG[name]
            elif name == "instrText":
                self.instruction = (self.instruction + (child.text or ""))[:MAX_INSTRUCTION_CHARS]
            elif name in ("fldChar", "fldSimple"):
                instruction, self.instruction = child.get(f"{WORD_NS}instr", self.instruction), ""
                yield eq_field_text(instruction)
                yield from self.iter_text(child, boxes, is_hidden)
            elif name == "lastRenderedPageBreak":
                self.page_number += self.page_number > 0
            elif name == "txbxContent":
                boxes.append(child)
            elif name == f"{MATH_NS}oMath":
                yield formula_text(child)
            elif child.tag not in SKIPPED_TAGS:
                yield from self.iter_text(child, boxes, is_hidden)

    def read_table(self, element: Element) -> None:
        """Read the rows of a table; a row of one cell is framed text and read as paragraphs."""
        for row in iter_own(element, f"{WORD_NS}tr"):
            cells = list(iter_own(row, f"{WORD_NS}tc"))
            if is_property_on(row.find(f"{WORD_NS}trPr"), "hidden"):
                continue
            if len(cells) == 1:
                self.walk(cells[0])
                continue
            texts = [self.cell_text(cell) for cell in cells]
            if any(texts):
                self.builder.add(Block(BlockKind.TABLE_ROW, "\t".join(texts), page=self.page_number))
            if sum(map(bool, texts)) == 1:  # forms have their title there
                self.builder.add_opening("".join(texts))

    def cell_text(self, cell: Element) -> str:
        """Return the text of a cell on one line, with its text boxes and nested tables."""
        outside = self.builder, self.is_in_cell
        self.builder, self.is_in_cell = DocumentBuilder(), True
        self.walk(cell)
        text = " ".join(block.text for block in self.builder.blocks)
        self.builder, self.is_in_cell = outside
        return to_one_line(text)

    def read_chunk(self, relationship: str) -> None:
        """Read a file that is embedded as text (altChunk): HTML, MHTML, RTF, plain text or Word."""
        name = self.parts.get(relationship, ("", ""))[1]
        chunk = self.package.read_optional(name)
        format_name = detect_format(chunk, name)
        if b"mime-version:" in chunk[:1_000].lower():
            pages = [part for part in message_from_bytes(chunk).walk() if part.get_content_type() == "text/html"]
            payload = pages[0].get_payload(decode=True) if pages else b""
            format_name, chunk = "", payload if isinstance(payload, bytes) else b""
        blocks: Sequence[Block] = ()
        if format_name == "docx" and self.chunk_depth < MAX_CHUNK_DEPTH:
            blocks = read(chunk, self.chunk_depth + 1).blocks
        elif format_name in CHUNK_TEXT_FORMATS:
            content = read_content(chunk, format_name)
            blocks = content.blocks if isinstance(content, DocumentContent) else ()
        elif not format_name:
            blocks = chapter_blocks(chunk, self.page_number)
        self.package.check_reference(name or relationship)
        for block in blocks:
            self.builder.add(replace(block, page=self.page_number))

    def style_name(self, element: Element) -> str:
        """Return the id of the style of a paragraph."""
        return word_value(element, "w:pPr/w:pStyle") or self.default_style


def iter_own(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table, or the cells of a row, without those of nested tables."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in (f"{WORD_NS}tc", f"{WORD_NS}tbl"):
            yield from iter_own(child, tag)


def read(data: bytes, chunk_depth: int = 0) -> DocumentContent:
    """Read a DOCX file, which is in `chunk_depth` other files. Raises UnreadableError."""
    package = ZipPackage(data)
    main_part = package.main_part_name("word/document.xml")
    root = read_part(package.require_part(main_part))
    parts = package.relationships(main_part)
    part_names = dict(parts.values())
    styles, default = read_styles(package.parse_part(part_names.get("styles", "")))
    numbering = WordNumbering(package.parse_part(part_names.get("numbering", "")))
    has_pages = next(root.iter(f"{WORD_NS}lastRenderedPageBreak"), None) is not None
    reader = DocxReader(package, styles, default, numbering, parts, chunk_depth, int(has_pages))
    body = root.find(f"{WORD_NS}body")
    reader.walk(body if body is not None else root)
    reader.page_number = 0
    for text in drawing_texts(package, main_part):
        reader.builder.add(Block(BlockKind.PARAGRAPH, text))
    for kind in NOTE_PARTS:
        notes = package.parse_part(part_names.get(kind, ""))
        if notes is not None:
            reader.walk(read_part(notes))
    return reader.builder.build(read_properties(package), damaged_parts=package.damaged_parts)


def read_part(root: Element) -> Element:
    """Return the root of a part without deleted text, phonetic guides and hidden shapes."""
    for mark in root.findall(".//w:pPr/w:rPr/*", PREFIXES):
        if mark.tag in (f"{WORD_NS}del", f"{WORD_NS}moveFrom"):  # a deleted paragraph mark is not shown
            mark.tag = f"{WORD_NS}vanish"
    etree.strip_elements(root, *REMOVED_TAGS)
    remove_hidden_shapes(root)
    return root


def build_block(text: str, style: Style, depth: int, page: int) -> Block:
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
    if element.find("w:pPr/w:numPr", PREFIXES) is None:
        return 0
    return min(parse_count(word_value(element, "w:pPr/w:numPr/w:ilvl"), 0), 8) + 1


def font_size(element: Element | None) -> float:
    """Return the font size in points that a run or style states, 0.0 if none."""
    value = word_value(element, "w:rPr/w:sz")
    return int(value) / 2 if value.isdecimal() and len(value) < 5 else 0.0


def is_property_on(properties: Element | None, name: str, default: bool = False) -> bool:
    """Return True if the properties switch on a toggle such as `b` (bold); `default` if they do not mention it."""
    toggle = properties.find(f"{WORD_NS}{name}") if properties is not None else None
    return default if toggle is None else toggle.get(f"{WORD_NS}val", "1") not in ("0", "false", "none", "off")


def read_styles(root: Element | None) -> tuple[dict[str, Style], str]:
    """Return the styles of paragraphs and characters by id, with inherited values, and the id of the default style."""
    if root is None:
        return {}, ""
    elements = {
        element.get(f"{WORD_NS}styleId", ""): element
        for element in islice(root.iter(f"{WORD_NS}style"), MAX_STYLES)
        if element.get(f"{WORD_NS}type", "paragraph") in ("paragraph", "character")
    }
    default = next(
        (
            name
            for name, element in elements.items()
            if element.get(f"{WORD_NS}default") in ("1", "true") and element.get(f"{WORD_NS}type") != "character"
        ),
        "",
    )
    common = font_size(root.find(f"{WORD_NS}docDefaults/{WORD_NS}rPrDefault")) or 10.0
    return {name: resolve_style(name, elements, common) for name in elements}, default


def resolve_style(name: str, elements: dict[str, Element], default_size: float) -> Style:
    """Return a style with the values it inherits from its base styles."""
    chain: list[Element] = []
    while name in elements and elements[name] not in chain and len(chain) < MAX_STYLE_CHAIN:
        chain.append(elements[name])
        name = word_value(chain[-1], "w:basedOn")
    titles = [word_value(element, "w:name").lower() for element in chain]
    levels = (style_heading_level(title, element) for title, element in zip(titles, chain, strict=True))
    style_name = "title" if "title" in titles[:2] else titles[0]

    def inherited_value(path: str) -> str:
        return next(filter(None, (word_value(element, path) for element in chain)), "")

    is_bold = is_hidden = False
    for properties in (element.find(f"{WORD_NS}rPr") for element in reversed(chain)):
        is_bold, is_hidden = is_property_on(properties, "b", is_bold), is_property_on(properties, "vanish", is_hidden)

    return Style(
        style_name,
        next(filter(None, map(font_size, chain)), default_size),
        0 if style_name in ("title", "subtitle") else next(filter(None, levels), 0),
        is_bold,
        inherited_value("w:pPr/w:jc") == "center",
        is_hidden,
        inherited_value("w:pPr/w:numPr/w:numId"),
        inherited_value("w:pPr/w:numPr/w:ilvl"),
    )


def style_heading_level(title: str, style: Element) -> int:
    """Return the heading level of a style, 0 if it is not a heading style."""
    if title.startswith("heading ") and title[8:].isdecimal():
        return min(parse_count(title[8:], 6), 6)
    level = parse_count(word_value(style, "w:pPr/w:outlineLvl"), 9)
    return level + 1 if level < 6 else 0
