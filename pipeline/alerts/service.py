"""Evaluate the alert rules, store the firing alerts and deliver changes to each channel once."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from domain.alert import Alert
from domain.errors import BusyError, PlumblineError
from pipeline.alerts.inputs import collect_inputs
from pipeline.alerts.rules import evaluate_rules
from pipeline.engine import Engine

if TYPE_CHECKING:
    from pipeline.alerts.channels import Channel

log = logging.getLogger(__name__)
LOCK_WAIT_SECONDS = 60.0  # while another process evaluates alerts


def notify_operator(engine: Engine) -> None:
    """Evaluate and deliver alerts at the end of a run. Errors are only logged, so that the run does not fail."""
    try:
        for delivery_error in evaluate_and_send(engine):
            log.error("%s", delivery_error)
            engine.progress.note(delivery_error)
    except BusyError as error:
        log.warning("alerts not evaluated: %s", error)
    except PlumblineError as error:
        log.error("alerts not evaluated: %s", error)
    except Exception:  # an unexpected error must not fail the run either
        log.exception("alert evaluation failed")


def evaluate_and_send(engine: Engine) -> list[str]:
    """Evaluate the rules, store the firing alerts and notify all channels; returns the delivery errors.

    Raises BusyError if another process evaluates alerts for longer than LOCK_WAIT_SECONDS.
    """
    with engine.lock("alerts", LOCK_WAIT_SECONDS):
        firing = evaluate_rules(collect_inputs(engine))
        engine.store.alerts.replace_firing(firing)
        alert_settings = engine.settings.alerts
        if not (alert_settings.mail_to or alert_settings.webhook):
            return []
        from pipeline.alerts.channels import configured_channels  # imported late because it loads Babel and smtplib

        return [
            delivery_error
            for channel in configured_channels(engine.settings)
            if (delivery_error := send_to_channel(engine, channel, firing))
        ]


def send_to_channel(engine: Engine, channel: "Channel", firing: Sequence[Alert]) -> str:
    """Deliver the changes that a channel has not delivered; returns "" or the error, after which it is retried.

    If the process dies between delivery and record, the changes are delivered again (at least once).
    """
    from pipeline.alerts.message import pending_notification

    unresolved_notices = engine.store.alerts.unresolved_notices(channel.name)
    notification = pending_notification(firing, unresolved_notices)
    if not notification:
        return ""
    try:
        channel.send(notification)
    except PlumblineError as error:
        return f"alerts not delivered by {channel.name}, will be retried: {error}"
    resolved_keys = unresolved_notices.keys() - {alert.key for alert in firing}
    engine.store.alerts.record_notified(channel.name, notification.started, resolved_keys)
    return ""
