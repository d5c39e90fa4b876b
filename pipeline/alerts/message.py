"""Format notifications as text in a language of the site."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from domain.alert import Alert, AlertKey
from search_ui.i18n import alert_message, translate_to

MAX_MESSAGE_LINES = 200  # further alerts are only counted
KINDS_WITHOUT_END = ("rising_terms",)  # nobody waits for their end


@dataclass(frozen=True)
class AlertNotification:
    """Alerts that a channel has not delivered: started ones, and resolved ones with their delivered values."""

    started: Sequence[Alert] = ()
    resolved: Sequence[Alert] = ()

    def __bool__(self) -> bool:
        return bool(self.started or self.resolved)


def pending_notification(
    firing: Sequence[Alert],
    unresolved_notices: Mapping[AlertKey, Mapping[str, str | int]],
    muted_keys: Set[AlertKey] = frozenset(),
) -> AlertNotification:
    """Build the notification for a channel; each start and each end of an alert is delivered once.

    The end of alerts of KINDS_WITHOUT_END is not delivered. The start and the end of a muted alert are delivered when
    its mute ends, unless the alert has changed again.

    Args:
        firing: All alerts that fire.
        unresolved_notices: Key -> values of the alerts whose start the channel has delivered, but not their end.
        muted_keys: The muted alerts.
    """
    firing_keys = {alert.key for alert in firing}
    resolved_alerts = tuple(
        Alert(key, values)
        for key, values in unresolved_notices.items()
        if key not in firing_keys | muted_keys and key.kind not in KINDS_WITHOUT_END
    )
    started_alerts = tuple(alert for alert in firing if alert.key not in unresolved_notices.keys() | muted_keys)
    return AlertNotification(started_alerts, resolved_alerts)


def message_subject(notification: AlertNotification, vertical: str, language: str) -> str:
    """Return the subject line: the text of a single alert, or the numbers of started and resolved alerts."""
    alerts = [*notification.started, *notification.resolved]
    if len(alerts) == 1:
        sentence_text = alert_message(alerts[0], language)
        text = sentence_text if notification.started else translate_to(language, "Resolved: {what}", what=sentence_text)
    else:
        text = translate_to(
            language,
            "New alerts: {begun}, resolved: {over}",
            begun=len(notification.started),
            over=len(notification.resolved),
        )
    return f"{vertical}: {' '.join(text.split())}"[:300]


def message_lines(notification: AlertNotification, language: str) -> list[str]:
    """Return one line for each alert, started ones first; at most MAX_MESSAGE_LINES and the number of the others."""
    started_lines = [alert_message(alert, language) for alert in notification.started]
    resolved_lines = [
        translate_to(language, "Resolved: {what}", what=alert_message(alert, language))
        for alert in notification.resolved
    ]
    all_lines = started_lines + resolved_lines
    overflow = (
        [translate_to(language, "and {n} more", n=len(all_lines) - MAX_MESSAGE_LINES)]
        if len(all_lines) > MAX_MESSAGE_LINES
        else []
    )
    return all_lines[:MAX_MESSAGE_LINES] + overflow
