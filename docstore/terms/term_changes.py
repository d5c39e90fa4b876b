"""Changes of terms by review decisions: what an edit makes of a row, and conversion of saved decisions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select

from docstore.schema.lexicon_tables import review_changes, review_decisions, terms
from docstore.terms.related_pairs import without_related
from docstore.terms.row_mapping import (
    concept_terms_from_json,
    concept_terms_to_json,
    decision_state_from_json,
    decision_state_from_row,
    definition_choice_to_json,
    to_json_list,
)
from domain.batches import batched
from domain.concept import sort_terms
from domain.errors import ConcurrentEditError, LexiconError
from domain.review import (
    DecisionState,
    ReviewDecision,
    ReviewDecisionKind,
    TermChange,
    TermEdit,
    status_with_two_reviewers,
)
from domain.storable_text import sanitize_text
from domain.term import MAX_SYNONYMS, ConceptTermStatus, DefinitionSource, TermStatus
from text.segment import MAX_WORD_CHARS

BATCH_SIZE = 500


def definition_source_values(change: TermChange) -> dict[str, str]:
    """Return the column values that forget the state of the source if the change replaces the definition."""
    is_same = change.before and change.after and change.before["definition"] == change.after["definition"]
    return {} if is_same else {"definition_source": DefinitionSource.CURRENT.value}


def edit_with_two_reviewers(kind: ReviewDecisionKind, edit: TermEdit, row: Row[Any], actor: str) -> TermEdit:
    """Return the edit of the term in `row` with the status that it has if two accounts must accept a term."""
    status = status_with_two_reviewers(kind, edit, TermStatus(row.status), row.decided_by, sanitize_text(actor)[:64])
    return replace(edit, status=status)


def term_change_for_edit(
    edit: TermEdit, previous_row: Row[Any] | None, row: Row[Any], actor: str, now: float
) -> TermChange:
    """Return the change that `edit` makes to the term in `row`.

    `previous_row` is None if the term was created for the edit.
    """
    new_state = decision_state_from_row(row)
    if edit.status is not None:
        is_decided = edit.status is not TermStatus.CANDIDATE
        new_state["status"] = edit.status.value
        new_state["decided_at"] = now if is_decided else None
        new_state["decided_by"] = sanitize_text(actor)[:64] if is_decided else ""
        new_state["decided_on"] = row.frequency if is_decided else 0
    if edit.category is not None:
        new_state["category"] = edit.category.value
    if edit.synonyms is not None:
        new_state["synonyms"] = to_json_list(clean_synonyms(edit.text, edit.synonyms))
    if edit.definition is not None:
        new_state["definition"] = definition_choice_to_json(edit.definition)
    if edit.broader_terms is not None:
        new_state["broader"] = to_json_list(clean_synonyms(edit.text, edit.broader_terms))
    if edit.source_ids is not None:
        new_state["source_ids"] = to_json_list(edit.source_ids)
    if edit.synonyms is not None or edit.concept_terms is not None:
        words = {edit.text, *json.loads(new_state["synonyms"])}
        concept_terms = concept_terms_from_json(row.concept_terms) if edit.concept_terms is None else edit.concept_terms
        term_by_key = {(term.text, term.language): term for term in reversed(concept_terms) if term.text in words}
        new_state["concept_terms"] = concept_terms_to_json(sort_terms(term_by_key.values()))
    new_state |= {
        name: value
        for name, value in (
            ("weight", edit.dictionary_weight),
            ("tag", edit.dictionary_tag),
            ("concept_id", edit.concept_id),
        )
        if value is not None
    }
    return TermChange(
        edit.text, None if previous_row is None else decision_state_from_row(previous_row), new_state, row.version + 1
    )


def is_in_state(row: Row[Any] | None, state: DecisionState | None) -> bool:
    """True if a term has a saved state. States saved by earlier versions lack the newest columns."""
    if row is None or state is None:
        return row is None and state is None
    return {name: value for name, value in decision_state_from_row(row).items() if name in state} == without_related(
        state
    )


def demoted_status(status: ConceptTermStatus) -> ConceptTermStatus:
    """Return the status of a term after its concept was merged into another concept."""
    return ConceptTermStatus.ADMITTED if status is ConceptTermStatus.PREFERRED else status


def clean_synonyms(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return `words` trimmed, without duplicates, empty words and `text` itself.

    Raises:
        LexiconError: There are too many synonyms, or one is too long.
    """
    synonyms = tuple(
        word for word in dict.fromkeys(sanitize_text(raw_word).strip() for raw_word in words) if word not in ("", text)
    )
    if len(synonyms) > MAX_SYNONYMS:
        raise LexiconError(
            "“{term}” has too many synonyms or broader terms. Maximum: {limit}.", term=text, limit=MAX_SYNONYMS
        )
    if too_long := [word[:40] for word in synonyms if len(word) > MAX_WORD_CHARS]:
        words_too_long = tuple(f"{word} ..." for word in too_long)
        raise LexiconError(
            "A synonym or broader term is too long ({words}). Maximum: {limit} characters.",
            limit=MAX_WORD_CHARS,
            words=words_too_long,
        )
    return synonyms


def term_rows(connection: Connection, texts: Sequence[str]) -> dict[str, Row[Any]]:
    """Return the rows of the terms among `texts`, by text."""
    row_by_text: dict[str, Row[Any]] = {}
    for batch in batched(texts, BATCH_SIZE):
        row_by_text.update((row.text, row) for row in connection.execute(select(terms).where(terms.c.text.in_(batch))))
    return row_by_text


def require_terms(rows: Mapping[str, Row[Any]], texts: Sequence[str]) -> None:
    """Raise LexiconError if `texts` contains words that are no terms; the message names them."""
    if unknown := [text for text in texts if text not in rows]:
        raise LexiconError("No such term: {terms}. Add it first (plumb lexicon add TERM).", terms=tuple(unknown[:5]))


def concurrent_edit_error(connection: Connection, text: str, status: str) -> ConcurrentEditError:
    """Return the error with account and time of the last change of a term."""
    query = select(review_decisions).join(review_changes, review_changes.c.act_id == review_decisions.c.act_id)
    has_effect = review_decisions.c.kind.in_([kind for kind in ReviewDecisionKind if kind.has_effect])
    last_decision = connection.execute(
        query.where(review_changes.c.text == text, has_effect).order_by(review_decisions.c.act_id.desc())
    ).first()
    return ConcurrentEditError(
        text, last_decision.by_whom if last_decision else "", last_decision.at if last_decision else None, status
    )


def review_decision_from_row(connection: Connection, row: Row[Any]) -> ReviewDecision:
    """Convert a row of `review_decisions` to a ReviewDecision; its changes are sorted by term."""
    query = select(review_changes).where(review_changes.c.act_id == row.act_id).order_by(review_changes.c.text)
    changes = tuple(
        TermChange(
            change_row.text,
            decision_state_from_json(change_row.before),
            decision_state_from_json(change_row.after),
            change_row.version,
        )
        for change_row in connection.execute(query)
    )
    kind = ReviewDecisionKind(row.kind)
    is_undone = row.undone_by is not None and kind.has_effect
    return ReviewDecision(row.act_id, row.at, row.by_whom, kind, changes, row.undoes, is_undone)
