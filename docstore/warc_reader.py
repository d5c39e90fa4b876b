"""Reading WARC files that anyone wrote: in bounded memory, whatever is in them.

    gzip member -> lines of headers (BoundedLines) -> body, its transfer coding undone -> content codings (`decode_page`)

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
WARC_ERRORS = (ArchiveLoadFailed, AttributeError, EOFError, ValueError, zlib.error)
MAGIC_CHECK_BYTES = 1024  # bytes
_COMPRESSED_BLOCK_BYTES = 8192  # compressed bytes that are unpacked at once: at most eight megabytes of them
_READ_CHUNK_BYTES = 1 << 16
_MAX_HEADER_LINE_BYTES = 1 << 16  # bytes of one header, as in http.client
_MAX_HEADERS_BYTES = 1 << 18  # bytes of headers in a row
_MAX_HEADER_COUNT = 100  # as in http.client
_MAX_HEADER_VALUE_CHARS = 2000  # characters of a header that are kept, as in crawler/http/fetch.py
BodyDecoder = Callable[[bytes, str, int], bytes | Outcome]


class Openable(Protocol):
    """A file that can be opened and named, as a Path."""

    def open(self, mode: str, /) -> Any:
        """The open file."""


class _Readable(Protocol):
    def read(self, length: int, /) -> bytes: ...

    def readline(self, length: int, /) -> bytes: ...


class BoundedWarcReader(DecompressingBufferedReader):  # type: ignore[misc]
    """The stream from which warcio reads records, with a limit on the length of headers.

    Raises ValueError if headers are longer than the limit or compressed bytes end early, and zlib.error if compressed
    bytes are damaged: warcio takes both for the end of the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, block_size=_COMPRESSED_BLOCK_BYTES)
        self._header_bytes = 0

    def read(self, length: int | None = None) -> bytes:
        """Of a body."""
        self._header_bytes = 0
        return bytes(super().read(length))

    def readline(self, length: int | None = None) -> bytes:
        """Of headers."""
        max_length = _MAX_HEADER_LINE_BYTES if length is None else min(length, _MAX_HEADER_LINE_BYTES)
        line = bytes(super().readline(max_length))
        self._header_bytes += len(line)
        if self._header_bytes > _MAX_HEADERS_BYTES or (
            len(line) >= _MAX_HEADER_LINE_BYTES and not line.endswith(b"\n")
        ):
            raise ValueError("headers without end")
        return line

    def _decompress(self, data: bytes) -> bytes:
        if self.decompressor is None or self.num_read == 0:  # a file that is not compressed shows it at once
            return bytes(super()._decompress(data))
        return bytes(self.decompressor.decompress(data))

    def _init_decomp(self, decomp_type: str | None) -> None:
        super()._init_decomp(decomp_type)
        self._has_member_begun = False

    def _process_read(self, data: bytes) -> None:
        # The first few hundred bytes of a gzip member may unpack to nothing.
        if not data and self.decompressor is not None and self._has_member_begun and not self.decompressor.eof:
            raise ValueError("it is cut short")  # warcio takes an EOFError for the end of the file
        self._has_member_begun = self._has_member_begun or bool(data)
        super()._process_read(data)


def iter_records(file: BinaryIO) -> Iterator[Any]:
    """warcio's records, read through `BoundedWarcReader`. Their bodies are for `read_record_body` alone."""
    records = ArchiveIterator(file, arc2warc=True)
    records.reader = BoundedWarcReader(file)
    return iter(records)


def read_record_body(record: Any, max_bytes: int) -> bytes:
    """The body of a response record, its transfer coding undone. LargeBodyError if it is longer than `max_bytes` bytes; what
    its headers say of its length does not count."""
    transfer_encoding = record.http_headers.get_header("Transfer-Encoding") or ""
    if "chunked" in transfer_encoding.lower():
        return _read_chunked(record.raw_stream, max_bytes)
    return _read_all(record.raw_stream, max_bytes)


def _read_all(stream: _Readable, max_bytes: int, prefix: bytes = b"") -> bytes:
    parts, size = [prefix], len(prefix)
    while size <= max_bytes and (part := stream.read(_READ_CHUNK_BYTES)):
        parts.append(part)
        size += len(part)
    if size > max_bytes:
        raise LargeBodyError(f"more than {max_bytes} bytes")
    return b"".join(parts)


def _read_chunked(stream: _Readable, max_bytes: int) -> bytes:
    """Without chunks; as it stands, where it begins with none: many tools undo the coding and keep the header."""
    parts: list[bytes] = []
    size = 0
    while True:
        line = stream.readline(64)
        try:
            length = int(line.partition(b";")[0].strip(), 16)
        except ValueError:
            return b"".join(parts) if parts else _read_all(stream, max_bytes, line)
        if length <= 0:
            return b"".join(parts)
        size += length
        if size > max_bytes:
            raise LargeBodyError(f"more than {max_bytes} bytes")
        while length and (part := stream.read(length)):
            parts.append(part)
            length -= len(part)
        if length:
            return b"".join(parts)
        stream.readline(2)


def identity_decoder(body: bytes, content_encoding: str, max_bytes: int) -> bytes | Outcome:
    """For files of our own: no content coding is left in them."""
    del content_encoding, max_bytes
    return body


def read_warc(
    path: Openable,
    max_bytes: int = MAX_BODY,
    decode: BodyDecoder = identity_decoder,
    accept_url: Callable[[str], bool] = lambda url: True,
) -> Iterator[Page | Outcome]:
    """The HTTP answers in anyone's WARC file (.warc or .warc.gz), oldest first; other records are passed over.

    An answer that cannot be had whole within `max_bytes` bytes is an Outcome, as is one of a URL that is not `accept_url`, whose
    body is not read. `decode` undoes content codings: body, value of Content-Encoding, cap. `Page.url_id` is 0: the
    importer gives each page its own. Raises StoreError when the file is no WARC file.
    """
    try:
        with path.open("rb") as file:
            check_warc_magic(file)
            for record in iter_records(file):
                if record.rec_type != "response" or record.http_headers is None:
                    continue
                url = record.rec_headers.get_header("WARC-Target-URI") or ""
                yield (
                    page_from_record(record, max_bytes, decode)
                    if accept_url(url)
                    else Outcome(Reason.OUT_OF_SCOPE, url[:200])
                )
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    except WARC_ERRORS as error:
        problem = "a record without a URL" if isinstance(error, AttributeError) else str(error)
        detail = " ".join(problem.split())[:100]
        raise StoreError(
            f"{path} is not a whole WARC file ({detail}): get it anew and import it again; what came before the fault "
            "was kept"
        ) from error


def check_warc_magic(file: BinaryIO) -> None:
    """Raise ValueError unless `file` begins as a WARC (or ARC) file does: warcio takes any words for an ARC record."""
    first_bytes = file.read(MAGIC_CHECK_BYTES)
    file.seek(0)
    if first_bytes.startswith(b"\x1f\x8b"):
        first_bytes = zlib.decompressobj(wbits=31).decompress(first_bytes, MAGIC_CHECK_BYTES)
    if not first_bytes.startswith((b"WARC/", b"filedesc:")):
        raise ValueError("it does not begin as one")


def page_from_record(record: Any, max_bytes: int, decode: BodyDecoder) -> Page | Outcome:
    """The page that a WARC response record holds, or why it cannot be had."""
    http_headers = record.http_headers
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    try:
        body: bytes | Outcome = read_record_body(record, max_bytes)
    except LargeBodyError as error:
        return Outcome(Reason.TOO_LARGE, f"{url[:200]}: {error}")
    while record.raw_stream.read(_READ_CHUNK_BYTES):  # what chunked coding left behind
        pass
    if getattr(record.raw_stream, "limit", 0) > 0:
        raise EOFError("its last record is cut short")
    if len(http_headers.headers) > _MAX_HEADER_COUNT:
        return Outcome(Reason.MALFORMED_RESPONSE, f"{url[:200]}: more than {_MAX_HEADER_COUNT} headers")
    content_encodings = ", ".join(
        str(value) for name, value in http_headers.headers if name.lower() == "content-encoding"
    )
    body = decode(bytes(body), content_encodings, max_bytes) if isinstance(body, bytes) else body
    if isinstance(body, Outcome):
        return Outcome(body.reason, f"{url[:200]}: {body.detail}")
    return Page(
        url_id=0,
        url=url,
        final_url=url,
        status=int(http_headers.get_statuscode() or 0),
        content_type=(http_headers.get_header("Content-Type") or "")[:_MAX_HEADER_VALUE_CHARS],
        body=body,
        digest=hashlib.sha256(body).hexdigest(),
        fetched_at=parse_warc_date(record.rec_headers.get_header("WARC-Date") or ""),
        etag=(http_headers.get_header("ETag") or "")[:_MAX_HEADER_VALUE_CHARS],
        last_modified=(http_headers.get_header("Last-Modified") or "")[:_MAX_HEADER_VALUE_CHARS],
        headers=tuple(
            (str(name)[:_MAX_HEADER_VALUE_CHARS], str(value)[:_MAX_HEADER_VALUE_CHARS])
            for name, value in http_headers.headers
        ),
    )


def parse_warc_date(text: str) -> float:
    """Epoch seconds of a WARC-Date; now, where it cannot be read."""
    try:
        return float(calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return time.time()
