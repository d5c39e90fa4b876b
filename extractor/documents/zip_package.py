"""Zip packages of XML parts (Office, OpenDocument, EPUB, OFD): unpacks and parses parts within limits.

No entity is resolved, no DTD is loaded, no network is used, and nothing in the file is executed. Sizes are counted
during decompression, because the sizes in the zip directory are not reliable.

A part that cannot be read is left out and listed in `damaged_parts`; only a required part ends the file.
"""

import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from posixpath import join, normpath
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from domain.message import Message
from domain.outcome import Reason
from extractor.documents.content import UnreadableError, damaged_error, missing_part_error

MAX_ENTRIES = 20_000
MAX_PART_BYTES = 48 * 1024 * 1024  # one part; its tree takes about eight times as much memory
MAX_UNPACKED_BYTES = 256 * 1024 * 1024  # sum of all parts that are read
DTD_SEARCH_BYTES = 100_000  # bytes of a part that are searched for a DTD
CHUNK_BYTES = 1024 * 1024
DAMAGE_ERRORS = (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, IndexError)
UTF8_NAME_FLAG = 0x800
STRICT_NAMESPACE_RE = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")  # of ISO 29500 Strict
COMPATIBILITY_NS = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
RELATIONSHIP_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"  # attribute of an element
RELATIONSHIP_TAG = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class ZipPackage:
    """The parts of a zip file. All methods raise UnreadableError.

    A part is found by its exact name, else by its name without percent-encoding and case.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
        except DAMAGE_ERRORS as error:
            raise damaged_error(error) from None
        if len(entries) > MAX_ENTRIES:
            message = Message("The file has {n} parts", n=len(entries))
            raise UnreadableError(Reason.TOO_LARGE, message)
        self._entries = {part_name(entry): entry for entry in entries}
        self._entries_by_key = {part_key(name): entry for name, entry in self._entries.items()}
        self._unpacked_bytes = 0
        self.damaged_parts: dict[str, UnreadableError] = {}

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of all parts, in the order of the file."""
        return tuple(self._entries)

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def _find(self, name: str) -> zipfile.ZipInfo | None:
        return self._entries.get(name) or self._entries_by_key.get(part_key(name))

    def read(self, name: str) -> bytes:
        """Return the bytes of a part; empty if the part does not exist."""
        entry = self._find(name)
        if entry is None:
            return b""
        self._check_size(0, 0, name)
        if entry.flag_bits & 1:
            raise UnreadableError(Reason.PASSWORD_PROTECTED, Message("Encrypted: password-protected"))
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
            raise UnreadableError(
                Reason.TOO_LARGE, Message("{name} unpacks to more than {n} MB", name=name, n=megabytes)
            )

    def read_optional(self, name: str) -> bytes:
        """Return the bytes of a part; empty if it does not exist, and if it is damaged or too large."""
        try:
            return self.read(name)
        except UnreadableError as error:
            if error.reason is Reason.PASSWORD_PROTECTED:
                raise
            self.damaged_parts[name] = error
            return b""

    def check_reference(self, name: str) -> bool:
        """Return True if a part exists; a missing one is recorded in `damaged_parts`."""
        if name not in self:
            self.damaged_parts[name] = missing_part_error(name)
        return name in self

    def parse_part(self, name: str) -> Element | None:
        """Return the root element of a part; None if it does not exist, and if it is damaged or too large."""
        try:
            return parse_xml(self.read_optional(name), name)
        except UnreadableError as error:
            self.damaged_parts[name] = error
            return None

    def iter_elements(self, name: str, *local_names: str) -> Iterator[Element]:
        """Yield the elements with these names of a large part, in any namespace; each is removed after it was used."""
        data = io.BytesIO(self.read_optional(name))
        tags = [f"{{*}}{local_name}" for local_name in local_names]
        events = etree.iterparse(data, tag=tags, resolve_entities=False, no_network=True, load_dtd=False, recover=True)
        with suppress(etree.XMLSyntaxError):
            for _, element in events:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        errors = [error for error in events.error_log if error.level_name != "WARNING"]
        if errors and data.getbuffer().nbytes:
            self.damaged_parts[name] = damaged_error(errors[0].message)

    def require_part(self, name: str) -> Element:
        """Return the root element of a required part."""
        root = parse_xml(self.read(name), name)
        if root is None:
            raise missing_part_error(name)
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
                relationship.get("Type", "").rpartition("/")[2],
                resolve_part_name(folder, relationship.get("Target", "")),
            )
            for relationship in internal
        }


def part_name(entry: zipfile.ZipInfo) -> str:
    """Return the name of a part. Programs that do not declare UTF-8 write it, or GBK, all the same."""
    name = entry.filename
    if not entry.flag_bits & UTF8_NAME_FLAG and not name.isascii():
        code = name.encode("cp437", "replace")
        try:
            name = code.decode("utf-8")
        except UnicodeDecodeError:
            name = code.decode("gb18030", "replace")
    return name.replace("\\", "/").removeprefix("./").lstrip("/")


def part_key(name: str) -> str:
    """Return the key under which names of a part are equal, however a program has written them."""
    return unicodedata.normalize("NFC", unquote(name)).casefold()


def resolve_part_name(folder: str, target: str) -> str:
    """Return the absolute name of a part that a part in `folder` refers to, without the fragment."""
    path = target.partition("#")[0].strip().replace("\\", "/")
    return path.lstrip("/") if path.startswith("/") else normpath(join(folder, path))


def parse_xml(data: bytes, name: str) -> Element | None:
    """Parse XML and return its root; None for empty data. Damaged XML is read up to the damage.

    Of alternatives for several programs (mc:AlternateContent), only the preferred one remains.

    Raises:
        UnreadableError: The XML declares entities, or is nested too deep.
    """
    if not data.strip():
        return None
    if b"<!ENTITY" in data[:DTD_SEARCH_BYTES].replace(b"\x00", b""):
        raise UnreadableError(Reason.UNPARSABLE, Message("{name} declares XML entities, which are not read", name=name))
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        transitional = STRICT_NAMESPACE_RE.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data)
        root: Element | None = etree.fromstring(transitional, parser)
    except etree.XMLSyntaxError:
        root = None
    if any(error.type_name == "ERR_RESOURCE_LIMIT" or "depth" in error.message for error in parser.error_log):
        raise UnreadableError(Reason.TOO_LARGE, Message("{name} is nested too deep", name=name))
    for alternatives in root.iter(f"{COMPATIBILITY_NS}AlternateContent") if root is not None else ():
        choices = [choice for choice in alternatives if len(choice)]
        for choice in list(alternatives):
            if choice not in choices[:1]:
                alternatives.remove(choice)
    return root
