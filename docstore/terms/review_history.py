"""What people say of terms, with a history: each act is kept with what there was before, and can be taken back.

Two reviewers at once: whoever changes a term says which version of it was looked at, and is refused
(ChangedMeanwhileError) where somebody else was faster. Nothing of an act is kept unless all of it can be.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from docstore.batches import batched
from docstore.bookkeeping import sanitize_text
from docstore.coded_message import CodedMessage
from docstore.database import Database
from docstore.errors import ConcurrentEditError, LexiconError
from docstore.integrity.row_checksums import update_row_checksums
from docstore.model import Term, TermClass, TermStatus
from docstore.schema.lexicon_tables import review_changes, review_decisions, terms
from docstore.terms.edits import ActKind, TermEdit
from docstore.terms.row_mapping import (
    UNDECIDED_STATE,
    DecisionState,
    decision_state_from_json,
    decision_state_from_row,
    decision_state_to_json,
    term_row,
    to_json_list,
)

BATCH_SIZE = 500
MAX_SYNONYMS = 8  # of one term
MAX_SYNONYM_CHARS = 64  # characters


@dataclass(frozen=True)
class TermChange:
    """One term in an act: what was said of it `before` and `after` (None: there was no such term), its version then."""

    text: str
    before: DecisionState | None
    after: DecisionState | None
    version: int


@dataclass(frozen=True)
class ReviewDecision:
    """One act of a person (`by` is an account, "" the miner); `undoes` is the act that it took back, `undone` says
    whether it was taken back itself.
    """

    act_id: int
    at: float
    by: str
    kind: ActKind
    changes: tuple[TermChange, ...]
    undoes: int | None = None
    undone: bool = False


class ReviewHistory:
    """`store.review_history`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def apply(self, kind: ActKind, edits: Sequence[TermEdit], actor: str = "") -> ReviewDecision:
        """Change terms, all of them or none. An act that changes nothing has the number 0, and is not kept.

        Raises LexiconError that names unknown terms or says what is wrong with a synonym, ChangedMeanwhileError for a
        term that is not what was seen.
        """
        with self._database.write() as connection:
            return self._apply(connection, kind, edits, actor)

    def merge(self, text: str, into: str, actor: str = "", seen_version: int | None = None) -> ReviewDecision:
        """Make `text` another word for the term `into`, with whatever was one for `text`."""
        with self._database.write() as connection:
            rows = term_rows(connection, [text, into])
            require_terms(rows, [text, into])
            if text == into:
                raise LexiconError(
                    CodedMessage(f"{text!r} cannot be merged with itself", "merge_with_itself", term=text)
                )
            target_synonyms, source_synonyms = (
                tuple(json.loads(rows[term_text].synonyms)) for term_text in (into, text)
            )
            synonyms = tuple(dict.fromkeys((*target_synonyms, text, *source_synonyms)))
            edits = (
                TermEdit(text, TermStatus.MERGED, synonyms=(), seen=seen_version),
                TermEdit(into, synonyms=synonyms),
            )
            return self._apply(connection, ActKind.MERGE, edits, actor)

    def rename(self, text: str, new_text: str, actor: str = "", seen_version: int | None = None) -> ReviewDecision:
        """Accept `new_text` in the place of `text`, whose limits or spelling were wrong; `text` is rejected.

        What was said of `text` goes over. The form of `new_text` was checked by the caller.
        """
        with self._database.write() as connection:
            rows = term_rows(connection, [text])
            require_terms(rows, [text])
            if text == new_text:
                raise LexiconError(CodedMessage(f"{text!r} is what the term is called already", "same_text", term=text))
            row = rows[text]
            carried_over = (tuple(json.loads(row.synonyms)), tuple(json.loads(row.broader)))
            new_term_edit = TermEdit(new_text, TermStatus.ACCEPTED, TermClass(row.category), *carried_over, adds=True)
            edits = (TermEdit(text, TermStatus.REJECTED, synonyms=(), broader=(), seen=seen_version), new_term_edit)
            return self._apply(connection, ActKind.RENAME, edits, actor)

    def undo(self, actor: str = "", decision_id: int | None = None) -> ReviewDecision:
        """Take an act back, by default the last one of `actor` that was not: its terms are again what they were before.

        Raises LexiconError where there is none, ChangedMeanwhileError if one of its terms was changed since.
        """
        with self._database.write() as connection:
            decision = self._find_undoable(connection, actor, decision_id)
            rows = term_rows(connection, [change.text for change in decision.changes])
            for change in decision.changes:
                check_not_changed_since(connection, change, rows.get(change.text))
            restored_changes = [
                self._restore_term(connection, change, rows.get(change.text)) for change in decision.changes
            ]
            if decision.undoes is not None:  # what was undone counts again, and can be undone again
                connection.execute(
                    update(review_decisions).where(review_decisions.c.act_id == decision.undoes).values(undone_by=None)
                )
                update_row_checksums(self._database, connection, review_decisions, [decision.undoes])
            undo_decision = self._record_decision(
                connection, ActKind.UNDO, restored_changes, actor, self._clock(), undoes=decision.act_id
            )
            connection.execute(
                update(review_decisions)
                .where(review_decisions.c.act_id == decision.act_id)
                .values(undone_by=undo_decision.act_id)
            )
            update_row_checksums(self._database, connection, review_decisions, [decision.act_id])
            return undo_decision

    def list_decisions(
        self, text: str = "", actor: str = "", offset: int = 0, limit: int = 50
    ) -> tuple[int, list[ReviewDecision]]:
        """How many acts there were, on the term `text` and of `actor` if these are named, and a page, the latest first."""
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

    def last_decision_id(self) -> int:
        """The number of the last act; grows with each (cheap to ask)."""
        with self._database.read() as connection:
            return connection.scalar(select(func.max(review_decisions.c.act_id))) or 0

    # -- inside a transaction

    def _apply(self, connection: Connection, kind: ActKind, edits: Sequence[TermEdit], actor: str) -> ReviewDecision:
        edits = [replace(edit, text=sanitize_text(edit.text)) for edit in edits]
        rows = term_rows(connection, [edit.text for edit in edits])
        require_terms(rows, [edit.text for edit in edits if not edit.adds])
        for edit in edits:
            check_seen_version(connection, edit, rows.get(edit.text))
        effective_edits = [edit for edit in edits if not (edit.keeps and edit.text in rows)]
        new_texts = [edit.text for edit in effective_edits if edit.text not in rows]
        self._insert_terms(connection, new_texts)
        now = self._clock()
        changes = [
            term_change_for_edit(edit, None if edit.text in new_texts else row, row, actor, now)
            for edit, row in edits_with_rows(effective_edits, rows, term_rows(connection, new_texts))
        ]
        for change in changes:
            connection.execute(
                update(terms).where(terms.c.text == change.text).values(**(change.after or {}), version=change.version)
            )
        return (
            self._record_decision(connection, kind, changes, actor, now)
            if changes
            else ReviewDecision(0, now, actor, kind, ())
        )

    def _insert_terms(self, connection: Connection, texts: Sequence[str]) -> None:
        rows = [term_row(Term(text, 0.0, 0, 0), None, self._clock()) for text in texts]
        for batch in batched(rows, BATCH_SIZE):
            self._database.upsert(connection, terms, batch)

    def _record_decision(
        self,
        connection: Connection,
        kind: ActKind,
        changes: Sequence[TermChange],
        actor: str,
        now: float,
        undoes: int | None = None,
    ) -> ReviewDecision:
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

    def reopen_terms(self, connection: Connection, texts: Sequence[str]) -> None:
        """Let rejected terms be candidates again, as an act of the miner. For use inside another change."""
        edits = [TermEdit(text, TermStatus.CANDIDATE) for text in texts]
        if edits:
            self._apply(connection, ActKind.RETURN, edits, "")

    def _find_undoable(self, connection: Connection, actor: str, decision_id: int | None) -> ReviewDecision:
        query = select(review_decisions).where(review_decisions.c.undone_by.is_(None))
        if decision_id is None:
            query = query.where(review_decisions.c.by_whom == actor, review_decisions.c.kind != ActKind.UNDO)
        else:
            query = query.where(review_decisions.c.act_id == decision_id)
        row = connection.execute(query.order_by(review_decisions.c.act_id.desc()).limit(1)).first()
        if row is None:
            if decision_id is None:
                raise LexiconError(CodedMessage("there is nothing to undo", "nothing_to_undo"))
            raise LexiconError(CodedMessage("this was undone already", "already_undone"))
        return review_decision_from_row(connection, row)

    def _restore_term(self, connection: Connection, change: TermChange, row: Row[Any] | None) -> TermChange:
        """Make a term what it was before `change`, in a version that nobody has seen yet; returns what that changed."""
        current_state = None if row is None else decision_state_from_row(row)
        previous_state, version = change.before, (change.version if row is None else row.version) + 1
        if previous_state is None and row is not None and row.mined_at is None:
            connection.execute(delete(terms).where(terms.c.text == change.text))
            return TermChange(change.text, current_state, None, version)
        if row is None:
            self._insert_terms(connection, [change.text])
        state = previous_state or UNDECIDED_STATE
        connection.execute(update(terms).where(terms.c.text == change.text).values(**state, version=version))
        return TermChange(change.text, current_state, state, version)


def edits_with_rows(
    edits: Sequence[TermEdit], rows: Mapping[str, Row[Any]], new_rows: Mapping[str, Row[Any]]
) -> list[tuple[TermEdit, Row[Any]]]:
    """Each edit with the row of its term."""
    return [(edit, rows[edit.text] if edit.text in rows else new_rows[edit.text]) for edit in edits]


def term_change_for_edit(
    edit: TermEdit, previous_row: Row[Any] | None, row: Row[Any], actor: str, now: float
) -> TermChange:
    """What `edit` makes of the term in `row`; `previous_row` is None where the term was made for it."""
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
    if edit.broader is not None:
        new_state["broader"] = to_json_list(clean_synonyms(edit.text, edit.broader))
    new_state |= {name: value for name, value in (("weight", edit.weight), ("tag", edit.tag)) if value is not None}
    return TermChange(
        edit.text, None if previous_row is None else decision_state_from_row(previous_row), new_state, row.version + 1
    )


def clean_synonyms(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """`words` without blanks around them, empty ones, and `text` itself. LexiconError for too many or too long ones."""
    synonyms = tuple(
        word for word in dict.fromkeys(sanitize_text(raw_word).strip() for raw_word in words) if word not in ("", text)
    )
    if len(synonyms) > MAX_SYNONYMS:
        message = f"{text!r} can have {MAX_SYNONYMS} synonyms, not {len(synonyms)}"
        raise LexiconError(CodedMessage(message, "too_many_synonyms", term=text, limit=MAX_SYNONYMS))
    if too_long := [word[:40] for word in synonyms if len(word) > MAX_SYNONYM_CHARS]:
        message = f"a synonym has at most {MAX_SYNONYM_CHARS} characters: {', '.join(too_long)} ..."
        words_too_long = tuple(f"{word} ..." for word in too_long)
        raise LexiconError(CodedMessage(message, "synonym_too_long", limit=MAX_SYNONYM_CHARS, words=words_too_long))
    return synonyms


def term_rows(connection: Connection, texts: Sequence[str]) -> dict[str, Row[Any]]:
    """The rows of those of `texts` that are terms."""
    row_by_text: dict[str, Row[Any]] = {}
    for batch in batched(texts, BATCH_SIZE):
        row_by_text.update((row.text, row) for row in connection.execute(select(terms).where(terms.c.text.in_(batch))))
    return row_by_text


def require_terms(rows: Mapping[str, Row[Any]], texts: Sequence[str]) -> None:
    """LexiconError that names those of `texts` that are no terms."""
    if unknown := [text for text in texts if text not in rows]:
        message = f"no such term: {', '.join(unknown[:5])} (add it first: plumb lexicon add TERM)"
        raise LexiconError(CodedMessage(message, "no_such_term", terms=tuple(unknown[:5])))


def check_seen_version(connection: Connection, edit: TermEdit, row: Row[Any] | None) -> None:
    """ChangedMeanwhileError if the term is not any more what its reviewer looked at."""
    if edit.seen is not None and row is not None and row.version != edit.seen:
        raise concurrent_edit_error(connection, row.text, row.status)


def check_not_changed_since(connection: Connection, change: TermChange, row: Row[Any] | None) -> None:
    """ChangedMeanwhileError if a term is not what an act made of it; later acts that were undone do not count."""
    if (None if row is None else decision_state_from_row(row)) != change.after:
        raise concurrent_edit_error(connection, change.text, row.status if row else "gone")


def concurrent_edit_error(connection: Connection, text: str, status: str) -> ConcurrentEditError:
    """The error that says who changed a term last, and when."""
    query = select(review_decisions).join(review_changes, review_changes.c.act_id == review_decisions.c.act_id)
    last_decision = connection.execute(
        query.where(review_changes.c.text == text).order_by(review_decisions.c.act_id.desc())
    ).first()
    return ConcurrentEditError(
        text, last_decision.by_whom if last_decision else "", last_decision.at if last_decision else None, status
    )


def review_decision_from_row(connection: Connection, row: Row[Any]) -> ReviewDecision:
    """The act in a `review_decisions` row, with its changes in the order of their terms."""
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
    return ReviewDecision(
        row.act_id, row.at, row.by_whom, ActKind(row.kind), changes, row.undoes, row.undone_by is not None
    )
