"""Detects the format of a file: by its first bytes, the media type of the response, and the URL extension. No I/O."""

import io
import re
import zipfile
from urllib.parse import unquote

from domain.file_formats import FORMAT_BY_EXTENSION, FORMAT_BY_MEDIA_TYPE, FORMATS_BY_NAME
from extractor.page.urls import split_url
from text.decoding.decode import decode_page

HEAD_BYTES = 4_096
ZIP_MAGIC, OLE_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MIMETYPE_RE = re.compile(rb"mimetype(?:.{0,40}?)(application/[a-z0-9.+-]+)", re.S)
HTML_START_RE = re.compile(
    rb"^(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]{0,200}>\s*+)?+(?><!--.{0,2000}?-->\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|p|h1)\b",
    re.I | re.S,
)
HTML_ROOT_RE = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head)\b", re.I)
OOXML_PREFIXES = (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx"))
# Stream names of Office 97 to 2003 files; their directory contains them in UTF-16.
OLE_STREAMS = (("WordDocument", "doc"), ("PowerPoint Document", "ppt"), ("Workbook", "xls"), ("Book", "xls"))
ENCRYPTED_PACKAGE_MARK = "EncryptedPackage".encode("utf-16-le")  # stream of an encrypted OOXML file
OLD_EXCEL_MAGICS = (b"\x09\x08\x10\x00", b"\x09\x08\x08\x00", b"\x09\x04\x06\x00", b"\x09\x02\x06\x00")
TEXT_FORMATS = ("txt", "md")
BINARY_FORMATS = tuple(name for name in FORMATS_BY_NAME if name not in TEXT_FORMATS)


def detect_format(data: bytes, url: str = "", content_type: str = "") -> str:
    """Return the format of a document file, such as `pdf` or `docx`; "" for other files, including HTML.

    Args:
        data: Bytes of the file. Its first bytes decide if they are those of a format.
        url: URL of the file; its extension is a hint.
        content_type: HTTP header as sent, a hint too.

    Returns:
        A key of `domain.file_formats.FORMATS_BY_NAME`, or "".
    """
    declared_format = format_by_name(url, content_type)
    return format_by_magic(data, declared_format) or (declared_format if is_plausible(data, declared_format) else "")


def format_by_name(url: str, content_type: str) -> str:
    """Return the format by the media type of the response, else by the URL extension.

    Servers send many formats as `text/plain`; then the extension decides.
    """
    declared_type = content_type.partition(";")[0].strip().lower()
    path = unquote(split_url(url).path) if "//" in url else url
    format_by_extension = FORMAT_BY_EXTENSION.get(path.rpartition(".")[2].lower(), "")
    if declared_type in ("text/html", "application/xhtml+xml"):
        return ""
    format_name = FORMAT_BY_MEDIA_TYPE.get(declared_type, "")
    return format_by_extension if format_by_extension and format_name in ("", "txt") else format_name


def format_by_magic(data: bytes, declared_format: str) -> str:
    """Return the format by the magic bytes, or an empty string."""
    head = data[:HEAD_BYTES]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.lstrip()[:5] == b"{\\rtf":
        return "rtf"
    if head.startswith(ZIP_MAGIC):
        return zip_format(data, declared_format)
    if head.startswith(OLE_MAGIC):
        return ole_format(data, declared_format)
    return "xls" if head.startswith(OLD_EXCEL_MAGICS) else ""


def zip_format(data: bytes, declared_format: str) -> str:
    """Return the format of a zip file by its content; a damaged file gets the declared format."""
    mimetype = MIMETYPE_RE.search(data[:200])
    if mimetype and (format_name := FORMAT_BY_MEDIA_TYPE.get(mimetype[1].decode().removesuffix("-template"), "")):
        return format_name
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeError):
        return declared_format if declared_format in BINARY_FORMATS else ""
    if "OFD.xml" in names:
        return "ofd"
    for prefix, name in OOXML_PREFIXES:
        if any(entry.startswith(prefix) for entry in names[:5_000]):
            return name
    return "epub" if "META-INF/container.xml" in names else ""


def ole_format(data: bytes, declared_format: str) -> str:
    """Return the format of an OLE file by its streams; an encrypted file gets the declared format."""
    for stream, name in OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            return name
    if ENCRYPTED_PACKAGE_MARK in data:
        return declared_format if declared_format in ("docx", "pptx", "xlsx") else "docx"
    return declared_format if declared_format in BINARY_FORMATS else ""


def is_plausible(data: bytes, declared_format: str) -> bool:
    """Return True if bytes without magic can have the declared format: text that is not HTML, or a damaged file."""
    if declared_format not in TEXT_FORMATS:
        return bool(declared_format) and not HTML_START_RE.match(data[:HEAD_BYTES])
    return not is_html(data, declared_format) and decode_page(data[:60_000]) is not None


def is_html(data: bytes, declared_format: str) -> bool:
    """Return True if a text is HTML, whatever its declared type.

    Markdown may begin with any element; it is HTML only if it begins with <html>, <head> or a doctype.
    """
    markup = HTML_ROOT_RE if declared_format == "md" else HTML_START_RE
    return markup.match(data[:HEAD_BYTES].replace(b"\x00", b"")) is not None
