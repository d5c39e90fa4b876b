"""How to cite a term: as plain text and in BibTeX. No I/O."""

import re
from dataclasses import dataclass

from text.pinyin import to_pinyin

_BIBTEX_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_BIBTEX_SPECIAL_RE = re.compile("[" + re.escape("".join(_BIBTEX_ESCAPES)) + "]")


@dataclass(frozen=True)
class TermSource:
    """What a citation states. Dates are ISO dates; `published` is the date of the lexicon version."""

    term: str
    site_title: str
    version: int
    published: str
    url: str
    access_date: str


def format_bibtex(source: TermSource) -> str:
    """Return the citation as a BibTeX entry."""
    key = re.sub("[^a-z0-9]+", "-", to_pinyin(source.term)).strip("-") or "term"
    lines = [
        f"title = {{{{{escape_bibtex(source.term)}}}}}",
        f"howpublished = {{{escape_bibtex(source.site_title)}, lexicon version {source.version}}}",
        f"year = {{{source.published[:4]}}}",
        f"url = {{{source.url}}}",
        f"urldate = {{{source.access_date}}}",
    ]
    return f"@misc{{term-{key},\n" + "".join(f"  {line},\n" for line in lines) + "}\n"


def escape_bibtex(text: str) -> str:
    """Return a text without special meaning in BibTeX and LaTeX."""
    return _BIBTEX_SPECIAL_RE.sub(lambda match: _BIBTEX_ESCAPES[match[0]], text)
