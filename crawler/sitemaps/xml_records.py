"""Read an XML file record by record, for sitemaps and feeds.

Safe for untrusted files: nothing is fetched, and no entity is declared or expanded. The readable part of broken
markup is used. Memory is bounded, because elements are freed after reading.
"""

import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from crawler.http.content_type import parse_content_type
from text.decoding.encoding_labels import find_codec, python_codec
from text.decoding.meta_charset import detect_bom

_MAX_ELEMENTS = 1_000_000
_MAX_FIELDS = 200  # per record
_MAX_TEXT_CHARS = 20_000
_XML_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
# A declaration without an end reaches to the end of the file, so that no other is searched for its end.
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*+(?:>|\[(?>.*?\]\s*+>|.*+))?+", re.DOTALL | re.IGNORECASE)
_ENTITY = re.compile(r"<!ENTITY[^>]*+>?+", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_CDATA = re.compile(r"(<!\[CDATA\[(?>.*?\]\]>|.*+))", re.DOTALL)
_ATTRIBUTES = ("href", "rel", "isPermaLink", "about")
_NAMESPACES = {"about": "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"}
_OVERSIZED_TAG = re.compile(
    r"<[^<>]{20000,}>?"
)  # thousands of attributes; the parser's cost is quadratic in their number
_FORBIDDEN_CHARS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_HTML_TAG = re.compile(
    r"</?(?:a|b|br|div|em|font|h[1-6]|hr|i|img|li|ol|p|span|strong|u|ul)(?=[\s/>])[^<>]*>", re.IGNORECASE
)
_BARE_AMPERSAND = re.compile(r"&(?!#\d{1,7};|#[xX][0-9A-Fa-f]{1,6};|(?:amp|lt|gt|quot|apos);)")


@dataclass(frozen=True)
class Field:
    """One element of a record: its name without namespace (lower case), selected attributes and all text inside.

    `namespace` is "" for the namespace of the record itself.
    """

    name: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)
    namespace: str = ""


@dataclass(frozen=True)
class Record:
    """One record (`url`, `item`, `entry` ...). With name "", one field outside all records."""

    name: str
    fields: tuple[Field, ...]
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    base_url: str = ""

    def first_field(self, *names: str) -> Field | None:
        """Return the first field with one of these names.

        Earlier names and the record's own namespace take precedence.
        """
        for name in names:
            matching_fields = [item for item in self.fields if item.name == name]
            if matching_fields:
                return next((item for item in matching_fields if not item.namespace), matching_fields[0])
        return None


def decode_xml(body: bytes, content_type: str = "") -> str:
    """Decode an XML file: by byte order mark, as valid UTF-8, or by its declared encoding. Accepts any bytes."""
    bom_name, length = detect_bom(body)
    if bom_name:
        return body[length:].decode(python_codec(bom_name) or bom_name, "replace")
    if b"\x00" in body[:4]:
        return body.decode(_encoding_from_nul_bytes(body[:4]), "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        pass
    encoding_match = _XML_ENCODING.search(body[:1000])
    label = encoding_match[1].decode("ascii") if encoding_match else parse_content_type(content_type).charset
    return body.decode(find_codec(label) or "utf-8", "replace")


def _encoding_from_nul_bytes(start: bytes) -> str:
    zeros = [byte == 0 for byte in start.ljust(4, b"x")]
    if zeros[:3] == [True, True, True]:
        return "utf-32-be"
    if zeros[1:] == [True, True, True]:
        return "utf-32-le"
    return "utf-16-be" if zeros[0] else "utf-16-le"


def iter_xml_records(text: str, names: Collection[str]) -> Iterator[Record]:
    """Iterate over the records with these names, and the fields outside records, in file order. Never raises."""
    events = etree.iterparse(
        io.BytesIO(_sanitize(text).encode("utf-8", "replace")),
        events=("start", "end"),
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        yield from _iter_records(events, names)
    except etree.XMLSyntaxError:  # not XML, or not any more
        return


def _sanitize(text: str) -> str:
    """Remove everything before the first tag, all declarations and HTML. Escape each `&` that starts no entity.

    HTML in a title or summary often has tags without end, which would move the end of the record.
    """
    clean = _FORBIDDEN_CHARS.sub("", _DOCTYPE.sub("", text[max(text.find("<"), 0) :], count=1))
    clean = _ENTITY.sub("", _XML_DECLARATION.sub("", clean))
    parts = _CDATA.split(clean)
    parts[::2] = [_BARE_AMPERSAND.sub("&amp;", _HTML_TAG.sub("", _OVERSIZED_TAG.sub("", part))) for part in parts[::2]]
    return "".join(parts)


def _iter_records(events: Iterator[tuple[str, etree._Element]], names: Collection[str]) -> Iterator[Record]:
    record_depth = 0
    for count, (event, element) in enumerate(events):
        if count >= 2 * _MAX_ELEMENTS:
            return
        is_record = local_name(element) in names
        if event == "start":
            record_depth += is_record
            continue
        record_depth -= is_record
        if record_depth:
            continue
        if is_record:
            yield _build_record(element)
        elif len(element) == 0:
            yield Record("", (_build_field(element, ""),), base_url=element.base or "")
        _free_element(element)


def _free_element(element: etree._Element) -> None:
    element.clear()
    parent = element.getparent()
    if parent is not None and parent[0] is not element:
        del parent[0]


def _build_record(element: etree._Element) -> Record:
    namespace = _element_namespace(element)
    fields: list[Field] = []
    for child in element:
        if len(fields) >= _MAX_FIELDS:
            break
        fields.append(_build_field(child, namespace))
        fields += [_build_field(grandchild, namespace) for grandchild in islice(child, _MAX_FIELDS)]
    return Record(
        local_name(element), tuple(fields), _clip(element.text), _selected_attributes(element), element.base or ""
    )


def _build_field(element: etree._Element, namespace: str) -> Field:
    parts: list[str] = []
    char_count = 0
    for text in element.itertext():
        parts.append(str(text))
        char_count += len(parts[-1])
        if char_count > _MAX_TEXT_CHARS:
            break
    own_namespace = _element_namespace(element)
    return Field(
        local_name(element),
        _clip("".join(parts)),
        _selected_attributes(element),
        "" if own_namespace == namespace else own_namespace,
    )


def _clip(text: str | None) -> str:
    return (text or "")[:_MAX_TEXT_CHARS].strip()


def _selected_attributes(element: etree._Element) -> dict[str, str]:
    """Return the attributes in `_ATTRIBUTES` only, because listing all is quadratic in their number."""
    pairs = ((name, element.get(_NAMESPACES.get(name, "") + name)) for name in _ATTRIBUTES)
    return {name.lower(): str(value)[:_MAX_TEXT_CHARS] for name, value in pairs if value is not None}


def local_name(element: etree._Element) -> str:
    """Return the name of an element without its namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _element_namespace(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[0].removeprefix("{")
