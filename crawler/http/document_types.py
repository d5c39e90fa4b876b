"""Detect document responses by media type, file name and first bytes. Pure functions.

    application/pdf                              pdf, by the media type
    application/octet-stream, .../report.docx    docx, by the extension of the URL or of the download name
    text/plain, .../notes.txt                    txt; not with the extension of a program, log or table

HTML with another media type is detected by its bytes (`crawler.http.fetch`).
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from crawler.http.content_type import parse_content_type
from crawler.settings import CrawlSettings
from crawler.urls.canonical import NON_PAGE_EXTENSIONS, path_extension
from domain.errors import SettingsError
from domain.file_formats import FORMAT_BY_EXTENSION, FORMAT_BY_MEDIA_TYPE, FORMATS_BY_NAME, HTML_FORMAT

TEXT_PLAIN = "text/plain"
PDF_SIGNATURE = b"%PDF-"
_PLAIN_TEXT_FORMATS = frozenset(("txt", "md"))
# Media types for unknown files, or for files that browsers should save and not display.
_GENERIC_MEDIA_TYPES = frozenset(
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
_FILENAME_PARAMETER = re.compile(r"filename(\*?)\s*=\s*(?:\"([^\"]*)\"|([^;\s]+))", re.IGNORECASE)
_INDEX_PAGE_STEM = "index"  # file name of a folder's index page
_BYTES_PER_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class DocumentRules:
    """Which document formats are fetched, and their maximum size.

    Attributes:
        formats: names of `domain.file_formats.FORMATS_BY_NAME`.
        max_document_bytes: maximum size of one document.
    """

    formats: frozenset[str] = frozenset()
    max_document_bytes: int = 0

    def declared_format(self, url: str, content_type: str, content_disposition: str = "") -> str:
        """Return the format declared by the response headers, or "" for a page or a format that is not fetched."""
        media_type = parse_content_type(content_type).media_type
        extension = _filename_extension(content_disposition) or path_extension(url)
        format_by_extension = FORMAT_BY_EXTENSION.get(extension, "")
        format_name = FORMAT_BY_MEDIA_TYPE.get(media_type, "")
        if media_type == TEXT_PLAIN:
            format_name = format_by_extension or ("" if extension else "txt")
        elif media_type in _GENERIC_MEDIA_TYPES:
            format_name = format_by_extension
        return format_name if format_name in self.formats else ""

    def max_body_bytes(self, name: str, page: int) -> int:
        """Return the maximum body size of a response with the format `name`, a document format or `html`.

        Plain text contains no images or fonts. Its limit is therefore also at most `page`, the limit of a page.
        """
        if name == HTML_FORMAT:
            return page
        return min(page, self.max_document_bytes) if name in _PLAIN_TEXT_FORMATS else self.max_document_bytes

    def detect_format(self, declared_format: str, body: bytes) -> str:
        """Return the format of a response by its first bytes, or `declared_format` without a known signature."""
        if body.startswith(PDF_SIGNATURE) and "pdf" in self.formats:
            return "pdf"
        return declared_format

    @property
    def skipped_extensions(self) -> frozenset[str]:
        """URL extensions that are not fetched."""
        enabled_extensions = {extension for name in self.formats for extension in FORMATS_BY_NAME[name].extensions}
        document_extensions = {
            extension for extension, name in FORMAT_BY_EXTENSION.items() if name not in _PLAIN_TEXT_FORMATS
        }
        return (NON_PAGE_EXTENSIONS | document_extensions) - enabled_extensions


NO_DOCUMENTS = DocumentRules()


def parse_document_rules(settings: CrawlSettings) -> DocumentRules:
    """Read the document rules from the settings. Raises SettingsError for an unknown format."""
    unknown = [name for name in settings.document_formats if name not in FORMATS_BY_NAME]
    if unknown:
        path, value, names = "crawl.document_formats", repr(unknown[0]), ", ".join(FORMATS_BY_NAME)
        raise SettingsError("{path} = {value}: expected one of {names}", path=path, value=value, names=names)
    if not settings.documents:
        return NO_DOCUMENTS
    formats = frozenset(settings.document_formats or FORMATS_BY_NAME)
    return DocumentRules(formats, round(settings.max_document_mb * _BYTES_PER_MEGABYTE))


def max_response_bytes(settings: CrawlSettings) -> int:
    """Return the maximum body size of a response of any format."""
    return max(settings.max_bytes, parse_document_rules(settings).max_document_bytes)


def stored_content_type(name: str, content_type: str) -> str:
    """Return the Content-Type to store with a document: its own, or the registered type if its own is not specific."""
    media_type = parse_content_type(content_type).media_type
    return (
        content_type
        if name == HTML_FORMAT or media_type in FORMAT_BY_MEDIA_TYPE
        else FORMATS_BY_NAME[name].media_types[0]
    )


def is_plain_text_version(url: str, page: str) -> bool:
    """True if `url` is a plain-text version of the page that links to it: its source or its text, with the same name.

    Manuals have such a version of each page: `/_sources/intro.rst.txt` of `/intro.html`, `/intro.md` of `/intro/`.
    """
    if FORMAT_BY_EXTENSION.get(path_extension(url)) not in _PLAIN_TEXT_FORMATS:
        return False
    name = _last_path_segment(url).rpartition(".")[0]
    page_name = _last_path_segment(page)
    page_names = {page_name, page_name.rpartition(".")[0]} | (
        {_INDEX_PAGE_STEM} if page.partition("?")[0].endswith("/") else set()
    )
    return not page_names.isdisjoint({name, name.rpartition(".")[0]} - {""})


def _last_path_segment(url: str) -> str:
    """Return the last non-empty segment of a path, in lower case."""
    return "/".join(url.partition("?")[0].split("/", 3)[3:]).rstrip("/").rpartition("/")[2].lower()


def _filename_extension(content_disposition: str) -> str:
    """Return the extension of the download name, or "" without a name."""
    names = sorted(_FILENAME_PARAMETER.findall(content_disposition), reverse=True)  # `filename*` takes precedence
    for _, quoted_name, unquoted_name in names:
        name = unquote(quoted_name or unquoted_name)
        if "." in name:
            return name.rpartition(".")[2].strip().lower()
    return ""
