"""Word's DOCX: its paragraphs, headings, items, tables and notes. Macros, fields and pictures are left alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element as Element

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import MAX_OPENING, BlockList, Content, OpeningLine, UnreadableError, one_line
from extractor.documents.office_properties import read_properties
from extractor.documents.package import Package

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
SKIPPED = frozenset((f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", FALLBACK, f"{W}instrText", f"{W}sectPr"))
SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
MAX_STYLES = 5_000
MAX_CHAIN = 20  # styles that build on one another
NOTES = ("footnotes", "endnotes")


@dataclass(frozen=True)
class Style:
    """What a style says of its paragraphs: `name` in lower case, size in points (0: not said), level of a heading."""

    name: str = ""
    size: float = 0.0
    level: int = 0
    bold: bool = False
    centred: bool = False


class Reader:
    """Walks one document."""

    def __init__(self, styles: dict[str, Style], default: str, has_pages: bool) -> None:
        self.styles = styles
        self.default = default
        self.page = int(has_pages)
        self.found = BlockList()
        self.opening: list[OpeningLine] = []

    def walk(self, parent: Element) -> None:
        """All paragraphs and tables below an element."""
        for child in parent:
            if self.found.full:
                return
            if child.tag == f"{W}p":
                if len(child):
                    self.paragraph(child)
                else:
                    self.found.skip()
            elif child.tag == f"{W}tbl":
                self.table(child)
            elif child.tag not in SKIPPED:
                self.walk(child)

    def paragraph(self, element: Element) -> None:
        """One paragraph, and the text boxes that hang on it."""
        boxes: list[Element] = []
        text = "".join(self.pieces(element, boxes))
        style = self.style_of(element)
        depth = depth_of(element)
        for line in text.split("\n") if style.level == 0 and style.name != "title" else [text]:
            self.found.add(block_of(" ".join(line.split()), style, depth, self.page))
        if len(self.opening) < MAX_OPENING and text.strip():
            self.opening.append(opening_line(text, element, style, len(self.opening)))
        for box in boxes:
            self.walk(box)

    def pieces(self, element: Element, boxes: list[Element]) -> Iterator[str]:
        """The text of a paragraph's runs; text boxes are put aside."""
        for child in element:
            name = str(child.tag).removeprefix(W)
            if name == "t":
                yield child.text or ""
            elif name in SIGNS:
                yield SIGNS[name]
            elif name == "lastRenderedPageBreak":
                self.page += 1
            elif name == "txbxContent":
                boxes.append(child)
            elif child.tag not in SKIPPED:
                yield from self.pieces(child, boxes)

    def table(self, element: Element) -> None:
        """Rows of cells; a row of one cell is text that somebody framed."""
        for row in element.iter(f"{W}tr"):
            cells = list(row.iterchildren(f"{W}tc", f"{W}sdt"))
            if len(cells) == 1:
                self.walk(cells[0])
            elif next(row.iterancestors(f"{W}tr"), None) is None or not inside(row, element):
                texts = [self.cell_text(cell) for cell in cells]
                if any(texts):
                    self.found.add(Block(BlockKind.ROW, "\t".join(texts), page=self.page))
                    self.note_row(texts)

    def cell_text(self, cell: Element) -> str:
        """The text of a cell on one line."""
        boxes: list[Element] = []
        return one_line(" ".join("".join(self.pieces(one, boxes)) for one in cell.iter(f"{W}p")))

    def note_row(self, texts: list[str]) -> None:
        """The first rows may hold the title, as forms have it."""
        if len(self.opening) < MAX_OPENING and sum(map(bool, texts)) == 1:
            self.opening.append(OpeningLine("".join(texts)[:500], place=len(self.opening)))

    def style_of(self, element: Element) -> Style:
        """The style of a paragraph."""
        stated = element.find(f"{W}pPr/{W}pStyle")
        name = stated.get(f"{W}val", "") if stated is not None else self.default
        return self.styles.get(name, Style())


def inside(row: Element, table: Element) -> bool:
    """The row belongs to a table within `table`, whose cell has its text already."""
    return next(row.iterancestors(f"{W}tbl"), None) is not table


def read(data: bytes) -> Content:
    """The text of a DOCX file. Raises UnreadableError."""
    package = Package(data)
    main = package.office_main("word/document.xml")
    root = package.needed(main)
    if not root.tag.startswith(W):
        raise UnreadableError(Reason.UNPARSABLE, "its main part is no Word document of the transitional kind")
    parts = dict(package.targets(main).values())
    styles, default = read_styles(package.tree(parts.get("styles", "")))
    reader = Reader(styles, default, next(root.iter(f"{W}lastRenderedPageBreak"), None) is not None)
    body = root.find(f"{W}body")
    reader.walk(body if body is not None else root)
    for kind in NOTES:
        notes = package.tree(parts.get(kind, ""))
        if notes is not None:
            reader.page = 0
            reader.walk(notes)
    return Content(tuple(reader.found.blocks), tuple(reader.opening), read_properties(package), cut=reader.found.cut)


def block_of(text: str, style: Style, depth: int, page: int) -> Block:
    """One line of a paragraph."""
    if style.level or style.name == "title":
        return Block(BlockKind.HEADING, text, style.level or 1, page=page)
    if depth:
        return Block(BlockKind.ITEM, text, depth, page=page)
    if style.name in ("quote", "intense quote"):
        return Block(BlockKind.QUOTE, text, page=page)
    return Block(BlockKind.PARAGRAPH, text, page=page)


def depth_of(element: Element) -> int:
    """How deep an item of a list stands, 0 for what is none."""
    number = element.find(f"{W}pPr/{W}numPr")
    if number is None:
        return 0
    level = number.find(f"{W}ilvl")
    value = level.get(f"{W}val", "0") if level is not None else "0"
    return min(int(value), 8) + 1 if value.isdecimal() else 1


def opening_line(text: str, element: Element, style: Style, place: int) -> OpeningLine:
    """A paragraph as the title's rules see it: its first run's size, or its style's."""
    runs = [run for run in element.iter(f"{W}r") if run.find(f"{W}t") is not None]
    size = max((size_of(run.find(f"{W}rPr")) for run in runs[:5]), default=0.0) or style.size
    bold = style.bold or any(is_on(run.find(f"{W}rPr"), "b") for run in runs[:1])
    alignment = element.find(f"{W}pPr/{W}jc")
    centred = alignment.get(f"{W}val") == "center" if alignment is not None else style.centred
    role = style.name if style.name in ("title", "subtitle") else "heading" if style.level else ""
    return OpeningLine(one_line(text[:500]), size, role, -1.0, bold, centred, place)


def size_of(properties: Element | None) -> float:
    """The size of letters in points that properties of a run state, 0 for none."""
    size = properties.find(f"{W}sz") if properties is not None else None
    value = size.get(f"{W}val", "") if size is not None else ""
    return int(value) / 2 if value.isdecimal() and len(value) < 5 else 0.0


def is_on(properties: Element | None, name: str) -> bool:
    """Properties switch something on."""
    found = properties.find(f"{W}{name}") if properties is not None else None
    return found is not None and found.get(f"{W}val", "1") not in ("0", "false", "none")


def read_styles(root: Element | None) -> tuple[dict[str, Style], str]:
    """The styles of paragraphs by id, those they build on included, and the id of the default one."""
    if root is None:
        return {}, ""
    elements = {
        one.get(f"{W}styleId", ""): one
        for one in islice(root.iter(f"{W}style"), MAX_STYLES)
        if one.get(f"{W}type", "paragraph") == "paragraph"
    }
    default = next((name for name, one in elements.items() if one.get(f"{W}default") in ("1", "true")), "")
    common = size_of(root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")) or 10.0
    return {name: resolved_style(name, elements, common) for name in elements}, default


def resolved_style(name: str, elements: dict[str, Element], common: float) -> Style:
    """A style with what it takes from those it builds on."""
    chain: list[Element] = []
    while name in elements and elements[name] not in chain and len(chain) < MAX_CHAIN:
        chain.append(elements[name])
        base = chain[-1].find(f"{W}basedOn")
        name = base.get(f"{W}val", "") if base is not None else ""
    names = [one.find(f"{W}name") for one in chain]
    titles = [found.get(f"{W}val", "").lower() if found is not None else "" for found in names]
    size = next((size for one in chain if (size := size_of(one.find(f"{W}rPr")))), common)
    level = next((level for title, one in zip(titles, chain, strict=True) if (level := level_of(title, one))), 0)
    centred = [found.get(f"{W}val") for one in chain if (found := one.find(f"{W}pPr/{W}jc")) is not None]
    bold = any(is_on(one.find(f"{W}rPr"), "b") for one in chain)
    known = "title" if "title" in titles[:2] else titles[0]
    return Style(known, size, 0 if known in ("title", "subtitle") else level, bold, centred[:1] == ["center"])


def level_of(title: str, style: Element) -> int:
    """The level of a heading's style, 0 for what is none."""
    if title.startswith("heading ") and title[8:].isdecimal():
        return min(int(title[8:]), 6)
    outline = style.find(f"{W}pPr/{W}outlineLvl")
    value = outline.get(f"{W}val", "") if outline is not None else ""
    return int(value) + 1 if value.isdecimal() and int(value) < 6 else 0
