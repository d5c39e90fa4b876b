"""The settings page: forms for all settings, the difference before saving, and conflicts with other changes.

A page has no memory on the server. A form carries a fingerprint of each value that it shows, so that the fields that
the account has changed are known even if the file changes meanwhile.
"""

import json
from collections.abc import Mapping
from zlib import crc32

from flask import Blueprint, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import SettingsConflictError, SettingsError
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import run_operation
from search_ui.admin.settings_form import HIDDEN_VALUE, NEW_HIDDEN_VALUE, Edits, SettingsForm
from search_ui.admin.views import format_timestamp
from search_ui.context import current_account, current_site, render_page
from search_ui.i18n import translate, translate_error, translate_message, translate_setting_help

blueprint = Blueprint("settings", __name__, url_prefix="/admin/settings")
blueprint.after_request(add_no_store_headers)

VALUE_PREFIX, CLEAR_PREFIX = "set.", "clear."  # of the names of form fields; the path of the setting follows


@blueprint.get("")
@require_role(Role.REPORTS)
def settings_page() -> BaseResponse:
    """Show the form with all settings."""
    return _render_form({})


@blueprint.post("/edit")
@require_role(Role.OPERATOR)
def edit() -> BaseResponse:
    """Show the form again with the changes of the account."""
    return _render_form(_read_edits())


@blueprint.post("/review")
@require_role(Role.OPERATOR)
def review() -> BaseResponse:
    """Show what the changes do to the file, or their errors."""
    edits, digest = _read_edits(), request.form.get("digest", "")
    try:
        result = current_site().administration.settings_reader.review(edits, digest)
        if result.errors:
            return _render_form(edits, 422, result.errors)
        if not result.diff:
            flash(translate("Nothing has changed."))
            return redirect(url_for("settings.settings_page"), 303)
        form = current_site().administration.settings_reader.load_form()
    except SettingsConflictError as error:
        return _render_form(edits, 409, conflict_at=error.changed_at)
    except SettingsError as error:
        return _render_form(edits, 422, {"": translate_error(error)})
    fields = form.by_path()
    return render_page(
        "admin_settings_review.html",
        diff=[translate_hidden_values(line) for line in result.diff],
        digest=digest,
        edits=edits,
        changed_fields=[fields[path] for path in edits if path in fields],
        language_page=url_for("settings.settings_page"),
    )


def translate_hidden_values(line: str) -> str:
    """Return a line of a diff with its markers of secrets in the reader's language."""
    line = line.replace(NEW_HIDDEN_VALUE, translate("(new value, not shown)"))
    return line.replace(HIDDEN_VALUE, translate("(not shown)"))


@blueprint.post("/save")
@require_role(Role.OPERATOR)
def save() -> BaseResponse:
    """Save the changes that the account has reviewed."""
    edits = _read_edits()
    try:
        change = run_operation("setting_change", edits=edits, digest=request.form.get("digest", ""))
    except SettingsConflictError as error:
        return _render_form(edits, 409, conflict_at=error.changed_at)
    except SettingsError as error:
        return _render_form(edits, 422, {"": translate_error(error)})
    flash(translate("Saved {n} setting.", "Saved {n} settings.", n=change.result if change else 0))
    return redirect(url_for("settings.settings_page"), 303)


def _render_form(
    edits: Edits, status: int = 200, errors: Mapping[str, str] | None = None, conflict_at: float | None = None
) -> BaseResponse:
    """Render the form with the values of the file, and with `edits` in place of them.

    `errors` are messages by path, `conflict_at` the time in epoch seconds when somebody else changed the file.
    """
    errors = {path: translate_message(message) for path, message in (errors or {}).items()}
    form: SettingsForm | None = None
    try:
        form = current_site().administration.settings_reader.load_form()
    except SettingsError as error:
        errors, status = {"": translate_error(error)}, 503 if status == 200 else status
    account = current_account()
    return render_page(
        "admin_settings.html",
        status,
        form=form,
        shown=json.dumps({path: fingerprint(field.text) for path, field in form.by_path().items()}) if form else "",
        edits=edits,
        errors=errors,
        conflict=None if conflict_at is None else format_timestamp(conflict_at),
        can_edit=account is not None and account.has_role(Role.OPERATOR),
        help_of=translate_setting_help,
        language_page=url_for("settings.settings_page"),
    )


def _read_edits() -> Edits:
    """Return the fields of the submitted form whose value differs from the one that the form showed."""
    try:
        fingerprints = dict(json.loads(request.form.get("shown", "{}")))
    except (ValueError, TypeError, RecursionError):
        fingerprints = {}
    edits: dict[str, str | None] = {}
    for name, value in request.form.items():
        text = value.replace("\r\n", "\n")
        if name.startswith(VALUE_PREFIX) and fingerprint(text) != fingerprints.get(name.removeprefix(VALUE_PREFIX)):
            edits[name.removeprefix(VALUE_PREFIX)] = text
    return edits | {name.removeprefix(CLEAR_PREFIX): None for name in request.form if name.startswith(CLEAR_PREFIX)}


def fingerprint(text: str) -> int:
    """Return a number that identifies the value of a field."""
    return crc32(text.encode("utf-8", "replace"))
