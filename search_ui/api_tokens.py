"""Access of programs with API tokens: `Authorization: Bearer plumb_...`.

A token acts for its account, within its scopes and the roles of the account. Only views that call `check_api_token`
accept tokens; all other views ignore the header. The store has only hashes. A fast hash is sufficient, because a token
has 256 random bits.
"""

import hashlib
import logging
import secrets
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from typing import ParamSpec

from flask import Response, g, jsonify, request
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Account, Role
from domain.administration import ApiToken
from domain.errors import PlumblineError
from search_ui.context import current_site
from search_ui.i18n import translate

TOKEN_PREFIX = "plumb_"  # noqa: S105 (lets scanners of repositories recognize tokens)
TOKEN_BYTES = 32  # of randomness
MARK_USED_SECONDS = 60.0  # the time of the last use is saved at most this often

_log = logging.getLogger(__name__)

_Args = ParamSpec("_Args")
_View = Callable[_Args, BaseResponse]


class ApiScope(StrEnum):
    """A group of URLs that a token opens."""

    SEARCH = "search"  # everything that only reads the search site: the API and endpoints for agents
    TERMS = "terms"  # download of the lexicon
    METRICS = "metrics"  # /metrics from other machines


ROLE_BY_SCOPE: Mapping[ApiScope, Role | None] = {
    ApiScope.SEARCH: None,
    ApiScope.TERMS: Role.REVIEWER,
    ApiScope.METRICS: Role.REPORTS,
}
"""The role that the account of a token needs for a scope; None: every active account."""


def create_token() -> str:
    """Return a new random token with its prefix."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


def hash_token(token: str) -> str:
    """Return the hash under which the store finds a token: 64 hex digits."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def permitted_scopes(account: Account) -> list[ApiScope]:
    """Return the scopes that the roles of an account permit."""
    return [
        scope
        for scope, role in ROLE_BY_SCOPE.items()
        if account.disabled_at is None and (role is None or account.has_role(role))
    ]


def read_bearer_token() -> str | None:
    """Return the token of the request's Authorization header; None if there is no `Bearer` header."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def check_api_token(scope: ApiScope) -> Response | None:
    """Authenticate the request by its token, if it has one.

    With a valid token, `current_account()` is the account of the token for the rest of the request. A request without
    a token remains anonymous, or has the account of its session.

    Returns:
        None if the request may continue. Otherwise the response to send, as JSON: status 401 for a token that is
        unknown or revoked or whose account is disabled, 403 for a token without `scope`.
    """
    presented_token = read_bearer_token()
    if presented_token is None:
        return None
    site = current_site()
    token = site.store.api_tokens.find_by_hash(hash_token(presented_token))
    account = site.store.accounts.find(token.account) if token else None
    if token is None or account is None or account.disabled_at is not None:
        return _token_error(401, "invalid_token", translate("The API token is unknown or was revoked"))
    if scope not in token.scopes or scope not in permitted_scopes(account):
        return _token_error(
            403, "insufficient_scope", translate("The API token does not permit the scope “{scope}”", scope=scope.value)
        )
    g.token_account = account
    _mark_used(token)
    return None


def accept_api_token(scope: ApiScope) -> Callable[[_View[_Args]], _View[_Args]]:
    """Apply `check_api_token` before a view. With `require_role`, this decorator is the outer one."""

    def decorator(view: _View[_Args]) -> _View[_Args]:
        @wraps(view)
        def wrapper(*args: _Args.args, **kwargs: _Args.kwargs) -> BaseResponse:
            return check_api_token(scope) or view(*args, **kwargs)

        return wrapper

    return decorator


def _token_error(status: int, code: str, message: str) -> Response:
    """Return an error as JSON (RFC 6750), also for views that otherwise return other formats."""
    response = jsonify(error={"status": status, "code": code, "message": message})
    response.status_code = status
    response.headers["WWW-Authenticate"] = f'Bearer error="{code}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _mark_used(token: ApiToken) -> None:
    """Save the time of use. An error of the store is only logged, because the request needs no write access."""
    now = current_site().clock()
    if token.last_used_at is not None and 0 <= now - token.last_used_at < MARK_USED_SECONDS:
        return
    try:
        current_site().store.api_tokens.mark_used(token.token_id)
    except PlumblineError as error:
        _log.warning("the last use of API token %d is not saved: %s", token.token_id, error)
