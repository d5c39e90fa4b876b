"""Adds the new fields to the schema of an older collection, so that current queries work on it. No I/O.

A changed schema means a new collection, which takes time to fill. Until then searches use the old one. Solr rejects a
query with an unknown field; a field without values matches nothing.
"""

import re
from xml.etree import ElementTree

_DECLARATION_RE = re.compile(r"<(?P<kind>field|dynamicField|fieldType)\s[^>]*?\bname=\"(?P<name>[^\"]+)\"")
_DECLARATION_TAGS = ("fieldType", "field", "dynamicField")
_SCHEMA_END_TAG = "</schema>"


def add_missing_fields(old_schema: str, new_schema: str) -> str:
    """Return `old_schema` (XML) with the fields, and their types, that only `new_schema` declares.

    Declarations in `old_schema` stay unchanged, because its documents were indexed with them. Returns `old_schema`
    itself if
    no field is missing.
    """
    declared_names = {(match["kind"], match["name"]) for match in _DECLARATION_RE.finditer(old_schema)}
    new_elements = (element for kind in _DECLARATION_TAGS for element in ElementTree.fromstring(new_schema).iter(kind))  # noqa: S314 (our own schema file)
    missing = [element for element in new_elements if (element.tag, element.get("name")) not in declared_names]
    added_xml = "".join(ElementTree.tostring(element, encoding="unicode") for element in missing)
    return old_schema.replace(_SCHEMA_END_TAG, added_xml + _SCHEMA_END_TAG)
