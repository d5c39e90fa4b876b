"""The record of what accounts changed: operations, with the values before and after, and their undo."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import NoReturn

from sqlalchemy import Connection, Row, select, update

from docstore.database import Database, StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.administration_tables import operations
from domain.administration import HistoryEntry, PendingAction
from domain.operation import Call, Change, Operation, OperationRecord, Recording, Values
from domain.storable_text import sanitize_text

_undone_id: ContextVar[int | None] = ContextVar("undone_id", default=None)


class OperationTable(StorePart):
    """Apply, record, undo and find operations (`store.operations`). Records are never deleted."""

    def run(self, operation: Operation, account: str, values: Values, expected: Values | None = None) -> Change | None:
        """Apply an operation and record it, in one transaction if its effect is in the store.

        Returns:
            The change; None if nothing was left to change, and nothing is recorded.

        Raises:
            PlumblineError: The operation is not possible; nothing is changed or recorded.
        """
        for field in operation.fields:
            if isinstance(text := values.get(field.name), str):
                field.check([text])
        try:
            return self._apply(operation, Call(account, values, expected=expected))
        except _NothingChangedError:
            return None

    def _apply(self, operation: Operation, call: Call) -> Change:
        if operation.recording is Recording.IN_TRANSACTION:
            with self._database.transaction() as connection:
                operation_id = self._begin(connection, operation, call)
                change = operation.apply(replace(call, operation_id=operation_id)) or _nothing_changed()
                self._complete(connection, operation, operation_id, change)
                return change
        change = operation.apply(call) or _nothing_changed()
        if operation.recording is Recording.AFTERWARDS:
            with self._database.write() as connection:
                self._complete(connection, operation, self._begin(connection, operation, call), change)
        return change

    def _begin(self, connection: Connection, operation: Operation, call: Call) -> int:
        return write_operation(self._database, connection, self._clock(), call.account, operation.name, "")

    def _complete(self, connection: Connection, operation: Operation, operation_id: int, change: Change) -> None:
        """Record what an operation did, and that it undid earlier ones whose values it has reversed."""
        before = None if change.before is None else to_json(change.before)
        row = {"subject": sanitize_text(change.subject), "before": before, "after": to_json(change.after)}
        connection.execute(update(operations).where(operations.c.operation_id == operation_id).values(row))
        update_row_checksums(self._database, connection, operations, [operation_id])
        is_earlier = (operations.c.name == operation.inverse) & (operations.c.operation_id < operation_id)
        is_earlier &= operations.c.undone_by.is_(None) & (operations.c.subject == row["subject"])
        records = map(record_from_row, connection.execute(select(operations).where(is_earlier)).all())
        reversed_ids = [record.operation_id for record in records if is_reversed(record, change)]
        mark_undone(self._database, connection, reversed_ids, operation_id)

    def undo(self, operations_by_name: Mapping[str, Operation], operation_id: int, account: str) -> Change | None:
        """Apply the inverse of a recorded operation with the values before it.

        Returns None if the operation is unknown, undone, has no inverse, or has no effect any more. Raises
        PlumblineError if something else has changed since.
        """
        record = self.load(operation_id)
        if record is None or not can_undo(operations_by_name, record):
            return None
        with self.record_undo(operation_id):
            inverse = operations_by_name[operations_by_name[record.name].inverse]
            return self.run(inverse, account, record.before or {}, record.after)

    @contextmanager
    def record_undo(self, operation_id: int | None) -> Iterator[None]:
        """Mark an operation as undone by each that this thread records in the block, in the same transaction."""
        context_token = _undone_id.set(operation_id)
        try:
            yield
        finally:
            _undone_id.reset(context_token)

    def record(
        self, account: str, name: str, subject: str, after: Values | None = None, before: Values | None = None
    ) -> int:
        """Record an operation whose effect is outside the store, after its effect, and return its id."""
        with self._database.write() as connection:
            return write_operation(self._database, connection, self._clock(), account, name, subject, after, before)

    def prepare(self, account: str, action: str, subject: str, details: Mapping[str, object]) -> PendingAction:
        """Return an operation for `record_pending`, as of now. In a block of `record_undo` it undoes that one."""
        return PendingAction(self._clock(), account, action, subject, details, _undone_id.get())

    def record_pending(self, pending_actions: Sequence[PendingAction]) -> None:
        """Record prepared operations in one transaction, except those that are recorded."""
        with self._database.write() as connection:
            for pending in pending_actions:
                with self.record_undo(pending.undoes):
                    write_operation_once(self._database, connection, pending)

    def find(
        self, account: str | None = None, name: str | None = None, limit: int = 100, before_id: int | None = None
    ) -> list[OperationRecord]:
        """Return the newest records first: of an account, of an operation, with ids below `before_id`."""
        query = select(operations).order_by(operations.c.operation_id.desc()).limit(limit)
        for column, value in ((operations.c.account, account), (operations.c.name, name)):
            if value is not None:
                query = query.where(column == value)
        if before_id is not None:
            query = query.where(operations.c.operation_id < before_id)
        with self._database.read() as connection:
            return [record_from_row(row) for row in connection.execute(query)]

    def load(self, operation_id: int) -> OperationRecord | None:
        """Return the record with this id, or None."""
        with self._database.read() as connection:
            row = connection.execute(select(operations).where(operations.c.operation_id == operation_id)).first()
            return record_from_row(row) if row else None


class _NothingChangedError(Exception):
    """Rolls back the record of an operation that changed nothing."""


def _nothing_changed() -> NoReturn:
    raise _NothingChangedError


def is_reversed(record: OperationRecord, change: Change) -> bool:
    """Return True if a change of the same subject has reversed all values that both name."""
    if record.before is None or change.before is None:
        return False
    pairs = ((record.after, change.before), (record.before, change.after))
    return all(old[name] == new[name] for old, new in pairs for name in old.keys() & new.keys())


def can_undo(operations_by_name: Mapping[str, Operation], record: OperationRecord | HistoryEntry) -> bool:
    """Return True if a record is in effect and has what its inverse needs; those of earlier versions have not."""
    operation = operations_by_name.get(record.name)
    inverse = operations_by_name.get(operation.inverse) if operation else None
    if inverse is None or record.before is None or record.undone_by is not None:
        return False
    return {field.name for field in inverse.fields if field.is_required} <= set(record.before)


def write_operation(
    database: Database,
    connection: Connection,
    at: float,
    account: str,
    name: str,
    subject: str,
    after: Values | None = None,
    before: Values | None = None,
) -> int:
    """Record an operation in the transaction of its effect and return its id. `at` is epoch seconds."""
    row = {
        "at": at,
        "account": sanitize_text(account)[:64],
        "name": name,
        "subject": sanitize_text(subject),
        "before": None if before is None else to_json(before),
        "after": to_json(after or {}),
    }
    operation_id = int(connection.execute(operations.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]
    update_row_checksums(database, connection, operations, [operation_id])
    if (undone_id := _undone_id.get()) is not None:
        mark_undone(database, connection, [undone_id], operation_id)
    return operation_id


def write_operation_once(database: Database, connection: Connection, pending: PendingAction) -> None:
    """Record a prepared operation in a transaction. If it is recorded, only replace its values."""
    account, subject = sanitize_text(pending.account)[:64], sanitize_text(pending.subject)
    is_same = (operations.c.at == pending.at) & (operations.c.account == account)
    is_same &= (operations.c.name == pending.action) & (operations.c.subject == subject)
    operation_id = connection.scalar(select(operations.c.operation_id).where(is_same))
    if operation_id is None:
        before = {"subject": subject, **pending.details}
        write_operation(database, connection, pending.at, account, pending.action, subject, pending.details, before)
        return
    values = {"after": to_json(pending.details), "before": to_json({"subject": subject, **pending.details})}
    connection.execute(update(operations).where(operations.c.operation_id == operation_id).values(values))
    update_row_checksums(database, connection, operations, [operation_id])


def to_json(values: Values) -> str:
    """Serialize values, with texts that the databases can store."""
    return json.dumps(sanitize_values(values), ensure_ascii=False)


def sanitize_values(value: object) -> object:
    """Return a JSON value with texts that the databases can store."""
    if isinstance(value, str):
        return sanitize_text(value)
    if isinstance(value, Mapping):
        return {sanitize_text(str(name)): sanitize_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sanitize_values(item) for item in value]
    return value


def mark_undone(database: Database, connection: Connection, operation_ids: Sequence[int], undone_by: int) -> None:
    """Record in a transaction that the operation `undone_by` undid others that are in effect."""
    is_in_effect = operations.c.operation_id.in_(operation_ids) & operations.c.undone_by.is_(None)
    connection.execute(update(operations).where(is_in_effect).values(undone_by=undone_by))
    update_row_checksums(database, connection, operations, operation_ids)


def record_from_row(row: Row[tuple[object, ...]]) -> OperationRecord:
    """Convert a row of `operations` to an OperationRecord."""
    before = None if row.before is None else json.loads(row.before)
    return OperationRecord(
        row.operation_id, row.at, row.account, row.name, row.subject, before, json.loads(row.after), row.undone_by
    )
