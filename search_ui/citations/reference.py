"""A reference to an article: what every citation format states of it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
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
    suffix: str = ""  # Jr., III

    @property
    def inverted_name(self) -> str:
        """The name with the family name first: `Smith, John, Jr.`."""
        return ", ".join(filter(None, (self.family_name, self.given_name, self.suffix)))


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


_AUTHOR_SEPARATOR_RE = re.compile(r"[,，、]")
_SUFFIX_RE = re.compile(r"(?:Jr|Sr)\.?|II|III|IV")
_ROLE = (
    r"(?:writer|reporter|editor|correspondent|columnist|journalist|photographer|contributor|analyst|author)s?"
    r"|记者|编辑|责任编辑|责编|作者|通讯员|特约记者|文|图"
)
_DEGREE = r"(?:Ph\.?D|M\.?D|M\.?A|M\.?Sc|Esq|CFA|P\.?E)\.?"
_NO_NAME_RE = re.compile(rf"(?:[\w-]+ ){{0,2}}(?:{_ROLE})(?: (?:at|for|of|in) .*)?|{_DEGREE}", re.IGNORECASE)
_CREDIT_RE = re.compile(rf"^(?:by\s+|(?:{_ROLE})\s*(?:[:：]\s*|\s))", re.IGNORECASE)
_GIVEN_NAMES_RE = re.compile(r"(?:(?:[^\W\d_]\.[ -]?)+|(?=\S*[a-z])[^\W\d_][\w'’-]*(?: [^\W\d_]+\.?)?)")
_ORGANIZATION_RE = re.compile(
    r"\b(?:agency|association|bank|board|bureau|centre|center|co|commission|committee|company|corp|corporation|council"
    r"|department|desk|editors?|foundation|group|inc|institute|limited|ltd|ministry|news|newsroom|office|of|organization"
    r"|press|project|reporters?|reuters|society|staff|team|the|university|writers?)\b|[&@/\d]",
    re.IGNORECASE,
)
_NAME_PARTICLES = frozenset(re.findall(r"\w+", "al bin da de del della den der di dos du el la le ten ter van von"))


def parse_authors(text: str) -> tuple[AuthorName, ...]:
    """Parse names joined by commas, in natural order, or joined by semicolons, also with the family name first.

    Only names in Latin script are split into their parts. Degrees are left out, and roles such as `staff writer` unless
    they are all there is.
    """
    lists = [map(str.strip, _AUTHOR_SEPARATOR_RE.split(part)) for part in re.split("[;；]", text)]
    groups = [list(filter(None, parts)) for parts in lists]
    names = [name for group in groups for name in _parse_group(group, len(groups) > 1)]
    return tuple(dict.fromkeys(names)) or tuple(AuthorName(part) for group in groups for part in group)


def _parse_group(parts: Iterable[str], is_one_person: bool) -> list[AuthorName]:
    """Return the authors in the parts of a list. `is_one_person`: other characters separate the persons."""
    names: list[AuthorName] = []
    for part in (_CREDIT_RE.sub("", part) for part in parts):
        if names and _SUFFIX_RE.fullmatch(part):
            names[-1] = replace(names[-1], suffix=part)
        elif part and not _NO_NAME_RE.fullmatch(part):
            names.append(_parse_name(part))
    texts = [f"{name.given_name} {name.family_name}".strip() for name in names]
    is_inverted = len(texts) == 2 and _is_inverted(texts[0], texts[1], is_one_person)
    return [AuthorName(texts[0], texts[1], names[1].suffix)] if is_inverted else names


def _is_inverted(family_name: str, given_name: str, is_one_person: bool) -> bool:
    """Return True if two parts are one name, `Smith, John`, and not two persons."""
    if is_chinese(family_name + given_name) or _ORGANIZATION_RE.search(family_name):
        return False
    *particles, last = family_name.split()
    is_family_name = last.istitle() and all(word.lower() in _NAME_PARTICLES for word in particles)
    return is_one_person or (is_family_name and bool(_GIVEN_NAMES_RE.fullmatch(given_name)))


def _parse_name(name: str) -> AuthorName:
    words, suffix = name.split(), ""
    if len(words) > 2 and _SUFFIX_RE.fullmatch(words[-1]):
        suffix = words.pop()
    if len(words) < 2 or is_chinese(name) or _ORGANIZATION_RE.search(name):
        return AuthorName(name)
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _NAME_PARTICLES:
        start -= 1
    return AuthorName(" ".join(words[start:]), " ".join(words[:start]), suffix)


_EAST_ASIAN_RE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def is_chinese(text: str) -> bool:
    """Return True if the text has Chinese characters, kana or Hangul."""
    return bool(_EAST_ASIAN_RE.search(text))
