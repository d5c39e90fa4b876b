"""Reading WARC and ARC files from any source in bounded memory.

    gzip -> records (`_Records`) -> HTTP head, if any -> body without transfer coding

A record that exceeds a limit becomes an Outcome, and reading continues with the next record. After a damaged record of
a compressed file, it continues with the next intact gzip member. warcio splits the records but has no limits.
`BoundedWarcReader`, the stream from which it reads, enforces them.
"""

import calendar
import hashlib
import os
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Protocol

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders, StatusAndHeadersParser

from docstore.large_bodies import MAX_BODY_BYTES, LargeBodyError
from domain.errors import StoreError
from domain.outcome import Outcome, Reason
from domain.page import Page

# Exceptions of warcio and zipfile for damaged files.
WARC_ERRORS = (ArchiveLoadFailed, EOFError, ValueError, zipfile.BadZipFile, zlib.error)
MAGIC_CHECK_BYTES = 1024
_COMPRESSED_BLOCK_BYTES = 8192  # compressed bytes per step: they expand to at most 8 MB
_READ_CHUNK_BYTES = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b\x08"
_GZIP_HEADER_BYTES, _GZIP_TRAILER_BYTES = 10, 8
_MAX_HEADER_LINE_BYTES = 1 << 16  # as in http.client
_MAX_HEADERS_BYTES = 1 << 18  # all headers of a record
_MAX_HEADER_COUNT = 101  # as in http.client, and the Content-Length that the archive adds
_MAX_HEADER_VALUE_CHARS = 2000  # longer values are cut, as in crawler/http/fetch.py
_HTTP_START = b"HTTP/"
_CHUNK_SIZE_LINE = re.compile(rb"\s*([0-9A-Fa-f]+)[ \t]*(?:;[^\n]*)?\r?\n")
_CHUNK_END = re.compile(rb"\r?\n|\Z")
_REASON_BY_RECORD_TYPE = {"revisit": Reason.REVISIT_RECORD, "conversion": Reason.CONVERSION_RECORD}


class Openable(Protocol):
    """A file that can be opened, such as a Path. `str()` must name it."""

    def open(self, mode: str, /) -> Any:
        """Open the file and return it."""


class BoundedWarcReader(DecompressingBufferedReader):  # type: ignore[misc]
    """Input stream of warcio with a limit on the length of headers.

    Raises:
        ValueError: Headers exceed the limit, or the compressed data ends early. warcio alone would report the end of
            the file.
        zlib.error: The compressed data is damaged. warcio alone would report the end of the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, block_size=_COMPRESSED_BLOCK_BYTES)
        self._header_bytes = 0

    def read(self, length: int | None = None) -> bytes:
        """Read up to `length` bytes of a body."""
        self._header_bytes = 0
        return bytes(super().read(length))

    def readline(self, length: int | None = None) -> bytes:
        """Read one header line, with the limits on line length and total length."""
        max_length = _MAX_HEADER_LINE_BYTES if length is None else min(length, _MAX_HEADER_LINE_BYTES)
        line = bytes(super().readline(max_length))
        self._header_bytes += len(line)
        if self._header_bytes > _MAX_HEADERS_BYTES or (
            len(line) >= _MAX_HEADER_LINE_BYTES and not line.endswith(b"\n")
        ):
            raise ValueError("headers without end")
        return line

    def _decompress(self, data: bytes) -> bytes:
        if self.decompressor is None or self.num_read == 0:  # uncompressed files are recognized at their beginning
            return bytes(super()._decompress(data))
        return bytes(self.decompressor.decompress(data))

    def _init_decomp(self, decomp_type: str | None) -> None:
        super()._init_decomp(decomp_type)
        self._has_member_begun = False

    def _process_read(self, data: bytes) -> None:
        # The first few hundred bytes of a gzip member may expand to nothing.
        if not data and self.decompressor is not None and self._has_member_begun and not self.decompressor.eof:
            raise ValueError("it is cut short")  # warcio would take an EOFError for the end of the file
        self._has_member_begun = self._has_member_begun or bool(data)
        super()._process_read(data)


class _Records(ArchiveIterator):  # type: ignore[misc]
    """The records of a file, with their HTTP heads in `raw_stream`. A gzip member may contain several records."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, no_record_parse=True)
        self.reader = BoundedWarcReader(file)

    def _raise_invalid_gzip_err(self) -> None:
        pass

    def _consume_blanklines(self) -> tuple[bytes | None, int]:
        """Return the first line of the next record. warcio would skip a record that follows without a blank line."""
        lines = iter(self.reader.readline, b"")
        first_line = next(lines, b"")
        if first_line.strip() and (self.known_format == "arc" or first_line.startswith(b"WARC/")):
            return first_line, 0
        return next((line for line in lines if line.strip()), None), 0


def parse_warc_records(file: BinaryIO) -> Iterator[Any]:
    """Iterate over the records of a WARC or ARC file, as warcio objects.

    Read their content only with `read_payload`.
    """
    return iter(_Records(file))


def read_payload(record: Any, max_bytes: int) -> tuple[StatusAndHeaders, bytes]:
    """Return the HTTP head of a record, and its body without transfer coding. Content-Length of the head is ignored.

    A record without an HTTP head, as in ARC files and of type `resource`, contains a body of status 200.

    Raises:
        LargeBodyError: The body is longer than `max_bytes` bytes.
        EOFError: The record is truncated.
    """
    start = record.raw_stream.readline(len(_HTTP_START))
    while start.isspace():
        start = record.raw_stream.readline(len(_HTTP_START))
    if start == _HTTP_START:
        parser = StatusAndHeadersParser((), verify=False)
        head, start = parser.parse(record.raw_stream, start + record.raw_stream.readline()), b""
    else:
        content_type = record.content_type or ""
        is_http = content_type.startswith("application/http")
        head = StatusAndHeaders("200", [] if is_http else [("Content-Type", content_type)])
    is_chunked = "chunked" in (head.get_header("Transfer-Encoding") or "").lower()
    body = _read_all(record.raw_stream, max_bytes * (2 if is_chunked else 1), start)
    return head, remove_chunks(body, max_bytes) if is_chunked else body


def _read_all(stream: Any, max_bytes: int, prefix: bytes) -> bytes:
    parts, size = [prefix], len(prefix)
    while part := stream.read(_READ_CHUNK_BYTES):
        size += len(part)
        if size > max_bytes:
            raise LargeBodyError(f"more than {max_bytes} bytes")
        parts.append(part)
    if getattr(stream, "limit", 0) > 0:
        raise EOFError("its last record is cut short")
    return b"".join(parts)


def remove_chunks(body: bytes, max_bytes: int) -> bytes:
    """Join the chunks of a body. What is not a chunk is returned unchanged: many tools decode it but keep the header.

    Raises:
        LargeBodyError: A chunk or the result is longer than `max_bytes` bytes.
    """
    parts: list[bytes] = []
    position = 0
    while line := _CHUNK_SIZE_LINE.match(body, position):
        size = int(line[1], 16)
        if size > max_bytes:
            raise LargeBodyError(f"more than {max_bytes} bytes")
        chunk_end = min(line.end() + size, len(body))
        if not size:  # headers may follow the last chunk
            position = len(body)
        elif end := _CHUNK_END.match(body, chunk_end):
            parts.append(body[line.end() : chunk_end])
            position = end.end()
        else:
            break
    content = b"".join((*parts, body[position:]))
    if len(content) > max_bytes:
        raise LargeBodyError(f"more than {max_bytes} bytes")
    return content


def read_warc(
    path: Openable,
    max_bytes: int = MAX_BODY_BYTES,
    accept_url: Callable[[str], bool] = lambda url: True,
) -> Iterator[Page | Outcome]:
    """Iterate over the responses and resources in a WARC or ARC file from any source, in file order.

    A record that exceeds a limit or only refers to another one becomes an Outcome. Records that describe requests and
    the crawl are skipped.

    Args:
        path: The file.
        max_bytes: Maximum length of a body.
        accept_url: Records for which it returns False become an Outcome, without reading the body. Must not raise.

    Yields:
        Pages with `url_id` 0 (the importer assigns ids) and encoded as their Content-Encoding says, and outcomes.

    Raises:
        StoreError: The file cannot be read, is not a WARC file, or is damaged; raised after its readable records.
    """
    try:
        with path.open("rb") as file:
            first_bytes = file.read(MAGIC_CHECK_BYTES)  # warcio would accept any text as an ARC record
            file.seek(0)
            if first_bytes.startswith(b"\x1f\x8b"):
                first_bytes = zlib.decompressobj(wbits=31).decompress(first_bytes, MAGIC_CHECK_BYTES)
            if not first_bytes.startswith((b"WARC/", b"filedesc:")):
                raise ValueError("invalid first bytes")
            yield from _iter_pages(file, max_bytes, accept_url)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    except WARC_ERRORS as error:
        detail = " ".join(str(error).split())[:100]
        raise StoreError(
            f"{path} is not a complete WARC file ({detail}): download it again and import it again; its readable "
            "records were imported"
        ) from error


def _iter_pages(file: BinaryIO, max_bytes: int, accept_url: Callable[[str], bool]) -> Iterator[Page | Outcome]:
    """Iterate over the records as `read_warc` does. Skips damaged records, and raises the first error at the end."""
    damage: Exception | None = None
    while True:
        records = _Records(file)
        try:
            for record in records:
                url = record_url(record)
                if not accept_url(url):
                    yield Outcome(Reason.OUT_OF_SCOPE, url[:200])
                elif reason := _REASON_BY_RECORD_TYPE.get(record.rec_type):
                    yield Outcome(reason, url[:200])
                elif record.rec_type in ("response", "resource"):
                    yield page_from_record(record, max_bytes)
            break
        except WARC_ERRORS as error:
            damage = damage or error
            record_start = records.offset or 0
        search_start = find_damaged_member_end(file, record_start) or record_start + 1
        if (next_start := find_gzip_record(file, search_start)) is None:
            break
        file.seek(next_start)
    if damage is not None:
        raise damage


def find_damaged_member_end(file: BinaryIO, start: int) -> int | None:
    """Return the offset after the gzip member at `start` if its content is damaged, but not its structure.

    A body may contain a gzip member with a forged record. Incompressible content is stored unchanged, so the search for
    the next record would find it. Returns None if the end is unknown: the next record, if any, must begin at it.
    """
    file.seek(start)
    if not file.read(_GZIP_HEADER_BYTES).startswith(_GZIP_MAGIC + b"\0"):  # with other flags, optional fields follow
        return None
    decompressor = zlib.decompressobj(wbits=-zlib.MAX_WBITS)  # without the checksum
    try:
        while not decompressor.eof and (block := file.read(_COMPRESSED_BLOCK_BYTES)):
            decompressor.decompress(block)
    except zlib.error:
        return None
    end = file.tell() - len(decompressor.unused_data) + _GZIP_TRAILER_BYTES
    is_file_end = end == file.seek(0, os.SEEK_END)
    return end if decompressor.eof and (is_file_end or find_gzip_record(file, end) == end) else None


def find_gzip_record(file: BinaryIO, start: int) -> int | None:
    """Return the offset of the first gzip member at or after `start` that begins with a WARC record; None at the end.

    An uncompressed file has no such members.
    """
    file.seek(start)
    offset, block = start, file.read(_READ_CHUNK_BYTES)
    while len(block) >= len(_GZIP_MAGIC):
        position = block.find(_GZIP_MAGIC)
        if position < 0:
            step = len(block) - len(_GZIP_MAGIC) + 1  # the magic may begin in this block
        else:
            step = position
            file.seek(offset + position)
            with suppress(zlib.error):
                member_start = zlib.decompressobj(wbits=31).decompress(file.read(MAGIC_CHECK_BYTES), MAGIC_CHECK_BYTES)
                if member_start.startswith(b"WARC/"):
                    return offset + position
            step += 1
        offset += step
        file.seek(offset)
        block = file.read(_READ_CHUNK_BYTES)
    return None


def record_url(record: Any) -> str:
    """Return the URL of a WARC or ARC record, or "" if it has none."""
    return record.rec_headers.get_header("WARC-Target-URI") or record.rec_headers.get_header("uri") or ""


def page_from_record(record: Any, max_bytes: int) -> Page | Outcome:
    """Convert a response or resource record to a Page, or to an Outcome that says why it cannot be read.

    Raises:
        EOFError: The record is truncated.
    """
    url = record_url(record)
    try:
        head, body = read_payload(record, max_bytes)
    except LargeBodyError as error:
        return Outcome(Reason.TOO_LARGE, f"{url[:200]}: {error}")
    if len(head.headers) > _MAX_HEADER_COUNT:
        return Outcome(Reason.MALFORMED_RESPONSE, f"{url[:200]}: more than {_MAX_HEADER_COUNT} headers")
    headers = tuple(
        (str(name)[:_MAX_HEADER_VALUE_CHARS], str(value)[:_MAX_HEADER_VALUE_CHARS]) for name, value in head.headers
    )
    value_by_name = {name.lower(): value for name, value in reversed(headers)}
    status = head.get_statuscode()
    date = record.rec_headers.get_header("WARC-Date") or record.rec_headers.get_header("archive-date") or ""
    return Page(
        url_id=0,
        url=url,
        final_url=url,
        status=int(status) if re.fullmatch("[0-9]{3}", status) else 0,
        content_type=value_by_name.get("content-type", ""),
        body=body,
        digest=hashlib.sha256(body).hexdigest(),
        fetched_at=parse_warc_date(date),
        etag=value_by_name.get("etag", ""),
        last_modified=value_by_name.get("last-modified", ""),
        headers=headers,
    )


def parse_warc_date(text: str) -> float:
    """Parse the date of a record as epoch seconds. It may end after the year, month, day or minute.

    Returns the current time if the date is invalid.
    """
    digits = re.sub(r"\D", "", text[:19])
    try:
        return float(calendar.timegm(time.strptime(digits + "00000101000000"[len(digits) :], "%Y%m%d%H%M%S")))
    except ValueError:
        return time.time()
