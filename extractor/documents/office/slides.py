"""PowerPoint's PPTX: a slide is a page; its title a heading, then its text, tables, and what its speaker notes say."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from docstore.model import Block, BlockKind
from extractor.documents.content import MAX_OPENING, MAX_PAGES, BlockList, Content, OpeningLine, one_line
from extractor.documents.office_properties import read_properties
from extractor.documents.package import Package

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
TITLES = {"title": "title", "ctrTitle": "title", "subTitle": "subtitle"}
FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr"))  # number, day, foot and head of slides


def read(data: bytes) -> Content:
    """The text of a PPTX file. Raises UnreadableError."""
    package = Package(data)
    main = package.office_main("ppt/presentation.xml")
    slides = slide_names(package, main)
    found, opening = BlockList(), list[OpeningLine]()
    for number, name in enumerate(slides[:MAX_PAGES], 1):
        if found.full:
            break
        root = package.tree(name)
        for block, line in shapes(root, number) if root is not None else ():
            found.add(block)
            if line is not None and number == first_page(found) and len(opening) < MAX_OPENING:
                opening.append(line)
        for text in (*diagram_texts(package, name), *notes_of(package, name)):
            found.add(Block(BlockKind.PARAGRAPH, text, page=number))
    cut = found.cut or (f"{MAX_PAGES:,} of {len(slides):,} slides" if len(slides) > MAX_PAGES else "")
    return Content(tuple(found.blocks), tuple(opening), read_properties(package), 0.0, cut)


def first_page(found: BlockList) -> int:
    """The first slide that has text."""
    return found.blocks[0].page if found.blocks else 0


def slide_names(package: Package, main: str) -> list[str]:
    """The parts of the slides in the order in which they are shown."""
    targets = package.targets(main)
    root = package.needed(main)
    ids = [one.get(f"{R}id", "") for one in root.iter(f"{P}sldId")]
    return [targets[one][1] for one in ids if one in targets and targets[one][1] in package]


def shapes(root: Element, number: int) -> Iterator[tuple[Block, OpeningLine | None]]:
    """The blocks of a slide in the order of its shapes, with what the title's rules see of each."""
    place = 0
    for element in walk(root):
        if element.tag == f"{A}tbl":
            for row in element.iter(f"{A}tr"):
                cells = [one_line(" ".join(texts_of(cell))) for cell in row.iter(f"{A}tc")]
                yield Block(BlockKind.ROW, "\t".join(cells) if any(cells) else "", page=number), None
            continue
        kind = placeholder(element)
        role = TITLES.get(kind, "")
        place += 1
        for paragraph in element.iter(f"{A}p"):
            text = one_line(text_of(paragraph))
            if not text or kind in FURNITURE:
                continue
            line = OpeningLine(text[:500], size_of(paragraph), role, place=place)
            yield block_of(text, role, paragraph, number), line


def walk(element: Element) -> Iterator[Element]:
    """The text bodies and tables below an element, in the file's order."""
    for child in element:
        if child.tag == FALLBACK:
            continue
        if child.tag in (f"{P}txBody", f"{A}tbl"):
            yield child
        else:
            yield from walk(child)


def placeholder(body: Element) -> str:
    """What the layout calls the shape around a text body: `title`, `body` ..., "" for nothing."""
    shape = body.getparent()
    found = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph") if shape is not None else None
    return found.get("type", "body") if found is not None else ""


def block_of(text: str, role: str, paragraph: Element, number: int) -> Block:
    """A paragraph of a slide."""
    if role == "title":
        return Block(BlockKind.HEADING, text, 2, page=number)
    properties = paragraph.find(f"{A}pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    if level.isdecimal() and int(level) > 0:
        return Block(BlockKind.ITEM, text, min(int(level) + 1, 9), page=number)
    return Block(BlockKind.PARAGRAPH, text, page=number)


def text_of(paragraph: Element) -> str:
    """The text of a paragraph."""
    parts = []
    for element in paragraph.iter(f"{A}t", f"{A}br", f"{A}tab"):
        parts.append(element.text or "" if element.tag == f"{A}t" else " ")
    return "".join(parts)


def texts_of(element: Element) -> Iterator[str]:
    """The paragraphs below an element."""
    return (text_of(paragraph) for paragraph in element.iter(f"{A}p"))


def size_of(paragraph: Element) -> float:
    """The largest size of letters that the runs of a paragraph state, in points; 0 for none."""
    values = [run.get("sz", "") for run in paragraph.iter(f"{A}rPr")]
    return max((int(value) / 100 for value in values if value.isdecimal() and len(value) < 7), default=0.0)


def notes_of(package: Package, slide: str) -> list[str]:
    """The paragraphs of a slide's speaker notes."""
    name = next((name for kind, name in package.targets(slide).values() if kind == "notesSlide"), "")
    root = package.tree(name)
    if root is None:
        return []
    bodies = [body for body in walk(root) if body.tag != f"{A}tbl" and placeholder(body) == "body"]
    return [text for body in bodies for paragraph in texts_of(body) if (text := one_line(paragraph))]


def diagram_texts(package: Package, slide: str) -> list[str]:
    """The paragraphs of a slide's diagrams (SmartArt)."""
    names = [name for kind, name in package.targets(slide).values() if kind == "diagramData"]
    roots = [root for name in names if (root := package.tree(name)) is not None]
    return [text for root in roots for paragraph in texts_of(root) if (text := one_line(paragraph))]
