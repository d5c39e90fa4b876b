"""Writing and reading fetched responses as WARC 1.1 files (ISO 28500): one gzip member per record, rotated by size.

A process appends only to files that it created. A file whose last record was truncated by a crash is never written
again, so a crash loses at most that unacknowledged record. Closed files may move to an object store
(`docstore.warc_object_store`). Bodies are stored without transfer coding and content coding. The headers of those
codings are renamed to `X-Archive-Orig-...`.
"""

import fcntl
import io
import os
import time
import uuid
import zlib
from collections.abc import Iterable
from pathlib import Path

from docstore.large_bodies import MAX_BODY_BYTES
from docstore.warc_object_store import WarcObjectStore, machine_from_file_name, machine_name
from domain.errors import StoreError
from domain.outcome import Outcome, Reason
from domain.page import Page, WarcPointer
from locks.private_files import open_private

ROTATE_BYTES = 512 * 1024 * 1024
GZIP_LEVEL = 4  # level 1 is 0.4 ms per page faster but 12% larger; level 6 is 4% smaller but takes 0.9 ms more
ENCODING_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})


class WarcRecordLostError(StoreError):
    """A record in the store can no longer be read, or its content does not match the stored digest."""

    reason = Reason.WARC_RECORD_LOST


class WarcRecordNotUploadedError(WarcRecordLostError):
    """The file of a record is still on another machine. The record can be read after the upload."""


class WarcRecordTooLargeError(WarcRecordLostError):
    """A record is larger than the current size limit: it was stored without a limit or with a higher one."""

    reason = Reason.TOO_LARGE


class WarcArchive:
    """The WARC files in `folder`. Not thread-safe: only one thread may write.

    Args:
        folder: Folder of the files; created when the first record is written.
        rotate_bytes: Size at which a new file is started.
        max_body_bytes: Larger bodies are not read.
        object_store_url: URL such as `s3://bucket/prefix` to which closed files move; "" for none.
    """

    def __init__(
        self,
        folder: Path,
        rotate_bytes: int = ROTATE_BYTES,
        max_body_bytes: int = MAX_BODY_BYTES,
        object_store_url: str = "",
    ) -> None:
        self.folder = folder
        self.object_store = WarcObjectStore(object_store_url) if object_store_url else None
        self._max_body_bytes = max_body_bytes
        self.rotate_bytes = rotate_bytes
        self._current_file: io.FileIO | None = None
        self._current_file_name = ""
        self._files_created = 0

    def append_page(self, page: Page) -> WarcPointer:
        """Append one response record. The bytes are passed to the operating system, so they survive kill -9."""
        file = self._file_for_append()
        start = file.tell()
        try:
            write_all(file, gzip_member(response_record(page)))
        except BaseException:
            file.truncate(start)  # after a full disk, the next record must not follow half a record
            file.seek(start)
            raise
        return WarcPointer(self._current_file_name, start, file.tell() - start)

    def read_body(self, pointer: WarcPointer, digest: str) -> bytes:
        """Return the payload of a record.

        Raises:
            WarcRecordLostError: The record is missing, damaged, or its digest differs from `digest`.
            WarcRecordNotUploadedError: The file is still on another machine.
            WarcRecordTooLargeError: The body exceeds the size limit.
        """
        return self.read_page(pointer, digest).body

    def read_page(self, pointer: WarcPointer, digest: str) -> Page:
        """Return the page of a record, including its response headers.

        Raises:
            WarcRecordLostError: The record is missing or damaged, or the SHA-256 of its body is not `digest`.
            WarcRecordNotUploadedError: The file is still on another machine.
            WarcRecordTooLargeError: The body exceeds the size limit.
        """
        from docstore.warc_reader import WARC_ERRORS, page_from_record, parse_warc_records  # this takes 0.1 s

        try:
            record = next(parse_warc_records(io.BytesIO(self._read_record(pointer))))
            page = page_from_record(record, self._max_body_bytes)
        except StopIteration:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: no record at this offset") from None
        except WARC_ERRORS as error:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: {error}") from error
        if isinstance(page, Outcome):
            raise WarcRecordTooLargeError(f"{pointer.file_name} at {pointer.offset}: {page.detail}")
        if page.digest != digest:
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: the record does not match its digest")
        return page

    def export_records(self, pointers: Iterable[WarcPointer], target: Path) -> int:
        """Copy stored records unchanged into one new file. Returns the number of records.

        On any error the target file is deleted.

        Raises:
            WarcRecordLostError: A record can no longer be read.
            StoreError: The target already exists or cannot be written.
        """
        count = 0
        try:
            with target.open("xb", buffering=0) as file:
                write_all(file, gzip_member(warcinfo_record(target.name)))
                for pointer in pointers:
                    write_all(file, self._read_record(pointer))
                    count += 1
        except FileExistsError as error:
            raise StoreError(f"{target} already exists: name a new file") from error
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
            raise WarcRecordLostError(f"{pointer.file_name} at {pointer.offset}: the file was truncated")
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
            raise WarcRecordNotUploadedError(
                f"{pointer.file_name} is still on the machine {machine}: run plumb crawl there to upload it"
            ) from None

    def close(self) -> None:
        """Close the current file, if any, and upload closed files to the object store, if configured."""
        if self._current_file is not None:
            self._current_file.close()
            self._current_file = None
            self.upload_closed_files()

    def upload_closed_files(self) -> int:
        """Upload all closed files. Returns the number of files that stay on this machine; 0 without an object store."""
        return self.object_store.upload_closed_files(self.folder) if self.object_store else 0

    def __enter__(self) -> "WarcArchive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _file_for_append(self) -> io.FileIO:
        if self._current_file is not None and self._current_file.tell() < self.rotate_bytes:
            return self._current_file
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files_created += 1
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime())
        machine = f"{machine_name()}-" if self.object_store else ""
        self._current_file_name = (
            f"plumbline-{stamp}-{machine}{os.getpid()}-{os.urandom(3).hex()}-{self._files_created:05d}.warc.gz"
        )
        # Unbuffered: on a full disk, a buffer would retain the unwritten data and fail again on close.
        file = io.FileIO(self.folder / self._current_file_name, "x", opener=open_private)
        try:
            if self.object_store:
                fcntl.flock(file, fcntl.LOCK_EX)  # no process uploads the file until it is closed
            write_all(file, gzip_member(warcinfo_record(self._current_file_name)))
        except BaseException:
            file.close()
            raise
        self._current_file = file
        return file


def write_all(file: io.FileIO, data: bytes) -> None:
    """Write all of `data`; the system may accept only a part per call."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def gzip_member(record: bytes) -> bytes:
    """Compress a record to one gzip member. warcio always uses level 9, which takes longer than fetching the page."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return compressor.compress(record) + compressor.flush()


def warcinfo_record(name: str) -> bytes:
    """Return the uncompressed `warcinfo` record at the beginning of the file `name`."""
    from warcio.warcwriter import WARCWriter

    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=False, warc_version="1.1")
    info = {"software": "Plumbline", "format": "WARC File Format 1.1"}
    writer.write_record(writer.create_warcinfo_record(name, info))
    return buffer.getvalue()


def response_record(page: Page) -> bytes:
    """Return the uncompressed `response` record of `page`. Built without warcio, which takes ten times as long."""
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
        f"WARC-Payload-Digest: sha256:{page.digest}",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(payload) + len(page.body)}",
    )
    head = ("\r\n".join(warc_lines) + "\r\n\r\n").encode("utf-8", "replace")
    return b"".join((head, payload, page.body, b"\r\n\r\n"))


def sanitize_header_value(value: str) -> str:
    """Return a header value as one line that can be encoded in UTF-8, so that it cannot break the record."""
    line = " ".join(value.split())
    return line if line.isascii() else line.encode("utf-8", "replace").decode("utf-8")
