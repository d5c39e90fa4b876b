"""Evaluate the alert rules, store the firing alerts and deliver changes to each channel once."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from domain.account import Role
from domain.alert import Alert, AlertKey, ChannelTest
from domain.errors import BusyError, PlumblineError, SettingsError
from domain.message import error_message, serialize_message
from domain.operation import Call, Change, Operation, Recording
from pipeline.alerts.alert_history import record_ended_alerts
from pipeline.alerts.inputs import collect_inputs
from pipeline.alerts.rules import evaluate_rules
from pipeline.engine import Engine
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.alerts.channels import Channel
    from pipeline.alerts.message import AlertNotification

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
        record_ended_alerts(engine, {alert.key for alert in firing})
        engine.store.alerts.replace_firing(firing)
        if not engine.settings.alerts.has_channels:
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
    muted_keys = {mute.key for mute in engine.store.alert_mutes.active()}
    notification = pending_notification(firing, unresolved_notices, muted_keys)
    if not notification:
        return ""
    if error := deliver(channel, notification):
        return f"alerts not delivered by {channel.name}, will be retried: {error}"
    resolved_keys = unresolved_notices.keys() - {alert.key for alert in firing} - muted_keys
    engine.store.alerts.record_notified(channel.name, notification.started, resolved_keys)
    return ""


def deliver(channel: "Channel", notification: "AlertNotification") -> str:
    """Send a notification; returns "" or the error, also an unexpected one: the other channels are tried."""
    try:
        channel.send(notification)
    except PlumblineError as error:
        return error_message(error)
    except Exception as error:
        log.exception("the channel %s failed", channel.name)
        return type(error).__name__  # its text may have secrets of the settings
    return ""


def send_test_alert(settings: Settings) -> Iterator[ChannelTest]:
    """Send a test alert through each configured channel; yields the result of each.

    Raises SettingsError if no channel is configured.
    """
    from pipeline.alerts.channels import configured_channels
    from pipeline.alerts.message import AlertNotification

    if not settings.alerts.has_channels:
        raise SettingsError("no alert channel configured: set alerts.mail_to or alerts.webhook")
    for channel in configured_channels(settings):
        started = time.monotonic()
        error = deliver(channel, AlertNotification((Alert(AlertKey("test")),)))
        yield ChannelTest(channel.name, time.monotonic() - started, error)


def alert_test_operation(load_settings: Callable[[], Settings]) -> Operation:
    """Return `alert_test`, which sends a test alert through each channel. Its result are the tests."""

    def send(_: Call) -> Change:
        tests = list(send_test_alert(load_settings()))
        error = next((test.error for test in tests if test.error), "")
        return Change(", ".join(test.channel for test in tests), {"error": serialize_message(error)}, result=tests)

    return Operation("alert_test", Role.OPERATOR, send, recording=Recording.AFTERWARDS)
