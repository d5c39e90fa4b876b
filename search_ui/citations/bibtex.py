"""BibTeX entries of articles and terms, in UTF-8."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from search_ui.citations.reference import AuthorName, Reference, ReferenceKind, is_chinese
from text.pinyin import to_pinyin

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
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
        return f"{family_name}, {given_name}"
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
