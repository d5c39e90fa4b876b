"""OLE files of Office 97 to 2003, read with olefile: streams, properties, encryption. Ignores macros and objects."""

import io
import struct
from collections.abc import Callable
from dataclasses import replace

import olefile

from domain.message import Message
from domain.outcome import Reason
from extractor.documents.content import (
    PASSWORD_PROTECTED_MESSAGE,
    DocumentContent,
    FileProperties,
    UnreadableError,
    damaged_error,
    to_one_line,
)
from extractor.documents.format_detection import ENCRYPTED_PACKAGE_MARK

MAX_STREAM_BYTES = 100_000_000
MALFORMED_ERRORS = struct.error, IndexError, ValueError, KeyError


def read_compound(data: bytes, read: Callable[[olefile.OleFileIO], DocumentContent]) -> DocumentContent:
    """Open an OLE file, apply `read` to it and add its properties. Raises UnreadableError."""
    with open_ole(data) as container:
        try:
            return replace(read(container), properties=read_properties(container))
        except MALFORMED_ERRORS as error:
            raise damaged_error(error) from None


def open_ole(data: bytes) -> olefile.OleFileIO:
    """Open an OLE file. Raises UnreadableError if it is damaged or not an OLE file."""
    if not olefile.isOleFile(data=data):
        raise UnreadableError(Reason.UNPARSABLE, Message("Not supported: not an OLE file"))
    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except (OSError, *MALFORMED_ERRORS) as error:
        raise damaged_error(error) from None


def read_stream(container: olefile.OleFileIO, name: str) -> bytes:
    """Return the bytes of a stream, empty if it does not exist. Raises UnreadableError if it is too large."""
    if not container.exists(name):
        return b""
    if container.get_size(name) > MAX_STREAM_BYTES:
        megabytes = MAX_STREAM_BYTES // 1_000_000
        raise UnreadableError(
            Reason.TOO_LARGE, Message("{name} is larger than the limit of {n} MB", name=name, n=megabytes)
        )
    content: bytes = container.openstream(name).read()
    return content


def read_workbook_stream(data: bytes) -> bytes:
    """Return the workbook stream of an XLS file. Raises UnreadableError for an encrypted OOXML file."""
    if ENCRYPTED_PACKAGE_MARK in data:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, PASSWORD_PROTECTED_MESSAGE)
    with open_ole(data) as container:
        return read_stream(container, "Workbook") or read_stream(container, "Book")


def read_properties(container: olefile.OleFileIO) -> FileProperties:
    """Return the metadata of the file."""
    try:
        metadata = container.get_metadata()
    except (OSError, *MALFORMED_ERRORS, AttributeError, TypeError):
        return FileProperties()
    encoding = f"cp{metadata.codepage}" if metadata.codepage and 0 < metadata.codepage < 65_000 else "utf-8"
    created = metadata.create_time.date().isoformat() if hasattr(metadata.create_time, "date") else ""
    return FileProperties(
        decode_property(metadata.title, encoding), decode_property(metadata.author, encoding), created
    )


def decode_property(value: object, encoding: str) -> str:
    """Decode a property value to text on one line, or return an empty string."""
    if not isinstance(value, bytes):
        return ""
    try:
        return to_one_line(value.decode(encoding, "replace")[:500])
    except LookupError:
        return to_one_line(value.decode("utf-8", "replace")[:500])
