"""The log of what accounts changed in the administration."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from sqlalchemy import Connection, Row, select, update

from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.administration_tables import actions
from domain.administration import AdminAction, PendingAction
from domain.storable_text import sanitize_text

_reversed_action_id: ContextVar[int | None] = ContextVar("reversed_action_id", default=None)


class ActionTable:
    """Record and find actions (`store.actions`). Actions are never deleted."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def record(self, account: str, action: str, subject: str, details: Mapping[str, object] | None = None) -> int:
        """Record an action whose effect is outside the store, and return its id.

        Record it after its effect: if the program ends between the two, the effect is there without a record.

        Args:
            account: Name of the account.
            action: Code of the action, at most 64 characters.
            subject: What the action changed, such as a host.
            details: JSON values of the message about the action.
        """
        with self._database.write() as connection:
            return write_action(self._database, connection, self._clock(), account, action, subject, details)

    def prepare(self, account: str, action: str, subject: str, details: Mapping[str, object]) -> PendingAction:
        """Return an action for `record_pending`, as of now. In a block of `record_undo` it undoes that action."""
        return PendingAction(self._clock(), account, action, subject, details, _reversed_action_id.get())

    def record_pending(self, pending_actions: Sequence[PendingAction]) -> None:
        """Record prepared actions in one transaction, except those that are recorded."""
        with self._database.write() as connection:
            for pending in pending_actions:
                with self.record_undo(pending.undoes):
                    write_action_once(self._database, connection, pending)

    def find(
        self, account: str | None = None, action: str | None = None, limit: int = 100, before_id: int | None = None
    ) -> list[AdminAction]:
        """Return the newest actions first.

        Args:
            account: Only actions of this account.
            action: Only actions with this code.
            limit: Maximum number of actions.
            before_id: Only actions with smaller ids.
        """
        query = select(actions).order_by(actions.c.action_id.desc()).limit(limit)
        for column, value in ((actions.c.account, account), (actions.c.action, action)):
            if value is not None:
                query = query.where(column == value)
        if before_id is not None:
            query = query.where(actions.c.action_id < before_id)
        with self._database.read() as connection:
            return [action_from_row(row) for row in connection.execute(query)]

    def load(self, action_id: int) -> AdminAction | None:
        """Return the action with this id, or None."""
        with self._database.read() as connection:
            row = connection.execute(select(actions).where(actions.c.action_id == action_id)).first()
            return action_from_row(row) if row else None

    @contextmanager
    def record_undo(self, action_id: int | None) -> Iterator[None]:
        """Mark an action as undone by each action that this thread records in the block, in the same transaction.

        None marks no action.
        """
        context_token = _reversed_action_id.set(action_id)
        try:
            yield
        finally:
            _reversed_action_id.reset(context_token)


def write_action(
    database: Database,
    connection: Connection,
    at: float,
    account: str,
    action: str,
    subject: str,
    details: Mapping[str, object] | None = None,
) -> int:
    """Record an action in the transaction of its effect; see `ActionTable.record`. `at` is epoch seconds."""
    row = {
        "at": at,
        "account": sanitize_text(account)[:64],
        "action": action,
        "subject": sanitize_text(subject),
        "details": json.dumps(sanitize_values(dict(details or {})), ensure_ascii=False),
    }
    action_id = int(connection.execute(actions.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]
    update_row_checksums(database, connection, actions, [action_id])
    if (reversed_action_id := _reversed_action_id.get()) is not None:
        mark_undone(database, connection, [reversed_action_id], action_id)
    return action_id


def write_action_once(database: Database, connection: Connection, pending: PendingAction) -> None:
    """Record a prepared action in a transaction. If it is recorded, only replace its details."""
    account, subject = sanitize_text(pending.account)[:64], sanitize_text(pending.subject)
    is_same = (actions.c.at == pending.at) & (actions.c.account == account) & (actions.c.action == pending.action)
    query = select(actions.c.action_id).where(is_same, actions.c.subject == subject)
    if (action_id := connection.scalar(query)) is None:
        write_action(database, connection, pending.at, account, pending.action, subject, pending.details)
        return
    details = json.dumps(sanitize_values(pending.details), ensure_ascii=False)
    connection.execute(update(actions).where(actions.c.action_id == action_id).values(details=details))
    update_row_checksums(database, connection, actions, [action_id])


def sanitize_values(value: object) -> object:
    """Return a JSON value with texts that the databases can store."""
    if isinstance(value, str):
        return sanitize_text(value)
    if isinstance(value, Mapping):
        return {sanitize_text(str(name)): sanitize_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sanitize_values(item) for item in value]
    return value


def mark_undone(database: Database, connection: Connection, action_ids: Sequence[int], undone_by: int) -> int:
    """Record in a transaction that the action `undone_by` undid others. Returns how many were in effect before."""
    is_in_effect = actions.c.action_id.in_(action_ids) & actions.c.undone_by.is_(None)
    changed = connection.execute(update(actions).where(is_in_effect).values(undone_by=undone_by)).rowcount
    update_row_checksums(database, connection, actions, action_ids)
    return changed


def action_from_row(row: Row[tuple[object, ...]]) -> AdminAction:
    """Convert a row of `actions` to an AdminAction."""
    return AdminAction(
        row.action_id, row.at, row.account, row.action, row.subject, json.loads(row.details), row.undone_by
    )
