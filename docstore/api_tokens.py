"""Tokens with which programs use the API. The store has only their hashes, which `search_ui` computes."""

from collections.abc import Iterable

from sqlalchemy import Row, select, update

from docstore.accounts import AccountTable
from docstore.database import StorePart
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.administration_tables import api_tokens
from domain.account import Role
from domain.administration import ApiToken
from domain.message import Message
from domain.operation import Call, Change, Field, Operation
from domain.storable_text import sanitize_text

MAX_NAME_CHARS = 64


class ApiTokenTable(StorePart):
    """Create, find and revoke API tokens (`store.api_tokens`). Revoked tokens stay in the store."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        """`token_create` (the caller adds `token_hash`), and `token_revoke`; administrators revoke every token."""
        name, scopes = Field("name", MAX_NAME_CHARS, is_required=True), Field("scope", is_list=True, is_required=True)
        token_id, revoked = Field("id", 18, is_required=True), Message("The token “{name}” is revoked.")
        return (
            Operation("token_create", None, self._create, (name, scopes)),
            Operation("token_revoke", None, self._revoke, (token_id,), message=revoked),
        )

    def _create(self, call: Call) -> Change:
        name, scopes = call.text("name"), call.values["scope"]
        self.create(call.account, name, call.text("token_hash"), scopes)
        return Change(name, {"scopes": ",".join(sorted(scopes))})

    def _revoke(self, call: Call) -> Change | None:
        token = next((token for token in self.list_all() if str(token.token_id) == call.text("id")), None)
        account = AccountTable(self._database).find(call.account)
        is_visible = token and account and (token.account == account.name or account.has_role(Role.OPERATOR))
        if token is None or not is_visible or not self.revoke(token.token_id):
            return None
        return Change(token.name, {"account": token.account})

    def create(self, account: str, name: str, token_hash: str, scopes: Iterable[str]) -> int:
        """Save a new token and return its id.

        Args:
            account: Canonical name of the account that owns the token.
            name: What the owner calls the token; at most MAX_NAME_CHARS characters.
            token_hash: At most 128 characters; no other token has it.
            scopes: What the token permits, words without commas.
        """
        row = {
            "account": account,
            "name": sanitize_text(name),
            "token_hash": token_hash,
            "scopes": ",".join(sorted(set(scopes))),
            "created_at": self._clock(),
        }
        with self._database.write() as connection:
            token_id = int(connection.execute(api_tokens.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]
            update_row_checksums(self._database, connection, api_tokens, [token_id])
        return token_id

    def list_all(self) -> list[ApiToken]:
        """Return all tokens, also revoked ones, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(api_tokens).order_by(api_tokens.c.token_id.desc()))
            return [token_from_row(row) for row in rows]

    def find_by_hash(self, token_hash: str) -> ApiToken | None:
        """Return the token with this hash, or None if there is none or it was revoked."""
        is_match = (api_tokens.c.token_hash == token_hash) & api_tokens.c.revoked_at.is_(None)
        with self._database.read() as connection:
            row = connection.execute(select(api_tokens).where(is_match)).first()
            return token_from_row(row) if row else None

    def mark_used(self, token_id: int) -> None:
        """Save the current time as the time of the last use."""
        with self._database.write() as connection:
            is_token = api_tokens.c.token_id == token_id
            connection.execute(update(api_tokens).where(is_token).values(last_used_at=self._clock()))

    def revoke(self, token_id: int) -> bool:
        """Make a token invalid. Returns False if there is no such token or it was revoked before."""
        is_valid = (api_tokens.c.token_id == token_id) & api_tokens.c.revoked_at.is_(None)
        with self._database.write() as connection:
            changed = connection.execute(update(api_tokens).where(is_valid).values(revoked_at=self._clock())).rowcount
            update_row_checksums(self._database, connection, api_tokens, [token_id])
        return changed == 1


def token_from_row(row: Row[tuple[object, ...]]) -> ApiToken:
    """Convert a row of `api_tokens` to an ApiToken."""
    return ApiToken(
        row.token_id,
        row.account,
        row.name,
        row.token_hash,
        frozenset(filter(None, row.scopes.split(","))),
        row.created_at,
        row.last_used_at,
        row.revoked_at,
    )
