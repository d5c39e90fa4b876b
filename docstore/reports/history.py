"""The history of all areas: operations, and review decisions, which keep the state of each term."""

import json
from collections.abc import Sequence

from sqlalchemy import Text, func, literal, null, select, union_all

from docstore.database import StorePart
from docstore.schema.administration_tables import operations
from docstore.schema.lexicon_tables import review_changes, review_decisions
from domain.administration import HistoryEntry, HistoryFilter
from domain.review import shorten_terms

_OPERATIONS = select(
    literal(False).label("is_review"), operations.c.operation_id.label("entry_id"), operations.c.at,
    operations.c.account, operations.c.name, operations.c.subject, operations.c.before, operations.c.after,
    operations.c.undone_by,
)  # fmt: skip
_DECISIONS = select(
    literal(True), review_decisions.c.act_id, review_decisions.c.at, review_decisions.c.by_whom,
    review_decisions.c.kind, literal("", Text), null(), literal("{}", Text), review_decisions.c.undone_by,
)  # fmt: skip
_ENTRIES = union_all(_OPERATIONS, _DECISIONS).subquery()


class History(StorePart):
    """Find entries of the history (`store.history`)."""

    def find(self, history_filter: HistoryFilter, offset: int, limit: int) -> tuple[int, list[HistoryEntry]]:
        """Return the number of matching entries and one page of them, newest first."""
        values = {name: value for name, value in vars(history_filter).items() if value is not None}
        since, until = values.pop("since", None), values.pop("until", None)
        query = select(_ENTRIES).filter_by(**values)
        if since is not None:
            query = query.where(_ENTRIES.c.at >= since)
        if until is not None:
            query = query.where(_ENTRIES.c.at < until)
        order = (_ENTRIES.c.at.desc(), _ENTRIES.c.is_review, _ENTRIES.c.entry_id.desc())
        with self._database.snapshot() as connection:
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            rows = connection.execute(query.order_by(*order).offset(offset).limit(limit)).all()
            decision_ids = [row.entry_id for row in rows if row.is_review]
            terms_query = select(review_changes.c.act_id, review_changes.c.text).order_by(review_changes.c.text)
            terms: dict[int, list[str]] = {}
            for act_id, text in connection.execute(terms_query.where(review_changes.c.act_id.in_(decision_ids))):
                terms.setdefault(act_id, []).append(text)
        return total, [
            HistoryEntry(
                bool(row.is_review),
                row.entry_id,
                row.at,
                row.account,
                row.name,
                shorten_terms(terms.get(row.entry_id, [])) if row.is_review else row.subject,
                None if row.before is None else json.loads(row.before),
                json.loads(row.after),
                row.undone_by,
            )
            for row in rows
        ]

    def names(self) -> Sequence[tuple[bool, str]]:
        """Return the names of all entries, each with whether it is a review decision."""
        query = select(_ENTRIES.c.is_review, _ENTRIES.c.name).distinct().order_by(_ENTRIES.c.is_review, _ENTRIES.c.name)
        with self._database.snapshot() as connection:
            return [(bool(is_review), name) for is_review, name in connection.execute(query)]

    def accounts(self) -> list[str]:
        """Return the accounts of all entries."""
        with self._database.snapshot() as connection:
            return list(connection.scalars(select(_ENTRIES.c.account).distinct().order_by(_ENTRIES.c.account)))
