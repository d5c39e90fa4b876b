"""Which format a file has: by its first bytes, then by what the server says, then by the ending of its URL. Pure."""

import io
import re
import zipfile
from urllib.parse import unquote, urlsplit

from docstore.formats import BY_ENDING, BY_TYPE, FORMATS
from text.decoding.encoding import decode

HEAD = 4_096
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MIMETYPE = re.compile(rb"mimetype(?:.{0,40}?)(application/[a-z0-9.+-]+)", re.S)
MARKUP = re.compile(
    rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|p|h1)\b",
    re.I | re.S,
)
PAGE = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head)\b", re.I)
PARTS = (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx"))
# Streams of the compound files of old Office, in UTF-16 as their directory has them
STREAMS = (("WordDocument", "doc"), ("PowerPoint Document", "ppt"), ("Workbook", "xls"), ("Book", "xls"))
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # and of new Office, locked
OLD_EXCEL = (b"\x09\x08\x10\x00", b"\x09\x08\x08\x00", b"\x09\x04\x06\x00", b"\x09\x02\x06\x00")
TEXT = ("txt", "md")
BINARY = tuple(name for name in FORMATS if name not in TEXT)


def document_format(data: bytes, url: str = "", content_type: str = "") -> str:
    """The name in docstore.formats.FORMATS of a file's format, or "" for what is no document: HTML never is."""
    named = by_name(url, content_type)
    return by_magic(data, named) or (named if may_be(data, named) else "")


def by_name(url: str, content_type: str) -> str:
    """The format that the server or else the URL names. Servers call much `text/plain`: there the ending tells more."""
    stated = content_type.partition(";")[0].strip().lower()
    path = unquote(urlsplit(url).path) if "//" in url else url
    ending = BY_ENDING.get(path.rpartition(".")[2].lower(), "")
    if stated in ("text/html", "application/xhtml+xml"):
        return ""
    found = BY_TYPE.get(stated, "")
    return ending if ending and found in ("", "txt") else found


def by_magic(data: bytes, named: str) -> str:
    """The format that the bytes show, or ""."""
    head = data[:HEAD]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.lstrip()[:5] == b"{\\rtf":
        return "rtf"
    if head.startswith(ZIP):
        return zip_format(data, named)
    if head.startswith(OLE):
        return ole_format(data, named)
    return "xls" if head.startswith(OLD_EXCEL) else ""


def zip_format(data: bytes, named: str) -> str:
    """The format of a zip file by what it holds; a damaged one has the format that it is called."""
    stated = MIMETYPE.search(data[:200])
    if stated and (found := BY_TYPE.get(stated[1].decode().removesuffix("-template"), "")):
        return found
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeError):
        return named if named in BINARY else ""
    if "OFD.xml" in names:
        return "ofd"
    for prefix, name in PARTS:
        if any(entry.startswith(prefix) for entry in names[:5_000]):
            return name
    return "epub" if "META-INF/container.xml" in names else ""


def ole_format(data: bytes, named: str) -> str:
    """The format of a compound file: which stream it holds. An encrypted one has the format that it is called."""
    for stream, name in STREAMS:
        if stream.encode("utf-16-le") in data:
            return name
    if ENCRYPTED in data:
        return named if named in ("docx", "pptx", "xlsx") else "docx"
    return named if named in BINARY else ""


def may_be(data: bytes, named: str) -> bool:
    """Bytes that show no format may have the one that they are called: text, if it is no HTML, or a damaged file."""
    if named not in TEXT:
        return bool(named) and not MARKUP.match(data[:HEAD])
    return not is_html(data, named) and decode(data[:60_000]) is not None


def is_html(data: bytes, named: str) -> bool:
    """Text that is HTML, whatever it is called. Markdown may begin with any element, and ends as HTML with <html>."""
    markup = PAGE if named == "md" else MARKUP
    return markup.match(data[:HEAD].replace(b"\x00", b"")) is not None
