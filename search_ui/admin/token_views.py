"""The page of API tokens: every account creates and revokes its own, administrators see and revoke all."""

from flask import Blueprint, Response, redirect, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Account, Role
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import keep_secret, run_operation, take_secret
from search_ui.admin.views import format_timestamp
from search_ui.api_tokens import create_token, hash_token, permitted_scopes
from search_ui.context import current_site, render_page
from search_ui.i18n import translate
from search_ui.local_dates import format_day

blueprint = Blueprint("api_tokens", __name__, url_prefix="/admin/tokens")
blueprint.after_request(add_no_store_headers)

MAX_NAME_CHARS = 64


@blueprint.get("")
@require_role()
def token_list() -> BaseResponse:
    """List the tokens, with the form for a new one, and a new token once."""
    return _render_list()


@blueprint.post("/create")
@require_role()
def create() -> BaseResponse:
    """Create a token of the signed-in account, and show it once."""
    name = request.form.get("name", "").strip()[:MAX_NAME_CHARS]
    scopes = [scope for scope in permitted_scopes(_signed_in_account()) if scope in request.form.getlist("scope")]
    if not name or not scopes:
        return _render_list(422, problem=translate("Enter a name and choose at least one scope."))
    token = create_token()
    run_operation("token_create", name=name, scope=scopes, token_hash=hash_token(token))
    keep_secret(name, token)
    return redirect(url_for("api_tokens.token_list"), 303)


def _signed_in_account() -> Account:
    account: Account = current_user.account
    return account


def _render_list(status: int = 200, problem: str = "") -> Response:
    account, (new_name, new_token) = _signed_in_account(), take_secret()
    tokens = current_site().store.api_tokens.list_all()
    return render_page(
        "admin_tokens.html",
        status,
        tokens=[token for token in tokens if account.has_role(Role.OPERATOR) or token.account == account.name],
        scopes=permitted_scopes(account),
        problem=problem,
        new_token=new_token,
        new_name=new_name,
        entered_name=request.form.get("name", "")[:MAX_NAME_CHARS],
        entered_scopes=request.form.getlist("scope"),
        day=format_day,
        moment=format_timestamp,
        language_page=url_for("api_tokens.token_list"),
    )
