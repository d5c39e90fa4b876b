"""Reading WARC files that anyone wrote: in bounded memory, whatever is in them.

    gzip member -> lines of headers (BoundedLines) -> body, its transfer coding undone -> content codings (`decode`)

A record that is larger than the caps is one Outcome; what follows it is read. warcio finds the records; it has no caps
of its own, so the reader under it has.
"""

import calendar
import hashlib
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

from docstore.errors import StoreError
from docstore.large_bodies import MAX_BODY, LargeBodyError
from docstore.model import Outcome, Page, Reason

# What warcio raises at a damaged file; an AttributeError where a record lacks its URL.
DAMAGED = (ArchiveLoadFailed, AttributeError, EOFError, ValueError, zlib.error)
BEGINNING = 1024  # bytes
_BLOCK = 8192  # compressed bytes that are unpacked at once: at most eight megabytes of them
_PIECE = 1 << 16
_MAX_LINE = 1 << 16  # bytes of one header, as in http.client
_MAX_HEAD = 1 << 18  # bytes of headers in a row
_MAX_HEADERS = 100  # as in http.client
_MAX_VALUE = 2000  # characters of a header that are kept, as in crawler/http/fetch.py
Decode = Callable[[bytes, str, int], bytes | Outcome]


class Openable(Protocol):
    """A file that can be opened and named, as a Path."""

    def open(self, mode: str, /) -> Any:
        """The open file."""


class _Readable(Protocol):
    def read(self, length: int, /) -> bytes: ...

    def readline(self, length: int, /) -> bytes: ...


class BoundedLines(DecompressingBufferedReader):  # type: ignore[misc]
    """What warcio reads records from. ValueError where headers have no end: nobody could hold them; zlib.error where
    compressed bytes are damaged, EOFError where they are cut short: warcio takes either for the end of the file."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, block_size=_BLOCK)
        self._head = 0

    def read(self, length: int | None = None) -> bytes:
        """Of a body."""
        self._head = 0
        return bytes(super().read(length))

    def readline(self, length: int | None = None) -> bytes:
        """Of headers."""
        most = _MAX_LINE if length is None else min(length, _MAX_LINE)
        line = bytes(super().readline(most))
        self._head += len(line)
        if self._head > _MAX_HEAD or (len(line) >= _MAX_LINE and not line.endswith(b"\n")):
            raise ValueError("headers without end")
        return line

    def _decompress(self, data: bytes) -> bytes:
        if self.decompressor is None or self.num_read == 0:  # a file that is not compressed shows it at once
            return bytes(super()._decompress(data))
        return bytes(self.decompressor.decompress(data))

    def _process_read(self, data: bytes) -> None:
        if not data and self.decompressor is not None and self.num_block_read and not self.decompressor.eof:
            raise EOFError("it is cut short")
        super()._process_read(data)


def records_of(file: BinaryIO) -> Iterator[Any]:
    """warcio's records, read through `BoundedLines`. Their bodies are for `body_of` alone."""
    records = ArchiveIterator(file, arc2warc=True)
    records.reader = BoundedLines(file)
    return iter(records)


def body_of(record: Any, cap: int) -> bytes:
    """The body of a response record, its transfer coding undone. LargeBodyError if it is longer than `cap` bytes; what
    its headers say of its length does not count."""
    coding = record.http_headers.get_header("Transfer-Encoding") or ""
    if "chunked" in coding.lower():
        return _dechunked(record.raw_stream, cap)
    return _whole(record.raw_stream, cap)


def _whole(stream: _Readable, cap: int, begin: bytes = b"") -> bytes:
    parts, size = [begin], len(begin)
    while size <= cap and (part := stream.read(_PIECE)):
        parts.append(part)
        size += len(part)
    if size > cap:
        raise LargeBodyError(f"more than {cap} bytes")
    return b"".join(parts)


def _dechunked(stream: _Readable, cap: int) -> bytes:
    """Without chunks; as it stands, where it begins with none: many tools undo the coding and keep the header."""
    parts: list[bytes] = []
    size = 0
    while True:
        line = stream.readline(64)
        try:
            length = int(line.partition(b";")[0].strip(), 16)
        except ValueError:
            return b"".join(parts) if parts else _whole(stream, cap, line)
        if length <= 0:
            return b"".join(parts)
        size += length
        if size > cap:
            raise LargeBodyError(f"more than {cap} bytes")
        while length and (part := stream.read(length)):
            parts.append(part)
            length -= len(part)
        if length:
            return b"".join(parts)
        stream.readline(2)


def as_it_is(body: bytes, coding: str, cap: int) -> bytes | Outcome:
    """For files of our own: no content coding is left in them."""
    del coding, cap
    return body


def read_warc(
    path: Openable, cap: int = MAX_BODY, decode: Decode = as_it_is, wanted: Callable[[str], bool] = lambda url: True
) -> Iterator[Page | Outcome]:
    """The HTTP answers in anyone's WARC file (.warc or .warc.gz), oldest first; other records are passed over.

    An answer that cannot be had whole within `cap` bytes is an Outcome, as is one of a URL that is not `wanted`, whose
    body is not read. `decode` undoes content codings: body, value of Content-Encoding, cap. `Page.url_id` is 0: the
    importer gives each page its own. Raises StoreError when the file is no WARC file.
    """
    try:
        with path.open("rb") as file:
            check_beginning(file)
            for record in records_of(file):
                if record.rec_type != "response" or record.http_headers is None:
                    continue
                url = record.rec_headers.get_header("WARC-Target-URI") or ""
                yield answer_of(record, cap, decode) if wanted(url) else Outcome(Reason.OFF_SCOPE, url[:200])
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    except DAMAGED as error:
        lacks = "a record without a URL" if isinstance(error, AttributeError) else str(error)
        fault = " ".join(lacks.split())[:100]
        raise StoreError(
            f"{path} is not a whole WARC file ({fault}): get it anew and import it again; what came before the fault "
            "was kept"
        ) from error


def check_beginning(file: BinaryIO) -> None:
    """Raise ValueError unless `file` begins as a WARC (or ARC) file does: warcio takes any words for an ARC record."""
    head = file.read(BEGINNING)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        head = zlib.decompressobj(wbits=31).decompress(head, BEGINNING)
    if not head.startswith((b"WARC/", b"filedesc:")):
        raise ValueError("it does not begin as one")


def answer_of(record: Any, cap: int, decode: Decode) -> Page | Outcome:
    """The page that a WARC response record holds, or why it cannot be had."""
    http = record.http_headers
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    try:
        body: bytes | Outcome = body_of(record, cap)
    except LargeBodyError as error:
        return Outcome(Reason.TOO_LARGE, f"{url[:200]}: {error}")
    while record.raw_stream.read(_PIECE):  # what chunked coding left behind
        pass
    if getattr(record.raw_stream, "limit", 0) > 0:
        raise EOFError("its last record is cut short")
    if len(http.headers) > _MAX_HEADERS:
        return Outcome(Reason.BAD_RESPONSE, f"{url[:200]}: more than {_MAX_HEADERS} headers")
    codings = ", ".join(str(value) for name, value in http.headers if name.lower() == "content-encoding")
    body = decode(bytes(body), codings, cap) if isinstance(body, bytes) else body
    if isinstance(body, Outcome):
        return Outcome(body.reason, f"{url[:200]}: {body.detail}")
    return Page(
        url_id=0,
        url=url,
        final_url=url,
        status=int(http.get_statuscode() or 0),
        content_type=(http.get_header("Content-Type") or "")[:_MAX_VALUE],
        body=body,
        digest=hashlib.sha256(body).hexdigest(),
        fetched_at=warc_time(record.rec_headers.get_header("WARC-Date") or ""),
        etag=(http.get_header("ETag") or "")[:_MAX_VALUE],
        last_modified=(http.get_header("Last-Modified") or "")[:_MAX_VALUE],
        headers=tuple((str(name)[:_MAX_VALUE], str(value)[:_MAX_VALUE]) for name, value in http.headers),
    )


def warc_time(text: str) -> float:
    """Epoch seconds of a WARC-Date; now, where it cannot be read."""
    try:
        return float(calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return time.time()
