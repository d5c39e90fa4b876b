"""The records of an XML file, one by one: what sitemaps and feeds are made of.

Made for files of strangers: nothing is fetched, no entity is declared or expanded, broken markup is read as far as
it goes, and memory is bounded however long the file is, for what was read is let go.
"""

import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from crawler.http.content_type import content_type_of
from text.decoding.declared_encoding import bom_encoding
from text.decoding.encoding_labels import any_codec, codec_of

_MAX_ELEMENTS = 1_000_000
_MAX_FIELDS = 200  # of one record
_LONGEST_TEXT = 20_000
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_ENTITY = re.compile(r"<!ENTITY[^>]*>", re.IGNORECASE)
_XML = re.compile(r"^\s*<\?xml[^>]*\?>")
_CDATA = re.compile(r"(<!\[CDATA\[.*?\]\]>)", re.DOTALL)
_ATTRIBUTES = ("href", "rel", "isPermaLink", "about")
_NAMESPACES = {"about": "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"}
_LONG_TAG = re.compile(r"<[^<>]{20000,}>?")  # thousands of attributes: the parser compares each with all others
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_BARE_AND = re.compile(r"&(?!#\d{1,7};|#[xX][0-9A-Fa-f]{1,6};|(?:amp|lt|gt|quot|apos);)")


@dataclass(frozen=True)
class Field:
    """One element in a record: its name without namespace (small letters), some attributes, and all text in it.

    `prefix` is the namespace, "" for that of the record itself.
    """

    name: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)
    namespace: str = ""


@dataclass(frozen=True)
class Record:
    """One record (`url`, `item`, `entry` ...), or for `name` "" one field outside all records."""

    name: str
    fields: tuple[Field, ...]
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    base: str = ""

    def first(self, *names: str) -> Field | None:
        """The first field of one of these names, the earlier name first, those of the record's namespace first."""
        for name in names:
            found = [one for one in self.fields if one.name == name]
            if found:
                return next((one for one in found if not one.namespace), found[0])
        return None


def xml_text(body: bytes, content_type: str = "") -> str:
    """The text of an XML file: by its mark, as UTF-8 if it is that, else as it or its header says. Any bytes do."""
    marked, length = bom_encoding(body)
    if marked:
        return body[length:].decode(codec_of(marked) or marked, "replace")
    if b"\x00" in body[:100]:
        return body.decode(_by_zeros(body[:4]), "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        pass
    declared = _DECLARED.search(body[:1000])
    label = declared[1].decode("ascii") if declared else content_type_of(content_type).encoding
    return body.decode(any_codec(label) or "utf-8", "replace")


def _by_zeros(start: bytes) -> str:
    zeros = [byte == 0 for byte in start.ljust(4, b"x")]
    if zeros[:3] == [True, True, True]:
        return "utf-32-be"
    if zeros[1:] == [True, True, True]:
        return "utf-32-le"
    return "utf-16-be" if zeros[0] else "utf-16-le"


def records(text: str, names: Collection[str]) -> Iterator[Record]:
    """The records of these names in file order, and what stands outside of them. Never raises."""
    events = etree.iterparse(
        io.BytesIO(_cleaned(text).encode("utf-8", "replace")),
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
        yield from _records(events, names)
    except etree.XMLSyntaxError:  # nothing in it was XML, or it stopped being
        return


def _cleaned(text: str) -> str:
    """From the first tag on, without declarations, and with every `&` that begins no character escaped."""
    clean = _FORBIDDEN.sub("", _DOCTYPE.sub("", text[max(text.find("<"), 0) :], count=1))
    clean = _ENTITY.sub("", _XML.sub("", clean))
    parts = _CDATA.split(clean)
    parts[::2] = [_BARE_AND.sub("&amp;", _LONG_TAG.sub("", part)) for part in parts[::2]]
    return "".join(parts)


def _records(events: Iterator[tuple[str, etree._Element]], names: Collection[str]) -> Iterator[Record]:
    inside = 0
    for count, (event, element) in enumerate(events):
        if count >= 2 * _MAX_ELEMENTS:
            return
        is_record = local(element) in names
        if event == "start":
            inside += is_record
            continue
        inside -= is_record
        if inside:
            continue
        if is_record:
            yield _record(element)
        elif len(element) == 0:
            yield Record("", (_field(element, ""),), base=element.base or "")
        _let_go(element)


def _let_go(element: etree._Element) -> None:
    element.clear()
    parent = element.getparent()
    if parent is not None and parent[0] is not element:
        del parent[0]


def _record(element: etree._Element) -> Record:
    namespace = _namespace(element)
    fields: list[Field] = []
    for child in element:
        if len(fields) >= _MAX_FIELDS:
            break
        fields.append(_field(child, namespace))
        fields += [_field(grandchild, namespace) for grandchild in islice(child, _MAX_FIELDS)]
    return Record(local(element), tuple(fields), _text(element.text), _attributes(element), element.base or "")


def _field(element: etree._Element, namespace: str) -> Field:
    parts: list[str] = []
    size = 0
    for text in element.itertext():
        parts.append(str(text))
        size += len(parts[-1])
        if size > _LONGEST_TEXT:
            break
    own = _namespace(element)
    return Field(local(element), _text("".join(parts)), _attributes(element), "" if own == namespace else own)


def _text(text: str | None) -> str:
    return (text or "")[:_LONGEST_TEXT].strip()


def _attributes(element: etree._Element) -> dict[str, str]:
    """The few that anyone asks for: to list them all takes the square of their number."""
    found = ((name, element.get(_NAMESPACES.get(name, "") + name)) for name in _ATTRIBUTES)
    return {name.lower(): str(value)[:_LONGEST_TEXT] for name, value in found if value is not None}


def local(element: etree._Element) -> str:
    """The name of an element without its namespace, in small letters."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _namespace(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[0].removeprefix("{")
