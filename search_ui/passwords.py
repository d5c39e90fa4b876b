"""Validates and hashes passwords (argon2id). Passwords are never stored or logged."""

import secrets
import unicodedata
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from domain.errors import AccountError

MIN_PASSWORD_CHARS = 10
MAX_PASSWORD_CHARS = 1000  # bounds the cost of hashing
_HASHER = PasswordHasher()  # RFC 9106, second recommendation: 64 MiB, three passes


def check_password_length(password: str) -> None:
    """Raise AccountError unless the password has an allowed length."""
    limits = {"minimum": MIN_PASSWORD_CHARS, "maximum": MAX_PASSWORD_CHARS}
    if not MIN_PASSWORD_CHARS <= len(_normalize(password)) <= MAX_PASSWORD_CHARS:
        raise AccountError("A password must have {minimum} to {maximum} characters.", **limits)


def hash_password(password: str) -> str:
    """Return the hash of a new password. Raises AccountError as `check_password_length`."""
    check_password_length(password)
    return _HASHER.hash(_normalize(password))


def verify_password(password: str, password_hash: str | None) -> bool:
    """Return True if the password matches the hash.

    None (no such account) is verified against a dummy hash, so that the timing is equal, and returns False.
    """
    try:
        matches = _HASHER.verify(password_hash or _dummy_hash(), _normalize(password)[:MAX_PASSWORD_CHARS])
    except (VerificationError, InvalidHashError):
        return False
    return matches and password_hash is not None


@cache
def _dummy_hash() -> str:
    return _HASHER.hash(secrets.token_urlsafe())


def _normalize(password: str) -> str:
    """Return the NFKC form, equal for all keyboards. Lone surrogates, which cannot be encoded, become `?`."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()
