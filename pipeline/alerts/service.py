"""Alerts at work: decide by the facts, remember what fires, and tell each channel once what began and what is over."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstore.errors import BusyError, PlumblineError
from docstore.reports.alerts import Alert
from pipeline.alerts.inputs import collect_inputs
from pipeline.alerts.rules import evaluate_rules
from pipeline.engine import Engine

if TYPE_CHECKING:
    from pipeline.alerts.channels import Channel

log = logging.getLogger(__name__)
LOCK_WAIT_SECONDS = 60.0  # for another process that tells


def notify_operator(engine: Engine) -> None:
    """See that the operator knows. Whatever goes wrong is logged: no run fails because nobody could be told of it."""
    try:
        for delivery_error in evaluate_and_send(engine):
            log.error("%s", delivery_error)
            engine.progress.note(delivery_error)
    except BusyError as error:
        log.warning("alerts: %s", error)
    except PlumblineError as error:
        log.error("alerts: %s", error)
    except Exception:  # the same for what nobody thought of
        log.exception("alerts")


def evaluate_and_send(engine: Engine) -> list[str]:
    """Decide what fires and tell it to all channels; what went wrong on the way."""
    with engine.lock("alerts", LOCK_WAIT_SECONDS):
        firing = evaluate_rules(collect_inputs(engine))
        engine.store.alerts.replace_firing(firing)
        wanted = engine.settings.alerts
        if not (wanted.mail_to or wanted.webhook):
            return []
        from pipeline.alerts.channels import configured_channels  # Babel, smtplib: most runs have nobody to tell

        return [
            delivery_error
            for channel in configured_channels(engine.settings)
            if (delivery_error := send_to_channel(engine, channel, firing))
        ]


def send_to_channel(engine: Engine, channel: "Channel", firing: Sequence[Alert]) -> str:
    """Tell a channel what it does not know; "" or what went wrong, in which case it is told the next time.

    A process that dies between the telling and its note tells once more: better twice than never.
    """
    from pipeline.alerts.message import pending_notification

    notification = pending_notification(firing, engine.store.alerts.unresolved_notices(channel.name))
    if not notification:
        return ""
    try:
        channel.send(notification)
    except PlumblineError as error:
        return f"alerts not delivered by {channel.name}, will be retried: {error}"
    engine.store.alerts.record_notified(
        channel.name, notification.started, [alert.key for alert in notification.resolved]
    )
    return ""
