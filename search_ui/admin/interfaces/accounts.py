"""The interface between the accounts page and the store."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from domain.account import Account, Role


class AccountAdministration(Protocol):
    """Changes accounts on behalf of an administrator, the account `actor`, and records each action.

    No change removes the last active administrator, and nobody removes their own administrator role. All methods raise
    AccountError if there is no account with the name.
    """

    def list_accounts(self) -> Sequence[Account]:
        """Return all accounts, active and disabled, sorted by name."""

    def create(
        self, name: str, password_hash: str, roles: Iterable[Role], actor: str, password_is_temporary: bool = False
    ) -> Account:
        """Create an account. Raises AccountError if the name is taken or invalid, or `roles` is empty."""

    def set_roles(self, name: str, roles: Iterable[Role], expected_roles: Iterable[Role], actor: str) -> None:
        """Replace the roles of an account, which ends its sessions.

        Raises AccountError if `roles` is empty, or if the account does not have `expected_roles` any more.
        """

    def reset_password(self, name: str, password_hash: str, actor: str, password_is_temporary: bool = False) -> None:
        """Replace the password of an account, which ends its sessions."""

    def disable(self, name: str, sessions_expire_at: float, actor: str) -> None:
        """Disable an account and end its sessions; see `end_sessions`."""

    def enable(self, name: str, actor: str) -> None:
        """Enable a disabled account. Its password stays."""

    def end_sessions(self, name: str, expire_at: float, actor: str) -> None:
        """End all sessions of an account whose regular end is at most `expire_at`, in epoch seconds."""
