"""The history of all areas: who changed what and when, with undo."""

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.administration import HistoryEntry, HistoryFilter, HistorySource
from domain.errors import AccountError, LexiconError, SettingsError
from domain.message import parse_message
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site, render_page
from search_ui.i18n import has_name, translate, translate_code, translate_error, translate_message
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("history", __name__, url_prefix="/admin/history")
blueprint.after_request(add_no_store_headers)

ENTRIES_PER_PAGE = 50
MAX_PAGE_DIGITS = 6
MAX_NAME_CHARS = 64
ROLES_ACTION = "account_roles"


@blueprint.get("")
@require_role(Role.REPORTS)
def history() -> BaseResponse:
    """List the entries of the history, filtered by account, kind and days."""
    backend, page_text = current_site().backend.history, request.args.get("page", "1")
    number = int(page_text) if page_text.isdecimal() and len(page_text) <= MAX_PAGE_DIGITS else 1
    number = max(1, number)
    total, entries = backend.find(_requested_filter(), (number - 1) * ENTRIES_PER_PAGE, ENTRIES_PER_PAGE)
    filters = {name: request.args.get(name, "") for name in ("account", "kind", "from", "to") if request.args.get(name)}
    return render_page(
        "admin_history.html",
        entries=[(entry, entry_title(entry.source, entry.kind), undo_note(entry)) for entry in entries],
        total=total,
        filters=filters,
        kinds=[(f"{source}.{kind}", entry_title(source, kind)) for source, kind in backend.kinds()],
        accounts=[name for name in backend.accounts() if name],
        pages_of={"number": number, "last": max(1, -(-total // ENTRIES_PER_PAGE))},
        detail_values=detail_values,
        moment=format_timestamp,
    )


def _requested_filter() -> HistoryFilter:
    """Return the filter of the request. Invalid parts are ignored."""
    source_name, _, kind = request.args.get("kind", "")[:MAX_NAME_CHARS].partition(".")
    source = HistorySource(source_name) if source_name in list(HistorySource) else None
    last_day = _parse_day(request.args.get("to", ""))
    return HistoryFilter(
        account=request.args.get("account", "")[:MAX_NAME_CHARS] or None,
        source=source,
        kind=kind if source else None,
        since=_day_start(_parse_day(request.args.get("from", ""))),
        until=_day_start(last_day + timedelta(days=1) if last_day else None),
    )


def _parse_day(text: str) -> date | None:
    """Parse `2016-05-09`; None if the text is no date that the server can represent."""
    with suppress(ValueError):
        day = date.fromisoformat(text)
        return day if 1970 < day.year < 9000 else None
    return None


def _day_start(day: date | None) -> float | None:
    """Return the start of a day in the server's time zone in epoch seconds."""
    return None if day is None else time.mktime(day.timetuple())


def entry_title(source: HistorySource, kind: str) -> str:
    """Return what an entry did, in the reader's language; the code if it has no name."""
    if source is HistorySource.REVIEW:
        return translate_code("review_act", kind)
    return translate_code("history", f"{source}_{kind}") if has_name("history", f"{source}_{kind}") else kind


def undo_note(entry: HistoryEntry) -> str:
    """Return what the undo of an entry cannot bring back or does beyond its name; "" if there is nothing to say."""
    has_note = entry.can_undo and has_name("undo_note", entry.kind)
    return translate_code("undo_note", entry.kind) if has_note else ""


def detail_values(entry: HistoryEntry) -> list[str]:
    """Return the details of an entry that tell more than its title: values, names, reason, end, error."""
    details, texts = entry.details, []
    if "before" in details or "after" in details:
        values = [details.get("before"), details.get("after")]
        if entry.kind == ROLES_ACTION:
            values = [role_names(value) for value in values]
        texts.append(" → ".join(map(readable_value, values)))
    elif entry.kind == "setting_change":
        texts.append(translate("secret value, not recorded; it cannot be undone"))
    if entry.kind.startswith("site_") and isinstance(changes := details.get("changes"), Mapping):
        for path, (before, after) in changes.items():
            change = f"{readable_value(before)} → {readable_value(after)}"
            texts.append(translate("{label}: {value}", label=path, value=change))
    if isinstance(until := details.get("until"), int | float):
        texts.append(translate("until {time}", time=format_timestamp(until)))
    texts += [str(details[name]) for name in ("option", "reason") if details.get(name)]
    if details.get("error"):
        texts.append(translate_message(parse_message(str(details["error"]))))
    return texts


def role_names(value: object) -> list[str]:
    """Return the names of comma-separated roles in the reader's language."""
    return [translate_code("role", role) for role in Role if role in str(value).split(",")]


def readable_value(value: object) -> str:
    """Return a recorded JSON value as text in the reader's language; None is the default of a setting."""
    if value is None:
        return translate("(default)")
    if isinstance(value, bool):
        return translate_code("switch", str(value).lower())
    if isinstance(value, Mapping):
        value = [f"{name} = {readable_value(item)}" for name, item in value.items()]
    if isinstance(value, list):
        return translate(", ").join(map(readable_value, value)) or translate("(empty)")
    return str(value)


@blueprint.post("/undo")
@require_role(Role.OPERATOR)
def undo_entry() -> BaseResponse:
    """Undo an entry through its area."""
    source, entry_id = request.form.get("source", ""), request.form.get("entry", "")
    if source not in list(HistorySource) or not entry_id.isdecimal() or len(entry_id) > 18:
        abort(400)
    try:
        is_undone = current_site().backend.history.undo(HistorySource(source), int(entry_id), current_account_name())
    except (AccountError, LexiconError, SettingsError) as error:
        flash(translate_error(error))
    else:
        flash(
            translate(
                "The action was undone."
                if is_undone
                else "Nothing was changed: the action was undone before, or its effect has changed meanwhile."
            )
        )
    return redirect(url_for("history.history"), 303)
