"""Concepts as SKOS (W3C Recommendation 2009) in Turtle, with rdflib. An import also reads RDF/XML.

skos:prefLabel, skos:altLabel and skos:hiddenLabel are preferred, admitted and deprecated terms. skos:definition,
dcterms:source and skos:note belong to the first term of their language. Labels of SKOS-XL carry the source and the note
of other terms. A resource with such a label is a concept, also without the type skos:Concept; one of this type without
them has its rdfs:label.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from rdflib import OWL, RDF, RDFS, SKOS, BNode, Graph, Literal, Namespace, URIRef
from rdflib.namespace import DCTERMS
from rdflib.term import Node

from domain.concept import Concept
from domain.message import Message
from domain.term import ConceptTerm, ConceptTermStatus, TermClass
from lexicon.concepts.checks import ParsedConcept, to_single_line
from lexicon.concepts.concept_groups import add_texts, join_texts, normalize_terms
from text.scripts import language_of_term

SKOSXL = Namespace("http://www.w3.org/2008/05/skos-xl#")
CONCEPT_PREFIX = "urn:plumbline:concept:"
CLASS_PREFIX = "urn:plumbline:class:"
OLD_TERM_PREFIX = "urn:plumbline:term:"  # URIs of earlier exports, made of the term: they are no ids
SCHEME = URIRef("urn:plumbline:lexicon")
AUTOMATIC_NOTE = Literal("accepted automatically", lang="en")
LABEL_NAME_BY_STATUS: Mapping[ConceptTermStatus, str] = {
    ConceptTermStatus.PREFERRED: "prefLabel",
    ConceptTermStatus.ADMITTED: "altLabel",
    ConceptTermStatus.DEPRECATED: "hiddenLabel",
}
RDF_XML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!|(?:rdf:)?RDF\b)")
NOTE_PROPERTIES = (SKOS.note, SKOS.scopeNote, SKOS.editorialNote, SKOS.historyNote, SKOS.changeNote, SKOS.example)


def format_skos(concepts: Iterable[Concept]) -> bytes:
    """Format concepts as Turtle in UTF-8: a concept scheme, and one collection per class."""
    graph = Graph(bind_namespaces="none")
    for prefix, namespace in (("skos", SKOS), ("skosxl", SKOSXL), ("dcterms", DCTERMS)):
        graph.bind(prefix, namespace)
    graph.add((SCHEME, RDF.type, SKOS.ConceptScheme))
    listed_concepts = list(concepts)
    known_ids = {concept.concept_id for concept in listed_concepts}
    for concept in listed_concepts:
        _add_concept(graph, concept, known_ids)
    for category in sorted({concept.category for concept in listed_concepts} - {TermClass.NONE}):
        collection = URIRef(CLASS_PREFIX + category)
        graph.add((collection, RDF.type, SKOS.Collection))
        graph.add((collection, SKOS.prefLabel, Literal(category.value, lang="en")))
    return bytes(graph.serialize(format="turtle", encoding="utf-8"))


def _add_concept(graph: Graph, concept: Concept, known_ids: set[str]) -> None:
    subject = URIRef(CONCEPT_PREFIX + concept.concept_id)
    graph.add((subject, RDF.type, SKOS.Concept))
    graph.add((subject, SKOS.inScheme, SCHEME))
    for broader_id in concept.broader_ids:
        if broader_id in known_ids:
            graph.add((subject, SKOS.broader, URIRef(CONCEPT_PREFIX + broader_id)))
    for related_id in concept.related_ids or ():
        if related_id in known_ids:
            graph.add((subject, SKOS.related, URIRef(CONCEPT_PREFIX + related_id)))
    for source_id in concept.source_ids:
        graph.add((subject, DCTERMS.identifier, Literal(source_id)))
    if concept.category:
        graph.add((URIRef(CLASS_PREFIX + concept.category), SKOS.member, subject))
    if concept.is_automatic:
        graph.add((subject, SKOS.editorialNote, AUTOMATIC_NOTE))
    languages: set[str] = set()
    for term in concept.terms:
        name, text = LABEL_NAME_BY_STATUS[term.status], Literal(term.text, lang=term.language)
        graph.add((subject, SKOS[name], text))
        owner: Node = subject
        if term.language in languages and (term.source or term.note):
            owner = BNode(f"{concept.concept_id}x{len(languages)}x{concept.terms.index(term)}")
            graph.add((subject, SKOSXL[name], owner))
            graph.add((owner, RDF.type, SKOSXL.Label))
            graph.add((owner, SKOSXL.literalForm, text))
        languages.add(term.language)
        texts = ((SKOS.definition, term.definition), (DCTERMS.source, term.source), (SKOS.note, term.note))
        for predicate, value in texts:
            if value:
                graph.add((owner, predicate, Literal(value, lang=term.language)))


def parse_skos(content: bytes) -> Iterator[ParsedConcept]:
    """Yield the concepts of a Turtle or RDF/XML document, sorted by URI. Line numbers are not known."""
    graph, is_xml = Graph(), RDF_XML_START.match(content) is not None
    if is_xml and b"<!ENTITY" in content:
        yield 0, Message("the file declares XML entities, which are not read")
        return
    try:
        graph.parse(data=content, format="xml" if is_xml else "turtle")  # expat loads nothing from elsewhere
    except Exception as error:  # noqa: BLE001  # rdflib raises many types for invalid documents
        line = getattr(error, "lines", 0)
        text = "not valid XML: {detail}" if is_xml else "not valid Turtle: {detail}"
        # What was read before the error counts.
        yield int(line) + 1 if line else 0, Message(text, detail=to_single_line(str(error))[:150])
    category_by_subject = {
        member: str(collection).removeprefix(CLASS_PREFIX)
        for collection, member in graph.subject_objects(SKOS.member)
        if str(collection).startswith(CLASS_PREFIX)
    }
    for subject in sorted(_find_concepts(graph), key=str):
        category = category_by_subject.get(subject, "")
        yield 0, _read_concept(graph, subject, TermClass(category) if category in set(TermClass) else TermClass.NONE)


def _find_concepts(graph: Graph) -> set[Node]:
    """Return the resources that have the type or a label of a concept, and are no scheme or collection."""
    label_names = [namespace[name] for name in LABEL_NAME_BY_STATUS.values() for namespace in (SKOS, SKOSXL)]
    concepts = {
        *graph.subjects(RDF.type, SKOS.Concept),
        *(node for name in label_names for node in graph.subjects(name)),
    }
    schemes = {*graph.objects(None, SKOS.inScheme), *graph.subjects(SKOS.hasTopConcept), *graph.subjects(SKOS.member)}
    types = (SKOS.ConceptScheme, SKOS.Collection, SKOS.OrderedCollection, OWL.Ontology)
    return concepts - schemes - {node for name in types for node in graph.subjects(RDF.type, name)}


def _read_concept(graph: Graph, subject: Node, category: TermClass) -> Concept:
    terms: dict[tuple[str, str], ConceptTerm] = {}
    for status, name in LABEL_NAME_BY_STATUS.items():
        labels: list[tuple[Node | None, Node]] = [(None, label) for label in graph.objects(subject, SKOS[name])]
        for label in graph.objects(subject, SKOSXL[name]):
            labels += [(label, literal) for literal in graph.objects(label, SKOSXL.literalForm)]
        for node, literal in sorted(labels, key=str):
            text, language = to_single_line(str(literal)), _detect_language(literal)
            term = terms.setdefault((text, language), ConceptTerm(text, language, status))
            if node is not None:
                terms[text, language] = _add_notes(graph, node, term, _text_languages(graph, node))
    if not terms:
        texts = ((to_single_line(str(label)), _detect_language(label)) for label in graph.objects(subject, RDFS.label))
        terms = {key: ConceptTerm(*key, ConceptTermStatus.PREFERRED) for key in sorted(texts)}
    first_terms: dict[str, ConceptTerm] = {}
    for term in normalize_terms(list(terms.values())):
        first_terms.setdefault(term.language, term)
    other_language = next(iter(first_terms), "")  # it also gets texts in languages without a term
    for language, term in first_terms.items():
        languages = {language, ""} if language == other_language else {language}
        foreign = _text_languages(graph, subject) - first_terms.keys() if language == other_language else set()
        terms[term.text, language] = _add_notes(graph, subject, term, languages | foreign)
    broader = {*graph.objects(subject, SKOS.broader), *graph.subjects(SKOS.narrower, subject)}
    related = {*graph.objects(subject, SKOS.related), *graph.subjects(SKOS.related, subject)}
    return Concept(
        _concept_id(subject),
        tuple(terms.values()),
        tuple(str(identifier) for identifier in graph.objects(subject, DCTERMS.identifier)),
        tuple(sorted(map(_concept_id, broader))),
        category,
        related_ids=tuple(map(_concept_id, related)),
    )


def _concept_id(node: Node) -> str:
    uri = str(node).removeprefix(CONCEPT_PREFIX)
    return "" if isinstance(node, BNode) or uri.startswith(OLD_TERM_PREFIX) else uri


def _detect_language(literal: Node) -> str:
    language = literal.language if isinstance(literal, Literal) else None
    return (language or language_of_term(str(literal))).lower()


def _text_languages(graph: Graph, owner: Node) -> set[str]:
    return {_read_text(graph, value)[1] for value in graph.objects(owner)}


def _add_notes(graph: Graph, owner: Node, term: ConceptTerm, languages: Collection[str]) -> ConceptTerm:
    """Return the term with the definition, source and note that `owner` has in these languages ("": no language)."""

    def join_values(*predicates: Node) -> str:
        values = [value for name in predicates for value in graph.objects(owner, name) if value != AUTOMATIC_NOTE]
        texts = (_read_text(graph, value) for value in values)
        return join_texts(sorted(text for text, language in texts if language in languages))

    return add_texts(term, join_values(SKOS.definition), join_values(DCTERMS.source), join_values(*NOTE_PROPERTIES))


def _read_text(graph: Graph, value: Node) -> tuple[str, str]:
    """Return text and language of a note; a note that is a resource has them in its rdf:value."""
    node = value if isinstance(value, Literal) else next(graph.objects(value, RDF.value), value)
    language = (node.language if isinstance(node, Literal) else None) or ""
    return to_single_line(str(node)), language.lower()
