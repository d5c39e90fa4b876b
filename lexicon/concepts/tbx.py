"""Concepts as TBX-Basic (ISO 30042:2019, style DCA).

An import also reads the style DCT, and the names of TBX 2 (termEntry, langSet, tig, ntig) and of TBX-Min (entry,
langGroup, termGroup). Entities and DTDs are never loaded.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lxml import etree

from domain.concept import Concept
from domain.message import Message
from domain.term import ConceptTerm, ConceptTermStatus
from lexicon.concepts.checks import ParsedConcept, assign_statuses, concept_reason
from lexicon.concepts.concept_groups import add_texts, join_texts

NAMESPACE = "urn:iso:std:iso:30042:ed-2"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
CONCEPT_TAGS = frozenset({"conceptEntry", "termEntry", "entry"})
LANGUAGE_TAGS = frozenset({"langSec", "langSet", "langGroup"})
TERM_TAGS = frozenset({"termSec", "tig", "ntig", "termGroup"})
GROUP_TAGS = frozenset({"termGrp", "termNoteGrp", "adminGrp"})
STATUS_TYPES = frozenset({"administrativestatus", "normativeauthorization", "termstatus", "usagestatus", "status"})
MAX_SYNTAX_ERRORS = 50
# TBX-Basic has no types for these references.
BROADER_TEXT, RELATED_TEXT, SOURCE_ID_TEXT = "broader", "related", "source id"
SOURCE_ID_NOTE = "source id: "  # start of the note with an id that is no URL: other targets of xref are invalid
TBX_STATUS_BY_STATUS: Mapping[ConceptTermStatus, str] = {
    ConceptTermStatus.PREFERRED: "preferredTerm-admn-sts",
    ConceptTermStatus.ADMITTED: "admittedTerm-admn-sts",
    ConceptTermStatus.DEPRECATED: "deprecatedTerm-admn-sts",
}
DCA_TAG_BY_CATEGORY: Mapping[str, str] = {
    "definition": "descrip",
    "source": "admin",
    "administrativeStatus": "termNote",
    "normativeAuthorization": "termNote",
    "termStatus": "termNote",
    "crossReference": "ref",
    "externalCrossReference": "xref",
}


def format_tbx(concepts: Iterable[Concept]) -> bytes:
    """Format concepts as a TBX-Basic document in UTF-8."""
    attributes = {"type": "TBX-Basic", "style": "dca", XML_LANG: "en"}
    root = etree.Element(f"{{{NAMESPACE}}}tbx", attributes, nsmap={None: NAMESPACE})  # type: ignore[dict-item]
    source_desc = _add(_add(_add(root, "tbxHeader"), "fileDesc"), "sourceDesc")
    _add(source_desc, "p", "Exported by Plumbline")
    body = _add(_add(root, "text"), "body")
    listed_concepts = list(concepts)
    known_ids = {concept.concept_id for concept in listed_concepts}
    for concept in listed_concepts:
        _add_concept(body, concept, known_ids)
    etree.indent(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))


def _add(parent: Any, tag: str, text: str = "", **attributes: str) -> Any:
    element = etree.SubElement(parent, f"{{{NAMESPACE}}}{tag}", attributes)
    element.text = text or None
    return element


def _add_concept(body: Any, concept: Concept, known_ids: set[str]) -> None:
    entry = _add(body, "conceptEntry", id=concept.concept_id)
    for broader_id in concept.broader_ids:
        if broader_id in known_ids:
            _add(entry, "ref", BROADER_TEXT, type="crossReference", target=broader_id)
    for related_id in concept.related_ids or ():
        if related_id in known_ids:
            _add(entry, "ref", RELATED_TEXT, type="crossReference", target=related_id)
    for source_id in concept.source_ids:
        if source_id.startswith(("http://", "https://")):
            _add(entry, "xref", SOURCE_ID_TEXT, type="externalCrossReference", target=source_id)
        else:
            _add(entry, "note", SOURCE_ID_NOTE + source_id)
    section, language = None, ""
    for term in concept.terms:
        if section is None or term.language != language:
            language = term.language
            section = _add(entry, "langSec")
            section.set(XML_LANG, language)
            if term.definition:
                group = _add(section, "descripGrp")
                _add(group, "descrip", term.definition, type="definition")
                if term.source:
                    _add(group, "admin", term.source, type="source")
        term_section = _add(section, "termSec")
        _add(term_section, "term", term.text)
        _add(term_section, "termNote", TBX_STATUS_BY_STATUS[term.status], type="administrativeStatus")
        if term.source and not term.definition:
            _add(term_section, "admin", term.source, type="source")
        if term.note:
            _add(term_section, "note", term.note)


def parse_tbx(content: bytes) -> Iterator[ParsedConcept]:
    """Yield the concepts of a TBX document, each with its line number, and what is wrong in the document."""
    events = etree.iterparse(
        io.BytesIO(content),
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        recover=True,
    )
    depth = 0
    try:
        for event, element in events:
            depth += 1 if event == "start" else -1
            line = element.sourceline or 0
            if event == "start" and depth == 1 and (error := _find_root_error(element)):
                yield line, error
                return
            if event == "end" and _local_name(element) in CONCEPT_TAGS:
                reasons: list[Message] = []
                concept = _read_concept(element, reasons)
                has_entity = next(element.iter(etree.Entity), None) is not None
                reasons += [Message("it has an XML entity, which is not read")] if has_entity else []
                yield from ((line, concept_reason(concept.concept_id, reason)) for reason in reasons)
                if not has_entity:
                    yield line, concept
                element.clear()
    except etree.XMLSyntaxError as error:
        yield error.lineno or 0, Message("not valid XML: {detail}", detail=error.msg[:150])
        return
    for entry in events.error_log.filter_from_errors()[:MAX_SYNTAX_ERRORS]:
        yield entry.line, Message("not valid XML: {detail}", detail=entry.message[:150])


def _find_root_error(root: Any) -> str | None:
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        return Message("the file declares XML entities, which are not read")
    if _local_name(root).lower() not in ("tbx", "martif"):
        return Message("the file is not TBX")
    if root.get("style", "dca").lower() not in ("dca", "dct"):
        return Message("only TBX of the styles DCA and DCT can be read; convert the file")
    return None


def _local_name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _children(element: Any, names: Iterable[str]) -> Iterator[Any]:
    return (child for child in element if _local_name(child) in names)


def _read_concept(entry: Any, reasons: list[Message]) -> Concept:
    """Return a concept, and append what is wrong with the statuses of its terms to `reasons`."""
    # In the style DCT the names of elements are data categories: basic:definition is a descrip.
    for element in entry.iter():
        category = _local_name(element)
        if tag := DCA_TAG_BY_CATEGORY.get(category):
            element.tag = tag
            element.set("type", category)
    terms: list[ConceptTerm] = []
    for section in _children(entry, LANGUAGE_TAGS):
        terms += _read_language(section, reasons)
    source_ids = []
    # A definition or note at the concept belongs to the language that it names, else to the first term.
    for language, definition, source, note in _iter_entry_texts(entry):
        if note.startswith(SOURCE_ID_NOTE):
            source_ids.append(note.removeprefix(SOURCE_ID_NOTE))
            continue
        index = next((n for n, term in enumerate(terms) if term.language == language), 0)
        if terms:
            terms[index] = add_texts(terms[index], definition, source, note)
    broader_ids, related_ids = [], []
    for reference in _children(entry, ("ref", "xref")):
        meaning = (reference.get("type"), _full_text(reference))
        if meaning == ("externalCrossReference", SOURCE_ID_TEXT):
            source_ids.append(reference.get("target", ""))
        elif meaning == ("crossReference", BROADER_TEXT):
            broader_ids.append(reference.get("target", ""))
        elif meaning == ("crossReference", RELATED_TEXT):
            related_ids.append(reference.get("target", ""))
    return Concept(
        entry.get("id", ""), tuple(terms), tuple(source_ids), tuple(broader_ids), related_ids=tuple(related_ids)
    )


def _iter_entry_texts(entry: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield language, definition, source and note of the parts of an entry or a language section."""
    for child in entry:
        language = child.get(XML_LANG, "").lower()
        name = _local_name(child)
        if name == "note":
            yield language, "", "", _full_text(child)
        elif name == "descrip" and child.get("type") == "definition":
            yield language, _full_text(child), "", ""
        elif name == "descripGrp":
            descriptions = [item for item in _children(child, ("descrip",)) if item.get("type") == "definition"]
            for item in descriptions:
                source = join_texts(_typed_texts(child, "admin", "source"))
                notes = join_texts(_full_text(note) for note in _children(child, ("note",)))
                yield item.get(XML_LANG, language).lower(), _full_text(item), source, notes


def _read_language(section: Any, reasons: list[Message]) -> list[ConceptTerm]:
    language = section.get(XML_LANG) or section.get("lang") or ""
    sections = [_term_parts(child) for child in _children(section, TERM_TAGS)]
    texts = [next((_full_text(part) for part in parts if _local_name(part) == "term"), "") for parts in sections]
    terms, errors = assign_statuses([ConceptTerm(text, language) for text in texts], list(map(_read_status, sections)))
    reasons += [error for _, error in errors]
    for index, parts in enumerate(sections):
        terms[index] = add_texts(terms[index], "", join_texts(_typed_texts(parts, "admin", "source")), "")
        for _, definition, source, note in _iter_entry_texts(parts):
            terms[index] = add_texts(terms[index], definition, source, note)
    if terms:
        first = next((n for n, term in enumerate(terms) if term.status is ConceptTermStatus.PREFERRED), 0)
        for _, definition, source, note in _iter_entry_texts(section):
            terms[first] = add_texts(terms[first], definition, source, note)
    return terms


def _term_parts(section: Any) -> list[Any]:
    """Return the elements of a term; the parts of a group of TBX 2 count as its own."""
    return [
        part for child in section for part in (_term_parts(child) if _local_name(child) in GROUP_TAGS else (child,))
    ]


def _read_status(parts: Iterable[Any]) -> str:
    notes = (part for part in parts if _local_name(part) == "termNote")
    return next((_full_text(note) for note in notes if note.get("type", "").lower() in STATUS_TYPES), "")


def _typed_texts(parts: Iterable[Any], name: str, category: str) -> list[str]:
    return [_full_text(part) for part in parts if _local_name(part) == name and part.get("type") == category]


def _full_text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
