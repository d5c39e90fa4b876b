"""The sets `tbx` and `skos` of `make bench-glossary`: concepts that are exported and imported.

    round_trip   share of the generated concepts that are equal after an export, an import into an empty store and a
                 second export, with the generated broader and related concepts, and whose terms and statuses another
                 reader finds in the file: SPARQL queries of rdflib for SKOS, XPath for TBX; 0 if the two files are not
                 equal

The concepts have one to three languages, deprecated and admitted terms, definitions, sources, notes, and broader and
related concepts.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree
from rdflib import Graph

from benchmarks.results import OURS, Figure
from docstore.store import Store
from domain.concept import Concept, ConceptFormat
from domain.review import ReviewDecisionKind
from domain.term import ConceptTerm, ConceptTermStatus
from lexicon.concepts.concept_groups import is_hierarchical
from lexicon.concepts.formats import format_concept_file
from pipeline.lexicon_stage.lexicon_review import LexiconReview

WORDS = {
    "zh": ("深层", "海相", "低渗", "页岩", "砂岩", "气藏", "储层", "压裂", "钻井", "裂缝", "地层", "油田"),
    "en": ("deep", "marine", "tight", "shale", "sand", "gas", "rock", "fracture", "well", "crack", "layer", "field"),
    "fr": ("profond", "marin", "dense", "schiste", "sable", "gaz", "roche", "fissure", "puits", "faille", "couche"),
}
TEXTS = (
    "第一、“引号”与 <标记> & 实体",
    'a definition with "quotes", 50 % & <tags>',
    "见 GB/T 1\n第 2 节",
    "=1+1",
    "“é” 𬭊",
)
STATUSES = tuple(ConceptTermStatus)
Labels = frozenset[tuple[str, str, str]]
"""Language, text and status of the terms of a concept."""
LabelReader = Callable[[bytes], Mapping[str, Labels]]
FORMATS: Sequence[ConceptFormat] = ("tbx", "skos")


def concept_figures(count: int) -> Iterator[Figure]:
    """Yield the figures of `count` generated concepts for each format."""
    concepts = generate_concepts(count)
    for concept_format, read in zip(FORMATS, (read_tbx_labels, read_skos_labels), strict=True):
        yield Figure(concept_format, OURS, "round_trip", _round_trip(concepts, concept_format, read))


def generate_concepts(count: int) -> list[Concept]:
    """Return concepts without common terms, the same for each call."""
    generator = random.Random(7)
    concepts: list[Concept] = []
    for number in range(count):
        terms = [
            term
            for language in generator.sample(list(WORDS), generator.randint(1, 3))
            for term in _generate_terms(generator, language, number)
        ]
        broader_ids = (generator.choice(concepts).concept_id,) if number % 3 == 2 else ()
        source_ids = (f"http://voc.test/{number}?a=1&b=2",) if number % 4 == 0 else ()
        concepts.append(Concept(f"c{number:016x}", tuple(terms), source_ids, broader_ids))
    return _relate(generator, concepts)


def _relate(generator: random.Random, concepts: Sequence[Concept]) -> list[Concept]:
    """Return the concepts with related ones, a quarter as many pairs as concepts. None of a pair is broader."""
    broader_ids = {concept.concept_id: concept.broader_ids for concept in concepts}
    related_ids: defaultdict[str, set[str]] = defaultdict(set)
    for _ in range(len(concepts) // 4):
        first, second = (concept.concept_id for concept in generator.sample(concepts, 2))
        if not is_hierarchical(first, second, broader_ids):
            related_ids[first].add(second)
            related_ids[second].add(first)
    return [replace(concept, related_ids=tuple(sorted(related_ids[concept.concept_id]))) for concept in concepts]


def _generate_terms(generator: random.Random, language: str, number: int) -> Iterator[ConceptTerm]:
    words, separator = WORDS[language], "" if language == "zh" else " "
    digits = (number // 121, number // 11 % 11, number % 11)
    stem = separator.join(words[digit % 11] for digit in digits)
    for index, status in enumerate(STATUSES[: generator.randint(1, 3)]):
        text = f"{stem}{separator}{'ABC'[index]}{number}"
        definition, source, note = (generator.choice((*TEXTS, "")) for _ in range(3))
        yield ConceptTerm(text, language, status, definition if index == 0 else "", source, note)


def _import(review: LexiconReview, content: bytes, concept_format: ConceptFormat) -> None:
    review.store.review_history.apply(ReviewDecisionKind.ADD, review.plan_concepts(content, concept_format).edits, "")


def _round_trip(concepts: Sequence[Concept], concept_format: ConceptFormat, read: LabelReader) -> float:
    with Store("sqlite://", Path()) as first_store, Store("sqlite://", Path()) as second_store:
        first, second = LexiconReview(first_store), LexiconReview(second_store)
        _import(first, format_concept_file(concepts, concept_format), concept_format)
        content = first.export_concepts(concept_format)
        _import(second, content, concept_format)
        if second.export_concepts(concept_format) != content:
            return 0.0
        before, after = (
            {group.concept.concept_id: group.concept for group in review.concepts().groups}
            for review in (first, second)
        )
    labels_by_id = read(content)
    correct = [
        concept.concept_id
        for concept in concepts
        if before.get(concept.concept_id) == after.get(concept.concept_id)
        and _relations(concept) == _relations(after[concept.concept_id])
        and labels_by_id.get(concept.concept_id) == _labels(concept) == _labels(after[concept.concept_id])
    ]
    return len(correct) / len(concepts)


def _relations(concept: Concept) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    return concept.broader_ids, concept.related_ids


def _labels(concept: Concept) -> Labels:
    return frozenset((term.language, term.text, term.status.value) for term in concept.terms)


def read_tbx_labels(content: bytes) -> Mapping[str, Labels]:
    """Return the labels by the id of the concept, read with XPath."""
    root: Any = etree.fromstring(content)
    labels_by_id = {}
    for entry in root.xpath("/*[@type='TBX-Basic']/*[local-name()='text']//*[local-name()='conceptEntry']"):
        labels = []
        for term in entry.xpath("*[local-name()='langSec']/*[local-name()='termSec']/*[local-name()='term']"):
            language = term.xpath("string(ancestor::*[local-name()='langSec']/@xml:lang)")
            status = term.xpath("string(../*[local-name()='termNote'][@type='administrativeStatus'])")
            labels.append((language, term.text, status.removesuffix("Term-admn-sts")))
        labels_by_id[entry.get("id")] = frozenset(labels)
    return labels_by_id


def read_skos_labels(content: bytes) -> Mapping[str, Labels]:
    """Return the labels by the id of the concept, read with SPARQL."""
    graph = Graph().parse(data=content, format="turtle")
    labels_by_id: defaultdict[str, set[tuple[str, str, str]]] = defaultdict(set)
    names = {"prefLabel": "preferred", "altLabel": "admitted", "hiddenLabel": "deprecated"}
    for name, status in names.items():
        rows = graph.query(
            "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> "
            "SELECT ?concept ?label (LANG(?label) AS ?language) "
            f"WHERE {{ ?concept a skos:Concept ; skos:{name} ?label }}"
        )
        for concept, label, language in rows:  # type: ignore[misc]
            labels_by_id[str(concept).rpartition(":")[2]].add((str(language), str(label), status))
    return {concept_id: frozenset(labels) for concept_id, labels in labels_by_id.items()}
