"""The accounts page: create accounts, change roles, reset passwords, end sessions, disable and enable."""

import secrets
from collections.abc import Callable

from flask import Blueprint, Response, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Account, Role, normalize_account_name
from domain.errors import AccountError
from search_ui.accounts import SESSION_SECONDS, add_no_store_headers, require_role
from search_ui.context import current_site, render_page
from search_ui.i18n import translate_code, translate_error
from search_ui.local_dates import format_day
from search_ui.passwords import hash_password
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("account_admin", __name__, url_prefix="/admin/accounts")
blueprint.after_request(add_no_store_headers)

PASSWORD_BYTES = 12  # of randomness in a temporary password, which has 16 characters
MAX_NAME_CHARS = 64


@blueprint.get("")
@require_role(Role.OPERATOR)
def account_list() -> BaseResponse:
    """Show all accounts and the form for a new one."""
    return _render_list()


@blueprint.get("/account")
@require_role(Role.OPERATOR)
def account_detail() -> BaseResponse:
    """Show the account `name` and what can be done with it."""
    return _render_account(request.args.get("name", ""))


@blueprint.post("/create")
@require_role(Role.OPERATOR)
def create() -> BaseResponse:
    """Create an account with a temporary password."""
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    try:
        account = current_site().backend.account_administration.create(
            _submitted_name(),
            hash_password(password),
            _submitted_roles("role"),
            current_account_name(),
            password_is_temporary=True,
        )
    except AccountError as error:
        return _render_list(422, translate_error(error))
    return _render_password(account.name, password)


@blueprint.post("/password")
@require_role(Role.OPERATOR)
def reset_password() -> BaseResponse:
    """Give an account a temporary password."""
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    try:
        current_site().backend.account_administration.reset_password(
            _submitted_name(), hash_password(password), current_account_name(), password_is_temporary=True
        )
    except AccountError as error:
        return _render_list(422, translate_error(error))
    return _render_password(normalize_account_name(_submitted_name()), password)


@blueprint.post("/roles")
@require_role(Role.OPERATOR)
def set_roles() -> BaseResponse:
    """Replace the roles of an account."""
    roles, expected_roles = _submitted_roles("role"), _submitted_roles("expected_role")
    administration, actor = current_site().backend.account_administration, current_account_name()
    return _change("roles_done", lambda name: administration.set_roles(name, roles, expected_roles, actor))


@blueprint.post("/disable")
@require_role(Role.OPERATOR)
def disable() -> BaseResponse:
    """Disable an account and end its sessions."""
    administration, actor = current_site().backend.account_administration, current_account_name()
    return _change("disabled_done", lambda name: administration.disable(name, _newest_session_end(), actor))


@blueprint.post("/enable")
@require_role(Role.OPERATOR)
def enable() -> BaseResponse:
    """Enable a disabled account, whose password stays."""
    administration, actor = current_site().backend.account_administration, current_account_name()
    return _change("enabled", lambda name: administration.enable(name, actor))


@blueprint.post("/sessions")
@require_role(Role.OPERATOR)
def end_sessions() -> BaseResponse:
    """End all sessions of an account."""
    administration, actor = current_site().backend.account_administration, current_account_name()
    return _change("signed_out", lambda name: administration.end_sessions(name, _newest_session_end(), actor))


def _change(message: str, change: Callable[[str], None]) -> BaseResponse:
    """Call `change` with the submitted name; show the account with its error or with the message of the change."""
    name = normalize_account_name(_submitted_name())
    try:
        change(name)
    except AccountError as error:
        return _render_account(name, 422, translate_error(error))
    flash(translate_code("account_change", message, name=name))
    return redirect(url_for("account_admin.account_detail", name=name), 303)


def _submitted_name() -> str:
    return request.form.get("name", "")[: MAX_NAME_CHARS + 1]


def _submitted_roles(field: str) -> list[Role]:
    values = request.form.getlist(field)
    return [role for role in Role if role in values]


def _newest_session_end() -> float:
    return current_site().clock() + SESSION_SECONDS


def _render_list(status: int = 200, problem: str = "") -> Response:
    return render_page(
        "admin_accounts.html",
        status,
        accounts=current_site().backend.account_administration.list_accounts(),
        problem=problem,
        entered_name=_submitted_name(),
        entered_roles=_submitted_roles("role"),
        day=format_day,
        language_page=url_for("account_admin.account_list"),
    )


def _render_account(name: str, status: int = 200, problem: str = "") -> Response:
    accounts = {entry.name: entry for entry in current_site().backend.account_administration.list_accounts()}
    shown_account: Account | None = accounts.get(normalize_account_name(name))
    if shown_account is None:
        abort(404)
    return render_page(
        "admin_accounts_account.html",
        status,
        shown=shown_account,
        problem=problem,
        day=format_day,
        language_page=url_for("account_admin.account_detail", name=shown_account.name),
    )


def _render_password(name: str, password: str) -> Response:
    """Show a temporary password. It is in no address and no cookie, so the page cannot be opened a second time."""
    return render_page(
        "admin_accounts_password.html",
        name=name,
        password=password,
        language_page=url_for("account_admin.account_list"),
    )
