"""What files of Office and OpenDocument say of themselves: title, author, day, language."""

from lxml.etree import _Element as Element

from extractor.documents.content import Properties, one_line
from extractor.documents.package import Package
from extractor.fields.dates.date_text import date_in_text

DC = "{http://purl.org/dc/elements/1.1/}"
TERMS = "{http://purl.org/dc/terms/}"
ODF = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"


def read_properties(package: Package, part: str = "docProps/core.xml") -> Properties:
    """The properties in a part of a file."""
    root = package.tree(part)
    if root is None:
        return Properties()
    return Properties(
        text_of(root, f"{DC}title"),
        text_of(root, f"{ODF}initial-creator") or text_of(root, f"{DC}creator"),
        date_in_text(text_of(root, f"{TERMS}created") or text_of(root, f"{ODF}creation-date")),
        text_of(root, f"{DC}language"),
    )


def text_of(root: Element, tag: str) -> str:
    """The text of the first element of a kind."""
    found = next(root.iter(tag), None)
    return one_line("".join(map(str, found.itertext()))[:500]) if found is not None else ""
