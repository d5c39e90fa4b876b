"""Who may sign in to the search site, and for what. Passwords are kept as hashes, made and checked by `search_ui`."""

import re
import time
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, select, update

from docstore.articles.records import storable
from docstore.database import Database
from docstore.errors import AccountError
from docstore.integrity.row_sums import seal
from docstore.roles import Role
from docstore.schema.operation_tables import accounts, ended_sessions

_NAME = re.compile(r"[\w.@-]{1,64}")


@dataclass(frozen=True)
class Account:
    """One account. `disabled_at` is None while it may be used."""

    name: str
    password_hash: str
    roles: frozenset[Role]
    created_at: float = 0.0
    disabled_at: float | None = None

    def may(self, role: Role) -> bool:
        """Is this account allowed what `role` is?"""
        return self.disabled_at is None and bool(self.roles & {role, Role.OPERATOR})


def folded_name(name: str) -> str:
    """The form in which two spellings of an account's name are equal, as any database takes it."""
    return storable(unicodedata.normalize("NFKC", name).strip().casefold())


class AccountTable:
    """`store.accounts`. Names are compared by `folded_name`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, name: str, password_hash: str, roles: Iterable[Role]) -> Account:
        """Make an account. AccountError for a name that is taken or cannot be one, or without a role."""
        account = Account(checked_name(name), password_hash, checked_roles(roles), self._clock())
        row = {
            "name": account.name,
            "password_hash": password_hash,
            "roles": role_text(account.roles),
            "created_at": account.created_at,
        }
        with self._database.write() as connection:
            if not self._database.upsert(connection, accounts, [row]):
                raise AccountError(f"there is an account {account.name} already: choose another name")
            seal(self._database, connection, accounts, [account.name])
        return account

    def find(self, name: str) -> Account | None:
        """The account of this name, disabled or not."""
        with self._database.read() as connection:
            row = connection.execute(select(accounts).where(accounts.c.name == folded_name(name)[:64])).first()
            return account_of(row) if row else None

    def all(self) -> list[Account]:
        """Every account, by name."""
        with self._database.read() as connection:
            return [account_of(row) for row in connection.execute(select(accounts).order_by(accounts.c.name))]

    def is_empty(self) -> bool:
        """Can nobody sign in, because no account is in use?"""
        usable = select(func.count()).where(accounts.c.disabled_at.is_(None))
        with self._database.read() as connection:
            return not connection.scalar(usable)

    def set_password(self, name: str, password_hash: str) -> None:
        """Change a password; all sessions of the account end. AccountError if there is no such account in use."""
        self._change(name, accounts.c.disabled_at.is_(None), password_hash=password_hash)

    def reset(self, name: str, password_hash: str) -> None:
        """Change a password, and let a disabled account be used again. AccountError if there is no such account."""
        self._change(name, password_hash=password_hash, disabled_at=None)

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Change what an account is for; all its sessions end. AccountError for no such account, or no role."""
        self._change(name, roles=role_text(checked_roles(roles)))

    def disable(self, name: str) -> None:
        """Let nobody use the account any more; its sessions end. AccountError if there is no such account."""
        self._change(name, disabled_at=self._clock())

    def end_session(self, session: str, until: float) -> None:
        """Let a session (32 hex digits) count no more; at `until` (epoch seconds) it would have ended by itself."""
        with self._database.write() as connection:
            connection.execute(delete(ended_sessions).where(ended_sessions.c.until < self._clock()))
            self._database.upsert(connection, ended_sessions, [{"session": session[:32], "until": until}])

    def is_ended(self, session: str) -> bool:
        """Was this session ended?"""
        with self._database.read() as connection:
            found = select(func.count()).where(ended_sessions.c.session == session[:32])
            return bool(connection.scalar(found))

    def _change(self, name: str, *conditions: ColumnElement[bool], **values: Any) -> None:
        mine = and_(accounts.c.name == folded_name(name)[:64], *conditions)
        with self._database.write() as connection:
            if connection.execute(update(accounts).where(mine).values(**values)).rowcount != 1:
                raise AccountError(f"there is no account {name[:64]!r}: `plumb account list` shows those in use")
            seal(self._database, connection, accounts, [folded_name(name)[:64]])


def checked_name(name: str) -> str:
    """A new account's name as it is kept."""
    folded = folded_name(name)
    if not _NAME.fullmatch(folded):
        raise AccountError("an account's name is 1 to 64 letters, digits or any of . @ _ -")
    return folded


def checked_roles(roles: Iterable[Role]) -> frozenset[Role]:
    """Roles, at least one."""
    found = frozenset(roles)
    if not found:
        raise AccountError(f"an account needs a role: {', '.join(Role)}")
    return found


def role_text(roles: frozenset[Role]) -> str:
    """Roles as they are kept: in the order in which `Role` names them."""
    return ",".join(role for role in Role if role in roles)


def account_of(row: Row[Any]) -> Account:
    """The account in an `accounts` row."""
    roles = frozenset(Role(role) for role in row.roles.split(","))
    return Account(row.name, row.password_hash, roles, row.created_at, row.disabled_at)
