"""Reader for EPUB: the chapters in reading order, each parsed as an HTML page and used completely."""

import re
from dataclasses import replace

from lxml import etree
from lxml.etree import _Element as Element

from domain.article import Block, BlockKind
from extractor.article_blocks import build_blocks
from extractor.documents.content import (
    DocumentBuilder,
    DocumentContent,
    FileProperties,
    rights_managed_error,
)
from extractor.documents.office.formulas import formula_text
from extractor.documents.office_properties import DC_NAMESPACE, first_element_text
from extractor.documents.zip_package import ZipPackage, resolve_part_name
from extractor.fields.dates.date_parsing import find_date_in_text
from extractor.page import dom
from extractor.page.parsed_page import Body, decode_page, parse_page

ROOTFILE_TAG = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
OPF_NAMESPACE = "{http://www.idpf.org/2007/opf}"
FONT_ALGORITHMS = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
)  # these encrypt fonts, not text
ENCRYPTION_METHOD_TAG = "{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"
MAX_CHAPTERS = 5_000
EMPTY_TAG_RE = re.compile(
    r"<(title|script|style|a|p|div|span|td|[biu]|em|strong|h[1-6])((?:\s[^<>]{0,500})?)/>", re.I
)  # of XHTML
REMOVED_TAG = "removed"
# Phonetic guides, marks of footnotes and hidden elements.
UNREAD_ELEMENTS_XPATH = etree.XPath(
    "//rt | //rp | //*[@hidden] | //*[contains(translate(@style, ' ', ''), 'display:none')]"
    " | //*[contains(@*[name() = 'epub:type'], 'noteref') or @role = 'doc-noteref']"
)


def read(data: bytes) -> DocumentContent:
    """Read an EPUB book: the chapters in its order, or all HTML parts without an order. Raises UnreadableError."""
    package = ZipPackage(data)
    encryption = package.parse_part("META-INF/encryption.xml")
    for method in encryption.iter(ENCRYPTION_METHOD_TAG) if encryption is not None else ():
        if method.get("Algorithm", "") not in FONT_ALGORITHMS:
            raise rights_managed_error("DRM")
    container = package.parse_part("META-INF/container.xml")
    opf_names = (
        element.get("full-path", "") for element in (container.iter(ROOTFILE_TAG) if container is not None else ())
    )
    opf_name = next((name for name in (*opf_names, *package.part_names) if name.endswith(".opf")), "package.opf")
    html_names = [name for name in package.part_names if name.lower().endswith((".xhtml", ".html", ".htm"))]
    root = package.parse_part(opf_name)
    if root is None:
        root = etree.Element("package") if html_names else package.require_part(opf_name)
    names = chapter_names(root, opf_name.rpartition("/")[0]) or html_names
    builder = DocumentBuilder()
    for number, name in enumerate(names[:MAX_CHAPTERS], 1):
        chapter = package.read_optional(name)
        package.check_reference(name)
        for block in chapter_blocks(chapter, number):
            builder.add(block)
        if builder.is_full:
            break
    # Role "heading": a heading of level 1 is the title of a chapter, so it is no candidate for the title of the book.
    builder.open_with_blocks("heading")
    return builder.build(read_properties(root), damaged_parts=package.damaged_parts)


def chapter_names(root: Element, folder: str) -> list[str]:
    """Return the parts of the chapters in reading order, without parts outside it (`linear="no"`, a cover)."""
    items = {element.get("id", ""): element.get("href", "") for element in root.iter(f"{OPF_NAMESPACE}item")}
    spine = [
        element.get("idref", "")
        for element in root.iter(f"{OPF_NAMESPACE}itemref")
        if element.get("linear", "yes") != "no"
    ]
    return list(dict.fromkeys(resolve_part_name(folder, items[element]) for element in spine if items.get(element)))


def chapter_blocks(chapter_html: bytes, number: int) -> list[Block]:
    """Return all text blocks of a chapter. Pictures are left out: they have no public URL."""
    source = decode_page(chapter_html) if chapter_html.strip() else None
    root = dom.parse(EMPTY_TAG_RE.sub(r"<\1\2></\1>", source.text)) if source is not None else None
    if source is None or root is None:
        return []
    unread: list[Element] = UNREAD_ELEMENTS_XPATH(root)  # type: ignore[assignment]
    for element in unread:
        element.tag = REMOVED_TAG
    etree.strip_elements(root, REMOVED_TAG, with_tail=False)
    for formula in root.iter("math"):
        text = formula_text(formula)
        formula[:] = []
        formula.tag, formula.text = "span", text
    page = parse_page(replace(source, text=dom.serialize(root)), "")
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
