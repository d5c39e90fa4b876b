"""The history of all areas: who changed what and when, with undo."""

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from functools import partial

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.operations import can_undo
from domain.account import Role
from domain.administration import HistoryEntry, HistoryFilter
from domain.errors import PlumblineError
from domain.message import parse_message
from domain.operation import NOTHING_CHANGED
from domain.review import ReviewDecisionKind
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site, render_page
from search_ui.i18n import has_name, translate, translate_code, translate_error, translate_message
from search_ui.list_pages import load_page, parse_number
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("history", __name__, url_prefix="/admin/history")
blueprint.after_request(add_no_store_headers)

ENTRIES_PER_PAGE = 50
MAX_NAME_CHARS = 64


@blueprint.get("")
@require_role(Role.REPORTS)
def history() -> BaseResponse:
    """List the entries of the history, filtered by account, kind and days."""
    administration, store = current_site().administration, current_site().store
    administration.finish_settings_records()
    history_filter = _requested_filter()
    page = load_page(partial(store.history.find, history_filter), request.args.get("page", ""), ENTRIES_PER_PAGE)
    filters = {name: request.args.get(name, "") for name in ("account", "kind", "from", "to") if request.args.get(name)}
    return render_page(
        "admin_history.html",
        entries=[(entry, entry_title(entry.is_review, entry.name), can_undo_entry(entry)) for entry in page.items],
        total=page.total,
        filters=filters,
        kinds=[
            (f"{'review' if is_review else 'action'}.{name}", entry_title(is_review, name))
            for is_review, name in store.history.names()
        ],
        accounts=[name for name in store.history.accounts() if name],
        pages_of=page,
        detail_values=detail_values,
        undo_note=undo_note,
        moment=format_timestamp,
    )


def can_undo_entry(entry: HistoryEntry) -> bool:
    """Return True if an entry can be undone now."""
    if not entry.is_review:
        return can_undo(current_site().administration.operations, entry)
    kind = ReviewDecisionKind(entry.name)
    return entry.undone_by is None and kind is not ReviewDecisionKind.REVERT and kind.has_effect


def _requested_filter() -> HistoryFilter:
    """Return the filter of the request. Invalid parts are ignored."""
    source, _, name = request.args.get("kind", "")[:MAX_NAME_CHARS].partition(".")
    last_day = parse_day(request.args.get("to", ""))
    return HistoryFilter(
        account=request.args.get("account", "")[:MAX_NAME_CHARS] or None,
        is_review=source == "review" if name else None,
        name=name or None,
        since=day_start(parse_day(request.args.get("from", ""))),
        until=day_start(last_day + timedelta(days=1) if last_day else None),
    )


def parse_day(text: str) -> date | None:
    """Parse `2016-05-09`; None if the text is no date that the server can represent."""
    with suppress(ValueError):
        day = date.fromisoformat(text)
        return day if 1970 < day.year < 9000 else None
    return None


def day_start(day: date | None) -> float | None:
    """Return the start of a day in the server's time zone in epoch seconds."""
    return None if day is None else time.mktime(day.timetuple())


def entry_title(is_review: bool, name: str) -> str:
    """Return what an entry did, in the reader's language; its code if it has no name."""
    return translate_code("review_act" if is_review else "operation", name)


def undo_note(entry: HistoryEntry) -> str:
    """Return what the undo of an entry cannot bring back or does beyond its name; "" if there is nothing to say."""
    return translate_code("undo_note", entry.name) if has_name("undo_note", entry.name) else ""


def detail_values(entry: HistoryEntry) -> list[str]:
    """Return what tells more than the title: the changed values, or the reason, end, roles or error of an operation."""
    before, after, texts, is_roles = entry.before or {}, entry.after, [], entry.name == "account_roles"
    if "before" in after or "after" in after:
        old, new = after.get("before"), after.get("after")
        if is_roles:  # of earlier versions
            old, new = str(old).split(","), str(new).split(",")
        texts.append(difference(old, new, is_roles))
    elif entry.name == "setting_change":
        texts.append(translate("secret value, not recorded; it cannot be undone"))
    for name, value in after.items():
        if name == "changes" and isinstance(value, Mapping):  # of the settings of a site
            pairs = [(path, difference(*pair)) for path, pair in value.items()]
            texts += [translate("{label}: {value}", label=path, value=text) for path, text in pairs]
        elif name == "role":
            texts.append(difference(before["role"], value, True) if is_roles else readable_value(value, True))
        elif name == "reviewers":
            texts.append(readable_value(sorted({*filter(None, value.values())})))
        elif name == "until" and isinstance(value, int | float):
            texts.append(translate("until {time}", time=format_timestamp(value)))
        elif name == "error" and value:
            texts.append(translate_message(parse_message(str(value))))
        elif name == "action" and entry.name.startswith("curation_"):
            texts.append(translate_code("curation_action", str(value)))
        elif name == "with_synonyms" and value:
            texts.append(translate("also for synonyms"))
        elif name in ("option", "reason") and value:
            texts.append(str(value))
    return texts


def difference(before: object, after: object, is_roles: bool = False) -> str:
    """Return the values before and after; of lists only the entries that one of them has."""
    if isinstance(before, list) and isinstance(after, list):
        before, after = [item for item in before if item not in after], [item for item in after if item not in before]
    return " → ".join(readable_value(value, is_roles) for value in (before, after))


def readable_value(value: object, is_roles: bool = False) -> str:
    """Return a recorded JSON value as text in the reader's language; None is the default of a setting."""
    if value is None:
        return translate("(default)")
    if isinstance(value, bool):
        return translate_code("switch", str(value).lower())
    if isinstance(value, Mapping):
        value = [f"{key} = {readable_value(item)}" for key, item in value.items()]
    if isinstance(value, list):
        texts = [translate_code("role", item) if is_roles else readable_value(item) for item in value]
        return translate(", ").join(texts) or translate("(empty)")
    return str(value)


@blueprint.post("/undo")
@require_role(Role.OPERATOR)
def undo_entry() -> BaseResponse:
    """Undo the operation `entry`."""
    administration, entry_id = current_site().administration, parse_number(request.form.get("entry", ""))
    if not entry_id:
        abort(400)
    try:
        change = administration.store.operations.undo(administration.operations, entry_id, current_account_name())
    except PlumblineError as error:
        flash(translate_error(error))
    else:
        flash(translate("The action was undone." if change else NOTHING_CHANGED))
    return redirect(url_for("history.history"), 303)
