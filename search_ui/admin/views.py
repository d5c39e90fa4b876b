"""The reports of the signed-in area: overview, search analytics and sites."""

import time

from flask import Blueprint, abort, flash, g, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import LexiconError, SolrError
from domain.focused_decision import HostHarvest
from domain.operation import Field
from domain.outcome import SUCCESS_REASONS, Reason, Stage, count_requested
from domain.review import TermQuery
from domain.run import OutcomeSample
from domain.term import TermStatus
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin import run_charts
from search_ui.admin.operation_views import read_text
from search_ui.charts import ChartPoint, bar_chart
from search_ui.context import current_account, current_site, render_page
from search_ui.i18n import alert_message, translate, translate_code, translate_error
from search_ui.interfaces import SiteReport
from search_ui.local_dates import format_day
from search_ui.query.query_parser import parse_query
from search_ui.query.results import parse_site_counts
from search_ui.query.solr_requests import site_counts_params
from search_ui.review.term_display import MAX_TERM_CHARS, current_account_name

blueprint = Blueprint("admin", __name__, url_prefix="/admin")
blueprint.after_request(add_no_store_headers)

REPORT_PERIODS_DAYS = (7, 30, 90)  # selectable time ranges of the search log
MAX_ALERTS_SHOWN = 30
LOGIN_ALERTS = ("login_failed", "needs_login")  # the login of a site cures them
MAX_RUNS_SHOWN = 8  # in the table below the charts
SECONDS_PER_DECISION = 9  # on a candidate term
MAX_SYNONYM_TARGETS = 300  # terms offered in the field for the synonym's term
MINUTE_SECONDS, HOUR_SECONDS, DAY_SECONDS = 60, 3600, 86400


@blueprint.get("/")
@require_role()
def overview() -> BaseResponse:
    """Show the state of index, lexicon and recent runs; to readers without a permission, the search."""
    site, current = current_site(), current_account()
    if current is not None and current.is_reader_only:
        return redirect(url_for("public.home"), 303)
    administration = site.administration
    summary = administration.overview()
    oldest_pending_at = summary.freshness.pending_since
    is_operator = current is not None and Role.OPERATOR in current.roles
    reads_reports = current is not None and current.has_role(Role.REPORTS)
    duration_unit, duration_points = run_charts.run_duration_points(summary.run_history.runs)
    return render_page(
        "admin_overview.html",
        overview=summary,
        run_status=administration.run_status(),
        dashboard=administration.dashboard_url()
        if is_operator
        else "",  # the dashboard can cancel work and has no password
        reads_reports=reads_reports,
        cure_page=cure_page,
        live=administration.live_run() if reads_reports else None,
        now=site.clock(),
        in_solr=_count_solr_documents(),
        behind=0.0 if oldest_pending_at is None else site.clock() - oldest_pending_at,
        duration_unit=duration_unit,
        durations=bar_chart(duration_points),
        visits=bar_chart(run_charts.run_visit_points(summary.run_history.runs)),
        alerts=[(alert, alert_message(alert, g.language)) for alert in summary.active_alerts],
        muted_keys={mute.key for mute in site.store.alert_mutes.active()},
        seconds_per_decision=SECONDS_PER_DECISION,
        rows=MAX_RUNS_SHOWN,
        most=MAX_ALERTS_SHOWN,
        moment=format_timestamp,
        duration=format_duration,
    )


def _count_solr_documents() -> int | None:
    """Return the number of indexed documents; None if Solr fails, because this page reports such failures."""
    try:
        return parse_site_counts(current_site().solr.select(site_counts_params())).documents
    except SolrError:
        return None


@blueprint.get("/searches")
@require_role(Role.REPORTS, Role.REVIEWER)
def searches() -> BaseResponse:
    """Show the search log of the last `days` days."""
    requested_days = request.args.get("days", "")
    days = next((period for period in REPORT_PERIODS_DAYS if str(period) == requested_days), REPORT_PERIODS_DAYS[1])
    report = current_site().store.search_log.report(days, time.localtime().tm_gmtoff // 60)
    chart = bar_chart([ChartPoint(day.day[5:], day.search_count, day.without_hits) for day in report.by_day])
    _, accepted = current_site().backend.find_page(TermQuery(TermStatus.ACCEPTED, limit=MAX_SYNONYM_TARGETS))
    return render_page(
        "admin_searches.html",
        report=report,
        chart=chart,
        days=days,
        periods=REPORT_PERIODS_DAYS,
        accepted=accepted,
        longest=MAX_TERM_CHARS,
        moment=format_timestamp,
    )


@blueprint.post("/searches/candidate")
@require_role(Role.REVIEWER)
def propose_term() -> BaseResponse:
    """Add a query as a lexicon candidate and show it."""
    text = _submitted_query_text()
    try:
        current_site().administration.review.propose(text, current_account_name())
    except LexiconError as error:
        flash(translate_error(error))
        return redirect(url_for("admin.searches"), 303)
    flash(translate("Added “{text}” as a candidate.", text=text))
    return redirect(url_for("review.review_list", status="all", text=text), 303)


def _submitted_query_text() -> str:
    """Return the words of a submitted query, without quotation marks and operators."""
    return parse_query(read_text(Field("query", MAX_TERM_CHARS))).ranking_text


@blueprint.post("/searches/synonym")
@require_role(Role.REVIEWER)
def add_synonym() -> BaseResponse:
    """Add a query as a synonym of a term. It takes effect with the next lexicon version."""
    text, target_term = _submitted_query_text(), request.form.get("term", "")
    try:
        current_site().administration.review.add_synonym(target_term, text, current_account_name())
    except LexiconError as error:
        flash(translate_error(error))
    else:
        flash(
            translate(
                "Added “{text}” as a synonym of “{term}”. It takes effect when you publish.",
                text=text,
                term=target_term,
            )
        )
    return redirect(url_for("admin.searches"), 303)


@blueprint.get("/sites")
@require_role(Role.REPORTS)
def sites() -> BaseResponse:
    """Show all sites with their last crawl and their failures."""
    site_reports = current_site().administration.sites()
    harvest: dict[str, list[HostHarvest]] = {}
    for entry in current_site().store.focused_decisions.harvest_by_host():
        harvest.setdefault(entry.host, []).append(entry)
    rows = [(_site_display_name(entry.totals.host), entry, _failure_counts(entry)) for entry in site_reports]
    nights = current_site().backend.run_history()
    return render_page(
        "admin_sites.html",
        rows=rows,
        harvest=harvest,
        count_requested=count_requested,
        nights=nights,
        moment=format_timestamp,
        day=format_day,
    )


@blueprint.get("/sites/<host>")
@require_role(Role.REPORTS)
def site_detail(host: str) -> BaseResponse:
    """Show one site: its runs as a chart, and samples of failures by reason."""
    detail = current_site().administration.site(host)
    if detail is None:
        abort(404)
    by_reason: dict[tuple[Stage, Reason], list[OutcomeSample]] = {}
    for sample in detail.samples:
        if sample.reason not in SUCCESS_REASONS:
            by_reason.setdefault((sample.stage, sample.reason), []).append(sample)
    return render_page(
        "admin_site.html",
        name=_site_display_name(host),
        one=detail.report,
        troubles=_failure_counts(detail.report),
        runs=detail.runs[:MAX_RUNS_SHOWN],
        chart=bar_chart(run_charts.site_visit_points(detail.runs)),
        samples=by_reason,
        nights=current_site().backend.run_history(),
        moment=format_timestamp,
        day=format_day,
    )


def _site_display_name(host: str) -> str:
    return current_site().settings.site_names.get(host, host)


def _failure_counts(report: SiteReport) -> list[tuple[Reason, int]]:
    """Return the failures with their counts, most frequent first."""
    failures = [
        (reason, count) for reason, count in report.totals.outcome_counts.items() if reason not in SUCCESS_REASONS
    ]
    return sorted(failures, key=lambda pair: (-pair[1], pair[0]))


def cure_page(alert_kind: str) -> str:
    """Return the endpoint of the page of a site where the current account can do most about an alert."""
    account = current_account()
    is_login = alert_kind in LOGIN_ALERTS and account is not None and Role.OPERATOR in account.roles
    return "site_admin.site_login" if is_login else "admin.site_detail"


def format_timestamp(seconds: float) -> str:
    """Return epoch seconds as date and time, to the minute, in the server's time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def format_duration(seconds: float) -> str:
    """Return a duration in its largest unit, in the reader's language."""
    for name, length in (("days", DAY_SECONDS), ("hours", HOUR_SECONDS), ("minutes", MINUTE_SECONDS)):
        if seconds >= length:
            return translate_code("duration", name, n=int(seconds // length))
    return translate("{n} second", "{n} seconds", n=max(0, int(seconds)))
