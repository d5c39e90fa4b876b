"""Fetched answers as WARC 1.1 files (ISO 28500), one gzip member a record, rotated by size.

A process only ever appends to files that it created itself: a file whose last record was cut short by a crash is
never written to again, and nothing but that unacknowledged record is lost. Closed files may go to an object store
(`docstore.warc_object_store`). Bodies are kept with their transfer and
content coding undone; the headers that described those codings are renamed `X-Archive-Orig-...`.
"""

import fcntl
import hashlib
import io
import os
import time
import uuid
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from docstore.errors import StoreError
from docstore.large_bodies import MAX_BODY, LargeBodyError
from docstore.model import Outcome, Page, Reason, WarcPointer
from docstore.warc_object_store import WarcObjectStore, machine_from_file_name, machine_name

ROTATE_BYTES = 512 * 1024 * 1024
GZIP_LEVEL = 1  # level 3 saves 2.5 % of the bytes for a third more time
ENCODING_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})


class WarcRecordLostError(StoreError):
    """A record that the store points at cannot be read any more, or is not what was kept."""

    reason = Reason.WARC_RECORD_LOST


class WarcRecordNotUploadedError(WarcRecordLostError):
    """A record is in a file that its machine has not uploaded yet: it can be read later."""


class WarcRecordTooLargeError(WarcRecordLostError):
    """A record is larger than pages may be: it was kept before there was a cap, or when there was a higher one."""

    reason = Reason.TOO_LARGE


class WarcArchive:
    """The WARC files below `folder`. Not safe for several threads: one recorder writes. A body of more than `max_body`
    bytes is not read. With `object_store` (`s3://bucket/prefix`) files go there when they are closed."""

    def __init__(
        self, folder: Path, rotate_bytes: int = ROTATE_BYTES, max_body_bytes: int = MAX_BODY, object_store_url: str = ""
    ) -> None:
        self.folder = folder
        self.object_store = WarcObjectStore(object_store_url) if object_store_url else None
        self._max_body_bytes = max_body_bytes
        self._rotate_bytes = rotate_bytes
        self._current_file: io.FileIO | None = None
        self._current_file_name = ""
        self._files_created = 0

    def append_page(self, page: Page) -> WarcPointer:
        """Append one response record and hand its bytes to the operating system (so they outlive kill -9)."""
        file = self._file_for_append()
        start = file.tell()
        try:
            write_all(file, gzip_member(response_record(page)))
        except BaseException:
            file.truncate(start)  # a full disk must not leave half a record before the next one
            file.seek(start)
            raise
        return WarcPointer(self._current_file_name, start, file.tell() - start)

    def read_body(self, pointer: WarcPointer, digest: str) -> bytes:
        """The payload of a kept record. LostPageError if it is missing, damaged or not the one with `digest`;
        LargePageError if it is larger than pages may be."""
        from docstore.warc_reader import WARC_ERRORS  # warcio and with it fsspec, 0.1 s: most commands read no page

        try:
            body = read_first_body(io.BytesIO(self._read_record(pointer)), self._max_body_bytes)
        except LargeBodyError as error:
            raise WarcRecordTooLargeError(f"{pointer.file_name} at {pointer.offset}: {error}") from error
        except WARC_ERRORS as error:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: {error}") from error
        if hashlib.sha256(body).hexdigest() != digest:
            raise WarcRecordLostError(
                f"{pointer.file_name} at {pointer.offset}: the record is not the one that was kept"
            )
        return body

    def read_page(self, pointer: WarcPointer, digest: str) -> Page:
        """A kept record with its headers. Raises as `read_body` does."""
        from docstore.warc_reader import WARC_ERRORS, identity_decoder, iter_records, page_from_record

        try:
            record = next(iter_records(io.BytesIO(self._read_record(pointer))))
            page = page_from_record(record, self._max_body_bytes, identity_decoder)
        except StopIteration:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: no record here") from None
        except WARC_ERRORS as error:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: {error}") from error
        if isinstance(page, Outcome):
            raise WarcRecordTooLargeError(f"{pointer.file_name} at {pointer.offset}: {page.detail}")
        if page.digest != digest:
            raise WarcRecordLostError(
                f"{pointer.file_name} at {pointer.offset}: the record is not the one that was kept"
            )
        return page

    def export_records(self, pointers: Iterable[WarcPointer], target: Path) -> int:
        """Write kept records as they are into one new file; how many. LostPageError where one cannot be read any more,
        StoreError if there is such a file already or it cannot be written: nothing is left of it then."""
        count = 0
        try:
            with target.open("xb", buffering=0) as file:
                write_all(file, gzip_member(warcinfo_record(target.name)))
                for pointer in pointers:
                    write_all(file, self._read_record(pointer))
                    count += 1
        except FileExistsError as error:
            raise StoreError(f"{target} is there already: name a new file") from error
        except OSError as error:
            target.unlink(missing_ok=True)
            raise StoreError(f"cannot write {target}: {error.strerror}") from error
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return count

    def _read_record(self, pointer: WarcPointer) -> bytes:
        try:
            record = self._read_bytes(pointer)
        except OSError as error:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: {error}") from error
        if len(record) < pointer.length:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: the file is shorter than it was")
        return record

    def _read_bytes(self, pointer: WarcPointer) -> bytes:
        try:
            with (self.folder / pointer.file_name).open("rb") as file:
                file.seek(pointer.offset)
                return file.read(pointer.length)
        except FileNotFoundError:
            if self.object_store is None:
                raise
        try:
            return self.object_store.read(pointer.file_name, pointer.offset, pointer.length)
        except FileNotFoundError:
            machine = machine_from_file_name(pointer.file_name)
            if machine in ("", machine_name()):
                raise
            raise WarcRecordNotUploadedError(f"{pointer.file_name} is still on the machine {machine}") from None

    def close(self) -> None:
        """Close the file being written, if any; where there is an object store, upload what can be."""
        if self._current_file is not None:
            self._current_file.close()
            self._current_file = None
            self.upload_closed_files()

    def upload_closed_files(self) -> int:
        """Upload all files that nobody writes; returns how many stay on this machine. 0 where there is no object
        store."""
        return self.object_store.upload_closed_files(self.folder) if self.object_store else 0

    def __enter__(self) -> "WarcArchive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _file_for_append(self) -> io.FileIO:
        if self._current_file is not None and self._current_file.tell() < self._rotate_bytes:
            return self._current_file
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files_created += 1
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime())
        machine = f"{machine_name()}-" if self.object_store else ""
        self._current_file_name = (
            f"plumbline-{stamp}-{machine}{os.getpid()}-{os.urandom(3).hex()}-{self._files_created:05d}.warc.gz"
        )
        # Unbuffered: a buffer keeps what a full disk refused, and fails with it once more when the file is closed.
        file = (self.folder / self._current_file_name).open("xb", buffering=0)
        try:
            if self.object_store:
                fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed, however that happens, nobody uploads it
            write_all(file, gzip_member(warcinfo_record(self._current_file_name)))
        except BaseException:
            file.close()
            raise
        self._current_file = file
        return file


def write_all(file: io.FileIO, data: bytes) -> None:
    """Write all of `data`; the system may take a part at a time."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def gzip_member(record: bytes) -> bytes:
    """One gzip member. warcio would compress at level 9, which costs more than fetching the page did."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return compressor.compress(record) + compressor.flush()


def warcinfo_record(name: str) -> bytes:
    """The record that begins the file `name`, not compressed."""
    from warcio.warcwriter import WARCWriter

    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=False, warc_version="1.1")
    info = {"software": "Plumbline", "format": "WARC File Format 1.1"}
    writer.write_record(writer.create_warcinfo_record(name, info))
    return buffer.getvalue()


def response_record(page: Page) -> bytes:
    """The `response` record of `page`, not compressed. Written here: warcio takes ten times as long for it."""
    headers = page.headers or (("Content-Type", page.content_type),)
    http_lines = [f"HTTP/1.1 {page.status} -"]
    for name, value in headers:
        archived_name = f"X-Archive-Orig-{name}" if name.lower() in ENCODING_HEADERS else name
        http_lines.append(f"{sanitize_header_value(archived_name)}: {sanitize_header_value(value)}")
    http_lines.append(f"Content-Length: {len(page.body)}")
    payload = ("\r\n".join(http_lines) + "\r\n\r\n").encode("utf-8", "replace")
    warc_lines = (
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>",
        f"WARC-Target-URI: {sanitize_header_value(page.final_url)}",
        f"WARC-Date: {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(page.fetched_at))}",
        f"WARC-Payload-Digest: sha256:{hashlib.sha256(page.body).hexdigest()}",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(payload) + len(page.body)}",
    )
    head = ("\r\n".join(warc_lines) + "\r\n\r\n").encode("utf-8", "replace")
    return b"".join((head, payload, page.body, b"\r\n\r\n"))


def sanitize_header_value(value: str) -> str:
    """A header value that cannot break the record: one line, encodable."""
    return " ".join(value.split()).encode("utf-8", "replace").decode("utf-8")


def read_first_body(gzip_stream: BinaryIO, max_bytes: int) -> bytes:
    """The body of the first record in `gzip_stream`. LargeBodyError if it is longer than `max_bytes` bytes."""
    from docstore.warc_reader import iter_records, read_record_body

    for record in iter_records(gzip_stream):
        return read_record_body(record, max_bytes)
    raise EOFError("no record here")
