"""Takedowns: the list, and the forms that take a page down or undo it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.administration import Takedown
from domain.errors import UrlError
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.page_views import MAX_URL_CHARS
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site, render_page
from search_ui.i18n import translate
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("takedowns", __name__, url_prefix="/admin/takedowns")
blueprint.after_request(add_no_store_headers)

MAX_REASON_CHARS = 500


@dataclass(frozen=True)
class TakedownGroup:
    """The addresses that one action took down, the submitted one first, each once for both schemes."""

    urls: Sequence[str]
    account: str
    reason: str
    at: float


@blueprint.get("")
@require_role(Role.REPORTS)
def takedown_list() -> BaseResponse:
    """List all takedowns, the newest first."""
    return render_page(
        "admin_takedowns.html",
        groups=group_takedowns(current_site().backend.takedowns.list_all()),
        url=request.args.get("url", "")[:MAX_URL_CHARS],
        moment=format_timestamp,
    )


@blueprint.post("")
@require_role(Role.OPERATOR)
def take_down() -> BaseResponse:
    """Take a page down and show the list."""
    url, reason = request.form.get("url", "").strip(), request.form.get("reason", "").strip()[:MAX_REASON_CHARS]
    if not reason:
        flash(translate("Enter the reason for the takedown."))
        return redirect(url_for("takedowns.takedown_list", url=url[:MAX_URL_CHARS]), 303)
    try:
        new_takedowns = current_site().backend.takedowns.take_down(url, current_account_name(), reason)
    except UrlError:
        flash(translate("This is not a valid URL. Enter a complete address such as https://news.example/page.html."))
        return redirect(url_for("takedowns.takedown_list", url=url[:MAX_URL_CHARS]), 303)
    flash(translate("The page is taken down." if new_takedowns else "The page was taken down before."))
    return redirect(url_for("takedowns.takedown_list"), 303)


@blueprint.post("/undo")
@require_role(Role.OPERATOR)
def restore() -> BaseResponse:
    """Undo the takedown of a page and show the list, or the diagnosis of the page if the form was there."""
    url = request.form.get("url", "")
    if not current_site().backend.takedowns.restore(url, current_account_name()):
        abort(404)
    flash(translate("The takedown is undone. The next run crawls the page again."))
    is_diagnosed = request.form.get("back") == "page"
    return redirect(
        url_for("admin.page_diagnosis", url=url) if is_diagnosed else url_for("takedowns.takedown_list"), 303
    )


def group_takedowns(takedowns: Sequence[Takedown]) -> list[TakedownGroup]:
    """Return the takedowns by action, in their order."""
    groups = []
    for _, members in groupby(takedowns, key=lambda takedown: takedown.action_id):
        rows = list(members)
        url_by_address: dict[str, str] = {}
        for row in rows:
            url_by_address.setdefault(row.url.partition("://")[2], row.url)
        first = rows[0]
        groups.append(TakedownGroup(tuple(url_by_address.values()), first.account, first.reason, first.at))
    return groups
