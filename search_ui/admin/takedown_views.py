"""The list of takedowns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import Blueprint, request
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.administration import Takedown
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.page_views import MAX_URL_CHARS
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site, render_page

blueprint = Blueprint("takedowns", __name__, url_prefix="/admin/takedowns")
blueprint.after_request(add_no_store_headers)


@dataclass(frozen=True)
class TakedownGroup:
    """The addresses that one operation took down, the submitted one first, each once for both schemes."""

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
        groups=group_takedowns(current_site().store.takedowns.list_all()),
        url=request.args.get("url", "")[:MAX_URL_CHARS],
        moment=format_timestamp,
    )


def group_takedowns(takedowns: Sequence[Takedown]) -> list[TakedownGroup]:
    """Return the takedowns by operation, in their order."""
    groups = []
    for _, members in groupby(takedowns, key=lambda takedown: takedown.operation_id):
        rows = list(members)
        url_by_address: dict[str, str] = {}
        for row in rows:
            url_by_address.setdefault(row.url.partition("://")[2], row.url)
        first = rows[0]
        groups.append(TakedownGroup(tuple(url_by_address.values()), first.account, first.reason, first.at))
    return groups
