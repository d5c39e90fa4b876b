"""The page about alerts: firing and ended ones, mute, and the test message."""

from collections.abc import Mapping

from flask import Blueprint, abort, flash, g, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.alert import Alert, AlertKey
from domain.errors import SettingsError
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.alert_messages import alert_message
from search_ui.admin.views import DAY_SECONDS, format_duration, format_timestamp
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_message
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("alerts", __name__, url_prefix="/admin/alerts")
blueprint.after_request(add_no_store_headers)

MUTE_SECONDS: Mapping[str, float | None] = {"day": DAY_SECONDS, "week": 7 * DAY_SECONDS, "ever": None}
MAX_KEY_CHARS = 300  # of the kind and of the subject of an alert


@blueprint.get("")
@require_role(Role.REPORTS)
def alert_list() -> BaseResponse:
    """Show firing alerts, mutes of other alerts, and ended alerts."""
    administration = current_site().backend.alert_administration
    firing, mutes = administration.firing(), {mute.key: mute for mute in administration.mutes()}
    firing_keys = {alert.key for alert in firing}
    return render_page(
        "admin_alerts.html",
        firing=[(alert, message, mutes.get(alert.key)) for alert, message in map(_with_message, firing)],
        silent_mutes=[mute for key, mute in mutes.items() if key not in firing_keys],
        ended=[(entry, alert_message(entry.alert, g.language)) for entry in administration.ended_alerts()],
        has_channels=administration.has_channels(),
        periods=MUTE_SECONDS,
        moment=format_timestamp,
        duration=format_duration,
    )


def _with_message(alert: Alert) -> tuple[Alert, str]:
    return alert, alert_message(alert, g.language)


def _submitted_key() -> AlertKey:
    return AlertKey(*(request.form.get(name, "")[:MAX_KEY_CHARS] for name in ("kind", "subject")))


@blueprint.post("/mute")
@require_role(Role.OPERATOR)
def mute_alert() -> BaseResponse:
    """Mute a firing alert for the submitted period."""
    period = request.form.get("period", "")
    if period not in MUTE_SECONDS:
        abort(400)
    seconds, administration = MUTE_SECONDS[period], current_site().backend.alert_administration
    until = None if seconds is None else current_site().clock() + seconds
    is_muted = administration.mute(_submitted_key(), current_account_name(), until)
    flash(
        translate(
            "The alert is muted. No notification about it is sent until the mute ends."
            if is_muted
            else "This alert has changed meanwhile. The list below is up to date."
        )
    )
    return redirect(url_for("alerts.alert_list"), 303)


@blueprint.post("/unmute")
@require_role(Role.OPERATOR)
def unmute_alert() -> BaseResponse:
    """End the mute of an alert."""
    is_unmuted = current_site().backend.alert_administration.unmute(_submitted_key(), current_account_name())
    flash(
        translate(
            "The alert is no longer muted."
            if is_unmuted
            else "This alert has changed meanwhile. The list below is up to date."
        )
    )
    return redirect(url_for("alerts.alert_list"), 303)


@blueprint.post("/test")
@require_role(Role.OPERATOR)
def send_test_message() -> BaseResponse:
    """Send a test message through each channel and show the results."""
    try:
        tests = current_site().backend.alert_administration.send_test(current_account_name())
    except SettingsError:
        flash(translate("No channel is configured. Set alerts.mail_to or alerts.webhook under “Settings”."))
        return redirect(url_for("alerts.alert_list"), 303)
    for test in tests:
        if test.error:
            flash(translate("{channel}: not sent: {error}", channel=test.channel, error=translate_message(test.error)))
        else:
            flash(translate("{channel}: the test message was sent.", channel=test.channel))
    return redirect(url_for("alerts.alert_list"), 303)
