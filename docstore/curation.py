"""The rules of editors about the results of queries."""

from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.administration_tables import curation_rules
from domain.account import Role
from domain.curation import CurationAction, CurationRule
from domain.errors import PlumblineError
from domain.message import Message
from domain.operation import Call, Change, Field, Operation, Values
from domain.storable_text import sanitize_text
from text.folding import query_key

MAX_REASON_CHARS = 500
MAX_RULES_PER_QUERY = 50
RULE_KEY = (Field("query", 1000, is_required=True), Field("doc_id", 64, is_required=True))
REASON = Field("reason", MAX_REASON_CHARS, is_required=True)
_TABLE = curation_rules


class CurationTable(StorePart):
    """Save, delete and list the rules (`store.curation`)."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        """`curation_create`, `curation_change` and `curation_delete`, of the rule of a query and an article.

        The values of a rule are those of `rule_values`. The last two need the `version` that the account has seen. They
        raise PlumblineError if the rule has another one, or if there are too many rules.
        """
        content, version = (Field("action", choices=tuple(CurationAction), is_required=True), REASON), Field("version")
        gone_message, deleted_message = Message("The rule was deleted before."), Message("The rule is deleted.")
        return (
            Operation("curation_create", Role.EDITOR, self._create, (*RULE_KEY, *content), "curation_delete"),
            Operation(
                "curation_change",
                Role.EDITOR,
                self._change,
                (*RULE_KEY, *content, version),
                "curation_change",
                unchanged_message=gone_message,
            ),
            Operation(
                "curation_delete",
                Role.EDITOR,
                self._delete,
                (*RULE_KEY, version),
                "curation_create",
                deleted_message,
                unchanged_message=gone_message,
            ),
        )

    def _create(self, call: Call) -> Change:
        with self._database.write() as connection:
            if existing := find_row(connection, call):
                raise PlumblineError(
                    "{account} has made a rule for this article and this query. Nothing is changed.",
                    account=existing.account,
                )
            row = to_row(call) | {"created_at": call.values.get("created_at", self._clock())}
            is_same_query = _TABLE.c.query_key == row["query_key"]
            if (connection.scalar(select(func.count()).where(is_same_query)) or 0) >= MAX_RULES_PER_QUERY:
                raise PlumblineError(
                    "A query has at most {limit} rules. Nothing is changed.", limit=MAX_RULES_PER_QUERY
                )
            new_row = connection.execute(insert(_TABLE).values(row).returning(_TABLE)).one()
            update_row_checksums(self._database, connection, _TABLE, [new_row.rule_id])
        return Change(rule_subject(new_row), rule_values(new_row), {"query": new_row.query, "doc_id": new_row.doc_id})

    def _change(self, call: Call) -> Change | None:
        with self._database.write() as connection:
            if (row := find_seen_row(connection, call)) is None:
                return None
            is_it = _TABLE.c.rule_id == row.rule_id
            new_row = connection.execute(update(_TABLE).where(is_it).values(to_row(call)).returning(_TABLE)).one()
            update_row_checksums(self._database, connection, _TABLE, [row.rule_id])
        return Change(rule_subject(new_row), rule_values(new_row), rule_values(row))

    def _delete(self, call: Call) -> Change | None:
        with self._database.write() as connection:
            if (row := find_seen_row(connection, call)) is None:
                return None
            connection.execute(delete(_TABLE).where(_TABLE.c.rule_id == row.rule_id))
            update_row_checksums(self._database, connection, _TABLE, [row.rule_id])
        return Change(rule_subject(row), {"query": row.query, "doc_id": row.doc_id}, rule_values(row))

    def load_all(self) -> list[CurationRule]:
        """Return all rules, the oldest first."""
        query = select(_TABLE).order_by(_TABLE.c.created_at, _TABLE.c.rule_id)
        with self._database.read() as connection:
            return [rule_from_row(row) for row in connection.execute(query)]

    def revision(self) -> tuple[int, int]:
        """Return a value that changes with every change of a rule: the last version and the number of rules."""
        with self._database.read() as connection:
            row = connection.execute(select(func.max(_TABLE.c.version), func.count())).one()
            return row[0] or 0, row[1]


def rule_from_row(row: Row[Any]) -> CurationRule:
    """Convert a row of `curation_rules` to a CurationRule."""
    codes = {"action": CurationAction(row.action), "with_synonyms": bool(row.with_synonyms)}
    return CurationRule(**{**row._mapping, **codes})


def to_row(call: Call) -> dict[str, Any]:
    """Return the columns of the rule of a call that an editor can change, and its key."""
    return {
        "query": sanitize_text(call.text("query")),
        "query_key": sanitize_text(query_key(call.text("query"))),
        "doc_id": call.text("doc_id"),
        "title": sanitize_text(call.text("title")),
        "action": call.text("action"),
        "with_synonyms": int(bool(call.values.get("with_synonyms"))),
        "reason": sanitize_text(call.text("reason")),
        "expires_at": call.values.get("until"),
        "account": call.account,
        "version": call.operation_id,
    }


def rule_values(row: Row[Any]) -> Values:
    """Return the values of a rule as operations have them; `until` is the end in epoch seconds or None."""
    names = ("query", "doc_id", "title", "action", "reason", "created_at")
    values = {name: getattr(row, name) for name in names}
    return {**values, "with_synonyms": bool(row.with_synonyms), "until": row.expires_at}


def rule_subject(row: Row[Any]) -> str:
    """Return what an operation on a rule changed, for the history."""
    return f"{row.query} → {row.title or row.doc_id}"


def find_row(connection: Connection, call: Call) -> Row[Any] | None:
    """Return the row of the query and the article of a call; None if there is no rule."""
    is_key = (_TABLE.c.query_key == query_key(call.text("query"))) & (_TABLE.c.doc_id == call.text("doc_id"))
    return connection.execute(select(_TABLE).where(is_key)).first()


def find_seen_row(connection: Connection, call: Call) -> Row[Any] | None:
    """Return the row as `find_row`. Raises PlumblineError if it is not the one that the caller has seen or undoes."""
    row = find_row(connection, call)
    if row is None:
        return None
    is_seen = str(row.version) == call.text("version") if call.expected is None else rule_values(row) == call.expected
    if not is_seen:
        raise PlumblineError("The rule has changed since: {account} saved it. Nothing is changed.", account=row.account)
    return row
