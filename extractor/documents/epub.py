"""Reader for EPUB: the chapters in reading order, each parsed as an HTML page and used completely."""

from dataclasses import replace

from lxml.etree import _Element as Element

from domain.article import Block, BlockKind
from extractor.article_blocks import build_blocks
from extractor.documents.content import (
    DocumentBuilder,
    DocumentContent,
    FileProperties,
    rights_managed_error,
)
from extractor.documents.office_properties import DC_NAMESPACE, first_element_text
from extractor.documents.zip_package import ZipPackage, resolve_part_name
from extractor.fields.dates.date_parsing import find_date_in_text
from extractor.page.parsed_page import Body, decode_page, parse_page

ROOTFILE_TAG = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
OPF_NAMESPACE = "{http://www.idpf.org/2007/opf}"
FONT_ALGORITHMS = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
)  # these encrypt fonts, not text
ENCRYPTION_METHOD_TAG = "{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"
MAX_CHAPTERS = 5_000


def read(data: bytes) -> DocumentContent:
    """Read an EPUB book. Raises UnreadableError."""
    package = ZipPackage(data)
    reject_encrypted(package.parse_part("META-INF/encryption.xml"))
    container = package.require_part("META-INF/container.xml")
    opf_name = next((element.get("full-path", "") for element in container.iter(ROOTFILE_TAG)), "")
    root = package.require_part(opf_name)
    builder = DocumentBuilder()
    for number, name in enumerate(chapter_names(root, opf_name.rpartition("/")[0])[:MAX_CHAPTERS], 1):
        for block in chapter_blocks(package.read(name), number):
            builder.add(block)
        if builder.is_full:
            break
    # Role "heading": a heading of level 1 is the title of a chapter, so it is no candidate for the title of the book.
    builder.open_with_blocks("heading")
    return builder.build(read_properties(root))


def reject_encrypted(root: Element | None) -> None:
    """Raise UnreadableError if more than fonts is encrypted."""
    for method in root.iter(ENCRYPTION_METHOD_TAG) if root is not None else ():
        if method.get("Algorithm", "") not in FONT_ALGORITHMS:
            raise rights_managed_error("DRM")


def chapter_names(root: Element, folder: str) -> list[str]:
    """Return the parts of the chapters in reading order, without parts outside it (`linear="no"`, a cover)."""
    items = {element.get("id", ""): element.get("href", "") for element in root.iter(f"{OPF_NAMESPACE}item")}
    spine = [
        element.get("idref", "")
        for element in root.iter(f"{OPF_NAMESPACE}itemref")
        if element.get("linear", "yes") != "no"
    ]
    return [resolve_part_name(folder, items[element]) for element in spine if items.get(element)]


def chapter_blocks(chapter_html: bytes, number: int) -> list[Block]:
    """Return all text blocks of a chapter. Pictures are left out: they have no public URL."""
    source = decode_page(chapter_html) if chapter_html.strip() else None
    page = parse_page(source, "") if source is not None else None
    if page is None:
        return []
    lines = tuple(range(len(page.layout.lines)))
    text = "\n".join(line.text for line in page.layout.lines)
    blocks = build_blocks(page, Body(0, lines, text)) if lines else ()
    text_blocks = [block for block in blocks if block.kind is not BlockKind.PICTURE]
    return [replace(block, page=number, links=(), url="") for block in text_blocks]


def read_properties(root: Element) -> FileProperties:
    """Return the metadata of the book, which its publisher wrote."""
    return FileProperties(
        first_element_text(root, f"{DC_NAMESPACE}title"),
        first_element_text(root, f"{DC_NAMESPACE}creator"),
        find_date_in_text(first_element_text(root, f"{DC_NAMESPACE}date")),
        first_element_text(root, f"{DC_NAMESPACE}language"),
        True,
    )
