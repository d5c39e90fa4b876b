"""Who may sign in to the search site, and for what. Passwords are kept as hashes, made and checked by `search_ui`."""

import re
import time
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, select, update

from docstore.bookkeeping import sanitize_text
from docstore.database import Database
from docstore.errors import AccountError
from docstore.integrity.row_checksums import update_row_checksums
from docstore.roles import Role
from docstore.schema.operation_tables import accounts, revoked_sessions

_NAME_PATTERN = re.compile(r"[\w.@-]{1,64}")


@dataclass(frozen=True)
class Account:
    """One account. `disabled_at` is None while it may be used."""

    name: str
    password_hash: str
    roles: frozenset[Role]
    created_at: float = 0.0
    disabled_at: float | None = None

    def has_role(self, role: Role) -> bool:
        """Is this account allowed what `role` is?"""
        return self.disabled_at is None and bool(self.roles & {role, Role.OPERATOR})


def normalize_account_name(name: str) -> str:
    """The form in which two spellings of an account's name are equal, as any database takes it."""
    return sanitize_text(unicodedata.normalize("NFKC", name).strip().casefold())


class AccountTable:
    """`store.accounts`. Names are compared by `normalize_account_name`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, name: str, password_hash: str, roles: Iterable[Role]) -> Account:
        """Make an account. AccountError for a name that is taken or cannot be one, or without a role."""
        account = Account(validate_account_name(name), password_hash, validate_roles(roles), self._clock())
        row = {
            "name": account.name,
            "password_hash": password_hash,
            "roles": roles_to_text(account.roles),
            "created_at": account.created_at,
        }
        with self._database.write() as connection:
            if not self._database.upsert(connection, accounts, [row]):
                raise AccountError(f"there is an account {account.name} already: choose another name")
            update_row_checksums(self._database, connection, accounts, [account.name])
        return account

    def find(self, name: str) -> Account | None:
        """The account of this name, disabled or not."""
        with self._database.read() as connection:
            row = connection.execute(
                select(accounts).where(accounts.c.name == normalize_account_name(name)[:64])
            ).first()
            return account_from_row(row) if row else None

    def list_accounts(self) -> list[Account]:
        """Every account, by name."""
        with self._database.read() as connection:
            return [account_from_row(row) for row in connection.execute(select(accounts).order_by(accounts.c.name))]

    def has_no_active_account(self) -> bool:
        """Can nobody sign in, because no account is in use?"""
        usable = select(func.count()).where(accounts.c.disabled_at.is_(None))
        with self._database.read() as connection:
            return not connection.scalar(usable)

    def set_password(self, name: str, password_hash: str) -> None:
        """Change a password; all sessions of the account end. AccountError if there is no such account in use."""
        self._update_account(name, accounts.c.disabled_at.is_(None), password_hash=password_hash)

    def reset_password(self, name: str, password_hash: str) -> None:
        """Change a password, and let a disabled account be used again. AccountError if there is no such account."""
        self._update_account(name, password_hash=password_hash, disabled_at=None)

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Change what an account is for; all its sessions end. AccountError for no such account, or no role."""
        self._update_account(name, roles=roles_to_text(validate_roles(roles)))

    def disable(self, name: str) -> None:
        """Let nobody use the account any more; its sessions end. AccountError if there is no such account."""
        self._update_account(name, disabled_at=self._clock())

    def revoke_session(self, session_id: str, expires_at: float) -> None:
        """Let a session (32 hex digits) count no more; at `expires_at` (epoch seconds) it would have ended by itself."""
        with self._database.write() as connection:
            connection.execute(delete(revoked_sessions).where(revoked_sessions.c.until < self._clock()))
            self._database.upsert(connection, revoked_sessions, [{"session": session_id[:32], "until": expires_at}])

    def is_session_revoked(self, session_id: str) -> bool:
        """Was this session ended?"""
        with self._database.read() as connection:
            revoked_count = select(func.count()).where(revoked_sessions.c.session == session_id[:32])
            return bool(connection.scalar(revoked_count))

    def _update_account(self, name: str, *conditions: ColumnElement[bool], **values: Any) -> None:
        is_target = and_(accounts.c.name == normalize_account_name(name)[:64], *conditions)
        with self._database.write() as connection:
            if connection.execute(update(accounts).where(is_target).values(**values)).rowcount != 1:
                raise AccountError(f"there is no account {name[:64]!r}: `plumb account list` shows those in use")
            update_row_checksums(self._database, connection, accounts, [normalize_account_name(name)[:64]])


def validate_account_name(name: str) -> str:
    """A new account's name as it is kept."""
    normalized = normalize_account_name(name)
    if not _NAME_PATTERN.fullmatch(normalized):
        raise AccountError("an account's name is 1 to 64 letters, digits or any of . @ _ -")
    return normalized


def validate_roles(roles: Iterable[Role]) -> frozenset[Role]:
    """Roles, at least one."""
    role_set = frozenset(roles)
    if not role_set:
        raise AccountError(f"an account needs a role: {', '.join(Role)}")
    return role_set


def roles_to_text(roles: frozenset[Role]) -> str:
    """Roles as they are kept: in the order in which `Role` names them."""
    return ",".join(role for role in Role if role in roles)


def account_from_row(row: Row[Any]) -> Account:
    """The account in an `accounts` row."""
    roles = frozenset(Role(role) for role in row.roles.split(","))
    return Account(row.name, row.password_hash, roles, row.created_at, row.disabled_at)
