"""Zip packages of XML parts (Office, OpenDocument, EPUB, OFD): unpacks and parses parts within limits.

No entity is resolved, no DTD is loaded, no network is used, and nothing in the file is executed. Sizes are counted
during decompression, because the sizes in the zip directory are not reliable.
"""

import io
import zipfile
import zlib
from posixpath import join, normpath

from lxml import etree
from lxml.etree import _Element as Element

from domain.coded_message import CodedMessage
from domain.outcome import Reason
from extractor.documents.content import UnreadableError, damaged_error

MAX_ENTRIES = 20_000
MAX_PART_BYTES = 48 * 1024 * 1024  # one part; its tree takes about eight times as much memory
MAX_UNPACKED_BYTES = 256 * 1024 * 1024  # sum of all parts that are read
DTD_SEARCH_BYTES = 100_000  # bytes of a part that are searched for a DTD
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
            raise damaged_error(error) from None
        if len(entries) > MAX_ENTRIES:
            message = CodedMessage(f"{len(entries):,} parts in one file", "too_many_parts", n=len(entries))
            raise UnreadableError(Reason.TOO_LARGE, message)
        self._entries = {entry.filename.replace("\\", "/").lstrip("/"): entry for entry in entries}
        self._unpacked_bytes = 0

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of all parts, in the order of the file."""
        return tuple(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return the bytes of a part; empty if the part does not exist."""
        entry = self._entries.get(name)
        if entry is None:
            return b""
        if entry.flag_bits & 1:
            raise UnreadableError(
                Reason.PASSWORD_PROTECTED, CodedMessage("encrypted: password-protected zip file", "password_protected")
            )
        chunks = []
        try:
            with self._zip.open(entry) as part:
                while chunk := part.read(CHUNK_BYTES):
                    chunks.append(chunk)
                    self._check_size(len(chunk), len(chunks) * CHUNK_BYTES, name)
        except DAMAGE_ERRORS as error:
            raise damaged_error(f"{name}: {error}") from None
        return b"".join(chunks)

    def _check_size(self, chunk_size: int, size: int, name: str) -> None:
        """Raise UnreadableError if a part, or all parts together, exceed their limit."""
        self._unpacked_bytes += chunk_size
        if size > MAX_PART_BYTES or self._unpacked_bytes > MAX_UNPACKED_BYTES:
            megabytes = min(size, MAX_PART_BYTES) >> 20
            message = f"{name} unpacks to more than {megabytes} MB"
            raise UnreadableError(Reason.TOO_LARGE, CodedMessage(message, "unpacks_too_large", name=name, n=megabytes))

    def parse_part(self, name: str) -> Element | None:
        """Return the root element of a part, or None if it does not exist. Damaged XML is read up to the damage."""
        return parse_xml(self.read(name), name)

    def require_part(self, name: str) -> Element:
        """Return the root element of a required part."""
        root = self.parse_part(name)
        if root is None:
            raise damaged_error(CodedMessage(f"{name} is missing", "part_missing", name=name))
        return root

    def main_part_name(self, default: str) -> str:
        """Return the name of the main part that an Office file declares, or `default`."""
        return next((name for kind, name in self.relationships("").values() if kind == "officeDocument"), default)

    def relationships(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the internal relationships of a part: id -> (kind, name of the target part)."""
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
    """Return the last word of the relationship type: `styles` for http://.../relationships/styles."""
    return relation.get("Type", "").rpartition("/")[2]


def resolve_part_name(folder: str, target: str) -> str:
    """Return the absolute name of a part that a part in `folder` refers to."""
    return target.lstrip("/") if target.startswith("/") else normpath(join(folder, target))


def parse_xml(data: bytes, name: str) -> Element | None:
    """Parse XML and return its root; None for empty data.

    Raises:
        UnreadableError: The XML declares entities, or is nested too deep.
    """
    if not data.strip():
        return None
    if b"<!ENTITY" in data[:DTD_SEARCH_BYTES].replace(b"\x00", b""):
        raise UnreadableError(
            Reason.UNPARSABLE, CodedMessage(f"{name} declares XML entities", "xml_entities", name=name)
        )
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        root: Element | None = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        root = None
    if any(error.type_name == "ERR_RESOURCE_LIMIT" or "depth" in error.message for error in parser.error_log):
        raise UnreadableError(
            Reason.TOO_LARGE, CodedMessage(f"{name} is nested too deep", "part_nested_too_deep", name=name)
        )
    return root
