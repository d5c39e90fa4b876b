"""The progress of a run."""

from flask import Blueprint
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.views import format_duration, format_timestamp
from search_ui.context import current_site, render_page

blueprint = Blueprint("run_control", __name__, url_prefix="/admin/run")
blueprint.after_request(add_no_store_headers)

REFRESH_SECONDS = 3


@blueprint.get("")
@require_role(Role.REPORTS)
def progress() -> BaseResponse:
    """Show how far the vertical is, while a run is active with regular updates, and a search box."""
    administration = current_site().administration
    return render_page(
        "admin_run_progress.html",
        run_status=administration.run_status(),
        counts=administration.run_counts(),
        refresh_seconds=REFRESH_SECONDS,
        live=administration.live_run(),
        now=current_site().clock(),
        moment=format_timestamp,
        duration=format_duration,
    )
