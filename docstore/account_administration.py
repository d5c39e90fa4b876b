"""What administrators do to accounts in the browser. Each action is recorded in the transaction of its effect."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, select, update

from docstore.accounts import AccountTable, account_from_row, all_sessions_key, roles_to_text, validate_roles
from docstore.actions import write_action
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.operation_tables import accounts, revoked_sessions
from domain.account import Account, Role, normalize_account_name
from domain.errors import AccountError


class AccountAdministration:
    """Changes accounts on behalf of an administrator (`store.account_administration`).

    No change removes the last active administrator, and nobody removes their own administrator role. `actor` is the
    name of the account that acts. All methods raise AccountError if there is no account with the name.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def list_accounts(self) -> list[Account]:
        """Return all accounts, active and disabled, sorted by name."""
        with self._database.read() as connection:
            return list(load_accounts(connection).values())

    def create(
        self, name: str, password_hash: str, roles: Iterable[Role], actor: str, password_is_temporary: bool = False
    ) -> Account:
        """Create an account. Raises AccountError if the name is taken or invalid, or `roles` is empty."""
        table = AccountTable(self._database, self._clock)
        return table.create(name, password_hash, roles, password_is_temporary, actor)

    def set_roles(self, name: str, roles: Iterable[Role], expected_roles: Iterable[Role], actor: str) -> None:
        """Replace the roles of an account, which ends its sessions.

        Raises AccountError if `roles` is empty, or if the account does not have `expected_roles` any more.
        """
        new_roles = validate_roles(roles)
        with self._change(name) as (connection, account, other_accounts):
            if account.roles != frozenset(expected_roles):
                raise AccountError("The roles of {name} have changed meanwhile. Check them again.", name=account.name)
            if Role.OPERATOR not in new_roles:
                check_operator_remains(account, other_accounts, actor)
            self._update(connection, account.name, roles=roles_to_text(new_roles))
            details = {"before": roles_to_text(account.roles), "after": roles_to_text(new_roles)}
            self._record(connection, actor, "account_roles", account.name, details)

    def reset_password(self, name: str, password_hash: str, actor: str, password_is_temporary: bool = False) -> None:
        """Replace the password of an account, which ends its sessions."""
        with self._change(name) as (connection, account, _):
            values = {"password_hash": password_hash, "password_is_temporary": int(password_is_temporary)}
            self._update(connection, account.name, **values)
            self._record(connection, actor, "account_password", account.name)

    def disable(self, name: str, sessions_expire_at: float, actor: str) -> None:
        """Disable an account and end its sessions; see `end_sessions`."""
        with self._change(name) as (connection, account, other_accounts):
            check_operator_remains(account, other_accounts, actor)
            self._update(connection, account.name, disabled_at=self._clock())
            self._revoke_sessions(connection, account.name, sessions_expire_at)
            self._record(connection, actor, "account_disable", account.name)

    def enable(self, name: str, actor: str) -> None:
        """Enable a disabled account. Its password stays."""
        with self._change(name) as (connection, account, _):
            self._update(connection, account.name, disabled_at=None)
            self._record(connection, actor, "account_enable", account.name)

    def end_sessions(self, name: str, expire_at: float, actor: str) -> None:
        """End all sessions of an account whose regular end is at most `expire_at`, in epoch seconds."""
        with self._change(name) as (connection, account, _):
            self._revoke_sessions(connection, account.name, expire_at)
            self._record(connection, actor, "account_sign_out", account.name)

    @contextmanager
    def _change(self, name: str) -> Iterator[tuple[Connection, Account, list[Account]]]:
        """Yield a write transaction, the account with this name and all others, which no other transaction changes."""
        with self._database.write() as connection:
            account_by_name = load_accounts(connection, is_locked=True)
            account = account_by_name.pop(normalize_account_name(name), None)
            if account is None:
                raise AccountError("There is no account named {name}.", name=name[:64])
            yield connection, account, list(account_by_name.values())

    def _update(self, connection: Connection, name: str, **values: Any) -> None:
        connection.execute(update(accounts).where(accounts.c.name == name).values(**values))

    def _revoke_sessions(self, connection: Connection, name: str, expire_at: float) -> None:
        row = {"session": all_sessions_key(name), "until": expire_at}
        self._database.upsert(connection, revoked_sessions, [row])

    def _record(
        self, connection: Connection, actor: str, action: str, name: str, details: Mapping[str, object] | None = None
    ) -> None:
        update_row_checksums(self._database, connection, accounts, [name])
        write_action(self._database, connection, self._clock(), actor, action, name, details)


def load_accounts(connection: Connection, is_locked: bool = False) -> dict[str, Account]:
    """Return all accounts by name. With `is_locked`, no other transaction can change them before this one ends."""
    query = select(accounts).order_by(accounts.c.name)
    rows = connection.execute(query.with_for_update() if is_locked else query)
    return {row.name: account_from_row(row) for row in rows}


def check_operator_remains(account: Account, other_accounts: Iterable[Account], actor: str) -> None:
    """Raise AccountError if `account` must stay an administrator: it is the last one, or that of `actor`."""
    if not account.has_role(Role.OPERATOR):
        return
    if account.name == normalize_account_name(actor):
        raise AccountError("You cannot remove your own administrator role or disable your own account.")
    if not any(other.has_role(Role.OPERATOR) for other in other_accounts):
        raise AccountError(
            "{name} is the last administrator. Make another account an administrator first.", name=account.name
        )
