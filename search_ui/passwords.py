"""Passwords: what one must be, and its argon2id hash. Nothing here keeps or logs a password."""

import secrets
import unicodedata
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from docstore.errors import AccountError

MIN_PASSWORD_CHARS = 10  # characters
MAX_PASSWORD_CHARS = 1000  # so that nobody has megabytes hashed
_HASHER = PasswordHasher()  # RFC 9106, second recommendation: 64 MiB, three passes


def is_acceptable_length(password: str) -> bool:
    """Is it neither too short nor too long?"""
    return MIN_PASSWORD_CHARS <= len(_normalize(password)) <= MAX_PASSWORD_CHARS


def hash_password(password: str) -> str:
    """The hash of a new password; AccountError unless `is_acceptable_length`."""
    if not is_acceptable_length(password):
        raise AccountError(f"a password has at least {MIN_PASSWORD_CHARS} characters, and at most {MAX_PASSWORD_CHARS}")
    return _HASHER.hash(_normalize(password))


def verify_password(password: str, password_hash: str | None) -> bool:
    """Is `password` the one that was hashed? None, as there is no account, takes as long and is never right."""
    try:
        matches = _HASHER.verify(password_hash or _dummy_hash(), _normalize(password)[:MAX_PASSWORD_CHARS])
    except (VerificationError, InvalidHashError):
        return False
    return matches and password_hash is not None


@cache
def _dummy_hash() -> str:
    return _HASHER.hash(secrets.token_urlsafe())


def _normalize(password: str) -> str:
    """One form for what is typed alike on different keyboards. A lone surrogate, which has no bytes, becomes `?`."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()
