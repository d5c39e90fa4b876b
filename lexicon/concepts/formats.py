"""The formats of concepts by name. The modules of the formats are imported when they are used: rdflib loads slowly."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from domain.concept import Concept, ConceptFormat
from domain.errors import LexiconError
from domain.term import LineError
from lexicon.concepts.checks import check_concepts
from lexicon.concepts.concept_csv import is_concept_header

MODULE_BY_FORMAT: Mapping[ConceptFormat, str] = {"tbx": "tbx", "skos": "skos", "csv": "concept_csv"}
CONCEPT_FORMATS: tuple[ConceptFormat, ...] = tuple(MODULE_BY_FORMAT)
FORMATS_WITH_RELATIONS = frozenset({"tbx", "skos"})
MAX_FILE_BYTES = 32 * 1024 * 1024
DETECTION_BYTES = 65_536
RDF_ROOT = re.compile(r"<(?:rdf:)?RDF\b")  # after declarations and comments
TURTLE_STARTS = ("@prefix", "@base", "PREFIX ", "BASE ")
ENTITY = re.compile(rb"""<!ENTITY\s+([\w.-]{1,99})\s+(?:"([^"&%<]{0,999})"|'([^'&%<]{0,999})')\s*>""")
REFERENCE = re.compile(rb"&([\w.-]{1,99});")


def detect_concept_format(name: str, start: bytes) -> ConceptFormat | None:
    """Return the format of a file by its name and its first bytes; None if it is no file of concepts."""
    name = name.lower()
    text = start[:DETECTION_BYTES].decode("utf-8-sig", "replace").lstrip()
    if name.endswith((".ttl", ".nt", ".rdf")) or text.startswith(TURTLE_STARTS) or RDF_ROOT.search(text):
        return "skos"
    if name.endswith((".tbx", ".tbxm", ".xml")) or text.startswith(("<?xml", "<tbx", "<martif")):
        return "tbx"
    return "csv" if name.endswith(".csv") and is_concept_header(text.partition("\n")[0]) else None


def ensure_file_size(name: str, size: int) -> None:
    """Raise LexiconError if a file of `size` bytes is too large to be read."""
    if size > MAX_FILE_BYTES:
        limit, megabytes = MAX_FILE_BYTES >> 20, -(-size >> 20)
        raise LexiconError(
            "{name} has {size} MB; at most {limit} MB are allowed. Split the file.",
            name=name,
            size=megabytes,
            limit=limit,
        )


def parse_concept_file(content: bytes, concept_format: ConceptFormat) -> tuple[list[Concept], list[LineError]]:
    """Return the concepts of a file, checked, and what is wrong in the file."""
    return check_concepts(_load_function("parse", concept_format)(expand_entities(content.removeprefix(BOM_UTF8))))


def expand_entities(content: bytes) -> bytes:
    """Return an XML document with the entities that its DTD declares as plain texts expanded.

    It is unchanged if it has others, or would become larger than `MAX_FILE_BYTES`. The parsers refuse such a document.
    """
    start, end = content.find(b"<!DOCTYPE"), content.find(b"]>")
    entities = {match[1]: match[2] or match[3] or b"" for match in ENTITY.finditer(content, max(start, 0), max(end, 0))}
    if not entities or content.count(b"<!ENTITY") != len(entities):
        return content
    dtd, body = content[start : end + 2], content[end + 2 :]
    growth = sum(len(entities.get(match[1], b"")) for match in REFERENCE.finditer(body))
    if len(content) + growth > MAX_FILE_BYTES:
        return content
    body = REFERENCE.sub(lambda match: entities.get(match[1], match[0]), body)
    return content[:start] + b"\n" * dtd.count(b"\n") + body


def format_concept_file(concepts: Sequence[Concept], concept_format: ConceptFormat) -> bytes:
    """Return concepts as the bytes of a file."""
    return bytes(_load_function("format", concept_format)(concepts))


def _load_function(verb: str, concept_format: ConceptFormat) -> Callable[..., Any]:
    """Return the function of a format, such as `tbx.parse_tbx`."""
    module = import_module("lexicon.concepts." + MODULE_BY_FORMAT[concept_format])
    function: Callable[..., Any] = getattr(module, f"{verb}_{concept_format}")
    return function
