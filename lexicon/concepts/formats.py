"""The formats of concepts by name. The modules of the formats are imported when they are used: rdflib loads slowly."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from domain.concept import Concept, ConceptFormat
from domain.errors import LexiconError
from lexicon.concepts.checks import check_concepts
from lexicon.concepts.concept_csv import is_concept_header

MODULE_BY_FORMAT: Mapping[ConceptFormat, str] = {"tbx": "tbx", "skos": "skos", "csv": "concept_csv"}
CONCEPT_FORMATS: tuple[ConceptFormat, ...] = tuple(MODULE_BY_FORMAT)
FORMATS_WITH_RELATIONS = frozenset({"tbx", "skos"})
MAX_FILE_BYTES = 32 * 1024 * 1024
DETECTION_BYTES = 4096
RDF_ROOT = re.compile(r"^(?:<[?!][^<]*)*<(?:rdf:)?RDF\b")  # after declarations and comments


def detect_concept_format(name: str, start: bytes) -> ConceptFormat | None:
    """Return the format of a file by its name and its first bytes; None if it is no file of concepts."""
    name = name.lower()
    text = start[:DETECTION_BYTES].decode("utf-8-sig", "replace").lstrip()
    if name.endswith((".ttl", ".nt", ".rdf")) or text.startswith("@prefix") or RDF_ROOT.search(text):
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


def parse_concept_file(content: bytes, concept_format: ConceptFormat) -> list[Concept]:
    """Return the concepts of a file, checked.

    Raises:
        ConceptFileError: the file or some concepts are invalid; the error names all of them.
    """
    return check_concepts(_load_function("parse", concept_format)(content))


def format_concept_file(concepts: Sequence[Concept], concept_format: ConceptFormat) -> bytes:
    """Return concepts as the bytes of a file."""
    return bytes(_load_function("format", concept_format)(concepts))


def _load_function(verb: str, concept_format: ConceptFormat) -> Callable[..., Any]:
    """Return the function of a format, such as `tbx.parse_tbx`."""
    module = import_module("lexicon.concepts." + MODULE_BY_FORMAT[concept_format])
    function: Callable[..., Any] = getattr(module, f"{verb}_{concept_format}")
    return function
