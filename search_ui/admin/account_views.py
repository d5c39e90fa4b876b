"""The pages of accounts, and the forms that show a new password. The other forms are operations."""

import secrets

from flask import Blueprint, Response, abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import AccountError
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import keep_secret, run_operation, take_secret
from search_ui.context import current_site, render_page
from search_ui.i18n import translate_error
from search_ui.local_dates import format_day
from search_ui.passwords import hash_password

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
    account = current_site().store.accounts.find(request.args.get("name", "")) or abort(404)
    language_page = url_for("account_admin.account_detail", name=account.name)
    return render_page("admin_accounts_account.html", shown=account, day=format_day, language_page=language_page)


@blueprint.post("/create")
@require_role(Role.OPERATOR)
def create() -> BaseResponse:
    """Create an account with a temporary password."""
    try:
        return _run_with_password("account_create", role=_submitted_roles())
    except AccountError as error:
        return _render_list(422, translate_error(error))


@blueprint.post("/password")
@require_role(Role.OPERATOR)
def reset_password() -> BaseResponse:
    """Give an account a temporary password."""
    try:
        return _run_with_password("account_password")
    except AccountError as error:
        return _render_list(422, translate_error(error))


def _run_with_password(operation: str, **values: object) -> BaseResponse:
    """Run an operation with the submitted name and a new temporary password, and show the password."""
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    password_values = {"password_hash": hash_password(password), "is_temporary": True}
    change = run_operation(operation, name=_submitted_name(), **password_values, **values)
    keep_secret(change.subject if change else "", password)
    return redirect(url_for("account_admin.show_password"), 303)


@blueprint.get("/password")
@require_role(Role.OPERATOR)
def show_password() -> BaseResponse:
    """Show a new temporary password, once."""
    name, password = take_secret()
    if not password:
        return redirect(url_for("account_admin.account_list"), 303)
    language_page = url_for("account_admin.account_list")
    return render_page("admin_accounts_password.html", name=name, password=password, language_page=language_page)


def _submitted_name() -> str:
    return request.form.get("name", "")[: MAX_NAME_CHARS + 1]


def _submitted_roles() -> list[Role]:
    values = request.form.getlist("role")
    return [role for role in Role if role in values]


def _render_list(status: int = 200, problem: str = "") -> Response:
    return render_page(
        "admin_accounts.html",
        status,
        accounts=current_site().store.accounts.list_accounts(),
        problem=problem,
        entered_name=_submitted_name(),
        entered_roles=_submitted_roles(),
        day=format_day,
        language_page=url_for("account_admin.account_list"),
    )
