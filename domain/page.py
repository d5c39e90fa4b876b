"""Stored responses and the links on them."""

from dataclasses import dataclass
from typing import NamedTuple, NewType

Host = NewType("Host", str)  # `host[:port]` of a URL; the port only if it is not the default port


Origin = NewType("Origin", str)  # `scheme://host[:port]` of a URL


class Link(NamedTuple):
    """A link on a page: absolute canonical `url`, its `anchor` text, and the text `context` around it."""

    url: str
    anchor: str = ""
    context: str = ""


@dataclass(frozen=True)
class WarcPointer:
    """Location of a WARC record: file name in the WARC folder, offset and length in bytes."""

    file_name: str
    offset: int
    length: int


@dataclass(frozen=True)
class Page:
    """A stored response.

    Attributes:
        status: HTTP status code.
        content_type: The Content-Type header as sent. For a document without a known type: the media type of its
            format.
        body: The payload without transfer coding and content coding.
        digest: SHA-256 (hex) of `body`.
        fetched_at: Epoch seconds.
        format: `html`, or a document format (`domain/file_formats.py`) derived from headers and first bytes.
    """

    url_id: int
    url: str
    final_url: str
    status: int
    content_type: str
    body: bytes
    digest: str
    fetched_at: float
    etag: str = ""
    last_modified: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    format: str = "html"
