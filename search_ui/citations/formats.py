"""The export formats by name, and the writers of RIS, CSL-JSON and CSV."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from search_ui.citations.bibtex import format_bibtex
from search_ui.citations.gb7714 import format_gb7714_list
from search_ui.citations.reference import AuthorName, Reference, ReferenceKind


class CitationFormat(NamedTuple):
    """An export format: its name for people, media type, file extension, and writer."""

    label: str
    media_type: str
    extension: str
    write: Callable[[Sequence[Reference]], str]


class _TypeNames(NamedTuple):
    """The names of a `ReferenceKind` and of its container in RIS and CSL."""

    ris: str
    csl: str
    ris_container: str = "T2"
    csl_container: str = "container-title"


_TYPE_NAMES: Mapping[ReferenceKind, _TypeNames] = {
    ReferenceKind.WEB_PAGE: _TypeNames("ELEC", "webpage"),
    ReferenceKind.NEWSPAPER: _TypeNames("NEWS", "article-newspaper"),
    ReferenceKind.REPORT: _TypeNames("RPRT", "report", "PB", "publisher"),
    ReferenceKind.STANDARD: _TypeNames("STAND", "standard", "PB", "publisher"),
}


def format_ris(references: Sequence[Reference]) -> str:
    """Return references as RIS records, one tag on a line, with CRLF."""
    return "".join(f"{line}\r\n" for reference in references for line in _to_ris_lines(reference))


def _to_ris_lines(reference: Reference) -> list[str]:
    type_names = _TYPE_NAMES[reference.kind]
    year, month, day = (*reference.published.split("-"), "", "", "")[:3]
    pairs = [
        ("TY", type_names.ris),
        *(("AU", author.inverted_name) for author in reference.authors),
        ("TI", reference.title),
        (type_names.ris_container, reference.container),
        ("PY", year),
        ("DA", f"{year}/{month}/{day}/" if month else ""),
        ("LA", reference.language),
        ("UR", reference.url),
        ("Y2", reference.access_date.replace("-", "/") + "/"),
    ]
    return [*(f"{tag}  - {' '.join(value.split())}" for tag, value in pairs if value), "ER  - ", ""]


def format_csl_json(references: Sequence[Reference]) -> str:
    """Return references as a JSON array of CSL items."""
    return json.dumps([_to_csl_item(reference) for reference in references], ensure_ascii=False, indent=1) + "\n"


def _to_csl_item(reference: Reference) -> dict[str, Any]:
    access_date = [int(part) for part in reference.access_date.split("-")]
    type_names = _TYPE_NAMES[reference.kind]
    item: dict[str, Any] = {
        "id": reference.doc_id,
        "type": type_names.csl,
        "title": reference.title,
        "author": [_to_csl_name(author) for author in reference.authors],
        type_names.csl_container: reference.container,
        "issued": {"date-parts": [list(reference.date_parts)]} if reference.date_parts else {},
        "accessed": {"date-parts": [access_date]},
        "language": reference.language,
        "URL": reference.url,
    }
    return {name: value for name, value in item.items() if value}


def _to_csl_name(author: AuthorName) -> dict[str, str]:
    return (
        {"family": author.family_name, "given": author.given_name}
        if author.given_name
        else {"literal": author.family_name}
    )


_CSV_COLUMNS = ("type", "title", "authors", "publication", "published", "accessed", "language", "url")
_FORMULA_RE = re.compile(r"[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]")


def format_csv(references: Sequence[Reference]) -> str:
    """Return references as CSV (RFC 4180) with a header, for spreadsheets.

    A byte order mark tells Excel that the file is UTF-8. A cell that a spreadsheet would execute as a formula begins
    with an apostrophe.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_CSV_COLUMNS)
    for each in references:
        authors = "; ".join(author.inverted_name for author in each.authors)
        cells = (
            each.kind,
            each.title,
            authors,
            each.container,
            each.published,
            each.access_date,
            each.language,
            each.url,
        )
        writer.writerow([f"'{cell}" if _FORMULA_RE.match(cell) else cell for cell in cells])
    return "\ufeff" + buffer.getvalue()


CITATION_FORMATS: Mapping[str, CitationFormat] = {
    "bibtex": CitationFormat("BibTeX", "application/x-bibtex", "bib", format_bibtex),
    "ris": CitationFormat("RIS", "application/x-research-info-systems", "ris", format_ris),
    "csl": CitationFormat("CSL-JSON", "application/vnd.citationstyles.csl+json", "json", format_csl_json),
    "gbt7714": CitationFormat("GB/T 7714", "text/plain", "txt", format_gb7714_list),
    "csv": CitationFormat("CSV", "text/csv", "csv", format_csv),
}
"""The formats by the value of the URL parameter `format`."""
