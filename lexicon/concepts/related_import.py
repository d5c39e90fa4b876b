"""What an import changes about related concepts. The relation is symmetric: a file states it at one concept or at both.

An import accepts the relations of the file. It removes a relation only if it replaces both concepts, and the file has
the relation at neither of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from domain.concept import Concept
from domain.message import Message
from domain.term_relation import RelatedPair
from lexicon.concepts.checks import concept_reason
from lexicon.concepts.concept_groups import ConceptIndex, is_hierarchical

RelatedIds = Mapping[str, set[str]]
"""Ids of related concepts by concept id, in both directions."""


def resolve_related(
    concepts: Sequence[Concept], stored_ids: Sequence[str], find_id: Callable[[str], str], is_complete: bool
) -> tuple[RelatedIds, list[Message]]:
    """Return the related concepts of a file, and the errors of the file, which relate nothing.

    Args:
        concepts: The concepts of the file.
        stored_ids: Their ids after the import.
        find_id: Returns the id, after the import, of the concept to which the file refers; "" if there is none.
        is_complete: True if a reference to no concept is an error; False: it is ignored.
    """
    related_ids: defaultdict[str, set[str]] = defaultdict(set)
    errors = []
    for concept, stored_id in zip(concepts, stored_ids, strict=True):
        for reference in concept.related_ids or ():
            related_id = find_id(reference)
            if related_id == stored_id:
                message = Message("it is related to itself")
                errors.append(concept_reason(concept.label, message))
            elif related_id:
                related_ids[stored_id].add(related_id)
                related_ids[related_id].add(stored_id)
            elif is_complete:
                message = Message(
                    "the related term “{term}” is in no concept of the file or the lexicon", term=reference[:80]
                )
                errors.append(concept_reason(concept.label, message))
    return related_ids, errors


def drop_hierarchical_pairs(
    related_ids: RelatedIds, broader_ids: Mapping[str, Sequence[str]], label_by_id: Mapping[str, str]
) -> Iterator[Message]:
    """Remove each pair of related concepts of which one is broader, and yield the reason; SKOS excludes this.

    Args:
        related_ids: The relations of the file; they are changed.
        broader_ids: Ids of broader concepts by concept id, after the import.
        label_by_id: Names of the concepts.
    """
    pairs = {(min(first, second), max(first, second)) for first, ids in related_ids.items() for second in ids}
    for first, second in sorted(pairs):
        if is_hierarchical(first, second, broader_ids):
            related_ids[first].discard(second)
            related_ids[second].discard(first)
            label = label_by_id[second]
            yield concept_reason(
                label_by_id[first], Message("“{other}” is related and also a broader or narrower concept", other=label)
            )


def plan_related_pairs(
    changes: Sequence[tuple[Concept | None, Concept]], head_by_id: Mapping[str, str], index: ConceptIndex
) -> dict[str, list[RelatedPair]]:
    """Return the pairs of terms that an import relates or no longer relates, by the id of one of their concepts.

    The store has accepted terms of both concepts. If the import replaces such a term, the entries of the lexicon become
    the pair.

    Args:
        changes: Each changed concept before (None: it is new) and after the import.
        head_by_id: The entry of the lexicon of each concept, after the import.
        index: The stored concepts.
    """
    stored_pairs = _group_by_concepts(index)
    accepted_texts = {group.concept.concept_id: {term.text for term in group.accepted_terms} for group in index.groups}
    for _, after in changes:
        group = index.find_by_id(after.concept_id)
        other_terms = group.accepted_terms[1:] if group else ()
        other_texts = {term.text for term in other_terms} & {term.text for term in after.terms}
        accepted_texts[after.concept_id] = {head_by_id[after.concept_id], *other_texts}
    planned_pairs: defaultdict[str, list[RelatedPair]] = defaultdict(list)
    seen_pairs: set[frozenset[str]] = set()
    for before, after in changes:
        concept_id, after_ids = after.concept_id, set(after.related_ids or ())
        for other_id in sorted(after_ids | set((before and before.related_ids) or ())):
            pair = frozenset((concept_id, other_id))
            if pair in seen_pairs:
                continue
            seen_pairs.add(pair)
            accepted = accepted_texts[concept_id] | accepted_texts[other_id]
            is_related = other_id in after_ids
            if is_related and any(accepted.issuperset(texts) for texts in stored_pairs[pair]):
                continue
            planned_pairs[concept_id] += [RelatedPair(*texts, False) for texts in stored_pairs[pair]]
            if is_related:
                term, other = sorted((head_by_id[concept_id], head_by_id[other_id]))
                planned_pairs[concept_id].append(RelatedPair(term, other, True))
    return planned_pairs


def _group_by_concepts(index: ConceptIndex) -> Mapping[frozenset[str], list[tuple[str, str]]]:
    """Return the stored pairs of related terms by the ids of their concepts."""
    pairs_by_ids: defaultdict[frozenset[str], list[tuple[str, str]]] = defaultdict(list)
    for texts in index.related_pairs:
        groups = [index.find_by_term(text) for text in texts]
        pairs_by_ids[frozenset(group.concept.concept_id for group in groups if group)].append(texts)
    return pairs_by_ids
