"""The compound files (OLE) of old Office, taken apart by olefile: their streams, properties and locks.

No macro, no object within is looked at.
"""

import io
import struct
from collections.abc import Callable
from dataclasses import replace

import olefile

from docstore.model import Reason
from extractor.documents.content import Content, Properties, UnreadableError, one_line
from extractor.documents.detection import ENCRYPTED

MAX_STREAM = 100_000_000
NOT_OURS = struct.error, IndexError, ValueError, KeyError


def read_compound(data: bytes, read: Callable[[olefile.OleFileIO], Content]) -> Content:
    """What `read` makes of the container, with its properties. Raises UnreadableError."""
    with opened(data) as container:
        try:
            return replace(read(container), properties=properties_of(container))
        except NOT_OURS as error:
            raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None


def opened(data: bytes) -> olefile.OleFileIO:
    """The container. Raises UnreadableError."""
    if not olefile.isOleFile(data=data):
        raise UnreadableError(Reason.UNPARSABLE, "it is no compound file, and no older form that is read")
    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except (OSError, *NOT_OURS) as error:
        raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None


def stream(container: olefile.OleFileIO, name: str) -> bytes:
    """The bytes of a stream, none where it is not there."""
    if not container.exists(name):
        return b""
    if container.get_size(name) > MAX_STREAM:
        raise UnreadableError(Reason.TOO_LARGE, f"{name} has more than {MAX_STREAM >> 20} MB")
    found: bytes = container.openstream(name).read()
    return found


def workbook_of(data: bytes) -> bytes:
    """The stream of an old workbook. Raises UnreadableError for an encrypted container of new Office."""
    if ENCRYPTED in data:
        raise UnreadableError(Reason.ENCRYPTED, "it opens with a password only")
    with opened(data) as container:
        return stream(container, "Workbook") or stream(container, "Book")


def properties_of(container: olefile.OleFileIO) -> Properties:
    """What the file says of itself."""
    try:
        found = container.get_metadata()
    except (OSError, *NOT_OURS, AttributeError, TypeError):
        return Properties()
    encoding = f"cp{found.codepage}" if found.codepage and 0 < found.codepage < 65_000 else "utf-8"
    created = found.create_time.date().isoformat() if hasattr(found.create_time, "date") else ""
    return Properties(text_of(found.title, encoding), text_of(found.author, encoding), created)


def text_of(value: object, encoding: str) -> str:
    """A property as text."""
    if not isinstance(value, bytes):
        return ""
    try:
        return one_line(value.decode(encoding, "replace")[:500])
    except LookupError:
        return one_line(value.decode("utf-8", "replace")[:500])
