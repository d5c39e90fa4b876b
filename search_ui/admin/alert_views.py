"""The page about alerts: firing and ended ones, mute, and the test message."""

from collections.abc import Sequence

from flask import Blueprint, flash, g, redirect, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.reports.alert_mutes import SECONDS_BY_PERIOD
from domain.account import Role
from domain.errors import SettingsError, StoreError
from domain.follow import Follow, FollowCounts
from domain.message import parse_message
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import run_operation
from search_ui.admin.views import cure_page, format_duration, format_timestamp
from search_ui.context import current_site, render_page
from search_ui.i18n import alert_message, translate, translate_error, translate_message

MAX_FOLLOW_PROBLEMS = 100  # listed
blueprint = Blueprint("alerts", __name__, url_prefix="/admin/alerts")
blueprint.after_request(add_no_store_headers)


@blueprint.get("")
@require_role(Role.REPORTS)
def alert_list() -> BaseResponse:
    """Show firing alerts, mutes of other alerts, and ended alerts."""
    administration, store = current_site().administration, current_site().store
    follow_counts, follow_fault = FollowCounts(0, 0, 0), ""
    follow_problems: Sequence[Follow] = ()
    try:
        follow_counts = current_site().backend.follows.counts()
        follow_problems = current_site().backend.follows.list_problems(MAX_FOLLOW_PROBLEMS)
    except StoreError as error:  # the alerts of this page matter the more
        follow_fault = translate_error(error)
    firing, mutes = store.alerts.firing(), {mute.key: mute for mute in store.alert_mutes.active()}
    firing_keys = {alert.key for alert in firing}
    return render_page(
        "admin_alerts.html",
        firing=[(alert, alert_message(alert, g.language), mutes.get(alert.key)) for alert in firing],
        silent_mutes=[mute for key, mute in mutes.items() if key not in firing_keys],
        ended=[(entry, alert_message(entry.alert, g.language)) for entry in administration.ended_alerts()],
        follow_counts=follow_counts,
        follow_problems=[(follow, translate_message(parse_message(follow.problem))) for follow in follow_problems],
        follow_fault=follow_fault,
        has_channels=administration.has_alert_channels(),
        periods=SECONDS_BY_PERIOD,
        cure_page=cure_page,
        moment=format_timestamp,
        duration=format_duration,
    )


@blueprint.post("/test")
@require_role(Role.OPERATOR)
def send_test_message() -> BaseResponse:
    """Send a test message through each channel and show the results."""
    try:
        change = run_operation("alert_test")
    except SettingsError:
        flash(translate("No channel is configured. Set alerts.mail_to or alerts.webhook under “Settings”."))
        return redirect(url_for("alerts.alert_list"), 303)
    for test in change.result if change else ():
        if test.error:
            flash(translate("{channel}: not sent: {error}", channel=test.channel, error=translate_message(test.error)))
        else:
            flash(translate("{channel}: the test message was sent.", channel=test.channel))
    return redirect(url_for("alerts.alert_list"), 303)
