"""EPUB: its chapters in the order of reading, each read as the page of HTML that it is, and kept whole."""

from dataclasses import replace

from lxml.etree import _Element as Element

from docstore.model import Block, BlockKind, Reason
from extractor.documents.content import BlockList, Content, Properties, UnreadableError, opening_lines
from extractor.documents.office_properties import DC, text_of
from extractor.documents.package import Package, resolved
from extractor.fields.dates.date_text import date_in_text
from extractor.methods.contract import Body
from extractor.page.document import lay_out, source_of
from extractor.page.structure import blocks_of

CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
OPF = "{http://www.idpf.org/2007/opf}"
FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # fonts alone, no text
ENCRYPTION = "{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"
MAX_CHAPTERS = 5_000


def read(data: bytes) -> Content:
    """The text of an EPUB book. Raises UnreadableError."""
    package = Package(data)
    refuse_encrypted(package.tree("META-INF/encryption.xml"))
    container = package.needed("META-INF/container.xml")
    main = next((one.get("full-path", "") for one in container.iter(CONTAINER)), "")
    root = package.needed(main)
    found = BlockList()
    for number, name in enumerate(chapters(root, main.rpartition("/")[0])[:MAX_CHAPTERS], 1):
        for block in chapter_blocks(package.read(name), number):
            found.add(block)
        if found.full:
            break
    opening = opening_lines(found.blocks, "heading")  # each chapter has its own of the first level
    return Content(tuple(found.blocks), opening, properties_of(root), cut=found.cut)


def refuse_encrypted(root: Element | None) -> None:
    """Raise where more than fonts is encrypted."""
    for method in root.iter(ENCRYPTION) if root is not None else ():
        if method.get("Algorithm", "") not in FONT_ALGORITHMS:
            raise UnreadableError(Reason.ENCRYPTED, "its text is encrypted (digital rights management)")


def chapters(root: Element, folder: str) -> list[str]:
    """The parts of the chapters, in the order of reading; what stands beside that order (a cover) is left out."""
    items = {one.get("id", ""): one.get("href", "") for one in root.iter(f"{OPF}item")}
    spine = [one.get("idref", "") for one in root.iter(f"{OPF}itemref") if one.get("linear", "yes") != "no"]
    return [resolved(folder, items[one]) for one in spine if items.get(one)]


def chapter_blocks(page: bytes, number: int) -> list[Block]:
    """All text of a chapter; pictures have no URL that anybody could ask for."""
    source = source_of(page) if page.strip() else None
    document = lay_out(source, "") if source is not None else None
    if document is None:
        return []
    lines = tuple(range(len(document.layout.lines)))
    text = "\n".join(line.text for line in document.layout.lines)
    blocks = blocks_of(document, Body(0, lines, text)) if lines else ()
    kept = [block for block in blocks if block.kind is not BlockKind.PICTURE]
    return [replace(block, page=number, links=(), url="") for block in kept]


def properties_of(root: Element) -> Properties:
    """What the book says of itself, which its publisher wrote, and no program."""
    return Properties(
        text_of(root, f"{DC}title"),
        text_of(root, f"{DC}creator"),
        date_in_text(text_of(root, f"{DC}date")),
        text_of(root, f"{DC}language"),
        True,
    )
