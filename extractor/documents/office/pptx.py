"""Reader for PowerPoint (PPTX): each shown slide is a page with its title, text, tables, charts and speaker notes."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from domain.article import Block, BlockKind
from extractor.documents.content import (
    MAX_PAGES,
    DocumentBuilder,
    DocumentContent,
    OpeningLine,
    to_one_line,
)
from extractor.documents.office.drawing import (
    DRAWING_NS,
    drawing_paragraph_text,
    drawing_texts,
    remove_hidden_shapes,
)
from extractor.documents.office_properties import read_properties
from extractor.documents.zip_package import RELATIONSHIP_ID, ZipPackage

PRESENTATION_NS = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
ROLE_BY_PLACEHOLDER = {"title": "title", "ctrTitle": "title", "subTitle": "subtitle"}
IGNORED_PLACEHOLDERS = frozenset(("sldNum", "dt", "ftr", "hdr"))  # slide number, date, footer, header


def read(data: bytes) -> DocumentContent:
    """Read a PPTX file. Raises UnreadableError."""
    package = ZipPackage(data)
    main_part = package.main_part_name("ppt/presentation.xml")
    slides = slide_names(package, main_part)
    builder = DocumentBuilder()
    for number, name in enumerate(slides[:MAX_PAGES], 1):
        if builder.is_full:
            break
        root = package.parse_part(name)
        if root is None or root.get("show") in ("0", "false"):
            continue
        remove_hidden_shapes(root)
        for block, line in iter_shape_blocks(root, number):
            builder.add(block)
            is_first_slide = bool(builder.blocks) and number == builder.blocks[0].page
            if line is not None and is_first_slide and builder.needs_opening:
                builder.opening.append(line)
        for text in (*drawing_texts(package, name), *read_notes(package, name)):
            builder.add(Block(BlockKind.PARAGRAPH, text, page=number))
    truncation = f"{MAX_PAGES:,} of {len(slides):,} slides" if len(slides) > MAX_PAGES else ""
    return builder.build(read_properties(package), truncation, package.damaged_parts)


def slide_names(package: ZipPackage, main: str) -> list[str]:
    """Return the names of the slide parts in presentation order."""
    targets = package.relationships(main)
    root = package.require_part(main)
    ids = [slide_id.get(RELATIONSHIP_ID, "") for slide_id in root.iter(f"{PRESENTATION_NS}sldId")]
    names = [targets.get(slide_id, ("", slide_id))[1] for slide_id in ids]
    return list(filter(package.check_reference, names))


def iter_shape_blocks(root: Element, number: int) -> Iterator[tuple[Block, OpeningLine | None]]:
    """Yield the blocks of a slide in the order of its shapes, each with its opening line (None for table rows)."""
    paragraph_number = 0
    for element in iter_text_shapes(root):
        if element.tag == f"{DRAWING_NS}tbl":
            for row in element.iter(f"{DRAWING_NS}tr"):
                cells = [
                    to_one_line(" ".join(map(drawing_paragraph_text, cell.iter(f"{DRAWING_NS}p"))))
                    for cell in row.iter(f"{DRAWING_NS}tc")
                ]
                yield Block(BlockKind.TABLE_ROW, "\t".join(cells) if any(cells) else "", page=number), None
            continue
        kind = placeholder_type(element)
        role = ROLE_BY_PLACEHOLDER.get(kind, "")
        paragraph_number += 1
        for paragraph in element.iter(f"{DRAWING_NS}p"):
            text = to_one_line(drawing_paragraph_text(paragraph))
            if not text or kind in IGNORED_PLACEHOLDERS:
                continue
            line = OpeningLine(text[:500], font_size(paragraph), role, paragraph_number=paragraph_number)
            yield build_block(text, role, paragraph, number), line


def iter_text_shapes(element: Element) -> Iterator[Element]:
    """Yield the text bodies and tables in an element, in the order of the file."""
    for child in element:
        if child.tag in (f"{PRESENTATION_NS}txBody", f"{DRAWING_NS}tbl"):
            yield child
        else:
            yield from iter_text_shapes(child)


def placeholder_type(body: Element) -> str:
    """Return the placeholder type of the shape around a text body (`title`, `body` ...), or an empty string."""
    shape = body.getparent()
    placeholder = (
        shape.find(f"{PRESENTATION_NS}nvSpPr/{PRESENTATION_NS}nvPr/{PRESENTATION_NS}ph") if shape is not None else None
    )
    return placeholder.get("type", "body") if placeholder is not None else ""


def build_block(text: str, role: str, paragraph: Element, number: int) -> Block:
    """Build the block of one paragraph of a slide."""
    if role == "title":
        return Block(BlockKind.HEADING, text, 2, page=number)
    properties = paragraph.find(f"{DRAWING_NS}pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    if level.isdecimal() and int(level) > 0:
        return Block(BlockKind.LIST_ITEM, text, min(int(level) + 1, 9), page=number)
    return Block(BlockKind.PARAGRAPH, text, page=number)


def font_size(paragraph: Element) -> float:
    """Return the largest font size in points that the runs of a paragraph state, 0.0 if none."""
    values = [run.get("sz", "") for run in paragraph.iter(f"{DRAWING_NS}rPr")]
    return max((int(value) / 100 for value in values if value.isdecimal() and len(value) < 7), default=0.0)


def read_notes(package: ZipPackage, slide: str) -> list[str]:
    """Return the paragraphs of the speaker notes of a slide."""
    name = next((name for kind, name in package.relationships(slide).values() if kind == "notesSlide"), "")
    root = package.parse_part(name)
    if root is None:
        return []
    bodies = [
        body for body in iter_text_shapes(root) if body.tag != f"{DRAWING_NS}tbl" and placeholder_type(body) == "body"
    ]
    paragraphs = (paragraph for body in bodies for paragraph in body.iter(f"{DRAWING_NS}p"))
    return [text for paragraph in paragraphs if (text := to_one_line(drawing_paragraph_text(paragraph)))]
