"""Sign-in, sign-out, change of password, and access control by role.

A session stores its account, its start and a fingerprint of the account. It ends after eight hours, and when the
password or the roles change or the account is disabled. A form that is submitted after that is not lost: the login page
keeps it, and it can be submitted again after signing in.

A password that an administrator chose is temporary: until its owner has chosen another one, only the page of the
account is open.
"""

import hashlib
import hmac
import json
import logging
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, abort, current_app, flash, redirect, request, session, url_for
from flask_login import LoginManager, current_user, login_user
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Account, Role, normalize_account_name
from domain.errors import AccountError
from domain.message import Message
from search_ui.context import (
    current_account,
    current_site,
    error_response,
    must_change_password,
    render_page,
    wants_json,
)
from search_ui.i18n import translate, translate_error
from search_ui.login_throttle import ACCOUNT_RULE, ADDRESS_RULE, LoginThrottle, ThrottleKey
from search_ui.passwords import MIN_PASSWORD_CHARS, check_password_length, hash_password, verify_password
from search_ui.security import CSRF_FIELD, client_network, get_known_device, remember_device

blueprint = Blueprint("accounts", __name__, url_prefix="/admin")

SESSION_SECONDS = 8 * 3600
TEMPORARY_PASSWORD_ENDPOINTS = frozenset({"accounts.account_page", "accounts.change_password", "accounts.logout"})
"""Views that are open to an account with a temporary password."""

_THROTTLE_KEY = "plumbline_login_throttle"

_log = logging.getLogger(__name__)

_Args = ParamSpec("_Args")
_View = Callable[_Args, BaseResponse]


@dataclass(frozen=True)
class LoginUser:
    """The user object that flask-login requires."""

    account: Account
    is_authenticated: bool = True
    is_active: bool = True
    is_anonymous: bool = False

    def get_id(self) -> str:
        """Return the id that the session stores."""
        return f"{self.account.name}\n{_account_fingerprint(self.account)}"


def init_accounts(app: Flask) -> None:
    """Register sign-in, with delays after wrong passwords."""
    manager = LoginManager(app, add_context_processor=False)
    manager.session_protection = None  # it would bind a session to the browser's IP address
    manager.user_loader(_load_user)
    app.register_blueprint(blueprint)
    app.extensions[_THROTTLE_KEY] = LoginThrottle(lambda: current_site().clock())


def _load_user(user_id: str) -> LoginUser | None:
    """Return the user of a session for flask-login; None if the session is no longer valid."""
    name, _, fingerprint = user_id.partition("\n")
    since = session.get("since")
    if not isinstance(since, int | float) or current_site().clock() - since >= SESSION_SECONDS:
        return None
    if current_site().store.accounts.is_session_revoked(str(session.get("id", "")), name, since + SESSION_SECONDS):
        return None
    account = current_site().store.accounts.find(name)
    if (
        account is None
        or account.disabled_at is not None
        or not hmac.compare_digest(fingerprint, _account_fingerprint(account))
    ):
        return None
    return LoginUser(account)


def _account_fingerprint(account: Account) -> str:
    text = f"{account.password_hash}\n{sorted(account.roles)}\n{account.created_at}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def start_session(account: Account, now: float) -> None:
    """Start a new session at `now` (epoch seconds). Data of the previous session is removed."""
    session.clear()
    session.permanent = True
    session["since"] = now
    session["id"] = secrets.token_hex(16)
    login_user(LoginUser(account))


def _check_password(name: str, password: str, password_hash: str | None) -> bool | Response:
    """Check a password; `password_hash` is None if there is no such account. Wrong passwords are counted and delayed.

    Returns:
        True or False; the response to send if the attempt came too early.
    """
    throttle: LoginThrottle = current_app.extensions[_THROTTLE_KEY]
    keys = _throttle_keys(name)
    if wait_seconds := math.ceil(throttle.begin_attempt(keys)):
        _log.warning("too many wrong passwords for %r from %s", request.form.get("name", "")[:64], client_network())
        problem = translate(
            "Too many failed attempts. Try again in 1 second.",
            "Too many failed attempts. Try again in {n} seconds.",
            n=wait_seconds,
        )
        response = (
            _render_account_page(429, problem)
            if current_account()
            else _render_login_page(429, problem=problem, held=PendingForm.from_login_page())
        )
        response.headers["Retry-After"] = str(wait_seconds)
        return response
    if not verify_password(password, password_hash):
        return False
    throttle.accept_attempt(keys)
    return True


def _throttle_keys(name: str) -> list[ThrottleKey]:
    """Return what wrong passwords for an account are counted by.

    A device on which the account has signed in before has its own count, so that strangers at the same IP address do
    not delay the owner.
    """
    account_name = normalize_account_name(name)[:64]
    if device := get_known_device(account_name):
        return [ThrottleKey(ACCOUNT_RULE, f"{account_name}\n{device}")]
    network = client_network()
    return [ThrottleKey(ACCOUNT_RULE, f"{account_name}\n{network}"), ThrottleKey(ADDRESS_RULE, network)]


# -- access control


def require_role(*roles: Role) -> Callable[[_View[_Args]], _View[_Args]]:
    """Allow a view only to accounts with one of `roles`; to all signed-in accounts if no role is given."""

    def decorator(view: _View[_Args]) -> _View[_Args]:
        @wraps(view)
        def wrapper(*args: _Args.args, **kwargs: _Args.kwargs) -> BaseResponse:
            current = current_account()
            if current is None:
                return _login_required_response()
            if must_change_password(current) and request.endpoint not in TEMPORARY_PASSWORD_ENDPOINTS:
                return _password_required_response()
            if roles and not any(current.has_role(role) for role in roles):
                abort(403, description=Message("You do not have permission to do this"))
            return view(*args, **kwargs)

        return wrapper

    return decorator


def allow_developer_tools(view: _View[_Args]) -> _View[_Args]:
    """Allow a view to signed-in accounts that are not only readers, and with `search.developer_tools` to everybody."""

    @wraps(view)
    def wrapper(*args: _Args.args, **kwargs: _Args.kwargs) -> BaseResponse:
        roles = (role for role in Role if role is not Role.READER)
        guarded_view = view if current_site().settings.developer_tools else require_role(*roles)(view)
        return guarded_view(*args, **kwargs)

    return wrapper


def _password_required_response() -> BaseResponse:
    if wants_json():
        return error_response(
            403, translate("Your password is temporary. Choose your own password to continue."), "temporary_password"
        )
    return redirect(url_for("accounts.account_page"), 303)


def add_no_store_headers(response: Response) -> Response:
    """Forbid caching and indexing of the pages of a blueprint."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _login_required_response() -> BaseResponse:
    if wants_json():
        return error_response(403, _signed_out_message())
    if request.method == "GET":
        return redirect(url_for("accounts.login", next=request.full_path.rstrip("?")), 303)
    pending_form = PendingForm.from_request()
    return _render_login_page(
        403, problem=_signed_out_message(), held=pending_form if pending_form.is_resubmittable() else None
    )


def _signed_out_message() -> str:
    return (
        translate("Your session has expired. Sign in again.")
        if "_user_id" in session
        else translate("Sign in to continue")
    )


@dataclass(frozen=True)
class PendingForm:
    """A form that was submitted without a valid session: its target and its fields, except the token."""

    action: str
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def from_request(cls) -> "PendingForm":
        """Return the form of the current request."""
        pairs = request.form.items(multi=True)
        return cls(request.path, tuple((name, value) for name, value in pairs if name != CSRF_FIELD))

    @classmethod
    def from_login_page(cls) -> "PendingForm | None":
        """Return the form that was sent without a session and is resubmitted after the login.

        Returns None if there is none, or if it must not be resubmitted.
        """
        try:
            pairs = json.loads(request.form.get("held_fields", "[]"))
            form = cls(request.form.get("held_action", ""), tuple((str(name), str(value)) for name, value in pairs))
        except (ValueError, TypeError, RecursionError):
            return None
        return form if form.is_resubmittable() else None

    @property
    def fields_json(self) -> str:
        """The fields as `from_login_page` parses them."""
        return json.dumps(self.fields)

    def get_values(self, name: str) -> list[str]:
        """Return the values of a field."""
        return [value for field, value in self.fields if field == name]

    def is_resubmittable(self) -> bool:
        """Return True if the target is a form of the signed-in area without passwords."""
        adapter = current_app.url_map.bind_to_environ(request.environ)
        try:
            endpoint = str(adapter.match(self.action, method="POST")[0])
        except HTTPException:
            return False
        has_password = endpoint.partition(".")[0] == blueprint.name or endpoint == "site_admin.change_login"
        return self.action.startswith("/admin/") and not has_password


# -- pages

blueprint.after_request(add_no_store_headers)


@blueprint.get("/login")
def login() -> BaseResponse:
    """Show the login form, or sign in."""
    if current_account():
        return redirect(safe_next_url(request.args.get("next", "")), 303)
    return _render_login_page(
        note=translate("Your session has expired. Sign in again.") if "_user_id" in session else ""
    )


def _render_login_page(status: int = 200, **values: object) -> Response:
    """Render the login page. `next` is the page to open afterwards, `held` a form to submit again."""
    next_url = request.values.get("next", "")
    context = {
        "wanted": next_url,
        "name": request.form.get("name", ""),
        "no_accounts": current_site().store.accounts.has_no_active_account(),
    }
    context["language_page"] = url_for("accounts.login")
    return render_page("login.html", status, **{**context, **values})


@blueprint.post("/login")
def sign_in() -> BaseResponse:
    """Check name and password."""
    pending_form = PendingForm.from_login_page()
    account = current_site().store.accounts.find(request.form.get("name", ""))
    active_account = account if account and account.disabled_at is None else None
    is_right = _check_password(
        request.form.get("name", ""),
        request.form.get("password", ""),
        active_account.password_hash if active_account else None,
    )
    if isinstance(is_right, Response):
        return is_right
    if not is_right or active_account is None:
        return _render_login_page(403, problem=translate("Wrong account name or password"), held=pending_form)
    start_session(active_account, current_site().clock())
    if pending_form and not active_account.password_is_temporary:
        response: BaseResponse = render_page(
            "admin_again.html", held=pending_form, account=active_account, language_page=url_for("admin.overview")
        )
    else:
        response = redirect(safe_next_url(request.form.get("next", "")), 303)
    remember_device(response, active_account.name)
    return response


def safe_next_url(next_url: str) -> str:
    """Return `next_url` if it is a path of this site, else the start page of the account."""
    try:
        parts = urlsplit(next_url)
    except ValueError:
        return url_for("admin.overview")
    # Browsers read two slashes as the beginning of a host.
    is_ours = parts.path.startswith("/") and not (parts.scheme or parts.netloc or next_url.startswith("//"))
    return next_url if is_ours and next_url.isprintable() and "\\" not in next_url else url_for("admin.overview")


@blueprint.post("/logout")
@require_role()
def logout() -> BaseResponse:
    """End the session, also for copies of its cookie."""
    if session_id := session.get("id"):
        current_site().store.accounts.revoke_session(session_id, session["since"] + SESSION_SECONDS)
    session.clear()
    return redirect(url_for("public.home"), 303)


@blueprint.get("/account")
@require_role()
def account_page() -> BaseResponse:
    """Show the account with its roles and the password form."""
    return _render_account_page()


def _render_account_page(status: int = 200, problem: str = "") -> Response:
    page_url = url_for("accounts.account_page")
    return render_page("admin_account.html", status, least=MIN_PASSWORD_CHARS, problem=problem, language_page=page_url)


@blueprint.post("/account/password")
@require_role()
def change_password() -> BaseResponse:
    """Change the password of the account. All other sessions of the account end."""
    current: Account = current_user.account
    new = request.form.get("new", "")
    is_right = _check_password(current.name, request.form.get("old", ""), current.password_hash)
    if isinstance(is_right, Response):
        return is_right
    if not is_right:
        return _render_account_page(403, translate("The current password is wrong"))
    try:
        check_password_length(new)
    except AccountError as error:
        return _render_account_page(422, translate_error(error))
    if current.password_is_temporary and new == request.form.get("old", ""):
        return _render_account_page(422, translate("The new password must differ from the temporary one"))
    if new != request.form.get("again", ""):
        return _render_account_page(422, translate("The new passwords do not match"))
    accounts = current_site().store.accounts
    accounts.set_password(current.name, hash_password(new))
    updated_account = accounts.find(current.name)
    if updated_account is not None:
        start_session(updated_account, current_site().clock())
    flash(translate("Password changed."))
    return redirect(url_for("accounts.account_page"), 303)
