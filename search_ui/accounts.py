"""Signing in and out, one's own password, and who may see which page.

A session names its account, when it began, and a fingerprint of the account: a new password, other roles or a disabled
account end it, and so do eight hours. A form that is sent too late is not lost: it is held in the page that asks to
sign in, and can be sent from the page that follows.
"""

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, abort, current_app, flash, redirect, request, session, url_for
from flask_limiter import RequestLimit
from flask_login import LoginManager, current_user, login_user
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from docstore.accounts import Account, folded_name
from docstore.roles import Role
from search_ui.messages import say
from search_ui.passwords import LEAST, hash_password, is_password, may_be_password
from search_ui.security import (
    GUESSES_OF_ACCOUNT,
    GUESSES_OF_ADDRESS,
    TOKEN,
    brake_on_guessing,
    is_refused,
    known_device,
    remember_device,
    seconds_to_wait,
    sender,
)
from search_ui.site import account, current_site, error_answer, page, wants_json

pages = Blueprint("accounts", __name__, url_prefix="/admin")

SIGNED_IN_SECONDS = 8 * 3600
RESENT = frozenset({"review", "admin"})  # blueprints whose forms are held while somebody signs in

log = logging.getLogger(__name__)

_Args = ParamSpec("_Args")
_View = Callable[_Args, BaseResponse]


@dataclass(frozen=True)
class SignedIn:
    """What flask-login asks of a user."""

    account: Account
    is_authenticated: bool = True
    is_active: bool = True
    is_anonymous: bool = False

    def get_id(self) -> str:
        """What the session keeps."""
        return f"{self.account.name}\n{_fingerprint(self.account)}"


def use_accounts(app: Flask) -> None:
    """Let accounts sign in to `app`, and wrong passwords be counted."""
    manager = LoginManager(app, add_context_processor=False)
    manager.session_protection = None  # it would hang a session on the browser's address
    manager.user_loader(_load)
    app.register_blueprint(pages)
    brake = brake_on_guessing(app, _too_often)
    for endpoint in ("accounts.sign_in_form", "accounts.change_password"):
        by_address = brake.limit(GUESSES_OF_ADDRESS, deduct_when=is_refused)
        by_account = brake.limit(GUESSES_OF_ACCOUNT, key_func=_guessed_account, deduct_when=is_refused)
        view: Callable[..., Any] = app.view_functions[endpoint]
        app.view_functions[endpoint] = by_account(by_address(view))


def _load(user_id: str) -> SignedIn | None:
    """flask-login's question: whose session is this, if it still counts?"""
    name, _, mark = user_id.partition("\n")
    since = session.get("since")
    if not isinstance(since, int | float) or current_site().clock() - since >= SIGNED_IN_SECONDS:
        return None
    if current_site().accounts.is_ended(str(session.get("id", ""))):
        return None
    found = current_site().accounts.find(name)
    if found is None or found.disabled_at is not None or not hmac.compare_digest(mark, _fingerprint(found)):
        return None
    return SignedIn(found)


def _fingerprint(one: Account) -> str:
    text = f"{one.password_hash}\n{sorted(one.roles)}\n{one.created_at}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _begin_session(one: Account) -> None:
    """A session with nothing left of the one before."""
    session.clear()
    session.permanent = True
    session["since"] = current_site().clock()
    session["id"] = secrets.token_hex(16)
    login_user(SignedIn(one))


def _guessed_account() -> str:
    """Whose password is being guessed, and whether on a device on which that account has signed in before: who guesses
    from elsewhere, from however many addresses, shall not keep its owner out.
    """
    one = account()
    name = one.name if one else folded_name(request.form.get("name", ""))[:64]
    return f"{name}\n{known_device(name)}"


# -- who may


def requires(*roles: Role) -> Callable[[_View[_Args]], _View[_Args]]:
    """Let only those in who have one of `roles` (none named: whoever is signed in)."""

    def guard(view: _View[_Args]) -> _View[_Args]:
        @wraps(view)
        def guarded(*args: _Args.args, **kwargs: _Args.kwargs) -> BaseResponse:
            one = account()
            if one is None:
                return _ask_to_sign_in()
            if roles and not any(one.may(role) for role in roles):
                abort(403, description="error.role")
            return view(*args, **kwargs)

        return guarded

    return guard


def never_stored(response: Response) -> Response:
    """For blueprints whose pages no cache and no search engine may keep."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _ask_to_sign_in() -> BaseResponse:
    if wants_json():
        return error_answer(403, say(_why_signed_out()))
    if request.method == "GET":
        return redirect(url_for("accounts.login", next=request.full_path.rstrip("?")), 303)
    form = HeldForm.of_request()
    return _login_page(403, problem=say(_why_signed_out()), held=form if form.may_be_sent() else None)


def _why_signed_out() -> str:
    return "login.ended" if "_user_id" in session else "login.needed"


@dataclass(frozen=True)
class HeldForm:
    """A form that came from somebody who is no longer signed in: where it goes, and its fields but for the token."""

    action: str
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of_request(cls) -> "HeldForm":
        """The form that has just come."""
        pairs = request.form.items(multi=True)
        return cls(request.path, tuple((name, value) for name, value in pairs if name != TOKEN))

    @classmethod
    def of_login(cls) -> "HeldForm | None":
        """The one that the login page holds, if it does and it is one that may be sent."""
        try:
            pairs = json.loads(request.form.get("held_fields", "[]"))
            held = cls(request.form.get("held_action", ""), tuple((str(name), str(value)) for name, value in pairs))
        except (ValueError, TypeError):
            return None
        return held if held.may_be_sent() else None

    @property
    def encoded(self) -> str:
        """The fields as `of_login` reads them."""
        return json.dumps(self.fields)

    def values(self, name: str) -> list[str]:
        """The values of a field."""
        return [value for field, value in self.fields if field == name]

    def may_be_sent(self) -> bool:
        """Does it go to a form of the signed-in pages? Passwords are never held."""
        adapter = current_app.url_map.bind_to_environ(request.environ)
        try:
            endpoint = str(adapter.match(self.action, method="POST")[0])
        except HTTPException:
            return False
        return endpoint.partition(".")[0] in RESENT


# -- pages

pages.after_request(never_stored)


@pages.get("/login")
def login() -> BaseResponse:
    """The form that asks for name and password."""
    if account():
        return redirect(_way_on(request.args.get("next", "")), 303)
    return _login_page(note=say("login.ended") if "_user_id" in session else "")


def _login_page(status: int = 200, **values: object) -> Response:
    """`next` is where to go afterwards, `held` a form that waits."""
    wanted = request.values.get("next", "")
    shown = {"wanted": wanted, "name": request.form.get("name", ""), "no_accounts": current_site().accounts.is_empty()}
    shown["language_page"] = url_for("accounts.login")
    return page("login.html", status, **{**shown, **values})


def _too_often(limit: RequestLimit) -> Response:
    wait = seconds_to_wait(limit)
    log.warning("too many wrong passwords for %r from %s", request.form.get("name", "")[:64], sender())
    problem = say("login.wait", n=wait)
    response = _account_page(429, problem) if account() else _login_page(429, problem=problem, held=HeldForm.of_login())
    response.headers["Retry-After"] = str(wait)
    return response


@pages.post("/login")
def sign_in_form() -> BaseResponse:
    """Check name and password; wrong ones are counted, and too many make their sender wait."""
    held = HeldForm.of_login()
    found = current_site().accounts.find(request.form.get("name", ""))
    usable = found if found and found.disabled_at is None else None
    if not is_password(request.form.get("password", ""), usable.password_hash if usable else None) or usable is None:
        return _login_page(403, problem=say("login.wrong"), held=held)
    _begin_session(usable)
    if held:
        answer: BaseResponse = page(
            "admin_again.html", held=held, account=usable, language_page=url_for("admin.overview")
        )
    else:
        answer = redirect(_way_on(request.form.get("next", "")), 303)
    remember_device(answer, usable.name)
    return answer


def _way_on(wanted: str) -> str:
    """`wanted` if it is a page of the signed-in area, else where this account begins."""
    parts = urlsplit(wanted)
    is_ours = parts.path.startswith("/admin") and not (parts.scheme or parts.netloc)
    return wanted if is_ours and wanted.isprintable() and "\\" not in wanted else url_for("admin.overview")


@pages.post("/logout")
@requires()
def logout() -> BaseResponse:
    """End the session, for whoever has kept its cookie as well."""
    if own := session.get("id"):
        current_site().accounts.end_session(own, session["since"] + SIGNED_IN_SECONDS)
    session.clear()
    return redirect(url_for("public.home"), 303)


@pages.get("/account")
@requires()
def own_account() -> BaseResponse:
    """Who is signed in, for what, and the form for another password."""
    return _account_page()


def _account_page(status: int = 200, problem: str = "") -> Response:
    here = url_for("accounts.own_account")
    return page("admin_account.html", status, least=LEAST, problem=problem, language_page=here)


@pages.post("/account/password")
@requires()
def change_password() -> BaseResponse:
    """Change one's own password; every other session of the account ends."""
    one: Account = current_user.account
    new = request.form.get("new", "")
    if not is_password(request.form.get("old", ""), one.password_hash):
        return _account_page(403, say("account.wrong"))
    if not may_be_password(new):
        return _account_page(422, say("account.short", n=LEAST))
    if new != request.form.get("again", ""):
        return _account_page(422, say("account.differ"))
    accounts = current_site().accounts
    accounts.set_password(one.name, hash_password(new))
    changed = accounts.find(one.name)
    if changed is not None:
        _begin_session(changed)
    flash(say("account.changed"))
    return redirect(url_for("accounts.own_account"), 303)
