"""The document readers that `benchmarks.documents` compares, as functions (data, file name) -> result.

A peer is imported only when it is created, because it is installed in .venv-peers. Each is used as its documentation
shows for plain text. A reader returns a dict with any of `text`, `title`, `date` and `outcome` (`text`, `no_text`,
`encrypted`, `damaged`); ours also `warning`, the reason of its warning or of its outcome.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

OURS, TIKA = "plumbline", "tika"
Read = Callable[[bytes, str], dict[str, str]]
OUTCOMES = {"no_text_layer": "no_text", "garbled_text": "no_text", "no_body": "no_text", "unparsable": "damaged"}


@dataclass(frozen=True)
class Reader:
    """One system: `make` imports and sets up the reader; `formats` lists its formats, empty for all."""

    name: str
    make: Callable[[], Read]
    formats: tuple[str, ...] = ()
    is_ours: bool = False


def plumbline() -> Read:
    """Our reader as the pipeline calls it, in a worker that has loaded its parsers."""
    from domain.article import Article
    from extractor.documents import reader

    for name, _ in reader.READERS.values():
        import_module(f"extractor.documents.{name}")

    def run(data: bytes, name: str) -> dict[str, str]:
        reading = reader.extract_document(data, f"http://documents.test/{name}")
        found, warning = reading.result, reading.warning.reason.value if reading.warning else ""
        if isinstance(found, Article):
            article = {"text": found.body, "title": found.title, "date": found.published, "outcome": "text"}
            return {**article, "warning": warning}
        reason = found.reason.value
        return {"outcome": OUTCOMES.get(reason, reason), "error": found.detail, "warning": reason}

    return run


def pdfium() -> Read:
    """https://pypdfium2.readthedocs.io: the text of each page, and the title of the properties."""
    pypdfium2 = import_module("pypdfium2")

    def run(data: bytes, name: str) -> dict[str, str]:
        document = pypdfium2.PdfDocument(data)
        text = "\n".join(page.get_textpage().get_text_range() for page in document)
        return {"text": text, "title": document.get_metadata_dict().get("Title", "")}

    return run


def pypdf() -> Read:
    """https://pypdf.readthedocs.io."""
    module = import_module("pypdf")

    def run(data: bytes, name: str) -> dict[str, str]:
        document = module.PdfReader(io.BytesIO(data))
        text = "\n".join(page.extract_text() for page in document.pages)
        said: Any = document.metadata
        return {"text": text, "title": (said.title or "") if said else ""}

    return run


def pdfminer() -> Read:
    """https://pdfminersix.readthedocs.io: the high-level function."""
    extract_text = import_module("pdfminer.high_level").extract_text
    return lambda data, name: {"text": extract_text(io.BytesIO(data))}


def python_docx() -> Read:
    """https://python-docx.readthedocs.io: paragraphs, then the cells of tables."""
    docx = import_module("docx")

    def run(data: bytes, name: str) -> dict[str, str]:
        document = docx.Document(io.BytesIO(data))
        rows = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        text = "\n".join([paragraph.text for paragraph in document.paragraphs] + rows)
        return {"text": text, "title": document.core_properties.title or ""}

    return run


def mammoth() -> Read:
    """https://github.com/mwilliamson/python-mammoth: the raw text."""
    extract = import_module("mammoth").extract_raw_text
    return lambda data, name: {"text": extract(io.BytesIO(data)).value}


READERS = {
    one.name: one
    for one in (
        Reader(OURS, plumbline, is_ours=True),
        Reader("pypdfium2", pdfium, ("pdf",)),
        Reader("pypdf", pypdf, ("pdf",)),
        Reader("pdfminer.six", pdfminer, ("pdf",)),
        Reader("python-docx", python_docx, ("docx", "docm")),
        Reader("mammoth", mammoth, ("docx", "docm")),
    )
}
