"""How to cite a term: as plain text and in BibTeX. No I/O."""

import re
from dataclasses import dataclass

from search_ui.citations.bibtex import escape_bibtex, format_entry
from text.pinyin import to_pinyin


@dataclass(frozen=True)
class TermSource:
    """What a citation states. Dates are ISO dates; `published` is the date of the lexicon version."""

    term: str
    site_title: str
    version: int
    published: str
    url: str
    access_date: str


def format_term_bibtex(source: TermSource) -> str:
    """Return the citation as a BibTeX entry."""
    key = re.sub("[^a-z0-9]+", "-", to_pinyin(source.term)).strip("-") or "term"
    fields = {
        "title": f"{{{escape_bibtex(source.term)}}}",
        "howpublished": f"{escape_bibtex(source.site_title)}, lexicon version {source.version}",
        "year": source.published[:4],
        "url": source.url,
        "urldate": source.access_date,
    }
    return format_entry("misc", f"term-{key}", fields)
