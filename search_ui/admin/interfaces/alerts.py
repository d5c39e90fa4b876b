"""Interface of the page about alerts. `pipeline.site_admin.alert_administration` implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.administration import AlertMute
from domain.alert import Alert, AlertKey


@dataclass(frozen=True)
class EndedAlert:
    """An alert that no longer fires. `ended_at` is epoch seconds."""

    alert: Alert
    ended_at: float


@dataclass(frozen=True)
class ChannelTest:
    """The result of a test message: the channel, the duration in seconds, and the error or ""."""

    channel: str
    seconds: float
    error: str = ""


class AlertAdministration(Protocol):
    """What administrators see of alerts, and how they mute them."""

    def firing(self) -> Sequence[Alert]:
        """Return the firing alerts, oldest first."""

    def mutes(self) -> Sequence[AlertMute]:
        """Return the active mutes, ordered by alert; also those of alerts that do not fire."""

    def ended_alerts(self) -> Sequence[EndedAlert]:
        """Return the alerts that have ended, newest first."""

    def has_channels(self) -> bool:
        """Return True if alerts are sent to anybody."""

    def mute(self, key: AlertKey, account: str, until: float | None) -> bool:
        """Mute a firing alert until a time in epoch seconds, or for ever. Returns False if it does not fire."""

    def unmute(self, key: AlertKey, account: str) -> bool:
        """End a mute. Returns False if the alert was not muted."""

    def send_test(self, account: str) -> Sequence[ChannelTest]:
        """Send a test message through each channel. Raises SettingsError if no channel is configured."""
