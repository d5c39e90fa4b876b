"""Supported file formats other than HTML: file extensions and media types. Pure functions and tables.

The crawler selects URLs and responses by these tables. The extractor uses them and the file content. The search site
displays the names.
"""

from dataclasses import dataclass

HTML_FORMAT = "html"
PDF_FORMAT = "pdf"
OFD_FORMAT = "ofd"
SCANNABLE_FORMATS = (PDF_FORMAT, OFD_FORMAT)  # whose pages OCR can read
HTML_MEDIA_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class FileFormat:
    """One file format.

    Attributes:
        name: Name as stored with articles (`Article.format`).
        extensions: Extensions of URL paths, lower case, without the dot.
        media_types: Content-Type values; the first is the registered media type.
    """

    name: str
    extensions: tuple[str, ...]
    media_types: tuple[str, ...]


_OOXML_PREFIX = "application/vnd.openxmlformats-officedocument."
_ODF_PREFIX = "application/vnd.oasis.opendocument."

FORMATS_BY_NAME = {
    file_format.name: file_format
    for file_format in (
        FileFormat(PDF_FORMAT, ("pdf",), ("application/pdf", "application/x-pdf")),
        FileFormat(
            "docx",
            ("docx", "docm", "dotx"),
            (f"{_OOXML_PREFIX}wordprocessingml.document", "application/vnd.ms-word.document.macroenabled.12"),
        ),
        FileFormat(
            "pptx",
            ("pptx", "pptm", "ppsx"),
            (
                f"{_OOXML_PREFIX}presentationml.presentation",
                "application/vnd.ms-powerpoint.presentation.macroenabled.12",
            ),
        ),
        FileFormat(
            "xlsx",
            ("xlsx", "xlsm", "xlsb"),
            (
                f"{_OOXML_PREFIX}spreadsheetml.sheet",
                "application/vnd.ms-excel.sheet.macroenabled.12",
                "application/vnd.ms-excel.sheet.binary.macroenabled.12",
            ),
        ),
        FileFormat("odt", ("odt",), (f"{_ODF_PREFIX}text",)),
        FileFormat("odp", ("odp",), (f"{_ODF_PREFIX}presentation",)),
        FileFormat("ods", ("ods",), (f"{_ODF_PREFIX}spreadsheet",)),
        FileFormat("rtf", ("rtf",), ("application/rtf", "text/rtf")),
        FileFormat("epub", ("epub",), ("application/epub+zip",)),
        FileFormat(OFD_FORMAT, ("ofd",), ("application/ofd",)),
        FileFormat("txt", ("txt",), ("text/plain",)),
        FileFormat("md", ("md", "markdown"), ("text/markdown", "text/x-markdown")),
        FileFormat("doc", ("doc", "wps"), ("application/msword", "application/vnd.ms-works", "application/kswps")),
        FileFormat("ppt", ("ppt", "dps"), ("application/vnd.ms-powerpoint", "application/ksdps")),
        FileFormat("xls", ("xls", "et"), ("application/vnd.ms-excel", "application/kset")),
    )
}
FORMAT_BY_EXTENSION = {
    extension: file_format.name for file_format in FORMATS_BY_NAME.values() for extension in file_format.extensions
}
FORMAT_BY_MEDIA_TYPE = {
    media_type: file_format.name for file_format in FORMATS_BY_NAME.values() for media_type in file_format.media_types
}


def format_for_content_type(content_type: str) -> str:
    """Return the format of a Content-Type header, ignoring parameters; `html` if the media type is not in the table."""
    return FORMAT_BY_MEDIA_TYPE.get(content_type.partition(";")[0].strip().lower(), HTML_FORMAT)
