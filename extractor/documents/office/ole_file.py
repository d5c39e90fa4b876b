"""The compound files (OLE) of old Office, taken apart by olefile: their streams, properties and locks.

No macro, no object within is looked at.
"""

import io
import struct
from collections.abc import Callable
from dataclasses import replace

import olefile

from docstore.model import Reason
from extractor.documents.content import DocumentContent, FileProperties, UnreadableError, to_one_line
from extractor.documents.format_detection import ENCRYPTED_PACKAGE_MARK

MAX_STREAM_BYTES = 100_000_000
MALFORMED_ERRORS = struct.error, IndexError, ValueError, KeyError


def read_compound(data: bytes, read: Callable[[olefile.OleFileIO], DocumentContent]) -> DocumentContent:
    """What `read` makes of the container, with its properties. Raises UnreadableError."""
    with open_ole(data) as container:
        try:
            return replace(read(container), properties=read_properties(container))
        except MALFORMED_ERRORS as error:
            raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None


def open_ole(data: bytes) -> olefile.OleFileIO:
    """The container. Raises UnreadableError."""
    if not olefile.isOleFile(data=data):
        raise UnreadableError(Reason.UNPARSABLE, "it is no compound file, and no older form that is read")
    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except (OSError, *MALFORMED_ERRORS) as error:
        raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None


def read_stream(container: olefile.OleFileIO, name: str) -> bytes:
    """The bytes of a stream, none where it is not there."""
    if not container.exists(name):
        return b""
    if container.get_size(name) > MAX_STREAM_BYTES:
        raise UnreadableError(Reason.TOO_LARGE, f"{name} has more than {MAX_STREAM_BYTES >> 20} MB")
    content: bytes = container.openstream(name).read()
    return content


def read_workbook_stream(data: bytes) -> bytes:
    """The stream of an old workbook. Raises UnreadableError for an encrypted container of new Office."""
    if ENCRYPTED_PACKAGE_MARK in data:
        raise UnreadableError(Reason.PASSWORD_PROTECTED, "it opens with a password only")
    with open_ole(data) as container:
        return read_stream(container, "Workbook") or read_stream(container, "Book")


def read_properties(container: olefile.OleFileIO) -> FileProperties:
    """What the file says of itself."""
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
    """A property as text."""
    if not isinstance(value, bytes):
        return ""
    try:
        return to_one_line(value.decode(encoding, "replace")[:500])
    except LookupError:
        return to_one_line(value.decode("utf-8", "replace")[:500])
