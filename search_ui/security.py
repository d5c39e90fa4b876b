"""What protects the site and its administrator: headers, session, form tokens, a brake on guessing passwords."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta
from threading import Lock

from flask import Flask, Response, abort, request, session
from flask.sessions import SecureCookieSessionInterface

SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
SESSION_HOURS = 8
LARGEST_FORM = 256 * 1024  # bytes


class _Sessions(SecureCookieSessionInterface):
    """Cookies are for HTTPS alone as soon as the site is asked over HTTPS; a laptop's plain HTTP works too."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def protect(app: Flask, secret_key: bytes) -> None:
    """Set sessions, form limits and headers up on `app`."""
    app.secret_key = secret_key
    app.session_interface = _Sessions()
    app.permanent_session_lifetime = timedelta(hours=SESSION_HOURS)
    app.config.update(
        SESSION_COOKIE_NAME="plumbline",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        MAX_CONTENT_LENGTH=LARGEST_FORM,
    )
    app.after_request(_with_headers)


def _with_headers(response: Response) -> Response:
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def form_token() -> str:
    """The session's form token, made when first asked for."""
    if "token" not in session:
        session["token"] = secrets.token_urlsafe(32)
    return str(session["token"])


def check_form_token() -> None:
    """Answer 400 unless the form came from a page of this session (field `token` or header `X-Form-Token`)."""
    sent = request.form.get("token", "") or request.headers.get("X-Form-Token", "")
    kept = str(session.get("token", ""))
    if not (kept and hmac.compare_digest(sent.encode("utf-8", "replace"), kept.encode())):
        abort(400, description="error.token")


def sign_in(password_hash: str) -> None:
    """Begin an administrator's session, with nothing left of the one before."""
    session.clear()
    session.permanent = True
    session["admin"] = _fingerprint(password_hash)


def is_administrator(password_hash: str) -> bool:
    """True within a session that was begun with the present password: changing it ends all sessions."""
    return bool(password_hash) and hmac.compare_digest(
        str(session.get("admin", "")).encode(), _fingerprint(password_hash).encode()
    )


def _fingerprint(password_hash: str) -> str:
    return hashlib.sha256(password_hash.encode()).hexdigest()[:32]


class LoginBrake:
    """Counts wrong passwords by the sender's address, in this process; `limit` of them close the door for a while.

    `window` is in seconds of `clock`. Safe to use from several threads.
    """

    def __init__(self, clock: Callable[[], float], limit: int = 5, window: float = 300.0) -> None:
        self._clock = clock
        self._limit = limit
        self._window = window
        self._failures: dict[str, list[float]] = {}
        self._lock = Lock()

    def seconds_to_wait(self, address: str) -> int:
        """0 if `address` may try now, else the seconds until it may."""
        with self._lock:
            recent = self._recent(address)
            if len(recent) < self._limit:
                return 0
            return max(1, round(recent[-self._limit] + self._window - self._clock()))

    def failed(self, address: str) -> None:
        """A wrong password came from `address`."""
        with self._lock:
            self._failures[address] = [*self._recent(address), self._clock()]
            for known in list(self._failures):  # nothing is kept of those who went away
                if not self._recent(known):
                    del self._failures[known]

    def succeeded(self, address: str) -> None:
        """Forget the failures of `address`."""
        with self._lock:
            self._failures.pop(address, None)

    def _recent(self, address: str) -> list[float]:
        oldest = self._clock() - self._window
        return [moment for moment in self._failures.get(address, ()) if moment > oldest]
