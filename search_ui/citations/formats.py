"""The export formats of references by name, and their writers: BibTeX, RIS, CSL-JSON, GB/T 7714 and CSV."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from search_ui.citations.reference import AuthorName, Reference, ReferenceKind, is_chinese
from text.pinyin import to_pinyin


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


# BibTeX, in UTF-8
_ESCAPES = {  # BibTeX counts braces also behind a backslash
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "%": r"\%", "&": r"\&",
    "#": r"\#", "_": r"\_", "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_SPECIAL_RE = re.compile("[" + re.escape("".join(_ESCAPES)) + "]")
_URL_CHARS = "!#$%&'()*+,/:;=?@[]-._~"  # allowed in URLs, and without effect on the braces of a field
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ENTRY_BY_KIND = {
    ReferenceKind.WEB_PAGE: ("misc", "howpublished"),
    ReferenceKind.NEWSPAPER: ("article", "journal"),
    ReferenceKind.REPORT: ("techreport", "institution"),
    ReferenceKind.STANDARD: ("misc", "howpublished"),
}
"""The type of the entry, and the field of the container."""


def format_bibtex(references: Iterable[Reference]) -> str:
    """Return references as BibTeX entries with unique keys."""
    return "\n".join(_to_entry(reference) for reference in references)


def _to_entry(reference: Reference) -> str:
    entry_type, container_field = _ENTRY_BY_KIND[reference.kind]
    year, month, day = (*reference.date_parts, 0, 0, 0)[:3]
    fields = {
        "author": " and ".join(_to_bibtex_name(author) for author in reference.authors),
        "title": f"{{{escape_bibtex(reference.title)}}}",
        container_field: escape_bibtex(reference.container),
        "year": str(year or ""),
        "month": _MONTHS[month - 1] if 1 <= month <= 12 else "",
        "day": str(day or ""),
        "language": escape_bibtex(reference.language),
        "url": quote(reference.url, safe=_URL_CHARS),
        "urldate": reference.access_date,
    }
    host = re.sub("[^a-z0-9]+", "-", reference.host.lower()).strip("-")
    key = re.sub("[^A-Za-z0-9-]+", "", f"{host}-{year or 'nd'}-{reference.doc_id[:16]}")
    return format_entry(entry_type, key, fields)


def _to_bibtex_name(author: AuthorName) -> str:
    family_name, given_name = escape_bibtex(author.family_name), escape_bibtex(author.given_name)
    if given_name:
        return ", ".join(filter(None, (family_name, escape_bibtex(author.suffix), given_name)))
    return family_name if is_chinese(family_name) and " " not in family_name else f"{{{family_name}}}"


def format_entry(entry_type: str, key: str, fields: Mapping[str, str]) -> str:
    """Return one entry without its empty fields. The values are escaped; a month is a macro."""
    lines = [
        f"  {name} = {value},\n" if name == "month" else f"  {name} = {{{value}}},\n"
        for name, value in fields.items()
        if value
    ]
    return f"@{entry_type}{{{key},\n" + "".join(lines) + "}\n"


def escape_bibtex(text: str) -> str:
    """Return a text without special meaning in BibTeX and LaTeX."""
    return _SPECIAL_RE.sub(lambda match: _ESCAPES[match[0]], text)


@dataclass(frozen=True)
class TermSource:
    """What the citation of a term states. Dates are ISO dates; `published` is the date of the lexicon version."""

    term: str
    site_title: str
    version: int
    published: str
    url: str
    access_date: str


def format_term_bibtex(source: TermSource) -> str:
    """Return the citation of a term as an entry."""
    key = re.sub("[^a-z0-9]+", "-", to_pinyin(source.term)).strip("-") or "term"
    fields = {
        "title": f"{{{escape_bibtex(source.term)}}}",
        "howpublished": f"{escape_bibtex(source.site_title)}, lexicon version {source.version}",
        "year": source.published[:4],
        "url": source.url,
        "urldate": source.access_date,
    }
    return format_entry("misc", f"term-{key}", fields)


# RIS and CSL-JSON


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
    if not author.given_name:
        return {"literal": author.family_name}
    suffix = {"suffix": author.suffix} if author.suffix else {}
    return {"family": author.family_name, "given": author.given_name, **suffix}


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


# GB/T 7714—2015, in the order of citation
MAX_NAMED_AUTHORS = 3  # the others are 等, et al.
_MARK_BY_KIND = {
    ReferenceKind.WEB_PAGE: "EB/OL",
    ReferenceKind.NEWSPAPER: "N/OL",
    ReferenceKind.REPORT: "R/OL",
    ReferenceKind.STANDARD: "S/OL",
}


def format_gb7714_list(references: Iterable[Reference]) -> str:
    """Return a numbered list of references, one on a line."""
    return "".join(f"[{number}] {format_gb7714(each)}\n" for number, each in enumerate(references, start=1))


def format_gb7714(reference: Reference) -> str:
    """Return one reference without a number. Authors and dates that are not known are left out."""
    access_date = f"[{reference.access_date}]"
    if reference.kind is ReferenceKind.NEWSPAPER:
        origin = f"{reference.container}, {reference.published}{access_date}"
    else:
        origin = f"({reference.published}){access_date}" if reference.published else access_date
    title = f"{reference.title.rstrip('.。 ')}[{_MARK_BY_KIND[reference.kind]}]"
    return ". ".join(part for part in (_join_authors(reference.authors), title, origin, reference.url) if part) + "."


def _join_authors(authors: tuple[AuthorName, ...]) -> str:
    names = [_to_gb7714_name(author) for author in authors[:MAX_NAMED_AUTHORS]]
    if len(authors) > MAX_NAMED_AUTHORS:
        names.append("等" if is_chinese(names[0]) else "et al")
    return ", ".join(names).rstrip(".")


def _to_gb7714_name(author: AuthorName) -> str:
    initials = " ".join(part[0].upper() for part in author.given_name.replace("-", " ").replace(".", " ").split())
    return f"{author.family_name.upper()} {initials}" if initials else author.family_name


CITATION_FORMATS: Mapping[str, CitationFormat] = {
    "bibtex": CitationFormat("BibTeX", "application/x-bibtex", "bib", format_bibtex),
    "ris": CitationFormat("RIS", "application/x-research-info-systems", "ris", format_ris),
    "csl": CitationFormat("CSL-JSON", "application/vnd.citationstyles.csl+json", "json", format_csl_json),
    "gbt7714": CitationFormat("GB/T 7714", "text/plain", "txt", format_gb7714_list),
    "csv": CitationFormat("CSV", "text/csv", "csv", format_csv),
}
"""The formats by the value of the URL parameter `format`."""
