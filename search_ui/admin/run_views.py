"""The pages about runs: all runs with charts, one run, and the progress of the active run."""

from collections.abc import Sequence

from flask import Blueprint, Response, abort, make_response, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.outcome import SUCCESS_REASONS, Reason, Stage
from domain.run import OutcomeSample
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.figure_forecast import days_until_disk_full, figure_charts
from search_ui.admin.views import format_duration, format_timestamp
from search_ui.context import current_site, render_page
from search_ui.list_pages import parse_number

blueprint = Blueprint("runs", __name__, url_prefix="/admin/runs")
blueprint.after_request(add_no_store_headers)

RUNS_PER_PAGE = 25


@blueprint.get("")
@require_role(Role.REPORTS)
def run_list() -> BaseResponse:
    """List the runs, newest first, with charts of disk, memory, queue and index."""
    administration, before_id = current_site().administration, parse_number(request.args.get("before", "")) or None
    runs = administration.list_runs(before_id, RUNS_PER_PAGE + 1)
    if not runs:  # all runs are newer
        before_id, runs = None, administration.list_runs(None, RUNS_PER_PAGE + 1)
    figures = administration.run_figures() if before_id is None else ()
    return render_page(
        "admin_runs.html",
        runs=runs[:RUNS_PER_PAGE],
        next_before=runs[RUNS_PER_PAGE - 1].run_id if len(runs) > RUNS_PER_PAGE else None,
        is_first_page=before_id is None,
        live=administration.live_run() if before_id is None else None,
        charts=figure_charts(figures),
        disk_days=days_until_disk_full(figures, current_site().clock()),
        now=current_site().clock(),
        moment=format_timestamp,
        duration=format_duration,
    )


@blueprint.get("/live")
@require_role(Role.REPORTS)
def live_run() -> Response:
    """Return the progress of the active run as a part of a page; empty if no run is active."""
    return make_response(
        render_template(
            "_live_run.html",
            live=current_site().administration.live_run(),
            now=current_site().clock(),
            moment=format_timestamp,
            duration=format_duration,
        )
    )


@blueprint.get("/<run_id>")
@require_role(Role.REPORTS)
def run_detail(run_id: str) -> BaseResponse:
    """Show one run: stages, errors with samples, and its log."""
    administration = current_site().administration
    detail = administration.run_detail(int(run_id)) if run_id.isdecimal() and len(run_id) < 19 else None
    if detail is None:
        abort(404)
    live = administration.live_run()
    return render_page(
        "admin_run.html",
        detail=detail,
        run=detail.run,
        live=live if live is not None and live.run_id == detail.run.run_id else None,
        failures=group_failures(detail.samples),
        totals={(stage.stage, reason): count for stage in detail.run.stages for reason, count in stage.reason_counts},
        now=current_site().clock(),
        moment=format_timestamp,
        duration=format_duration,
    )


def group_failures(samples: Sequence[OutcomeSample]) -> dict[tuple[Stage, Reason], list[OutcomeSample]]:
    """Group the samples of failures by stage and reason, in their order."""
    failures: dict[tuple[Stage, Reason], list[OutcomeSample]] = {}
    for sample in samples:
        if sample.reason not in SUCCESS_REASONS:
            failures.setdefault((sample.stage, sample.reason), []).append(sample)
    return failures
