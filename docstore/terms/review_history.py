"""Review decisions on terms, with undo. Each decision stores the state of its terms before and after.

Edits use optimistic locking: an edit based on an outdated version raises ConcurrentEditError. A decision is saved
completely or not at all.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.lexicon_tables import review_changes, review_decisions, terms
from docstore.terms.broader_terms import edits_of_narrower_terms, joined_broader_terms, refuse_cycles
from docstore.terms.related_pairs import apply_related_pairs, pairs_moved_to, restore_related_pairs, without_related
from docstore.terms.row_mapping import (
    UNDECIDED_STATE,
    concept_terms_from_json,
    decision_state_from_row,
    decision_state_to_json,
    definition_choice_from_json,
    term_row,
)
from docstore.terms.term_changes import (
    BATCH_SIZE,
    concurrent_edit_error,
    definition_source_values,
    demoted_status,
    edit_with_two_reviewers,
    is_in_state,
    require_terms,
    review_decision_from_row,
    term_change_for_edit,
    term_rows,
)
from domain.batches import batched
from domain.concept import create_concept_id
from domain.errors import LexiconError
from domain.review import ReviewDecision, ReviewDecisionKind, TermChange, TermEdit
from domain.storable_text import sanitize_text
from domain.term import Term, TermClass, TermStatus

STATUS_DECISIONS = (ReviewDecisionKind.DECIDE, ReviewDecisionKind.MERGE, ReviewDecisionKind.RENAME)


class ReviewHistory:
    """Apply, undo and list review decisions (`store.review_history`).

    Attributes:
        needs_second_reviewer: Returns True if a term that an account accepts, in whatever way, waits until another
            account accepts it (`domain.review.status_with_two_reviewers`).
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self.needs_second_reviewer: Callable[[], bool] = lambda: False

    def apply(self, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str = "") -> ReviewDecision:
        """Apply edits as one decision, completely or not at all.

        A decision without changes has the id 0 and is not saved.

        Raises:
            LexiconError: A term does not exist, a synonym is invalid, broader terms lead back to their term, or an
                account confirms its own acceptance.
            ConcurrentEditError: A term changed since the version on which its edit is based.
        """
        with self._database.write() as connection:
            return self._apply(connection, kind, edits, actor)

    def merge(self, text: str, target_text: str, actor: str = "", seen_version: int | None = None) -> ReviewDecision:
        """Merge the term `text` into `target_text`: `text` and its synonyms become synonyms of it.

        Related, broader and narrower terms of `text` are those of `target_text` afterwards.

        Raises the same errors as `apply`.
        """
        with self._database.write() as connection:
            rows = term_rows(connection, [text, target_text])
            require_terms(rows, [text, target_text])
            if text == target_text:
                raise LexiconError("“{term}” cannot be merged with itself.", term=text)
            target_synonyms, source_synonyms = (
                tuple(json.loads(rows[term_text].synonyms)) for term_text in (target_text, text)
            )
            synonyms = tuple(dict.fromkeys((*target_synonyms, text, *source_synonyms)))
            target_terms, source_terms = (
                concept_terms_from_json(rows[term_text].concept_terms) for term_text in (target_text, text)
            )
            merged_terms = tuple(replace(term, status=demoted_status(term.status)) for term in source_terms)
            source_ids = (*json.loads(rows[target_text].source_ids), *json.loads(rows[text].source_ids))
            edits = (
                TermEdit(
                    text,
                    TermStatus.MERGED,
                    synonyms=(),
                    broader_terms=(),
                    source_ids=(),
                    concept_terms=(),
                    seen_version=seen_version,
                ),
                TermEdit(
                    target_text,
                    synonyms=synonyms,
                    broader_terms=joined_broader_terms(text, [rows[target_text], rows[text]]),
                    source_ids=tuple(dict.fromkeys(source_ids)),
                    concept_terms=(*target_terms, *merged_terms),
                    related_pairs=pairs_moved_to(connection, text, target_text),
                ),
                *edits_of_narrower_terms(connection, text, target_text),
            )
            return self._apply(connection, ReviewDecisionKind.MERGE, edits, actor)

    def rename(self, text: str, new_text: str, actor: str = "", seen_version: int | None = None) -> ReviewDecision:
        """Replace the term `text` by `new_text` with correct limits or spelling: accept `new_text` and reject `text`.

        `new_text` inherits class, synonyms, related, broader and narrower terms, the chosen definition and the concept.
        If it is a term already, it keeps its own synonyms, broader terms and definition; an accepted term also keeps
        its concept id. The caller must validate its form. Raises the same errors as `apply`.
        """
        new_text = sanitize_text(new_text)
        with self._database.write() as connection:
            rows = term_rows(connection, [text, new_text])
            require_terms(rows, [text])
            if text == new_text:
                raise LexiconError("“{term}” already has this text.", term=text)
            known_rows = [rows[known_text] for known_text in (new_text, text) if known_text in rows]
            has_own_concept = new_text in rows and rows[new_text].status == TermStatus.ACCEPTED
            concept_terms = [term for row in known_rows for term in concept_terms_from_json(row.concept_terms)]
            new_term_edit = TermEdit(
                new_text,
                TermStatus.ACCEPTED,
                TermClass(rows[text].category),
                synonyms=tuple(synonym for row in known_rows for synonym in json.loads(row.synonyms)),
                broader_terms=joined_broader_terms(text, known_rows),
                concept_id=None if has_own_concept else rows[text].concept_id,
                source_ids=tuple(dict.fromkeys(item for row in known_rows for item in json.loads(row.source_ids))),
                concept_terms=tuple(
                    replace(term, text=new_text) if term.text == text else term for term in concept_terms
                ),
                definition=next(
                    (definition_choice_from_json(row.definition) for row in known_rows if row.definition), None
                ),
                related_pairs=pairs_moved_to(connection, text, new_text),
                create_if_missing=True,
            )
            old_term_edit = TermEdit(
                text,
                TermStatus.REJECTED,
                synonyms=(),
                broader_terms=(),
                concept_id=create_concept_id(),
                source_ids=(),
                concept_terms=(),
                seen_version=seen_version,
            )
            edits = (old_term_edit, new_term_edit, *edits_of_narrower_terms(connection, text, new_text))
            return self._apply(connection, ReviewDecisionKind.RENAME, edits, actor)

    def undo(self, actor: str = "", decision_id: int | None = None) -> ReviewDecision:
        """Undo a decision: restore the earlier state of its terms. Returns the new decision of kind UNDO.

        Args:
            actor: Account of the reviewer.
            decision_id: The decision to undo; None for the last decision of `actor` that was not undone.

        Raises:
            LexiconError: There is no such decision, it was already undone, or restored broader terms lead back to their
                term.
            ConcurrentEditError: A term changed since the decision.
        """
        with self._database.write() as connection:
            decision = self._find_undoable(connection, actor, decision_id)
            rows = term_rows(connection, [change.text for change in decision.changes])
            for change in decision.changes:
                row = rows.get(change.text)
                if not is_in_state(row, change.after):
                    raise concurrent_edit_error(connection, change.text, row.status if row else "gone")
            restored_changes = [
                self._restore_term(connection, change, rows.get(change.text)) for change in decision.changes
            ]
            now = self._clock()
            for change, restored_change in zip(decision.changes, restored_changes, strict=True):
                restore_related_pairs(self._database, connection, change, restored_change, now)
            if decision.undoes is not None and decision.kind is ReviewDecisionKind.UNDO:
                self._set_undone_by(connection, decision.undoes, None)  # the original decision is effective again
            undo_decision = self._record_decision(
                connection, ReviewDecisionKind.UNDO, restored_changes, actor, now, undoes=decision.act_id
            )
            self._set_undone_by(connection, decision.act_id, undo_decision.act_id)
            return undo_decision

    def find_undoable(self, actor: str = "", decision_id: int | None = None) -> ReviewDecision:
        """Return the decision that `undo` would undo. Raises LexiconError if there is none."""
        with self._database.read() as connection:
            return self._find_undoable(connection, actor, decision_id)

    def list_decisions(
        self, text: str = "", actor: str = "", offset: int = 0, limit: int = 50
    ) -> tuple[int, list[ReviewDecision]]:
        """Return the number of decisions and one page of them, newest first.

        Args:
            text: Only decisions on this term; "" for all.
            actor: Only decisions of this account; "" for all.
            offset: Number of decisions to skip.
            limit: Maximum number of decisions to return.
        """
        query = select(review_decisions)
        if text:
            query = query.where(
                review_decisions.c.act_id.in_(
                    select(review_changes.c.act_id).where(review_changes.c.text == sanitize_text(text))
                )
            )
        if actor:
            query = query.where(review_decisions.c.by_whom == actor)
        with self._database.read() as connection:
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            page = query.order_by(review_decisions.c.act_id.desc()).offset(offset).limit(limit)
            return total, [review_decision_from_row(connection, row) for row in connection.execute(page).all()]

    def count_decided_terms(self, actor: str, since: float) -> int:
        """Return the number of terms that `actor` decided since `since` (epoch seconds), without what was undone.

        Restored versions and imported files are no decisions on their terms.
        """
        query = (
            select(func.count(review_changes.c.text.distinct()))
            .join(review_decisions, review_decisions.c.act_id == review_changes.c.act_id)
            .where(
                review_decisions.c.by_whom == actor,
                review_decisions.c.at >= since,
                review_decisions.c.kind.in_(STATUS_DECISIONS),
                review_decisions.c.undone_by.is_(None),
            )
        )
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def last_decision_id(self) -> int:
        """Return the id of the last decision, or 0. It increases with every decision."""
        with self._database.read() as connection:
            return connection.scalar(select(func.max(review_decisions.c.act_id))) or 0

    # -- inside a transaction

    def _apply(
        self, connection: Connection, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str
    ) -> ReviewDecision:
        edits = [replace(edit, text=sanitize_text(edit.text)) for edit in edits]
        rows = term_rows(connection, [edit.text for edit in edits])
        require_terms(rows, [edit.text for edit in edits if not edit.create_if_missing])
        for edit in edits:
            row = rows.get(edit.text)
            if edit.seen_version is not None and row is not None and row.version != edit.seen_version:
                raise concurrent_edit_error(connection, row.text, row.status)
        effective_edits = [edit for edit in edits if not (edit.keep_existing and edit.text in rows)]
        now = self._clock()
        new_texts = [edit.text for edit in effective_edits if edit.text not in rows]
        self._insert_terms(connection, new_texts)
        current_rows = rows | term_rows(connection, new_texts)
        if self.needs_second_reviewer():
            effective_edits = [
                edit_with_two_reviewers(kind, edit, current_rows[edit.text], actor) for edit in effective_edits
            ]
        changes = [
            term_change_for_edit(edit, rows.get(edit.text), current_rows[edit.text], actor, now)
            for edit in effective_edits
        ]
        for change in changes:
            connection.execute(
                update(terms)
                .where(terms.c.text == change.text)
                .values(**(change.after or {}), **definition_source_values(change), version=change.version)
            )
        for edit, change in zip(effective_edits, changes, strict=True):
            apply_related_pairs(self._database, connection, change, edit.related_pairs, actor, now)
        return (
            self._record_decision(connection, kind, changes, actor, now)
            if changes
            else ReviewDecision(0, now, actor, kind, ())
        )

    def _insert_terms(self, connection: Connection, texts: Sequence[str]) -> None:
        rows = [term_row(Term(text, 0.0, 0, 0), None, self._clock()) for text in texts]
        for batch in batched(rows, BATCH_SIZE):
            self._database.insert_missing(connection, terms, batch)

    def _record_decision(
        self,
        connection: Connection,
        kind: ReviewDecisionKind,
        changes: Sequence[TermChange],
        actor: str,
        now: float,
        undoes: int | None = None,
    ) -> ReviewDecision:
        if kind is not ReviewDecisionKind.REVERT:  # older versions may have cycles
            refuse_cycles(connection, changes)
        values = {"at": now, "by_whom": sanitize_text(actor)[:64], "kind": kind, "undoes": undoes}
        decision_id = connection.execute(review_decisions.insert().values(**values)).inserted_primary_key[0]  # type: ignore[index]
        rows = [
            {
                "act_id": decision_id,
                "text": change.text,
                "before": decision_state_to_json(change.before),
                "after": decision_state_to_json(change.after),
                "version": change.version,
            }
            for change in changes
        ]
        for batch in batched(rows, BATCH_SIZE):
            connection.execute(review_changes.insert(), batch)
        for table, keys in ((terms, [change.text for change in changes]), (review_decisions, [decision_id])):
            update_row_checksums(self._database, connection, table, keys)
        update_row_checksums(self._database, connection, review_changes, [decision_id])
        return ReviewDecision(decision_id, now, actor, kind, tuple(changes), undoes)

    def _set_undone_by(self, connection: Connection, decision_id: int, later_id: int | None) -> None:
        matches = review_decisions.c.act_id == decision_id
        connection.execute(update(review_decisions).where(matches).values(undone_by=later_id))
        update_row_checksums(self._database, connection, review_decisions, [decision_id])

    def reopen_terms(self, connection: Connection, texts: Sequence[str]) -> None:
        """Make rejected terms candidates again, as a decision of the term miner, in the transaction of the caller."""
        edits = [TermEdit(text, TermStatus.CANDIDATE) for text in texts]
        if edits:
            self._apply(connection, ReviewDecisionKind.REOPEN, edits, "")

    def _find_undoable(self, connection: Connection, actor: str, decision_id: int | None) -> ReviewDecision:
        query = select(review_decisions).order_by(review_decisions.c.act_id.desc()).limit(1)
        if decision_id is None:
            kinds = [kind for kind in ReviewDecisionKind if kind.has_effect and kind is not ReviewDecisionKind.UNDO]
            query = query.where(
                review_decisions.c.by_whom == actor,
                review_decisions.c.kind.in_(kinds),
                review_decisions.c.undone_by.is_(None),
            )
        else:
            query = query.where(review_decisions.c.act_id == decision_id)
        row = connection.execute(query).first()
        if row is None and decision_id is None:
            raise LexiconError("There is nothing to undo.")
        if row is None:
            raise LexiconError(
                "Action {number} does not exist. “plumb lexicon history” lists all actions.", number=str(decision_id)
            )
        if not ReviewDecisionKind(row.kind).has_effect:
            raise LexiconError("There is nothing to undo.")
        if row.undone_by is not None:
            raise LexiconError("This action was already undone.")
        return review_decision_from_row(connection, row)

    def _restore_term(self, connection: Connection, change: TermChange, row: Row[Any] | None) -> TermChange:
        """Restore the state of a term before `change`, with a new version number. Returns the resulting change."""
        current_state = None if row is None else decision_state_from_row(row)
        previous_state, version = change.before, (change.version if row is None else row.version) + 1
        if previous_state is None and row is not None and row.mined_at is None:
            connection.execute(delete(terms).where(terms.c.text == change.text))
            return TermChange(change.text, current_state, None, version)
        if row is None:
            self._insert_terms(connection, [change.text])
        state = without_related(previous_state or UNDECIDED_STATE)
        restoring_change = TermChange(change.text, current_state, state, version)
        source_values = definition_source_values(restoring_change)
        connection.execute(
            update(terms).where(terms.c.text == change.text).values(**state, **source_values, version=version)
        )
        return restoring_change
