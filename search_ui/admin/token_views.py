"""The pages of API tokens: every account creates and revokes its own, administrators see and revoke all."""

from flask import Blueprint, Response, abort, flash, redirect, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Account, Role
from domain.administration import ApiToken
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.views import format_timestamp
from search_ui.api_tokens import create_token, hash_token, permitted_scopes
from search_ui.context import current_site, render_page
from search_ui.i18n import translate
from search_ui.local_dates import format_day

blueprint = Blueprint("api_tokens", __name__, url_prefix="/admin/tokens")
blueprint.after_request(add_no_store_headers)

MAX_NAME_CHARS = 64
MAX_ID_DIGITS = 18


@blueprint.get("")
@require_role()
def token_list() -> BaseResponse:
    """List the tokens, with the form for a new one."""
    return _render_list()


@blueprint.post("/create")
@require_role()
def create() -> BaseResponse:
    """Create a token of the signed-in account and show it. It is in no address and no cookie: it is shown once."""
    account = _signed_in_account()
    name = request.form.get("name", "").strip()[:MAX_NAME_CHARS]
    scopes = [scope for scope in permitted_scopes(account) if scope in request.form.getlist("scope")]
    if not name or not scopes:
        return _render_list(422, problem=translate("Enter a name and choose at least one scope."))
    token = create_token()
    current_site().backend.api_tokens.create(account.name, name, hash_token(token), scopes)
    return _render_list(new_token=token, new_name=name)


@blueprint.post("/revoke")
@require_role()
def revoke() -> BaseResponse:
    """Revoke a token of the signed-in account; administrators revoke every token."""
    token_id = request.form.get("id", "")
    if not token_id.isdecimal() or len(token_id) > MAX_ID_DIGITS:
        abort(400)
    account = _signed_in_account()
    token = next((token for token in _visible_tokens(account) if token.token_id == int(token_id)), None)
    if token is None:
        abort(404)
    current_site().backend.api_tokens.revoke(token.token_id, account.name)
    flash(translate("The token “{name}” is revoked.", name=token.name))
    return redirect(url_for("api_tokens.token_list"), 303)


def _signed_in_account() -> Account:
    account: Account = current_user.account
    return account


def _visible_tokens(account: Account) -> list[ApiToken]:
    """Return the tokens that an account may see and revoke, newest first."""
    tokens = current_site().backend.api_tokens.list_all()
    return [token for token in tokens if account.has_role(Role.OPERATOR) or token.account == account.name]


def _render_list(status: int = 200, problem: str = "", new_token: str = "", new_name: str = "") -> Response:
    account = _signed_in_account()
    return render_page(
        "admin_tokens.html",
        status,
        tokens=_visible_tokens(account),
        scopes=permitted_scopes(account),
        problem=problem,
        new_token=new_token,
        new_name=new_name,
        entered_name="" if new_token else request.form.get("name", "")[:MAX_NAME_CHARS],
        entered_scopes=[] if new_token else request.form.getlist("scope"),
        day=format_day,
        moment=format_timestamp,
        language_page=url_for("api_tokens.token_list"),
    )
