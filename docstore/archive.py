"""Fetched answers as WARC 1.1 files (ISO 28500), one gzip member a record, rotated by size.

A process only ever appends to files that it created itself: a file whose last record was cut short by a crash is
never written to again, and nothing but that unacknowledged record is lost. Closed files may go to an object store
(`docstore.remote_pages`). Bodies are kept with their transfer and
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
from docstore.remote_pages import RemotePages, machine_of, this_machine

ROTATE_BYTES = 512 * 1024 * 1024
GZIP_LEVEL = 1  # level 3 saves 2.5 % of the bytes for a third more time
CODING_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})


class LostPageError(StoreError):
    """A record that the store points at cannot be read any more, or is not what was kept."""

    reason = Reason.LOST_PAGE


class PageElsewhereError(LostPageError):
    """A record is in a file that its machine has not uploaded yet: it can be read later."""


class LargePageError(LostPageError):
    """A record is larger than pages may be: it was kept before there was a cap, or when there was a higher one."""

    reason = Reason.TOO_LARGE


class Archive:
    """The WARC files below `folder`. Not safe for several threads: one recorder writes. A body of more than `max_body`
    bytes is not read. With `remote` (`s3://bucket/prefix`) files go there when they are closed."""

    def __init__(
        self, folder: Path, rotate_bytes: int = ROTATE_BYTES, max_body: int = MAX_BODY, remote: str = ""
    ) -> None:
        self.folder = folder
        self.remote = RemotePages(remote) if remote else None
        self._max_body = max_body
        self._rotate_bytes = rotate_bytes
        self._file: io.FileIO | None = None
        self._name = ""
        self._count = 0

    def write(self, page: Page) -> WarcPointer:
        """Append one response record and hand its bytes to the operating system (so they outlive kill -9)."""
        file = self._file_with_room()
        start = file.tell()
        try:
            write_whole(file, compressed(response_record(page)))
        except BaseException:
            file.truncate(start)  # a full disk must not leave half a record before the next one
            file.seek(start)
            raise
        return WarcPointer(self._name, start, file.tell() - start)

    def read(self, pointer: WarcPointer, digest: str) -> bytes:
        """The payload of a kept record. LostPageError if it is missing, damaged or not the one with `digest`;
        LargePageError if it is larger than pages may be."""
        from docstore.warc_reading import DAMAGED  # warcio and with it fsspec, 0.1 s: most commands read no page

        try:
            body = first_payload(io.BytesIO(self._record(pointer)), self._max_body)
        except LargeBodyError as error:
            raise LargePageError(f"{pointer.file} at {pointer.offset}: {error}") from error
        except DAMAGED as error:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: {error}") from error
        if hashlib.sha256(body).hexdigest() != digest:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: the record is not the one that was kept")
        return body

    def read_answer(self, pointer: WarcPointer, digest: str) -> Page:
        """A kept record with its headers. Raises as `read` does."""
        from docstore.warc_reading import DAMAGED, answer_of, as_it_is, records_of

        try:
            record = next(records_of(io.BytesIO(self._record(pointer))))
            page = answer_of(record, self._max_body, as_it_is)
        except StopIteration:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: no record here") from None
        except DAMAGED as error:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: {error}") from error
        if isinstance(page, Outcome):
            raise LargePageError(f"{pointer.file} at {pointer.offset}: {page.detail}")
        if page.digest != digest:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: the record is not the one that was kept")
        return page

    def copy_out(self, pointers: Iterable[WarcPointer], target: Path) -> int:
        """Write kept records as they are into one new file; how many. LostPageError where one cannot be read any more,
        StoreError if there is such a file already or it cannot be written: nothing is left of it then."""
        count = 0
        try:
            with target.open("xb", buffering=0) as file:
                write_whole(file, compressed(warcinfo_record(target.name)))
                for pointer in pointers:
                    write_whole(file, self._record(pointer))
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

    def _record(self, pointer: WarcPointer) -> bytes:
        try:
            record = self._bytes_of(pointer)
        except OSError as error:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: {error}") from error
        if len(record) < pointer.length:
            raise LostPageError(f"{pointer.file} at {pointer.offset}: the file is shorter than it was")
        return record

    def _bytes_of(self, pointer: WarcPointer) -> bytes:
        try:
            with (self.folder / pointer.file).open("rb") as file:
                file.seek(pointer.offset)
                return file.read(pointer.length)
        except FileNotFoundError:
            if self.remote is None:
                raise
        try:
            return self.remote.read(pointer.file, pointer.offset, pointer.length)
        except FileNotFoundError:
            machine = machine_of(pointer.file)
            if machine in ("", this_machine()):
                raise
            raise PageElsewhereError(f"{pointer.file} is still on the machine {machine}") from None

    def close(self) -> None:
        """Close the file being written, if any; where there is an object store, upload what can be."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self.upload()

    def upload(self) -> int:
        """Upload all files that nobody writes; returns how many stay on this machine. 0 where there is no object
        store."""
        return self.remote.upload_left(self.folder) if self.remote else 0

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _file_with_room(self) -> io.FileIO:
        if self._file is not None and self._file.tell() < self._rotate_bytes:
            return self._file
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._count += 1
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime())
        machine = f"{this_machine()}-" if self.remote else ""
        self._name = f"plumbline-{stamp}-{machine}{os.getpid()}-{os.urandom(3).hex()}-{self._count:05d}.warc.gz"
        # Unbuffered: a buffer keeps what a full disk refused, and fails with it once more when the file is closed.
        file = (self.folder / self._name).open("xb", buffering=0)
        try:
            if self.remote:
                fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed, however that happens, nobody uploads it
            write_whole(file, compressed(warcinfo_record(self._name)))
        except BaseException:
            file.close()
            raise
        self._file = file
        return file


def write_whole(file: io.FileIO, data: bytes) -> None:
    """Write all of `data`; the system may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def compressed(record: bytes) -> bytes:
    """One gzip member. warcio would compress at level 9, which costs more than fetching the page did."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(record) + packer.flush()


def warcinfo_record(name: str) -> bytes:
    """The record that begins the file `name`, not compressed."""
    from warcio.warcwriter import WARCWriter

    written = io.BytesIO()
    writer = WARCWriter(written, gzip=False, warc_version="1.1")
    info = {"software": "Plumbline", "format": "WARC File Format 1.1"}
    writer.write_record(writer.create_warcinfo_record(name, info))
    return written.getvalue()


def response_record(page: Page) -> bytes:
    """The `response` record of `page`, not compressed. Written here: warcio takes ten times as long for it."""
    headers = page.headers or (("Content-Type", page.content_type),)
    http = [f"HTTP/1.1 {page.status} -"]
    for name, value in headers:
        kept = f"X-Archive-Orig-{name}" if name.lower() in CODING_HEADERS else name
        http.append(f"{header_text(kept)}: {header_text(value)}")
    http.append(f"Content-Length: {len(page.body)}")
    payload = ("\r\n".join(http) + "\r\n\r\n").encode("utf-8", "replace")
    lines = (
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>",
        f"WARC-Target-URI: {header_text(page.final_url)}",
        f"WARC-Date: {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(page.fetched_at))}",
        f"WARC-Payload-Digest: sha256:{hashlib.sha256(page.body).hexdigest()}",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(payload) + len(page.body)}",
    )
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")
    return b"".join((head, payload, page.body, b"\r\n\r\n"))


def header_text(value: str) -> str:
    """A header value that cannot break the record: one line, encodable."""
    return " ".join(value.split()).encode("utf-8", "replace").decode("utf-8")


def first_payload(member: BinaryIO, cap: int) -> bytes:
    """The body of the first record in `member`. LargeBodyError if it is longer than `cap` bytes."""
    from docstore.warc_reading import body_of, records_of

    for record in records_of(member):
        return body_of(record, cap)
    raise EOFError("no record here")
