"""Accounts of the search site and their roles."""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from domain.storable_text import sanitize_text


class Role(StrEnum):
    """A permission that an account can have."""

    READER = "reader"  # no permission: finds what only signed-in readers find, as every account does
    REPORTS = "reports"  # can view search statistics and the state of sites and index
    REVIEWER = "reviewer"  # can decide on terms and publish lexicons
    EDITOR = "editor"  # can place, raise, lower and hide results of single queries
    OPERATOR = "operator"  # administrator: all permissions


@dataclass(frozen=True)
class Account:
    """One account. `created_at` and `disabled_at` are epoch seconds; `disabled_at` is None for an active account.

    `password_is_temporary` means that an administrator chose the password, and its owner must replace it.
    """

    name: str
    password_hash: str
    roles: frozenset[Role]
    created_at: float = 0.0
    disabled_at: float | None = None
    password_is_temporary: bool = False

    @property
    def is_reader_only(self) -> bool:
        """True if the account opens no page of the administration."""
        return self.roles <= {Role.READER}

    def has_role(self, role: Role) -> bool:
        """True if the account is active and has `role` or the administrator role, which includes all others."""
        return self.disabled_at is None and bool(self.roles & {role, Role.OPERATOR})


def normalize_account_name(name: str) -> str:
    """Return the canonical form of an account name.

    The form is NFKC, trimmed and case-folded, without characters that the databases cannot store.
    """
    return sanitize_text(unicodedata.normalize("NFKC", name).strip().casefold())
