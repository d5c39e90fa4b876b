"""The forms of all operations: one route reads the fields, runs the operation and says what happened."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, abort, flash, redirect, request, session
from werkzeug.wrappers import Response as BaseResponse

from domain.errors import PlumblineError
from domain.message import Message, error_message
from domain.operation import Change, Field, Operation
from search_ui.accounts import add_no_store_headers, require_role, safe_next_url
from search_ui.context import current_account, current_site
from search_ui.i18n import translate, translate_error
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("operations", __name__, url_prefix="/admin/operations")
blueprint.after_request(add_no_store_headers)

SECRET_FIELD = "new_secret"  # noqa: S105  # of the session


@blueprint.post("/<name>")
@require_role()
def run(name: str) -> BaseResponse:
    """Run an operation with the submitted fields, and return to the page `back` with a message.

    If nothing was done, the address has the fields, so that the page can show them again.
    """
    operation = current_site().administration.operations.get(name)
    if operation is None or not operation.message:
        abort(404)
    account = current_account()
    if operation.role is not None and not (account and account.has_role(operation.role)):
        abort(403, description=Message("You do not have permission to do this"))
    values: dict[str, str | list[str]] = {
        field.name: read_texts(field) if field.is_list else read_text(field) for field in operation.fields
    }
    back = safe_next_url(request.form.get("back", ""))
    missing = [field for field in operation.fields if field.is_required and not values[field.name]]
    if missing:
        flash(translate(missing[0].missing_message or abort(400)))
    elif run_with_message(operation, values):
        return redirect(back, 303)
    return redirect(f"{back}{'&' if '?' in back else '?'}{urlencode(values, doseq=True)}", 303)


def read_text(field: Field) -> str:
    """Return the first submitted value of a field, "" if there is none. Answers 400 as `read_texts`."""
    return next(iter(read_texts(field)), "")


def read_texts(field: Field) -> list[str]:
    """Return the submitted values of a field. Answers 400 if they are too long, too many, or no choices."""
    texts = [text.strip() for text in request.form.getlist(field.name)]
    try:
        field.check(texts)
    except PlumblineError as error:
        abort(400, description=error_message(error))
    if field.choices and not set(texts) <= set(field.choices):
        abort(400)
    return texts


def run_with_message(operation: Operation, values: Mapping[str, Any]) -> Change | None:
    """Run an operation and tell the reader what happened, or why not. Returns the change, None if there is none."""
    try:
        change = run_operation(operation.name, **values)
    except PlumblineError as error:
        flash(translate_error(error))
        return None
    if change is None:
        flash(translate(operation.unchanged_message))
    elif operation.message:
        flash(translate(operation.message, **{**change.after, "name": change.subject}))
    return change


def run_operation(name: str, /, **values: Any) -> Change | None:
    """Run an operation for the signed-in account; see `docstore.operations.OperationTable.run`."""
    administration = current_site().administration
    return administration.store.operations.run(administration.operations[name], current_account_name(), values)


def keep_secret(name: str, secret: str) -> None:
    """Keep a new password or token of `name` in the session until the next page has shown it once."""
    session[SECRET_FIELD] = [name, secret]


def take_secret() -> tuple[str, str]:
    """Return the name and the secret of `keep_secret` and forget them; "" if there is none."""
    name, secret = session.pop(SECRET_FIELD, ("", ""))
    return name, secret
