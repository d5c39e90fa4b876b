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

from docstore.articles.records import storable
from docstore.batches import batched
from docstore.database import Database
from docstore.errors import ChangedMeanwhileError, LexiconError
from docstore.integrity.row_sums import seal
from docstore.model import Term, TermClass, TermStatus
from docstore.schema.lexicon_tables import term_acts, term_changes, terms
from docstore.terms.edits import ActKind, TermEdit
from docstore.terms.rows import UNDECIDED, State, listed, state_in, state_of, state_text, term_row

BATCH = 500
MAX_SYNONYMS = 8  # of one term
LONGEST_SYNONYM = 64  # characters


@dataclass(frozen=True)
class TermChange:
    """One term in an act: what was said of it `before` and `after` (None: there was no such term), its version then."""

    text: str
    before: State | None
    after: State | None
    version: int


@dataclass(frozen=True)
class Act:
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


class TermActs:
    """`store.acts`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def do(self, kind: ActKind, edits: Sequence[TermEdit], by: str = "") -> Act:
        """Change terms, all of them or none. An act that changes nothing has the number 0, and is not kept.

        Raises LexiconError that names unknown terms or says what is wrong with a synonym, ChangedMeanwhileError for a
        term that is not what was seen.
        """
        with self._database.write() as connection:
            return self._do(connection, kind, edits, by)

    def merge(self, text: str, into: str, by: str = "", seen: int | None = None) -> Act:
        """Make `text` another word for the term `into`, with whatever was one for `text`."""
        with self._database.write() as connection:
            rows = rows_of(connection, [text, into])
            require(rows, [text, into])
            if text == into:
                raise LexiconError(f"{text!r} cannot be merged with itself")
            kept, more = (tuple(json.loads(rows[one].synonyms)) for one in (into, text))
            synonyms = tuple(dict.fromkeys((*kept, text, *more)))
            edits = (TermEdit(text, TermStatus.MERGED, synonyms=(), seen=seen), TermEdit(into, synonyms=synonyms))
            return self._do(connection, ActKind.MERGE, edits, by)

    def rename(self, text: str, new: str, by: str = "", seen: int | None = None) -> Act:
        """Accept `new` in the place of `text`, whose limits or spelling were wrong; `text` is rejected.

        What was said of `text` goes over. The form of `new` was checked by the caller.
        """
        with self._database.write() as connection:
            rows = rows_of(connection, [text])
            require(rows, [text])
            if text == new:
                raise LexiconError(f"{text!r} is what the term is called already")
            row = rows[text]
            said = (tuple(json.loads(row.synonyms)), tuple(json.loads(row.broader)))
            made = TermEdit(new, TermStatus.ACCEPTED, TermClass(row.category), *said, adds=True)
            edits = (TermEdit(text, TermStatus.REJECTED, synonyms=(), broader=(), seen=seen), made)
            return self._do(connection, ActKind.RENAME, edits, by)

    def undo(self, by: str = "", act_id: int | None = None) -> Act:
        """Take an act back, by default the last one of `by` that was not: its terms are again what they were before.

        Raises LexiconError where there is none, ChangedMeanwhileError if one of its terms was changed since.
        """
        with self._database.write() as connection:
            act = self._to_undo(connection, by, act_id)
            rows = rows_of(connection, [change.text for change in act.changes])
            for change in act.changes:
                check_unchanged(connection, change, rows.get(change.text))
            restored = [self._restore(connection, change, rows.get(change.text)) for change in act.changes]
            if act.undoes is not None:  # what was undone counts again, and can be undone again
                connection.execute(update(term_acts).where(term_acts.c.act_id == act.undoes).values(undone_by=None))
                seal(self._database, connection, term_acts, [act.undoes])
            made = self._record(connection, ActKind.UNDO, restored, by, self._clock(), undoes=act.act_id)
            connection.execute(update(term_acts).where(term_acts.c.act_id == act.act_id).values(undone_by=made.act_id))
            seal(self._database, connection, term_acts, [act.act_id])
            return made

    def history(self, text: str = "", by: str = "", offset: int = 0, limit: int = 50) -> tuple[int, list[Act]]:
        """How many acts there were, on the term `text` and of `by` if these are named, and a page, the latest first."""
        query = select(term_acts)
        if text:
            query = query.where(
                term_acts.c.act_id.in_(select(term_changes.c.act_id).where(term_changes.c.text == storable(text)))
            )
        if by:
            query = query.where(term_acts.c.by_whom == by)
        with self._database.read() as connection:
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            page = query.order_by(term_acts.c.act_id.desc()).offset(offset).limit(limit)
            return total, [act_of(connection, row) for row in connection.execute(page).all()]

    def last(self) -> int:
        """The number of the last act; grows with each (cheap to ask)."""
        with self._database.read() as connection:
            return connection.scalar(select(func.max(term_acts.c.act_id))) or 0

    # -- inside a transaction

    def _do(self, connection: Connection, kind: ActKind, edits: Sequence[TermEdit], by: str) -> Act:
        edits = [replace(edit, text=storable(edit.text)) for edit in edits]
        rows = rows_of(connection, [edit.text for edit in edits])
        require(rows, [edit.text for edit in edits if not edit.adds])
        for edit in edits:
            check_seen(connection, edit, rows.get(edit.text))
        wanted = [edit for edit in edits if not (edit.keeps and edit.text in rows)]
        made = [edit.text for edit in wanted if edit.text not in rows]
        self._make(connection, made)
        now = self._clock()
        changes = [
            change_of(edit, None if edit.text in made else row, row, by, now)
            for edit, row in paired(wanted, rows, rows_of(connection, made))
        ]
        for change in changes:
            connection.execute(
                update(terms).where(terms.c.text == change.text).values(**(change.after or {}), version=change.version)
            )
        return self._record(connection, kind, changes, by, now) if changes else Act(0, now, by, kind, ())

    def _make(self, connection: Connection, texts: Sequence[str]) -> None:
        rows = [term_row(Term(text, 0.0, 0, 0), None, self._clock()) for text in texts]
        for batch in batched(rows, BATCH):
            self._database.upsert(connection, terms, batch)

    def _record(
        self,
        connection: Connection,
        kind: ActKind,
        changes: Sequence[TermChange],
        by: str,
        now: float,
        undoes: int | None = None,
    ) -> Act:
        values = {"at": now, "by_whom": storable(by)[:64], "kind": kind, "undoes": undoes}
        act_id = connection.execute(term_acts.insert().values(**values)).inserted_primary_key[0]  # type: ignore[index]
        rows = [
            {
                "act_id": act_id,
                "text": change.text,
                "before": state_text(change.before),
                "after": state_text(change.after),
                "version": change.version,
            }
            for change in changes
        ]
        for batch in batched(rows, BATCH):
            connection.execute(term_changes.insert(), batch)
        for table, keys in ((terms, [change.text for change in changes]), (term_acts, [act_id])):
            seal(self._database, connection, table, keys)
        seal(self._database, connection, term_changes, [act_id])
        return Act(act_id, now, by, kind, tuple(changes), undoes)

    def returned(self, connection: Connection, texts: Sequence[str]) -> None:
        """Let rejected terms be candidates again, as an act of the miner. For use inside another change."""
        edits = [TermEdit(text, TermStatus.CANDIDATE) for text in texts]
        if edits:
            self._do(connection, ActKind.RETURN, edits, "")

    def _to_undo(self, connection: Connection, by: str, act_id: int | None) -> Act:
        query = select(term_acts).where(term_acts.c.undone_by.is_(None))
        if act_id is None:
            query = query.where(term_acts.c.by_whom == by, term_acts.c.kind != ActKind.UNDO)
        else:
            query = query.where(term_acts.c.act_id == act_id)
        row = connection.execute(query.order_by(term_acts.c.act_id.desc()).limit(1)).first()
        if row is None:
            raise LexiconError("there is nothing to undo" if act_id is None else "this was undone already")
        return act_of(connection, row)

    def _restore(self, connection: Connection, change: TermChange, row: Row[Any] | None) -> TermChange:
        """Make a term what it was before `change`, in a version that nobody has seen yet; returns what that changed."""
        now = None if row is None else state_of(row)
        before, version = change.before, (change.version if row is None else row.version) + 1
        if before is None and row is not None and row.mined_at is None:
            connection.execute(delete(terms).where(terms.c.text == change.text))
            return TermChange(change.text, now, None, version)
        if row is None:
            self._make(connection, [change.text])
        state = before or UNDECIDED
        connection.execute(update(terms).where(terms.c.text == change.text).values(**state, version=version))
        return TermChange(change.text, now, state, version)


def paired(
    edits: Sequence[TermEdit], rows: Mapping[str, Row[Any]], made: Mapping[str, Row[Any]]
) -> list[tuple[TermEdit, Row[Any]]]:
    """Each edit with the row of its term."""
    return [(edit, rows[edit.text] if edit.text in rows else made[edit.text]) for edit in edits]


def change_of(edit: TermEdit, old: Row[Any] | None, row: Row[Any], by: str, now: float) -> TermChange:
    """What `edit` makes of the term in `row`; `old` is None where the term was made for it."""
    after = state_of(row)
    if edit.status is not None:
        decided = edit.status is not TermStatus.CANDIDATE
        after["status"] = edit.status.value
        after["decided_at"] = now if decided else None
        after["decided_by"] = storable(by)[:64] if decided else ""
        after["decided_on"] = row.frequency if decided else 0
    if edit.category is not None:
        after["category"] = edit.category.value
    if edit.synonyms is not None:
        after["synonyms"] = listed(fit_synonyms(edit.text, edit.synonyms))
    if edit.broader is not None:
        after["broader"] = listed(fit_synonyms(edit.text, edit.broader))
    after |= {name: value for name, value in (("weight", edit.weight), ("tag", edit.tag)) if value is not None}
    return TermChange(edit.text, None if old is None else state_of(old), after, row.version + 1)


def fit_synonyms(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """`words` without blanks around them, empty ones, and `text` itself. LexiconError for too many or too long ones."""
    chosen = tuple(word for word in dict.fromkeys(storable(one).strip() for one in words) if word not in ("", text))
    if len(chosen) > MAX_SYNONYMS:
        raise LexiconError(f"{text!r} can have {MAX_SYNONYMS} synonyms, not {len(chosen)}")
    if long := [word[:40] for word in chosen if len(word) > LONGEST_SYNONYM]:
        raise LexiconError(f"a synonym has at most {LONGEST_SYNONYM} characters: {', '.join(long)} ...")
    return chosen


def rows_of(connection: Connection, texts: Sequence[str]) -> dict[str, Row[Any]]:
    """The rows of those of `texts` that are terms."""
    found: dict[str, Row[Any]] = {}
    for batch in batched(texts, BATCH):
        found.update((row.text, row) for row in connection.execute(select(terms).where(terms.c.text.in_(batch))))
    return found


def require(rows: Mapping[str, Row[Any]], texts: Sequence[str]) -> None:
    """LexiconError that names those of `texts` that are no terms."""
    if unknown := [text for text in texts if text not in rows]:
        raise LexiconError(f"no such term: {', '.join(unknown[:5])} (add it first: plumb lexicon add TERM)")


def check_seen(connection: Connection, edit: TermEdit, row: Row[Any] | None) -> None:
    """ChangedMeanwhileError if the term is not any more what its reviewer looked at."""
    if edit.seen is not None and row is not None and row.version != edit.seen:
        raise changed_meanwhile(connection, row.text, row.status)


def check_unchanged(connection: Connection, change: TermChange, row: Row[Any] | None) -> None:
    """ChangedMeanwhileError if a term is not what an act made of it; later acts that were undone do not count."""
    if (None if row is None else state_of(row)) != change.after:
        raise changed_meanwhile(connection, change.text, row.status if row else "gone")


def changed_meanwhile(connection: Connection, text: str, status: str) -> ChangedMeanwhileError:
    """The error that says who changed a term last, and when."""
    query = select(term_acts).join(term_changes, term_changes.c.act_id == term_acts.c.act_id)
    last = connection.execute(query.where(term_changes.c.text == text).order_by(term_acts.c.act_id.desc())).first()
    return ChangedMeanwhileError(text, last.by_whom if last else "", last.at if last else None, status)


def act_of(connection: Connection, row: Row[Any]) -> Act:
    """The act in a `term_acts` row, with its changes in the order of their terms."""
    query = select(term_changes).where(term_changes.c.act_id == row.act_id).order_by(term_changes.c.text)
    changes = tuple(
        TermChange(one.text, state_in(one.before), state_in(one.after), one.version)
        for one in connection.execute(query)
    )
    return Act(row.act_id, row.at, row.by_whom, ActKind(row.kind), changes, row.undoes, row.undone_by is not None)
