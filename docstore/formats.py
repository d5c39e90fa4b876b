"""The file formats that are read beside HTML: what their URLs end with, and what servers call them. Pure.

The crawler fetches by these, the extractor reads by them and by what the bytes say, the search page names them.
"""

from dataclasses import dataclass

HTML = "html"


@dataclass(frozen=True)
class FileFormat:
    """`name` as articles keep it, `endings` of paths (lower case, without the dot), `types` as Content-Type has them
    (the first is the registered one)."""

    name: str
    endings: tuple[str, ...]
    types: tuple[str, ...]


_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

FORMATS = {
    one.name: one
    for one in (
        FileFormat("pdf", ("pdf",), ("application/pdf", "application/x-pdf")),
        FileFormat(
            "docx",
            ("docx", "docm", "dotx"),
            (f"{_OOXML}wordprocessingml.document", "application/vnd.ms-word.document.macroenabled.12"),
        ),
        FileFormat(
            "pptx",
            ("pptx", "pptm", "ppsx"),
            (f"{_OOXML}presentationml.presentation", "application/vnd.ms-powerpoint.presentation.macroenabled.12"),
        ),
        FileFormat(
            "xlsx",
            ("xlsx", "xlsm", "xlsb"),
            (
                f"{_OOXML}spreadsheetml.sheet",
                "application/vnd.ms-excel.sheet.macroenabled.12",
                "application/vnd.ms-excel.sheet.binary.macroenabled.12",
            ),
        ),
        FileFormat("odt", ("odt",), (f"{_ODF}text",)),
        FileFormat("odp", ("odp",), (f"{_ODF}presentation",)),
        FileFormat("ods", ("ods",), (f"{_ODF}spreadsheet",)),
        FileFormat("rtf", ("rtf",), ("application/rtf", "text/rtf")),
        FileFormat("epub", ("epub",), ("application/epub+zip",)),
        FileFormat("ofd", ("ofd",), ("application/ofd",)),
        FileFormat("txt", ("txt",), ("text/plain",)),
        FileFormat("md", ("md", "markdown"), ("text/markdown", "text/x-markdown")),
        FileFormat("doc", ("doc", "wps"), ("application/msword", "application/vnd.ms-works", "application/kswps")),
        FileFormat("ppt", ("ppt", "dps"), ("application/vnd.ms-powerpoint", "application/ksdps")),
        FileFormat("xls", ("xls", "et"), ("application/vnd.ms-excel", "application/kset")),
    )
}
BY_ENDING = {ending: one.name for one in FORMATS.values() for ending in one.endings}
BY_TYPE = {kind: one.name for one in FORMATS.values() for kind in one.types}


def format_of_type(content_type: str) -> str:
    """The format that a Content-Type names, parameters or not; `html` where it names none of these."""
    return BY_TYPE.get(content_type.partition(";")[0].strip().lower(), HTML)
