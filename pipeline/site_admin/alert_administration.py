"""Alerts in the browser: implements `search_ui.admin.interfaces.alerts.AlertAdministration`."""

from collections.abc import Sequence

from domain.administration import AlertMute
from domain.alert import Alert, AlertKey
from domain.message import serialize_message
from pipeline.alerts.alert_history import read_ended_alerts
from pipeline.alerts.service import send_test_alert
from pipeline.engine import Engine
from search_ui.admin.interfaces.alerts import ChannelTest, EndedAlert

TEST_ACTION = "alert_test"


class StoreAlertAdministration:
    """Reads and mutes the alerts of the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def firing(self) -> Sequence[Alert]:
        """Return the firing alerts, oldest first."""
        return self._engine.store.alerts.firing()

    def mutes(self) -> Sequence[AlertMute]:
        """Return the active mutes, ordered by alert."""
        return self._engine.store.alert_mutes.active()

    def ended_alerts(self) -> Sequence[EndedAlert]:
        """Return the alerts that have ended, newest first."""
        return read_ended_alerts(self._engine.settings.data_dir)

    def has_channels(self) -> bool:
        """Return True if alerts are sent to anybody."""
        return self._engine.settings.current().alerts.has_channels

    def mute(self, key: AlertKey, account: str, until: float | None) -> bool:
        """Mute a firing alert; the action is recorded in the same transaction. Returns False if it does not fire."""
        if key not in {alert.key for alert in self.firing()}:
            return False
        self._engine.store.alert_mutes.mute(key, account, until)
        return True

    def unmute(self, key: AlertKey, account: str) -> bool:
        """End a mute; the action is recorded in the same transaction. Returns False if the alert was not muted."""
        return self._engine.store.alert_mutes.unmute(key, account) is not None

    def send_test(self, account: str) -> Sequence[ChannelTest]:
        """Send a test message through each channel, then record it.

        Raises SettingsError if no channel is configured.
        """
        tests = list(send_test_alert(self._engine.settings.current()))
        for test in tests:
            self._engine.store.actions.record(
                account, TEST_ACTION, test.channel, {"error": serialize_message(test.error)}
            )
        return tests
