"""The interface between the API tokens of accounts and the store."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from domain.administration import ApiToken


class ApiTokenStore(Protocol):
    """Creates, finds and revokes tokens. The part of `docstore.api_tokens.ApiTokenTable` that the site uses."""

    def create(self, account: str, name: str, token_hash: str, scopes: Iterable[str]) -> int:
        """Save a new token of an account, record the action, and return the id of the token."""

    def list_all(self) -> Sequence[ApiToken]:
        """Return all tokens, also revoked ones, newest first."""

    def find_by_hash(self, token_hash: str) -> ApiToken | None:
        """Return the token with this hash, or None if there is none or it was revoked."""

    def mark_used(self, token_id: int) -> None:
        """Save the current time as the time of the last use."""

    def revoke(self, token_id: int, actor: str) -> bool:
        """Make a token invalid and record the action of `actor`. Returns False if it was revoked before."""
