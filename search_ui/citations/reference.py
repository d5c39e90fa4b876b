"""A reference to an article: what every citation format states of it."""

import re
from dataclasses import dataclass
from enum import StrEnum

from domain.file_formats import HTML_FORMAT
from search_ui.query.results import ArticleSummary


class ReferenceKind(StrEnum):
    """The kind of a cited document. The values are item types of Zotero."""

    WEB_PAGE = "webpage"
    NEWSPAPER = "newspaperArticle"
    REPORT = "report"
    STANDARD = "standard"


@dataclass(frozen=True)
class AuthorName:
    """An author. `family_name` is the whole name of a Chinese author or an organization, without a `given_name`."""

    family_name: str
    given_name: str = ""

    @property
    def inverted_name(self) -> str:
        """The name with the family name first: `Smith, John`."""
        return f"{self.family_name}, {self.given_name}" if self.given_name else self.family_name


@dataclass(frozen=True)
class Reference:
    """A reference to an article. Values that the page did not state are "" or ().

    Attributes:
        container: The newspaper or the site.
        host: Host of the site.
        published: `2016`, `2016-05`, `2016-05-09` or "".
        access_date: Day of the access, ISO date.
        language: Language of the article (ISO 639), or "".
    """

    doc_id: str
    kind: ReferenceKind
    title: str
    authors: tuple[AuthorName, ...]
    container: str
    host: str
    published: str
    access_date: str
    url: str
    language: str

    @property
    def date_parts(self) -> tuple[int, ...]:
        """Year, month and day of the publication, where known."""
        return tuple(int(part) for part in self.published.split("-") if part)


def build_reference(document: ArticleSummary, access_date: str, saved_copy_url: str) -> Reference:
    """Build the reference to a document.

    Args:
        document: The document.
        access_date: Day of the access, ISO date.
        saved_copy_url: URL to cite if the document has none that is safe to follow.
    """
    published = document.published if _DATE_RE.fullmatch(document.published) else ""
    publisher = document.source or document.site_name
    kind = _detect_kind(document, publisher, published)
    return Reference(
        doc_id=document.doc_id,
        kind=kind,
        title=document.plain_title or document.site_name,
        authors=parse_authors(document.author),
        container=publisher if kind is ReferenceKind.NEWSPAPER else document.site_name,
        host=document.site.partition(":")[0],
        published=published,
        access_date=access_date,
        url=document.safe_url or saved_copy_url,
        language=document.language,
    )


_DATE_RE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_NEWSPAPER_RE = re.compile(
    r".*(?<![学公简通海预年月季壁喜])报(?:社|网|电子版|数字报)?|.*\b(?:Daily|Times|Post|Herald|Tribune|Gazette|Newspaper)(?:\b.*)?"
)
_STANDARD_RE = re.compile(r"(?:[A-Z]{2,5}(?:/[A-Z])?|Q/[A-Z]{2,5})[ \u3000]?\d+(?:\.\d+)*[-—–]\d{4}")
_REPORT_RE = re.compile(r"报告|白皮书|蓝皮书|\breport\b|\bwhite ?paper\b", re.IGNORECASE)


def _detect_kind(document: ArticleSummary, publisher: str, published: str) -> ReferenceKind:
    if _STANDARD_RE.match(document.plain_title):
        return ReferenceKind.STANDARD
    if document.format != HTML_FORMAT and _REPORT_RE.search(document.plain_title):
        return ReferenceKind.REPORT
    if document.format == HTML_FORMAT and published and _NEWSPAPER_RE.fullmatch(publisher):
        return ReferenceKind.NEWSPAPER
    return ReferenceKind.WEB_PAGE


_AUTHOR_SEPARATOR_RE = re.compile(r"[,，;；、]")
_NAME_SUFFIX_RE = re.compile(r"(?:Jr|Sr|II|III|IV|Ph\.?D|M\.?D)\.?")
_ORGANIZATION_RE = re.compile(
    r"\b(?:agency|association|bank|board|bureau|centre|center|co|commission|committee|company|corp|corporation|council"
    r"|department|desk|editors?|foundation|group|inc|institute|limited|ltd|ministry|news|newsroom|office|of|organization"
    r"|press|project|reporters?|reuters|society|staff|team|the|university|writers?)\b|[&@/\d]",
    re.IGNORECASE,
)
_NAME_PARTICLES = frozenset(re.findall(r"\w+", "al bin da de del della den der di dos du el la le ten ter van von"))


def parse_authors(text: str) -> tuple[AuthorName, ...]:
    """Parse names joined by commas, in natural order. Only names in Latin script are split into their parts."""
    names = dict.fromkeys(map(str.strip, _AUTHOR_SEPARATOR_RE.split(text)))
    return tuple(_parse_name(name) for name in names if name and not _NAME_SUFFIX_RE.fullmatch(name))


def _parse_name(name: str) -> AuthorName:
    words = name.split()
    if len(words) < 2 or is_chinese(name) or _ORGANIZATION_RE.search(name):
        return AuthorName(name)
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _NAME_PARTICLES:
        start -= 1
    return AuthorName(" ".join(words[start:]), " ".join(words[:start]))


_EAST_ASIAN_RE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def is_chinese(text: str) -> bool:
    """Return True if the text has Chinese characters, kana or Hangul."""
    return bool(_EAST_ASIAN_RE.search(text))
