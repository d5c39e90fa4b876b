"""Which answers are documents: by what the server says they are, by their names, and by how they begin. Pure.

    application/pdf                              pdf, by the type
    application/octet-stream, .../report.docx    docx, by the ending of the URL, or of the name it is offered under
    text/plain, .../notes.txt                    txt; with the ending of a program, a log or a table: nothing to read

A page stays a page: HTML that a server calls something else is told by its bytes, as it was before documents were read.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from crawler.http.content_type import content_type_of
from crawler.settings import CrawlSettings
from crawler.urls.canonical import NOT_TEXT_SUFFIXES, ending_of
from docstore.errors import SettingsError
from docstore.formats import BY_ENDING, BY_TYPE, FORMATS, HTML

PLAIN = "text/plain"
PDF_BEGINS = b"%PDF-"
_TEXTS = frozenset(("txt", "md"))
# What servers say of files of which they know nothing, or that browsers shall keep and not show.
_ANYTHING = frozenset(
    (
        *(
            "",
            "application/octet-stream",
            "binary/octet-stream",
            "application/x-download",
            "application/force-download",
        ),
        *("application/download", "application/x-msdownload", "application/zip"),
        *("application/x-zip-compressed", "application/vnd.ms-office", "application/x-ole-storage", "unknown/unknown"),
    )
)
_FILE_NAME = re.compile(r"filename(\*?)\s*=\s*(?:\"([^\"]*)\"|([^;\s]+))", re.IGNORECASE)
_INDEX = "index"  # the page of a folder
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class DocumentRules:
    """Which `formats` (names of `docstore.formats.FORMATS`) are fetched, and how many bytes one may have."""

    formats: frozenset[str] = frozenset()
    max_bytes: int = 0

    def claimed(self, url: str, content_type: str, disposition: str = "") -> str:
        """The format that the headers of an answer promise; "" for a page, or what is not fetched."""
        media = content_type_of(content_type).type
        ending = _ending_of_name(disposition) or ending_of(url)
        by_name = BY_ENDING.get(ending, "")
        found = BY_TYPE.get(media, "")
        if media == PLAIN:
            found = by_name or ("" if ending else "txt")
        elif media in _ANYTHING:
            found = by_name
        return found if found in self.formats else ""

    def cap(self, name: str, page: int) -> int:
        """The bytes that an answer of this format may have, where a page may have `page`: what has no pages, pictures
        and fonts in it is text alone, and bounded as a page is."""
        return min(page, self.max_bytes) if name in _TEXTS else self.max_bytes

    def format_of(self, claimed: str, body: bytes) -> str:
        """The format of an answer that promised `claimed`, by how it begins; "" where nothing speaks for a document."""
        if body.startswith(PDF_BEGINS) and "pdf" in self.formats:
            return "pdf"
        return claimed

    @property
    def skipped(self) -> frozenset[str]:
        """The endings of URLs that are not asked for."""
        wanted = {ending for name in self.formats for ending in FORMATS[name].endings}
        unread = {ending for ending, name in BY_ENDING.items() if name not in _TEXTS}
        return (NOT_TEXT_SUFFIXES | unread) - wanted


NO_DOCUMENTS = DocumentRules()


def document_rules(settings: CrawlSettings) -> DocumentRules:
    """What the settings say. Raises SettingsError for a format that there is not."""
    unknown = [name for name in settings.document_formats if name not in FORMATS]
    if unknown:
        raise SettingsError(f"crawl.document_formats: {unknown[0]!r} is none of {', '.join(FORMATS)}")
    if not settings.documents:
        return NO_DOCUMENTS
    formats = frozenset(settings.document_formats or FORMATS)
    return DocumentRules(formats, round(settings.max_document_mb * _MEGABYTE))


def media_of(name: str, content_type: str) -> str:
    """The Content-Type that a document is kept with: its own, or the registered one where that says nothing."""
    said = content_type_of(content_type).type
    return content_type if name == HTML or said in BY_TYPE else FORMATS[name].types[0]


def is_source_of(url: str, page: str) -> bool:
    """Is `url` a plain text of the same name as the page that links to it: its source, or its text once more?

    Manuals have one for each page: `/_sources/intro.rst.txt` of `/intro.html`, `/intro.md` of `/intro/`.
    """
    if BY_ENDING.get(ending_of(url)) not in _TEXTS:
        return False
    name = _last_part(url).rpartition(".")[0]
    own = _last_part(page)
    of_page = {own, own.rpartition(".")[0]} | ({_INDEX} if page.partition("?")[0].endswith("/") else set())
    return not of_page.isdisjoint({name, name.rpartition(".")[0]} - {""})


def _last_part(url: str) -> str:
    """The last part of a path, in lower case, whether a slash follows it or not."""
    return "/".join(url.partition("?")[0].split("/", 3)[3:]).rstrip("/").rpartition("/")[2].lower()


def _ending_of_name(disposition: str) -> str:
    """The ending of the name under which an answer is offered for download; "" where there is none."""
    names = sorted(_FILE_NAME.findall(disposition), reverse=True)  # `filename*` is the better of two
    for _, quoted, bare in names:
        name = unquote(quoted or bare)
        if "." in name:
            return name.rpartition(".")[2].strip().lower()
    return ""
