"""What an import of concepts adds and changes.

A concept of the file replaces the stored concept with its id or source id. A concept with a new id that shares a term
with a stored concept adds its terms to that concept.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain, compress

from domain.concept import Concept, create_concept_id
from domain.message import Message
from domain.review import TermEdit
from domain.term import (
    MAX_SYNONYMS,
    STATUS_ORDER,
    ConceptTerm,
    ConceptTermStatus,
    DefinitionChoice,
    LineError,
    TermStatus,
)
from domain.term_relation import RelatedPair
from lexicon.concepts.checks import complete_concept, concept_reason
from lexicon.concepts.concept_groups import ConceptGroup, ConceptIndex, normalize_terms
from lexicon.concepts.related_import import drop_hierarchical_pairs, plan_related_pairs, resolve_related
from text.folding import word_key

OWN_ID = re.compile("c[0-9a-f]{16}")
MAX_NAMED_CONCEPTS = 10  # of a cycle
MAX_CYCLES = 100  # with more, the concepts of the file get no broader concepts
MAIN_LANGUAGE = "zh"  # of the entry of the lexicon, because only Chinese needs it for segmentation


@dataclass(frozen=True)
class ConceptChange:
    """A concept before (None: it is new) and after an import."""

    before: Concept | None
    after: Concept


@dataclass(frozen=True)
class ImportPlan:
    """The changes of an import, the edits of terms that make them, and the number of concepts without a change.

    `label_by_id` has the name of each concept, after the import. `errors` say what is not imported, and why.
    """

    changes: tuple[ConceptChange, ...]
    edits: tuple[TermEdit, ...]
    unchanged_count: int
    label_by_id: Mapping[str, str]
    errors: tuple[LineError, ...] = ()

    def lines(self, change: ConceptChange) -> tuple[list[str], list[str]]:
        """Return the lines that the import removes from a concept, and those that it adds."""
        before, after = (
            [] if concept is None else describe_concept(concept, self.label_by_id)
            for concept in (change.before, change.after)
        )
        return [line for line in before if line not in after], [line for line in after if line not in before]


def describe_concept(concept: Concept, label_by_id: Mapping[str, str]) -> list[str]:
    """Return a line for each term of a concept, each broader and related concept, each source id and the class."""
    lines = []
    for term in concept.terms:
        texts = " | ".join(text for text in (term.definition, term.source, term.note) if text)
        lines.append(f"{term.text} ({term.language}, {term.status}){': ' if texts else ''}{texts}")
    lines += [f"< {label_by_id.get(broader_id, broader_id)}" for broader_id in concept.broader_ids]
    lines += [f"~ {label_by_id.get(related_id, related_id)}" for related_id in concept.related_ids or ()]
    lines += [f"id {source_id}" for source_id in concept.source_ids]
    return [*lines, *([f"({concept.category})"] if concept.category else [])]


@dataclass(frozen=True)
class _Match:
    """A concept of a file, the stored concept to which it belongs (None: it is new), and its id after the import."""

    concept: Concept
    group: ConceptGroup | None
    stored_id: str

    @property
    def is_same(self) -> bool:
        """True if the concept replaces the stored one; otherwise it is new, or adds its terms to the stored one."""
        if self.group is None:
            return False
        known_ids = {self.group.concept.concept_id, *self.group.concept.source_ids}
        return self.concept.concept_id in known_ids or bool(known_ids & set(self.concept.source_ids))


def plan_import(concepts: Sequence[Concept], index: ConceptIndex, has_relations: bool = True) -> ImportPlan:
    """Plan the import of checked concepts.

    Args:
        concepts: The concepts of a file.
        index: The stored concepts.
        has_relations: False if the format of the file has no broader concepts; those of stored concepts stay. Related
            concepts are then named by their terms, all of which must be in the file or the store.
    """
    matches, errors = _match_concepts(concepts, index)
    find_by_id, find_by_term = _build_resolvers(matches, index)
    find_related_id = find_by_id if has_relations else find_by_term
    related_ids, related_errors = resolve_related(
        [match.concept for match in matches],
        [match.stored_id for match in matches],
        find_related_id,
        is_complete=not has_relations,
    )
    merged_concepts = []
    for match in matches:
        broader_ids = {find_by_id(reference) for reference in match.concept.broader_ids} - {""}
        merged_concepts.append(_merge(match, broader_ids, has_relations))
    head_by_id = {group.concept.concept_id: group.head.text for group in index.groups}
    head_by_id |= {concept.concept_id: _choose_head(concept, index) for concept in merged_concepts}
    edges, cycle_errors = _drop_cycles(merged_concepts, index)
    errors += [*related_errors, *cycle_errors, *drop_hierarchical_pairs(related_ids, edges, head_by_id)]
    replaced_ids = {match.stored_id for match in matches if match.is_same and match.concept.related_ids is not None}
    changes = []
    for match, concept in zip(matches, merged_concepts, strict=True):
        before = match.group.concept if match.group else None
        kept_ids = {
            other_id
            for other_id in (before and before.related_ids) or ()
            if not {match.stored_id, other_id} <= replaced_ids
        }
        all_related_ids = tuple(sorted(kept_ids.union(related_ids.get(match.stored_id, ()))))
        after = replace(concept, broader_ids=tuple(edges[match.stored_id]), related_ids=all_related_ids)
        changes.append(ConceptChange(before, after))
    effective_changes = [change for change in changes if change.before != change.after]
    related_pairs = plan_related_pairs(
        [(change.before, change.after) for change in effective_changes], head_by_id, index
    )
    edits_by_id = {
        change.after.concept_id: _edits(change, index, head_by_id, related_pairs.get(change.after.concept_id, ()))
        for change in effective_changes
    }
    for concept_id, edits in list(edits_by_id.items()):
        count = max(len(words) for edit in edits for words in (edit.synonyms or (), edit.broader_terms or ()))
        if count > MAX_SYNONYMS:
            reason = Message(
                "it has {count} terms or broader concepts; at most {limit} are allowed", count=count, limit=MAX_SYNONYMS
            )
            errors.append(concept_reason(head_by_id[concept_id], reason))
            del edits_by_id[concept_id]
    return ImportPlan(
        tuple(change for change in effective_changes if change.after.concept_id in edits_by_id),
        tuple(chain.from_iterable(edits_by_id.values())),
        len(changes) - len(effective_changes),
        head_by_id,
        tuple((0, error) for error in errors),
    )


def _match_concepts(concepts: Sequence[Concept], index: ConceptIndex) -> tuple[list[_Match], list[Message]]:
    """Return the concepts of a file with their stored concepts, and what cannot be imported with the reasons.

    A term of another stored concept stays there.
    """
    matches, errors = [], []
    label_by_stored_id: dict[str, str] = {}
    for file_concept in concepts:
        # Found by its ids, else by its terms, the preferred ones first.
        groups = [
            index.find_by_id(known_id) for known_id in (file_concept.concept_id, *file_concept.source_ids) if known_id
        ]
        terms = sorted(file_concept.terms, key=lambda term: STATUS_ORDER.index(term.status))
        group = next(filter(None, (*groups, *(index.find_by_term(term.text) for term in terms))), None)
        own_terms = []
        for term in file_concept.terms:
            owner = index.find_by_term(term.text)
            if owner in (None, group):
                own_terms.append(term)
            else:
                values = {"term": term.text, "other": owner.concept.label}
                reason = Message("the term “{term}” is already in concept “{other}”", **values)
                errors.append(concept_reason(file_concept.label, reason))
        concept = complete_concept(file_concept, own_terms)
        if group and isinstance(concept, Concept):
            other = label_by_stored_id.setdefault(group.concept.concept_id, concept.label)
            if other != concept.label:
                concept = Message("it matches the same stored concept as “{other}”", other=other)
        if isinstance(concept, Message):
            errors.append(concept_reason(file_concept.label, concept))
        else:
            is_own_id = OWN_ID.fullmatch(concept.concept_id)  # Plumbline created it
            new_id = concept.concept_id if is_own_id else create_concept_id()
            stored_id = group.concept.concept_id if group else new_id
            matches.append(_Match(concept, group, stored_id))
    return matches, errors


def _build_resolvers(
    matches: Sequence[_Match], index: ConceptIndex
) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """Return two functions that find a concept of the file or the store, by its id or URI and by a term.

    Both return its id after the import, "" if there is no such concept.
    """
    id_by_file_id = {match.concept.concept_id: match.stored_id for match in matches if match.concept.concept_id}
    id_by_key = {word_key(term.text): match.stored_id for match in matches for term in match.concept.terms}

    def find_by_id(reference: str) -> str:
        group = index.find_by_id(reference)
        return id_by_file_id.get(reference) or (group.concept.concept_id if group else "")

    def find_by_term(text: str) -> str:
        group = index.find_by_term(text)
        return id_by_key.get(word_key(text)) or (group.concept.concept_id if group else "")

    return find_by_id, find_by_term


def _merge(match: _Match, broader_ids: set[str], has_relations: bool) -> Concept:
    """Return the concept as it is stored after the import, without related concepts."""
    concept = match.concept
    source_ids = set(concept.source_ids)
    if concept.concept_id and not OWN_ID.fullmatch(concept.concept_id):
        source_ids.add(concept.concept_id)
    if match.group is None:
        return replace(
            concept,
            concept_id=match.stored_id,
            source_ids=tuple(sorted(source_ids)),
            broader_ids=tuple(sorted(broader_ids)),
        )
    stored_concept = match.group.concept
    if not (match.is_same and has_relations):
        broader_ids = broader_ids | set(stored_concept.broader_ids)
    return Concept(
        match.stored_id,
        concept.terms if match.is_same else _union(concept.terms, stored_concept.terms),
        tuple(sorted(source_ids | set(stored_concept.source_ids))),
        tuple(sorted(broader_ids)),
        concept.category or stored_concept.category,
        stored_concept.is_automatic,
    )


def _union(new_terms: Sequence[ConceptTerm], stored_terms: Sequence[ConceptTerm]) -> tuple[ConceptTerm, ...]:
    """Return the terms of a file, and the stored terms that the file does not have, with admitted instead of preferred.

    A text that the file lacks for a term stays as it is stored.
    """
    stored_by_key = {(term.text, term.language): term for term in stored_terms}
    merged_terms = []
    for term in new_terms:
        stored_term = stored_by_key.pop((term.text, term.language), term)
        merged_terms.append(
            replace(
                term,
                definition=term.definition or stored_term.definition,
                source=term.source or stored_term.source,
                note=term.note or stored_term.note,
            )
        )
    return normalize_terms([*merged_terms, *stored_by_key.values()])


def _drop_cycles(concepts: Sequence[Concept], index: ConceptIndex) -> tuple[dict[str, tuple[str, ...]], list[Message]]:
    """Return the ids of broader concepts by concept id after the import, without those that form a cycle, and why."""
    file_edges = {concept.concept_id: concept.broader_ids for concept in concepts}
    label_by_id = {concept.concept_id: concept.label for concept in concepts}
    stored_edges = {group.concept.concept_id: group.concept.broader_ids for group in index.groups}
    # If the store has a cycle already, check the concepts of the file only.
    edges = file_edges if _find_id_cycle(stored_edges) else stored_edges | file_edges
    errors: list[Message] = []
    while cycle := _find_id_cycle(edges):
        labels = " > ".join(label_by_id.get(concept_id, concept_id) for concept_id in cycle[:MAX_NAMED_CONCEPTS])
        has_too_many = len(errors) >= MAX_CYCLES
        for concept_id in file_edges.keys() if has_too_many else file_edges.keys() & set(cycle):
            edges[concept_id] = () if has_too_many else tuple(i for i in edges[concept_id] if i not in cycle)
        reason = Message("its broader concepts form a cycle: {labels}", labels=labels)
        errors.append(concept_reason(label_by_id.get(cycle[0], cycle[0]), reason))
    return stored_edges | edges, errors


def _find_id_cycle(broader_ids_by_id: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids of a cycle, the broadest first and repeated at the end; [] if there is none."""
    try:
        TopologicalSorter(broader_ids_by_id).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _choose_head(concept: Concept, index: ConceptIndex) -> str:
    """Return the term that is the entry of the lexicon: the present one while it is preferred."""
    preferred_terms = [term for term in concept.terms if term.status is ConceptTermStatus.PREFERRED]
    group = index.find_by_id(concept.concept_id)
    if group is not None and group.head.text in {term.text for term in preferred_terms}:
        return group.head.text
    is_main = (term.language.partition("-")[0] == MAIN_LANGUAGE for term in preferred_terms)
    return next(compress(preferred_terms, is_main), preferred_terms[0]).text


def _edits(
    change: ConceptChange, index: ConceptIndex, label_by_id: Mapping[str, str], related_pairs: Sequence[RelatedPair]
) -> list[TermEdit]:
    """Return the edits of terms that store a concept; the last one stores `related_pairs`."""
    concept = change.after
    head_text = _choose_head(concept, index)
    group = index.find_by_id(concept.concept_id)
    texts = dict.fromkeys(term.text for term in sorted(concept.terms, key=lambda term: term.sort_key[1:]))
    synonyms, broader_terms = list(texts), [label_by_id[broader_id] for broader_id in concept.broader_ids]
    edits = []
    seen_version: int | None = None
    if group is not None:
        old_head = group.head
        # Words of other concepts, and broader words that are no concepts, are not part of the concept.
        synonyms += [word for word in old_head.synonyms if index.find_by_term(word) is not group]
        broader_terms += [word for word in old_head.broader_terms if index.find_by_term(word) is None]
        seen_version = next((term.version for term in group.accepted_terms if term.text == head_text), None)
        if head_text != old_head.text:
            status = TermStatus.MERGED if old_head.text in texts else TermStatus.REJECTED
            edits.append(
                TermEdit(
                    old_head.text,
                    status,
                    synonyms=(),
                    broader_terms=(),
                    concept_id=create_concept_id(),
                    source_ids=(),
                    concept_terms=(),
                    seen_version=old_head.version,
                )
            )
    edits.append(
        TermEdit(
            head_text,
            TermStatus.ACCEPTED,
            concept.category,
            tuple(synonyms),
            tuple(broader_terms),
            concept_id=concept.concept_id,
            source_ids=concept.source_ids,
            concept_terms=concept.terms,
            definition=_new_definition(change, head_text),
            seen_version=seen_version,
            create_if_missing=True,
            related_pairs=tuple(related_pairs),
        )
    )
    return edits


def _new_definition(change: ConceptChange, head_text: str) -> DefinitionChoice | None:
    """Return the definition that the term page shall show; None to leave it as it is."""
    language = next(term.language for term in change.after.terms if term.text == head_text)
    before, after = (
        next((term.definition for term in concept.terms if term.language == language), "") if concept else ""
        for concept in (change.before, change.after)
    )
    return None if before == after else DefinitionChoice(after)
