"""Accounts of the search site and their roles.

Passwords are stored as hashes, which `search_ui` computes and verifies.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.operation_tables import accounts, revoked_sessions
from domain.account import Account, Role, normalize_account_name
from domain.errors import AccountError

_NAME_PATTERN = re.compile(r"[\w.@-]{1,64}")


class AccountTable(StorePart):
    """Create, find and change accounts, and revoke sessions (`store.accounts`).

    All methods compare names in their canonical form (`normalize_account_name`).
    """

    def create(
        self, name: str, password_hash: str, roles: Iterable[Role], password_is_temporary: bool = False
    ) -> Account:
        """Create an account.

        Raises:
            AccountError: The name is taken or invalid, or `roles` is empty.
        """
        account = Account(
            validate_account_name(name),
            password_hash,
            validate_roles(roles),
            self._clock(),
            password_is_temporary=password_is_temporary,
        )
        with self._database.write() as connection:
            if not self._database.insert_missing(connection, accounts, [account_to_row(account)]):
                raise AccountError("An account named {name} already exists. Choose another name.", name=account.name)
            update_row_checksums(self._database, connection, accounts, [account.name])
        return account

    def find(self, name: str) -> Account | None:
        """Return the account with this name, active or disabled, or None."""
        with self._database.read() as connection:
            row = connection.execute(select(accounts).where(accounts.c.name == normalize_account_name(name))).first()
            return account_from_row(row) if row else None

    def list_accounts(self) -> list[Account]:
        """Return all accounts, active and disabled, sorted by name."""
        with self._database.read() as connection:
            return [account_from_row(row) for row in connection.execute(select(accounts).order_by(accounts.c.name))]

    def has_no_active_account(self) -> bool:
        """True if the store has no active account, so that nobody can sign in."""
        usable = select(func.count()).where(accounts.c.disabled_at.is_(None))
        with self._database.read() as connection:
            return not connection.scalar(usable)

    def set_password(self, name: str, password_hash: str) -> None:
        """Change the password of an active account to one that is not temporary. This ends all its sessions.

        Raises:
            AccountError: No active account has this name.
        """
        account = self.find(name)
        if account is None or account.disabled_at is not None:
            raise unknown_account_error(name)
        self.change(name, password_hash=password_hash, password_is_temporary=0)

    def reset_password(self, name: str, password_hash: str, password_is_temporary: bool = False) -> None:
        """Change a password and enable the account if it is disabled. Raises AccountError for an unknown name."""
        values = {"password_hash": password_hash, "password_is_temporary": int(password_is_temporary)}
        self.change(name, **values, disabled_at=None)

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Replace the roles of an account, which ends its sessions. Raises AccountError if `roles` is empty."""
        self.change(name, roles=roles_to_text(validate_roles(roles)))

    def disable(self, name: str) -> None:
        """Disable an account, which ends its sessions. Raises AccountError for an unknown name."""
        self.change(name, disabled_at=self._clock())

    def change(self, name: str, **values: Any) -> None:
        """Change columns of an account. Raises AccountError for an unknown name."""
        account_name = normalize_account_name(name)
        with self._database.write() as connection:
            statement = update(accounts).where(accounts.c.name == account_name).values(**values)
            if connection.execute(statement).rowcount != 1:
                raise unknown_account_error(name)
            update_row_checksums(self._database, connection, accounts, [account_name])

    def lock_all(self) -> dict[str, Account]:
        """Return all accounts by name; no other transaction changes them before this one ends."""
        with self._database.write() as connection:
            query = select(accounts).order_by(accounts.c.name).with_for_update()
            return {row.name: account_from_row(row) for row in connection.execute(query)}

    def end_sessions(self, name: str, expire_at: float) -> None:
        """End all sessions of an account whose regular end is at most `expire_at`, in epoch seconds."""
        row = {"session": all_sessions_key(name), "until": expire_at}
        with self._database.write() as connection:
            self._database.upsert(connection, revoked_sessions, [row])

    def revoke_session(self, session_id: str, expires_at: float) -> None:
        """End a session before it expires.

        Args:
            session_id: 32 hex digits.
            expires_at: Epoch seconds at which the session expires anyway. The entry is deleted after that time.
        """
        with self._database.write() as connection:
            connection.execute(delete(revoked_sessions).where(revoked_sessions.c.until < self._clock()))
            row = {"session": session_id[:32], "until": expires_at}
            self._database.insert_missing(connection, revoked_sessions, [row])

    def is_session_revoked(self, session_id: str, name: str, expires_at: float) -> bool:
        """True if the session of the account `name` was ended before its expiry time `expires_at` (epoch seconds)."""
        is_session = revoked_sessions.c.session == session_id[:32]
        is_older = (revoked_sessions.c.session == all_sessions_key(name)) & (revoked_sessions.c.until >= expires_at)
        with self._database.read() as connection:
            return bool(connection.scalar(select(func.count()).where(is_session | is_older)))


def unknown_account_error(name: str) -> AccountError:
    """Return the error that no account has a name."""
    return AccountError("There is no account named {name}.", name=name[:64])


def all_sessions_key(name: str) -> str:
    """Return the key of the entry that ends all sessions of an account. It has the form of a session id.

    Its `until` is the expiry time of the newest session that it ends.
    """
    return hashlib.sha256(f"all sessions of {name}".encode()).hexdigest()[:32]


def validate_account_name(name: str) -> str:
    """Return the canonical form of a new account's name, or raise AccountError if it is invalid."""
    account_name = normalize_account_name(name)
    if not _NAME_PATTERN.fullmatch(account_name):
        raise AccountError("An account name has 1 to 64 characters: letters, digits, . @ _ -")
    return account_name


def validate_roles(roles: Iterable[Role]) -> frozenset[Role]:
    """Return `roles` as a set, or raise AccountError if it is empty."""
    role_set = frozenset(roles)
    if not role_set:
        raise AccountError("Choose at least one role.")
    return role_set


def roles_to_text(roles: frozenset[Role]) -> str:
    """Serialize roles for the `roles` column: comma-separated, in the order of the `Role` enum."""
    return ",".join(role for role in Role if role in roles)


def account_to_row(account: Account) -> dict[str, Any]:
    """Convert an Account to a row of the `accounts` table."""
    flags = {"password_is_temporary": int(account.password_is_temporary)}
    return vars(account) | {"roles": roles_to_text(account.roles)} | flags


def account_from_row(row: Row[Any]) -> Account:
    """Convert a row of the `accounts` table to an Account."""
    roles = frozenset(Role(role) for role in row.roles.split(","))
    is_temporary = bool(row.password_is_temporary)
    return Account(row.name, row.password_hash, roles, row.created_at, row.disabled_at, is_temporary)
