"""A schema of an earlier version, given the fields that questions of this version name. Pure.

A changed schema means a new collection, which takes its time to fill; until then the old one answers. To name a field
that Solr does not know is an error; a field that no document has matches nothing.
"""

import re
from xml.etree import ElementTree

_DECLARED = re.compile(r"<(?P<kind>field|dynamicField|fieldType)\s[^>]*?\bname=\"(?P<name>[^\"]+)\"")
_KINDS = ("fieldType", "field", "dynamicField")
_END = "</schema>"


def completed(older: str, newest: str) -> str:
    """The schema `older` (XML) with the fields, and their types, that only `newest` declares.

    What both declare stays as it is in `older`, since documents were indexed by it; `older` itself if nothing lacks.
    """
    known = {(match["kind"], match["name"]) for match in _DECLARED.finditer(older)}
    declared = (one for kind in _KINDS for one in ElementTree.fromstring(newest).iter(kind))
    missing = [one for one in declared if (one.tag, one.get("name")) not in known]
    added = "".join(ElementTree.tostring(one, encoding="unicode") for one in missing)
    return older.replace(_END, added + _END)
