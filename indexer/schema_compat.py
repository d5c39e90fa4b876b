"""A schema of an earlier version, given the fields that questions of this version name. Pure.

A changed schema means a new collection, which takes its time to fill; until then the old one answers. To name a field
that Solr does not know is an error; a field that no document has matches nothing.
"""

import re
from xml.etree import ElementTree

_DECLARATION_RE = re.compile(r"<(?P<kind>field|dynamicField|fieldType)\s[^>]*?\bname=\"(?P<name>[^\"]+)\"")
_DECLARATION_TAGS = ("fieldType", "field", "dynamicField")
_SCHEMA_END_TAG = "</schema>"


def add_missing_fields(old_schema: str, new_schema: str) -> str:
    """The schema `old_schema` (XML) with the fields, and their types, that only `new_schema` declares.

    What both declare stays as it is in `old_schema`, since documents were indexed by it; `old_schema` itself if nothing lacks.
    """
    declared_names = {(match["kind"], match["name"]) for match in _DECLARATION_RE.finditer(old_schema)}
    new_elements = (element for kind in _DECLARATION_TAGS for element in ElementTree.fromstring(new_schema).iter(kind))
    missing = [element for element in new_elements if (element.tag, element.get("name")) not in declared_names]
    added_xml = "".join(ElementTree.tostring(element, encoding="unicode") for element in missing)
    return old_schema.replace(_SCHEMA_END_TAG, added_xml + _SCHEMA_END_TAG)
