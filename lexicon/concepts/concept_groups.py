"""The concepts of the accepted terms.

An accepted term and its synonyms are the terms of one concept. An accepted term that is a synonym of another accepted
term belongs to the concept of that term. A word that is a synonym of several terms belongs to the first concept.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.concept import Concept, sort_terms
from domain.term import ConceptTerm, ConceptTermStatus, Definition, Term
from text.folding import word_key
from text.scripts import language_of_term

TEXT_SEPARATOR = "; "  # between definitions, sources or notes of one language from several places


@dataclass(frozen=True)
class ConceptGroup:
    """A concept with its accepted terms: the first is the entry of the lexicon that has the others as synonyms."""

    concept: Concept
    accepted_terms: tuple[Term, ...]

    @property
    def head(self) -> Term:
        """The accepted term whose row stores the concept."""
        return self.accepted_terms[0]


class ConceptIndex:
    """The concepts of the store, by id, source id and term."""

    def __init__(self, accepted_terms: Iterable[Term], related_pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.related_pairs = tuple(related_pairs)
        self.groups = group_terms(accepted_terms, self.related_pairs)
        self._group_by_id = {group.concept.concept_id: group for group in self.groups}
        self._group_by_source_id = {source_id: group for group in self.groups for source_id in group.concept.source_ids}
        self._group_by_key = {word_key(term.text): group for group in self.groups for term in group.concept.terms}

    def find_by_id(self, concept_id: str) -> ConceptGroup | None:
        """Return the concept with this id or source id."""
        return self._group_by_id.get(concept_id) or self._group_by_source_id.get(concept_id)

    def find_by_term(self, text: str) -> ConceptGroup | None:
        """Return the concept with this term, in any spelling."""
        return self._group_by_key.get(word_key(text))


def add_definitions(terms: Iterable[Term], definition_by_term: Mapping[str, Definition]) -> list[Term]:
    """Return the terms with their definitions as part of their concepts.

    The definition that a reviewer chose replaces an imported one. A term without both gets the best of the articles.

    Args:
        definition_by_term: The best definition of the articles, by term.
    """
    return [_with_definition(term, definition_by_term.get(term.text)) for term in terms]


def _with_definition(term: Term, article_definition: Definition | None) -> Term:
    head_term = next((item for item in term.concept_terms if item.text == term.text), None)
    language = head_term.language if head_term else language_of_term(term.text)
    imported_term = next((item for item in term.concept_terms if item.language == language and item.definition), None)
    if term.definition is not None:
        definition, source = term.definition.sentence, term.definition.url
    elif imported_term is None and article_definition is not None:
        definition, source = article_definition.sentence, article_definition.url
    else:
        return term
    definition = " ".join(definition.split())
    if imported_term is not None and imported_term.definition == definition:
        return term
    defined_term = replace(head_term or ConceptTerm(term.text, language), definition=definition, source=source)
    other_terms = [
        replace(item, definition="", source="") if item is imported_term else item
        for item in term.concept_terms
        if item is not head_term
    ]
    return replace(term, concept_terms=(defined_term, *other_terms))


def group_terms(accepted_terms: Iterable[Term], related_pairs: Iterable[tuple[str, str]] = ()) -> list[ConceptGroup]:
    """Return the concepts of accepted terms, sorted by id; `related_pairs` are the texts of related terms."""
    term_by_key = {word_key(term.text): term for term in sorted(accepted_terms, key=lambda term: term.text)}
    synonym_keys = {key: [word_key(word) for word in term.synonyms] for key, term in term_by_key.items()}
    inner_keys = {key for term_key, keys in synonym_keys.items() for key in keys if key != term_key}
    members_by_head: dict[str, list[str]] = {}
    grouped_keys: set[str] = set()
    # First the terms that are no synonyms. The others are left only if they are synonyms of each other.
    for head_key in sorted(term_by_key, key=lambda key: (key in inner_keys, term_by_key[key].text)):
        if head_key in grouped_keys:
            continue
        member_keys, pending = [], [head_key]
        while pending:
            key = pending.pop(0)
            if key not in grouped_keys:
                grouped_keys.add(key)
                member_keys.append(key)
                pending += [synonym for synonym in synonym_keys[key] if synonym in term_by_key]
        members_by_head[head_key] = member_keys
    members = [[term_by_key[key] for key in keys] for keys in members_by_head.values()]
    groups = _build_groups(members, related_pairs)
    return sorted(groups, key=lambda group: group.concept.concept_id)


def _build_groups(
    members_of_groups: Sequence[Sequence[Term]], related_pairs: Iterable[tuple[str, str]]
) -> list[ConceptGroup]:
    id_by_key = {word_key(term.text): terms[0].concept_id for terms in members_of_groups for term in terms}
    groups = []
    for terms in members_of_groups:
        concept_id = terms[0].concept_id
        words = dict.fromkeys((*(term.text for term in terms), *(word for term in terms for word in term.synonyms)))
        texts = [word for word in words if id_by_key.setdefault(word_key(word), concept_id) == concept_id]
        groups.append((terms, texts))
    concepts = [_build_concept(terms, texts, id_by_key) for terms, texts in groups]
    related_ids = _find_related_ids(concepts, related_pairs, id_by_key)
    for index, concept in enumerate(concepts):
        if concept.concept_id in related_ids:
            concepts[index] = replace(concept, related_ids=tuple(sorted(related_ids[concept.concept_id])))
    return [ConceptGroup(concept, tuple(terms)) for concept, (terms, _) in zip(concepts, groups, strict=True)]


def _find_related_ids(
    concepts: Sequence[Concept], related_pairs: Iterable[tuple[str, str]], id_by_key: Mapping[str, str]
) -> Mapping[str, set[str]]:
    """Return the ids of related concepts by concept id. As in SKOS, none of them is broader or narrower than the other.

    Args:
        related_pairs: Texts of related terms.
        id_by_key: Concept ids by `word_key` of their terms.
    """
    broader_ids = {concept.concept_id: concept.broader_ids for concept in concepts}
    related_ids: defaultdict[str, set[str]] = defaultdict(set)
    for pair in related_pairs:
        first, second = (id_by_key.get(word_key(text), "") for text in pair)
        if first == second or not {first, second} <= broader_ids.keys():
            continue
        if not is_hierarchical(first, second, broader_ids):
            related_ids[first].add(second)
            related_ids[second].add(first)
    return related_ids


def is_hierarchical(first_id: str, second_id: str, broader_ids: Mapping[str, Sequence[str]]) -> bool:
    """True if one of two concepts is directly or indirectly broader than the other; `broader_ids` are by concept id."""
    return first_id in _all_broader(second_id, broader_ids) or second_id in _all_broader(first_id, broader_ids)


def _all_broader(concept_id: str, broader_ids: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the ids of the direct and indirect broader concepts of a concept."""
    broader: set[str] = set()
    pending = [concept_id]
    while pending:
        new_ids = set(broader_ids.get(pending.pop(), ())) - broader
        broader |= new_ids
        pending += new_ids
    return broader


def _build_concept(terms: Sequence[Term], texts: Sequence[str], id_by_key: Mapping[str, str]) -> Concept:
    head = terms[0]
    stored_terms_by_text: defaultdict[str, list[ConceptTerm]] = defaultdict(list)
    for stored_term in (item for term in terms for item in term.concept_terms):
        if all(other.language != stored_term.language for other in stored_terms_by_text[stored_term.text]):
            stored_terms_by_text[stored_term.text].append(stored_term)
    concept_terms = [
        term for text in texts for term in stored_terms_by_text[text] or [ConceptTerm(text, language_of_term(text))]
    ]
    if all(term.status is not ConceptTermStatus.PREFERRED for term in concept_terms if term.text == head.text):
        concept_terms[0] = replace(concept_terms[0], status=ConceptTermStatus.PREFERRED)
    broader_ids = {id_by_key.get(word_key(word), "") for term in terms for word in term.broader_terms}
    return Concept(
        head.concept_id,
        normalize_terms(concept_terms),
        head.source_ids,
        tuple(sorted(broader_ids - {"", head.concept_id})),
        head.category,
        head.is_automatic,
    )


def normalize_terms(terms: Sequence[ConceptTerm]) -> tuple[ConceptTerm, ...]:
    """Return sorted terms with at most one preferred term in a language, and definitions only at the first term.

    Args:
        terms: The first preferred term of a language stays preferred, the others become admitted.
    """
    languages_with_preferred: set[str] = set()
    ranked_terms = []
    for term in terms:
        if term.status is ConceptTermStatus.PREFERRED:
            if term.language in languages_with_preferred:
                term = replace(term, status=ConceptTermStatus.ADMITTED)
            languages_with_preferred.add(term.language)
        ranked_terms.append(term)
    sorted_terms = list(sort_terms(ranked_terms))
    index_by_language: dict[str, int] = {}
    for index, term in enumerate(sorted_terms):
        first_index = index_by_language.setdefault(term.language, index)
        if first_index != index and term.definition:
            first = sorted_terms[first_index]
            sorted_terms[first_index] = replace(
                first,
                definition=join_texts([first.definition, term.definition]),
                source=join_texts([first.source, term.source]),
            )
            sorted_terms[index] = replace(term, definition="", source="")
    return tuple(sorted_terms)


def add_texts(term: ConceptTerm, definition: str, source: str, note: str) -> ConceptTerm:
    """Return a term with further texts."""
    return replace(
        term,
        definition=join_texts([term.definition, definition]),
        source=join_texts([term.source, source]),
        note=join_texts([term.note, note]),
    )


def join_texts(texts: Iterable[str]) -> str:
    """Return the different non-empty texts in one, with `TEXT_SEPARATOR` between them."""
    return TEXT_SEPARATOR.join(dict.fromkeys(text for text in texts if text))
