"""One list of what accounts did: actions, review decisions, published lexicons and answers about pages of topics."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, String, Text, cast, func, literal, null, select, union_all
from sqlalchemy.sql.selectable import Subquery

from docstore.database import Database
from docstore.schema.administration_tables import actions
from docstore.schema.crawl_tables import topic_questions
from docstore.schema.lexicon_tables import lexicons, review_changes, review_decisions
from domain.administration import HistoryEntry, HistoryFilter, HistorySource

MAX_TERMS_PER_ENTRY = 5


class AdministrationHistory:
    """Find entries of all histories (`store.administration_history`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, history_filter: HistoryFilter, offset: int, limit: int) -> tuple[int, list[HistoryEntry]]:
        """Return the number of matching entries and one page of them, newest first."""
        entries = all_entries()
        query = select(entries).where(*history_conditions(entries, history_filter))
        order = (entries.c.at.desc(), entries.c.source, entries.c.entry_id.desc(), entries.c.subject)
        with self._database.snapshot() as connection:
            total = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            rows = connection.execute(query.order_by(*order).offset(offset).limit(limit)).all()
            decision_ids = [row.entry_id for row in rows if row.source == HistorySource.REVIEW]
            terms_query = select(review_changes.c.act_id, review_changes.c.text).order_by(review_changes.c.text)
            terms: dict[int, list[str]] = {}
            for act_id, text in connection.execute(terms_query.where(review_changes.c.act_id.in_(decision_ids))):
                terms.setdefault(act_id, []).append(text)
        return total, [
            HistoryEntry(
                HistorySource(row.source),
                row.entry_id,
                row.at,
                row.account,
                row.kind,
                row.subject or shorten_terms(terms.get(row.entry_id, [])),
                json.loads(row.details),
                row.undone_by is not None,
            )
            for row in rows
        ]

    def kinds(self) -> list[tuple[HistorySource, str]]:
        """Return the kinds of all entries, by source."""
        entries = all_entries()
        query = select(entries.c.source, entries.c.kind).distinct().order_by(entries.c.source, entries.c.kind)
        with self._database.snapshot() as connection:
            return [(HistorySource(source), kind) for source, kind in connection.execute(query)]

    def accounts(self) -> list[str]:
        """Return the accounts of all entries."""
        entries = all_entries()
        with self._database.snapshot() as connection:
            return list(connection.scalars(select(entries.c.account).distinct().order_by(entries.c.account)))


def all_entries() -> Subquery:
    """Return the rows of all histories with the same columns."""
    no_details = literal("{}", Text)
    return union_all(
        entry_select(
            HistorySource.ACTION, actions.c.action_id, actions.c.at, actions.c.account, actions.c.action,
            actions.c.subject, actions.c.details, actions.c.undone_by,
        ),
        entry_select(
            HistorySource.REVIEW, review_decisions.c.act_id, review_decisions.c.at, review_decisions.c.by_whom,
            review_decisions.c.kind, literal("", Text), no_details, review_decisions.c.undone_by,
        ),
        entry_select(
            HistorySource.LEXICON, lexicons.c.version, lexicons.c.published_at, lexicons.c.by_whom,
            literal("publish", String), cast(lexicons.c.version, Text), no_details, cast(null(), BigInteger),
        ),
        entry_select(
            HistorySource.TOPIC, topic_questions.c.place, topic_questions.c.answered_at,
            topic_questions.c.answered_by, literal("answer", String), topic_questions.c.url, no_details,
            cast(null(), BigInteger),
        ).where(topic_questions.c.answered_at.is_not(None)),
    ).subquery()  # fmt: skip


def entry_select(source: HistorySource, *columns: ColumnElement[Any]) -> Select[Any]:
    """Select the columns of an entry under their common names."""
    names = ("entry_id", "at", "account", "kind", "subject", "details", "undone_by")
    return select(
        literal(source.value, String).label("source"),
        *(column.label(name) for name, column in zip(names, columns, strict=True)),
    )


def history_conditions(entries: Subquery, history_filter: HistoryFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a filter."""
    conditions = []
    if history_filter.account is not None:
        conditions.append(entries.c.account == history_filter.account)
    if history_filter.source is not None:
        conditions.append(entries.c.source == history_filter.source.value)
    if history_filter.kind is not None:
        conditions.append(entries.c.kind == history_filter.kind)
    if history_filter.since is not None:
        conditions.append(entries.c.at >= history_filter.since)
    if history_filter.until is not None:
        conditions.append(entries.c.at < history_filter.until)
    return conditions


def shorten_terms(terms: Sequence[str]) -> str:
    """Return the first terms of a decision as one text."""
    return ", ".join(terms[:MAX_TERMS_PER_ENTRY]) + (" …" if len(terms) > MAX_TERMS_PER_ENTRY else "")
