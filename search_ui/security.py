"""Security headers, sessions, form tokens and known devices."""

import hashlib
import ipaddress
import secrets
from collections.abc import Mapping
from datetime import timedelta

from flask import Flask, Response, current_app, request
from flask.sessions import SecureCookieSessionInterface
from flask_wtf.csrf import CSRFProtect
from itsdangerous import BadData, URLSafeTimedSerializer
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Response as BaseResponse

from search_ui.settings import MAX_LIST_BYTES

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
# Longer than a session (search_ui/accounts.py), so that the token of a form that is submitted too late is still valid.
SESSION_COOKIE_HOURS = 24
MAX_FORM_BYTES = 256 * 1024
LIST_UPLOAD_ENDPOINTS = frozenset(
    {
        "review.pages.import_list", "settings.edit", "settings.review", "settings.save", "bookmarks.export_bookmarks",
    }
)  # fmt: skip
"""Views that receive long lists: a list of terms, the seeds of the crawl, bookmarks."""
CSRF_FIELD = "token"  # name of the form field
CSRF_HEADER = "X-Form-Token"
DEVICE_DAYS = 365


class _SecureOverHttpsSessions(SecureCookieSessionInterface):
    """Sets the Secure flag of cookies if the request came over HTTPS, so that plain HTTP works on a laptop."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def init_security(app: Flask, secret_key: bytes, trusted_proxies: int) -> CSRFProtect:
    """Set up sessions, form tokens, form limits and headers.

    Every request that changes something needs a token from a page of its session, except views that are exempted from
    the returned object.

    Args:
        app: The application.
        secret_key: Signs sessions and tokens.
        trusted_proxies: Number of proxies whose headers are trusted for IP address and HTTPS; 0: none.
    """
    app.secret_key = secret_key
    app.session_interface = _SecureOverHttpsSessions()
    app.permanent_session_lifetime = timedelta(hours=SESSION_COOKIE_HOURS)
    app.config.update(
        # Cookies ignore the port, so the sites of two verticals on one host need different names.
        SESSION_COOKIE_NAME=f"plumbline_{hashlib.sha256(secret_key).hexdigest()[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        MAX_CONTENT_LENGTH=MAX_FORM_BYTES,
        WTF_CSRF_FIELD_NAME=CSRF_FIELD,
        WTF_CSRF_HEADERS=[CSRF_HEADER],
        WTF_CSRF_TIME_LIMIT=None,  # a token lives as long as its session
        WTF_CSRF_SSL_STRICT=False,  # requires a Referer header, which the pages suppress
    )
    if trusted_proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=trusted_proxies, x_proto=trusted_proxies)  # type: ignore[method-assign]
    app.after_request(_add_security_headers)
    app.before_request(_raise_limit_for_list_upload)  # must run before the token is read from the form
    return CSRFProtect(app)


def _raise_limit_for_list_upload() -> None:
    if request.endpoint in LIST_UPLOAD_ENDPOINTS:
        request.max_content_length = MAX_LIST_BYTES


def _add_security_headers(response: Response) -> Response:
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def client_network() -> str:
    """Return the client's IP address; for IPv6 its /64 network, which usually belongs to one customer."""
    text = request.remote_addr or ""
    try:
        ip_address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(ip_address, ipaddress.IPv6Address) and ip_address.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip_address, 64), strict=False))
    return text


def is_local_request() -> bool:
    """Return True if the request comes from this machine and was not forwarded, as forwarding headers would show.

    The address that they state is no proof: with too large a `search.trusted_proxies` it is the client's.
    """
    try:
        is_loopback = ipaddress.ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
    is_forwarded = any(name in request.headers for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"))
    return is_loopback and not is_forwarded


def cookie_name(purpose: str) -> str:
    """Return the name of a cookie of this vertical beside the session."""
    return f"{current_app.config['SESSION_COOKIE_NAME']}_{purpose}"


def remember_device(response: BaseResponse, name: str) -> None:
    """Set the device cookie: the account `name` has signed in with this browser (OWASP: device cookies)."""
    response.set_cookie(
        cookie_name("device"),
        str(_device_signer().dumps([name, get_known_device(name) or secrets.token_hex(8)])),
        max_age=DEVICE_DAYS * 86_400,
        path="/admin",
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )


def get_known_device(name: str) -> str:
    """Return the id of the device if the account `name` has signed in on it before, else ""."""
    try:
        account_name, device = _device_signer().loads(
            request.cookies.get(cookie_name("device"), ""), max_age=DEVICE_DAYS * 86_400
        )
    except (BadData, ValueError, TypeError):
        return ""
    return str(device) if account_name == name else ""


def _device_signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or b"", salt="device")
