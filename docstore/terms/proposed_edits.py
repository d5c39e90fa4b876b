"""Edits of terms that wait for a second reviewer.

A proposed edit is a review decision of the kind PROPOSE_EDIT. Its changes have the states of the terms before and after
the edit, but the terms keep their state. A later decision closes it: APPROVE applies the edit, DECLINE and WITHDRAW do
not. The later decision names the proposal in `undoes`, and the proposal names the later decision in `undone_by`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, func, select

from docstore.schema.lexicon_tables import review_changes, review_decisions
from docstore.terms.related_pairs import add_pair_changes, are_pairs_unchanged, proposed_pairs, without_related
from docstore.terms.row_mapping import (
    UNDECIDED_STATE,
    concept_terms_from_json,
    decision_state_from_row,
    definition_choice_from_json,
    term_row,
    words_from_json,
)
from docstore.terms.term_changes import concurrent_edit_error, review_decision_from_row, term_change_for_edit, term_rows
from domain.coded_message import CodedMessage
from domain.errors import LexiconError
from domain.review import ReviewDecision, ReviewDecisionKind, TermChange, TermEdit, needs_approval
from domain.term import Term, TermClass, TermStatus


def plan_proposal(
    connection: Connection,
    kind: ReviewDecisionKind,
    edits: Sequence[TermEdit],
    rows: Mapping[str, Row[Any]],
    actor: str,
    now: float,
) -> list[TermChange]:
    """Return the changes that edits propose; empty if they may take effect at once.

    Args:
        connection: A transaction.
        kind: Kind of the decision.
        edits: The edits. All of them wait if one of them needs the approval of a second account.
        rows: The rows of those terms that exist.
        actor: Account of the reviewer.
        now: Epoch seconds.

    Raises:
        LexiconError: An edit is invalid, or the same edit waits already.
    """
    changes = []
    for edit in edits:
        row = rows.get(edit.text)
        change = term_change_for_edit(edit, row, _new_term_row(edit.text, now) if row is None else row, actor, now)
        add_pair_changes(connection, change, edit.related_pairs, actor)
        changes.append(replace(change, version=change.version - 1))
    if not any(needs_approval(kind, change, actor) for change in changes):
        return []
    changes = [change for change in changes if change.changed_values()]
    for proposal in find_proposals(connection, [changes[0].text], None)[1]:
        if _comparable_edits(proposal.changes) == _comparable_edits(changes):
            message = f"the same edit by {proposal.by} waits for a second reviewer already"
            raise LexiconError(CodedMessage(message, "edit_already_proposed", name=proposal.by))
    return changes


def _new_term_row(text: str, now: float) -> Any:
    """Return the values that the row of a new term would have."""
    return SimpleNamespace(**UNDECIDED_STATE | term_row(Term(text, 0.0, 0, 0), None, now))


def _comparable_edits(changes: Sequence[TermChange]) -> list[TermEdit]:
    """Return the edits of a proposal without concept ids, which are random, by term."""
    edits = [replace(edit_for_change(change), concept_id=None) for change in changes]
    return sorted(edits, key=lambda edit: edit.text)


def edit_for_change(change: TermChange) -> TermEdit:
    """Return the edit that makes a proposed change."""
    values = change.changed_values()
    return TermEdit(
        change.text,
        TermStatus(values["status"]) if "status" in values else None,
        TermClass(values["category"]) if "category" in values else None,
        words_from_json(values.get("synonyms")),
        words_from_json(values.get("broader")),
        values.get("weight"),
        values.get("tag"),
        values.get("concept_id"),
        words_from_json(values.get("source_ids")),
        concept_terms_from_json(values["concept_terms"]) if "concept_terms" in values else None,
        definition_choice_from_json(values.get("definition", "")),
        create_if_missing=change.before is None,
        related_pairs=proposed_pairs(change),
    )


def ensure_unchanged(connection: Connection, proposal: ReviewDecision) -> None:
    """Raise ConcurrentEditError if a value that a proposal changes is not the one on which it is based any more."""
    rows = term_rows(connection, [change.text for change in proposal.changes])
    for change in proposal.changes:
        row = rows.get(change.text)
        if change.before is not None and row is None:
            raise concurrent_edit_error(connection, change.text, "gone")
        before = change.before or UNDECIDED_STATE
        current = UNDECIDED_STATE if row is None else decision_state_from_row(row)
        columns = without_related(change.changed_values()).keys() & before.keys()
        is_same = all(before[name] == current[name] for name in columns)
        if not (is_same and are_pairs_unchanged(connection, change)):
            raise concurrent_edit_error(connection, change.text, row.status if row else "gone")


def load_proposal(connection: Connection, decision_id: int) -> ReviewDecision:
    """Return a proposed edit that waits, and lock its row. Raises LexiconError if there is none with this id."""
    query = select(review_decisions).where(review_decisions.c.act_id == decision_id).with_for_update()
    row = connection.execute(query).first()
    if row is None or row.kind != ReviewDecisionKind.PROPOSE_EDIT:
        message = f"there is no proposed edit {decision_id}: `plumb lexicon history` lists all decisions"
        raise LexiconError(CodedMessage(message, "no_such_decision", number=decision_id))
    if row.undone_by is not None:
        raise LexiconError(CodedMessage("the edit was approved, declined or withdrawn already", "proposal_closed"))
    return review_decision_from_row(connection, row)


def find_proposals(
    connection: Connection, texts: Sequence[str] | None, limit: int | None
) -> tuple[int, list[ReviewDecision]]:
    """Return the number of proposed edits that wait, and the oldest `limit` of them.

    With `texts`, only edits that change one of these terms.
    """
    is_open = review_decisions.c.kind == ReviewDecisionKind.PROPOSE_EDIT
    query = select(review_decisions).where(is_open, review_decisions.c.undone_by.is_(None))
    if texts is not None:
        ids_query = select(review_changes.c.act_id).where(review_changes.c.text.in_(texts))
        query = query.where(review_decisions.c.act_id.in_(ids_query))
    total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
    rows = connection.execute(query.order_by(review_decisions.c.act_id).limit(limit)).all()
    return total, [review_decision_from_row(connection, row) for row in rows]
