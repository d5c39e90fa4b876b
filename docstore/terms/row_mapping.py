"""Conversion of terms, lexicons and review states to and from table rows and JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple
from typing import Any

from sqlalchemy import Row

from domain.concept import create_concept_id
from domain.review import DecisionState
from domain.storable_text import sanitize_text
from domain.term import (
    ConceptTerm,
    ConceptTermStatus,
    DefinitionChoice,
    DefinitionSource,
    Lexicon,
    LexiconEntry,
    Term,
    TermClass,
    TermStatus,
)

DECISION_COLUMNS = (
    "status",
    "category",
    "synonyms",
    "broader",
    "weight",
    "tag",
    "definition",
    "decided_at",
    "decided_by",
    "decided_on",
    "concept_id",
    "source_ids",
    "concept_terms",
)
UNDECIDED_STATE: DecisionState = {
    "status": TermStatus.CANDIDATE.value,
    "category": "",
    "synonyms": "[]",
    "broader": "[]",
    "weight": 0,
    "tag": "",
    "definition": "",
    "decided_at": None,
    "decided_by": "",
    "decided_on": 0,
    "source_ids": "[]",
    "concept_terms": "[]",
}


def term_row(term: Term, mined_at: float | None, now: float) -> dict[str, Any]:
    """Return the `terms` row of a new term.

    `mined_at` is None for a term added by a person; times are epoch seconds.
    """
    return {
        "text": sanitize_text(term.text),
        "score": term.score,
        "frequency": term.frequency,
        "documents": term.document_count,
        "tags": term.pos_tags[:200],
        "contexts": to_json_list(term.contexts),
        "status": term.status,
        "synonyms": to_json_list(term.synonyms),
        "parts": json.dumps([[name, round(value, 4)] for name, value in term.score_components]),
        "category": term.category,
        "broader": to_json_list(term.broader_terms),
        "weight": term.dictionary_weight,
        "tag": term.dictionary_tag,
        "place": term.score,
        "version": 0,
        "first_seen": now,
        "mined_at": mined_at,
        "concept_id": create_concept_id(),
    }


def to_json_list(words: tuple[str, ...]) -> str:
    """Serialize words to a JSON list."""
    return json.dumps([sanitize_text(word) for word in words], ensure_ascii=False)


def concept_terms_to_json(concept_terms: Iterable[ConceptTerm]) -> str:
    """Serialize the terms of a concept to a JSON list."""
    rows = [[sanitize_text(value) for value in astuple(term)] for term in concept_terms]
    return json.dumps(rows, ensure_ascii=False)


def concept_terms_from_json(text: str) -> tuple[ConceptTerm, ...]:
    """Parse the result of `concept_terms_to_json`."""
    return tuple(
        ConceptTerm(word, language, ConceptTermStatus(status), *texts)
        for word, language, status, *texts in json.loads(text)
    )


def term_from_row(row: Row[Any]) -> Term:
    """Convert a row of `terms` to a Term."""
    return Term(
        text=row.text,
        score=row.score,
        frequency=row.frequency,
        document_count=row.documents,
        pos_tags=row.tags,
        contexts=tuple(json.loads(row.contexts)),
        status=TermStatus(row.status),
        synonyms=tuple(json.loads(row.synonyms)),
        score_components=tuple((name, value) for name, value in json.loads(row.parts)),
        category=TermClass(row.category),
        broader_terms=tuple(json.loads(row.broader)),
        dictionary_weight=row.weight,
        dictionary_tag=row.tag,
        concept_id=row.concept_id,
        source_ids=tuple(json.loads(row.source_ids)),
        concept_terms=concept_terms_from_json(row.concept_terms),
        definition=definition_choice_from_json(row.definition),
        definition_source=DefinitionSource(row.definition_source),
        review_score=row.place,
        version=row.version,
        first_seen=row.first_seen,
        decided_at=row.decided_at,
        decided_by=row.decided_by,
    )


def decision_state_from_row(row: Row[Any]) -> DecisionState:
    """Return the columns of a `terms` row that people edit."""
    return {name: getattr(row, name) for name in DECISION_COLUMNS}


def decision_state_to_json(state: Mapping[str, Any] | None) -> str:
    """Serialize a state for `term_changes`; "" for None (no term)."""
    return "" if state is None else json.dumps(state, ensure_ascii=False)


def decision_state_from_json(text: str) -> DecisionState | None:
    """Parse the result of `decision_state_to_json`. Older decisions lack newer columns, which get their defaults."""
    return {**UNDECIDED_STATE, **json.loads(text)} if text else None


def definition_choice_to_json(choice: DefinitionChoice) -> str:
    """Serialize a choice for `terms.definition`."""
    return json.dumps(
        {name: sanitize_text(value) if isinstance(value, str) else value for name, value in asdict(choice).items()},
        ensure_ascii=False,
    )


def definition_choice_from_json(text: str) -> DefinitionChoice | None:
    """Parse the result of `definition_choice_to_json`; None for ""."""
    return DefinitionChoice(**json.loads(text)) if text else None


def lexicon_entry_from_row(row: Row[Any]) -> LexiconEntry:
    """Convert a row of `lexicon_entries` to a LexiconEntry."""
    synonyms, broader_terms = (tuple(json.loads(column)) for column in (row.synonyms, row.broader))
    return LexiconEntry(row.text, row.frequency, row.tag, synonyms, TermClass(row.category), broader_terms)


def lexicon_from_row(row: Row[Any], entries: tuple[LexiconEntry, ...]) -> Lexicon:
    """Create a Lexicon from a row of `lexicons` and its entries."""
    return Lexicon(row.version, entries, row.published_at, row.applied_at, row.note, row.by_whom)
