"""Reads title, author, creation date and language from the metadata of Office and OpenDocument files."""

from lxml.etree import _Element as Element

from extractor.documents.content import FileProperties, to_one_line
from extractor.documents.zip_package import ZipPackage
from extractor.fields.dates.date_parsing import find_date_in_text

DC_NAMESPACE = "{http://purl.org/dc/elements/1.1/}"
DCTERMS_NAMESPACE = "{http://purl.org/dc/terms/}"
ODF_META_NAMESPACE = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"


def read_properties(package: ZipPackage, part: str = "docProps/core.xml") -> FileProperties:
    """Read the properties from a part of a package."""
    root = package.parse_part(part)
    if root is None:
        return FileProperties()
    return FileProperties(
        first_element_text(root, f"{DC_NAMESPACE}title"),
        first_element_text(root, f"{ODF_META_NAMESPACE}initial-creator")
        or first_element_text(root, f"{DC_NAMESPACE}creator"),
        find_date_in_text(
            first_element_text(root, f"{DCTERMS_NAMESPACE}created")
            or first_element_text(root, f"{ODF_META_NAMESPACE}creation-date")
        ),
        first_element_text(root, f"{DC_NAMESPACE}language"),
    )


def first_element_text(root: Element, tag: str) -> str:
    """Return the text of the first element with this tag, or an empty string."""
    element = next(root.iter(tag), None)
    return to_one_line("".join(map(str, element.itertext()))[:500]) if element is not None else ""
