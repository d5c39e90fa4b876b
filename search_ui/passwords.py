"""Passwords: what one must be, and its argon2id hash. Nothing here keeps or logs a password."""

import secrets
import unicodedata
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from docstore.errors import AccountError

LEAST = 10  # characters
MOST = 1000  # so that nobody has megabytes hashed
_HASHER = PasswordHasher()  # RFC 9106, second recommendation: 64 MiB, three passes


def may_be_password(password: str) -> bool:
    """Is it neither too short nor too long?"""
    return LEAST <= len(_normal(password)) <= MOST


def hash_password(password: str) -> str:
    """The hash of a new password; AccountError unless `may_be_password`."""
    if not may_be_password(password):
        raise AccountError(f"a password has at least {LEAST} characters, and at most {MOST}")
    return _HASHER.hash(_normal(password))


def is_password(password: str, password_hash: str | None) -> bool:
    """Is `password` the one that was hashed? None, as there is no account, takes as long and is never right."""
    try:
        right = _HASHER.verify(password_hash or _nobodys(), _normal(password)[:MOST])
    except (VerificationError, InvalidHashError):
        return False
    return right and password_hash is not None


@cache
def _nobodys() -> str:
    return _HASHER.hash(secrets.token_urlsafe())


def _normal(password: str) -> str:
    """One form for what is typed alike on different keyboards. A lone surrogate, which has no bytes, becomes `?`."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()
