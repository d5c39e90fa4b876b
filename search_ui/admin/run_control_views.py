"""Run now, stop, and the progress of a run."""

from flask import Blueprint, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import BusyError, PlumblineError
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_error
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("run_control", __name__, url_prefix="/admin/run")
blueprint.after_request(add_no_store_headers)

REFRESH_SECONDS = 3


@blueprint.get("")
@require_role(Role.REPORTS)
def progress() -> BaseResponse:
    """Show how far the vertical is, while a run is active with regular updates, and a search box."""
    control = current_site().backend.run_control
    return render_page(
        "admin_run_progress.html",
        run_status=control.status(),
        counts=control.counts(),
        refresh_seconds=REFRESH_SECONDS,
        moment=format_timestamp,
    )


@blueprint.post("/start")
@require_role(Role.OPERATOR)
def start() -> BaseResponse:
    """Start a run of all stages; a message says whether it started."""
    start_run()
    return _back()


def start_run() -> None:
    """Start a run, and tell the reader so, or why not."""
    try:
        current_site().backend.run_control.start(current_account_name())
    except BusyError:
        flash(translate("A run is active already."))
    except PlumblineError as error:
        flash(translate_error(error))
    else:
        flash(translate("The run has started."))


@blueprint.post("/stop")
@require_role(Role.OPERATOR)
def stop() -> BaseResponse:
    """Request the end of the active run."""
    is_requested = current_site().backend.run_control.stop(current_account_name())
    flash(
        translate(
            "The run ends after the requests in flight. Everything fetched is kept."
            if is_requested
            else "No active run could be stopped."
        )
    )
    return _back()


def _back() -> BaseResponse:
    """Return to the page of the form."""
    return redirect(
        url_for("admin.overview" if request.form.get("back") == "overview" else "run_control.progress"), 303
    )
