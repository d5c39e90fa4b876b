"""Zip files of XML, as Office, OpenDocument, EPUB and OFD are: their parts are unpacked and parsed under caps.

No entity is resolved, no DTD is loaded, nothing outside the file is asked for, and nothing in it is run. A part is
counted while it is unpacked: what the zip's directory says of its size is not believed.
"""

import io
import zipfile
import zlib
from posixpath import join, normpath

from lxml import etree
from lxml.etree import _Element as Element

from docstore.model import Reason
from extractor.documents.content import UnreadableError

MAX_ENTRIES = 20_000
MAX_PART_BYTES = 48 * 1024 * 1024  # bytes of one part, whose tree takes some eight times as much memory
MAX_UNPACKED_BYTES = 256 * 1024 * 1024  # bytes of all parts that are read
DTD_SEARCH_BYTES = 100_000  # bytes of a part in which a DTD stands
CHUNK_BYTES = 1024 * 1024
DAMAGE_ERRORS = (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, IndexError)
RELATIONSHIP_TAG = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class ZipPackage:
    """The parts of a zip file. All methods raise UnreadableError."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
        except DAMAGE_ERRORS as error:
            raise UnreadableError(Reason.UNPARSABLE, f"damaged: {error}"[:200]) from None
        if len(entries) > MAX_ENTRIES:
            raise UnreadableError(Reason.TOO_LARGE, f"{len(entries):,} parts in one file")
        self._entries = {entry.filename.replace("\\", "/").lstrip("/"): entry for entry in entries}
        self._unpacked_bytes = 0

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts that there are, in the file's order."""
        return tuple(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """The bytes of a part, none where it is not there."""
        entry = self._entries.get(name)
        if entry is None:
            return b""
        if entry.flag_bits & 1:
            raise UnreadableError(Reason.PASSWORD_PROTECTED, "its zip file opens with a password only")
        chunks = []
        try:
            with self._zip.open(entry) as part:
                while chunk := part.read(CHUNK_BYTES):
                    chunks.append(chunk)
                    self._check_size(len(chunk), len(chunks) * CHUNK_BYTES, name)
        except DAMAGE_ERRORS as error:
            raise UnreadableError(Reason.UNPARSABLE, f"{name} is damaged: {error}"[:200]) from None
        return b"".join(chunks)

    def _check_size(self, chunk_size: int, size: int, name: str) -> None:
        """Raise where a part, or all parts, become too large."""
        self._unpacked_bytes += chunk_size
        if size > MAX_PART_BYTES or self._unpacked_bytes > MAX_UNPACKED_BYTES:
            raise UnreadableError(Reason.TOO_LARGE, f"{name} unpacks to more than {min(size, MAX_PART_BYTES) >> 20} MB")

    def parse_part(self, name: str) -> Element | None:
        """The root element of a part; None where it is not there. What is damaged is read as far as it goes."""
        return parse_xml(self.read(name), name)

    def require_part(self, name: str) -> Element:
        """The root element of a part that must be there."""
        root = self.parse_part(name)
        if root is None:
            raise UnreadableError(Reason.UNPARSABLE, f"damaged: it has no {name}")
        return root

    def main_part_name(self, default: str) -> str:
        """The main part of an Office file, as the file says; `default` where it does not."""
        return next((name for kind, name in self.relationships("").values() if kind == "officeDocument"), default)

    def relationships(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office file refers to: id -> (last word of the kind, name of the part)."""
        folder, _, file = name.rpartition("/")
        root = self.parse_part(join(folder, "_rels", f"{file}.rels"))
        if root is None:
            return {}
        internal = [
            relationship for relationship in root.iter(RELATIONSHIP_TAG) if relationship.get("TargetMode") != "External"
        ]
        return {
            relationship.get("Id", ""): (
                relationship_kind(relationship),
                resolve_part_name(folder, relationship.get("Target", "")),
            )
            for relationship in internal
        }


def relationship_kind(relation: Element) -> str:
    """`styles` of http://.../relationships/styles."""
    return relation.get("Type", "").rpartition("/")[2]


def resolve_part_name(folder: str, target: str) -> str:
    """The name of a part that one in `folder` refers to."""
    return target.lstrip("/") if target.startswith("/") else normpath(join(folder, target))


def parse_xml(data: bytes, name: str) -> Element | None:
    """The root of a piece of XML; None for nothing. Raises UnreadableError for a DTD with entities, and for depth."""
    if not data.strip():
        return None
    if b"<!ENTITY" in data[:DTD_SEARCH_BYTES].replace(b"\x00", b""):
        raise UnreadableError(Reason.UNPARSABLE, f"{name} declares XML entities, which no such file has")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        root: Element | None = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        root = None
    if any(error.type_name == "ERR_RESOURCE_LIMIT" or "depth" in error.message for error in parser.error_log):
        raise UnreadableError(Reason.TOO_LARGE, f"{name} is nested too deep")
    return root
